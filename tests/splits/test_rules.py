"""Rules by users' last events, by chance and by users, against their definitions in plain Python."""

from __future__ import annotations

import warnings
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from logs_to_split import (
    Parts,
    log_of,
    plain_by_user,
    plain_last_per_user,
    plain_random,
    rows_of_logs,
)
from strategies import examples

seeds = st.integers(0, 3)
shares = st.sampled_from([0.1, 0.2, 0.25, 0.29, 0.5])


def labels_are(log: pl.DataFrame, rule: str, expected: Parts, **options: Any) -> None:
    """Assert that each row has the part that is expected, or that the split says that it has no train or truth."""
    has = ["train" in parts for parts in expected]
    call = getattr(log.rec(user="u", item="i", time="t").split, rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rf.RecframeWarning)
        if not all(has) or not any("truth" in parts for parts in expected):
            with pytest.raises(rf.DataError, match="has no row"):
                call(**options)
            return
        labels = call(**options).labels
    assert labels["part"].to_list() == [part for parts in expected for part in parts]
    assert labels.drop("fold", "part").equals(pl.concat([log] * len(expected)))


@examples(100)
@given(
    rows_of_logs(),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(0, 2),
    st.sampled_from(["item", "together", "row"]),
)
def test_last_per_user_is_its_definition(log, n, folds, keep, ties):
    form, rows = log
    options = {"n": n, "folds": folds, "keep": keep, "ties": ties}

    labels_are(log_of(form, rows), "last_per_user", plain_last_per_user(rows, **options), **options)


@examples(100)
@given(rows_of_logs(), st.one_of(st.none(), shares), st.integers(1, 10), seeds, st.integers(0, 2))
def test_random_per_user_is_its_definition(log, share, folds, seed, keep):
    form, rows = log
    folds = max(folds, 2) if share is None else min(folds, int(1 / share))
    options = {"share": share, "n": None, "per": "user", "folds": folds, "seed": seed, "keep": keep}

    labels_are(log_of(form, rows), "random", plain_random(rows, **options), **options)


@examples(50)
@given(rows_of_logs(), st.integers(1, 3), st.integers(1, 3), seeds)
def test_random_pairs_of_each_user_are_their_definition(log, n, folds, seed):
    form, rows = log
    options = {"share": None, "n": n, "per": "user", "folds": folds, "seed": seed, "keep": 1}

    labels_are(log_of(form, rows), "random", plain_random(rows, **options), **options)


@examples(50)
@given(rows_of_logs(), st.one_of(st.none(), shares), st.integers(2, 10), seeds)
def test_random_per_log_is_its_definition(log, share, folds, seed):
    form, rows = log
    folds = folds if share is None else min(folds, int(1 / share))
    options = {"share": share, "n": None, "per": "log", "folds": folds, "seed": seed, "keep": 1}

    labels_are(log_of(form, rows), "random", plain_random(rows, **options), **options)


@examples(100)
@given(
    rows_of_logs(),
    st.one_of(st.none(), shares),
    st.integers(1, 4),
    st.sampled_from([0.29, 0.5, 0.8, 1, 3]),
    st.sampled_from(["time", "random"]),
    seeds,
)
def test_by_user_is_its_definition(log, share, folds, fold_in, order, seed):
    form, rows = log
    folds = max(folds, 2) if share is None else min(folds, int(1 / share))
    options = {"share": share, "folds": folds, "fold_in": fold_in, "order": order, "seed": seed}

    labels_are(log_of(form, rows), "by_user", plain_by_user(rows, at=None, **options), **options)


@examples(50)
@given(
    rows_of_logs(),
    st.integers(0, 20),
    st.sampled_from([0.5, 0.8, 2]),
    st.sampled_from(["time", "random"]),
)
def test_new_users_are_their_definition(log, at, fold_in, order):
    form, rows = log
    options = {"at": at, "fold_in": fold_in, "order": order, "seed": 1}
    expected = plain_by_user(rows, share=None, folds=1, **options)

    labels_are(log_of(form, rows), "by_user", expected, **options)
