"""History of runs: tracking, reading, prediction bands and changes."""
