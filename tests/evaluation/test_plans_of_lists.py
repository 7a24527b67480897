"""The plans of metrics over lists: what is cut before what, that they stream, and that large frames change no number."""

from __future__ import annotations

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from lanes import in_turn
from plans import (
    POLARS_2,
    SIX,
    Files,
    fallbacks,
    is_of_the_result,
    logical,
    python_functions,
    scans,
    sorts,
    whole_frames,
    windows,
)
from recframe.metrics.language.registry import registered

FAMILIES = {
    "catalogue",
    "popularity",
    "personalization",
    "diversity",
    "calibration",
    "serendipity",
    "exposure",
    "reference",
}
NAMED = {"of": "genre"}  # the items have other columns too
BEYOND = [
    metric(**{name: value for name, value in NAMED.items() if name in metric.definition.parameters})
    for metric in registered().values()
    if metric.definition.family in FAMILIES
]
VARIANTS = [
    *(metric @ k for metric in BEYOND for k in (5, 10)),
    rf.epc(discount="log", relevance=True) @ 10,
    rf.long_tail_share(tail="items") @ 5,
    rf.personalization(against="all") @ 10,
    rf.popularity_lift(average="users") @ 10,
    rf.popularity(normalizer="quantile") @ 10,
    rf.novelty(denominator="k") @ 10,
    rf.efd(cold="zero", average="rows") @ 10,
    rf.unexpectedness(denominator="k", without_reference="zero") @ 10,
    rf.diversity(of="genre", distance="jaccard") @ 10,
    rf.miscalibration(of="genre", divergence="js", weight="log") @ 10,
    rf.serendipity(against="popularity") @ 10,
    *(
        rf.personalization(similarity="overlap", against=against) @ 10
        for against in ("segment", "all")
    ),
    *(metric for metric in BEYOND if metric.definition.over_lists),
    rf.overlap(reference_k=3) @ 10,
    *(rf.rbo(form=form) @ 5 for form in ("min", "truncated")),
    rf.exposure_share(weight="log") @ 10,
    rf.exposure_disparity(of="genre", target="relevant") @ 10,
]
BY = {
    "items": {"by": "genre"},
    "all": {},
    "users": {"by": "country"},
    "user": {"by": "user"},
    "models": {"model": "model"},
}
# segments of items have the most joins; the rest is thorough
each_by = pytest.mark.parametrize("by", in_turn(BY, fast=1))


def asked(
    files: Files, metrics: list[rf.Metric[...]], *, by: str | None = None, **options: str
) -> pl.LazyFrame:
    sides = {
        "train": files.truth,
        "items": files.items,
        "users": files.users,
        "reference": files.recs,
    }
    return files.recs.rec(truth=files.truth, **sides, **options).evaluate(*metrics, by=by)


@each_by
def test_no_python_function_is_in_the_plan(files, by):
    assert not python_functions(asked(files, VARIANTS, **by))


@each_by
def test_lists_are_cut_before_they_are_grouped_sorted_or_ranked(files, by):
    cut = [one for one in VARIANTS if one.k is not None and one.definition.over_lists]
    plan = asked(files, cut, **by)

    for node in [
        *(one for one in sorts(plan) if "key" not in one.label and not is_of_the_result(one)),
        *windows(plan),
    ]:
        assert not [scan for scan in whole_frames(node) if "recs" in scan], node.label


@pytest.mark.skipif(not POLARS_2, reason="Polars 1 runs windows in memory")
@each_by
def test_every_metric_over_lists_streams(files, by):
    found = {str(metric): fallbacks(asked(files, [metric], **by)) for metric in VARIANTS}

    assert not {metric: nodes for metric, nodes in found.items() if nodes}


def test_metrics_over_users_alone_have_no_plan_of_lists(files):
    plain = files.recs.rec(truth=files.truth, items=files.items, users=files.users).evaluate(*SIX)

    def shape(plan: pl.LazyFrame) -> list[str]:
        return sorted(node.kind for node in logical(plan).below())

    assert shape(asked(files, [rf.parse(name) for name in SIX])) == shape(plain)


def test_metrics_of_the_lists_alone_read_three_columns_of_them(files):
    plan = files.recs.rec(train=files.truth, universe="recs").evaluate(
        "novelty@10", "repeat_rate@10", "gini@5"
    )

    assert {(file, int(columns) <= 3) for file, columns, _ in scans(plan)} == {
        ("recs", True),
        ("truth", True),
    }


def batches(metrics: list[rf.Metric[...]]) -> list[list[rf.Metric[...]]]:
    """Every metric once, some in a call: a plan of all of them takes several times as long."""
    return [metrics[start : start + 24] for start in range(0, len(metrics), 24)]


def large(*, ids: str, order: str, repeats: bool) -> dict[str, pl.DataFrame]:
    """Frames of many rows, whose plans rely on what they are asked."""
    choose = random.Random(f"{ids} {order} {repeats}")  # noqa: S311  test data
    lists = [
        (user, item, rank)
        for user in range(220)
        for rank, item in enumerate(choose.sample(range(60), 12), 1)
    ]
    lists += [(user, choose.randrange(60), rank) for user, _, rank in lists[::7]] * repeats
    if order == "shuffled":
        choose.shuffle(lists)
    pairs = [(choose.randrange(230), min(int(choose.expovariate(0.1)), 70)) for _ in range(900)]
    frames = {
        "recs": pl.DataFrame(
            lists, schema={"user": pl.Int64, "item": pl.Int64, "rank": pl.Int64}, orient="row"
        ),
        "train": pl.DataFrame(pairs, schema={"user": pl.Int64, "item": pl.Int64}, orient="row"),
        "truth": pl.DataFrame(
            pairs[::-3], schema={"user": pl.Int64, "item": pl.Int64}, orient="row"
        ),
        "reference": pl.DataFrame(
            [(user, item * 7 % 60, rank) for user, item, rank in lists[::2]],
            schema={"user": pl.Int64, "item": pl.Int64, "rank": pl.Int64},
            orient="row",
        ),
        "items": pl.DataFrame({"item": range(65), "genre": [f"g{item % 4}" for item in range(65)]}),
        "users": pl.DataFrame(
            {"user": range(200), "country": [f"c{user % 3}" for user in range(200)]}
        ),
    }
    if ids == "text":
        frames = {
            name: frame.cast(dict.fromkeys({"user", "item"} & set(frame.columns), pl.String))
            for name, frame in frames.items()
        }
    return frames


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ids", "order", "repeats", "by"),
    [  # any two of these come together
        *(
            ("int", "sorted", repeats, by)
            for repeats, by in ((False, None), (True, "country"), (False, "genre"))
        ),
        *(
            ("int", "shuffled", repeats, by)
            for repeats, by in ((True, None), (False, "country"), (True, "genre"))
        ),
        *(
            ("text", "shuffled", repeats, by)
            for repeats, by in ((False, None), (True, "country"), (True, "genre"))
        ),
    ],
)
def test_what_large_frames_are_asked_changes_no_number(ids, order, repeats, by):
    recs = (frames := large(ids=ids, order=order, repeats=repeats)).pop("recs")
    lazy = {name: frame.lazy() for name, frame in frames.items()}

    # of integers and of text, each has its other half in other segments
    for metrics in batches(VARIANTS[(order == "sorted") ^ (by == "country") :: 2]):
        found = recs.rec(**frames).evaluate(*metrics, by=by)

        assert_frame_equal(
            found,
            recs.lazy().rec(**lazy).evaluate(*metrics, by=by).collect(),
            rel_tol=1e-12,
            abs_tol=1e-12,
        )


@pytest.mark.slow
@pytest.mark.parametrize(("by", "turn"), [("country", 1), ("genre", 0)])
def test_parts_of_the_users_change_no_number(by, turn):
    frames = {
        name: frame.lazy()
        for name, frame in large(ids="int", order="shuffled", repeats=True).items()
    }
    rec = frames.pop("recs").rec(**frames)
    metrics = [*(one for one in VARIANTS if "similarity=overlap" not in str(one)), "ndcg@10"]

    for few in batches(metrics[turn::2]):
        expected = rec.evaluate(*few, by=by).collect()
        found = rec.collect(*few, by=by, parts=2 if by in {None, "genre"} else 5)
        assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)


def test_what_holds_each_list_against_all_others_is_not_for_parts():
    frames = {
        name: frame.lazy()
        for name, frame in large(ids="int", order="sorted", repeats=False).items()
    }

    with pytest.raises(
        rf.RecframeError, match="parts of the users do not have; ask it with parts=1"
    ):
        frames.pop("recs").rec(**frames).collect("personalization(similarity=overlap)@10", parts=2)


def test_the_share_that_is_done_is_told_for_users_lists_and_items():
    frames = {
        name: frame.lazy()
        for name, frame in large(ids="int", order="sorted", repeats=False).items()
    }
    told: list[float] = []

    frames.pop("recs").rec(**frames).collect(
        "ndcg@10", "novelty@10", "coverage@10", parts=2, tell=told.append
    )

    assert sorted(told) == told
    assert told[-1] == 1.0
    assert len(told) == 6
