"""The words that metrics are written in, and what a metric is: its definition, parameters, cut-off and string form."""
