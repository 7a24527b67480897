"""What a plan promises: no Python function in it, no column read that nobody asked for, and that all of it streams."""

from __future__ import annotations

import io

import polars as pl
import pytest

import recframe as rf
from plans import (
    POLARS_2,
    SIX,
    Call,
    call,
    fallbacks,
    python_functions,
    scans,
)
from recframe.metrics.language.registry import registered

BUILTIN = [metric for metric in registered().values() if metric.definition.family == "accuracy"]


READ_LISTS = {"bpref", "auc", "gauc", "list_length", "judged", "infap", "compatibility"}
NEED_WINDOWS = READ_LISTS | {"err", "inst", "bpm", "nerr"}
# in tables of bytes, which Polars 1.35 cannot slice
NEED_WINDOWS |= {"insq", "sdcg"}
OF_HITS = [metric for metric in BUILTIN if metric.name not in READ_LISTS]
# without an expectation over orders of ties
UNCERTAIN = {"err", "eleven_point_precision", "gauc", "interpolated_precision", "partial_auc"}
UNCERTAIN |= {"inst", "bpm", "nerr", "recall_at_precision"}


TWO = {"truth": "truth"}
CALLS: dict[str, Call] = {
    "judged": call(),
    "judged by user": call(by="user"),
    "judged by its own column": call(by="device"),
    "judged by users": call(by="country", users="users"),
    "judged by items": call(by="genre", items="items"),
    "judged by users and items": call(by=["country", "genre"], users="users", items="items"),
    "judged, models": call(model="model"),
    "judged, min_relevance": call(min_relevance=2),
    "judged, skip": call(no_relevant="skip", by="user"),
    "judged, null": call(no_relevant="null"),
    "judged, from the list": call(relevant_from="list"),
    "judged, recs": call(universe="recs"),
    "judged, scored": call(score="score"),
    "two frames": call("recs", **TWO),
    "two frames by user": call("recs", by="user", **TWO),
    "two frames by a column of the recommendations": call("recs", by="device", **TWO),
    "two frames by a column of both": call("recs", by="device", truth="graded"),
    "two frames by users": call("recs", by="country", users="users", **TWO),
    "two frames by items": call("recs", by="genre", items="items", **TWO),
    "two frames, models": call("recs", model="model", **TWO),
    "two frames, models by users": call("recs", model="model", by="country", users="users", **TWO),
    "two frames, scored": call("recs", score="score", **TWO),
    **{
        f"two frames, scored, {ties}": call("recs", score="score", ties=ties, **TWO)
        for ties in ("item_desc", "optimistic", "order")
    },
    **{f"two frames, {one}": call("recs", universe=one, **TWO) for one in ("recs", "both", "all")},
    "two frames, from the list": call("recs", relevant_from="list", **TWO),
}
EXPECTED = {
    "judged": call(score="score", ties="expected"),
    "judged by items": call(score="score", ties="expected", by="genre", items="items"),
    "two frames": call("recs", score="score", ties="expected", **TWO),
    "two frames, models by users": call(
        "recs", score="score", ties="expected", model="model", by="country", users="users", **TWO
    ),
    "judged, at the last places": call(score="score", ties="last"),
    "two frames, at the last places": call("recs", score="score", ties="last", **TWO),
}
each_call = pytest.mark.parametrize("made", CALLS.values(), ids=CALLS)
all_metrics = tuple(f"{metric.name}@{k}" for metric in BUILTIN for k in (5, 10))


@each_call
def test_no_python_function_is_in_the_plan(files, made):
    plan = made(files, all_metrics)

    assert not python_functions(plan)
    assert (
        pl.LazyFrame.deserialize(io.BytesIO(plan.serialize())).collect_schema()
        == plan.collect_schema()
    )


@pytest.mark.parametrize("metrics", [("recall@10",), SIX, all_metrics], ids=["one", "six", "all"])
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("judged", {"judged": 4}),  # user, item, rank, relevance
        ("judged by its own column", {"judged": 5}),
        ("judged by users", {"judged": 4, "users": 2}),
        *([("judged, scored", {"judged": 4})] if POLARS_2 else []),
        ("two frames", {"recs": 3, "truth": 3}),
        ("two frames by a column of the recommendations", {"recs": 4, "truth": 3}),
        *([("two frames by a column of both", {"recs": 4, "graded": 4})] if POLARS_2 else []),
        *([("two frames by items", {"recs": 3, "truth": 3, "items": 2})] if POLARS_2 else []),
        ("two frames, models", {"recs": 4, "truth": 3}),
    ],
)
def test_columns_that_nobody_asked_for_are_not_read(files, name, most, metrics):
    if not POLARS_2 and name == "two frames" and metrics is all_metrics:
        pytest.skip("Polars 1 reads all columns of one of so many scans, in some processes")
    found = scans(CALLS[name](files, metrics))

    assert {file for file, _, _ in found} == most.keys()
    for file, columns, _ in found:
        assert columns != "*"
        assert int(columns) <= most[file]


def streamable(metrics: list[str]) -> tuple[str, ...]:
    """Return the metrics that this version of Polars can stream."""
    return tuple(name for name in metrics if POLARS_2 or rf.parse(name).name not in NEED_WINDOWS)


@pytest.mark.parametrize("name", [name for name in CALLS if POLARS_2 or "scored" not in name])
def test_every_call_streams(files, name):
    assert not fallbacks(CALLS[name](files, streamable([*all_metrics])))


@pytest.mark.parametrize("name", ["judged", "two frames", "two frames, models"])
@pytest.mark.parametrize(
    "metric",
    streamable(
        [
            *(str(metric @ 10) for metric in BUILTIN),
            *(["precision", "map(normalizer=k)", "auc", "ndcg(ideal=list)@10"] if POLARS_2 else []),
            *(
                "ndcg",
                "ndcg(gain=exp)@10",
                "ndcg(gain=binary)",
                "ndcg(ideal=k)@10",
                "recall(denominator=capped)@5",
            ),
            *(
                "precision(denominator=achievable)@10",
                "map(normalizer=min)@10",
                "map(normalizer=hits)",
                "dcg(gain=exp)",
            ),
        ]
    ),
)
def test_every_metric_streams(files, metric, name):
    assert not fallbacks(CALLS[name](files, (metric,)))


@pytest.mark.parametrize(
    "options", [*([{}] if POLARS_2 else []), TWO, TWO | {"model": "model"}], ids=str
)
def test_the_judged_frame_streams(files, options):
    bound = {name: getattr(files, value, value) for name, value in options.items()}

    plan = (files.recs if options else files.judged).rec(**bound).judge()

    assert not python_functions(plan)
    assert not fallbacks(plan)


@pytest.mark.skipif(not POLARS_2, reason="Polars 1 runs windows in memory")
@pytest.mark.parametrize("made", EXPECTED.values(), ids=EXPECTED)
def test_expectations_over_ties_stream(files, made):
    of_hits = (
        str(metric @ k) for metric in OF_HITS if metric.name not in UNCERTAIN for k in (5, 10)
    )
    plan = made(files, (*of_hits, "auc", "ndcg(gain=exp)", "map(normalizer=min)@10"))

    assert not python_functions(plan)
    assert not fallbacks(plan)
