"""`rf.from_scores`: lists or a truth from a matrix of users x items."""

from __future__ import annotations

import operator
from typing import Any

import polars as pl

from recframe.errors import ColumnError, RecframeError, kind_of, shown, warn
from recframe.frames.collecting import check_threads, stream
from recframe.frames.dtypes import common
from recframe.frames.hints import own_word
from recframe.frames.kinds.kind import in_memory, is_frame
from recframe.frames.options import Context, is_side
from recframe.frames.roles import Side
from recframe.frames.rows.positions import by_item
from recframe.readers.ids import ids_of, in_own_dtypes


class _Default(int):
    """A number that an argument has where none is given."""


FIRST = _Default(100)


def from_scores(  # noqa: PLR0913  what a matrix does not say of itself
    scores: Any,
    *,
    users: Any = None,
    items: Any = None,
    k: int | None = FIRST,
    exclude: Any = None,
    truth: bool = False,
    user: str = "user",
    item: str = "item",
) -> pl.DataFrame:
    """Return the first k items of each user as a frame in long form: user, item, rank, score.

    Higher scores are better; equal scores are ordered by item, ascending, also at the cut, as everywhere in recframe. NaN,
    minus infinity and values below -3e38, with which masks are filled, are not candidates; a user with fewer than k candidates
    has a shorter list, and one without candidates has no row. The dtypes are those of `from_lists`.

        scores: a matrix of users x items: NumPy, SciPy sparse (only what is stored is a candidate, zeros included), a tensor
            of torch or of another library that has `__array__` or DLPack, nested lists, or a pandas frame with the users in
            its index and the items in its columns.
        users, items: the ids of its rows and columns, as a list, an array, a series or an index; else their numbers from 0.
        k: the length of the lists; None for all candidates.
        truth: whether the matrix is one of relevances: its cells but 0 and NaN are a truth, user, item and relevance.
        exclude: pairs that are never recommended, such as the training data: a frame of any kind with a row for each pair,
            or a matrix of the same shape, sparse (what is stored) or dense (what is not 0).
        user, item: the names of the two columns, in the result and in the frame of pairs.

    Raises a RecframeError if `scores` is not a matrix, if ids are missing, repeated, or more or fewer than rows or columns, if
    the ids of `exclude` have another dtype, and with `truth` for `k` and `exclude`. Warns if none of the pairs of `exclude` is
    among the users and items.

    NOTE: users are processed in blocks, and only candidates for the first k are sorted. For
    20,000 x 10,000 scores of 32 bits and k = 100 that takes a fifth of the time and a twentieth of the memory of
    `numpy.argsort` of the whole.

    >>> import recframe as rf
    >>> rf.from_scores([[0.1, 0.9, 0.5], [0.7, 0.2, 0.7]], users=["ann", "bob"], items=["dune", "emma", "ilium"], k=2)
    shape: (4, 4)
    ┌──────┬───────┬──────┬───────┐
    │ user ┆ item  ┆ rank ┆ score │
    │ ---  ┆ ---   ┆ ---  ┆ ---   │
    │ str  ┆ str   ┆ i64  ┆ f64   │
    ╞══════╪═══════╪══════╪═══════╡
    │ ann  ┆ emma  ┆ 1    ┆ 0.9   │
    │ ann  ┆ ilium ┆ 2    ┆ 0.5   │
    │ bob  ┆ dune  ┆ 1    ┆ 0.7   │
    │ bob  ┆ ilium ┆ 2    ┆ 0.7   │
    └──────┴───────┴──────┴───────┘
    """
    check_threads()
    _check(scores, k)
    if truth and (k is not FIRST or exclude is not None):
        raise RecframeError(
            "k= and exclude= are for lists; a truth has all items: from_scores(matrix, truth=True)"
        )
    from recframe.readers import score_cells  # noqa: PLC0415  NumPy is loaded with the matrix that comes in

    matrix = score_cells.matrix_of(scores)
    if not truth and "bool" in str(matrix.dtype):
        msg = "scores are Booleans; a score is a number, and relevances take truth=True"
        raise RecframeError(msg)
    labels = getattr(scores, "axes", (users, items))  # of a pandas frame
    rows = ids_of(labels[0] if users is None else users, "users", matrix.shape[0])
    columns = ids_of(labels[1] if items is None else items, "items", matrix.shape[1])
    names = {"user": user, "item": item, "rank": "rank"}
    if truth:
        cells = score_cells.judged_cells(matrix)
        return in_own_dtypes(
            score_cells.with_ids(cells, rows, columns), names | {"number": "relevance"}
        )
    in_order = pl.DataFrame({"item": columns}).with_row_index("column")
    in_order = in_order.sort(by_item(in_order.schema))
    columns, order = in_order["item"], in_order["column"].to_numpy()
    if is_side(exclude := in_memory(exclude, "exclude=")):
        without = _pairs(exclude, rows, columns, Context(user=user, item=item))
    else:
        without = _stored(exclude, matrix.shape, order)
    cells = score_cells.first_cells(matrix, order, k, without)
    return in_own_dtypes(score_cells.with_ids(cells, rows, columns), names | {"number": "score"})


def _check(scores: Any, k: object) -> None:
    """Reject frames in long form and dictionaries, and a k that is no number of items."""
    names = map(str, getattr(scores, "columns", ()))
    words = {own_word(name) or name for name in names} & {"user", "item", "score", "rank"}
    if is_frame(scores) and (len(words) > 1 or not hasattr(scores, "axes")):
        msg = (
            f"scores is {kind_of(scores)}, and no matrix of users x items; a long frame is used as it is, frame.rec(...), and "
            "a wide one gives its numbers: "
            "rf.from_scores(frame.drop('user').to_numpy(), users=frame['user'], items=frame.columns[1:])"
        )
        raise RecframeError(msg)
    if isinstance(scores, dict):
        msg = "scores is a dict; rf.from_lists takes users with their items and scores: {user: {item: score}}"
        raise RecframeError(msg)
    is_number = hasattr(k, "__index__") and not isinstance(k, bool) and operator.index(k) > 0
    if k is not None and not is_number:
        msg = f"k is a positive whole number, or None for all candidates; found {shown(k)}"
        raise RecframeError(msg)


def _stored(exclude: Any, shape: tuple[int, int], order: Any) -> pl.DataFrame:
    """Return the cells of a matrix that is not recommended from, with columns as places in an order: row, column."""
    from recframe.readers.score_cells import CELLS, cells_of  # noqa: PLC0415  as above

    if exclude is None:
        return pl.DataFrame(schema=CELLS)
    found = tuple(getattr(exclude, "shape", ()))
    if found != tuple(shape):
        what = (
            f"has the shape {found}, and scores {tuple(shape)}"
            if found
            else f"is {kind_of(exclude)}"
        )
        msg = f"exclude= {what}; give a frame of pairs, which rf.from_truth makes of a dict, or a matrix of the shape of scores"
        raise RecframeError(msg)
    places = pl.Series(order.argsort())
    cells = cells_of(exclude)
    return cells.select("row", column=places.gather(cells["column"]))


def _pairs(exclude: Any, users: pl.Series, items: pl.Series, context: Context) -> pl.DataFrame:
    """Return the rows and columns of a frame's pairs."""
    side = Side("the frame exclude=", exclude, context)
    numbered = {"user": ("row", users), "item": ("column", items)}
    for role in numbered:
        side.require(role, f"Name the column of the {role}: rf.from_scores(..., {role}='...')")
    pairs = stream(side.take(numbered).lazy().drop_nulls().unique())
    for role, (number, ids) in numbered.items():
        dtype = common({"exclude": pairs.schema[role], "scores": ids.dtype})
        if dtype is None:
            msg = (
                f"the {role} ids have different dtypes: {pairs.schema[role]} in the frame exclude=, {ids.dtype} in "
                f"the {number}s of scores, which {role}s= names; cast them to one dtype"
            )
            raise ColumnError(msg)
        known = pl.DataFrame({role: ids.cast(dtype)}).with_row_index(number)
        pairs = pairs.cast({role: dtype}).join(known, on=role, how="left")
        if len(pairs) and len(ids) and not pairs[number].count():
            # which ids of another kind are the usual cause of
            warn(
                f"no {role} of exclude= is among the {number}s of scores, so nothing is excluded; give the ids of its "
                f"{number}s: rf.from_scores(scores, {role}s=..., exclude=...)"
            )
    return pairs.drop_nulls().select(pl.col("row", "column").cast(pl.Int64))
