"""Statistics: intervals, comparisons of models and segments, power, gates."""
