"""The shape of the plan: what is filtered before what, what is sorted, what is read, and that all of it streams."""

from __future__ import annotations

import io
import re

import polars as pl
import pytest

import recframe as rf
from plans import (
    POLARS_2,
    SIX,
    Call,
    Node,
    call,
    fallbacks,
    is_of_the_result,
    is_small,
    logical,
    physical,
    python_functions,
    scans,
    sorts,
    whole_frames,
    windows,
)
from random_cases import stops_at_k
from recframe.evaluation.recorder import PLACED
from recframe.evaluation.required_columns import needs_of
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
each_metric = pytest.mark.parametrize("metric", BUILTIN, ids=str)
# ranks come from all scores of a list
UNSCORED = {name: made for name, made in CALLS.items() if "scored" not in name}
all_metrics = tuple(f"{metric.name}@{k}" for metric in BUILTIN for k in (5, 10))


# segments of items stand in both frames, which are joined first: of those lists the dtypes are asked
@pytest.mark.parametrize("name", [name for name in CALLS if name != "two frames by items"])
def test_no_schema_is_asked_of_rows_that_are_grouped_or_sorted(files, name, monkeypatch):
    # Polars resolves the whole plan for it, which takes a tenth of a call on a thousand rows
    asked, collect_schema = [], pl.LazyFrame.collect_schema

    def counted(frame):
        asked.append(frame.explain(optimized=False))
        return collect_schema(frame)

    monkeypatch.setattr(pl.LazyFrame, "collect_schema", counted)
    CALLS[name](files, ("ndcg@10", "recall@10"))

    assert asked
    assert not [plan for plan in asked if "AGGREGATE" in plan or "SORT" in plan]


def test_the_guards_see_a_python_function(files):
    rank = pl.col("rank")

    assert python_functions(files.judged.map_batches(lambda frame: frame))
    assert python_functions(
        files.judged.select(rank.map_batches(lambda column: column, return_dtype=pl.Int64))
    )
    assert python_functions(
        files.judged.select(rank.map_elements(lambda value: value, return_dtype=pl.Int64))
    )
    assert not python_functions(files.judged.select(rank))


def test_the_guards_see_what_does_not_stream(files):
    by_user = files.judged.group_by("user")

    assert fallbacks(by_user.agg(pl.col("rank").sort()))
    assert fallbacks(by_user.agg(rf.ndcg.expr(k=10)))
    assert fallbacks(files.judged.select(pl.col("rank").rank()))
    assert not fallbacks(by_user.agg(pl.col("rank").min()).sort("user"))


def test_the_guards_see_a_sort_and_a_window_over_whole_frames(files):
    relevant = files.judged.filter(pl.col("relevance") > 0)
    window = pl.col("rank").cum_sum().over("user")

    (sort,) = sorts(files.judged.sort("rank"))
    assert whole_frames(sort)
    (sort,) = sorts(files.judged.group_by("user", "item").agg(pl.col("rank").min()).sort("rank"))
    assert whole_frames(sort)
    (sort,) = sorts(relevant.sort("rank"))
    assert not whole_frames(sort)
    (one,) = windows(files.judged.with_columns(total=window))
    assert whole_frames(one)
    (one,) = windows(relevant.with_columns(total=window))
    assert not whole_frames(one)


def test_the_guards_tell_a_cross_join_with_one_row_from_one_of_two_frames(files):
    models = files.judged.select("model").unique()

    def sides(other: pl.LazyFrame) -> list[bool]:
        joined = physical(files.judged.select("user").join(other, how="cross"))
        (join,) = [node for node in joined.below() if node.kind == "cross-join"]
        return sorted(is_small(side) for side in join.inputs)

    assert sides(files.truth.select("item")) == [False, False]
    assert sides(files.truth.select(pl.col("item").max())) == [False, True]
    assert sides(models) == [False, True]


@each_call
def test_no_python_function_is_in_the_plan(files, made):
    plan = made(files, all_metrics)

    assert not python_functions(plan)
    assert (
        pl.LazyFrame.deserialize(io.BytesIO(plan.serialize())).collect_schema()
        == plan.collect_schema()
    )


@each_metric
def test_a_metric_of_its_own_has_no_python_function(files, metric):
    asked = metric @ 5 if stops_at_k(metric.name, {}) else metric
    assert not python_functions(CALLS["judged"](files, (str(asked),)))
    assert not python_functions(CALLS["two frames"](files, (str(metric @ 10),)))


@each_call
def test_a_cross_join_is_one_with_a_single_row_or_the_models(files, made):
    for join in cross_joins(made(files, all_metrics)):
        assert any(is_small(side) for side in join.inputs), join.label


def test_cross_joins_are_found(files):
    assert cross_joins(CALLS["two frames, models"](files, all_metrics))


def cross_joins(plan: pl.LazyFrame) -> list[Node]:
    return [node for node in physical(plan).below() if node.kind == "cross-join"]


@pytest.mark.parametrize("made", UNSCORED.values(), ids=UNSCORED)
def test_sorts_and_windows_run_over_filtered_rows(files, made):
    plan = made(files, all_metrics)

    for node in [*(one for one in sorts(plan) if not is_of_the_result(one)), *windows(plan)]:
        assert not whole_frames(node), node.label


@pytest.mark.parametrize(
    "name", [name for name in CALLS if name.startswith("two frames") and "item" not in name]
)
def test_the_filters_lie_below_the_join_of_the_two_frames(files, name):
    metrics = tuple(str(metric @ 10) for metric in OF_HITS)
    joins = [
        node
        for node in logical(CALLS[name](files, metrics)).below()
        if node.kind.startswith("JOIN INNER") and r"col(\"item\")" in node.label
    ]

    assert joins
    for join in joins:
        ranked, relevant = (whole_frames(side) for side in join.inputs)
        assert not relevant, "the truth is joined before its relevant rows are chosen"
        assert not ranked or "scored" in name, "the lists are joined before they are cut at k"


@pytest.mark.skipif(not POLARS_2, reason="Polars 1 shares every scan")
@pytest.mark.parametrize("name", sorted(UNSCORED.keys() - {"two frames, from the list"}))
def test_no_branch_shares_the_recommendations_with_the_hits(files, name):
    """What is shared with the hits is held in memory, all of it, until the truth that they are joined with is read.

    With relevant_from="list" all hits of the lists are asked for, up to k and beyond.
    """
    shared = re.findall(r"CACHE\[id: [^]]*\]\n(.*)\n", CALLS[name](files, SIX).explain())

    assert not [line for line in shared if "recs.parquet" in line], shared


@pytest.mark.parametrize("name", ["judged", "two frames"])
@each_metric
def test_only_hits_and_best_orders_are_sorted(files, metric, name):
    pairs, found = sorts_of_pairs_and_others(CALLS[name](files, (str(metric @ 10),)))

    # the relevant rows' and the lists', for items that stand twice
    assert len(pairs) <= 1 + (metric.name in READ_LISTS)
    # The hits, for the ranks that repeat; for ndcg the relevant rows, for their best order; the rows of lists for misses above.
    counts_misses = metric.name in READ_LISTS and needs_of(metric).columns & PLACED
    # compatibility has all three
    several = {"ndcg": 2, "compatibility": 3}
    most = several.get(metric.name) or int(metric.name not in READ_LISTS or bool(counts_misses))
    assert len(found) <= most, found


@pytest.mark.parametrize("name", ["judged", "two frames"])
def test_six_metrics_at_many_cutoffs_share_their_two_sorts(files, name):
    names = tuple(f"{metric.partition('@')[0]}@{k}" for metric in SIX for k in (1, 5, 10, 20))

    pairs, found = sorts_of_pairs_and_others(CALLS[name](files, names))

    assert len(pairs) <= 1
    assert len(found) <= 2


def sorts_of_pairs_and_others(plan: pl.LazyFrame) -> tuple[list[Node], list[Node]]:
    """Return the sorts of pairs, which find those that stand twice, and the others."""
    found = sorts(plan)
    pairs = [sort for sort in found if 'col(\\"key\\")' in sort.label]
    return pairs, [sort for sort in found if sort not in pairs]


@pytest.mark.parametrize("name", UNSCORED)
def test_the_six_metrics_need_no_window(files, name):
    assert not windows(CALLS[name](files, SIX))


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


@pytest.mark.skipif(not POLARS_2, reason="Polars 1 groups all relevant rows")
@pytest.mark.parametrize("metrics", [SIX, ("recall@10",)], ids=["six", "one"])
def test_a_judged_frame_is_read_for_checks_users_and_relevant_rows_once_each(files, metrics):
    # hits, the best order and the question which items stand twice share the relevant rows
    assert len(scans(CALLS["judged"](files, metrics))) == 3


@pytest.mark.parametrize("name", ["two frames", "two frames by users", "two frames, models"])
def test_the_relevance_is_filtered_in_the_scan_of_the_truth(files, name):
    predicates = [
        predicate
        for file, _, predicate in scans(CALLS[name](files, ("ndcg@10",)))
        if file == "truth"
    ]

    assert any(re.search(r'col\("relevance"\)\)? > ', predicate) for predicate in predicates)


# Polars 1 pushes a filter through a shared part in some runs and not in others, by an order of its own
SHARE_THE_TRUTH = {"two frames by items", "two frames by a column of both", "two frames, all"}


@pytest.mark.parametrize(
    "name",
    [name for name in CALLS if POLARS_2 or not (name in SHARE_THE_TRUTH or "scored" in name)],
)
def test_rows_without_ids_are_left_in_the_file(files, name):
    for file, _, predicate in scans(CALLS[name](files, ("recall@10",))):
        if file in {"judged", "recs", "truth"}:
            assert "is_not_null" in predicate


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
