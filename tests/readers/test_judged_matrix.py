"""A truth from a matrix of relevances, users x items: each cell but 0 and NaN."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import recframe as rf

sp = pytest.importorskip("scipy.sparse")
USERS, ITEMS = ["ann", "bob"], ["dune", "emma", "ilium"]
GRADES = np.array([[0.0, 2.5, math.nan], [1.0, 0.0, -1.0]])
ROWS = [("ann", "emma", 2.5), ("bob", "dune", 1.0), ("bob", "ilium", -1.0)]


@pytest.mark.parametrize(
    "make",
    [
        np.array,
        np.float32,
        np.asfortranarray,
        sp.csc_matrix,
        # which stores a 0 that was written
        lambda grades: sp.coo_array((grades.ravel(), np.indices(grades.shape).reshape(2, -1))),
        np.ndarray.tolist,
        lambda grades: np.ma.masked_array(grades, mask=np.isnan(grades)),
    ],
    ids=["float64", "float32", "by columns", "sparse", "stored zeros", "lists", "masked"],
)
def test_each_cell_but_zero_and_nan_is_a_judgement(make):
    found = rf.from_scores(make(GRADES), truth=True, users=USERS, items=ITEMS, item="book")

    assert found.schema == {"user": pl.String, "book": pl.String, "relevance": pl.Float64}
    assert found.rows() == ROWS


def test_ones_and_zeros_find_the_items_that_are_one():
    matrix = np.array([[0, 1, 1], [1, 0, 0]])
    recs = rf.from_lists({"ann": ["emma", "dune"], "bob": ["ilium"]})

    for one in (matrix, matrix.astype(bool), matrix.tolist(), sp.csr_array(matrix.astype(bool))):
        truth = rf.from_scores(one, truth=True, users=USERS, items=ITEMS)
        # ann: emma of emma and ilium is found, bob: dune is not; (1/2 + 0) / 2
        assert recs.rec(truth=truth).recall(k=2) == 0.25


def test_a_user_without_a_cell_is_not_in_the_truth():
    assert rf.from_scores([[0, 0], [0, 3]], truth=True).rows() == [(1, 1, 3.0)]
