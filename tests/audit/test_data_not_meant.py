"""Frames that cannot be meant are warned of at the call and found by the audit; those that look like them are not."""

from __future__ import annotations

import math
import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import recframe as rf
from lanes import in_turn
from recframe.frames import collecting

N_USERS, LENGTH, N_ITEMS = 40, 10, 200
DRAW = random.Random(7)  # noqa: S311  no secret
# each user likes six items, of which the lists have some
RECS = pl.DataFrame(
    [
        (user, item, rank)
        for user in range(N_USERS)
        for rank, item in enumerate(DRAW.sample(range(N_ITEMS), LENGTH), 1)
    ],
    schema=["user", "item", "rank"],
    orient="row",
)
LIKED = [(user, item) for user in range(N_USERS) for item in DRAW.sample(range(N_ITEMS), 4)]
SHOWN = [(user, item) for user, item, rank in RECS.rows() if rank in {1 + user % 3, 4 + user % 5}]
TRUTH = pl.DataFrame([*LIKED, *SHOWN], schema=["user", "item"], orient="row").unique(
    maintain_order=True
)
SCORED = RECS.select("user", "item", score=11.0 - pl.col("rank"))
USERS = pl.DataFrame({"user": range(N_USERS)})
ITEMS = pl.DataFrame({"item": range(N_ITEMS)}).with_columns(genre=pl.col("item") % 3)


def models(recs: pl.DataFrame, **of_b: pl.Expr) -> pl.DataFrame:
    """Two models, the second with other columns."""
    a, b = (recs.with_columns(model=pl.lit(name)) for name in ("a", "b"))
    return pl.concat([a, b.with_columns(**of_b)])


def week(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(week=pl.format("w{}", pl.col("user") % 3))


def told(ask: Callable[[], Any]) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        ask()
    assert {one.filename for one in found} <= {__file__}
    return [str(one.message) for one in found]


def checks(recs: pl.DataFrame, *, lazy: bool = False, **options: Any) -> list[str]:
    by, k = options.pop("by", None), options.pop("k", 5)
    given = {
        name: one.lazy() if lazy and isinstance(one, pl.DataFrame) else one
        for name, one in options.items()
    }
    found = rf.rec(recs.lazy() if lazy else recs, **given).audit(k, by=by)
    return (found.collect() if isinstance(found, pl.LazyFrame) else found)["check"].to_list()


NULL_WEEK = pl.lit(None, pl.String)
EQUAL = SCORED.with_columns(score=0.5)
FOREIGN_ITEMS = models(RECS, item=pl.col("item") + 10_000)
FOREIGN_USERS = models(RECS, user=pl.col("user") + 10_000)
SHALLOW = models(RECS).filter((pl.col("model") == "a") | (pl.col("rank") <= 3))
JOINED = TRUTH.join(RECS, on=["user", "item"], how="semi").filter(pl.col("user") > 2)
AT_ONCE = RECS.with_columns(rank=pl.int_range(1, pl.len() + 1))
MEANS = RECS.with_columns(rank=(pl.col("rank") + 1) // 2 * 2 - 0.5)
RARE = USERS.with_columns(w=pl.when(pl.col("user") < 10).then(1.0))
# name: lists, options, the check of the audit, words of the warning
MISTAKES: dict[str, tuple[pl.DataFrame, dict[str, Any], str, str]] = {
    "spelt otherwise": (
        RECS.with_columns(country=pl.lit("DE")),
        {"truth": TRUTH.with_columns(country=pl.lit("de")), "by": "country"},
        "by_without_common_values",
        "no value of this column in common: 1 in the lists, such as 'DE', and 1 in the truth, such as 'de'",
    ),
    "scores that are NaN": (
        SCORED.with_columns(score=math.nan),
        {"truth": TRUTH},
        "scores_without_order",
        "all 400 scores of the frame of recommendations in column 'score' are null or NaN",
    ),
    "scores of one model that are equal": (
        models(SCORED, score=pl.lit(0.5)),
        {"truth": TRUTH, "model": "model"},
        "scores_without_order",
        r"all 400 scores of model 'b' in column 'score' are equal, 0\.5, .* rec\(ties='expected'\)",
    ),
    "items of another space": (
        FOREIGN_ITEMS,
        {"truth": TRUTH, "model": "model"},
        "model_without_common_ids",
        r"model 'b': none of its \d+ item ids, such as 10\d+, is among the \d+ of the frame truth=, such as \d+",
    ),
    "users of another space": (
        FOREIGN_USERS,
        {"truth": TRUTH, "model": "model"},
        "model_without_common_ids",
        "model 'b': none of its 40 user ids, such as 10000, is among the 40 of the frame truth=, such as 0",
    ),
    "models that are pooled": (
        models(SCORED).rename({"model": "algo_name"}),
        {"truth": TRUTH},
        "pooled_models",
        r"one for each value of column 'algo_name', .* write rec\(model='algo_name'\)",
    ),
    "models with few items in common": (
        pl.concat(
            [
                SCORED.with_columns(variant=pl.lit("x")),
                SCORED.with_columns(
                    # the last item of each list alone is one of the other model's
                    item=pl.when(pl.col("score") > 1).then(pl.col("item") + 500).otherwise("item"),
                    variant=pl.lit("y"),
                ),
                SCORED.with_columns(pl.col("item") + 900, variant=pl.lit("z")),
            ]
        ),
        {"truth": TRUTH},
        "pooled_models",
        r"write rec\(model='variant'\)",
    ),
    "a truth that was joined with the lists": (
        RECS,
        {"truth": JOINED},
        "no_relevant_beyond_lists",
        rf"all {len(JOINED)} relevant rows of the frame truth=, of {JOINED['user'].n_unique()} users, .*relevant_from='list'",
    ),
    "ranks over all rows": (
        AT_ONCE,
        {"truth": TRUTH},
        "ranks_over_all_lists",
        r"column 'rank' of the frame of recommendations has no rank twice, and 39 of 40 lists have none up to 5",
    ),
    "ranks over all rows of each model": (
        models(AT_ONCE),
        {"truth": TRUTH, "model": "model"},
        "ranks_over_all_lists",
        "78 of 80 lists have none up to 5",
    ),
    "models that list fewer items": (
        SHALLOW,
        {"truth": TRUTH, "model": "model"},
        "models_of_unequal_depth",
        "end at different depths below 5: those of 'b' at 3, others later; .* compare up to 3: k=3",
    ),
    "scored models that list fewer items": (
        SHALLOW.select("user", "item", "model", score=-pl.col("rank")),
        {"truth": TRUTH, "model": "model"},
        "models_of_unequal_depth",
        "those of 'b' at 3",
    ),
    "ranks that are means over ties": (
        MEANS,
        {"truth": TRUTH},
        "fractional_ranks",
        r"column 'rank' of the frame of recommendations has ranks such as 1\.5, which are means over ties",
    ),
    "weights of few": (
        RECS,
        {"truth": TRUTH, "users": RARE, "weight": "w"},
        "users_without_weight",
        "weight='w': 30 of the 40 users who count have no weight in the frame users=",
    ),
}
PLAIN = {
    "eager": lambda one: one,
    "pandas": lambda one: one.to_pandas(),
}


@pytest.mark.parametrize(("mistake", "kind"), in_turn(MISTAKES.keys(), PLAIN.keys()))
def test_a_mistake_is_warned_of_once(mistake: str, kind: str):
    pytest.importorskip("pandas")
    recs, options, _, words = MISTAKES[mistake]
    by = options.get("by")
    given = {
        name: PLAIN[kind](one) if isinstance(one, pl.DataFrame) else one
        for name, one in options.items()
        if name != "by"
    }
    rec = rf.rec(PLAIN[kind](recs), **given)

    (found,) = told(lambda: rec.evaluate("ndcg@5", by=by))
    assert re.search(words, found)


@pytest.mark.parametrize(("mistake", "lazy"), in_turn(MISTAKES.keys(), [True, False], fast=6))
def test_the_audit_finds_it_on_lazy_frames_too(mistake: str, *, lazy: bool):
    recs, options, check, _ = MISTAKES[mistake]

    assert check in checks(recs, lazy=lazy, **options)


WHOLE = USERS.join(ITEMS.select("item"), how="cross").with_columns(
    rank=pl.int_range(1, pl.len() + 1).over("user")
)
JUDGED = RECS.rec(truth=JOINED).judge()
LONG = models(RECS).filter((pl.col("model") == "a") | (pl.col("rank") <= 7))
RIGHT: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "ranks": (RECS, {"truth": TRUTH}),
    "scores": (SCORED, {"truth": TRUTH}),
    "models": (models(RECS), {"truth": TRUTH, "model": "model"}),
    "a week that the truth alone has": (
        week(RECS),
        {"truth": TRUTH.with_columns(week=pl.format("w{}", pl.col("user") % 4)), "by": "week"},
    ),
    "a week with a few nulls": (
        RECS.with_columns(week=pl.when(pl.col("user") > 5).then(1)),
        {"truth": TRUTH.with_columns(week=1), "by": "week"},
    ),
    "nulls in both frames": (
        RECS.with_columns(week=pl.when(pl.col("user") < 9).then(1)),
        {"truth": TRUTH.with_columns(week=pl.when(pl.col("user") < 12).then(1)), "by": "week"},
    ),
    "equal scores that the expectation is asked of": (EQUAL, {"truth": TRUTH, "ties": "expected"}),
    "one item a list, all of one score": (
        EQUAL.group_by("user").first(),
        {"truth": TRUTH},
    ),
    "scores of which some are equal": (
        SCORED.with_columns(pl.col("score").clip(upper_bound=4)),
        {"truth": TRUTH},
    ),
    "a model without a hit": (
        pl.concat(
            [
                models(RECS).filter(model="a"),
                # one item that somebody likes, listed for somebody else
                RECS.with_columns(
                    item=pl.when(pl.col("rank") > 1)
                    .then(pl.col("item") + 9_000)
                    .otherwise(pl.lit(next(one for one in TRUTH.filter(user=0)["item"]))),
                    model=pl.lit("b"),
                ).filter(pl.col("user") > 30),
            ]
        ),
        {"truth": TRUTH, "model": "model", "universe": "truth"},
    ),
    "a source of candidates": (
        SCORED.with_columns(method=pl.when(pl.col("item") % 2 == 0).then(1).otherwise(2)),
        {"truth": TRUTH},
    ),
    "an arm of each user": (
        SCORED.with_columns(
            variant=pl.when(pl.col("user") < 20).then(pl.lit("a")).otherwise(pl.lit("b"))
        ),
        {"truth": TRUTH},
    ),
    "a judged frame of listed rows": (JUDGED, {}),
    "lists of all items": (WHOLE, {"truth": TRUTH}),
    "lists of all items but the history": (
        WHOLE.filter((pl.col("user") + pl.col("item")) % 9 > 0),
        {"truth": TRUTH.filter((pl.col("user") + pl.col("item")) % 9 > 0)},
    ),
    "lists that are said to be all that is known": (
        RECS,
        {"truth": JOINED, "relevant_from": "list"},
    ),
    "lists of drawn items, each with one that is relevant": (
        RECS,
        {"truth": RECS.filter(pl.col("rank") == 1 + pl.col("user") % 5).drop("rank")},
    ),
    "models that leave out a few items": (
        pl.concat(
            [
                WHOLE.filter(pl.col("rank") <= 100 - 3 * n).with_columns(model=pl.lit(n))
                for n in (0, 1)
            ]
        ),
        {"truth": TRUTH, "model": "model", "k": 100},
    ),
    "one list": (AT_ONCE.filter(user=0), {"truth": TRUTH, "universe": "both"}),
    "ranks of single items among all": (
        pl.DataFrame(
            {"user": range(40), "item": range(40), "rank": [7 + 13 * user for user in range(40)]}
        ),
        {"truth": TRUTH},
    ),
    "models of other depths beyond k": (LONG, {"truth": TRUTH, "model": "model"}),
    "models of one depth below k": (
        models(RECS).filter(pl.col("rank") <= 3),
        {"truth": TRUTH, "model": "model"},
    ),
    "some users with short lists": (
        models(RECS).filter(
            (pl.col("user") % 2 == 0) | (pl.col("rank") <= 2) | (pl.col("model") == "a")
        ),
        {"truth": TRUTH, "model": "model"},
    ),
    "two short lists of a model": (
        models(RECS).filter(
            (pl.col("model") == "a") | ((pl.col("rank") <= 2) & (pl.col("user") < 2))
        ),
        {"truth": TRUTH, "model": "model", "universe": "both"},
    ),
    "ranks that are whole floats": (
        RECS.with_columns(pl.col("rank").cast(pl.Float64)),
        {"truth": TRUTH},
    ),
    "ranks between others": (RECS.with_columns(rank=pl.col("rank") * 1.2), {"truth": TRUTH}),
    "weights of most": (
        RECS,
        {
            "truth": TRUTH,
            "users": USERS.with_columns(w=pl.when(pl.col("user") > 5).then(2.0)),
            "weight": "w",
        },
    ),
    "large weights": (RECS, {"truth": TRUTH, "users": USERS.with_columns(w=1e60), "weight": "w"}),
    "a few rows of all kinds of oddness": (
        pl.DataFrame(
            {"user": [1, 2], "item": [1, 2], "rank": [1, 2], "model": ["a", "b"], "week": [1, 2]}
        ),
        {
            "truth": pl.DataFrame({"user": [1, 2], "item": [1, 3], "week": [1, 2]}),
            "model": "model",
            "by": "week",
        },
    ),
}
NEW = {check for *_, check, _ in MISTAKES.values()} - {"fractional_ranks", "users_without_weight"}


@pytest.mark.parametrize("right", RIGHT)
def test_what_looks_like_a_mistake_and_is_none_is_let_be(right: str):
    recs, options = RIGHT[right]
    by = options.get("by")
    rec = rf.rec(recs, **{name: one for name, one in options.items() if name not in {"by", "k"}})

    assert told(lambda: rec.evaluate("ndcg", k=options.get("k", 5), by=by)) == []
    expected = {"no_relevant_beyond_lists"} if right == "a judged frame of listed rows" else set()
    assert NEW.intersection(checks(recs, **options)) == expected


def test_lazy_frames_are_not_looked_at():
    for recs, options, _, _ in MISTAKES.values():
        by = options.get("by")
        given = {
            name: one.lazy() if isinstance(one, pl.DataFrame) else one
            for name, one in options.items()
            if name != "by"
        }
        assert told(lambda: rf.rec(recs.lazy(), **given).evaluate("ndcg@5", by=by)) == []  # noqa: B023  asked at once


def many(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame for 60 times the users: of so many rows that some of them are looked at first."""
    copies = frame.join(pl.DataFrame({"copy": range(60)}), how="cross")
    users = pl.col("user") + 100 * pl.col("copy")
    return copies.with_columns(users).drop("copy").sort("user", maintain_order=True)


LARGE_MISTAKES = [
    "scores of one model that are equal",
    "items of another space",
    "models that are pooled",
    "a truth that was joined with the lists",
    "models that list fewer items",
    "scored models that list fewer items",
    "ranks that are means over ties",
    "weights of few",
]


@pytest.mark.parametrize(("mistake", "shuffled"), in_turn(LARGE_MISTAKES, [False, True]))
def test_some_rows_of_a_large_frame_show_a_mistake(mistake: str, *, shuffled: bool):
    recs, options, _, _ = MISTAKES[mistake]
    recs = many(recs).sample(fraction=1, shuffle=True, seed=1) if shuffled else many(recs)
    given = {
        name: many(one) if isinstance(one, pl.DataFrame) else one for name, one in options.items()
    }

    assert len(recs) > collecting.LARGE
    assert len(told(lambda: rf.rec(recs, **given).evaluate("ndcg@5"))) == 1


@pytest.mark.parametrize("recs", [RECS, SCORED, models(RECS), models(SCORED), LONG])
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_large_frame_that_is_meant_is_let_be(recs: pl.DataFrame, *, shuffled: bool):
    frame = many(recs).sample(fraction=1, shuffle=True, seed=1) if shuffled else many(recs)
    named = {"model": "model"} if "model" in recs.columns else {}

    assert told(lambda: rf.rec(frame, truth=many(TRUTH), **named).evaluate("ndcg@5", "mrr")) == []


def test_the_baseline_of_a_comparison_may_be_the_model_without_common_ids():
    pytest.importorskip("scipy")
    rec = rf.rec(FOREIGN_ITEMS, truth=TRUTH, model="model")

    (words,) = told(lambda: rec.compare("ndcg@5", baseline="b"))
    assert words.startswith("model 'b': none of its")


def test_results_note_models_whose_lists_end_at_other_depths():
    pytest.importorskip("scipy")
    rec = rf.rec(SHALLOW, truth=TRUTH, model="model")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rf.RecframeWarning)
        compared = rec.compare("ndcg@5", "ndcg@3", baseline="a")
        required = rec.require("ndcg@5 >= 0.001", "ndcg@3 >= 0.001", raises=False)
        summed = rec.summarize("ndcg@5")

    pair = "up to k its longest list has 3 items, the baseline's 5"
    same = "both have the same value for all users"
    assert compared.select("metric", "note").rows() == [("ndcg@5", pair), ("ndcg@3", same)]
    own = "its lists end at 3, before k, other models' elsewhere"
    noted = required.filter(pl.col("note").str.contains("lists end")).select("model", "requirement")
    assert noted.rows() == [("b", "ndcg@5 >= 0.001")]
    assert summed.select("model", "note").rows() == [("a", None), ("b", own)]


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_weights_whose_powers_overflow_are_an_error(kind):
    rec = rf.rec(RECS, truth=TRUTH, users=kind(USERS.with_columns(w=1e100)), weight="w")

    with pytest.raises((rf.DataError, pl.exceptions.PolarsError), match="weight='w' is above 1e"):
        pl.LazyFrame.collect(rec.evaluate("ndcg@5").lazy())
