"""Calls of summarize, compare and power: kinds of frame, names and dtypes, laws, and degenerate inputs."""

from __future__ import annotations

import datetime as dt
import functools

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from compared_lists import LISTS_ARE_MISSING, asked_of
from lanes import crossed
from recframe.frames.kinds.kind import LARGE

pytestmark = LISTS_ARE_MISSING

METRICS = ["ndcg@3", "recall", "first_rank", "novelty@3", "entropy@3"]
CALLS = {
    "summarize": lambda rec, *metrics, **how: rec.summarize(*metrics, **how),
    "summarize by clusters": lambda rec, *metrics, **how: rec.summarize(
        *metrics, cluster="household", **how
    ),
    "compare": lambda rec, *metrics, **how: rec.compare(*metrics, baseline="a", **how),
    "compare all": lambda rec, *metrics, **how: rec.compare(*metrics, margin=0.1, **how),
    "power": lambda rec, *metrics, **how: rec.power(*metrics, baseline="a", **how),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
OF_USERS = METRICS[:-1]


def same(one, other, **options):
    assert_frame_equal(one, other, rel_tol=1e-9, abs_tol=1e-9, **options)


@functools.cache
def plain(call, *metrics, by=None):
    """What is expected of other frames."""
    return call(asked_of(), *metrics, by=by)


def replaced(name, column):
    return lambda frame: frame.with_columns(column.alias(name)) if name in frame.columns else frame


USER, TEXT = pl.col("user"), pl.col("user").cast(pl.String)
IDS = {
    "text": TEXT,
    "categories": TEXT.cast(pl.Categorical),
    "the end of UInt64": 2**64 - 1 - USER.cast(pl.UInt64),
    "bytes": TEXT.cast(pl.Binary),
    "small": USER.cast(pl.Int8),
    "dates": USER.cast(pl.Int32).cast(pl.Date),
}
CHANGES = {name: replaced("user", ids) for name, ids in IDS.items()}
CHANGES["many rows"] = lambda frame: pl.concat([frame, frame.clear(LARGE + 1)])


@pytest.mark.parametrize(("call", "make"), crossed(CALLS, CHANGES))
def test_neither_what_users_are_called_nor_many_rows_change_an_answer(call, make):
    same(call(asked_of(make=make), *OF_USERS), plain(call, *OF_USERS))


MODELS = {
    "whole numbers": (pl.col("model").replace_strict({"a": 1, "b": 2, "c": 10}, return_dtype=pl.Int64), 1),
    "categories": (pl.col("model").cast(pl.Categorical), "a"),
    "an enumeration": (pl.col("model").cast(pl.Enum(["a", "b", "c"])), "a"),
    "of its own order": (pl.col("model").cast(pl.Enum(["c", "b", "a"])), "a"),
}  # fmt: skip


@pytest.mark.parametrize(("model", "baseline"), MODELS.values(), ids=MODELS)
def test_models_of_any_dtype_are_compared(model, baseline):
    rec = asked_of(make=replaced("model", model))
    found = rec.compare(*METRICS, baseline=baseline).sort("value")
    expected = plain(CALLS["compare"], *METRICS).sort("value")

    values = ["value", "baseline_value", "difference", "p_adjusted", "verdict"]
    same(found.select(values), expected.select(values))
    assert found["model"].dtype == found["baseline"].dtype == rec.judge()["model"].dtype
    pairs = rec.compare("recall").select("model", "baseline").rows()
    assert len({frozenset(pair) for pair in pairs}) == len(pairs) == 3


def test_columns_come_back_under_their_own_names():
    rec = asked_of(make=lambda frame: frame.rename({"model": "^.*$"}, strict=False))
    found = rec(model="^.*$").compare("recall", by="country")

    assert found.columns[:3] == ["^.*$", "baseline", "country"]


@each_call
def test_a_column_of_one_value_divides_nothing(call):
    of_one = asked_of(
        make=lambda frame: frame.with_columns(one=1) if "household" in frame else frame
    )

    found = call(of_one, *OF_USERS, by="one")
    same(found.drop("one", strict=False), plain(call, *OF_USERS))


@each_call
def test_a_metric_changes_no_number_of_another(call):
    options = {"correction": None} if call in {CALLS["compare"], CALLS["compare all"]} else {}
    alone = call(asked_of(), "recall", by="country", **options)
    beside = call(asked_of(), *OF_USERS, "recall", "hit_rate@2", by="country", **options)

    columns = [name for name in alone.columns if name != "p_adjusted"]
    # "not after correcting for 12 comparisons" is of all rows too
    columns = [name for name in columns if name not in {"verdict", "note"} or options]
    same(beside.filter(pl.col("metric") == "recall").select(columns), alone.select(columns))


USERS = list(range(8))
ALL = pl.DataFrame({"user": USERS, "item": [1] * 8})


def lists(rank, users=USERS, item=1):
    return pl.DataFrame({"user": users, "item": [item] * len(users)}).with_columns(rank=rank)


VARIED = pl.col("user") % 3 + 1
DEGENERATE = {
    "identical models": {"a": lists(VARIED), "b": lists(VARIED)},
    "no variance": {"a": lists(1), "b": lists(2)},
    "one user": {"a": lists(VARIED, [1]), "b": lists(1, [1])},
    "two users": {"a": lists(VARIED, [1, 2]), "b": lists(1, [1, 2])},
    "no user in common": {"a": lists(VARIED, [1, 2, 3]), "b": lists(1, [4, 5, 6])},
    "all missed": {"a": lists(VARIED, item=2), "b": lists(1, item=2)},
    "the baseline missed all": {"a": lists(VARIED, item=2), "b": lists(VARIED)},
    "no list in a segment": {"a": lists(VARIED, [0, 2, 4, 6]), "b": lists(1)},
    "strangers": {"a": lists(VARIED, [91, 92]), "b": lists(1, [91, 92])},
}
STRUCTURAL = {"p_not_worse"}
"""What metrics without a direction have not at all."""
ALWAYS = [
    "mrr", "first_rank", "auc", "novelty", "list_length", "coverage", "entropy", "personalization",
]  # fmt: skip


def assert_told(found):
    numbers = [
        name
        for name, dtype in found.schema.items()
        if dtype.is_numeric() and name not in {"k", "user"} | STRUCTURAL
    ]
    lacks = found.filter(pl.any_horizontal(pl.col(numbers).is_null()) & pl.col("note").is_null())
    assert lacks.is_empty(), lacks.to_dicts()[0]
    floats = found.select(pl.col(pl.Float64).is_nan().any()).row(0)
    assert not any(floats)


OF_USERS_LEFT_OUT = [{}, {"universe": "recs", "no_relevant": "skip"}, {"universe": "all"}]


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize(
    ("models", "call", "by", "policies"),
    crossed(DEGENERATE, CALLS, [None, "side"], OF_USERS_LEFT_OUT),
)
def test_no_number_is_missing_without_a_note(models, call, by, policies):
    users = pl.DataFrame({"user": USERS}).with_columns(
        side=pl.col("user") % 2, household=pl.col("user") // 4
    )
    items, train = pl.DataFrame({"item": [1, 2, 3]}), ALL.head(3)
    rec = rf.rec(models, truth=ALL, users=users, items=items, train=train)

    assert_told(call(rec(**policies), *ALWAYS, by=by))


FEW = "; fewer than 15 users differ, so the interval is rough"


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize(
    ("models", "metric", "expected"),
    [
        ("identical models", "mrr", (1.0, "same", "both have the same value for all users")),
        # the smallest that eight users can show
        (
            "no variance",
            "mrr",
            (2 / 2**8, "worse", "the difference is the same for all users" + FEW),
        ),
        ("one user", "mrr", (None, "few", "one user, so no interval")),
        ("all missed", "first_rank", (None, "open", "nobody has both values")),
    ],
)
def test_words_for_what_is_degenerate(models, metric, expected):
    truth = ALL[1:2] if models == "one user" else ALL
    row = rf.rec(DEGENERATE[models], truth=truth).compare(metric, baseline="a", margin=0.1)

    assert row.select("p_value", "verdict", "note").row(0) == expected


def test_a_baseline_of_nothing_has_no_share():
    n = 60
    truth = pl.DataFrame({"user": range(n), "item": 1})
    models = {"a": truth.with_columns(rank=1, item=2), "b": truth.with_columns(rank=VARIED)}

    row = rf.rec(models, truth=truth).compare("mrr", baseline="a").row(0, named=True)

    assert row["relative"] is None
    assert row["note"] == "the baseline is 0, so there is no relative difference"


def test_clusters_that_are_alike_are_not_users_who_are():
    n = 80
    truth = pl.DataFrame({"user": range(n), "item": 1})
    users = truth.select("user").with_columns(household=pl.col("user") // 2)
    models = {"a": truth.with_columns(rank=1), "b": truth.with_columns(rank=pl.col("user") % 2 + 1)}
    rec = rf.rec(models, truth=truth, users=users)

    of_means = rec.summarize("mrr", cluster="household")["note"].to_list()
    of_differences = rec.compare("mrr", cluster="household")["note"].to_list()

    assert of_means == ["all users have the same value", "all clusters have the same mean"]
    assert set(rec.summarize("hit_rate@2")["note"]) == {"all users have the same value"}
    assert of_differences == ["all clusters have the same mean difference"]


NOON = dt.datetime(2026, 1, 1, 12)  # noqa: DTZ001
PAIRS_OF_NAMES = [(1.0, 2.5), (True, False), (3, 4), (NOON.date(), dt.date(2026, 1, 2))]
PAIRS_OF_NAMES.append((NOON, NOON + dt.timedelta(hours=6)))


PAIRS_OF_UNITS = [(*PAIRS_OF_NAMES[-1], unit) for unit in ("ms", "ns")]


@pytest.mark.parametrize(
    ("one", "other", "unit"),
    [*((*pair, None) for pair in PAIRS_OF_NAMES), *PAIRS_OF_UNITS],
    ids=str,
)
def test_a_baseline_is_given_as_the_value_that_its_column_has(one, other, unit):
    liked = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 3, 4]})
    better = liked.with_columns(rank=pl.col("user") % 2 + 1, model=pl.lit(other))
    recs = pl.concat([liked.with_columns(rank=pl.lit(2, pl.Int64), model=pl.lit(one)), better])
    if unit:
        recs = recs.with_columns(pl.col("model").dt.cast_time_unit(unit))
    rec = recs.rec(truth=liked, model="model")
    found = rec.compare("mrr", baseline=one)

    # half of the users have 1 in place of 1/2
    assert found.select("model", "baseline", "difference").rows() == [(other, one, 0.25)]
    assert rec.power("mrr", baseline=one).height == 1
    for needed in ("mrr >= 0.1", rf.Requirement("mrr", ">=", 0.1, one)):
        required = rec.require(needed, models=[other], min_users=4, raises=False)
        assert required["model"].to_list() == [other]
    # and in a report each of them is one model
    report = rec.report("mrr", baseline=one).data
    (compared,) = (row["model"] for row in report["compared"])
    assert {compared} == {*report["models"]} - {report["baseline"]}
