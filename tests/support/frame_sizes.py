"""How many rows are many: in the tests a tenth of what they are to users, so that large frames are soon made and read."""

from __future__ import annotations

LARGE = 2_000
"""Frames of more rows are asked ahead of their plans."""
SIZE = 2_400
"""Rows of a frame that is asked: lists of twelve items, of 200 users."""
