"""What few libraries have, against numbers that those few gave: a number for each of 300 random cases.

`recorded/record.py --cases` asked them. A case is a user, or some users where a metric has no value of one. A line names the
recframe metric that is to give a peer's numbers and the side frames that it is told.
"""

from __future__ import annotations

import functools
import json
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recframe as rf

RECORDED = Path(__file__).parent / "recorded"
sys.path.append(str(RECORDED))

import scenes_cases  # noqa: E402  the cases that the peers were run on

VALUES = json.loads((RECORDED / "values_cases.json").read_text(encoding="utf-8"))
ROWS = [(peer, row) for peer, told in VALUES.items() for row in told["rows"]]
METRICS = [(peer, row) for peer, row in ROWS if row["metric"]]
FLOAT32 = {"torchmetrics"}
LEAST = 300
# What a peer has of these and is not held against ours, and why.
NOT_SHARED = {
    ("expeval", "all"): "expected exposure: no package, neither on PyPI nor in its repository",
    ("wptrec", "awrf"): "attention-weighted rank fairness: no package either",
    (
        "ir_measures",
        "Compat of negative scores",
    ): "an ideal item that is not listed has score 0 there; all scores are above it",
    ("ranx", "fuse, tied scores"): "ranks ties as its dictionary stands, and knows no users that one run lacks",
    ("lenskit", "least_item_promoted without a shared item"): "0; ours has no value, as of no reference",
    ("lenskit", "RankBiasedEntropy, an item of no category"): "raises",
    ("any", "precision, rbp, ndcg and auc by ips and snips"): "none of these libraries has them",
}  # fmt: skip


@functools.cache
def made(name: str) -> scenes_cases.Scene:
    return scenes_cases.SCENES[name]()


def named(row: tuple[str, dict[str, Any]]) -> str:
    peer, line = row
    return f"{peer}-{line['scene']}-{line['call']}"


def frame(rows: list[Any], *columns: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=[*columns], orient="row")


def ranked(rows: list[tuple[str, str, float]]) -> pl.DataFrame:
    lists = frame(rows, "user", "item", "score")
    return lists.select("user", "item", rank=pl.int_range(1, pl.len() + 1).over("user"))


def sides(scene: scenes_cases.Scene, names: list[str]) -> dict[str, pl.DataFrame]:
    categories = [(item, [*own], own[0]) for item, own in scene.items.items()]
    found = {
        "truth": frame(scene.truth, "user", "item", "relevance"),
        "train": frame(scene.train, "user", "item"),
        "reference": ranked(scene.reference),
        "items": frame(categories, "item", "genre", "brand"),
    }
    return {name: found[name] for name in names}


def cases(scene: scenes_cases.Scene) -> pl.DataFrame:
    users = {row[0] for row in [*scene.recs, *scene.truth]}
    return frame([(user, scene.case(user)) for user in sorted(users)], "user", "case")


def check(peer: str, line: dict[str, Any], found: list[dict[int, float]]) -> None:
    tolerance = 3e-6 if peer in FLOAT32 else 1e-9
    for mine, theirs in zip(found, line["values"], strict=True):
        told = {case: value for case, value in enumerate(theirs) if value is not None}
        assert len(told) >= LEAST
        assert [mine[case] for case in told] == pytest.approx(
            [*told.values()], rel=tolerance, abs=tolerance
        )


@pytest.mark.slow
@pytest.mark.parametrize("row", METRICS, ids=named)
def test_recframe_gives_the_number_of_each_case(row: tuple[str, dict[str, Any]]):
    peer, line = row
    scene = made(line["scene"])
    users = cases(scene)
    rec = ranked(scene.recs).rec(
        **sides(scene, line["sides"]), users=users, **line.get("bound", {})
    )
    metrics = [rf.parse(line["metric"])]
    metrics = [one if k is None else one @ k for one in metrics for k in line["k"]]
    values = rec.evaluate(*metrics, by="case")
    assert values["case"].n_unique() == values.height
    check(
        peer,
        line,
        [
            dict(zip(values["case"], own, strict=True))
            for own in values[:, -len(metrics) :].iter_columns()
        ],
    )


@pytest.mark.slow
@pytest.mark.parametrize("row", [row for row in ROWS if "fused" in row[1]], ids=named)
def test_fused_lists_have_the_scores_of_each_case(row: tuple[str, dict[str, Any]]):
    peer, line = row
    scene, told = made(line["scene"]), dict(line["fused"])
    # of both signs, as they were recorded
    lists = {
        name: frame(rows, "user", "item", "score").with_columns(pl.col("score") - 4)
        for name, rows in (("a", scene.recs), ("b", scene.reference))
    }
    fused = rf.fuse(lists, **told)
    number = pl.col("item").str.slice(1).cast(pl.Int64)
    sums = fused.group_by("user").agg(told=(pl.col("score") * number).sum())
    mine = {scene.case(user): value for user, value in sums.iter_rows()}
    check(peer, line, [mine])


def test_every_metric_that_one_of_them_has_is_recorded():
    names = {rf.parse(row["metric"]).name for _, row in METRICS}
    assert names == {
        *("insq", "inst", "bpm", "nerr", "sdcg", "compatibility", "infap"),
        *("ncrr", "mean_percentile_rank", "recall_at_precision", "least_item_promoted"),
        "category_entropy",
    }


def test_the_cases_are_of_every_kind():
    ragged, pooled = made("ragged"), made("pooled")
    lists, judged = ragged.lists(), ragged.relevances()
    assert {len(own) for own in lists.values()} == {*scenes_cases.LENGTHS} - {0}
    assert {grade for _, _, grade in ragged.truth} == {0, 1, 2, 3, 4}
    assert len(lists.keys() - judged.keys()) > 5
    assert len(judged.keys() - lists.keys()) > 5
    assert any(item not in lists.get(user, {}) for user, item, grade in ragged.truth if grade)
    assert {grade for _, _, grade in pooled.truth} == {scenes_cases.POOLED, 0, 1, 2, 3, 4}
    assert {len(own) for own in ragged.items.values()} == {1, 2}
