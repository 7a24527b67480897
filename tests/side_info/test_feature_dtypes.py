"""A feature of items means the same whatever the dtype of its column."""

from __future__ import annotations

from datetime import date
from typing import Any

import polars as pl
import pytest

import recframe as rf
from asking import ask, liked, recommended, rows
from frame_kinds import KINDS, Kind
from lanes import crossed, in_turn


def at_2_and_3(*names: str) -> list[Any]:
    return [rf.parse(name) @ k for name in names for k in (2, 3)]


RECS = recommended(u1="abc", u2="cba", u3="dbe", u4="e", u5="fga")
SIDES = {
    "truth": liked(u1="ab", u2="c", u3="de", u5="a"),
    "train": rows(
        *(("u1", "d"), ("u2", "e"), ("u2", "b"), ("u3", "a"), ("u4", "a"), ("u6", "g")),
        schema=("user", "item"),
    ),
}
OF_CATEGORIES = at_2_and_3(
    "diversity", "diversity(distance=jaccard)", "category_coverage", "alpha_ndcg", "miscalibration",
    "miscalibration(divergence=js)", "serendipity", "exposure_disparity",
    "exposure_disparity(target=relevant)",
)  # fmt: skip
OF_VECTORS = at_2_and_3("diversity", "diversity(scaled=true)", "serendipity")
GENRES = {"a": 1, "b": 1, "c": 2, "d": None, "e": 3, "f": 2, "g": 1}
TAGS = {"a": [1], "b": [1, 2], "c": [2, 2, None], "d": None, "e": [], "f": [3, 1], "g": [2, 1, 3]}
VECTORS = {
    "a": [1, 0.5],
    "b": [0, 2],
    "c": [-1, 1],
    "d": None,
    "e": [0, 0],
    "f": [0.25, 0.25],
    "g": [4, 3],
}

CATEGORY_DTYPES = {
    "text": (lambda value: f"g{value}", pl.String),
    "integer": (lambda value: value, pl.Int64),
    "small": (lambda value: value, pl.UInt8),
    "date": (lambda value: date(2026, 1, value), pl.Date),
    "categorical": (lambda value: f"g{value}", pl.Categorical),
    "enum": (lambda value: f"g{value}", pl.Enum(["g3", "g1", "g2"])),
}
VECTOR_DTYPES = {
    "double": pl.List(pl.Float64),
    "single": pl.List(pl.Float32),
    "array": pl.Array(pl.Float64, 2),
    "small array": pl.Array(pl.Float32, 2),
}


def described(values: dict[str, Any], dtype: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {"item": list(values), "feature": list(values.values())},
        schema={"item": pl.String, "feature": dtype},
    )


def every_user(
    items: pl.DataFrame, metrics: list[Any], kind: Kind = KINDS[0]
) -> list[dict[str, Any]]:
    """The values of each user and those of all."""
    found = [
        ask(kind, RECS, *metrics, by=by, items=items, **SIDES).to_dicts() for by in ("user", None)
    ]
    return [row for part in found for row in part]


def same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> bool:
    return [*map(flat, found)] == [
        pytest.approx(flat(row), rel=1e-12, abs=1e-12) for row in expected
    ]


def flat(row: dict[str, Any]) -> list[float]:
    return [
        -1.0 if value is None else value for value in row.values() if not isinstance(value, str)
    ]


@pytest.mark.parametrize(
    ("dtype", "kind"), in_turn([*CATEGORY_DTYPES, *CATEGORY_DTYPES], [*KINDS[::-1]], fast=6)
)
def test_a_category_is_the_same_in_every_dtype(dtype: str, kind: Kind):
    if dtype in {"integer", "small"} and kind.name == "pandas":
        pytest.skip("NumPy has no null integer")
    make, column = CATEGORY_DTYPES[dtype]
    expected = every_user(
        described({item: value and f"g{value}" for item, value in GENRES.items()}, pl.String),
        OF_CATEGORIES,
    )
    values = {item: None if value is None else make(value) for item, value in GENRES.items()}
    assert same(every_user(described(values, column), OF_CATEGORIES, kind), expected)


@pytest.mark.parametrize(
    "dtype",
    [pytest.param(one, marks=[pytest.mark.slow] * (at % 2)) for at, one in enumerate(CATEGORY_DTYPES)],
)  # fmt: skip
def test_a_list_of_categories_is_the_same_in_every_dtype(dtype: str):
    make, column = CATEGORY_DTYPES[dtype]

    def listed(make: Any) -> dict[str, Any]:
        return {item: own and [one and make(one) for one in own] for item, own in TAGS.items()}

    expected = every_user(
        described(listed(lambda value: f"g{value}"), pl.List(pl.String)), OF_CATEGORIES
    )
    assert same(every_user(described(listed(make), pl.List(column)), OF_CATEGORIES), expected)


def test_lists_of_one_category_are_that_category():
    alone = {item: value and [value] for item, value in GENRES.items()}
    expected = every_user(described(GENRES, pl.Int64), OF_CATEGORIES)
    assert same(every_user(described(alone, pl.List(pl.Int64)), OF_CATEGORIES), expected)


@pytest.mark.parametrize("dtype", VECTOR_DTYPES)
def test_a_vector_is_the_same_in_every_dtype(dtype: str):
    expected = every_user(described(VECTORS, pl.List(pl.Float64)), OF_VECTORS)
    assert same(every_user(described(VECTORS, VECTOR_DTYPES[dtype]), OF_VECTORS), expected)


def test_the_length_of_a_vector_counts_for_nothing():
    longer = {item: own and [1000.0 * value for value in own] for item, own in VECTORS.items()}
    expected = every_user(described(VECTORS, pl.List(pl.Float64)), OF_VECTORS)
    assert same(every_user(described(longer, pl.List(pl.Float64)), OF_VECTORS), expected)


BITS = {
    "a": [1, 0, 0],
    "b": [1, 1, 0],
    "c": [0, 0, 1],
    "d": None,
    "e": [],
    "f": [0, 1, 1],
    "g": [1, 1, 1],
}


@pytest.mark.parametrize(
    ("metric", "inner", "kind"),
    crossed(
        ["diversity", "serendipity", "category_coverage", "alpha_ndcg", "exposure_disparity"],
        [pl.Int64, pl.UInt8, pl.Boolean],
        # nothing of a LazyFrame is looked at before it runs: the audit finds it
        [one for one in KINDS if one.name not in {"lazy", "streaming"}],
    ),
)
def test_a_multi_hot_vector_is_not_read_as_the_categories_0_and_1(
    kind: Kind, metric: str, inner: Any
):
    values = {
        item: own and [*map(bool, own)] if inner == pl.Boolean else own
        for item, own in BITS.items()
    }
    items = described(values, pl.List(inner))
    said = rf"^{metric} would read 'feature' of the frame items= as the categories 0 and 1: it is List\(.*\), 3 values"
    with pytest.raises(rf.ColumnError, match=said) as raised:
        ask(kind, RECS, f"{metric}(of=feature)@3", items=items, **SIDES)
    takes_vectors = metric in {"diversity", "serendipity"}
    assert ("pl.col('feature').cast(pl.Array(pl.Float64, 3))" in str(raised.value)) == takes_vectors
    if takes_vectors:
        cast = items.with_columns(pl.col("feature").cast(pl.List(pl.Float64)))
        bits = items.filter(pl.col("feature").list.len() > 0).with_columns(
            pl.col("feature").cast(pl.Array(pl.Float64, 3))
        )
        assert ask(kind, RECS, metric, items=bits, **SIDES).equals(
            ask(kind, RECS, metric, items=cast, **SIDES)
        )


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
    items = described(dict(zip("abc", lists, strict=True)), pl.List(pl.Int64))
    assert RECS.rec(items=items, **SIDES).evaluate("diversity@3", "category_coverage@3").height == 1
