"""Results over time: the fingerprint of their data, a history of runs in files, and names that trackers take."""
