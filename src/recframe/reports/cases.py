"""Cases of a report: users whose lists changed the most, or are the best and the worst."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from recframe.charts.formatting import number
from recframe.charts.long_format import rows_of_lists, values_of_users, with_columns_of_items
from recframe.charts.themes import ALL
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment
from recframe.profiles import under_profile
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
    rec, inputs, metric = facts.rec, facts.inputs, facts.of_users[0]
    run = rec._kind.run  # noqa: SLF001  the methods of this room are those of a Rec
    of_model = facts.names.text(pl.col("model")) if inputs.model else pl.lit(ALL)
    values = run(values_of_users(rec, metric)[1]).with_columns(model=of_model)
    chosen = _chosen(values, model, other, sign_of(metric) or 1)
    users = chosen.select("user").unique()
    convention = under_profile.asked(inputs.context, [metric])[0]
    whole = replace(inputs, segments=(), context=convention.context)
    rows = run(_named(rows_of_lists(whole, metric, users.lazy()), inputs))
    rows = rows.with_columns(model=of_model).sort("model", "user", "rank", "item", nulls_last=True)
    lines = _lines(rows)
    if inputs.train is not None:
        train = inputs.train.select("user", "item").drop_nulls()
        train = train.filter(pl.col("user").is_in(users.to_series().implode()))
        history = run(_named(train, inputs)).with_columns(rank=None, hit=False, listed=None)
        lines |= _lines(history.with_columns(model=pl.lit("")), last=True)
    parts: dict[str, Any] = {f"List of {one}": (one, True) for one in (model, other) if one}
    parts["Relevant, but missed"] = (model, False)
    parts |= {} if inputs.train is None else {"History, the last first": ("", None)}
    made = []
    for row in chosen.with_columns(name=as_text(pl.col("user"), chosen.schema["user"])).to_dicts():
        value = f"{metric} {number(row['value'])}"
        value += "" if row["other"] is None else f" ({other}: {number(row['other'])})"
        lists = []
        for title, (of, is_listed) in parts.items():
            every = lines[of, row["user"], is_listed]
            lists.append(Lines(title, every[:MOST_ITEMS], len(every) - MOST_ITEMS))
        made.append(Case(row["group"], row["name"], value, lists))
    return made


def _chosen(values: pl.DataFrame, model: str, other: str | None, sign: int) -> pl.DataFrame:
    """Return whose cases are shown: group, user, value, and the value of the other model in `other`."""
    of_other = values.filter(model=other or "").select("user", other="value")
    own = values.filter(model=model).join(of_other, on="user", how="left")
    change = pl.col("value") - (0.0 if other is None else pl.col("other"))
    ordered = own.with_columns(gain=sign * change).drop_nulls("gain").sort("gain", "user")
    if other is None:
        groups = {"worst": ordered, "best": ordered}
    else:
        lost, won = pl.col("gain") < 0, pl.col("gain") > 0
        groups = {"lost most": ordered.filter(lost), "gained most": ordered.filter(won)}
    (first, worst), (last, best) = groups.items()
    best = best.sort("gain", descending=True, maintain_order=True).head(MOST_CASES)
    named = pl.lit(first).alias("group"), pl.lit(last).alias("group")
    return pl.concat([worst.head(MOST_CASES).with_columns(named[0]), best.with_columns(named[1])])


def _named(rows: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return rows with the text of their items in `id`, and their titles in `name`."""
    columns = [] if inputs.items is None else inputs.sides["items"].columns
    names = {str(one).casefold(): one for one in columns}
    titles = [Segment("name", names[title], "items") for title in TITLES if title in names][:1]
    rows = with_columns_of_items(rows, inputs, titles)
    schema = rows.collect_schema()
    item, *title = (
        as_text(pl.col(one), schema[one]).str.head(LONGEST)
        for one in ["item", "name"][: 1 + len(titles)]
    )
    return rows.with_columns(id=item if title else pl.lit(""), name=pl.coalesce(*title, item))


def _lines(rows: pl.DataFrame, *, last: bool = False) -> dict[Any, list[Line]]:
    """Return the lines of each model and user, those of listed and of missed items apart; or the last ones first."""
    found: dict[Any, list[Line]] = defaultdict(list)
    columns = rows.select("model", "user", "listed", "rank", "name", "id", "hit").rows()
    for *key, rank, name, item, hit in columns[:: -1 if last else 1]:
        found[tuple(key)].append(Line("" if rank is None else f"{rank:g}", name, item, hit))
    return found
