"""Kinds of frame: one file for each, named `<library>_<class>.py`, with a `KIND`; to add one is to add a file."""
