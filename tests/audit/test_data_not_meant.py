"""Frames that cannot be meant are warned of at the call and found by the audit; those that look like them are not."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import recframe as rf
from lanes import in_turn
from recframe.frames.kinds import kind as kinds

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
    options.pop("metric", None)
    given = {
        name: one.lazy() if lazy and isinstance(one, pl.DataFrame) else one
        for name, one in options.items()
    }
    found = rf.rec(recs.lazy() if lazy else recs, **given).audit(k, by=by)
    return (found.collect() if isinstance(found, pl.LazyFrame) else found)["check"].to_list()


USERS_IN_TEXT = [one.with_columns(user=pl.format("U{}", "user")) for one in (RECS, TRUTH)]
LOWER = pl.col("user").str.to_lowercase()


def answers(column: str, *texts: str) -> pl.DataFrame:
    """The truth with a column of texts, in turn."""
    words = pl.Series([*texts] * len(TRUTH)).head(len(TRUTH))
    return TRUTH.with_columns(words.alias(column))


def many(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame for 60 times the users: of so many rows that some of them are looked at first."""
    copies = frame.join(pl.DataFrame({"copy": range(60)}), how="cross")
    users = pl.col("user") + 100 * pl.col("copy")
    return copies.with_columns(users).drop("copy").sort("user", maintain_order=True)


# two items that each user likes come first, or second and third
LIKED_FIRST = many(RECS).filter(pl.col("rank") <= 2).drop("rank")
LIKED_NEXT = many(RECS).filter(pl.col("rank").is_between(2, 3)).drop("rank")
GENRES = ITEMS.with_columns(
    genre=pl.Series(["Action|Comedy", "Drama", "War|Drama"] * 67).head(N_ITEMS)
)
CODES = pl.format(
    "{}{}",
    pl.when(pl.col("item") % 2 == 0).then(pl.lit("a")).otherwise(pl.lit("A")),
    pl.col("item") // 2,
)
EQUAL = SCORED.with_columns(score=0.5)
FOREIGN_ITEMS = models(RECS, item=pl.col("item") + 10_000)
FOREIGN_USERS = models(RECS, user=pl.col("user") + 10_000)
SHALLOW = models(RECS).filter((pl.col("model") == "a") | (pl.col("rank") <= 3))
JOINED = TRUTH.join(RECS, on=["user", "item"], how="semi").filter(pl.col("user") > 2)
AT_ONCE = RECS.with_columns(rank=pl.int_range(1, pl.len() + 1))
MEANS = RECS.with_columns(rank=(pl.col("rank") + 1) // 2 * 2 - 0.5)
RARE = USERS.with_columns(w=pl.when(pl.col("user") < 10).then(1.0))
# name: lists, options, the check
OF_ONE = TRUTH.filter(pl.len().over("item") == 1).sort("item").head(1)
MISTAKES: dict[str, tuple[pl.DataFrame, dict[str, Any], str]] = {
    "spelt otherwise": (
        RECS.with_columns(country=pl.lit("DE")),
        {"truth": TRUTH.with_columns(country=pl.lit("de")), "by": "country"},
        "by_without_common_values",
    ),
    "scores that are NaN": (
        SCORED.with_columns(score=math.nan),
        {"truth": TRUTH},
        "scores_without_order",
    ),
    "scores of one model that are equal": (
        models(SCORED, score=pl.lit(0.5)),
        {"truth": TRUTH, "model": "model"},
        "scores_without_order",
    ),
    "items of another space": (
        FOREIGN_ITEMS,
        {"truth": TRUTH, "model": "model"},
        "model_without_common_ids",
    ),
    "users of another space": (
        FOREIGN_USERS,
        {"truth": TRUTH, "model": "model"},
        "model_without_common_ids",
    ),
    "models that are pooled": (
        models(SCORED).rename({"model": "algo_name"}),
        {"truth": TRUTH},
        "pooled_models",
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
    ),
    "a truth that was joined with the lists": (
        RECS,
        {"truth": JOINED},
        "no_relevant_beyond_lists",
    ),
    "ranks over all rows": (
        AT_ONCE,
        {"truth": TRUTH},
        "ranks_over_all_lists",
    ),
    "ranks over all rows of each model": (
        models(AT_ONCE),
        {"truth": TRUTH, "model": "model"},
        "ranks_over_all_lists",
    ),
    "models that list fewer items": (
        SHALLOW,
        {"truth": TRUTH, "model": "model"},
        "models_of_unequal_depth",
    ),
    "scored models that list fewer items": (
        SHALLOW.select("user", "item", "model", score=-pl.col("rank")),
        {"truth": TRUTH, "model": "model"},
        "models_of_unequal_depth",
    ),
    "ranks that are means over ties": (
        MEANS,
        {"truth": TRUTH},
        "fractional_ranks",
    ),
    "no lists": (RECS.clear(), {"truth": TRUTH}, "no_lists"),
    "no lists of models": (models(RECS).clear(), {"truth": TRUTH, "model": "model"}, "no_lists"),
    "ranks that are null": (
        RECS.with_columns(rank=pl.lit(None, pl.Float64)),
        {"truth": TRUTH},
        "no_lists",
    ),
    "ranks from 2": (
        RECS.with_columns(pl.col("rank") + 1),
        {"truth": TRUTH},
        "no_first_rank",
    ),
    "a cut-off beyond all lists": (
        many(RECS.filter(pl.col("rank") <= 4)),
        {"truth": many(TRUTH)},
        "short_lists",
    ),
    "lists that return the truth": (many(RECS), {"truth": LIKED_FIRST}, "lists_of_the_truth"),
    "the lists as their own truth": (RECS, {"truth": RECS}, "truth_is_the_lists"),
    "a truth that answers no": (
        RECS,
        {"truth": answers("clicked", "no", "yes")},
        "unbound_two_values",
    ),
    "Booleans in text": (RECS, {"truth": answers("liked", "True", "False")}, "unbound_two_values"),
    "0 and 1 in text": (RECS, {"truth": answers("label", "0", "1")}, "unbound_two_values"),
    "grades in text": (RECS, {"truth": answers("stars", "1", "5", "3")}, "unbound_grades"),
    "lists of one segment": (
        RECS.filter(pl.col("user") < 15),
        {"truth": TRUTH},
        "users_without_lists",
    ),
    "hardly any user in common": (
        many(RECS),
        {"truth": many(TRUTH).with_columns(pl.col("user") + 5_930)},
        "no_common_users",
    ),
    "no item in common": (
        RECS.with_columns(pl.col("item") + 1_000),
        {"truth": TRUTH},
        "no_common_items",
    ),
    "users in another case": (
        USERS_IN_TEXT[0],
        {"truth": USERS_IN_TEXT[1].with_columns(LOWER)},
        "id_spellings",
    ),
    "a level above all grades": (
        RECS,
        {"truth": TRUTH.with_columns(relevance=3), "min_relevance": 4},
        "unreached_min_relevance",
    ),
    "genres in one text": (
        RECS,
        {"truth": TRUTH, "items": GENRES, "metric": "diversity(of=genre)@5"},
        "categories_in_one_text",
    ),
    "pairs that a profile counts twice": (
        RECS,
        {"truth": pl.concat([TRUTH, TRUTH.head(3)]), "profile": "rectools"},
        "repeats_under_a_profile",
    ),
    "weights of few": (
        RECS,
        {"truth": TRUTH, "users": RARE, "weight": "w"},
        "users_without_weight",
    ),
    "a join of the truth failed": (
        RECS.with_columns(week=pl.lit("w1")),
        {"truth": TRUTH.with_columns(week=pl.lit(None, dtype=pl.String)), "by": "week"},
        "by_without_common_values",
    ),
}
PLAIN: dict[str, Callable[[pl.DataFrame], Any]] = {
    "eager": lambda one: one,
    "pandas": pl.DataFrame.to_pandas,
    "lazy": pl.DataFrame.lazy,
}
# what the audit alone finds
ODD: dict[str, tuple[pl.DataFrame, dict[str, Any], str]] = {
    "half of the users in another case": (
        USERS_IN_TEXT[0],
        {"truth": USERS_IN_TEXT[1].with_columns(LOWER.str.replace("u(.*[02468])$", "U$1"))},
        "id_spellings",
    ),
    "zeros in front": (
        RECS.with_columns(item=pl.format("00{}", "item")),
        {"truth": TRUTH.with_columns(pl.col("item").cast(pl.String))},
        "id_spellings",
    ),
    "users named nan": (
        RECS.with_columns(
            user=pl.when(pl.col("user") > 0).then(pl.col("user")).cast(pl.String).fill_null("nan")
        ),
        {"truth": TRUTH.with_columns(pl.col("user").cast(pl.String))},
        "users_named_null",
    ),
    "a model without a rank": (
        models(RECS, rank=pl.lit(None, pl.Int64)).with_columns(relevance=1),
        {"model": "model"},
        "no_lists",
    ),
}


@pytest.mark.parametrize(("mistake", "kind"), in_turn(MISTAKES.keys(), PLAIN.keys()))
def test_a_mistake_is_warned_of_once(mistake: str, kind: str):
    pytest.importorskip("pandas")
    recs, options, check = MISTAKES[mistake]
    frames = {
        id(one): PLAIN[kind](one)
        for one in (recs, *options.values())
        if isinstance(one, pl.DataFrame)
    }
    given = {name: frames.get(id(one), one) for name, one in options.items()}
    by, metric = given.pop("by", None), given.pop("metric", "ndcg@5")
    given |= {"memory": "1GB"} if kind == "lazy" else {}
    rec = rf.rec(frames[id(recs)], **given)

    found = told(lambda: rec.evaluate(metric, by=by))
    assert found[0].startswith(f"{check}: ")
    # ids that are written another way are none in common, too
    assert len(found) == 1 + (check == "id_spellings")


@pytest.mark.parametrize(("mistake", "lazy"), in_turn([*MISTAKES, *ODD], [True, False], fast=6))
def test_the_audit_finds_it_on_lazy_frames_too(mistake: str, *, lazy: bool):
    recs, options, check = (MISTAKES | ODD)[mistake]

    assert check in checks(recs, lazy=lazy, **options)


WHOLE = USERS.join(ITEMS.select("item"), how="cross").with_columns(
    rank=pl.int_range(1, pl.len() + 1).over("user")
)
JUDGED = RECS.rec(truth=JOINED).judge()
LONG = models(RECS).filter((pl.col("model") == "a") | (pl.col("rank") <= 7))
RIGHT: dict[str, tuple[pl.DataFrame, dict[str, Any]]] = {
    "ranks from 2 of one item each": (
        RECS.filter(pl.col("rank") == 2 + pl.col("user") % 5),
        {"truth": TRUTH},
    ),
    "a cut-off that one list reaches": (
        many(RECS.filter((pl.col("rank") <= 4) | (pl.col("user") == 1))),
        {"truth": many(TRUTH)},
    ),
    "lists that nearly return the truth": (
        many(RECS),
        {"truth": pl.concat([LIKED_NEXT, many(TRUTH)])},
    ),
    "text that is no answer": (RECS, {"truth": answers("clicked", "no", "yes", "shop")}),
    "an answer of another name beside a column": (
        RECS,
        {"truth": answers("shop", "no", "yes").with_columns(page=pl.lit("a"))},
    ),
    "genres in lists": (
        RECS,
        {
            "truth": TRUTH,
            "items": GENRES.with_columns(pl.col("genre").str.split("|")),
            "metric": "diversity(of=genre)@5",
        },
    ),
    "codes that differ by case": (
        RECS.with_columns(item=CODES),
        {"truth": TRUTH.with_columns(item=CODES)},
    ),
    "repeats that recframe's own way counts once": (
        RECS,
        {"truth": pl.concat([TRUTH, TRUTH.head(3)])},
    ),
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
                # an item that one user likes, listed for the others
                RECS.with_columns(
                    item=pl.when(pl.col("rank") > 1)
                    .then(pl.col("item") + 9_000)
                    .otherwise(pl.lit(OF_ONE["item"].item())),
                    model=pl.lit("b"),
                ).filter(pl.col("user") != OF_ONE["user"].item()),
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
    "lists alone": (
        RECS.filter(pl.col("user") < 15),
        {"truth": TRUTH, "items": RECS.select("item").unique(), "metric": "coverage@5"},
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
OFTEN = {"fractional_ranks", "users_without_weight", "users_without_lists", "short_lists"}
NEW = {check for *_, check in [*MISTAKES.values(), *ODD.values()]} - OFTEN


@pytest.mark.parametrize("right", RIGHT)
def test_what_looks_like_a_mistake_and_is_none_is_let_be(right: str):
    recs, options = RIGHT[right]
    by = options.get("by")
    own = {"by", "k", "metric"}
    rec = rf.rec(recs, **{name: one for name, one in options.items() if name not in own})
    metric = options.get("metric", f"ndcg@{options.get('k', 5)}")

    assert told(lambda: rec.evaluate(metric, by=by)) == []
    expected = {"no_relevant_beyond_lists"} if right == "a judged frame of listed rows" else set()
    assert NEW.intersection(checks(recs, **options)) == expected


def test_lazy_frames_are_not_looked_at():
    for recs, options, _ in MISTAKES.values():
        by = options.get("by")
        given = {
            name: one.lazy() if isinstance(one, pl.DataFrame) else one
            for name, one in options.items()
            if name not in {"by", "metric"}
        }
        assert told(lambda: rf.rec(recs.lazy(), **given).evaluate("ndcg@5", by=by)) == []  # noqa: B023  asked at once


def many_times(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame for 600 times the users: of so many rows that those of some users are looked at."""
    copies = many(frame).join(pl.DataFrame({"part": range(10)}), how="cross")
    return copies.with_columns(pl.col("user") + 10**6 * pl.col("part")).drop("part")


OF_SOME = [
    "items of another space",
    "users of another space",
    "no item in common",
    "a level above all grades",
    "a truth that was joined with the lists",
    "models that list fewer items",
    "lists of one segment",
]


@pytest.mark.parametrize("mistake", OF_SOME)
def test_some_users_of_many_show_a_mistake(mistake: str):
    recs, options, check = MISTAKES[mistake]
    frames = {
        name: many_times(one) if isinstance(one, pl.DataFrame) else one
        for name, one in options.items()
    }
    rec = rf.rec(many_times(recs), **frames)

    (words,) = told(lambda: rec.evaluate("ndcg@5"))
    assert words.startswith(f"{check}: ")


def test_a_model_of_many_users_without_a_hit_may_be_right():
    liked = TRUTH.with_columns(model=pl.lit("b"))
    lists = models(RECS).join(liked, on=["model", "user", "item"], how="anti")
    rec = rf.rec(many_times(lists), truth=many_times(TRUTH), model="model")

    assert rec.evaluate("ndcg@5").filter(model="b")["ndcg@5"].to_list() == [0]
    assert told(lambda: rec.evaluate("ndcg@5")) == []


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
    recs, options, _ = MISTAKES[mistake]
    recs = many(recs).sample(fraction=1, shuffle=True, seed=1) if shuffled else many(recs)
    given = {
        name: many(one) if isinstance(one, pl.DataFrame) else one for name, one in options.items()
    }

    assert len(recs) > kinds.LARGE
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
    assert words.startswith("model_without_common_ids: ")
    assert "model 'b'" in words


@pytest.mark.parametrize("kind", [pl.DataFrame, pl.LazyFrame])
def test_weights_whose_powers_overflow_are_an_error(kind):
    rec = rf.rec(RECS, truth=TRUTH, users=kind(USERS.with_columns(w=1e100)), weight="w")

    with pytest.raises((rf.DataError, pl.exceptions.PolarsError), match="weight='w' is above 1e"):
        pl.LazyFrame.collect(rec.evaluate("ndcg@5").lazy())
