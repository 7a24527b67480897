"""A truth from a matrix of relevances, users x items, and how it is told from lists of ids."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from recframe.ways_in.candidates import (
    Numbers,
    array_of,
    first_cells,
    in_blocks,
    labelled,
    matrix_of,
    with_ids,
)
from recframe.ways_in.nesting import either

HIGHEST_GRADE = 100
"""Where a number is higher and no row repeats one, the numbers are ids."""


def is_table(frame: Any, named: set[str]) -> bool:
    """Whether a pandas frame is a matrix: users in its index, items in its columns, and numbers in all of these."""
    if not hasattr(frame, "axes") or named & {*map(str, frame.columns)} or not len(frame.columns):
        return False
    return all(getattr(dtype, "kind", "") in "biuf" for dtype in frame.dtypes)


def is_matrix(truth: Any, items: Any) -> bool:
    """Whether an array is one of relevances, users x items; where it may be one of ids as well, say how to write it.

    Ids of one row differ, but for padding behind them; relevances may be fractions, Booleans, and the same for many items.
    """
    if "sparse" in str(getattr(truth, "layout", "")):
        return True
    array = _numbers(truth)
    if array is None or not array.size:
        return False
    if array.dtype.kind == "b" or _has_fractions(array):
        return True
    if array.shape[1] < 2:  # noqa: PLR2004  a list of one item; a matrix of one item says nothing
        return False
    repeats, pads = _repeats(array)
    is_padded = bool((array < 0).any())
    if repeats and not is_padded:
        return True
    finite = array[np.isfinite(array)]
    highest = finite.max() if len(finite) else 0
    if not repeats and not pads:
        other_length = items is not None and len(items) != array.shape[1]
        if is_padded or other_length or (items is None and highest > HIGHEST_GRADE):
            return False
    raise either("the array holds", "array.tolist()", "scipy.sparse.csr_array(array)")


def _numbers(truth: Any) -> Numbers | None:
    """Return an array or tensor of numbers with two axes, or None."""
    if len(getattr(truth, "shape", ())) != 2:  # noqa: PLR2004  users and items
        return None
    if getattr(getattr(truth, "dtype", None), "kind", "f") not in "biuf":
        return None
    if str(getattr(truth, "dtype", "")) in {"bool", "torch.bool"}:
        return np.asarray(truth, dtype=bool)
    return array_of(truth, "truth")


def _has_fractions(array: Numbers) -> bool:
    return array.dtype.kind == "f" and any(
        bool((block[np.isfinite(block)] % 1 != 0).any()) for block in in_blocks(array)
    )


def _repeats(array: Numbers) -> tuple[bool, bool]:
    """Return whether a row has a number twice, and whether it does where zeros behind its last other number count."""
    pads = False
    for block in in_blocks(array):
        values = np.array(block, dtype=np.float64)
        behind = np.logical_and.accumulate((values == 0)[:, ::-1], axis=1)[:, ::-1]
        pads |= bool((behind.sum(axis=1) > 1).any())
        values[behind | ~np.isfinite(values) | (values < 0)] = np.nan
        values.sort(axis=1)  # what is no number stands last
        if (np.diff(values, axis=1) == 0).any():
            return True, True
    return False, pads


def of_matrix(truth: Any, users: Any, items: Any) -> pl.DataFrame:
    """Return the cells of a matrix that have a number: user, item, rank, number."""
    matrix = matrix_of(_as_numbers(truth), "truth")
    ids = labelled(truth, matrix, users, items, ("rows of the truth", "columns of it"))
    # NOTE: these are lists of all cells by their numbers; a truth stands in the order of its items
    cells = first_cells(matrix, None, np.arange(matrix.shape[1]), None)
    return with_ids(cells.sort("row", "column"), *ids)


def _as_numbers(truth: Any) -> Any:
    """Return a matrix with 1 and 0 for Booleans, which are no scores, and NaN for what pandas misses."""
    if hasattr(truth, "axes"):
        return truth.to_numpy(dtype=float, na_value=np.nan)
    if isinstance(truth, list | tuple):
        truth = np.array(truth)
    if "bool" not in str(getattr(truth, "dtype", "")):
        return truth
    if hasattr(truth, "detach"):
        truth = truth.detach().cpu().numpy()
    return truth.astype(np.uint8)
