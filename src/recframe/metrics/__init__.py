"""The metrics, one file for each family."""
