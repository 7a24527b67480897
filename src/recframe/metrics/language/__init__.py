"""The language of metrics: words, definitions, parameters, cut-offs, string form."""
