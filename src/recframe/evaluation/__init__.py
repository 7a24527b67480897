"""Evaluation plans: from rows to list values to segment results."""
