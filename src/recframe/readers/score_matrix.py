"""`rf.from_scores`: lists or a truth from a matrix of users x items."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.errors import RecframeError, kind_of, shown, warn
from recframe.frames.dtypes import common
from recframe.frames.hints import own_word
from recframe.frames.kinds.kind import check_threads, in_memory, is_frame, stream
from recframe.frames.options import Context, is_side, plain_number
from recframe.frames.roles import Side
from recframe.frames.rows.joins import by_item
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
            of torch or of another library that has `__array__`, nested lists, or a pandas frame with the users in
            its index and the items in its columns.
        users, items: the ids of its rows and columns, as a list, an array, a series or an index; else their numbers from 0.
        k: the length of the lists; None for all candidates.
        truth: whether the matrix is one of relevances: its cells but 0 and NaN are a truth, user, item and relevance.
        exclude: pairs that are never recommended, such as the training data: a frame of any kind with a row for each pair,
            or a matrix of the same shape, whose cells but 0 and NaN they are.
        user, item: the names of the two columns, in the result and in the frame of pairs.

    Raises a RecframeError if `scores` is not a matrix, if ids are missing, repeated, or more or fewer than rows or columns, and
    with `truth` for `k` and `exclude`. Warns if none of the pairs of `exclude` is among the users and items.

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
    _check(scores)
    if truth and (k is not FIRST or exclude is not None):
        msg = (
            "k= and exclude= are for lists; a truth has all items: from_scores(matrix, truth=True)"
        )
        raise RecframeError(msg)
    if k is not None and not (isinstance(length := plain_number(k), int) and length > 0):
        msg = f"k is a positive whole number, or None for all candidates; found {shown(k)}"
        raise RecframeError(msg)
    from recframe.readers import score_cells  # noqa: PLC0415  NumPy is loaded with the matrix that comes in

    matrix = score_cells.matrix_of(scores)
    if not truth and "bool" in str(matrix.dtype):
        msg = "scores are Booleans; a score is a number, and relevances take truth=True"
        raise RecframeError(msg)
    labels = getattr(scores, "axes", (users, items))  # of a pandas frame
    rows = ids_of(labels[0] if users is None else users, "users", matrix.shape[0])
    columns = ids_of(labels[1] if items is None else items, "items", matrix.shape[1])
    if truth:
        cells = score_cells.judged_cells(matrix)
    else:
        excluded = pl.DataFrame(schema={"row": pl.Int64, "column": pl.Int64})
        in_order = pl.DataFrame({"item": columns}).with_row_index("column")
        in_order = in_order.sort(by_item(in_order.schema))
        if exclude is not None:
            pairs = in_memory(exclude, "exclude=")
            if not is_side(pairs):
                ids: Any = {"users": rows, "items": columns, "user": user, "item": item}
                pairs = from_scores(pairs, truth=True, **ids)
            side = Side("the frame exclude=", pairs, Context(user=user, item=item))
            excluded = _places(side, rows, in_order["item"])
        columns = in_order["item"]
        cells = score_cells.first_cells(matrix, in_order["column"].to_numpy(), k, excluded)
    ids_of_cells = [
        rows.gather(cells["row"]).alias(user),
        columns.gather(cells["column"]).alias(item),
    ]
    found = pl.DataFrame([*ids_of_cells, *cells.drop("row", "column")])
    return found.with_columns(in_own_dtypes(user, item))


def _check(scores: Any) -> None:
    """Reject frames in long form and dictionaries."""
    words = {own_word(str(name)) or name for name in getattr(scores, "columns", ())}
    is_long = len(words & {"user", "item", "score", "rank"}) > 1
    if is_frame(scores) and (is_long or not hasattr(scores, "axes")):
        msg = (
            f"scores is {kind_of(scores)}, and no matrix of users x items; a long frame is used as it is, frame.rec(...), and "
            "a wide one gives its numbers: "
            "rf.from_scores(frame.drop('user').to_numpy(), users=frame['user'], items=frame.columns[1:])"
        )
        raise RecframeError(msg)
    if isinstance(scores, dict):
        msg = "scores is a dict; rf.from_lists takes users with their items and scores: {user: {item: score}}"
        raise RecframeError(msg)


def _places(pairs: Side, users: pl.Series, items: pl.Series) -> pl.DataFrame:
    """Return pairs of users and items by their places among these: row, column."""
    for role in ("user", "item"):
        pairs.require(role, f"Name the column of the {role}: rf.from_scores(..., {role}='...')")
    found = stream(pairs.take(["user", "item"]).lazy().drop_nulls().unique())
    for role, number, ids in (("user", "row", users), ("item", "column", items)):
        dtype = common({"exclude": found.schema[role], "scores": ids.dtype})
        known = pl.DataFrame({role: ids}).with_row_index(number)
        # ids of other dtypes match where they read the same
        cast: Any = {role: dtype or pl.String}
        found = found.cast(cast).join(known.cast(cast), on=role, how="left")
        if len(found) and len(ids) and not found[number].count():
            warn(
                f"no {role} of exclude= is among the {number}s of scores, so nothing is excluded; give the ids of its "
                f"{number}s in the dtype of exclude=: rf.from_scores(scores, {role}s=..., exclude=...)"
            )
    return found.drop_nulls().select(pl.col("row", "column").cast(pl.Int64))
