"""What a plan promises: no column is read that nobody asked for, all of it streams, and without Python it can be sent."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from lanes import in_turn
from parted_frames import ALL_SIDES, every, rows_of, sides_of
from plans import (
    POLARS_2,
    SIX,
    UNUSED,
    Call,
    Files,
    call,
    fallbacks,
    python_functions,
    scans,
)
from recframe.metrics.language.registry import registered

only_polars_2 = pytest.mark.skipif(not POLARS_2, reason="Polars 1 runs windows in memory")
PAIRS = {"user": [1, 1, 1, 2, 2, 3], "item": [1, 2, 3, 1, 2, 1]}
GRADES = {"relevance": [0, 1, 2, 0, 1, 1]}
LISTS = PAIRS | {"model": [*"xxyxyy"], "rank": [1, 2, 1, 1, 1, 1], "score": [0.5] * 6}
FRAMES = {
    "judged": LISTS | {"device": [*"aaabba"]} | GRADES,
    "recs": LISTS | {"device": [*"aaabbc"]},
    "truth": PAIRS | GRADES,
    "graded": PAIRS | GRADES | {"device": [*"ababbc"]},
    "users": {"user": [1, 2, 3], "country": ["FR", "DE", "FR"]},
    "items": {"item": [1, 2, 3], "genre": ["drama", "drama", "war"]},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("plan")
    for name, columns in FRAMES.items():
        unused = {
            one: values[: len(next(iter(columns.values())))] for one, values in UNUSED.items()
        }
        pl.DataFrame(columns | unused).write_parquet(folder / f"{name}.parquet")
    return Files(**{name: pl.scan_parquet(folder / f"{name}.parquet") for name in FRAMES})


BUILTIN = [metric for metric in registered().values() if metric.definition.family == "accuracy"]
READ_LISTS = {"bpref", "auc", "gauc", "list_length", "judged", "infap", "compatibility"}
NEED_WINDOWS = READ_LISTS | {"err", "inst", "bpm", "nerr"}
# in tables of bytes, which Polars 1.35 cannot slice
NEED_WINDOWS |= {"insq", "sdcg"}
# without an expectation over orders of ties
UNCERTAIN = {"err", "eleven_point_precision", "gauc", "interpolated_precision", "partial_auc"}
UNCERTAIN |= {"inst", "bpm", "nerr", "recall_at_precision"}
TWO = {"truth": "truth"}
CALLS: dict[str, Call] = {
    "judged": call(),
    "judged by user": call(by="user"),
    "judged by its own column": call(by="device"),
    "judged by users": call(by="country", users="users"),
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
    **{
        f"two frames, scored, {ties}": call("recs", score="score", ties=ties, **TWO)
        for ties in ("item", "item_desc", "optimistic", "order")
    },
    **{f"two frames, {one}": call("recs", universe=one, **TWO) for one in ("recs", "both", "all")},
    "two frames, from the list": call("recs", relevant_from="list", **TWO),
}
TIED = {"score": "score", "ties": "expected"}
EXPECTED = {
    "judged": call(**TIED),
    "judged by items": call(**TIED, by="genre", items="items"),
    "two frames, models by users": call(
        "recs", **TIED, model="model", by="country", users="users", **TWO
    ),
    "judged, at the last places": call(score="score", ties="last"),
    "two frames, at the last places": call("recs", score="score", ties="last", **TWO),
}
ALL = tuple(f"{metric.name}@{k}" for metric in BUILTIN for k in (5, 10))


@pytest.mark.skipif(
    not POLARS_2, reason="Polars 1 reads all columns of some scans, in some processes"
)
@pytest.mark.parametrize("metrics", [("recall@10",), SIX, ALL], ids=["one", "six", "all"])
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("judged", {"judged": 4}),  # user, item, rank, relevance
        ("judged by its own column", {"judged": 5}),
        ("judged by users", {"judged": 4, "users": 2}),
        ("judged, scored", {"judged": 4}),
        ("two frames", {"recs": 3, "truth": 3}),
        ("two frames by a column of the recommendations", {"recs": 4, "truth": 3}),
        ("two frames by a column of both", {"recs": 4, "graded": 4}),
        ("two frames by items", {"recs": 3, "truth": 3, "items": 2}),
        ("two frames, models", {"recs": 4, "truth": 3}),
    ],
)
def test_columns_that_nobody_asked_for_are_not_read(files, name, most, metrics):
    found = scans(CALLS[name](files, metrics))

    assert {file for file, _, _ in found} == most.keys()
    for file, columns, _ in found:
        assert columns != "*"
        assert int(columns) <= most[file]


def streamable(metrics: list[str]) -> tuple[str, ...]:
    """Return the metrics that this version of Polars can stream."""
    return tuple(name for name in metrics if POLARS_2 or rf.parse(name).name not in NEED_WINDOWS)


@pytest.mark.parametrize("name", CALLS)
def test_every_call_streams_and_holds_no_python(files, name):
    assert not python_functions(CALLS[name](files, ALL))
    if POLARS_2 or "scored" not in name:
        assert not fallbacks(CALLS[name](files, streamable([*ALL])))


OF_ONE_LIST = [
    *(str(metric @ 10) for metric in BUILTIN),
    *(["precision", "map(normalizer=k)", "auc", "ndcg(ideal=list)@10"] if POLARS_2 else []),
    *("ndcg", "ndcg(gain=exp)@10", "ndcg(gain=binary)", "ndcg(ideal=k)@10", "dcg(gain=exp)"),
    *("recall(denominator=capped)@5", "precision(denominator=achievable)@10"),
    *("map(normalizer=min)@10", "map(normalizer=hits)"),
]


@pytest.mark.parametrize("name", ["judged", "two frames", "two frames, models"])
@pytest.mark.parametrize("metric", streamable(OF_ONE_LIST))
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


@only_polars_2
@pytest.mark.parametrize("made", EXPECTED.values(), ids=EXPECTED)
def test_expectations_over_ties_stream(files, made):
    of_hits = [one for one in BUILTIN if one.name not in READ_LISTS | UNCERTAIN]
    metrics = [str(metric @ k) for metric in of_hits for k in (5, 10)]
    plan = made(files, (*metrics, "auc", "ndcg(gain=exp)", "map(normalizer=min)@10"))

    assert not python_functions(plan)
    assert not fallbacks(plan)


# ---- metrics over lists

FAMILIES = {
    "catalogue", "popularity", "personalization", "diversity", "calibration", "serendipity",
    "exposure", "reference",
}  # fmt: skip
NAMED = {"of": "genre"}  # the items have other columns too
BEYOND = [
    metric(**{name: value for name, value in NAMED.items() if name in metric.definition.parameters})
    for metric in registered().values()
    if metric.definition.family in FAMILIES
]
VARIANTS = [
    *(metric @ k for metric in BEYOND for k in (5, 10)),
    *(metric for metric in BEYOND if metric.definition.over_lists),
    *map(
        rf.parse,
        [
            "epc(discount=log,relevance=true)@10", "long_tail_share(tail=items)@5",
            "personalization(against=all)@10", "popularity_lift(average=users)@10",
            "popularity(normalizer=quantile)@10", "novelty(denominator=k)@10",
            "efd(cold=zero,average=rows)@10", "diversity(of=genre,distance=jaccard)@10",
            "unexpectedness(denominator=k,without_reference=zero)@10",
            "miscalibration(of=genre,divergence=js,weight=log)@10",
            "serendipity(against=popularity)@10", "personalization(similarity=overlap)@10",
            "personalization(similarity=overlap,against=all)@10", "overlap(reference_k=3)@10",
            "rbo(form=min)@5", "rbo(form=truncated)@5", "exposure_share(weight=log)@10",
            "exposure_disparity(of=genre,target=relevant)@10",
        ],
    ),
]  # fmt: skip
BY = {
    "items": {"by": "genre"},
    "all": {},
    "users": {"by": "country"},
    "user": {"by": "user"},
    "models": {"model": "model"},
}


# segments of items have the most joins; the rest is thorough
@pytest.mark.parametrize("options", in_turn(BY, fast=1))
def test_every_metric_over_lists_streams_and_holds_no_python(files, options):
    sides = {"train": files.truth, "items": files.items, "users": files.users}
    options = {**options, "reference": files.recs}
    by = options.pop("by", None)
    rec = files.recs.rec(truth=files.truth, **sides, **options)

    assert not python_functions(rec.evaluate(*VARIANTS, by=by))
    if POLARS_2:
        found = {str(metric): fallbacks(rec.evaluate(metric, by=by)) for metric in VARIANTS}
        assert not {metric: nodes for metric, nodes in found.items() if nodes}


@only_polars_2
def test_metrics_of_the_lists_alone_read_three_columns_of_them(files):
    rec = files.recs.rec(train=files.truth, universe="recs")
    found = scans(rec.evaluate("novelty@10", "repeat_rate@10", "gini@5"))

    read = {(file, int(columns) <= 3) for file, columns, _ in found}
    assert read == {("recs", True), ("truth", True)}


# ---- plans that are sent to other machines, as Polars' own distributed engine does

RANKS, TRUTH = rows_of("rank", model=True)
SIDES = sides_of(*ALL_SIDES)
METRICS = ("ndcg@3", "recall", "mrr@2", "map")
REC = RANKS.rec(truth=TRUTH, model="model", reference="b", **SIDES)
SCORED = rows_of("score", model=True)[0].rec(truth=TRUTH, model="model", **SIDES)
EVERY = every(*ALL_SIDES, model="model", reference="b")
WITHOUT_PYTHON = {
    **{f"by {by}": REC.evaluate(*EVERY, by=by) for by in (None, "user", "week", "kind")},
    **{
        f"ties {ties}": SCORED(ties=ties).evaluate(*METRICS, by="country")
        for ties in ("order", "pessimistic", "expected")
    },
    **{
        f"profile {name}": REC(profile=name).evaluate("ndcg@3", by="country")
        for name in ("trec_eval", "sklearn", "microsoft")
    },
    "judged": REC.judge(),
    "audited": REC.audit(),
}
WITH_PYTHON = {
    "summary": REC.summarize(*METRICS, "coverage@3", by="country"),
    "summary of weeks": REC.summarize(*METRICS, by=["country", "week"]),
    "comparison": REC.compare(*METRICS, by="country"),
    "power": REC.power(*METRICS),
    "gaps": REC.gaps(*METRICS, by="country", min_users=2),
    "gaps of differences": REC.gaps(*METRICS, by="country", baseline="b", min_users=2),
    "slices": REC.slices(*METRICS, by="country", min_users=2),
    "slices of differences": REC.slices(*METRICS, by="country", baseline="b", min_users=2),
}
SCRIPT = """
import sys, pathlib, polars
for sent in pathlib.Path(sys.argv[1]).glob("*.plan"):
    polars.LazyFrame.deserialize(sent).collect().write_parquet(sent.with_suffix(".parquet"))
print("recframe" in sys.modules)
"""


@pytest.mark.parametrize("plan", WITHOUT_PYTHON.values(), ids=WITHOUT_PYTHON)
def test_a_plan_to_send_holds_no_python(plan, monkeypatch):
    # Polars takes it to send functions
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    assert not python_functions(plan)
    assert b"recframe." not in plan.serialize()


@pytest.mark.parametrize("plan", WITH_PYTHON.values(), ids=WITH_PYTHON)
def test_intervals_and_p_values_are_one_function_at_the_end_of_a_plan(plan):
    (step,) = python_functions(plan)

    assert "AGGREGATE" not in plan.explain().partition(step.strip())[0]
    assert plan.collect_schema() == plan.collect().schema


@pytest.mark.slow
@pytest.mark.parametrize("has_recframe", [False, True])
def test_another_process_has_the_same_numbers(has_recframe, tmp_path):
    if has_recframe:
        pytest.importorskip("cloudpickle")
    plans = WITH_PYTHON if has_recframe else WITHOUT_PYTHON
    sources = {"PYTHONPATH": str(Path(rf.__file__).parents[1]), "PATH": os.environ["PATH"]}
    for name, plan in plans.items():
        (tmp_path / f"{name}.plan").write_bytes(plan.serialize())

    done = subprocess.run(  # noqa: S603  our own script
        [sys.executable, "-c", SCRIPT, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=sources if has_recframe else {},
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(has_recframe)
    for name, plan in plans.items():
        found, expected = pl.read_parquet(tmp_path / f"{name}.parquet"), plan.collect()
        if name in {"by user", "judged"}:
            found, expected = (one.sort(one.columns[:3]) for one in (found, expected))
        if name == "audited":
            found, expected = (one.drop("example") for one in (found, expected))
        assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)
