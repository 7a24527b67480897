"""From rows to a value of each list, and from values to a mean or a set metric of each segment."""
