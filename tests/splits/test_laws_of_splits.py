"""Laws that hold of every rule of splits."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recframe as rf
from logs_to_split import FORMS, log_of, rows_of_logs
from strategies import examples

CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "by_time": ("by_time", {"share": 0.3}),
    "rolling": ("rolling", {"folds": 2, "horizon": 2}),
    "last_per_user": ("last_per_user", {"n": 1, "folds": 2}),
    "random per user": ("random", {"folds": 3, "seed": 1}),
    "random per log": ("random", {"folds": 3, "per": "log", "seed": 1}),
    "by_user": ("by_user", {"folds": 3, "fold_in": 0.5, "seed": 1}),
    "by_user, at random": ("by_user", {"folds": 2, "fold_in": 1, "order": "random"}),
    "by_user, new": ("by_user", {"at": 3, "fold_in": 1}),
}
every_call = pytest.mark.parametrize("call", CALLS)
FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "cold": {"cold": "drop", "seen": "drop", "min_train": 2},
    "target": {"target": "last"},
}


def split(log: Any, call: str, **filters: Any) -> Any:
    """Return the split of a log by a call; an example without train or truth is left out."""
    rule, options = CALLS[call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rf.RecframeWarning)
        try:
            return getattr(rf.rec(log, user="u", item="i", time="t").split, rule)(
                **options, **filters
            )
        except rf.DataError:
            assume(False)  # noqa: FBT003  as it is written


def parts(labels: pl.DataFrame, key: str = "n") -> dict[tuple[int, int], str]:
    """Return the part of each row and fold."""
    return {(fold, n): part for fold, n, part in labels.select("fold", key, "part").iter_rows()}


def shuffled(log: pl.DataFrame) -> pl.DataFrame:
    places = [*range(len(log))]
    random.Random(len(log)).shuffle(places)  # noqa: S311  no secret
    return log[places]


def in_chunks(log: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([log[:1], log[1:4], log[4:]], rechunk=False)


def of_categories(log: pl.DataFrame) -> pl.DataFrame:
    """Return the log with ids of another width, or as categories in an order of their own."""
    if log.schema["u"] != pl.String:
        return log.cast({"u": pl.Int64, "i": pl.UInt64}) if log.schema["u"] == pl.Int32 else log
    codes = pl.Enum(sorted(FORMS["text"][0], reverse=True))
    return log.cast({"u": pl.Categorical, "i": codes})


FRAMES: dict[str, Callable[[pl.DataFrame], Any]] = {
    "shuffled": shuffled,
    "in chunks": in_chunks,
    "categories or widths": of_categories,
    "lazy": lambda log: log.lazy(),
    "streaming": lambda log: log.lazy(),
    "pandas": lambda log: log.to_pandas(),
    "arrow": lambda log: log.to_arrow(),
}


@every_call
@examples(20)
@given(rows_of_logs(), st.sampled_from([*FILTERS]), st.sampled_from([*FRAMES]))
def test_every_row_has_one_part_in_each_fold_whatever_the_frame(call, log, filters, made):
    frame = log_of(*log)
    labels = split(frame, call, **FILTERS[filters]).labels
    found = parts(labels)

    n_folds = labels["fold"].n_unique()
    assert {*found} == {(fold, n) for fold in range(n_folds) for n in range(len(frame))}
    assert len(found) == len(labels)
    other = split(FRAMES[made](frame), call, **FILTERS[filters]).labels
    if isinstance(other, pl.LazyFrame):
        other = other.collect(engine="streaming" if made == "streaming" else "in-memory")
    assert parts(pl.DataFrame(other)) == found


@every_call
@examples(10)
@given(rows_of_logs())
def test_repeats_of_a_row_have_its_part(call, log):
    labels = split(log_of(*log), call).labels

    alike = labels.filter(pl.col("part") != "null").group_by("fold", "u", "i", "t")
    assert alike.agg(pl.col("part").n_unique())["part"].max() == 1


@every_call
@examples(10)
@given(rows_of_logs())
def test_folds_have_no_row_of_truth_in_common(call, log):
    truth = split(log_of(*log), call).labels.filter(pl.col("part") == "truth")

    assert truth["n"].is_unique().all()


@pytest.mark.parametrize("call", [call for call in CALLS if call.startswith("random")])
@examples(10)
@given(rows_of_logs(form="text"))
def test_a_new_user_changes_nobody_else_s_label(call, log):
    form, rows = log
    frame = log_of(form, rows)
    before = parts(split(frame, call).labels)
    new = pl.DataFrame(
        {"n": 1_000, "u": "new", "i": ["a", "b", "c"], "t": [1, 2, 3]}, schema=frame.schema
    )

    after = parts(split(pl.concat([new, frame]), call).labels)

    assert {place: after[place] for place in before} == before
