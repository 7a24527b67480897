"""`by` takes expressions of Polars: the segments are those of a column that holds what the expression gives."""

from __future__ import annotations

import warnings

import pandas as pd
import polars as pl
import polars.testing
import pytest

import recframe as rf
from asking import liked, recommended
from buckets_of_users import in_buckets
from frame_kinds import KINDS, Kind, sharp_and_thorough
from lanes import crossed

ARROW = Kind("arrow", pl.DataFrame.to_arrow, pl.DataFrame)
on_kinds = pytest.mark.parametrize("kind", [*sharp_and_thorough(KINDS), ARROW], ids=str)
RECS = recommended(u="abc", v="bca", w="cab").with_columns(week=pl.col("rank"))
TRUTH = liked(u="b", v="ab", w="c").with_columns(week=pl.lit(1, pl.Int64))
USERS = pl.DataFrame(
    {"user": ["u", "v", "w"], "age": [25, 38, None], "x": [1.0, float("nan"), 2.0]}
)
ITEMS = pl.DataFrame(
    {"item": ["a", "b", "c"], "year": [1994, 1999, 2001], "genre": ["x", "y", "y"]}
)
AGE, YEAR = pl.col("age"), pl.col("year")
SIDES = {"truth": TRUTH, "users": USERS, "items": ITEMS}
CASES = {
    "users": AGE // 10 * 10,
    "items": YEAR // 10 * 10,
    "text": pl.when(AGE < 30).then(pl.lit("young")).otherwise(pl.lit("old")).alias("^age$"),
    "two columns": pl.concat_str("genre", YEAR.cast(pl.String)).alias("len"),
    "beside an aggregation": (AGE.mean() < AGE).alias("above"),
    "window": YEAR.max().over("genre").alias("latest"),
    "NaN": (pl.col("x") * 2).alias("double"),
    "ids": pl.col("user").is_in(["u"]).alias("is u"),
    "rows of both frames": (pl.col("week") % 2).alias("odd"),
    "a dtype of its own": AGE.cast(pl.Int8).alias("small"),
    "a function of Python": AGE.map_elements(
        lambda age: "old" if age > 30 else "young", return_dtype=pl.String
    ),
}


def with_columns(by: pl.Expr) -> tuple[pl.DataFrame, dict[str, pl.DataFrame], str]:
    """Make the column that an expression gives in every frame that has its columns."""
    name, needs = by.meta.output_name(), set(by.meta.root_names())
    of_ids = needs <= {"user", "item"}
    made = {
        side: frame.with_columns(by.fill_nan(None) if side == "users" and name == "double" else by)
        if needs <= set(frame.columns) and not (of_ids and side in {"users", "items"})
        else frame
        for side, frame in {"recs": RECS, **SIDES}.items()
    }
    return made.pop("recs"), made, name


@pytest.mark.parametrize(("case", "kind"), crossed(CASES.keys(), [*KINDS, ARROW]))
def test_an_expression_is_the_column_that_it_makes(case, kind):
    recs, sides, name = with_columns(CASES[case])
    expected = recs.rec(**sides).evaluate("recall@2", "mrr", by=name)

    rec = rf.rec(kind(RECS), **{side: kind(frame) for side, frame in SIDES.items()})
    found = kind.read(rec.evaluate("recall@2", "mrr", by=CASES[case]))
    assert found.equals(expected)
    assert found.columns[0] == name
    if kind.name not in {"pandas", "pandas-nullable", "pandas-arrow"}:
        assert found.schema == expected.schema


@on_kinds
def test_names_and_expressions_stand_together(kind):
    rec = rf.rec(kind(RECS), **{side: kind(frame) for side, frame in SIDES.items()})
    several = ["genre", AGE // 10 * 10]

    found = kind.read(rec.evaluate("recall@2", by=several))
    assert found.columns == ["genre", "age", "n_users", "recall@2"]
    assert kind.read(rec.group_by("genre", AGE // 10 * 10).recall(k=2)).equals(found)
    assert kind.read(rec.group_by(several).recall(k=2, by=AGE // 10 * 10)).equals(found)
    one, other = (kind.read(rec.recall(k=2, by=by)) for by in (pl.col("genre"), "genre"))
    assert one.equals(other)
    # within a bound a lazy frame runs at once
    parts = in_buckets(rec, "recall@2", by=several)
    assert (parts if isinstance(parts, pl.DataFrame) else kind.read(parts)).equals(found)


def test_intervals_keep_their_order_and_dtype():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        bins = AGE.cut([30, 100], labels=["young", "old", "none"])

    found = RECS.rec(**SIDES).mrr(by=bins)
    assert found["age"].dtype == USERS.select(bins)["age"].dtype
    assert set(found["age"]) == {"young", "old", None}
    in_pandas = RECS.to_pandas().rec(**SIDES).mrr(by=bins)
    assert isinstance(in_pandas, pd.DataFrame)


def test_columns_that_are_bound_under_other_names():
    sales = rf.frame(TRUTH.rename({"user": "customer"}), user="customer")
    recs = RECS.rename({"user": "id"})

    for root in ("user", "id"):
        by = pl.col(root).str.to_uppercase()
        found = recs.rec(sales, user="id").recall(k=2, by=by)
        assert found.columns[0] == root
        assert found.drop("n_users").rows() == [("U", 1.0), ("V", 0.5), ("W", 1.0)]


def test_the_audit_and_explain_take_them_too():
    rec = RECS.rec(**SIDES)

    assert rec.audit(by=AGE // 10).equals(rec.audit(by="age"))
    assert rec.explain("recall@2", "ranx", by=AGE // 10 * 10).frame.columns[0] == "age"
