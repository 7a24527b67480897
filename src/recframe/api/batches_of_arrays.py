"""Batches of arrays and tensors as frames in long form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from recframe.errors import DataError, RecframeError, kind_of
from recframe.frames.kinds.lookup import is_frame
from recframe.frames.options import Context, is_side
from recframe.readers.ids import ids_of, in_own_dtypes
from recframe.readers.nested_lists import from_lists
from recframe.readers.score_matrix import from_scores


def is_array(lists: Any) -> bool:
    """Whether lists are an array, a tensor or rows of numbers, and no frame."""
    has_rows = hasattr(lists, "shape") or isinstance(lists, list | tuple)
    return has_rows and not is_side(lists) and not is_frame(lists)


def frames_of(
    lists: Any, truth: Any, users: Any, *, pad: Any, k: int | None, context: Context
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the lists and the truth of arrays with a row for each user; of scores the first k items."""
    from recframe.readers.score_cells import judged_cells, with_ids  # noqa: PLC0415  NumPy is loaded with arrays

    if not is_array(truth):
        msg = (
            f"lists are an array, and the truth is {kind_of(truth)}; give both as arrays: update(scores, relevances), or "
            "update(ids, ids_of_relevant)"
        )
        raise RecframeError(msg)
    marks = "bool" in str(getattr(truth, "dtype", ""))
    lists, truth = _array(lists, "lists"), _array(truth, "truth")
    is_sparse = hasattr(truth, "tocsr")
    if lists.shape[0] != truth.shape[0]:
        msg = f"lists has {lists.shape[0]:,} rows and the truth {truth.shape[0]:,}; give a row for each user in both"
        raise RecframeError(msg)
    names = {role: context.names[role] for role in ("user", "item")}
    are_scores = lists.dtype.kind == "f"
    if are_scores:
        listed = from_scores(lists, users=users, k=k, user=names["user"], item=names["item"])
        if context.ties != "item" or context.profile:
            listed = listed.drop("rank")  # which has ties broken by item
    else:
        listed = _of_ids(lists, users, pad, names)
    # ids as many as items are told by their padding, since no relevance is below 0
    is_alike = are_scores and truth.shape == lists.shape and (is_sparse or not (truth < 0).any())
    if marks or is_sparse or is_alike or truth.dtype.kind == "f":
        ids = (
            ids_of(one, "users", size) for one, size in zip((users, None), truth.shape, strict=True)
        )
        cells = with_ids(judged_cells(truth, zeros=True), *ids)
        judged = in_own_dtypes(cells, names | {"number": context.names["relevance"]})
    else:
        judged = _of_ids(truth, users, pad, names).drop("rank")
    order = {"rank": context.names["rank"], "score": context.names["score"]}
    return listed.rename(order, strict=False), judged


def _array(given: Any, name: str) -> Any:
    """Return an array or tensor as one of NumPy's, or a sparse matrix."""
    from recframe.readers.score_cells import array_of, matrix_of  # noqa: PLC0415  as above

    found = matrix_of(given, name)
    return found if hasattr(found, "tocsr") else array_of(found, name)


def _of_ids(array: Any, users: Any, pad: Any, names: Mapping[str, str]) -> pl.DataFrame:
    """Return the ids of rows in their order: user, item, rank; what is padding has no row."""
    item = pl.col(names["item"])
    is_there = item >= 0 if pad is None else (item >= 0) & (item != pad)
    listed = from_lists(array.tolist(), users=users, **names).filter(is_there)
    if listed.select(names.values()).is_duplicated().any():
        msg = (
            "a row of whole numbers, which are ids of items, has one twice; name what fills the rows, pad=0, or give a matrix "
            "as Booleans or floats: scores, relevances > 0"
        )
        raise DataError(msg)
    return listed
