"""Data quality findings, what they do to metrics, and the remedy."""
