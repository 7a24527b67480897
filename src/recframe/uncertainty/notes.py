"""What is to be known of rows, in words: one note, or several that are joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recframe.uncertainty.arrays import Flags, np

BETWEEN = "; "


def first_or_joined(lacks: Mapping[str, Flags], words: Mapping[str, Flags]) -> Any:
    """Return the first of the notes that say what a row has no numbers for, or else all others that hold, joined.

    Both have the words of a note, and in which rows it holds. A row without any has an empty text.
    """
    found = np.full(np.broadcast_shapes(*map(np.shape, words.values())), "", dtype=object)
    for note, holds in words.items():
        if note and np.any(holds):
            more = np.where(found == "", note, found + BETWEEN + note)
            found = np.where(holds, more, found)
    return np.select(list(lacks.values()), list(lacks), found.astype(str))
