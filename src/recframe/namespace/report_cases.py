"""The cases of a report: the best, the worst and the most changed users, with lists, truth and history, titled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import ColumnError, suggestion
from recframe.frames.dtypes import as_text
from recframe.frames.hints import FrameOf, Given, bind
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment
from recframe.look.pages.findings_of_a_report import Asked
from recframe.look.themes import ALL
from recframe.metrics.language.definition import Metric
from recframe.namespace.chart_names import Names
from recframe.namespace.lists_shown import joined_on, rows_of_lists
from recframe.plan.segments import numbered

SIZES = ((12, 15), (10, 10), (8, 10), (6, 10), (5, 8), (4, 6), (2, 5), (1, 3), (1, 1))
"""How many cases of each kind are shown of a model, and how many items of each list: the first that are small enough."""
MOST_MODELS = 6
LONGEST = 120
"""Of a title, in letters."""
MOST_BYTES = 100_000
TITLES = ("title", "name", "item_title", "item_name", "product_name", "product_title", "label")
"""The names of columns that may name an item, as they are looked for."""


@dataclass(frozen=True)
class Shown:
    """How many cases are shown, and how much of each."""

    n: int
    items: int


@dataclass(frozen=True)
class Words:
    """What models are called, the column of titles, and the baseline."""

    names: Names
    title: str | None
    baseline: str | None


def title_column(inputs: Inputs, asked: Asked) -> str | None:
    """Return the column of the items frame that names them: the one that is asked for, or one that is called a title."""
    if inputs.items is None:
        if asked.title_of is not None:
            named = Given("title_of", asked.title_of)
            msg = f"{named} names a column of items, and there are none: {bind(items='items')}"
            raise ColumnError(msg)
        return None
    columns = inputs.sides["items"].columns
    if asked.title_of is not None and asked.title_of not in columns:
        found = suggestion(asked.title_of, columns)
        named = Given("title_of", asked.title_of)
        msg = f"{named} is no column of {FrameOf('items')}{found}; it has {', '.join(map(repr, columns))}"
        raise ColumnError(msg)
    if asked.title_of is not None:
        return asked.title_of
    item = inputs.sides["items"].context.names["item"]
    names = {one.casefold(): one for one in columns if isinstance(one, str) and one != item}
    return next((names[one] for one in TITLES if one in names), None)


def cases(rec: Any, inputs: Inputs, metric: Metric[...], words: Words) -> dict[str, Any] | None:
    """Return the cases as plain data, as much of them as `MOST_BYTES` take; None without a user."""
    values = _values(rec, inputs, metric, words.names)
    if values.is_empty():
        return None
    found: dict[str, Any] = {}
    for n, items in SIZES:
        chosen = _chosen(values, metric, words.baseline, n)
        shown = Shown(n, items)
        found = _told(rec, inputs, metric, chosen, words, shown)
        if len(json.dumps(found, separators=(",", ":"))) <= MOST_BYTES:
            break
    return found


def _values(rec: Any, inputs: Inputs, metric: Metric[...], names: Names) -> pl.DataFrame:
    """Return each user's value of each model: model, shown, user, value; without those who have none."""
    # the methods of this room are those of a Rec
    by = rec._inputs([inputs.context.names["user"]], None, [metric])  # noqa: SLF001
    convention = under_profile.asked(by.context, [metric])
    keys = [*by.model, "user"]
    values = numbered(rec._evaluated(by, convention), keys)  # noqa: SLF001
    named = values.select(*keys, value=pl.col(str(metric))).drop_nulls("value")
    found: pl.DataFrame = rec._kind.run(named)  # noqa: SLF001
    text = names.text(pl.col("model")) if by.model else pl.lit(ALL)
    return found.with_columns(shown=text)


def _chosen(
    values: pl.DataFrame, metric: Metric[...], baseline: str | None, n: int
) -> pl.DataFrame:
    """Return who is shown: kind, model's text in `shown`, user, value, and the baseline's value in `other`."""
    low_is_best = metric.definition.direction == "lower"
    models = values["shown"].unique().sort().to_list()
    # the baseline is held against the others
    models = [one for one in models if one != baseline][:MOST_MODELS]
    if baseline is not None:
        models.append(baseline)
    parts = []
    none = pl.lit(None, pl.Float64)
    for model in models:
        own = values.filter(pl.col("shown") == model).select("shown", "user", "value")
        if baseline not in {None, model}:
            parts.append(_changed(own, values.filter(pl.col("shown") == baseline), n))
        for kind, descending in (("worst", low_is_best), ("best", not low_is_best)):
            first = own.sort("value", "user", descending=[descending, False]).head(n)
            parts.append(first.with_columns(other=none, kind=pl.lit(kind)))
    order = ["shown", "user", "value", "other", "kind"]
    return pl.concat([one.select(order) for one in parts])


def _changed(own: pl.DataFrame, base: pl.DataFrame, n: int) -> pl.DataFrame:
    """Return the users whose value a model changes the most, those who lose first."""
    both = own.join(base.select("user", other="value"), on="user")
    change = pl.col("value") - pl.col("other")
    ordered = both.with_columns(change=change).filter(change != 0).sort("change", "user")
    half = max(n // 2, 1)
    lost = ordered.filter(pl.col("change") < 0).head(half).with_columns(kind=pl.lit("lost most"))
    won = ordered.filter(pl.col("change") > 0).sort("change", "user", descending=[True, False])
    return pl.concat([lost, won.head(half).with_columns(kind=pl.lit("gained most"))])


def _told(
    rec: Any,
    inputs: Inputs,
    metric: Metric[...],
    chosen: pl.DataFrame,
    words: Words,
    shown: Shown,
) -> dict[str, Any]:
    """Return cases with their lists as plain data: items are named by their places."""
    run, title, baseline = rec._kind.run, words.title, words.baseline  # noqa: SLF001
    users = chosen.select("user").unique()
    rows = _rows(run, inputs, metric, users, words.names)
    history = _history(run, inputs, users, shown.items)
    items = _items(run, inputs, [rows, history], title)
    places = {one: place for place, one in enumerate(items["item"].to_list())}
    lists = _by_list(rows, places)
    past: dict[Any, list[int]] = {}
    for user, item in history.select("user", "item").rows():
        past.setdefault(user, []).append(places[item])
    names = chosen.select(as_text(pl.col("user"), chosen.schema["user"])).to_series().to_list()
    told = [
        _case(row, name, baseline, lists, past, shown)
        for row, name in zip(chosen.to_dicts(), names, strict=True)
    ]
    return {
        "metric": str(metric),
        "title_of": title,
        "baseline": baseline,
        "items": items.select("name", "title").rows(),
        "cases": told,
        "has_history": inputs.train is not None,
    }


def _rows(
    run: Any, inputs: Inputs, metric: Metric[...], users: pl.DataFrame, names: Names
) -> pl.DataFrame:
    """Return what is listed up to the cut-off or relevant, of some users: model's text in `shown`, user, item, rank, hit."""
    convention = under_profile.asked(inputs.context, [metric])[0]
    whole = replace(inputs, segments=(), context=convention.context)
    found: pl.DataFrame = run(rows_of_lists(whole, metric, users.lazy()))
    text = names.text(pl.col("model")) if inputs.model else pl.lit(ALL)
    order = ["shown", "user", "rank", "item"]
    return found.with_columns(shown=text).sort(order, nulls_last=True)


def _history(run: Any, inputs: Inputs, users: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the last rows of some users in train: user, item."""
    if inputs.train is None:
        return pl.DataFrame(schema={"user": users.schema["user"], "item": inputs.schema["item"]})
    train = inputs.train.filter(pl.col("user").is_in(users.to_series().implode()))
    found: pl.DataFrame = run(train.select("user", "item").drop_nulls())
    return found.group_by("user", maintain_order=True).tail(most)


def _items(
    run: Any, inputs: Inputs, frames: Sequence[pl.DataFrame], title: str | None
) -> pl.DataFrame:
    """Return each item of some frames once: item, its id as text in `name`, its title."""
    items = pl.concat([one.select("item") for one in frames]).unique(maintain_order=True)
    named = items.with_columns(as_text(pl.col("item"), items.schema["item"]).alias("name"))
    named = named.with_row_index("place")
    if title is None:
        return named.with_columns(title=pl.lit(None, pl.String))
    segment = Segment("title", title, "items")
    taken = inputs.sides["items"].take(["item"], [segment]).lazy().drop_nulls("item")
    found: pl.DataFrame = run(joined_on(named.lazy(), taken, ["item"]))
    text = as_text(pl.col("title"), found.schema["title"])
    short = pl.when(text.str.len_chars() > LONGEST).then(text.str.head(LONGEST) + "\u2026")
    return found.with_columns(title=short.otherwise(text)).unique("place").sort("place")


def _by_list(
    rows: pl.DataFrame, places: Mapping[Any, int]
) -> dict[tuple[str, Any], list[tuple[Any, int, bool, bool]]]:
    """Return the rows of each list: rank, item's place, whether it is a hit, whether it is listed up to the cut-off."""
    found: dict[tuple[str, Any], list[tuple[Any, int, bool, bool]]] = {}
    for shown, user, item, rank, hit, listed in rows.select(
        "shown", "user", "item", "rank", "hit", "listed"
    ).rows():
        found.setdefault((shown, user), []).append((rank, places[item], hit, listed))
    return found


def _case(
    row: Mapping[str, Any],
    name: str,
    baseline: str | None,
    lists: Mapping[tuple[str, Any], Sequence[tuple[Any, int, bool, bool]]],
    past: Mapping[Any, Sequence[int]],
    shown: Shown,
) -> dict[str, Any]:
    """Return a case: the list with its hits, what it missed, and the history."""
    own = lists.get((row["shown"], row["user"]), ())
    listed = [(rank, item, hit) for rank, item, hit, is_listed in own if is_listed]
    missed = [(item, rank) for rank, item, _, is_listed in own if not is_listed]
    is_changed = row["other"] is not None
    others = lists.get((baseline or "", row["user"]), ()) if is_changed else ()
    return {
        "kind": row["kind"],
        "model": row["shown"],
        "user": name,
        "value": row["value"],
        "other": row["other"],
        "list": listed[: shown.items],
        "n_list": len(listed),
        "missed": missed[: shown.items],
        "n_missed": len(missed),
        "other_list": [(rank, item, hit) for rank, item, hit, is_listed in others if is_listed][
            : shown.items
        ],
        "history": list(past.get(row["user"], ())),
    }
