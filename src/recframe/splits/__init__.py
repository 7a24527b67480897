"""Splits of a log of interactions into train and truth."""
