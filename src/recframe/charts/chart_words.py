"""Words on charts: titles, tooltips and alternative texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from recframe.charts.formatting import MINUS, NONE, counted, number
from recframe.charts.themes import ALL
from recframe.statistics.stored_results import decimals_of

Written = str | Callable[[Any], str]
"""A number format of D3 (those of Python, and "~" for numbers without trailing zeros), or a function that writes a value."""
Fields = Mapping[str, str | tuple[str, Written]]
"""The titles of a tooltip's fields, and of numbers their formats; "low,high" is an interval in one field."""
MOST_READ = 12
"""Most numbers in an alternative text."""


def in_words(data: pl.DataFrame, fields: Fields) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return data with the fields of a tooltip that are text, and the fields without those that have no value in any row.

    An interval is one text, such as "0.307 to 0.337", to two digits of half its width; where some rows have no value of a
    field, theirs is a dash.
    """
    found: dict[str, Any] = {}
    texts = {}
    for shorthand, said in fields.items():
        names = shorthand.rpartition(":")[0].split(",")
        nulls = max(data[name].null_count() for name in names)
        if nulls == len(data) > 0:
            continue
        title, kind = (said, str) if isinstance(said, str) else said
        if len(names) == 1 and isinstance(kind, str | type) and not nulls:
            found[shorthand] = said
            continue
        column = f"_{'_'.join(names)}"
        texts[column] = [_cell(row, kind) for row in data.select(names).rows()]
        found[f"{column}:N"] = title
    return data.with_columns(
        pl.Series(name, text, pl.String) for name, text in texts.items()
    ), found


def _cell(values: Sequence[Any], kind: Written) -> str:
    """Return a number, or an interval, as text."""
    if None in values:
        return NONE
    decimals = decimals_of(*values) if len(values) > 1 else None
    return " to ".join(written(one, kind, decimals) for one in values)


def written(value: Any, kind: Written, decimals: int | None = None) -> str:
    """Return a value as text, of a number with so many decimals or those that it has in tables."""
    if not isinstance(kind, str):
        return kind(value)
    if kind[-1] in "d%":
        return f"{value:{kind.replace('d', '.0f')}}".replace("-", MINUS)
    return number(value, sign=kind.startswith("+"), decimals=decimals)


def with_interval(values: Sequence[float | None], kind: Written) -> str:
    """Return a number with its interval in brackets, where it has one."""
    value, *ends = values
    if value is None or None in ends or not ends:
        return _cell([value], kind)
    decimals = decimals_of(*ends)
    return f"{written(value, kind, decimals)} ({_cell(ends, kind)})"


def said_of(data: pl.DataFrame, column: str, kind: Written, *, interval: bool = True) -> list[str]:
    """Return values with their intervals by model, and by segment where there are some, for an alternative text."""
    ends = ("low", "high") if interval else ()
    said = []
    for row in data.to_dicts():
        model = "" if row["model"] == ALL and row.get("label") else row["model"]
        name = ", ".join(filter(None, [row.get("label"), model]))
        known = [row[column], *(row.get(end) for end in ends)]
        said.append(f"{name} {with_interval(known, kind)}")
    return said


def read_aloud(numbers: Iterable[str]) -> str:
    """Return the main numbers of a chart as the end of its alternative text."""
    every = [*numbers]
    more = len(every) - MOST_READ
    words = [*every[:MOST_READ], *([f"and {counted(more, 'more number')}"] if more > 0 else [])]
    return f" {'; '.join(words)}." if words else ""


def by_value(data: pl.DataFrame, column: str = "value", *, lower: bool = False) -> list[str]:
    """Return the models by the mean of a column, the best first: the highest, or the lowest."""
    means = data.group_by("model", maintain_order=True).agg(pl.col(column).mean())
    ordered = means.sort(column, "model", descending=[not lower, False], nulls_last=True)
    order: list[str] = ordered["model"].to_list()
    return order


def leading(
    data: pl.DataFrame, place: str, what: str, every: str, some: str, *, lower: bool = False
) -> str:
    """Return who alone has the best value at more than half of some places, in words for all and for some of them."""
    value = pl.col("value") * (-1 if lower else 1)
    best = data.filter(value == value.max().over(place)).filter(pl.len().over(place) == 1)
    n, counts = data[place].n_unique(), best["model"].value_counts(sort=True)
    if data["model"].n_unique() == 1 or not len(counts) or 2 * counts["count"][0] <= n:
        return ""
    model, most = counts.row(0)
    return f"{model} has the {what} {every if most == n else some.format(most, n)}".rstrip()
