"""The first k of a score matrix: as a plain sort has them, for every kind of matrix, in blocks of any size."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from recframe.readers import score_matrix
from strategies import examples

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


def asked(matrix, monkeypatch, block, **options):
    with monkeypatch.context() as patched:
        patched.setattr(score_matrix, "BLOCK", block)
        return rf.from_scores(matrix, **options)


def pairs_frame(pairs):
    return pl.DataFrame(pairs, schema={"user": pl.Int32, "item": pl.String}, orient="row")


@pytest.fixture(scope="module")
def patching():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@OTHER_IDS
@examples(40)
@given(drawn=matrices())
def test_lists_are_those_of_a_plain_sort_whatever_the_block(patching, drawn):
    matrix, items, k, pairs, block = drawn
    before = matrix.copy()

    found = asked(
        matrix, patching, block, items=items, k=k, exclude=pairs_frame(pairs) if pairs else None
    )

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
def test_a_sparse_matrix_has_the_lists_of_what_it_stores(patching, drawn, layout, data):
    matrix, items, k, pairs, block = drawn
    cells = [(row, column) for row in range(matrix.shape[0]) for column in range(matrix.shape[1])]
    # which stores no zero
    cells = [cell for cell in cells if matrix[cell] != 0] if layout == "lil_array" else cells
    stored = data.draw(st.lists(st.sampled_from(cells), unique=True)) if cells else []
    rows, columns = (np.array([cell[axis] for cell in stored], dtype=int) for axis in (0, 1))
    coo = sp.coo_array((matrix[rows, columns], (rows, columns)), shape=matrix.shape)
    sparse = getattr(sp, layout)(coo)

    found = asked(sparse, patching, block, items=items, k=k, exclude=pairs_frame(pairs))

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


class Tensor:
    """What torch's tensors do of which use is made: detached, moved, and no more NumPy than that."""

    dtype = "torch.float32"

    def __init__(self, values, *, detached=False):
        self.values, self.detached, self.shape = values, detached, values.shape

    def __getitem__(self, rows):
        return Tensor(self.values[rows])

    def detach(self):
        return Tensor(self.values, detached=True)

    def cpu(self):
        return self

    def tolist(self):
        return self.values.tolist()

    def __array__(self, dtype=None, copy=None):
        if not self.detached:
            raise TypeError("detach it")
        return np.asarray(self.values, dtype=dtype)


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


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        pl.Series,
        pd.Series,
        lambda ids: pd.Series(ids, dtype="category"),
        # what unique() of a pandas column is
        lambda ids: pd.Series(ids, dtype="string").unique(),
        pd.Categorical,
    ],
)
def test_ids_come_in_any_ordered_form(make):
    found = rf.from_scores(
        MATRIX, users=make(["ann", "bob"]), items=make(["dune", "emma", "ilium"]), k=2
    )

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
    assert rf.from_scores(np.zeros((0, 3)), items=["a", "b", "c"]).schema == {
        "user": pl.Int64,
        "item": pl.String,
        "rank": pl.Int64,
        "score": pl.Float64,
    }


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rf.from_scores(MATRIX[0]), r"scores has the shape \(3,\); .* of one user scores\[None, :\]"),
        (lambda: rf.from_scores(3), r"scores has the shape \(\); give a matrix of users x items"),
        (lambda: rf.from_scores({"ann": {"dune": 1.0}}), "scores is a dict, .*; rf.from_lists takes {user: "),
        (lambda: rf.from_scores(pl.DataFrame(MATRIX)),
         r"scores is a Polars DataFrame.*to_numpy\(\), users=frame\['user'\]"),
        (lambda: rf.from_scores(MATRIX.astype(str)), "dtype <U32; give numbers"),
        (lambda: rf.from_scores(MATRIX > 0.5), "scores are Booleans; .* relevances take truth=True"),
        (lambda: rf.from_scores(MATRIX, truth=True, k=100), "k= and exclude= are for lists; a truth has all items"),
        (lambda: rf.from_scores(MATRIX, truth=True, exclude=MATRIX), "k= and exclude= are for lists"),
        (lambda: rf.from_scores(MATRIX, k=-1), "k is a positive whole number, or None for all candidates; found -1"),
        (lambda: rf.from_scores(MATRIX, users=["a", "a"]), "users= has .* an id twice: 'a'; give each place its own id"),
        (lambda: rf.from_scores(MATRIX, items=["a", None, "b"]), "items= has a place without an id, .*: None"),
        (lambda: rf.from_scores(MATRIX, users=["a"]), "users= has 1 ids for 2 users; give one id for each"),
        (lambda: rf.from_scores(MATRIX, users=range(3), items=range(2)), "users= has 3 ids for 2 users"),
        (lambda: rf.from_scores(MATRIX, users={"a", "b"}),
         "users= is a set; give the ids as a list, array"),
        (lambda: rf.from_scores(MATRIX, users={"a": 0, "b": 1}), "users= is a dict; give the ids as a list"),
        (lambda: rf.from_scores(MATRIX, users=[("a", 1), ("b", 1)]), "no plain values, in users=; give"),
        (lambda: rf.from_scores(MATRIX, users=pl.DataFrame({"user": [1, 2]})),
         "users= is a Polars DataFrame; give the ids"),
        (lambda: rf.from_scores(MATRIX, exclude=MATRIX.T), r"exclude= has the shape \(3, 2\); give that of scores"),
        (lambda: rf.from_scores(MATRIX, exclude={0: [1]}), "exclude= is a dict, and no matrix"),
        (lambda: rf.from_scores(pd.DataFrame(MATRIX)), r"scores is a pandas DataFrame, .*\.to_numpy\(\)"),
        (lambda: rf.from_scores(MATRIX, exclude=pl.DataFrame({"user": [0], "isbn": [1]})),
         r"the frame exclude= has no column 'item'.*rf\.from_scores\(\.\.\., item='\.\.\.'\)"),
    ],
)  # fmt: skip
def test_an_error_says_what_to_write_instead(call, words):
    with pytest.raises(rf.RecframeError, match=words):
        call()


@pytest.mark.parametrize(
    ("role", "pairs"),
    [("item", {"user": [1, 0], "item": [1001, 1002]}), ("user", {"user": ["ann"], "item": [1]})],
)
def test_ids_of_another_kind_warn_since_they_would_exclude_nothing(role, pairs):
    with pytest.warns(
        rf.RecframeWarning, match=f"no {role} of exclude= is among .* of its .* rf.*{role}s="
    ) as seen:
        rf.from_scores(MATRIX, exclude=pl.DataFrame(pairs))

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
