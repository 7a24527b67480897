"""Frames that cannot be meant are warned of at the call and found by the audit; those that look like them are not."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import recframe as rf
from audited_frames import told
from lanes import in_turn
from recframe.frames.kinds import kind as kinds

Scene = tuple[pl.DataFrame, dict[str, Any]]
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
REPEATED = pl.concat([TRUTH, TRUTH.head(3)])
SCORED = RECS.select("user", "item", score=11.0 - pl.col("rank"))
USERS = pl.DataFrame({"user": range(N_USERS)})
ITEMS = pl.DataFrame({"item": range(N_ITEMS)}).with_columns(genre=pl.col("item") % 3)


def models(recs: pl.DataFrame, **of_b: pl.Expr) -> pl.DataFrame:
    """Two models, the second with other columns."""
    a, b = (recs.with_columns(model=pl.lit(name)) for name in ("a", "b"))
    return pl.concat([a, b.with_columns(**of_b)])


def week(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(week=pl.format("w{}", pl.col("user") % 3))


def checks(recs: pl.DataFrame, *, lazy: bool = False, **options: Any) -> list[str]:
    recs, given = given_as(PLAIN["lazy" if lazy else "eager"], (recs, options))
    by, k, _ = given.pop("by", None), given.pop("k", 5), given.pop("metric", None)
    return rf.rec(recs, **given).audit(k, by=by).lazy().collect()["check"].to_list()


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
OF_ONE = TRUTH.filter(pl.len().over("item") == 1).sort("item").head(1)
GRADE = TRUTH.with_columns(relevance=3)


def scene(recs: pl.DataFrame, truth: pl.DataFrame | None = TRUTH, **options: Any) -> Scene:
    """Lists and the options of a call: with a truth, and the models that the lists have."""
    bound = {"model": "model"} if "model" in recs.columns else {}
    return recs, bound | ({} if truth is None else {"truth": truth}) | options


# the check that finds a mistake
MISTAKES: dict[str, tuple[str, Scene]] = {
    "spelt otherwise": ("by_without_common_values", scene(
        RECS.with_columns(country=pl.lit("DE")), TRUTH.with_columns(country=pl.lit("de")), by="country")),
    "scores that are NaN": ("scores_without_order", scene(SCORED.with_columns(score=math.nan))),
    "scores of one model that are equal": ("scores_without_order", scene(models(SCORED, score=pl.lit(0.5)))),
    "items of another space": ("model_without_common_ids", scene(FOREIGN_ITEMS)),
    "users of another space": ("model_without_common_ids", scene(FOREIGN_USERS)),
    "models that are pooled": ("pooled_models", scene(models(SCORED).rename({"model": "algo_name"}))),
    "models with few items in common": ("pooled_models", scene(pl.concat([
        SCORED.with_columns(variant=pl.lit("x")),
        # the last item of each list alone is one of the other model's
        SCORED.with_columns(
            item=pl.when(pl.col("score") > 1).then(pl.col("item") + 500).otherwise("item"), variant=pl.lit("y")),
        SCORED.with_columns(pl.col("item") + 900, variant=pl.lit("z"))]))),
    "a truth that was joined with the lists": ("no_relevant_beyond_lists", scene(RECS, JOINED)),
    "ranks over all rows": ("ranks_over_all_lists", scene(AT_ONCE)),
    "ranks over all rows of each model": ("ranks_over_all_lists", scene(models(AT_ONCE))),
    "models that list fewer items": ("models_of_unequal_depth", scene(SHALLOW)),
    "scored models that list fewer items": ("models_of_unequal_depth", scene(
        SHALLOW.select("user", "item", "model", score=-pl.col("rank")))),
    "ranks that are means over ties": ("fractional_ranks", scene(MEANS)),
    "no lists": ("no_lists", scene(RECS.clear())),
    "no lists of models": ("no_lists", scene(models(RECS).clear())),
    "ranks that are null": ("no_lists", scene(RECS.with_columns(rank=pl.lit(None, pl.Float64)))),
    "ranks from 2": ("no_first_rank", scene(RECS.with_columns(pl.col("rank") + 1))),
    "a cut-off beyond all lists": ("short_lists", scene(many(RECS.filter(pl.col("rank") <= 4)), many(TRUTH))),
    "lists that return the truth": ("lists_of_the_truth", scene(many(RECS), LIKED_FIRST)),
    "the lists as their own truth": ("truth_is_the_lists", scene(RECS, RECS)),
    "a truth that answers no": ("unbound_two_values", scene(RECS, answers("clicked", "no", "yes"))),
    "Booleans in text": ("unbound_two_values", scene(RECS, answers("liked", "True", "False"))),
    "0 and 1 in text": ("unbound_two_values", scene(RECS, answers("label", "0", "1"))),
    "grades in text": ("unbound_grades", scene(RECS, answers("stars", "1", "5", "3"))),
    "lists of one segment": ("users_without_lists", scene(RECS.filter(pl.col("user") < 15))),
    "hardly any user in common": ("no_common_users", scene(
        many(RECS), many(TRUTH).with_columns(pl.col("user") + 5_930))),
    "no item in common": ("no_common_items", scene(RECS.with_columns(pl.col("item") + 1_000))),
    "users in another case": ("id_spellings", scene(USERS_IN_TEXT[0], USERS_IN_TEXT[1].with_columns(LOWER))),
    "a level above all grades": ("unreached_min_relevance", scene(RECS, GRADE, min_relevance=4)),
    "genres in one text": ("categories_in_one_text", scene(RECS, items=GENRES, metric="diversity(of=genre)@5")),
    "pairs that a profile counts twice": ("repeats_under_a_profile", scene(RECS, REPEATED, profile="rectools")),
    "weights of few": ("users_without_weight", scene(RECS, users=RARE, weight="w")),
    "a join of the truth failed": ("by_without_common_values", scene(
        RECS.with_columns(week=pl.lit("w1")), TRUTH.with_columns(week=pl.lit(None, dtype=pl.String)), by="week")),
}  # fmt: skip
PLAIN: dict[str, Callable[[pl.DataFrame], Any]] = {
    "eager": lambda one: one,
    "pandas": pl.DataFrame.to_pandas,
    "lazy": pl.DataFrame.lazy,
}
# what the audit alone finds
ITEMS_IN_TEXT = TRUTH.with_columns(pl.col("item").cast(pl.String))
ODD: dict[str, tuple[str, Scene]] = {
    "half of the users in another case": ("id_spellings", scene(
        USERS_IN_TEXT[0], USERS_IN_TEXT[1].with_columns(LOWER.str.replace("u(.*[02468])$", "U$1")))),
    "zeros in front": ("id_spellings", scene(RECS.with_columns(item=pl.format("00{}", "item")), ITEMS_IN_TEXT)),
    "users named nan": ("users_named_null", scene(
        RECS.with_columns(pl.when(pl.col("user") > 0).then("user").cast(pl.String).fill_null("nan").alias("user")),
        TRUTH.with_columns(pl.col("user").cast(pl.String)))),
    "a model without a rank": ("no_lists", scene(
        models(RECS, rank=pl.lit(None, pl.Int64)).with_columns(relevance=1), None)),
}  # fmt: skip


def given_as(kind: Callable[[pl.DataFrame], Any], scene: Scene) -> tuple[Any, dict[str, Any]]:
    """Lists and options with the frames of a kind, of which one that stands twice stays one."""
    recs, options = scene
    whole = [one for one in (recs, *options.values()) if isinstance(one, pl.DataFrame)]
    frames = {id(one): kind(one) for one in whole}
    return frames[id(recs)], {name: frames.get(id(one), one) for name, one in options.items()}


def asked(kind: Callable[[pl.DataFrame], Any], scene: Scene, **more: Any) -> list[str]:
    """The warnings of a call on frames of a kind."""
    recs, options = given_as(kind, scene)
    by, k, metric = (options.pop(name, None) for name in ("by", "k", "metric"))
    rec = rf.rec(recs, **options, **more)
    return told(lambda: rec.evaluate(metric or f"ndcg@{k or 5}", by=by))


def bound(kind: str) -> dict[str, str]:
    """What has a LazyFrame's rows looked at."""
    return {"memory": "1GB"} if kind == "lazy" else {}


@pytest.mark.parametrize(("mistake", "kind"), in_turn(MISTAKES.keys(), PLAIN.keys()))
def test_a_mistake_is_warned_of_once(mistake: str, kind: str):
    check, scene = MISTAKES[mistake]

    found = asked(PLAIN[kind], scene, **bound(kind))

    assert found[0].startswith(f"{check}: ")
    # ids that are written another way are none in common, too
    assert len(found) == 1 + (check == "id_spellings")


@pytest.mark.parametrize(("mistake", "lazy"), in_turn([*MISTAKES, *ODD], [True, False], fast=6))
def test_the_audit_finds_it_on_lazy_frames_too(mistake: str, *, lazy: bool):
    check, (recs, options) = (MISTAKES | ODD)[mistake]

    assert check in checks(recs, lazy=lazy, **options)


WHOLE = USERS.join(ITEMS.select("item"), how="cross").with_columns(
    rank=pl.int_range(1, pl.len() + 1).over("user")
)
JUDGED = RECS.rec(truth=JOINED).judge()
LONG = models(RECS).filter((pl.col("model") == "a") | (pl.col("rank") <= 7))
# an item that one user likes, listed for the others
OF_OTHERS = RECS.with_columns(
    item=pl.when(pl.col("rank") > 1).then(pl.col("item") + 9_000).otherwise(OF_ONE["item"].item()),
    model=pl.lit("b"),
).filter(pl.col("user") != OF_ONE["user"].item())
FEW = pl.DataFrame(
    {"user": [1, 2], "item": [1, 2], "rank": [1, 2], "model": ["a", "b"], "week": [1, 2]}
)
RIGHT: dict[str, Scene] = {
    "ranks from 2 of one item each": scene(RECS.filter(pl.col("rank") == 2 + pl.col("user") % 5)),
    "a cut-off that one list reaches": scene(
        many(RECS.filter((pl.col("rank") <= 4) | (pl.col("user") == 1))), many(TRUTH)),
    "lists that nearly return the truth": scene(many(RECS), pl.concat([LIKED_NEXT, many(TRUTH)])),
    "text that is no answer": scene(RECS, answers("clicked", "no", "yes", "shop")),
    "an answer of another name beside a column": scene(
        RECS, answers("shop", "no", "yes").with_columns(page=pl.lit("a"))),
    "genres in lists": scene(
        RECS, items=GENRES.with_columns(pl.col("genre").str.split("|")), metric="diversity(of=genre)@5"),
    "codes that differ by case": scene(RECS.with_columns(item=CODES), TRUTH.with_columns(item=CODES)),
    "repeats that recframe's own way counts once": scene(RECS, REPEATED),
    "ranks": scene(RECS),
    "scores": scene(SCORED),
    "models": scene(models(RECS)),
    "a week that the truth alone has": scene(
        week(RECS), TRUTH.with_columns(week=pl.format("w{}", pl.col("user") % 4)), by="week"),
    "a week with a few nulls": scene(
        RECS.with_columns(week=pl.when(pl.col("user") > 5).then(1)), TRUTH.with_columns(week=1), by="week"),
    "nulls in both frames": scene(
        RECS.with_columns(week=pl.when(pl.col("user") < 9).then(1)),
        TRUTH.with_columns(week=pl.when(pl.col("user") < 12).then(1)), by="week"),
    "equal scores that the expectation is asked of": scene(EQUAL, ties="expected"),
    "one item a list, all of one score": scene(EQUAL.group_by("user").first()),
    "scores of which some are equal": scene(SCORED.with_columns(pl.col("score").clip(upper_bound=4))),
    "a model without a hit": scene(pl.concat([models(RECS).filter(model="a"), OF_OTHERS]), universe="truth"),
    "a source of candidates": scene(
        SCORED.with_columns(method=pl.when(pl.col("item") % 2 == 0).then(1).otherwise(2))),
    "an arm of each user": scene(
        SCORED.with_columns(variant=pl.when(pl.col("user") < 20).then(pl.lit("a")).otherwise(pl.lit("b")))),
    "a judged frame of listed rows": scene(JUDGED, None),
    "lists of all items": scene(WHOLE),
    "lists of all items but the history": scene(*(
        one.filter((pl.col("user") + pl.col("item")) % 9 > 0) for one in (WHOLE, TRUTH))),
    "lists that are said to be all that is known": scene(RECS, JOINED, relevant_from="list"),
    "lists of drawn items, each with one that is relevant": scene(
        RECS, RECS.filter(pl.col("rank") == 1 + pl.col("user") % 5).drop("rank")),
    "models that leave out a few items": scene(
        pl.concat(WHOLE.filter(pl.col("rank") <= 100 - 3 * n).with_columns(model=n) for n in (0, 1)), k=100),
    "one list": scene(AT_ONCE.filter(user=0), universe="both"),
    "ranks of single items among all": scene(
        pl.DataFrame({"user": range(40), "item": range(40), "rank": [7 + 13 * user for user in range(40)]})),
    "models of other depths beyond k": scene(LONG),
    "models of one depth below k": scene(models(RECS).filter(pl.col("rank") <= 3)),
    "some users with short lists": scene(
        models(RECS).filter((pl.col("user") % 2 == 0) | (pl.col("rank") <= 2) | (pl.col("model") == "a"))),
    "ranks that are whole floats": scene(RECS.with_columns(pl.col("rank").cast(pl.Float64))),
    "ranks between others": scene(RECS.with_columns(rank=pl.col("rank") * 1.2)),
    "weights of most": scene(
        RECS, users=USERS.with_columns(w=pl.when(pl.col("user") > 5).then(2.0)), weight="w"),
    "lists alone": scene(
        RECS.filter(pl.col("user") < 15), items=RECS.select("item").unique(), metric="coverage@5"),
    "a title beside": scene(RECS.with_columns(title=pl.col("item").cast(pl.String))),
    "ranks tied in pairs": scene(RECS.with_columns(rank=pl.col("rank") - 1 + pl.col("rank") % 2)),
    "lists of few users who alone count": scene(RECS.filter(pl.col("user") < 15), universe="recs"),
    "lists of most users": scene(RECS.filter(pl.col("user") < 25)),
    "one rank in all lists": scene(RECS.with_columns(rank=1, source=pl.lit("web"))),
    "a segment of users": scene(models(RECS), users=week(USERS), by="week"),
    "systems of a column that does not tell them apart": scene(
        pl.concat([models(RECS), RECS.with_columns(model=pl.lit("a"))]).rename({"model": "system"}).drop("rank")
        .with_columns(score=1 / (pl.int_range(pl.len()) % LENGTH + 1))),
    "large weights": scene(RECS, users=USERS.with_columns(w=1e60), weight="w"),
    "a few rows of all kinds of oddness": scene(
        FEW, pl.DataFrame({"user": [1, 2], "item": [1, 3], "week": [1, 2]}), by="week"),
}  # fmt: skip
OFTEN = {"fractional_ranks", "users_without_weight", "users_without_lists", "short_lists"}
NEW = {check for check, _ in (MISTAKES | ODD).values()} - OFTEN


@pytest.mark.parametrize(("right", "kind"), in_turn(RIGHT.keys(), PLAIN.keys()))
def test_what_looks_like_a_mistake_and_is_none_is_let_be(right: str, kind: str):
    recs, options = RIGHT[right]

    assert asked(PLAIN[kind], RIGHT[right], **bound(kind)) == []
    expected = {"no_relevant_beyond_lists"} if right == "a judged frame of listed rows" else set()
    assert NEW.intersection(checks(recs, **options)) == expected


def test_lazy_frames_are_not_looked_at():
    for check, scene in MISTAKES.values():
        if check != "truth_is_the_lists":  # which a schema shows
            assert asked(pl.DataFrame.lazy, scene) == []


def many_times(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame for 720 times the users: of so many rows that those of some users are looked at."""
    copies = many(frame).join(pl.DataFrame({"part": range(12)}), how="cross")
    return copies.with_columns(pl.col("user") + 10**6 * pl.col("part")).drop("part")


OF_SOME = [
    "items of another space", "users of another space", "no item in common", "a level above all grades",
    "a truth that was joined with the lists", "models that list fewer items", "lists of one segment",
]  # fmt: skip


@pytest.mark.parametrize("mistake", OF_SOME)
def test_some_users_of_many_show_a_mistake(mistake: str):
    check, scene = MISTAKES[mistake]

    (words,) = asked(many_times, scene)
    assert words.startswith(f"{check}: ")


def test_some_lists_of_many_show_that_they_return_the_truth():
    truth = RECS.filter(pl.col("rank") <= 2).drop("rank")
    (words,) = asked(many_times, scene(RECS, truth))
    assert words.startswith("lists_of_the_truth: ")
    assert "lists_of_the_truth" not in checks(many(RECS), truth=LIKED_NEXT)


def test_a_model_of_many_users_without_a_hit_may_be_right():
    liked = TRUTH.with_columns(model=pl.lit("b"))
    lists = models(RECS).join(liked, on=["model", "user", "item"], how="anti")
    rec = rf.rec(many_times(lists), truth=many_times(TRUTH), model="model")

    assert rec.evaluate("ndcg@5").filter(model="b")["ndcg@5"].to_list() == [0]
    assert told(lambda: rec.evaluate("ndcg@5")) == []


LARGE_MISTAKES = [
    "scores of one model that are equal", "items of another space", "models that are pooled",
    "a truth that was joined with the lists", "models that list fewer items",
    "scored models that list fewer items", "ranks that are means over ties", "weights of few",
]  # fmt: skip


def shuffled(frame: pl.DataFrame) -> pl.DataFrame:
    return many(frame).sample(fraction=1, shuffle=True, seed=1)


ORDERS = {"sorted": many, "shuffled": shuffled}


@pytest.mark.parametrize(("mistake", "order"), in_turn(LARGE_MISTAKES, ORDERS.keys()))
def test_some_rows_of_a_large_frame_show_a_mistake(mistake: str, order: str):
    _, scene = MISTAKES[mistake]

    assert len(many(scene[0])) > kinds.LARGE
    assert len(asked(ORDERS[order], scene)) == 1


@pytest.mark.parametrize("recs", [RECS, SCORED, models(RECS), models(SCORED), LONG])
@pytest.mark.parametrize("order", ORDERS)
def test_a_large_frame_that_is_meant_is_let_be(recs: pl.DataFrame, order: str):
    assert asked(ORDERS[order], scene(recs)) == []
