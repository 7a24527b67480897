"""Cases of a report: best, worst and most changed users."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from recframe.charts.long_format import Names, rows_of_lists, values_of_users, with_columns_of_items
from recframe.charts.themes import ALL
from recframe.errors import ColumnError, suggestion
from recframe.frames.dtypes import as_text
from recframe.frames.hints import FrameOf, Given, bind
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile

SIZES = ((12, 15), (10, 10), (8, 10), (6, 10), (5, 8), (4, 6), (2, 5), (1, 3), (1, 1))
"""Cases of each kind of a model, and items of each list: the first that are small enough are shown."""
MOST_MODELS = 6
LONGEST = 120
"""Longest title, in characters."""
MOST_BYTES = 100_000
TITLES = ("title", "name", "item_title", "item_name", "product_name", "product_title", "label")
"""Column names of item titles, in order of preference."""


class ItemColumns(NamedTuple):
    """The columns of the items frame that are shown of an item."""

    title: str | None
    """The one that names it."""
    others: Sequence[str] = ()

    @classmethod
    def of(cls, inputs: Inputs, title_of: str | None, others: Sequence[str]) -> ItemColumns:
        """Return the columns, checked; without a given title one that is called so."""
        asked = [Given("title_of", title_of)] if title_of is not None else []
        for given in [*asked, *(Given("item_columns", one) for one in others)]:
            if inputs.items is None:
                msg = f"{given} names a column of items, and there are none: {bind(items='items')}"
                raise ColumnError(msg)
            columns = inputs.sides["items"].columns
            if given.value not in columns:
                found = suggestion(str(given.value), columns)
                msg = f"{given} is no column of {FrameOf('items')}{found}; it has {', '.join(map(repr, columns))}"
                raise ColumnError(msg)
        return cls(_title_of(inputs) if title_of is None else title_of, others)

    @property
    def names(self) -> list[str]:
        """All of them, the title first."""
        return [*([] if self.title is None else [self.title]), *self.others]


def _title_of(inputs: Inputs) -> str | None:
    """Return the column of the items frame that is called a title."""
    if inputs.items is None:
        return None
    side = inputs.sides["items"]
    item = side.context.names["item"]
    named = [one for one in side.columns if isinstance(one, str) and one != item]
    names = {column.casefold(): column for column in named}
    return next((names[title] for title in TITLES if title in names), None)


def cases(
    rec: Any,
    inputs: Inputs,
    metric: Metric[...],
    names: Names,
    columns: ItemColumns,
    baseline: str | None,
) -> dict[str, Any] | None:
    """Return the cases as plain data, as much of them as `MOST_BYTES` take; None without a user."""
    run = rec._kind.run  # noqa: SLF001  the methods of this room are those of a Rec
    model = names.text(pl.col("model")) if inputs.model else pl.lit(ALL)
    values = run(values_of_users(rec, metric)[1]).with_columns(shown=model)
    if values.is_empty():
        return None
    found: dict[str, Any] = {"metric": str(metric), "title_of": columns.title, "baseline": baseline}
    for n, n_items in SIZES:
        chosen = _chosen(values, metric, baseline, n)
        users = chosen.select("user").unique()
        convention = under_profile.asked(inputs.context, [metric])[0]
        whole = replace(inputs, segments=(), context=convention.context)
        rows = run(rows_of_lists(whole, metric, users.lazy())).with_columns(shown=model)
        rows = rows.sort("shown", "user", "rank", "item", nulls_last=True)
        history = _history(run, inputs, users, n_items)
        items = pl.concat([rows[["item"]], history[["item"]]])
        items = _items(run, inputs, items, columns.names)
        found |= {
            "items": [
                _plain_item(row, has_title=columns.title is not None)
                for row in items.drop("item", "place").rows()
            ],
            "cases": _plain_cases(
                chosen, rows, history, items["item"].to_list(), baseline, n_items
            ),
            "has_history": inputs.train is not None,
        }
        if len(json.dumps(found, separators=(",", ":"))) <= MOST_BYTES:
            break
    return found


def _chosen(
    values: pl.DataFrame, metric: Metric[...], baseline: str | None, n: int
) -> pl.DataFrame:
    """Return who is shown: kind, model's text in `shown`, user, value, and the baseline's value in `other`."""
    base = values.filter(pl.col("shown") == pl.lit(baseline, pl.String)).select(
        "user", other="value"
    )
    values = values.join(base, on="user", how="left")
    values = values.with_columns(change=pl.col("value") - pl.col("other"))
    models = [one for one in values["shown"].unique().sort() if one != baseline][:MOST_MODELS]
    # the baseline is compared with the others
    models += [] if baseline is None else [baseline]
    half, lower_is_better = max(n // 2, 1), metric.direction == "lower"
    change, every = pl.col("change"), pl.lit(value=True)
    kinds = {
        "lost most": (change < 0, "change", False, half, pl.col("other")),
        "gained most": (change > 0, "change", True, half, pl.col("other")),
        "worst": (every, "value", lower_is_better, n, pl.lit(None, pl.Float64)),
        "best": (every, "value", not lower_is_better, n, pl.lit(None, pl.Float64)),
    }
    parts = []
    for model in models:
        own = values.filter(pl.col("shown") == model)
        for kind, (which, column, descending, most, other) in kinds.items():
            first = own.filter(which).sort(column, "user", descending=[descending, False])
            parts.append(first.head(most).with_columns(kind=pl.lit(kind), other=other))
    return pl.concat(parts)


def _history(run: Any, inputs: Inputs, users: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the last rows of some users in train: user, item."""
    if inputs.train is None:
        return pl.DataFrame(schema={"user": users.schema["user"], "item": inputs.schema["item"]})
    train = inputs.train.filter(pl.col("user").is_in(users.to_series().implode()))
    found: pl.DataFrame = run(train.select("user", "item").drop_nulls())
    return found.group_by("user", maintain_order=True).tail(most)


def _items(run: Any, inputs: Inputs, items: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return each item once: item, its place, its id as text in `name`, and columns of the items frame as text."""
    items = items.unique(maintain_order=True).with_row_index("place")
    items = items.with_columns(name=as_text(pl.col("item"), items.schema["item"]))
    segments = [Segment(f"column {n}", column, "items") for n, column in enumerate(columns)]
    found: pl.DataFrame = run(with_columns_of_items(items.lazy(), inputs, segments))
    for segment in segments:
        text = as_text(pl.col(segment.inside), found.schema[segment.inside])
        short = pl.when(text.str.len_chars() > LONGEST).then(text.str.head(LONGEST) + "\u2026")
        found = found.with_columns(short.otherwise(text).alias(segment.inside))
    return found.unique("place").sort("place")


def _plain_item(row: Sequence[Any], *, has_title: bool) -> list[Any]:
    """Return an item's id, its title or None, and what else is shown of it."""
    name, *columns = row
    return [name, *columns] if has_title else [name, None, *columns]


def _plain_cases(
    chosen: pl.DataFrame,
    rows: pl.DataFrame,
    history: pl.DataFrame,
    items: list[Any],
    baseline: str | None,
    most: int,
) -> list[dict[str, Any]]:
    """Return cases as plain data: the list with its hits, what it missed, and the history, items by their places."""
    places = {one: place for place, one in enumerate(items)}
    lists, past = defaultdict(list), defaultdict(list)
    columns = rows.select("shown", "user", "item", "rank", "hit", "listed")
    for shown, user, item, rank, hit, is_listed in columns.rows():
        entry = (rank, places[item], hit) if is_listed else (places[item], rank)
        lists[shown, user, is_listed].append(entry)
    for user, item in history.select("user", "item").rows():
        past[user].append(places[item])
    cases = []
    for row in chosen.with_columns(name=as_text(pl.col("user"), chosen.schema["user"])).to_dicts():
        user, other = row["user"], row["other"]
        listed, missed = (lists[row["shown"], user, is_listed] for is_listed in (True, False))
        case = {
            **{key: row[key] for key in ("kind", "value", "other")},
            "model": row["shown"],
            "user": row["name"],
            "list": listed[:most],
            "n_list": len(listed),
            "missed": missed[:most],
            "n_missed": len(missed),
            "other_list": [] if other is None else lists[baseline, user, True][:most],
            "history": past[user],
        }
        cases.append(case)
    return cases
