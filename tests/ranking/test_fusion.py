"""Lists of several models fused into those of one, against plain Python and numbers worked by hand."""

from __future__ import annotations

import math
import statistics
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recframe as rf
from asking import recommended
from frame_kinds import Kind

METHODS = ["rrf", "isr", "borda", "combsum", "combmnz", "weighted"]
SCALES = ["min-max", "max", "sum", "zmuv", "rank", None]
WEIGHTS = {"a": 0.7, "b": 0.3, "c": 2.0}
Lists = dict[str, dict[int, dict[str, float]]]

# u has p q r of one model and q s of the other, v one list alone
A = pl.DataFrame({"user": ["u"] * 3 + ["v"], "item": list("pqrp"), "score": [3.0, 2.0, 1.0, 5.0]})
B = pl.DataFrame({"user": ["u"] * 2, "item": list("qs"), "score": [0.9, 0.4]})
BOTH = {"a": A, "b": B}


def by_item(frame: pl.DataFrame, user: str = "u") -> dict[str, float]:
    rows = frame.filter(user=user)
    return dict(zip(rows["item"], rows["score"], strict=True))


def plain(lists: Lists, user: int, method: str, scale: str | None) -> dict[str, float]:
    """What the items of a user score, from the methods' definitions."""
    own = {model: users.get(user, {}) for model, users in lists.items()}
    items, places, found = {item for scores in own.values() for item in scores}, {}, {}
    for model, s in own.items():
        order = sorted(s, key=lambda one, s=s: (-s[one], one))
        places[model] = {item: place for place, item in enumerate(order, 1)}
    for item in items:
        having = [model for model in own if item in own[model]]
        ranks = [places[model][item] for model in having]
        scaled = {model: on_scale(own[model], places[model], item, scale) for model in having}
        left = {model: (len(items) - len(own[model]) + 1) / 2 for model in having}
        borda = [len(items) - places[m][item] + 1 - left[m] for m in having]
        found[item] = {
            "rrf": math.fsum(1 / (60 + rank) for rank in ranks),
            "isr": len(ranks) * math.fsum(1 / rank**2 for rank in ranks),
            "borda": math.fsum(borda),
            "combsum": math.fsum(scaled.values()),
            "combmnz": len(having) * math.fsum(scaled.values()),
            "weighted": math.fsum(WEIGHTS[model] * one for model, one in scaled.items()),
        }[method]
    return found


def on_scale(
    scores: dict[str, float], places: dict[str, int], item: str, scale: str | None
) -> float:
    values, score = [*scores.values()], scores[item]
    if scale is None:
        return score
    if scale == "rank":
        return 1 - (places[item] - 1) / len(values)
    if scale == "max":
        return score / max(*values, 1e-9)
    if scale == "zmuv":
        return (score - statistics.fmean(values)) / max(statistics.pstdev(values), 1e-9)
    widths = {"min-max": max(values) - min(values), "sum": sum(values) - len(values) * min(values)}
    return (score - min(values)) / max(widths[scale], 1e-9)


SCORES = st.integers(-40, 400).map(lambda number: number / 8)
LIST = st.dictionaries(st.sampled_from("pqrstx"), SCORES, min_size=1)
LISTS = st.fixed_dictionaries(dict.fromkeys("abc", st.dictionaries(st.integers(1, 3), LIST)))


def frames(lists: Lists) -> dict[str, pl.DataFrame]:
    schema = {"user": pl.Int64, "item": pl.String, "score": pl.Float64}
    rows = {
        model: [(user, item, score) for user in own for item, score in own[user].items()]
        for model, own in lists.items()
    }
    return {model: pl.DataFrame(own, schema, orient="row") for model, own in rows.items()}


@pytest.mark.filterwarnings("ignore:the frame of the model .* has no rows")
@pytest.mark.parametrize("method", METHODS)
@given(lists=LISTS, scale=st.sampled_from(SCALES), k=st.sampled_from([None, 1, 3]))
def test_it_agrees_with_the_plain_definitions(method: Any, lists: Lists, scale: Any, k: int | None):
    weights = WEIGHTS if method == "weighted" else None

    whole = rf.fuse(frames(lists), method, normalize=scale, weights=weights)
    found = rf.fuse(frames(lists), method, normalize=scale, weights=weights, k=k)

    assert found.equals(whole.group_by("user", maintain_order=True).head(k or len(whole)))
    for user in {user for own in lists.values() for user in own}:
        expected = plain(lists, user, method, scale)
        assert by_item(whole, user) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    in_order = whole.sort("user", pl.col("score"), "item", descending=[False, True, False])
    assert whole.equals(in_order)


@pytest.mark.filterwarnings("ignore:the frame of the model .* has no rows")
@given(lists=LISTS, method=st.sampled_from(METHODS[:-1]), scale=st.sampled_from(SCALES))
def test_neither_the_order_of_the_rows_nor_of_the_models_changes_a_bit(
    lists: Lists, method: Any, scale: Any
):
    expected = rf.fuse(frames(lists), method, normalize=scale)
    turned = {model: frame[::-1] for model, frame in reversed(frames(lists).items())}
    stacked = pl.concat(frame.with_columns(m=pl.lit(model)) for model, frame in turned.items())

    assert rf.fuse(turned, method, normalize=scale).equals(expected)
    assert rf.fuse(stacked, method, normalize=scale, model="m").equals(expected)


def test_the_lists_come_in_the_kind_of_the_frames_and_stand_beside_them(kind: Kind):
    given = {name: kind.make(frame) for name, frame in BOTH.items()}
    truth = kind.make(pl.DataFrame({"user": ["u", "v"], "item": ["q", "p"]}))

    fused = rf.fuse(given)

    assert type(fused) is type(given["a"])
    found = kind.read(rf.rec({**given, "fused": fused}, truth).evaluate("mrr", by="model"))
    assert found["mrr"].to_list() == [0.75, 0.5, 1]


def test_ranks_stay_as_they_are_given_and_come_out_as_ranks():
    # without the items that the user knows, ranks 2 and 5 are left
    ranked = {
        "a": pl.DataFrame({"u": ["u", "u"], "i": ["p", "q"], "place": [2, 5]}),
        "b": pl.DataFrame({"u": ["u"], "i": ["q"], "place": [1]}),
    }
    names = {"user": "u", "item": "i", "rank": "place"}

    found = rf.fuse(ranked, **names)
    assert found.columns == ["u", "i", "place", "score"]
    assert found.rows() == [
        ("u", "q", 1, pytest.approx(1 / 65 + 1 / 61)),
        ("u", "p", 2, pytest.approx(1 / 62)),
    ]
    # which counts items, takes places: q is the second of two
    assert rf.fuse(ranked, "combsum", normalize="rank", **names)["score"].to_list() == [1.5, 1]
    assert rf.fuse(ranked, smoothing=0, **names)["score"].to_list() == [1 / 5 + 1, 1 / 2]


def test_an_item_that_is_repeated_or_has_no_number_counts_as_it_does_in_a_list():
    once = {"a": recommended(u="pqr"), "b": recommended(u="qs")}
    odd = pl.concat([once["a"], once["a"].with_columns(rank=pl.col("rank") + 3)])
    nowhere = pl.DataFrame({"user": ["u", None], "item": ["x", "p"], "rank": [None, 1]})

    odd = pl.concat([odd, nowhere], how="vertical_relaxed")
    for method in ("rrf", "isr", "borda"):
        assert rf.fuse({"a": odd, "b": once["b"]}, method).equals(rf.fuse(once, method))
    scores = [None, math.nan, -math.inf, 1]
    masked = pl.DataFrame({"user": ["u"] * 4, "item": list("xyzp"), "score": scores})
    masked = pl.concat([A, masked], how="vertical_relaxed")
    found = rf.fuse({"a": masked, "b": B}, "combmnz")
    assert found.equals(rf.fuse(BOTH, "combmnz"))
