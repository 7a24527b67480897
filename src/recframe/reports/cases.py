"""Cases of a report: users whose lists changed the most, or are the best and the worst."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl

from recframe.charts.formatting import number
from recframe.charts.long_format import each_value
from recframe.charts.themes import ALL
from recframe.frames.dtypes import as_text
from recframe.frames.roles import Segment
from recframe.reports.facts import Facts, sign_of

MOST_CASES, MOST_ITEMS = 4, 10
"""Most cases of a kind, and items of a list."""
LONGEST = 120
"""Longest title, in characters."""
TITLES = ("title", "name", "item_title", "item_name", "product_name", "product_title", "label")
"""Column names of item titles, in order of preference."""


class Line(NamedTuple):
    """An item of a list: its rank, its title or id, the id below a title, and whether it is a hit."""

    rank: str
    name: str
    id: str = ""
    is_hit: bool = False


class Lines(NamedTuple):
    """The first items of a list, and how many more there are."""

    title: str
    lines: Sequence[Line]
    more: int


class Case(NamedTuple):
    """A user with a value and lists."""

    group: str
    user: str
    value: str
    lists: Sequence[Lines]


class Cases(NamedTuple):
    """Users' cases, of which the first is unfolded."""

    cases: Sequence[Case]
    kind: str = "cases"


def cases(facts: Facts, model: str, other: str | None) -> list[Case]:
    """Return cases of a model, and of its changes against another one."""
    rec, metric = facts.rec, facts.of_users[0]
    values = each_value(rec, metric, "user").data
    chosen = _chosen(values, model, other, sign_of(metric) or 1)
    users = chosen["key"].unique()
    if chosen.is_empty():
        return []
    rows = rec._lists_of(metric, users)  # noqa: SLF001  the methods of this room are those of a Rec
    of_model = facts.names.text(pl.col("model")) if facts.inputs.model else pl.lit(ALL)
    rows = rows.with_columns(model=of_model).sort("rank", "item", nulls_last=True)
    columns = ["model", "user", "listed", "rank", "item", "hit"]
    parts = rows.select(columns).partition_by(columns[:3], as_dict=True)
    asked: dict[str, tuple[str, bool | None]] = {
        f"List of {one}": (one, True) for one in (model, other) if one
    }
    asked["Relevant, but missed"] = (model, False)
    if facts.inputs.train is not None:
        history = facts.inputs.train.select("user", "item").drop_nulls()
        history = rec._kind.run(history.filter(pl.col("user").is_in(users.implode())))  # noqa: SLF001
        none = {"rank": None, "hit": False}
        history = history.reverse().with_columns(
            pl.lit(one).alias(name) for name, one in none.items()
        )
        parts |= {
            ("", *user, None): rows
            for user, rows in history.partition_by("user", as_dict=True).items()
        }
        asked["History, the last first"] = ("", None)
    titles = _titles(facts, pl.concat([one["item"] for one in parts.values()]))
    made = []
    for row in chosen.with_columns(name=as_text(pl.col("key"), users.dtype)).to_dicts():
        value = f"{metric} {number(row['value'])}"
        value += "" if row["other"] is None else f" ({other}: {number(row['other'])})"
        lists = []
        for title, (name, is_listed) in asked.items():
            every = parts.get((name, row["key"], is_listed), rows.clear())
            first = every.head(MOST_ITEMS).select("rank", "item", "hit").rows()
            lines = [
                Line("" if rank is None else f"{rank:g}", *titles[item], hit)
                for rank, item, hit in first
            ]
            lists.append(Lines(title, lines, len(every) - MOST_ITEMS))
        made.append(Case(row["group"], row["name"], value, lists))
    return made


def _chosen(values: pl.DataFrame, model: str, other: str | None, sign: int) -> pl.DataFrame:
    """Return whose cases are shown: group, user, value, and the value of the other model in `other`."""
    of_other = values.filter(model=other or "").select("key", other="value")
    own = values.filter(model=model).join(of_other, on="key", how="left")
    change = sign * (pl.col("value") - (pl.lit(0.0) if other is None else pl.col("other")))
    ordered = own.with_columns(gain=change).drop_nulls("gain").sort("gain", "key")
    worst, best, names = ordered, ordered, ("worst", "best")
    if other is not None:
        worst, best = ordered.filter(pl.col("gain") < 0), ordered.filter(pl.col("gain") > 0)
        names = ("lost most", "gained most")
    best = best.sort("gain", descending=True, maintain_order=True)
    groups = zip(names, (worst, best), strict=True)
    return pl.concat(
        rows.head(MOST_CASES).with_columns(group=pl.lit(name)) for name, rows in groups
    )


def _titles(facts: Facts, items: pl.Series) -> dict[Any, tuple[str, str]]:
    """Return the title of each item with its id as text; the id alone where there is no title."""
    side = facts.inputs.sides.get("items")
    names = {str(one).casefold(): one for one in (side.columns if side else [])}
    title = next((names[one] for one in TITLES if one in names), None)
    rows = pl.DataFrame({"item": items.unique()}).with_columns(name=pl.lit(None, pl.String))
    if side and title is not None:
        taken = side.take(["item"], [Segment("name", title, "items")]).lazy()
        taken = facts.rec._kind.run(taken.filter(pl.col("item").is_in(items.unique().implode())))  # noqa: SLF001
        text = as_text(pl.col("name"), taken.schema["name"])
        rows = rows.drop("name").join(taken.with_columns(text), on="item", how="left")
    rows = rows.with_columns(id=as_text(pl.col("item"), items.dtype))
    rows = rows.with_columns(pl.col("name", "id").str.head(LONGEST))
    return {
        item: (name or key, key if name else "")
        for item, name, key in rows.select("item", "name", "id").rows()
    }
