"""What is odd about the data, what a metric does about it, and how to mend it."""
