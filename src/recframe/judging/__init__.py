"""Recommendations held against a truth: which rows are hits, relevant, listed, and which users count."""
