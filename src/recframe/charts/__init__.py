"""Charts, and tables for publication."""
