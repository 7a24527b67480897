"""Data quality findings, what a metric does about each, and how to mend it."""
