"""Matrices of scores and relevances: their cells, and each row's first k."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from recframe.errors import RecframeError
from recframe.frames.collecting import run_as_it_is
from recframe.frames.rows.positions import with_places
from recframe.readers.ids import NO_SCORE

Numbers: TypeAlias = npt.NDArray[Any]
BLOCK = 2**22
"""Cells per block: 16 MB of 32-bit floats."""
CELLS = pl.Schema({"row": pl.Int64(), "column": pl.Int64()})


def matrix_of(given: Any, name: str = "scores") -> Any:
    """Return what can be cut into rows: a sparse matrix without repeated cells, an array or a tensor."""
    if hasattr(given, "tocsr"):
        matrix = given.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()  # what is summed up below is not the user's
            matrix.sum_duplicates()
        return matrix
    if "sparse" in str(getattr(given, "layout", "")):
        msg = f"{name} is a sparse tensor, whose rows cannot be cut out; give {name}.to_dense() or a SciPy matrix"
        raise RecframeError(msg)
    if not hasattr(given, "dtype"):  # lists, frames of pandas and what NumPy gets by DLPack
        given = array_of(given, name)
    if len(given.shape) != 2:  # noqa: PLR2004  users and items
        msg = f"{name} has the shape {tuple(given.shape)}; give a matrix of users x items, of one user {name}[None, :]"
        raise RecframeError(msg)
    return given


def array_of(block: Any, name: str = "scores") -> Numbers:
    """Return another library's array as one of NumPy's, in a dtype that NumPy and Polars compute with."""
    if hasattr(block, "detach"):
        block = block.detach().cpu()
        if str(block.dtype) == "torch.bfloat16":  # which NumPy does not have
            block = block.float()
    if hasattr(block, "filled"):  # NumPy's masked arrays: what is masked has no score
        block = block.astype(np.result_type(block.dtype, np.float32)).filled(np.nan)
    if hasattr(block, "axes"):
        block = block.to_numpy(dtype=float, na_value=np.nan)
    try:
        is_exchanged = hasattr(block, "__dlpack__") and not hasattr(block, "__array__")
        array = np.from_dlpack(block) if is_exchanged else np.asarray(block)
    except Exception as error:
        msg = f"{name} cannot become a NumPy array: {error}; give a matrix of users x items"
        raise RecframeError(msg) from error
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    if array.dtype.kind not in "fiu":
        msg = f"{name} holds values of the dtype {array.dtype}; give numbers: {name}.astype(float)"
        raise RecframeError(msg)
    is_known = array.dtype.kind != "f" or array.dtype.name in {"float32", "float64"}
    return array if is_known else array.astype(np.float64)


def cells_of(matrix: Any, *, zeros: bool = False) -> pl.DataFrame:
    """Return the cells that a sparse matrix stores, or those of a dense matrix that are not 0: row, column, number.

    With `zeros` these are all cells of a dense matrix.
    """
    if hasattr(matrix, "tocsr"):
        sparse = matrix.tocoo()
        rows, columns, values = sparse.row, sparse.col, array_of(sparse.data)
    else:
        array = array_of(matrix)
        rows, columns = np.nonzero((array != 0) | zeros)
        values = array[rows, columns]
    found = pl.DataFrame({"row": rows, "column": columns, "number": values})
    return found.cast({"row": pl.Int64, "column": pl.Int64})


def judged_cells(matrix: Any, *, zeros: bool = False) -> pl.DataFrame:
    """Return the cells of a matrix that have a number, with `zeros` those of 0 too, as `cells_of` does."""
    number = pl.col("number").cast(pl.Float64)
    is_judged = number.is_not_nan() & ((number != 0) | zeros)
    cells = cells_of(matrix, zeros=zeros).with_columns(number)
    return cells.filter(is_judged).sort("row", "column")


def with_ids(cells: pl.DataFrame, users: pl.Series, items: pl.Series) -> pl.DataFrame:
    """Return cells with the ids of their rows and columns in place of these."""
    ids = [users.gather(cells["row"]).alias("user"), items.gather(cells["column"]).alias("item")]
    return pl.DataFrame([*ids, *cells.drop("row", "column")])


def first_cells(matrix: Any, order: Numbers, k: int | None, excluded: pl.DataFrame) -> pl.DataFrame:
    """Return each row's first k cells: row, column, rank, number; the higher the number, the better.

    `order` has the columns in the order that decides between equal numbers; a column of the result, and of the `excluded`
    cells, which are left out, is a place in it.
    """
    size, width = matrix.shape
    step = max(1, BLOCK * size // max(1, getattr(matrix, "nnz", size * width)))
    excluded, ranked = excluded.sort("row"), []
    for start in range(0, max(size, 1), step):
        block, row = matrix[start : start + step], pl.col("row")
        without = excluded.filter(row.is_between(start, start + step - 1)).with_columns(row - start)
        if hasattr(block, "tocsr"):
            cells = cells_of(block[:, order]).join(without, on=[*CELLS], how="anti")
            cells = cells.filter(pl.col("number").cast(pl.Float64).fill_nan(NO_SCORE) > NO_SCORE)
        else:
            cells = _reaching(np.take(array_of(block), order, axis=1), k, without)
        number = pl.col("number") + 0  # -0.0 is as good as 0.0
        ordered = cells.lazy().sort("row", number, "column", descending=[False, True, False])
        first = with_places(ordered, ["row"]).filter(pl.col("place") <= (k or width))
        columns = [row + start, "column", pl.col("place").alias("rank"), number.cast(pl.Float64)]
        ranked.append(run_as_it_is(first.select(columns)))
    return pl.concat(ranked)


def _reaching(values: Numbers, k: int | None, without: pl.DataFrame) -> pl.DataFrame:
    """Return each row's first k cells of a block, which is written over.

    NOTE: partitioning values and comparing with the k-th takes less time and memory than partitioning their places. Most of a
    row may be equal to the k-th, where a model scores few items and the others 0: the first of these are counted off.
    """
    kept = values > NO_SCORE  # a NaN is not
    kept[without["row"].to_numpy(), without["column"].to_numpy()] = False
    lowest = -np.inf if values.dtype.kind == "f" else np.iinfo(values.dtype).min
    values[~kept] = lowest
    width = values.shape[1]
    if k is not None and k < width:
        last = np.partition(values, width - k, axis=1)[:, [width - k]]
        better, equal = kept & (values > last), kept & (values == last)
        missing = k - np.count_nonzero(better, axis=1)[:, None]
        kept = better | (equal & (equal.cumsum(axis=1, dtype=np.int32) <= missing))
    rows, columns = np.nonzero(kept)
    return pl.DataFrame({"row": rows, "column": columns, "number": values[rows, columns]})
