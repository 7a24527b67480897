"""Self-contained HTML pages that work offline, such as reports."""
