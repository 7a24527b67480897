"""A truth from a matrix of relevances, users x items, told from lists of ids."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import recframe as rf
from strategies import examples

sp = pytest.importorskip("scipy.sparse")
USERS, ITEMS = ["ann", "bob"], ["dune", "emma", "ilium"]
GRADES = np.array([[0.0, 2.5, math.nan], [1.0, 0.0, 0.0]])
ROWS = [
    ("ann", "dune", 0.0),
    ("ann", "emma", 2.5),
    ("bob", "dune", 1.0),
    ("bob", "emma", 0.0),
    ("bob", "ilium", 0.0),
]


@pytest.mark.parametrize(
    "make", [np.array, np.float32, np.asfortranarray], ids=lambda one: one.__name__
)
def test_each_number_of_a_dense_matrix_is_a_judgement_zero_too(make):
    assert rf.from_truth(make(GRADES), users=USERS, items=ITEMS).rows() == ROWS


def test_a_pandas_matrix_has_users_in_its_index_and_gives_pandas():
    frame = pd.DataFrame(GRADES, index=USERS, columns=ITEMS)

    for one in (frame, frame.astype("Float64")):
        found = rf.from_truth(one)
        assert isinstance(found, pd.DataFrame)
        assert [*found.itertuples(index=False, name=None)] == ROWS


@examples(25)
@given(matrix=arrays(np.float64, (4, 5), elements=st.sampled_from([0.0, 0.5, 1.0, 3.0, math.nan])))
def test_a_matrix_is_read_as_one_of_scores_is(matrix):
    matrix[0, :2] = [0.5, 0.5]  # so that it is no ids

    truth = rf.from_truth(matrix)

    scores = rf.from_scores(matrix, k=None).drop("rank").rename({"score": "relevance"})
    assert truth.equals(scores.sort("user", "item"))
    assert truth.schema == scores.schema


def test_ones_and_zeros_find_the_items_that_are_one():
    matrix = np.array([[0, 1, 1], [1, 0, 0]])
    recs = rf.from_lists({"ann": ["emma", "dune"], "bob": ["ilium"]})

    for one in (matrix, matrix.astype(bool), matrix.astype(bool).tolist(), sp.csr_array(matrix)):
        truth = rf.from_truth(one, users=USERS, items=ITEMS)
        # ann: emma of emma and ilium is found, bob: dune is not; (1/2 + 0) / 2
        assert recs.rec(truth=truth).recall(k=2) == 0.25


@pytest.mark.parametrize(
    ("ids", "items"),
    [
        ([[2, 0], [1, 2]], None),
        ([[5, 6], [7]], None),
        ([[3, 3], [1]], None),
        (np.array([[2, 0], [1, -1]]), None),
        (np.array([[2, 0], [1, 2]]), ["a", "b", "c"]),
        (np.array([[4711, 12], [13, 14]]), None),
        (np.array([["a", "b"], ["b", "a"]]), None),
        (np.array([[2.0, math.nan], [1.0, 4711.0]]), None),
    ],
)
def test_rows_of_ids_stay_ids(ids, items):
    plain = ids if isinstance(ids, list) else ids.tolist()
    # a NaN and a place below 0 are no items
    plain = [
        (user, one if items is None else items[one])
        for user, row in enumerate(plain)
        for one in row
        if one == one  # noqa: PLR0124  a NaN is not
    ]

    found = rf.from_truth(ids, items=items)

    assert found.columns == ["user", "item"]
    assert found.drop_nulls().rows() == plain


@pytest.mark.parametrize(
    ("either", "ids", "relevances"),
    [
        (np.array([[3, 4], [5, 6]]), "array.tolist()", "scipy.sparse.csr_array(array)"),
        (np.array([[1, 0], [0, 1]]), "array.tolist()", "scipy.sparse.csr_array(array)"),
        # zeros behind the others may be padding, as RecBole has it
        (np.array([[5, 7, 0, 0], [3, 0, 0, 0]]), "array.tolist()", "scipy.sparse.csr_array(array)"),
        ([[1, 0, 0], [0, 1, 1]], "{user: [item, ...]}", "numpy.array(lists)"),
    ],
)
def test_numbers_that_may_be_ids_and_relevances_are_an_error_with_both_answers(
    either, ids, relevances
):
    with pytest.raises(rf.RecframeError, match=r"may be item ids, .* or relevances") as error:
        rf.from_truth(either)

    assert f"for ids write rf.from_truth({ids})" in str(error.value)
    assert f"for relevances rf.from_truth({relevances})" in str(error.value)


def test_both_answers_are_taken():
    array = np.array([[3, 4], [5, 6]])

    assert rf.from_truth(array.tolist()).rows() == [(0, 3), (0, 4), (1, 5), (1, 6)]
    assert rf.from_truth(sp.csr_array(array)).rows() == [
        (0, 0, 3.0),
        (0, 1, 4.0),
        (1, 0, 5.0),
        (1, 1, 6.0),
    ]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rf.from_truth(GRADES, users=["ann"]), "users= has 1 id, and there are 2 rows of"),
        (lambda: rf.from_truth(GRADES, items=["a"]), "items= has 1 id, and there are 3 columns"),
        (lambda: rf.from_truth(np.zeros((2, 2, 2))), r"the array has the shape \(2, 2, 2\)"),
        (lambda: rf.from_truth(pd.DataFrame({"user": [1], "x": [2]})), "the frame of lists has no column 'item'"),
    ],
)  # fmt: skip
def test_what_is_no_matrix_of_these_users_and_items_is_said(call, words):
    with pytest.raises(rf.RecframeError, match=words):
        call()
