"""How sure a number is: intervals of means and of set metrics, comparisons of models and segments, gates."""
