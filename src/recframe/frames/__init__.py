"""Input frames of any kind, under their roles' names, with schema checks."""
