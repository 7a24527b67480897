"""Lists pooled into one are an error, ties are not; ids of floats that hold two ids are an error."""

import math
import re
import warnings
from random import Random

import polars as pl
import pytest

from asking import ask
from buckets_of_users import in_buckets
from pooled_ranks import apart, are_pooled
from recframe.errors import DataError
from recframe.frames.kinds.kind import plan_errors

EVERY_KIND = True
USERS = range(1, 5)


def lists(ranks, **columns):
    rows = [(user, place, rank) for user in USERS for place, rank in enumerate(ranks)]
    frame = pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")
    return frame.with_columns(**columns)


TRUTH = pl.DataFrame({"user": [1, 2, 3, 4], "item": [0, 0, 1, 2]})
PART = pl.col("item") % 2
TWICE = lists([1, 1, 2, 2, 3, 3])
SCENES = {
    "no column": (TWICE, TRUTH, {}, "model='...'"),
    "a column of models": (TWICE.with_columns(model=PART), TRUTH, {}, "model='model'"),
    "a model is bound": (TWICE.with_columns(model=PART), TRUTH, {"model": "model"}, None),
    "one of two models": (
        pl.concat([TWICE.with_columns(model=pl.lit("a")), lists(range(1, 7), model=pl.lit("b"))]),
        *(TRUTH, {"model": "model"}, "by='...'"),
    ),
    "trainings": (TWICE.with_columns(seed=PART), TRUTH, {}, "training='seed'"),
    "weeks of both": (TWICE.with_columns(week=PART), TRUTH.with_columns(week=0), {}, "by='week'"),
    "the same list in weeks of both": (
        pl.concat([lists(range(1, 4), week=week) for week in (0, 1)]),
        *(TRUTH.with_columns(week=0), {}, "by='week'"),
    ),
    "1224": (lists([1, 2, 2, 4, 5, 5]), TRUTH, {}, None),
    "1334": (lists([1, 3, 3, 5, 5, 6]), TRUTH, {}, None),
    "dense": (lists([1, 2, 2, 3, 4, 5]), TRUTH, {}, None),
    "dense, of equal scores": (TWICE.with_columns(score=-pl.col("rank")), TRUTH, {"rank": "rank", "score": "score"}, None),
    "one item twice": (pl.concat([TWICE.filter(PART == 0)] * 2), TRUTH, {}, None),
    "all first": (lists([1] * 6), TRUTH, {}, None),
}  # fmt: skip


def mrr(kind, frame, truth, **bound):
    with plan_errors():
        return ask(kind, frame, "mrr", truth=truth, **bound)["mrr"].item(0)


@pytest.mark.parametrize("scene", SCENES)
def test_pooled_lists_are_an_error_and_ties_are_none(kind, scene):
    frame, truth, bound, advice = SCENES[scene]
    if advice is None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mrr(kind, frame, truth, **bound)
    else:
        with pytest.raises(Exception, match=re.escape(advice)) as raised:
            mrr(kind, frame, truth, **bound)
        assert "several lists of a user" in str(raised.value)


def test_half_of_the_lists_may_repeat_ranks(kind):
    single = lists([1, 2, 3]).filter(pl.col("user") > 2)
    frame = pl.concat([TWICE.filter(pl.col("user") <= 2), single])
    assert mrr(kind, frame, TRUTH) > 0


@pytest.mark.parametrize(("n", "fails"), [(30, True), (29, False)])
def test_a_bucket_of_few_lists_says_nothing_of_most(n, fails):
    frame = pl.concat([TWICE.filter(user=1).with_columns(user=pl.lit(user)) for user in range(n)])
    rec = frame.rec(truth=TRUTH)
    if fails:
        with pytest.raises(DataError, match="several lists of a user"):
            in_buckets(rec, "mrr", n=1)
    else:
        assert in_buckets(rec, "mrr", n=1)["mrr"].item() > 0


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_random_lists_are_pooled_by_the_plain_rule_alone():
    choose, seen = Random("pooled").choice, set()  # noqa: S311  test data
    ranks = [None, math.nan, 1.0, 1.0, 1.5, 2.0, 2.0, 3.0, 5.0]
    columns = {"user": [1, 2, 2], "item": [*range(8), None], "rank": ranks}
    for number in range(150):
        rows = [{name: choose(some) for name, some in columns.items()} for _ in range(number % 20)]
        rows = apart(rows) if number % 3 == 0 else rows
        frame = pl.DataFrame(rows, {"user": pl.Int64, "item": pl.Int64, "rank": pl.Float64})
        try:
            frame.rec(truth=TRUTH).evaluate("mrr")
        except DataError:
            seen.add(found := True)
        else:
            seen.add(found := False)
        assert found == are_pooled(rows), rows
        assert not (found and number % 3 == 0)
    assert seen == {True, False}


@pytest.mark.parametrize(("first", "fails"), [(2.0**53, True), (2.0**53 - 1, False)])
@pytest.mark.parametrize("role", ["user", "item"])
def test_ids_of_floats_end_where_two_become_one(kind, role, first, fails):
    ids = pl.DataFrame({"user": [1, 2], "item": [1, 2], "rank": [1, 1]})
    ids = ids.with_columns(pl.Series(role, [first, 0.5]))  # half, which no nullable integer is
    if fails:
        with pytest.raises(Exception, match="two ids may have become one"):
            mrr(kind, ids, ids.drop("rank"))
    else:
        assert mrr(kind, ids, ids.drop("rank")) == 1


@pytest.mark.parametrize("truth", [TRUTH.with_columns(week=0), TRUTH], ids=["both", "lists"])
def test_a_column_of_models_that_the_truth_has_too_warns(kind, truth):
    rec = kind(TWICE.with_columns(week=PART)).rec(truth=kind(truth), model="week")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        rec.evaluate("mrr")
    assert ["by='week'" in str(one.message) for one in seen] == [True] * ("week" in truth.columns)
