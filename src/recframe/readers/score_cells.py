"""Matrices of scores and relevances: their cells, and each row's first k."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from recframe.errors import RecframeError
from recframe.frames.kinds.kind import run_as_it_is
from recframe.frames.rows.joins import with_places
from recframe.readers.ids import NO_SCORE

Numbers: TypeAlias = npt.NDArray[Any]
BLOCK = 2**22
"""Cells per block: 16 MB of 32-bit floats."""


def matrix_of(given: Any) -> Any:
    """Return what can be cut into rows: a sparse matrix without repeated cells, an array or a tensor."""
    if hasattr(given, "tocsr"):
        matrix = given.tocsr(copy=True)  # what is summed up is not the user's
        matrix.sum_duplicates()
        return matrix
    matrix = given if hasattr(given, "dtype") else array_of(given)
    if len(matrix.shape) != 2:  # noqa: PLR2004  users and items
        shape = tuple(matrix.shape)
        msg = f"scores has the shape {shape}; give a matrix of users x items, of one user scores[None, :]"
        raise RecframeError(msg)
    return matrix


def array_of(block: Any) -> Numbers:
    """Return another library's array as one of NumPy's, of floats of 32 or 64 bits."""
    try:
        if hasattr(block, "detach"):  # a tensor of torch, whose bfloat16 NumPy does not have
            block = block.detach().cpu()
            block = block.float() if "bfloat16" in str(block.dtype) else block
        elif hasattr(block, "filled"):  # NumPy's masked arrays: what is masked has no score
            block = block.astype(np.float64).filled(np.nan)
        elif hasattr(block, "axes"):  # a frame of pandas
            block = block.to_numpy(dtype=float, na_value=np.nan)
        array = np.asarray(block)
    except Exception as error:
        msg = f"scores cannot become a NumPy array: {error}; give a matrix of users x items"
        raise RecframeError(msg) from error
    if array.dtype.kind not in "biuf":
        msg = f"scores holds values of the dtype {array.dtype}; give numbers: scores.astype(float)"
        raise RecframeError(msg)
    return array if array.dtype.name == "float32" else array.astype(np.float64, copy=False)


def judged_cells(matrix: Any) -> pl.DataFrame:
    """Return the cells of a matrix but those of 0 and NaN: row, column, relevance."""
    cells = _cells_of(matrix).rename({"number": "relevance"})
    is_judged = pl.col("relevance").is_not_nan() & (pl.col("relevance") != 0)
    return cells.filter(is_judged).sort("row", "column")


def _cells_of(matrix: Any) -> pl.DataFrame:
    """Return the cells that a sparse matrix stores, and all of a dense one but those of 0: row, column, number."""
    if hasattr(matrix, "tocsr"):
        cells = matrix.tocoo()
        rows, columns, numbers = cells.row, cells.col, array_of(cells.data)
    else:
        array = array_of(matrix)
        rows, columns = np.nonzero(array)
        numbers = array[rows, columns]
    found = pl.DataFrame({"row": rows, "column": columns, "number": numbers})
    return found.cast({"row": pl.Int64, "column": pl.Int64, "number": pl.Float64})


def first_cells(matrix: Any, order: Numbers, k: int | None, excluded: pl.DataFrame) -> pl.DataFrame:
    """Return each row's first k cells: row, column, rank, score; the higher the number, the better.

    `order` has the columns in the order that decides between equal numbers; a column of the result, and of the `excluded`
    cells, which are left out, is a place in it.
    """
    size, width = matrix.shape
    step = max(1, BLOCK * size // max(1, getattr(matrix, "nnz", size * width)))
    number, row, ranked = pl.col("number"), pl.col("row"), []
    for start in range(0, max(size, 1), step):
        block = matrix[start : start + step]
        without = excluded.filter(row.is_between(start, start + step - 1)).with_columns(row - start)
        if hasattr(block, "tocsr"):
            cells = _cells_of(block[:, order]).join(without, on=["row", "column"], how="anti")
        else:
            values = np.take(array_of(block), order, axis=1)
            values[without["row"].to_numpy(), without["column"].to_numpy()] = -np.inf
            rows, columns = np.nonzero(_reaches(values, k))
            cells = pl.DataFrame({"row": rows, "column": columns, "number": values[rows, columns]})
        # -0.0 is as good as 0.0, and a NaN is above all numbers
        cells = cells.filter(number.fill_nan(None) > NO_SCORE).with_columns(number + 0)
        cells = cells.sort("row", "number", "column", descending=[False, True, False])
        first = with_places(cells.lazy(), ["row"]).filter(pl.col("place") <= (k or width))
        chosen = [
            row + start,
            "column",
            pl.col("place").alias("rank"),
            number.cast(pl.Float64).alias("score"),
        ]
        ranked.append(run_as_it_is(first.select(chosen)))
    return pl.concat(ranked)


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
