"""Kinds of frame: one file for each, `<library>_<class>.py`, with a `KIND`."""
