"""Frames of any kind, taken in under the names of their roles and given back; every check that a schema allows."""
