"""Features of items: the same whatever the dtype of their column, vectors of any form, and what is no feature."""

from __future__ import annotations

import math
import random
from datetime import date
from itertools import combinations
from operator import mul
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asking import ask, ask_one, liked, recommended
from frame_kinds import KINDS, Kind
from lanes import crossed, in_turn

RECS = recommended(u1="abc", u2="cba", u3="dbe", u4="e", u5="fga")
SIDES = {
    "truth": liked(u1="ab", u2="c", u3="de", u5="a"),
    "train": liked(u1="d", u2="eb", u3="a", u4="a", u6="g"),
}
OF_CATEGORIES = [
    rf.parse(name) @ k
    for name in (
        "diversity", "diversity(distance=jaccard)", "category_coverage", "alpha_ndcg",
        "miscalibration", "miscalibration(divergence=js)", "serendipity", "exposure_disparity",
        "exposure_disparity(target=relevant)",
    )
    for k in (2, 3)
]  # fmt: skip
OF_VECTORS = ["diversity@2", "diversity@3", "diversity(scaled=true)@3", "serendipity@3"]
GENRES = {"a": 1, "b": 1, "c": 2, "d": None, "e": 3, "f": 2, "g": 1}
TAGS = {"a": [1], "b": [1, 2], "c": [2, 2, None], "d": None, "e": [], "f": [3, 1], "g": [2, 1, 3]}
VECTORS = dict(
    zip("abcdefg", [[1, 0.5], [0, 2], [-1, 1], None, [0, 0], [0.25] * 2, [4, 3]], strict=True)
)
CATEGORIES = {
    "text": ("g{}".format, pl.String),
    "integer": (int, pl.Int64),
    "small": (int, pl.UInt8),
    "date": (lambda value: date(2026, 1, value), pl.Date),
    "categorical": ("g{}".format, pl.Categorical),
    "enum": ("g{}".format, pl.Enum(["g3", "g1", "g2"])),
}


def of(values: dict[str, Any], dtype: Any) -> pl.DataFrame:
    schema = {"item": pl.String, "feature": dtype}
    return pl.DataFrame({"item": [*values], "feature": [*values.values()]}, schema=schema)


def assert_same(found: pl.DataFrame, expected: pl.DataFrame, metrics: Any, kind: Kind) -> None:
    """The values of each user and those of all are the same by the features of two frames."""
    for by in ("user", None):
        rows = [
            ask(way, RECS, *metrics, by=by, items=items, **SIDES)
            for way, items in ((kind, found), (KINDS[0], expected))
        ]
        assert_frame_equal(*rows, rel_tol=1e-12, abs_tol=1e-12, check_dtypes=False)


@pytest.mark.parametrize(
    ("dtype", "kind"), in_turn([*CATEGORIES, *CATEGORIES], [*KINDS[::-1]], fast=6)
)
def test_a_category_and_a_list_of_them_are_the_same_in_every_dtype(dtype: str, kind: Kind):
    make, column = CATEGORIES[dtype]
    text = "g{}".format
    tags = {item: own and [one and make(one) for one in own] for item, own in TAGS.items()}
    as_text = {item: own and [one and text(one) for one in own] for item, own in TAGS.items()}
    expected = of(as_text, pl.List(pl.String))
    assert_same(of(tags, pl.List(column)), expected, OF_CATEGORIES, KINDS[0])

    if dtype in {"integer", "small"} and kind.name == "pandas":
        pytest.skip("NumPy has no null integer")
    genres = {item: value and make(value) for item, value in GENRES.items()}
    expected = of({item: value and text(value) for item, value in GENRES.items()}, pl.String)
    assert_same(of(genres, column), expected, OF_CATEGORIES, kind)
    alone = {item: value and [value] for item, value in genres.items()}
    assert_same(of(alone, pl.List(column)), expected, OF_CATEGORIES, KINDS[0])


@pytest.mark.parametrize(
    "dtype",
    [pl.List(pl.Float64), pl.List(pl.Float32), pl.Array(pl.Float64, 2), pl.Array(pl.Float32, 2)],
    ids=str,
)
@pytest.mark.parametrize("scale", [1, 1024])
def test_a_vector_is_the_same_in_every_dtype_and_of_any_length(dtype: Any, scale: int):
    vectors = {item: own and [scale * value for value in own] for item, own in VECTORS.items()}
    assert_same(of(vectors, dtype), of(VECTORS, pl.List(pl.Float64)), OF_VECTORS, KINDS[0])


BITS = dict(
    zip("abcdefg", [[1, 0, 0], [1, 1, 0], [0, 0, 1], None, [], [0, 1, 1], [1, 1, 1]], strict=True)
)


@pytest.mark.parametrize(
    ("metric", "inner", "kind"),
    crossed(
        ["diversity", "serendipity"],
        [pl.Int64, pl.UInt8, pl.Boolean],
        [one for one in KINDS if one.name not in {"lazy", "streaming"}],
    ),
)
def test_a_multi_hot_vector_is_an_array_or_a_list_of_floats(kind: Kind, metric: str, inner: Any):
    items = of(BITS, pl.List(pl.Int64)).cast({"feature": pl.List(inner)})
    cast = items.cast({"feature": pl.List(pl.Float64)})
    bits = items.filter(pl.col("feature").list.len() > 0).cast({"feature": pl.Array(pl.Float64, 3)})

    found, expected = (ask(kind, RECS, metric, items=one, **SIDES) for one in (bits, cast))

    assert found.equals(expected)


@pytest.mark.parametrize(
    "lists",
    [
        [[0], [1], [1]],  # one category for each
        [[0, 1], [1, 0], [0, 1]],  # both
        [[0, 1], [1], [0]],
        [[0, 1, 2], [1, 2, 3], [0, 3, 2]],
        [[2, 5], [5, 1], [0, 1]],
        [[0, 1, None], [1, 0, None], [0, 1, None]],
        [[1, 1], [0], [1]],
    ],
    ids=str,
)
def test_lists_of_categories_that_are_0_and_1_are_left_alone(lists: list[Any]):
    items = of(dict(zip("abc", lists, strict=True)), pl.List(pl.Int64))
    assert RECS.rec(items=items, **SIDES).evaluate("diversity@3", "category_coverage@3").height == 1


@pytest.mark.parametrize("dtype", [pl.List(pl.Float64), pl.Array(pl.Float64, 7)], ids=str)
@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_closed_form_is_the_mean_over_pairs(kind: Kind, dtype: Any, scale: float):
    rng = random.Random("closed form")  # noqa: S311  test data
    vectors = {item: [rng.uniform(-1, 1) for _ in range(7)] for item in "abcdefgh"}
    items = of({item: [scale * x for x in own] for item, own in vectors.items()}, dtype)

    pairs = [
        1 - sum(map(mul, one, other)) / math.hypot(*one) / math.hypot(*other)
        for one, other in combinations(vectors.values(), 2)
    ]
    found = ask_one(kind, recommended(u="abcdefgh"), "diversity", items=items)["diversity"]
    assert found == pytest.approx(math.fsum(pairs) / len(pairs), rel=1e-12)


@pytest.mark.parametrize("kind", KINDS[:4], ids=repr)
@pytest.mark.parametrize("dtype", [pl.List(pl.Float64), pl.Array(pl.Float64, 2)], ids=str)
@pytest.mark.parametrize(
    "none", [None, [0.0, 0.0], [math.nan, 1.0], [1.0, math.inf], [None, 1.0], [None, None]], ids=str
)
def test_a_vector_without_a_direction_is_no_feature(kind: Kind, dtype: Any, none: Any):
    items = of({"a": [1.0, 0.0], "b": [0.0, 1.0], "c": none}, dtype)

    found = ask_one(kind, recommended(u="abc"), "diversity", items=items)
    assert found["diversity"] == pytest.approx(1.0)


def test_an_array_in_a_lazy_frame_is_not_made_longer():
    items = of(VECTORS, pl.Array(pl.Float32, 2)).lazy()
    plan = RECS.lazy().rec(items=items).evaluate("diversity")

    assert "EXPLODE" not in plan.explain()


def test_whole_numbers_that_pandas_has_as_floats_are_categories():
    items = of({"a": 1, "b": 1, "c": 2, "d": None}, pl.Int64).to_pandas()
    assert str(items["feature"].dtype) == "float64"

    # of the three pairs that have a category two differ
    assert recommended(u="abcd").to_pandas().rec(items=items).diversity() == pytest.approx(2 / 3)
