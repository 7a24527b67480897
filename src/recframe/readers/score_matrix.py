"""`rf.from_scores`: lists or a truth from a matrix of users x items."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.errors import RecframeError, kind_of, shown, warn
from recframe.frames.collecting import check_threads, stream
from recframe.frames.dtypes import matched
from recframe.frames.hints import own_word
from recframe.frames.kinds.lookup import in_memory, is_frame
from recframe.frames.options import Context, is_side
from recframe.frames.roles import Side
from recframe.frames.rows.positions import by_item
from recframe.readers.ids import ids_of, in_own_dtypes

if TYPE_CHECKING:
    from recframe.readers.score_cells import Numbers, Pairs

NUMBERED = {"user": "row", "item": "column"}
"""The roles of a matrix's rows and columns, and what these are called."""


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
        raise RecframeError(
            "scores are Booleans; a score is a number, and relevances take truth=True"
        )
    ids = _labels(scores, matrix.shape, users, items)
    names = {
        "user": user,
        "item": item,
        "rank": "rank",
        "number": "relevance" if truth else "score",
    }
    if truth:
        cells = score_cells.judged_cells(matrix)
        return in_own_dtypes(score_cells.with_ids(cells, *ids), names)
    without = None
    if exclude is not None:
        without = _excluded(exclude, matrix.shape, ids, Context(user=user, item=item))
    cells = score_cells.first_cells(matrix, k, _places(ids[1]), without)
    return in_own_dtypes(score_cells.with_ids(cells, *ids), names)


def _check(scores: Any, k: object) -> None:
    """Reject frames in long form and dictionaries, and a k that is no number of items."""
    words = {own_word(str(name)) or str(name): name for name in getattr(scores, "columns", ())}
    long = [
        f"{role}={words[role]!r}" for role in ("user", "item", "score", "rank") if role in words
    ]
    if is_frame(scores) and (len(long) > 1 or not hasattr(scores, "axes")):
        msg = (
            f"scores is {kind_of(scores)}, and no matrix of users x items; a long frame is used as it is, "
            f"frame.rec({', '.join(long)}), and a wide one gives its numbers: "
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


def _labels(given: Any, shape: Any, users: Any, items: Any) -> tuple[pl.Series, pl.Series]:
    """Return the ids of a matrix's rows and columns, which pandas' labels are where no others are given."""
    labels = getattr(given, "axes", (None, None))
    users, items = labels[0] if users is None else users, labels[1] if items is None else items
    return ids_of(users, "users", shape[0]), ids_of(items, "items", shape[1])


def _places(items: pl.Series) -> Numbers:
    """Return each item's position in recframe's tie order of equal scores."""
    frame = pl.DataFrame({"item": items}).with_row_index("column")
    columns = frame.sort(by_item(frame.schema))["column"]
    return columns.arg_sort().to_numpy()


def _excluded(
    exclude: Any, shape: Any, ids: tuple[pl.Series, pl.Series], context: Context
) -> Pairs:
    """Return the rows and columns of the pairs that are never recommended; the rows ascend."""
    from recframe.readers import score_cells  # noqa: PLC0415  as above

    exclude = in_memory(exclude, "exclude=")
    if is_side(exclude):
        return _pairs(exclude, ids, context)
    found = tuple(getattr(exclude, "shape", ()))
    if found == tuple(shape):
        return score_cells.cells_of(exclude)
    what = (
        f"has the shape {found}, and scores {tuple(shape)}" if found else f"is {kind_of(exclude)}"
    )
    msg = (
        f"exclude= {what}; give a frame of pairs with the columns {context.names['user']!r} and {context.names['item']!r}, "
        "which rf.from_truth makes of a dict, or a matrix of the shape of scores"
    )
    raise RecframeError(msg)


def _pairs(exclude: Any, ids: tuple[pl.Series, pl.Series], context: Context) -> Pairs:
    """Return the rows and columns of a frame's pairs."""
    side = Side("the frame exclude=", exclude, context)
    for role in NUMBERED:
        side.require(role, f"Name the column of the {role}: rf.from_scores(..., {role}='...')")
    sides, taken = {"exclude": side}, {"exclude": side.take(NUMBERED).lazy()}
    for (role, number), own in zip(NUMBERED.items(), ids, strict=True):
        known = pl.DataFrame({role: own})
        sides[role] = Side(f"the {number}s of scores, which {role}s= names", known, context)
        taken[role] = known.lazy()
    schemas = {name: frame.collect_schema() for name, frame in taken.items()}
    taken = matched(taken, schemas, sides, (), None)
    pairs = taken["exclude"].drop_nulls()
    for role, number in NUMBERED.items():
        pairs = pairs.join(taken[role].with_row_index(number), on=role, how="left")
    places = pairs.select(pl.col("row", "column").cast(pl.Int64))
    found = stream(places.unique().sort("row"))
    for role, number in NUMBERED.items():
        if len(found) and found[number].count() == 0 and all(map(len, ids)):
            # which ids of another kind are the usual cause of
            warn(
                f"no {role} of exclude= is among the {number}s of scores, so nothing is excluded; give the ids of its "
                f"{number}s: rf.from_scores(scores, {role}s=..., exclude=...)"
            )
    found = found.drop_nulls()
    return found["row"].to_numpy(), found["column"].to_numpy()
