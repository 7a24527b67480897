"""Ids and categories as numbers, which plans of large eager frames rely on where they fit: no number changes by them."""

from __future__ import annotations

import random
from collections.abc import Callable

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf

N_USERS, N_ITEMS, LENGTH = 2_100, 300, 10
OF_CATEGORIES = [
    "miscalibration@10",
    "miscalibration(weight=log)@5",
    "miscalibration(divergence=hellinger)",
    "diversity@10",
    "diversity@3",
    "category_coverage@10",
    "category_coverage(relevance=true)@5",
    "serendipity@10",
    "serendipity@4",
    "alpha_ndcg@10",
    "err_ia@5",
    "nrbp(normalizer=best)@5",
]
OF_REFERENCE = ["rbo@10", "rbo(form=min)@4", "rbo(form=truncated)", "overlap@10"]
Ids = Callable[[str], pl.Expr]
"""Gives a column's numbers from 0 up as ids."""
IDS: dict[str, Ids] = {
    "from 0": pl.col,
    "small": lambda name: pl.col(name).cast(pl.UInt16),
    "below 0": lambda name: pl.col(name) - 150,
    "at 2^31": lambda name: pl.col(name) + 2**31 - 200,
    "ends of Int64": lambda name: (
        pl.col(name) % 150 + pl.when(pl.col(name) < 150).then(-(2**63)).otherwise(2**63 - 2_000)
    ),
    "far apart": lambda name: pl.col(name) * 1_000_003,
    "UInt64": lambda name: pl.col(name).cast(pl.UInt64) + 2**63,
    "text": lambda name: pl.format("{}", name),
}
COLUMNS = {
    "lists": pl.List(pl.String),
    "lists of numbers": pl.List(pl.Int16),
    "text": pl.String,
    "flags": pl.Boolean,
    "enum": pl.Enum([f"g{number}" for number in range(7)]),
}


def frames(ids: Ids, *, in_order: bool) -> dict[str, pl.DataFrame]:
    """Lists that repeat items, in part unknown ones; a train frame with repeats, and with users who have no list."""
    choose = random.Random(3)  # noqa: S311  test data
    users = [user for user in range(N_USERS) for _ in range(LENGTH)]
    lists = [
        (user, min(int(choose.expovariate(0.02)), N_ITEMS - 1), number % LENGTH + 1)
        for number, user in enumerate(users)
    ]
    pairs = [(choose.randrange(N_USERS + 50), choose.randrange(N_ITEMS)) for _ in range(9_000)]
    liked = [(user, item) for user, item, _ in lists if choose.random() < 0.1] + pairs[:3_000]
    if not in_order:
        choose.shuffle(lists)
    other = [(user, (item * 7 + user) % 60, 11 - rank) for user, item, rank in lists[::2]]
    pair = {"user": pl.Int64, "item": pl.Int64}
    made = {
        "recs": pl.DataFrame(lists, schema=pair | {"rank": pl.Int64}, orient="row"),
        "train": pl.DataFrame(pairs + pairs[:99], schema=pair, orient="row"),
        "truth": pl.DataFrame(liked, schema=pair, orient="row"),
        "reference": pl.DataFrame(other, schema=pair | {"rank": pl.Int32}, orient="row"),
    }
    return {
        name: frame.with_columns(ids("user").alias("user"), ids("item").alias("item"))
        for name, frame in made.items()
    }


def items(ids: Ids, dtype: pl.DataType) -> pl.DataFrame:
    """Items with a column of categories, of which some have none."""
    choose = random.Random(5)  # noqa: S311  test data
    known = [number for number in range(N_ITEMS) if number % 11]
    values: list[object]
    if isinstance(dtype, pl.List):
        names = range(7) if dtype.inner.is_integer() else [f"g{number}" for number in range(7)]
        values = [choose.choices(names, k=number % 4) for number in known]
    elif dtype == pl.Boolean:
        values = [choose.choice([True, False, None]) for _ in known]
    else:
        values = [choose.choice([*(f"g{number}" for number in range(7)), None]) for _ in known]
    frame = pl.DataFrame(
        {"item": known, "genre": values}, schema={"item": pl.Int64, "genre": dtype}
    )
    return frame.with_columns(ids("item").alias("item"))


def assert_same(given: dict[str, pl.DataFrame], metrics: list[str], by: str | None) -> None:
    lazy = {name: frame.lazy() for name, frame in given.items()}
    sides = {name: frame for name, frame in given.items() if name != "recs"}
    found = rf.rec(given["recs"])(**sides).evaluate(*metrics, by=by)
    recs = lazy.pop("recs")

    expected = rf.rec(recs)(**lazy).evaluate(*metrics, by=by).collect()

    assert_frame_equal(found, expected, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("ids", IDS)
def test_any_ids_have_the_numbers_of_the_lazy_plan(ids: str, in_order: bool):  # noqa: FBT001  a case
    given = frames(IDS[ids], in_order=in_order)
    given["items"] = items(IDS[ids], pl.List(pl.String))

    assert_same(given, [*OF_CATEGORIES, *OF_REFERENCE], None)


@pytest.mark.parametrize("column", COLUMNS)
def test_any_categories_have_the_numbers_of_the_lazy_plan(column: str):
    given = frames(pl.col, in_order=True)
    given["items"] = items(pl.col, COLUMNS[column])

    assert_same(given, OF_CATEGORIES, "user")


def test_users_of_any_number_have_references_of_any_ranks():
    given = frames(pl.col, in_order=False)
    rank = pl.col("rank")
    ranks = [rank.cast(pl.UInt8), rank / 3, rank // 2 + 1, rank * 2**40]

    for one in ranks:
        given["reference"] = given["reference"].with_columns(rank=one + 1)
        assert_same({name: given[name] for name in ("recs", "reference")}, OF_REFERENCE, "user")
