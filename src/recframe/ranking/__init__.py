"""Recommendations joined with the truth: hits, relevant rows, listed rows, universe."""
