"""Histories of runs: tracking, reading and changes."""
