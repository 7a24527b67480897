"""`rf.from_scores`: lists or a truth from a matrix of users x items."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from recframe.errors import RecframeError, kind_of, shown, warn
from recframe.frames.kinds.kind import check_threads, in_memory, is_frame, stream
from recframe.frames.options import Context, is_side, plain_number
from recframe.frames.roles import Side
from recframe.readers.ids import NO_SCORE, ids_of, in_own_dtypes

Numbers: TypeAlias = npt.NDArray[Any]
BLOCK = 2**22
"""Cells per block: 16 MB of 32-bit floats."""
CELLS = {"row": pl.Int64, "column": pl.Int64, "number": pl.Float64}
number, row = pl.col("number"), pl.col("row")


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
            of torch or of another library that has `__array__`, or nested lists. A frame gives its numbers.
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
    matrix = _matrix_of(scores, "scores")
    if truth and (k is not FIRST or exclude is not None):
        raise RecframeError(
            "k= and exclude= are for lists; a truth has all items: from_scores(matrix, truth=True)"
        )
    if k is not None and not (isinstance(length := plain_number(k), int) and length > 0):
        raise RecframeError(
            f"k is a positive whole number, or None for all candidates; found {shown(k)}"
        )
    if not truth and "bool" in str(matrix.dtype):
        raise RecframeError(
            "scores are Booleans; a score is a number, and relevances take truth=True"
        )
    rows = ids_of(users, "users", matrix.shape[0])
    columns = ids_of(items, "items", matrix.shape[1])
    if truth:
        cells = _judged(matrix).rename({"number": "relevance"})
    else:
        excluded = _excluded(exclude, Context(user=user, item=item), rows, columns)
        cells = _first_cells(matrix, columns.arg_sort(), k, excluded)
    places, others, *numbers = cells
    ids = [rows.gather(places).alias(user), columns.gather(others).alias(item)]
    return pl.DataFrame([*ids, *numbers])


def _matrix_of(given: Any, name: str) -> Any:
    """Return what can be cut into rows: a sparse matrix without repeated cells, an array or a tensor."""
    if hasattr(given, "tocsr"):
        matrix = given.tocsr(copy=True)  # what is summed up is not the user's
        matrix.sum_duplicates()
        return matrix
    if is_frame(given) or isinstance(given, dict):
        raise RecframeError(
            f"{name} is {kind_of(given)}, and no matrix of users x items; a frame in long form is used as it is, "
            "frame.rec(...), and a wide one gives its numbers: rf.from_scores(frame[items].to_numpy(), users=..., "
            "items=items); rf.from_lists takes {user: {item: score}}"
        )
    matrix = given if hasattr(given, "dtype") else _array_of(given)
    if len(matrix.shape) != 2:  # noqa: PLR2004  users and items
        raise RecframeError(
            f"{name} has the shape {matrix.shape}; give a matrix of users x items, of one user "
            f"scores[None, :]"
        )
    return matrix


def _array_of(block: Any) -> Numbers:
    """Return another library's array as one of NumPy's, of floats of 32 or 64 bits."""
    if hasattr(block, "detach"):  # a tensor of torch
        block = block.detach().cpu()
    elif hasattr(block, "filled"):  # NumPy's masked arrays: what is masked has no score
        block = block.astype(np.float64).filled(np.nan)
    array = np.asarray(block)
    if array.dtype.kind not in "biuf":
        raise RecframeError(
            f"scores holds values of the dtype {array.dtype}; give numbers: scores.astype(float)"
        )
    return array if array.dtype.name == "float32" else array.astype(np.float64, copy=False)


def _stored(matrix: Any) -> pl.DataFrame:
    """Return the cells that a sparse matrix stores: row, column, number."""
    cells = matrix.tocoo()
    return _as_cells(cells.row, cells.col, _array_of(cells.data))


def _chosen(values: Numbers, wanted: Numbers, first: int = 0) -> pl.DataFrame:
    """Return the wanted cells of an array whose rows have the numbers from `first` on."""
    rows, columns = np.nonzero(wanted)
    return _as_cells(rows + first, columns, values[rows, columns])


def _as_cells(*columns: Numbers) -> pl.DataFrame:
    return pl.DataFrame(dict(zip(CELLS, columns, strict=True)), schema=CELLS)


def _judged(matrix: Any) -> pl.DataFrame:
    """Return the cells of a matrix but those of 0 and NaN, row by row."""
    is_sparse = hasattr(matrix, "tocsr")
    cells = _stored(matrix) if is_sparse else _chosen(array := _array_of(matrix), array)
    return cells.filter(number.fill_nan(0) != 0).sort("row", "column")


def _first_cells(
    matrix: Any, order: pl.Series, k: int | None, excluded: pl.DataFrame
) -> pl.DataFrame:
    """Return each row's first k cells but the `excluded` ones: row, column, rank, score; the higher the number, the better.

    `order` has the columns in the order that decides between equal numbers, in which they stand meanwhile.
    """
    excluded = excluded.with_columns(column=order.arg_sort().gather(excluded["column"]))
    if hasattr(matrix, "tocsr"):
        cells = _stored(matrix[:, order.to_numpy()])
        cells = cells.join(excluded, on=["row", "column"], how="anti")
    else:
        cells = _candidates(matrix, order.to_numpy(), k, excluded)
    # -0.0 is as good as 0.0, and a NaN is above all numbers
    cells = cells.filter(number.fill_nan(None) > NO_SCORE).with_columns(number + 0)
    cells = cells.sort("row", "number", "column", descending=[False, True, False])
    cells = cells.with_columns(rank=pl.int_range(1, pl.len() + 1).over("row"))
    cells = cells.filter(pl.col("rank") <= (k or len(order)))
    column = order.gather(cells["column"]).alias("column")
    return cells.select("row", column, "rank", score="number")


def _candidates(matrix: Any, order: Numbers, k: int | None, excluded: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of a dense matrix that may be among their row's first k, block by block."""
    size, width = matrix.shape
    step, blocks = max(1, BLOCK // max(1, width)), []
    for start in range(0, max(size, 1), step):
        values = np.take(_array_of(matrix[start : start + step]), order, axis=1)
        without = excluded.filter(row.is_between(start, start + step - 1))
        values[without["row"].to_numpy() - start, without["column"].to_numpy()] = -np.inf
        blocks.append(_chosen(values, _reaches(values, k), start))
    return pl.concat(blocks)


def _reaches(values: Numbers, k: int | None) -> Numbers:
    """Return whether each cell is among its row's first k.

    NOTE: partitioning values and comparing with the k-th takes less time and memory than partitioning their places. Most of a
    row may be equal to the k-th, where a model scores few items and the others 0: the first of these are counted off.
    """
    is_scored: Numbers = values > NO_SCORE  # a NaN is not
    width = values.shape[1]
    if k is None or k >= width:
        return is_scored
    values[~is_scored] = -np.inf
    last = np.partition(values, width - k, axis=1)[:, [width - k]]
    better, equal = values > last, values == last
    missing = k - np.count_nonzero(better, axis=1)[:, None]
    first: Numbers = better | (equal & (equal.cumsum(axis=1, dtype=np.int32) <= missing))
    return is_scored & first


def _excluded(pairs: Any, context: Context, users: pl.Series, items: pl.Series) -> pl.DataFrame:
    """Return pairs of users and items, or the cells of a matrix but those of 0 and NaN, by their places: row, column."""
    if pairs is None:
        return pl.DataFrame(schema=CELLS)
    pairs = in_memory(pairs, "exclude=")
    if not is_side(pairs):
        matrix = _matrix_of(pairs, "exclude=")
        if matrix.shape != (len(users), len(items)):
            raise RecframeError(
                f"exclude= has the shape {matrix.shape}; give that of scores, or a frame of pairs"
            )
        return _judged(matrix)
    side = Side("the frame exclude=", pairs, context)
    roles = ["user", "item"]
    for role in roles:
        side.require(role, f"Name the column of the {role}: rf.from_scores(..., {role}='...')")
    found = stream(side.take(roles).lazy().drop_nulls().unique())
    found = found.with_columns(in_own_dtypes(*roles))
    for role, place, ids in (("user", "row", users), ("item", "column", items)):
        known = pl.DataFrame({role: ids}).with_row_index(place)
        if ids.dtype != found.schema[role]:
            # ids of other dtypes match where they read the same
            known, found = known.cast({role: pl.String}), found.cast({role: pl.String})
        found = found.join(known, on=role, how="left")
        if len(found) and not found[place].count():
            warn(
                f"no {role} of exclude= is among the {place}s of scores, so nothing is excluded; give the ids of its "
                f"{place}s in the dtype of exclude=: rf.from_scores(scores, {role}s=..., exclude=...)"
            )
    return found.drop_nulls().select(pl.col("row", "column").cast(pl.Int64))
