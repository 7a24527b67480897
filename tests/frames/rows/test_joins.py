"""Joins and sums by keys, against loops in Python: null is a value of a key, and there may be no key at all."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from recframe.frames.rows.joins import aggregate, joined
from strategies import examples

keys = st.lists(st.sampled_from(["model", "user"]), max_size=2, unique=True)
values = {"model": st.sampled_from([None, "m", "n"]), "user": st.sampled_from([None, 1, 2])}


@st.composite
def rows(draw: st.DrawFn, name: str) -> pl.DataFrame:
    found = draw(
        st.lists(st.tuples(values["model"], values["user"], st.integers(0, 9)), max_size=8)
    )
    return pl.DataFrame(
        found, schema={"model": pl.String, "user": pl.Int64, name: pl.Int64}, orient="row"
    )


@examples(110)
@given(
    own=rows("own"), other=rows("other"), keys=keys, how=st.sampled_from(["left", "inner", "full"])
)
def test_null_joins_null_and_without_keys_each_joins_each(
    own: pl.DataFrame, other: pl.DataFrame, keys: list[str], how: Any
):
    other = other.select(*keys, "other")
    expected, met = [], set()
    for row in own.rows(named=True):
        partners = [
            (n, one)
            for n, one in enumerate(other.rows(named=True))
            if all(one[key] == row[key] for key in keys)
        ]
        met |= {n for n, _ in partners}
        expected += [{**row, "other": one["other"]} for _, one in partners]
        if not partners and keys and how != "inner":
            expected.append({**row, "other": None})
    if keys and how == "full":
        nothing = dict.fromkeys(own.columns)
        expected += [
            {**nothing, **one} for n, one in enumerate(other.rows(named=True)) if n not in met
        ]

    found = joined(own.lazy(), other.lazy(), keys, how).collect()

    assert found.columns == [*own.columns, "other"]
    assert sorted(found.rows(named=True), key=repr) == sorted(expected, key=repr)


@examples(45)
@given(own=rows("own"), keys=keys)
def test_sums_are_those_of_each_combination_of_keys_or_of_all_rows(
    own: pl.DataFrame, keys: list[str]
):
    expected: dict[tuple[Any, ...], int] = {} if keys else {(): 0}
    for row in own.rows(named=True):
        key = tuple(row[name] for name in keys)
        expected[key] = expected.get(key, 0) + row["own"]

    found = aggregate(own.lazy(), keys, [pl.col("own").sum()]).collect()

    assert {row[:-1]: row[-1] for row in found.rows()} == expected
    assert len(found) == len(expected)
