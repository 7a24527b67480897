"""Segments and models by hand, their dtypes and their order, and rows without a model; `laws` has what a segment is."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import polars as pl
import pytest

import recframe as rf
from asking import ask, liked, ranking, recommended, rows
from buckets_of_users import in_buckets
from frame_kinds import KINDS, sharp_and_thorough
from lanes import in_turn

COUNTRY = ("user", "country")

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


def named(frame: pl.DataFrame, **columns: object) -> pl.DataFrame:
    return frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()})


OF_DEVICES = named(ranking([1, 1, 0, 1], [1, 2, 3, None]), genre=["x", "y", "x", "y"])
WHO = {"user": "who"}
CASES = {
    "a property of users, the null segment last": (
        RECS, {"users": USERS[:2], "by": "country"}, ["country", "n_users"], [("DE", 1, 0.5), ("FR", 1, 1.0), (None, 1, 0.0)],
    ),
    # a perfect list, a (x) at 1 and b (y) at 2: y has its one item at rank 2 of the whole list
    "a property of items splits lists at their ranks": (
        recommended(u="ab"), {"truth": liked(u="ab"), "items": ITEMS, "by": "genre"}, ["genre", "n_users"],
        [("x", 1, 1.0), ("y", 1, 0.5)],
    ),
    # x: a at 1; y: b at 2, and d, which was not recommended
    "a column of the judged frame is of its rows": (
        OF_DEVICES, {"truth": None, "by": "genre"}, ["genre", "n_users"], [("x", 1, 1.0), ("y", 1, 0.5)],
    ),
    # the click at rank 1, the cart at rank 2 of the whole list
    "a column of the truth alone is of its rows": (
        recommended(u="ab"), {"truth": named(liked(u="ab"), event=["click", "cart"]), "by": "event"},
        ["event", "n_users"], [("cart", 1, 0.5), ("click", 1, 1.0)],
    ),
    "null users of the attributes are nobody": (
        RECS, {"users": pl.concat([USERS, rows((None, "FR"), (None, "DE"), schema=COUNTRY)]), "by": "country"},
        ["country", "n_users"], [("DE", 1, 0.5), ("FR", 2, 0.5)],
    ),
    **{
        f"users of another name by {by}": (
            RECS.rename(WHO), {"truth": TRUTH.rename(WHO), **WHO, "by": by}, ["who"], [("u", 1.0), ("v", 0.5), ("w", 0.0)],
        )
        for by in ("user", "who")
    },
    "a column twice comes once": (
        RECS, {"users": USERS, "by": ["country", "country"]}, ["country", "n_users"], [("DE", 1, 0.5), ("FR", 2, 0.5)],
    ),
    "an empty by is none": (RECS, {"by": []}, ["n_users"], [(3, 0.5)]),
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
    name = pl.lit(2.0 if order == "NaN" else "b")
    recs = pl.concat([recs, recs.filter(model=models["early"]).with_columns(model=name)])
    recs = recs.with_columns(relevance=1) if order == "judged" else recs
    bound = {} if order == "judged" else {"truth": kind(liked(u="a", v="b"))}
    rec = kind(recs).rec(model="model", **bound)
    by = {"by": pl.col("user").str.head(1)} if method in {"slices", "gaps"} else {}

    said = "a ranked row has no model: the column 'model' is null or NaN there"
    with pytest.raises((rf.DataError, pl.exceptions.PolarsError), match=said):
        kind.read(getattr(rec, method)(*ASKED_OF_MODELS[method], **by))
    found = kind.read(rec.audit()).select("check", "severity")
    assert ("null_models", "error") in found.rows()


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


PARTS = pl.Enum(["z", "a", "q"])
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
    column = pl.Series("segment", [high, None, low], dtype=dtype)
    frame, sides = rows(("u", "a", 1, 1), ("v", "b", 1, 0), ("w", "c", 2, 1)), {}
    if owner == "rows":
        frame = frame.with_columns(column)
    else:
        sides[owner] = frame.select(owner[:-1], column)

    rec = (frame.lazy() if lazy else frame).rec(**sides)
    found = rec.evaluate("mrr", by="segment").lazy().collect()

    assert found.schema["segment"] == dtype
    assert found["segment"].to_list() == [low, high, None]
    assert found["mrr"].to_list() == [0.5, 1, 0]


@pytest.mark.parametrize(("values", "dtype"), [([True, False], "boolean"), ([2, 1], "Int64")])
def test_numbers_and_booleans_of_pandas_become_nullable_beside_a_null_segment(values, dtype):
    users = pd.DataFrame({"user": ["u", "v"], "segment": values})
    frame = rows(("u", "a", 1, 1), ("v", "b", 1, 1), ("w", "c", 1, 1)).to_pandas()

    found = frame.rec(users=users).mrr(by="segment")

    assert found["segment"].dtype == dtype
    assert found["segment"].tolist() == [*sorted(values), pd.NA]


@pytest.mark.parametrize(
    ("lists", "truth"), [(PARTS, pl.String()), (PARTS, pl.Enum(["q", "a", "z"]))]
)
def test_segments_of_two_dtypes_come_back_as_text(lists, truth):
    week = pl.Series("week", ["z", "a", "q"])
    recs = pl.DataFrame({"user": [1, 2], "item": 1, "rank": 1}).with_columns(week[:2].cast(lists))
    liked = pl.DataFrame({"user": [1, 2, 3], "item": 1}).with_columns(week.cast(truth))

    found = recs.rec(truth=liked).mrr(by="week")

    assert found.drop("n_users").rows() == [("a", 1), ("q", 0), ("z", 1)]


def test_a_plan_by_many_values_scans_each_frame_as_often_as_by_two():
    def scans(n_values: int) -> int:
        number = pl.int_range(3000)
        recs = pl.select(
            user=number % 50, item=number, rank=number // 50 + 1, week=number % n_values
        ).lazy()
        plan = recs.rec(truth=recs.drop("rank")).evaluate("ndcg@10", "recall@10", by="week")
        assert len(plan.collect()) == n_values
        return plan.explain().count("DF [")

    assert scans(1000) == scans(2)


@pytest.mark.filterwarnings("ignore:no_common_users")
def test_a_part_of_the_users_shows_every_model_where_another_part_has_its_lists():
    # n has a list in week 2 alone, of one user; whatever part that one is in, n has a row of every week
    recs = pl.DataFrame(
        {"user": [1, 2, 3], "item": 1, "rank": 1, "week": [1, 1, 2], "model": [*"mmn"]}
    )
    truth = pl.DataFrame({"user": [9], "item": [1], "week": [1]})

    rec = recs.rec(truth=truth, model="model", items=truth.select("item"))
    found = in_buckets(rec, "mrr", "coverage", by="week")

    counts = [("m", 1, 1, 2), ("m", 2, 0, 0), ("n", 1, 1, 0), ("n", 2, 0, 1)]
    assert [row[:4] for row in found.rows()] == counts
