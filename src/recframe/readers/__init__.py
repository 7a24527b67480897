"""Converters from score matrices, nested lists and TREC files to long frames."""
