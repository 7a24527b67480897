"""Results to look at: charts, and tables that people publish."""
