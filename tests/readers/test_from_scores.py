"""The first k of a score matrix: as a plain sort has them, for every kind of matrix, in blocks of any size."""

from __future__ import annotations

import math
import tracemalloc
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from recframe.readers import score_matrix
from strategies import examples
from tensors import Tensor

sp = pytest.importorskip("scipy.sparse")
OTHER_IDS = pytest.mark.filterwarnings("ignore:no (user|item) of exclude:recframe.RecframeWarning")
LOWEST = float(np.finfo(np.float32).min)
scores = st.sampled_from([0.0, -0.0, 1.0, 1.0, 0.5, -2.0, math.inf, -math.inf, math.nan, LOWEST])
numbers = st.sampled_from([0, 1, 1, 2, -3, 2**40, -(2**40)])


@st.composite
def matrices(draw):
    """A matrix, the ids of its columns in any order, a cut-off, pairs to leave out, and the size of a block."""
    height, width = draw(st.integers(0, 5)), draw(st.integers(1, 7))
    values, dtype = draw(
        st.sampled_from([(scores, np.float32), (scores, np.float64), (numbers, np.int64)])
    )
    rows = draw(
        st.lists(st.lists(values, min_size=width, max_size=width), min_size=height, max_size=height)
    )
    matrix = np.array(rows, dtype=dtype).reshape(height, width)
    items = draw(st.permutations("gfedcba"[:width]))
    pair = st.tuples(st.integers(0, 6), st.sampled_from("abcdefgx"))
    k = draw(st.one_of(st.none(), st.integers(1, 8)))
    return matrix, items, k, draw(st.lists(pair, max_size=10)), draw(st.sampled_from([1, 5, 2**22]))


def plain(matrix, items, k, pairs, stored=None):
    """Return the rows of a plain sort, user by user."""
    found = []
    for user, row in enumerate(matrix.tolist()):
        listed = [
            (-score, item, score)
            for place, (item, score) in enumerate(zip(items, row, strict=True))
            if (user, item) not in pairs
            and (stored is None or (user, place) in stored)
            and not none(score)
        ]
        found += [
            (user, item, rank, float(score))
            for rank, (_, item, score) in enumerate(sorted(listed)[:k], 1)
        ]
    return found


def none(score):
    return isinstance(score, float) and not score > -3e38


def asked(matrix, block, **options):
    with mock.patch.object(score_matrix, "BLOCK", block):
        return rf.from_scores(matrix, **options)


def pairs_frame(pairs):
    return pl.DataFrame(pairs, schema={"user": pl.Int32, "item": pl.String}, orient="row")


@OTHER_IDS
@examples(40)
@given(drawn=matrices())
def test_lists_are_those_of_a_plain_sort_whatever_the_block(drawn):
    matrix, items, k, pairs, block = drawn
    before = matrix.copy()

    found = asked(matrix, block, items=items, k=k, exclude=pairs_frame(pairs) if pairs else None)

    assert found.columns == ["user", "item", "rank", "score"]
    assert found.rows() == plain(matrix, items, k, pairs)
    assert np.array_equal(matrix, before, equal_nan=matrix.dtype.kind == "f")


@pytest.mark.slow
@OTHER_IDS
@examples(25)
@given(
    drawn=matrices(),
    layout=st.sampled_from(["csr_matrix", "csc_array", "coo_array", "lil_array"]),
    data=st.data(),
)
def test_a_sparse_matrix_has_the_lists_of_what_it_stores(drawn, layout, data):
    matrix, items, k, pairs, block = drawn
    cells = [(row, column) for row in range(matrix.shape[0]) for column in range(matrix.shape[1])]
    # which stores no zero
    cells = [cell for cell in cells if matrix[cell] != 0] if layout == "lil_array" else cells
    stored = data.draw(st.lists(st.sampled_from(cells), unique=True)) if cells else []
    rows, columns = (np.array([cell[axis] for cell in stored], dtype=int) for axis in (0, 1))
    coo = sp.coo_array((matrix[rows, columns], (rows, columns)), shape=matrix.shape)
    sparse = getattr(sp, layout)(coo)

    found = asked(sparse, block, items=items, k=k, exclude=pairs_frame(pairs))

    assert found.rows() == plain(matrix, items, k, pairs, stored={*stored})


def test_cells_that_a_sparse_matrix_stores_twice_are_summed_up_and_the_matrix_is_left_as_it_is():
    matrix = sp.csr_array(
        (np.array([1.0, 2.0, 2.5]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2)
    )

    assert rf.from_scores(matrix).rows() == [(0, 1, 1, 3.0), (0, 0, 2, 2.5)]
    assert matrix.nnz == 3


def test_ties_at_the_cut_go_by_the_id_of_the_item_as_they_do_in_rec():
    matrix, items = np.zeros((1, 4)), [10, 9, 2, 100]
    long = pl.DataFrame({"user": [0] * 4, "item": items, "score": [0.0] * 4})
    truth = pl.DataFrame({"user": [0], "item": [2]})

    found = rf.from_scores(matrix, items=items, k=2)

    assert found["item"].to_list() == [2, 9]  # as numbers; as text "10" would come first
    assert found.rec(truth=truth).mrr(k=2) == long.rec(truth=truth).mrr(k=2) == 1.0


def test_categories_stand_by_what_they_say():
    items = pd.Series(pd.Categorical(["a", "b"], categories=["b", "a"]))

    assert rf.from_scores(np.zeros((1, 2)), items=items, k=1)["item"].cast(pl.String).to_list() == [
        "a"
    ]


MATRIX = np.array([[0.1, 0.9, 0.5], [0.7, 0.2, 0.7]])
TOP = [("ann", "emma", 1), ("ann", "ilium", 2), ("bob", "dune", 1), ("bob", "ilium", 2)]


@pytest.mark.parametrize(
    "matrix",
    [
        MATRIX.tolist(),
        MATRIX.astype(np.float32),
        np.ma.masked_array(np.where(MATRIX == 0.2, 9.0, MATRIX), mask=MATRIX == 0.2),
        Tensor(MATRIX),
        (MATRIX * 10).astype(np.uint8),
    ],
    ids=lambda matrix: type(matrix).__name__,
)
def test_every_kind_of_matrix_has_the_same_lists(matrix):
    found = rf.from_scores(matrix, users=["ann", "bob"], items=["dune", "emma", "ilium"], k=2)

    assert found.select("user", "item", "rank").rows() == TOP


FORMS = {
    "tuple": tuple,
    "array": np.array,
    "Polars": pl.Series,
    "pandas": pd.Series,
    "categories": lambda ids: pd.Series(ids, dtype="category"),
    # what unique() of a pandas column is
    "unique": lambda ids: pd.Series(ids, dtype="string").unique(),
    "Categorical": pd.Categorical,
}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_ids_come_in_any_ordered_form(make):
    users, items = make(["ann", "bob"]), make(["dune", "emma", "ilium"])

    found = rf.from_scores(MATRIX, users=users, items=items, k=2)

    assert found.select(pl.col("user", "item").cast(pl.String), "rank").rows() == TOP


TRAIN = {"person": [0, 0, 1, 7, None], "isbn": [1, 1, 0, 0, 2]}


@pytest.mark.parametrize(
    "exclude",
    [
        pl.DataFrame(TRAIN),
        pl.DataFrame(TRAIN).lazy(),
        pl.DataFrame(TRAIN).cast({"person": pl.Int16}),
        pd.DataFrame(TRAIN).dropna().astype("int64"),
        sp.csr_array(([1, 1], ([0, 1], [1, 0])), shape=(2, 3)),
        sp.coo_matrix(([1, 1, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 3)),
        np.array([[0, 1, 0], [1, 0, 0]], dtype=bool),
        Tensor(np.array([[0, 5, 0], [1, 0, 0]])),
    ],
    ids=lambda exclude: type(exclude).__name__,
)
def test_excluded_pairs_come_in_any_form(exclude):
    found = rf.from_scores(MATRIX, exclude=exclude, user="person", item="isbn", k=2)

    assert found.columns == ["person", "isbn", "rank", "score"]
    assert found.rows() == [(0, 2, 1, 0.5), (0, 0, 2, 0.1), (1, 2, 1, 0.7), (1, 1, 2, 0.2)]


def test_a_matrix_without_users_has_the_columns():
    dtypes = {"user": pl.Int64, "item": pl.String, "rank": pl.Int64, "score": pl.Float64}

    assert rf.from_scores(np.zeros((0, 3)), items=["a", "b", "c"]).schema == dtypes


def test_a_warning_names_the_line_of_the_call():
    with pytest.warns(rf.RecframeWarning, match="no user of exclude= is among") as seen:
        rf.from_scores(MATRIX, exclude=pl.DataFrame({"user": ["ann"], "item": [1]}))

    assert seen[0].filename == __file__


@pytest.mark.slow
def test_memory_is_that_of_a_block():
    # 40 MB, ten million cells
    matrix = np.random.default_rng(0).random((4_000, 2_500), dtype=np.float32)

    tracemalloc.start()
    found = rf.from_scores(matrix, k=10)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(found) == 40_000
    assert peak < 64e6  # argsort of the whole takes 80 MB for its places alone, and 40 for a minus


# A truth from a matrix of relevances: each cell but 0 and NaN

GRADES = np.array([[0.0, 2.5, math.nan], [1.0, 0.0, -1.0]])
NAMED = {"users": ["ann", "bob"], "items": ["dune", "emma", "ilium"]}
MATRICES = {
    "float64": np.array,
    "float32": np.float32,
    "by columns": np.asfortranarray,
    "sparse": sp.csc_matrix,
    # which stores a 0 that was written
    "stored zeros": lambda one: sp.coo_array((one.ravel(), np.indices(one.shape).reshape(2, -1))),
    "lists": np.ndarray.tolist,
    "masked": lambda grades: np.ma.masked_array(grades, mask=np.isnan(grades)),
}


@pytest.mark.parametrize("make", MATRICES.values(), ids=MATRICES)
def test_each_cell_but_zero_and_nan_is_a_judgement(make):
    found = rf.from_scores(make(GRADES), truth=True, item="book", **NAMED)

    assert found.schema == {"user": pl.String, "book": pl.String, "relevance": pl.Float64}
    assert found.rows() == [("ann", "emma", 2.5), ("bob", "dune", 1.0), ("bob", "ilium", -1.0)]


@pytest.mark.parametrize("make", [np.array, sp.csr_array, lambda ones: ones.astype(bool)])
def test_ones_are_judgements_and_a_user_without_any_is_not_in_the_truth(make):
    truth = rf.from_scores(make(np.array([[0, 0, 0], [1, 0, 1]])), truth=True, **NAMED)

    assert truth.rows() == [("bob", "dune", 1.0), ("bob", "ilium", 1.0)]
