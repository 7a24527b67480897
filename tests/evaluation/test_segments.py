"""Segments and models: whose property a `by` column is, who counts where, and in what dtype and order it comes back."""

from __future__ import annotations

import datetime as dt
import math

import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asking import ask, liked, ranking, recommended, rows
from buckets_of_users import in_buckets
from frame_kinds import KINDS, sharp_and_thorough
from lanes import in_turn

COUNTRY = ("user", "country")
JUDGED_OF_MODELS = ("model", "user", "item", "rank", "relevance")

# Three users: u finds its item at 1, v at 2, w not at all.
RECS = recommended(u="ab", v="ab", w="ab")
TRUTH = liked(u="a", v="b", w="c")
USERS = rows(("u", "FR"), ("v", "DE"), ("w", "FR"), schema=COUNTRY)
ITEMS = pl.DataFrame({"item": ["a", "b", "c"], "genre": ["x", "y", "y"]})
TWO_MODELS = pl.concat(
    [
        recommended(u="a", v="b").with_columns(model=pl.lit("late")),
        recommended(u="xa").with_columns(model=pl.lit("early")),
    ]
)
MODELS = {"truth": liked(u="a", v="b"), "model": "model"}


def exactly(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def named(frame: pl.DataFrame, **columns: object) -> pl.DataFrame:
    return frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()})


STRANGERS = {
    "truth": liked(u="a"),
    "users": rows(("u", "FR"), ("x", "IT"), ("nobody", "ES"), schema=COUNTRY),
}
ONE_OF_TWO = pl.concat([ranking([1], user="u"), ranking([0], user="v")])
OF_GENRES = {"truth": liked(u="c", v="a"), "items": ITEMS, "by": "genre"}
PERFECT = {"truth": liked(u="ab"), "by": "genre"}
DEVICES = named(USERS, device=["tv", "tv", "phone"])
OF_DEVICES = named(ranking([1, 1, 0, 1], [1, 2, 3, None]), genre=["x", "y", "x", "y"])
WHO = {"user": "who"}
CASES = {
    "a property of users": (RECS, {"users": USERS, "by": "country"}, ["country", "n_users"], [("DE", 1, 0.5), ("FR", 2, 0.5)]),
    "users without attributes are in the null segment, the last": (
        RECS, {"users": USERS[:1], "by": "country"}, ["country", "n_users"], [("FR", 1, 1.0), (None, 2, 0.25)],
    ),
    "those with a null too": (
        RECS, {"users": rows(("u", "FR"), ("v", None), schema=COUNTRY), "by": "country"},
        ["country", "n_users"], [("FR", 1, 1.0), (None, 2, 0.25)],
    ),
    "a segment without users of the truth is none": (
        recommended(u="a", x="a"), {**STRANGERS, "by": "country"}, ["country", "n_users"], [("FR", 1, 1.0)],
    ),
    "but of all": (
        recommended(u="a", x="a"), {**STRANGERS, "by": "country", "universe": "all"}, ["country", "n_users"],
        [("ES", 1, 0.0), ("FR", 1, 1.0), ("IT", 1, 0.0)],
    ),
    "skip leaves out segments without relevant items": (
        ONE_OF_TWO, {"truth": None, "users": USERS, "by": "country", "no_relevant": "skip"},
        ["country", "n_users"], [("FR", 1, 1.0)],
    ),
    "null does not": (
        ONE_OF_TWO, {"truth": None, "users": USERS, "by": "country", "no_relevant": "null"},
        ["country", "n_users"], [("DE", 1, None), ("FR", 1, 1.0)],
    ),
    # a perfect list, a (x) at 1 and b (y) at 2: y has its one item at rank 2 of the whole list
    "a property of items splits lists at their ranks": (
        recommended(u="ab"), {**PERFECT, "items": ITEMS}, ["genre", "n_users"], [("x", 1, 1.0), ("y", 1, 0.5)],
    ),
    "items without attributes are in the null segment": (
        recommended(u="ab"), {**PERFECT, "items": ITEMS[:1]}, ["genre", "n_users"], [("x", 1, 1.0), (None, 1, 0.5)],
    ),
    # u is listed in x alone and likes an item of y alone; v is listed in y and likes an item of x
    "users count in segments of items where the truth has theirs": (
        recommended(u="a", v="b"), OF_GENRES, ["genre", "n_users"], [("x", 1, 0.0), ("y", 1, 0.0)],
    ),
    "of all everywhere": (
        recommended(u="a", v="b"), {**OF_GENRES, "universe": "all"}, ["genre", "n_users"], [("x", 2, 0.0), ("y", 2, 0.0)],
    ),
    "of both nowhere": (recommended(u="a", v="b"), {**OF_GENRES, "universe": "both"}, ["genre", "n_users"], []),
    # x: a at 1; y: b at 2, and d, which was not recommended
    "a column of the judged frame is of its rows": (
        OF_DEVICES, {"truth": None, "by": "genre"}, ["genre", "n_users"], [("x", 1, 1.0), ("y", 1, 0.5)],
    ),
    # w has no recommendations
    "a column of the lists is of their users": (
        named(RECS[:4], country=["FR", "FR", "DE", "DE"]), {"by": "country"}, ["country", "n_users"],
        [("DE", 1, 0.5), ("FR", 1, 1.0), (None, 1, 0.0)],
    ),
    # u's item is in x at 1, v's in y at 2: in x nothing is known of v, nor in y of u
    "users and items cross": (
        RECS[:4], {"truth": TRUTH[:2], "users": USERS, "items": ITEMS, "by": ["genre", "country"]},
        ["genre", "country", "n_users"], [("x", "FR", 1, 1.0), ("y", "DE", 1, 0.5)],
    ),
    "several columns of users": (
        RECS, {"users": DEVICES, "by": ["country", "device"]}, ["country", "device", "n_users"],
        [("DE", "tv", 1, 0.5), ("FR", "phone", 1, 0.0), ("FR", "tv", 1, 1.0)],
    ),
    "each user": (RECS, {"by": "user"}, ["user"], [("u", 1.0), ("v", 0.5), ("w", 0.0)]),
    **{
        f"users of another name by {by}": (
            RECS.rename(WHO), {"truth": TRUTH.rename(WHO), **WHO, "by": by}, ["who"], [("u", 1.0), ("v", 0.5), ("w", 0.0)],
        )
        for by in ("user", "who")
    },
    "users and their country": (
        RECS, {"users": USERS, "by": ["country", "user"]}, ["country", "user"],
        [("DE", "v", 0.5), ("FR", "u", 1.0), ("FR", "w", 0.0)],
    ),
    # a: liked by u, who has it at 1; b: by v at 2; c: by w, listed by nobody
    "items count the users whose truth has them": (
        RECS, {"by": "item"}, ["item", "n_users"], [("a", 1, 1.0), ("b", 1, 0.5), ("c", 1, 0.0)],
    ),
    "a column twice comes once": (
        RECS, {"users": USERS, "by": ["country", "country"]}, ["country", "n_users"], [("DE", 1, 0.5), ("FR", 2, 0.5)],
    ),
    "an empty by is none": (RECS, {"by": []}, ["n_users"], [(3, 0.5)]),
    # `early` has no list for v, and its x is nothing
    "models have the same users": (
        TWO_MODELS, {"model": "model"}, ["model", "n_users"], [("early", 3, exactly(0.5 / 3)), ("late", 3, exactly(2 / 3))],
    ),
    "a judged frame's too": (
        rows(("one", "u", "a", 1, 1), ("one", "u", "b", 2, 1), ("two", "u", "c", 1, None), schema=JUDGED_OF_MODELS),
        {"truth": None, "model": "model"}, ["model", "n_users"], [("one", 1, 1.0), ("two", 1, 0.0)],
    ),
    "models come first": (
        TWO_MODELS, {**MODELS, "users": USERS, "by": "country"}, ["model", "country", "n_users"],
        [("early", "DE", 1, 0.0), ("early", "FR", 1, 0.5), ("late", "DE", 1, 1.0), ("late", "FR", 1, 1.0)],
    ),
    "but where they are named": (
        TWO_MODELS, {**MODELS, "users": USERS, "by": ["country", "model"]}, ["country", "model", "n_users"],
        [("DE", "early", 1, 0.0), ("DE", "late", 1, 1.0), ("FR", "early", 1, 0.5), ("FR", "late", 1, 1.0)],
    ),
    # u's list of `early` has nothing of genre y, that of `late` nothing of x; u likes an item of x alone
    "users count in the segments of any model": (
        named(rows(("u", "a", 1), ("u", "b", 1), schema=("user", "item", "rank")), model=["early", "late"]),
        {"truth": liked(u="a"), "items": ITEMS, "model": "model", "by": "genre"}, ["model", "genre", "n_users"],
        [("early", "x", 1, 1.0), ("late", "x", 1, 0.0)],
    ),
    "users of models": (
        TWO_MODELS, {**MODELS, "by": "user"}, ["model", "user"],
        [("early", "u", 0.5), ("early", "v", 0.0), ("late", "u", 1.0), ("late", "v", 1.0)],
    ),
    "a column named model that is not bound is like others": (
        named(ranking([1, 1]), model=["x", "y"]), {"truth": None, "by": "model"}, ["model", "n_users"],
        [("x", 1, 1.0), ("y", 1, 0.5)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", sharp_and_thorough(KINDS), ids=repr)
def test_segments_have_the_users_and_the_numbers_worked_by_hand(kind):
    for name, (recs, options, keys, expected) in CASES.items():
        found = ask(kind, recs, "mrr", **{"truth": TRUTH} | options)
        assert found.columns == [*keys, "mrr"], name
        assert found.rows() == expected, name


def test_other_metrics_of_segments_are_of_the_whole_list_too(kind):
    perfect = ask(kind, recommended(u="ab"), "ndcg", items=ITEMS, **PERFECT)
    judged = ask(kind, OF_DEVICES, "recall", by="genre")

    assert perfect.rows() == [("x", 1, 1.0), ("y", 1, exactly(1 / math.log2(3)))]
    assert judged.rows() == [("x", 1, 1.0), ("y", 1, 0.5)]
    assert ask(kind, RECS, "n_hits", truth=TRUTH, by="user")["n_hits"].to_list() == [1, 1, 0]


@pytest.mark.parametrize("model", [None, "model"])
def test_a_user_without_a_rank_is_in_no_segment_of_items_where_lists_make_the_universe(kind, model):
    # w has a row that says what is liked, and no list
    judged = rows(("m", "u", "a", 1, 1), ("m", "w", "a", None, 1), schema=JUDGED_OF_MODELS)
    options = {"items": ITEMS, "universe": "recs", "model": model, "by": "genre"}

    found = ask(kind, judged, "recall", **options)

    assert [row[-3:] for row in found.rows()] == [("x", 1, 1.0)]


def test_null_users_of_the_attributes_are_nobody(kind):
    users = pl.concat([USERS, rows((None, "FR"), (None, "DE"), schema=COUNTRY)])

    assert ask(kind, RECS, "mrr", truth=TRUTH, users=users, by="country").rows() == [
        ("DE", 1, 0.5),
        ("FR", 2, 0.5),
    ]
    everyone = ask(kind, RECS, "mrr", truth=TRUTH, users=users, by="country", universe="all")
    assert everyone["n_users"].sum() == 3


def test_group_by_is_by(kind):
    rec = kind(RECS).rec(
        truth=kind(TRUTH), users=kind(USERS.with_columns(device=pl.Series(["tv", "tv", "phone"])))
    )
    expected = kind.read(rec.evaluate("mrr", by=["country", "device"]))

    assert_frame_equal(kind.read(rec.group_by("country", "device").evaluate("mrr")), expected)
    assert_frame_equal(kind.read(rec.group_by(["country", "device"]).mrr()), expected)
    assert_frame_equal(kind.read(rec.group_by("country").group_by("device").mrr()), expected)
    assert_frame_equal(kind.read(rec.group_by("country").mrr(by="device")), expected)


def test_group_by_leaves_the_object_it_was_asked_of(kind):
    rec = kind(RECS).rec(truth=kind(TRUTH), users=kind(USERS))
    rec.group_by("country")

    assert kind.read(rec.evaluate("mrr")).columns == ["n_users", "mrr"]


def test_a_row_that_says_nothing_makes_its_user_count_with_a_model_too(kind):
    frame = rows(
        ("u", "a", 1, 1, 1, "one"),
        ("u", "b", 2, 0, 1, "one"),
        ("v", "a", None, None, 1, "one"),
        ("w", "b", 1, 1, 2, "one"),
        schema=("user", "item", "rank", "relevance", "week", "model"),
    )

    for options in ({}, {"model": "model"}):
        for by, n_users in ((None, [3]), ("week", [2, 1]), ("genre", [2, 2])):
            found = ask(kind, frame, "recall@1", "mrr", items=ITEMS, by=by, **options)
            assert found["n_users"].to_list() == n_users


ASKED_OF_MODELS = {
    "evaluate": ("mrr",), "summarize": ("mrr",), "compare": ("mrr",), "power": ("mrr",),
    "require": ("mrr >= 0.01",), "gaps": ("mrr",), "slices": ("mrr",), "worst": ("mrr",),
    "judge": (),
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "order"), in_turn(ASKED_OF_MODELS.keys(), ["rank", "score", "judged", "NaN"])
)
def test_a_ranked_row_without_a_model_is_an_error_in_words(kind, method, order):
    models = {"NaN": {"early": 1.0, "late": float("nan")}}.get(order, {"early": "a", "late": None})
    model = pl.col("model").replace_strict(models)
    recs = TWO_MODELS.with_columns(model).rename({"rank": "score"} if order == "score" else {})
    # two models to compare without the one that has no name
    other = recs.filter(model=models["early"]).with_columns(
        model=2.0 if order == "NaN" else pl.lit("b")
    )
    recs = pl.concat([recs, other])
    recs = recs.with_columns(relevance=1) if order == "judged" else recs
    bound = {} if order == "judged" else {"truth": kind(liked(u="a", v="b"))}
    rec = kind(recs).rec(model="model", **bound)
    initial = pl.col("user").str.slice(0, 1)
    by = {"by": initial} if method in {"slices", "gaps"} else {}

    said = "a ranked row has no model: the column 'model' is null or NaN there"
    with pytest.raises((rf.DataError, pl.exceptions.PolarsError), match=said):
        kind.read(getattr(rec, method)(*ASKED_OF_MODELS[method], **by))
    found = kind.read(rec.audit())
    assert ["null_models", "error"] in [
        list(row) for row in found.select("check", "severity").rows()
    ]


def test_a_judged_row_that_nobody_lists_may_have_no_model_and_is_truth_of_all(kind):
    # u likes a and b: early lists a first, late b second, and nobody lists c of v
    rows = [
        ("early", "u", "a", 1, 1),
        ("late", "u", "b", 2, 1),
        (None, "v", "c", None, 1),
        (None, "u", "d", None, 0),
    ]
    recs = pl.DataFrame(rows, ["model", "user", "item", "rank", "relevance"], orient="row")

    assert ask(kind, recs, "mrr", model="model").rows() == [("early", 2, 0.5), ("late", 2, 0.25)]
    assert "null_models" not in kind.read(kind(recs).rec(model="model").audit())["check"]


@pytest.mark.filterwarnings("ignore:models_of_other_users")
def test_a_row_without_a_model_is_found_among_many():
    n = 30_000
    recs = pl.DataFrame({"model": ["a", "b"] * n, "user": range(2 * n), "item": 1, "rank": 1})
    truth = pl.DataFrame({"user": range(2 * n), "item": 1})
    one = recs.with_columns(model=pl.when(pl.col("user") != 77).then("model"))

    assert recs.rec(truth=truth, model="model").evaluate("mrr").height == 2
    for method in ("evaluate", "summarize", "compare"):
        with pytest.raises(rf.DataError, match="a ranked row has no model"):
            getattr(one.rec(truth=truth, model="model"), method)("mrr")
    with pytest.raises(rf.DataError, match="a ranked row has no model"):
        in_buckets(one.lazy().rec(truth=truth.lazy(), model="model"), "mrr")


def test_judge_gives_every_model_the_whole_truth(kind):
    rec = kind(TWO_MODELS).rec(truth=kind(liked(u="ab")), model="model")
    found = kind.read(rec.judge()).sort("model", "item")

    assert found.columns == ["model", "user", "item", "rank", "relevance"]
    assert found.rows() == [
        ("early", "u", "a", 2, 1),
        ("early", "u", "b", None, 1),
        ("early", "u", "x", 1, None),
        ("late", "u", "a", 1, 1),
        ("late", "u", "b", None, 1),
    ]


DAY = dt.date(2026, 1, 2)
VALUES = [
    (pl.String, ["a", "b"]),
    (pl.Int8, [-5, 7]),
    (pl.UInt64, [1, 2**63 + 1]),
    (pl.Float32, [0.5, 1.5]),
    (pl.Boolean, [False, True]),
    (pl.Date, [DAY, DAY + dt.timedelta(days=1)]),
    (
        pl.Datetime("us", "UTC"),
        [dt.datetime(2026, 1, day, tzinfo=dt.timezone.utc) for day in (1, 2)],
    ),
    (pl.Enum(["z", "a"]), ["z", "a"]),
    (pl.Categorical(), ["a", "b"]),
    (pl.Struct({"x": pl.Int64}), [{"x": 1}, {"x": 2}]),
]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(("dtype", "values"), VALUES, ids=[str(dtype) for dtype, _ in VALUES])
@pytest.mark.parametrize("owner", ["users", "items", "rows"])
def test_a_by_column_comes_back_in_its_dtype_and_order(dtype, values, owner, lazy):
    low, high = values
    column = pl.Series([high, None, low], dtype=dtype)
    frame = rows(("u", "a", 1, 1), ("v", "b", 1, 0), ("w", "c", 2, 1))
    sides = (
        {"users": pl.DataFrame({"user": ["u", "v", "w"], "segment": column})}
        if owner == "users"
        else {}
    )
    sides |= (
        {"items": pl.DataFrame({"item": ["a", "b", "c"], "segment": column})}
        if owner == "items"
        else {}
    )
    frame = frame.with_columns(segment=column) if owner == "rows" else frame

    found = (
        (frame.lazy() if lazy else frame)
        .rec(**sides)
        .evaluate("mrr", by="segment")
        .lazy()
        .collect()
    )

    assert found.schema["segment"] == dtype
    assert found["segment"].to_list() == [low, high, None]
    assert found["mrr"].to_list() == [0.5, 1, 0]


@pytest.mark.parametrize(("values", "dtype"), [([True, False], "boolean"), ([2, 1], "Int64")])
def test_numbers_and_booleans_without_a_null_become_the_nullable_ones_beside_a_null_segment(
    values, dtype
):
    users = pd.DataFrame({"user": ["u", "v"], "segment": values})

    found = (
        rows(("u", "a", 1, 1), ("v", "b", 1, 1), ("w", "c", 1, 1))
        .to_pandas()
        .rec(users=users)
        .mrr(by="segment")
    )

    assert found["segment"].dtype == dtype
    assert found["segment"].tolist() == [*sorted(values), pd.NA]
