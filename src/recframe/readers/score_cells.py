"""Matrices of scores and relevances: their cells, and each row's first k."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from recframe.errors import RecframeError
from recframe.frames.collecting import run_as_it_is
from recframe.frames.rows.positions import with_places
from recframe.readers.ids import NO_SCORE

Numbers: TypeAlias = npt.NDArray[Any]
Pairs: TypeAlias = tuple[Numbers, Numbers]
"""The rows, which ascend, and the columns of some cells."""
CELLS = {"row": pl.Int64, "column": pl.Int64, "rank": pl.Int64, "number": pl.Float64}
"""The columns of cells in a frame."""
BLOCK = 2**22
"""Cells per block: 16 MB of 32-bit floats."""


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


def first_cells(
    matrix: Any, k: int | None, places: Numbers, excluded: Pairs | None
) -> pl.DataFrame:
    """Return each row's first k cells: row, column, rank, number.

    The higher the number, the better; equal ones follow one another by the `places` of their columns. `excluded` are cells
    that are left out.
    """
    ranked = [pl.DataFrame(schema=CELLS)]
    for start, stop in _blocks(matrix):
        block, without = matrix[start:stop], _between(excluded, start, stop)
        cells = _stored if hasattr(block, "indptr") else _reaching
        rows, columns, values = cells(block, k, places, without)
        found = pl.DataFrame({"row": rows + start, "column": columns, "number": values})
        number = pl.col("number") + 0  # -0.0 is as good as 0.0
        keys = [pl.col("row"), number, pl.Series("tie", places[columns])]
        ordered = found.lazy().sort(keys, descending=[False, True, False])
        listed = with_places(ordered, ["row"]).rename({"place": "rank"})
        first = listed if k is None else listed.filter(pl.col("rank") <= k)
        casts = (pl.col(name).cast(dtype) for name, dtype in CELLS.items())
        ranked.append(run_as_it_is(first.select(casts)))
    return pl.concat(ranked)


def judged_cells(matrix: Any, *, zeros: bool = False) -> pl.DataFrame:
    """Return the cells of a matrix that have a number, with `zeros` those of 0 too: row, column, number."""
    if hasattr(matrix, "indptr"):
        (rows, columns), values = cells_of(matrix), array_of(matrix.data)
    else:
        array = array_of(matrix)
        rows, columns = np.nonzero((array != 0) | zeros)
        values = array[rows, columns]
    cells = pl.DataFrame({"row": rows, "column": columns, "number": values})
    number = pl.col("number").cast(pl.Float64)
    is_judged = number.is_not_nan() & ((number != 0) | zeros)
    return cells.with_columns(number).filter(is_judged).sort("row", "column")


def with_ids(cells: pl.DataFrame, users: pl.Series, items: pl.Series) -> pl.DataFrame:
    """Return cells with the ids of their rows and columns in place of these."""
    ids = [users.gather(cells["row"]).alias("user"), items.gather(cells["column"]).alias("item")]
    return pl.DataFrame([*ids, *cells.drop("row", "column")])


def cells_of(matrix: Any) -> Pairs:
    """Return the rows (ascending) and columns of stored cells, or of non-zero cells of a dense matrix."""
    if not hasattr(matrix, "tocsr"):
        rows, columns = np.nonzero(array_of(matrix))
        return rows, columns
    matrix = matrix.tocsr()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows, matrix.indices.astype(np.int64)


def _blocks(matrix: Any) -> Iterator[tuple[int, int]]:
    """Return the first row of each block of rows, and the first behind it."""
    size, width = matrix.shape
    cells = getattr(matrix, "nnz", size * width)
    step = max(1, BLOCK * size // max(1, cells))
    return ((start, min(start + step, size)) for start in range(0, size, step))


def _between(cells: Pairs | None, start: int, stop: int) -> Pairs | None:
    """Return the cells of some rows, which are numbered from the first of these."""
    if cells is None:
        return None
    low, high = np.searchsorted(cells[0], [start, stop])
    return cells[0][low:high] - start, cells[1][low:high]


def _reaching(
    block: Any, k: int | None, places: Numbers, excluded: Pairs | None
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the cells of a dense block that reach the k-th best value of their row.

    NOTE: partitioning values and comparing with the k-th takes less time and memory than partitioning their places, and
    keeps all that are equal at the cut, of which the item decides.
    """
    given = array_of(block)
    values: Numbers = np.array(given)  # a copy: what is written below is not the user's
    is_float = values.dtype.kind == "f"
    lowest = -np.inf if is_float else np.iinfo(values.dtype).min
    kept = ~np.isnan(values) & (values > NO_SCORE) if is_float else np.ones(values.shape, bool)
    if excluded is not None:
        kept[excluded] = False
    values[~kept] = lowest
    width = values.shape[1]
    if k is not None and k < width:
        last = np.partition(values, width - k, axis=1)[:, width - k, None]
        kept &= values >= last
        if np.count_nonzero(kept) > 2 * k * len(values):
            kept = _cut(kept, kept & (values == last), k, places)
    rows, columns = np.nonzero(kept)
    return rows, columns, given[rows, columns]


def _cut(kept: Numbers, equal: Numbers, k: int, places: Numbers) -> Numbers:
    """Return k cells of each row, of equal ones at the cut those of the lower places.

    NOTE: most of a row is equal there where a model scores few items and the others 0; sorting all of them takes long.
    """
    better = kept & ~equal
    in_order = np.argsort(places)
    equal = equal[:, in_order]
    equal &= equal.cumsum(axis=1, dtype=np.int32) <= k - np.count_nonzero(better, axis=1)[:, None]
    better[:, in_order] |= equal
    return better


def _stored(
    block: Any, k: int | None, places: Numbers, excluded: Pairs | None
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the cells that some rows of a sparse matrix store, without those left out."""
    del k, places
    (rows, columns), values = cells_of(block), array_of(block.data)
    kept = values > NO_SCORE if values.dtype.kind == "f" else np.ones(values.shape, bool)
    if excluded is not None:
        width = block.shape[1]
        kept &= ~np.isin(rows * width + columns, excluded[0] * width + excluded[1])
    return rows[kept], columns[kept], values[kept]
