"""Users whose lists changed the most, or are the best."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from recframe.charts.formatting import number
from recframe.charts.long_format import each_value, texts
from recframe.charts.themes import ALL
from recframe.frames.dtypes import as_text
from recframe.frames.segments import Segment
from recframe.metrics.language.definition import Metric
from recframe.reports.decision import sign_of
from recframe.reports.facts import Facts

MOST_CASES = 4
"""Most cases of a kind."""
LONGEST = 120
"""Longest title, in characters."""
TITLES = ("title", "name", "item_title", "item_name", "product_name", "product_title", "label")
"""Column names of item titles, in order of preference."""


class Line(NamedTuple):
    """An item of a list: its rank, its title or id, the id below a title, and whether it is a hit."""

    rank: str | None
    name: str
    id: str | None
    is_hit: bool


class Case(NamedTuple):
    """A user with a value and lists, by their titles."""

    group: str
    user: str
    value: str
    lists: Mapping[str, Sequence[Line]]


class Cases(NamedTuple):
    """Users' cases, of which the first is unfolded."""

    cases: Sequence[Case]
    kind: str = "cases"


def cases(facts: Facts, model: str, other: str | None) -> list[Case]:
    """Return cases of a model, and of its changes against another one."""
    metric = facts.of_users[0]
    values = each_value(facts.rec, metric, "user").data
    chosen = _chosen(values, model, other, sign_of(metric) or 1)
    if chosen.is_empty():
        return []
    lines = _lines(facts, metric, chosen["key"].unique())
    shown: dict[str, tuple[str, bool | None]] = {
        f"List of {one}": (one, True) for one in (model, other) if one
    }
    shown["Relevant, but missed"] = (model, False)
    if facts.inputs.train is not None:
        shown["History, the last first"] = ("", None)
    made = []
    for row in chosen.with_columns(name=texts(chosen["key"])).to_dicts():
        value = f"{metric} {number(row['value'])}"
        value += "" if row["other"] is None else f" ({other}: {number(row['other'])})"
        lists = {title: lines[of, row["key"], listed] for title, (of, listed) in shown.items()}
        made.append(Case(row["group"], row["name"], value, lists))
    return made


def _lines(facts: Facts, metric: Metric[...], users: pl.Series) -> dict[Any, list[Line]]:
    """Return the lines of each model and user, those of listed and of missed items apart, and of histories, of the model ""."""
    rec = facts.rec
    train = facts.inputs.train
    rows = rec._lists_of(metric, users)  # noqa: SLF001  the methods of this room are those of a Rec
    of_model = facts.names.text(rows["model"]) if facts.inputs.model else pl.lit(ALL)
    rows = rows.with_columns(model=of_model).sort("rank", "item", nulls_last=True)
    if train is not None:
        history = train.select("user", "item").drop_nulls()
        history = rec._kind.run(history.filter(pl.col("user").is_in(users.implode())))  # noqa: SLF001
        history = history.reverse().with_columns(model=pl.lit(""), hit=False)
        rows = pl.concat([rows, history], how="diagonal_relaxed")
    rows = rows.join(_titles(facts, rows["item"].unique()), on="item", how="left")
    rank, item = (as_text(pl.col(name), rows.schema[name]) for name in ("rank", "item"))
    name = pl.col("name")
    item = item.str.head(LONGEST)
    id_ = pl.when(name.is_not_null()).then(item)
    lines = rows.select("model", "user", "listed", rank, pl.coalesce(name, item), id_, "hit")
    found: dict[Any, list[Line]] = defaultdict(list)
    for model, user, is_listed, *line in lines.rows():
        found[model, user, is_listed].append(Line(*line))
    return found


def _chosen(values: pl.DataFrame, model: str, other: str | None, sign: int) -> pl.DataFrame:
    """Return whose cases are shown: group, user, value, and the value of the other model in `other`."""
    of_other = values.filter(model=other or "").select("key", other="value")
    rows = values.filter(model=model).join(of_other, on="key", how="left")
    gain = sign * pl.col("value")
    is_pair = other is not None
    rows = rows.with_columns(gain=gain - sign * pl.col("other") if is_pair else gain)
    rows = rows.drop_nulls("gain").sort("gain", "key")
    names = ("lost most", "gained most") if is_pair else ("worst", "best")
    sides: Any = (pl.col("gain") < 0, pl.col("gain") > 0) if is_pair else (True, True)
    best = rows.sort("gain", descending=True, maintain_order=True)
    return pl.concat(
        of.filter(side).head(MOST_CASES).with_columns(group=pl.lit(name))
        for of, side, name in zip((rows, best), sides, names, strict=True)
    )


def _titles(facts: Facts, items: pl.Series) -> pl.DataFrame:
    """Return the titles of items, where the frame of items has a column of titles."""
    side = facts.inputs.sides.get("items")
    names = {str(one).casefold(): one for one in (side.columns if side else [])}
    title = [names[one] for one in TITLES if one in names][:1]
    if side is None or not title:
        return items.to_frame().with_columns(name=pl.lit(None, pl.String))
    taken = side.take(["item"], [Segment("name", title[0], "items")]).lazy()
    rows: pl.DataFrame = facts.rec._kind.run(taken.filter(pl.col("item").is_in(items.implode())))  # noqa: SLF001
    name = texts(rows["name"]).str.head(LONGEST)
    return rows.with_columns(pl.col("item").cast(items.dtype), name=name)
