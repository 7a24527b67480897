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
from lanes import in_turn

log2 = math.log2
COUNTRY = ("user", "country")
JUDGED_OF_MODELS = ("model", "user", "item", "rank", "relevance")

# Three users: u finds its item at 1, v at 2, w not at all.
RECS = recommended(u="ab", v="ab", w="ab")
TRUTH = liked(u="a", v="b", w="c")
USERS = rows(("u", "FR"), ("v", "DE"), ("w", "FR"), schema=COUNTRY)
ITEMS = pl.DataFrame({"item": ["a", "b", "c"], "genre": ["x", "y", "y"]})


def exactly(value):
    return pytest.approx(value, rel=1e-12, abs=1e-12)


def test_a_property_of_users_splits_the_users(kind):
    found = ask(kind, RECS, "mrr", truth=TRUTH, users=USERS, by="country")

    assert found.columns == ["country", "n_users", "mrr"]
    assert found.rows() == [("DE", 1, 0.5), ("FR", 2, 0.5)]


def test_a_user_without_a_row_of_attributes_is_in_the_null_segment_which_comes_last(kind):
    found = ask(kind, RECS, "mrr", truth=TRUTH, users=USERS[:1], by="country")

    assert found.rows() == [("FR", 1, 1.0), (None, 2, 0.25)]


def test_a_null_attribute_is_the_null_segment_too(kind):
    users = rows(("u", "FR"), ("v", None), schema=COUNTRY)

    assert ask(kind, RECS, "mrr", truth=TRUTH, users=users, by="country").rows() == [
        ("FR", 1, 1.0),
        (None, 2, 0.25),
    ]


@pytest.mark.parametrize("model", [None, "model"])
def test_a_user_without_a_rank_is_in_no_segment_of_items_where_lists_make_the_universe(kind, model):
    # w has a row that says what is liked, and no list
    judged = rows(("m", "u", "a", 1, 1), ("m", "w", "a", None, 1), schema=JUDGED_OF_MODELS)
    options = {"items": ITEMS, "universe": "recs", "model": model, "by": "genre"}

    found = ask(kind, judged, "recall", **options)

    assert [row[-3:] for row in found.rows()] == [("x", 1, 1.0)]


def test_a_segment_without_users_of_the_truth_is_not_in_the_result(kind):
    recs = recommended(u="a", x="a")
    users = rows(("u", "FR"), ("x", "IT"), ("nobody", "ES"), schema=COUNTRY)

    assert ask(kind, recs, "mrr", truth=liked(u="a"), users=users, by="country").rows() == [
        ("FR", 1, 1.0)
    ]
    everyone = ask(kind, recs, "mrr", truth=liked(u="a"), users=users, by="country", universe="all")
    assert everyone.rows() == [("ES", 1, 0.0), ("FR", 1, 1.0), ("IT", 1, 0.0)]


def test_skip_leaves_out_the_segments_without_relevant_items(kind):
    frame = pl.concat([ranking([1], user="u"), ranking([0], user="v")])
    options = {"users": USERS, "by": "country"}

    assert ask(kind, frame, "mrr", **options, no_relevant="skip").rows() == [("FR", 1, 1.0)]
    assert ask(kind, frame, "mrr", **options, no_relevant="null").rows() == [
        ("DE", 1, None),
        ("FR", 1, 1.0),
    ]


def test_a_property_of_items_splits_each_list_at_its_ranks(kind):
    # a perfect list, a (x) at 1 and b (y) at 2: genre y has its one item at rank 2 of the whole list
    found = ask(
        kind, recommended(u="ab"), "ndcg", "mrr", truth=liked(u="ab"), items=ITEMS, by="genre"
    )

    assert found.rows() == [("x", 1, 1.0, 1.0), ("y", 1, exactly(1 / log2(3)), 0.5)]


def test_an_item_without_a_row_of_attributes_is_in_the_null_segment(kind):
    found = ask(kind, recommended(u="ab"), "mrr", truth=liked(u="ab"), items=ITEMS[:1], by="genre")

    assert found.rows() == [("x", 1, 1.0), (None, 1, 0.5)]


def test_a_user_counts_in_the_segments_of_items_where_the_universe_has_a_row_of_theirs(kind):
    # u is listed in x alone and likes an item of y alone; v is listed in y and likes an item of x
    recs, truth = recommended(u="a", v="b"), liked(u="c", v="a")
    of_two = {"truth": truth, "items": ITEMS, "by": "genre"}

    assert ask(kind, recs, "recall", **of_two).rows() == [("x", 1, 0.0), ("y", 1, 0.0)]
    both = ask(kind, recs, "recall", **of_two, universe="all")
    assert both.rows() == [("x", 2, 0.0), ("y", 2, 0.0)]
    assert ask(kind, recs, "recall", **of_two, universe="both").rows() == []


def test_a_column_of_the_judged_frame_is_a_property_of_its_rows(kind):
    frame = ranking([1, 1, 0, 1], [1, 2, 3, None]).with_columns(
        genre=pl.Series(["x", "y", "x", "y"])
    )

    # x: a at 1; y: b at 2, and d, which was not recommended
    assert ask(kind, frame, "mrr", "recall", by="genre").rows() == [
        ("x", 1, 1.0, 1.0),
        ("y", 1, 0.5, 0.5),
    ]


def test_a_column_of_the_recommendations_is_a_property_of_the_user(kind):
    recs = RECS.filter(pl.col("user") != "w").with_columns(
        country=pl.col("user").replace({"u": "FR", "v": "DE"})
    )

    found = ask(kind, recs, "mrr", truth=TRUTH, by="country")
    # w has no recommendations
    assert found.rows() == [("DE", 1, 0.5), ("FR", 1, 1.0), (None, 1, 0.0)]


def test_users_and_items_together_cross(kind):
    found = ask(
        kind,
        recommended(u="ab", v="ab"),
        "mrr",
        truth=liked(u="a", v="b"),
        users=USERS,
        items=ITEMS,
        by=["genre", "country"],
    )

    # u's item is in x at 1, v's in y at 2: in x nothing is known of v, nor in y of u
    assert found.columns == ["genre", "country", "n_users", "mrr"]
    assert found.rows() == [("x", "FR", 1, 1.0), ("y", "DE", 1, 0.5)]


def test_several_columns_of_users(kind):
    users = USERS.with_columns(device=pl.Series(["tv", "tv", "phone"]))

    found = ask(kind, RECS, "mrr", truth=TRUTH, users=users, by=["country", "device"])
    assert found.rows() == [("DE", "tv", 1, 0.5), ("FR", "phone", 1, 0.0), ("FR", "tv", 1, 1.0)]


def test_by_user_gives_one_row_for_each_user_and_no_support(kind):
    found = ask(kind, RECS, "mrr", "n_hits", truth=TRUTH, by="user")

    assert found.columns == ["user", "mrr", "n_hits"]
    assert found.rows() == [("u", 1.0, 1.0), ("v", 0.5, 1.0), ("w", 0.0, 0.0)]


@pytest.mark.parametrize("by", ["user", "who"])
def test_a_bound_name_of_the_user_and_the_role_are_one_column(kind, by):
    recs, truth = RECS.rename({"user": "who"}), TRUTH.rename({"user": "who"})

    found = ask(kind, recs, "mrr", truth=truth, user="who", by=by)
    assert found.columns == ["who", "mrr"]
    assert found["who"].to_list() == ["u", "v", "w"]


def test_a_user_and_their_country_are_one_row(kind):
    found = ask(kind, RECS, "mrr", truth=TRUTH, users=USERS, by=["country", "user"])

    assert found.columns == ["country", "user", "mrr"]
    assert found.rows() == [("DE", "v", 0.5), ("FR", "u", 1.0), ("FR", "w", 0.0)]


def test_by_item_counts_the_users_whose_truth_has_the_item(kind):
    # a: liked by u, who has it at 1; b: by v at 2; c: liked by w, listed by nobody
    found = ask(kind, RECS, "mrr", truth=TRUTH, by="item")

    assert found.rows() == [("a", 1, 1.0), ("b", 1, 0.5), ("c", 1, 0.0)]


def test_a_column_named_twice_comes_once(kind):
    assert ask(kind, RECS, "mrr", truth=TRUTH, users=USERS, by=["country", "country"]).columns == [
        "country",
        "n_users",
        "mrr",
    ]


def test_an_empty_by_is_none(kind):
    assert ask(kind, RECS, "mrr", truth=TRUTH, by=[]).rows() == [(3, 0.5)]


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


TWO_MODELS = pl.concat(
    [
        recommended(u="a", v="b").with_columns(model=pl.lit("late")),
        recommended(u="xa").with_columns(model=pl.lit("early")),
    ]
)


def test_every_model_is_held_against_the_same_users(kind):
    # `early` has no list for v, and its x is nothing
    found = ask(kind, TWO_MODELS, "mrr", truth=liked(u="a", v="b", w="c"), model="model")

    assert found.columns == ["model", "n_users", "mrr"]
    assert found.rows() == [("early", 3, exactly(0.5 / 3)), ("late", 3, exactly(2 / 3))]


def test_every_model_of_a_judged_frame_is_held_against_the_same_truth(kind):
    frame = rows(
        ("u", "a", 1, 1, "one"),
        ("u", "b", 2, 1, "one"),
        ("u", "c", 1, None, "two"),
        schema=("user", "item", "rank", "relevance", "model"),
    )

    assert ask(kind, frame, "recall", model="model").rows() == [("one", 1, 1.0), ("two", 1, 0.0)]


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


def test_a_bound_model_comes_first_unless_by_has_it(kind):
    options = {"truth": liked(u="a", v="b"), "users": USERS, "model": "model"}

    assert ask(kind, TWO_MODELS, "mrr", **options, by="country").columns == [
        "model",
        "country",
        "n_users",
        "mrr",
    ]
    found = ask(kind, TWO_MODELS, "mrr", **options, by=["country", "model"])
    assert found.columns == ["country", "model", "n_users", "mrr"]
    assert found.rows() == [
        ("DE", "early", 1, 0.0),
        ("DE", "late", 1, 1.0),
        ("FR", "early", 1, 0.5),
        ("FR", "late", 1, 1.0),
    ]


def test_a_user_counts_in_the_segments_of_any_model(kind):
    # u's list of `early` has nothing of genre y, that of `late` nothing of x; u likes an item of x alone
    recs = pl.concat(
        [
            recommended(u="a").with_columns(model=pl.lit("early")),
            recommended(u="b").with_columns(model=pl.lit("late")),
        ]
    )

    found = ask(kind, recs, "n_hits", truth=liked(u="a"), items=ITEMS, model="model", by="genre")
    assert found.rows() == [
        ("early", "x", 1, 1.0),
        ("late", "x", 1, 0.0),
    ]


ASKED_OF_MODELS = {
    "evaluate": ("mrr",),
    "summarize": ("mrr",),
    "compare": ("mrr",),
    "power": ("mrr",),
    "require": ("mrr >= 0.01",),
    "gaps": ("mrr",),
    "slices": ("mrr",),
    "worst": ("mrr",),
    "judge": (),
}


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


def test_by_user_and_model(kind):
    found = ask(kind, TWO_MODELS, "mrr", truth=liked(u="a", v="b"), model="model", by="user")

    assert found.columns == ["model", "user", "mrr"]
    assert found.rows() == [
        ("early", "u", 0.5),
        ("early", "v", 0.0),
        ("late", "u", 1.0),
        ("late", "v", 1.0),
    ]


def test_a_column_named_model_that_is_not_bound_is_a_column_like_others(kind):
    frame = ranking([1, 1]).with_columns(model=pl.Series(["x", "y"]))

    assert ask(kind, frame, "n_hits").rows() == [(1, 2.0)]
    assert ask(kind, frame, "n_hits", by="model").rows() == [("x", 1, 1.0), ("y", 1, 1.0)]


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


def in_pandas(*values):
    return pd.DataFrame(
        {"user": ["u", "v", "w"], "segment": values[0] if len(values) == 1 else list(values)}
    )


PANDAS = {
    "str": (pd.Series(["b", "c", "a"]), ["a", "b", "c"]),
    "object": (pd.Series(["b", "c", "a"], dtype=object), ["a", "b", "c"]),
    "string": (pd.Series(["b", "c", "a"], dtype="string"), ["a", "b", "c"]),
    "category": (
        pd.Categorical(["b", "c", "a"], categories=["c", "unused", "a", "b"]),
        ["c", "a", "b"],
    ),
    "ordered": (
        pd.Categorical(["b", "c", "a"], categories=["c", "unused", "a", "b"], ordered=True),
        ["c", "a", "b"],
    ),
    "numbers": (pd.Categorical([10, 2, 3], categories=[3, 2, 99, 10]), [3, 2, 10]),
    "cut": (
        pd.cut([30, 10, 20], [0, 15, 25, 40]),
        [pd.Interval(0, 15), pd.Interval(15, 25), pd.Interval(25, 40)],
    ),
    "int8": (pd.Series([2, 3, -1], dtype="int8"), [-1, 2, 3]),
    "uint16": (pd.Series([2, 3, 1], dtype="uint16"), [1, 2, 3]),
    "Int8": (pd.Series([2, 3, 1], dtype="Int8"), [1, 2, 3]),
    "arrow": (pd.Series([2, 3, 1], dtype="int16[pyarrow]"), [1, 2, 3]),
    "float32": (pd.Series([0.5, 1.5, -1], dtype="float32"), [-1, 0.5, 1.5]),
    "datetime": (
        pd.Series(pd.to_datetime(["2026-01-02", "2026-01-03", "2026-01-01"])),
        list(pd.date_range("2026-01-01", periods=3)),
    ),
    "zone": (
        pd.Series(pd.to_datetime(["2026-01-02", "2026-01-03", "2026-01-01"])).dt.tz_localize(
            "Europe/Paris"
        ),
        list(pd.date_range("2026-01-01", periods=3, tz="Europe/Paris")),
    ),
    "timedelta": (
        pd.Series(pd.to_timedelta([2, 3, 1], unit="s")),
        list(pd.to_timedelta([1, 2, 3], unit="s")),
    ),
}


@pytest.mark.parametrize("name", PANDAS)
def test_a_pandas_by_column_comes_back_in_its_dtype_and_order(name):
    column, expected = PANDAS[name]
    frame = rows(("u", "a", 1, 1), ("v", "b", 2, 1), ("w", "c", 4, 1)).to_pandas()
    users = in_pandas(column)

    found = frame.rec(users=users).evaluate("mrr", by="segment")

    assert found["segment"].dtype == users["segment"].dtype
    assert found["segment"].tolist() == expected
    mrr = dict(zip(users["segment"], [1, 1 / 2, 1 / 4], strict=True))
    assert found["mrr"].tolist() == [mrr[value] for value in expected]
    assert isinstance(found.index, pd.RangeIndex)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Categorical(["b", None, "a"], categories=["b", "unused", "a"]), ["b", "a"]),
        (pd.Series(["b", None, "a"]), ["a", "b"]),
        (pd.Series([2, None, 1], dtype="Int8"), [1, 2]),
        (pd.Series([True, None, False], dtype="boolean"), [False, True]),
        (
            pd.Series(pd.to_datetime(["2026-01-02", None, "2026-01-01"])),
            list(pd.date_range("2026-01-01", periods=2)),
        ),
    ],
    ids=["category", "str", "Int8", "boolean", "datetime"],
)
def test_the_null_segment_of_a_pandas_frame_keeps_the_dtype_and_comes_last(column, expected):
    users = in_pandas(column)

    found = (
        rows(("u", "a", 1, 1), ("v", "b", 1, 1), ("w", "c", 1, 1))
        .to_pandas()
        .rec(users=users)
        .mrr(by="segment")
    )

    assert found["segment"].dtype == users["segment"].dtype
    assert found["segment"].tolist()[:2] == expected
    assert found["segment"].isna().tolist() == [False, False, True]
    assert found["n_users"].tolist() == [1, 1, 1]


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


def test_a_row_property_of_two_frames_with_other_categories():
    recs = pd.DataFrame(
        {
            "user": ["u", "v"],
            "item": ["a", "b"],
            "rank": [1, 1],
            "genre": pd.Categorical(["x", "y"]),
        }
    )
    truth = pd.DataFrame(
        {"user": ["v", "v"], "item": ["b", "c"], "genre": pd.Categorical(["y", "z"])}
    )

    found = recs.rec(truth=truth).recall(by="genre")

    # y: b is listed; z: c is not; v has no row of genre x
    assert found.astype({"genre": str}).to_dict("list") == {
        "genre": ["y", "z"],
        "n_users": [1, 1],
        "recall": [1.0, 0.0],
    }


def test_numbers_of_segments_do_not_depend_on_each_other(kind):
    # a metric by legacy wrapper gives the global value for each segment in another library
    found = ask(kind, RECS, "mrr", "hit_rate@1", truth=TRUTH, users=USERS, by="user")
    overall = ask(kind, RECS, "mrr", "hit_rate@1", truth=TRUTH, users=USERS)

    assert found["mrr"].to_list() == [1, 0.5, 0]
    assert overall.row(0) == (3, exactly(0.5), exactly(1 / 3))
    assert rf.rec(RECS, truth=TRUTH).mrr() == exactly(0.5)
