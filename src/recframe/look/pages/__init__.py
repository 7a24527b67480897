"""Pages in one file that work offline: what any page has, and those of a report."""
