"""What is to be known of rows, in words: one note, or several that are joined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recframe.uncertainty.arrays import Flags, Numbers, np

BETWEEN = "; "
MANY_UNPAIRED = 0.05
"""From this share of the users on, those with but one of two values are worth a note."""
SELECTED = 0.2
"""Above this share those with both are a choice by what is measured."""
SELECTED_NOTE = (
    "more than a fifth of the users have but one of the two values, so those with both show nothing"
)


def are_selected(n: Numbers, unpaired: Numbers) -> Flags:
    """Return which rows have so many users with but one of two values that those with both, n, are no sample of all."""
    return np.asarray(unpaired > SELECTED * (n + unpaired))


def of_unpaired(n: Numbers, unpaired: Numbers, selected: Flags) -> dict[str, Flags]:
    """Return the notes of rows in which many users have but one of two values."""
    many = unpaired > MANY_UNPAIRED * (n + unpaired)
    return {
        SELECTED_NOTE: selected,
        "many users have but one of the two values, and are left out": many & ~selected,
    }


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
