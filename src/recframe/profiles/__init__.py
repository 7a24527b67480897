"""Conventions of other libraries: profiles, differences and explanations."""
