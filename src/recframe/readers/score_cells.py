"""Matrices of scores and relevances: their cells, and each row's top k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from recframe.errors import RecframeError, kind_of
from recframe.frames.collecting import run_as_it_is
from recframe.frames.rows.positions import with_places
from recframe.readers.ids import NO_SCORE, either, ids_of

Numbers: TypeAlias = npt.NDArray[Any]
Pairs: TypeAlias = tuple[Numbers, Numbers]
"""The rows, which ascend, and the columns of some cells."""
Cells: TypeAlias = tuple[Numbers, Numbers, Numbers]
"""Rows (ascending), columns and values of matrix cells."""
CELLS = {"row": pl.Int64, "column": pl.Int64, "rank": pl.Int64, "number": pl.Float64}
"""The columns of cells in a frame."""
BLOCK = 2**22
"""Cells per block: 16 MB of 32-bit floats."""
NO_DENSE = "give a matrix that NumPy can read, of users x items"


def matrix_of(scores: Any, name: str = "scores") -> Any:
    """Return scores as something with two axes that can be cut into rows: a matrix, sparse or dense, or a tensor."""
    if isinstance(scores, list | tuple) or hasattr(scores, "axes"):
        scores = array_of(scores, name)
    shape = tuple(getattr(scores, "shape", ()))
    if hasattr(scores, "tocsr") and len(shape) == 2:  # noqa: PLR2004  users and items
        return _canonical(scores.tocsr())
    if "sparse" in str(getattr(scores, "layout", "")):  # torch's, whose rows cannot be cut out
        msg = f"{name} is a sparse tensor; give {name}.to_dense(), where what is not stored is 0, or a SciPy matrix"
        raise RecframeError(msg)
    if not shape and not hasattr(scores, "__array__") and not hasattr(scores, "__dlpack__"):
        msg = f"{name} is {kind_of(scores)}; {NO_DENSE}: NumPy, SciPy sparse, torch or what has __array__"
        raise RecframeError(msg)
    if not shape or not hasattr(scores, "__getitem__"):
        scores = array_of(scores, name)
        shape = scores.shape
    if len(shape) != 2:  # noqa: PLR2004  users and items
        one = f"; for one user write {name}[None, :]" if len(shape) == 1 else ""
        msg = f"{name} has the shape {tuple(shape)}; {NO_DENSE}{one}"
        raise RecframeError(msg)
    return scores


def _canonical(matrix: Any) -> Any:
    """Return a row-major sparse matrix without repeated cells, summed as SciPy does; the input is not changed."""
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def array_of(block: Any, name: str = "scores") -> Numbers:
    """Return another library's array as a NumPy array, in a dtype that NumPy computes with."""
    if hasattr(block, "detach"):
        block = block.detach().cpu()
        if str(block.dtype) == "torch.bfloat16":  # which NumPy does not have
            block = block.float()
    if hasattr(block, "filled"):  # NumPy's masked arrays: what is masked has no score
        block = block.astype(np.result_type(block.dtype, np.float32)).filled(np.nan)
    try:
        array = (
            np.asarray(block)
            if hasattr(block, "__array__") or isinstance(block, list | tuple)
            else np.from_dlpack(block)
        )
        if array.dtype.name in {"float16", "bfloat16", "longdouble"}:  # which Polars does not have
            array = array.astype(np.float64 if array.itemsize > 8 else np.float32)  # noqa: PLR2004  bytes
    except Exception as error:
        msg = f"{name} cannot become a NumPy array ({str(error).partition(chr(10))[0]}); {NO_DENSE}"
        raise RecframeError(msg) from error
    if array.dtype.kind not in "fiu":
        one = "score" if name == "scores" else "relevance"
        msg = f"{name} holds values of the dtype {array.dtype}; a {one} is a number: cast it first, {name}.astype(float)"
        raise RecframeError(msg)
    return array


def labelled(
    given: Any, matrix: Any, users: Any, items: Any, titles: Sequence[str]
) -> tuple[pl.Series, pl.Series]:
    """Return the ids of a matrix's rows and columns, which pandas' labels are where no others are given."""
    labels = getattr(given, "axes", (None, None))
    named = zip(("users", "items"), (users, items), labels, matrix.shape, titles, strict=True)
    rows, columns = (
        ids_of(label if ids is None else ids, name, size, title)
        for name, ids, label, size, title in named
    )
    return rows, columns


def first_cells(
    matrix: Any, k: int | None, places: Numbers, excluded: Pairs | None
) -> pl.DataFrame:
    """Return each row's first k cells as a frame: row, column, rank, number.

    The higher the number, the better; equal ones follow one another by the `places` of their columns. `excluded` are the
    rows, which ascend, and the columns of cells that are left out.
    """
    ranked = [pl.DataFrame(schema=CELLS)]
    is_sparse = hasattr(matrix, "indptr")
    for start, stop in _sparse_blocks(matrix) if is_sparse else _dense_blocks(matrix):
        block, without = matrix[start:stop], _between(excluded, start, stop)
        cells = _stored(block, without) if is_sparse else _reaching(block, k, places, without)
        rows, columns, values = cells
        named = {"row": rows + start, "column": columns, "number": values, "tie": places[columns]}
        ranked.append(_ranked(pl.DataFrame(named), k))
    return pl.concat(ranked)


def _ranked(cells: pl.DataFrame, k: int | None) -> pl.DataFrame:
    """Return the first k cells of each row, with their ranks."""
    number = pl.col("number") + 0  # -0.0 is as good as 0.0
    ordered = cells.lazy().sort("row", number, "tie", descending=[False, True, False])
    ranked = with_places(ordered, ["row"]).rename({"place": "rank"})
    first = ranked if k is None else ranked.filter(pl.col("rank") <= k)
    return run_as_it_is(first.select(pl.col(name).cast(dtype) for name, dtype in CELLS.items()))


def with_ids(cells: pl.DataFrame, users: pl.Series, items: pl.Series) -> pl.DataFrame:
    """Return cells with the ids of their rows and columns: user, item, rank, number."""
    rows, columns = cells["row"], cells["column"]
    ids = [users.gather(rows).alias("user"), items.gather(columns).alias("item")]
    return pl.DataFrame([*ids, cells["rank"], cells["number"]])


def cells_of(matrix: Any) -> Pairs:
    """Return the rows (ascending) and columns of stored cells, or of non-zero cells of a dense matrix."""
    if hasattr(matrix, "tocsr"):
        matrix = matrix.tocsr()
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return rows, matrix.indices.astype(np.int64)
    dense = matrix.detach().cpu() if hasattr(matrix, "detach") else matrix
    rows, columns = np.nonzero(np.asarray(dense))
    return rows, columns


def _blocks(array: Numbers) -> Iterator[Numbers]:
    """Return the rows of an array, block by block."""
    return (array[start:stop] for start, stop in _dense_blocks(array))


def _dense_blocks(matrix: Any) -> Iterator[tuple[int, int]]:
    size, width = matrix.shape
    step = max(1, BLOCK // max(1, width))
    return ((start, min(start + step, size)) for start in range(0, size, step))


def _sparse_blocks(matrix: Any) -> Iterator[tuple[int, int]]:
    """Return blocks of rows that store about as many cells as a dense block has."""
    size = matrix.shape[0]
    steps = np.arange(BLOCK, int(matrix.indptr[-1]), BLOCK)
    bounds = [int(one) for one in np.unique([0, *np.searchsorted(matrix.indptr, steps), size])]
    return pairwise(bounds)


def _between(cells: Pairs | None, start: int, stop: int) -> Pairs | None:
    """Return the cells of some rows, which are numbered from the first of these."""
    if cells is None:
        return None
    low, high = np.searchsorted(cells[0], [start, stop])
    return cells[0][low:high] - start, cells[1][low:high]


def _reaching(block: Any, k: int | None, places: Numbers, excluded: Pairs | None) -> Cells:
    """Return the cells of a dense block that reach the k-th best value of their row: with equal ones all of them, if few.

    NOTE: partitioning values and comparing with the k-th takes less time and memory than partitioning their places, and
    keeps all that are equal at the cut, of which the item decides.
    """
    given = array_of(block)
    values: Numbers = np.array(given)  # a copy: what is written below is not the user's
    is_float = values.dtype.kind == "f"
    lowest = -np.inf if is_float else np.iinfo(values.dtype).min
    if is_float:
        np.copyto(values, lowest, where=np.isnan(values))
    if excluded is not None:
        values[excluded] = lowest
    width = values.shape[1]
    kept = _are_scores(values)
    if excluded is not None:
        kept[excluded] = False
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


def _stored(block: Any, excluded: Pairs | None) -> Cells:
    """Return the cells that some rows of a sparse matrix store, those that are no candidates left out."""
    (rows, columns), values = cells_of(block), array_of(block.data)
    kept = _are_scores(values)
    if excluded is not None:
        width = block.shape[1]
        kept &= ~np.isin(rows * width + columns, excluded[0] * width + excluded[1])
    return rows[kept], columns[kept], values[kept]


def _are_scores(values: Numbers) -> Numbers:
    """Return which values are scores, as no NaN is."""
    is_float = values.dtype.kind == "f"
    return values > NO_SCORE if is_float else np.ones(values.shape, dtype=bool)


HIGHEST_GRADE = 100
"""Number above which values are ids rather than grades, where no row repeats one."""


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
    is_float = array.dtype.kind == "f"
    return is_float and any((rows[np.isfinite(rows)] % 1 != 0).any() for rows in _blocks(array))


def _repeats(array: Numbers) -> tuple[bool, bool]:
    """Return whether a row has a number twice, and whether it does where zeros behind its last other number count."""
    pads = False
    for rows in _blocks(array):
        values = np.array(rows, dtype=np.float64)
        behind = np.logical_and.accumulate((values == 0)[:, ::-1], axis=1)[:, ::-1]
        pads |= bool((behind.sum(axis=1) > 1).any())
        values[behind | ~np.isfinite(values) | (values < 0)] = np.nan
        values.sort(axis=1)  # what is no number stands last
        if (np.diff(values, axis=1) == 0).any():
            return True, True
    return False, pads


def of_matrix(truth: Any, users: Any, items: Any) -> pl.DataFrame:
    """Return the cells of a matrix that have a number: user, item, rank, number."""
    matrix = matrix_of(as_numbers(truth), "truth")
    ids = labelled(truth, matrix, users, items, ("rows of the truth", "columns of it"))
    # NOTE: these are lists of all cells by their numbers; a truth stands in the order of its items
    cells = first_cells(matrix, None, np.arange(matrix.shape[1]), None)
    return with_ids(cells.sort("row", "column"), *ids)


def as_numbers(truth: Any) -> Any:
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
