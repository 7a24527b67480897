"""The lists of rows in any order, by a number for each row, are those of a plain grouping."""

from __future__ import annotations

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from recframe.audit.lists_by_number import lists_by_number

ENDS = {pl.Int8: (-128, 127), pl.UInt16: (0, 2**16 - 1), pl.Int64: (-(2**63), 2**63 - 1)}
MODELS = {"text": ["b", "", "a"], "numbers": [7, -(2**63), 2**63 - 1]}


def frame(seed: int, dtype: type[pl.DataType], end: int, models: str) -> pl.DataFrame:
    """Return rows in any order, of users at an end of their dtype."""
    draw = random.Random(seed)  # noqa: S311
    low, high = ENDS[dtype]
    first = (low, high - 9)[end]
    rows = [
        (draw.choice(MODELS[models]), first + draw.randrange(10), draw.randint(-128, 127))
        for _ in range(draw.choice([1, 5, 300]))
    ]
    schema = {"model": pl.String if models == "text" else pl.Int64, "user": dtype, "rank": pl.Int8}
    return pl.DataFrame(rows, schema, orient="row")


@pytest.mark.parametrize("keys", [["user"], ["model", "user"]])
@pytest.mark.parametrize("models", MODELS)
@pytest.mark.parametrize("end", [0, 1])
@pytest.mark.parametrize("dtype", ENDS)
def test_lists_by_number_are_those_of_a_grouping(dtype, end, models, keys):
    for seed in range(10):
        rows = frame(seed, dtype, end, models)
        lengths = pl.len().cast(pl.Int64).alias("rows")
        plain = rows.group_by(keys).agg(lengths, pl.col("rank").max().alias("last")).sort(keys)
        twice = rows.select(*keys, "rank").is_duplicated().any()

        lists, has_ties = lists_by_number(rows, keys)

        assert_frame_equal(lists.sort(keys), plain)
        assert has_ties == twice


@pytest.mark.parametrize(
    "rows",
    [
        {"model": ["a", "a"], "user": [-(2**62), 2**62], "rank": [1, 2]},
        {"model": ["a", None], "user": [1, 2], "rank": [1, 2]},
        {"model": ["a", "a"], "user": ["1", "2"], "rank": [1, 2]},
        {"model": ["a", "a"], "user": [1, 2], "rank": [1.0, 2.5]},
        {"model": [], "user": [], "rank": []},
    ],
    ids=["too wide", "a null model", "text", "fractions", "nothing"],
)
def test_rows_that_no_number_holds_have_no_answer(rows):
    assert lists_by_number(pl.DataFrame(rows), ["model", "user"]) is None
