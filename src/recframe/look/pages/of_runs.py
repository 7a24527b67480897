"""The page of a history: the newest numbers, what was flagged, metrics over time, and the runs behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

import recframe
from recframe.look.pages.page import Page, figure
from recframe.look.pages.parts import Cell, Column, Content, Section, Table, Text
from recframe.look.pages.runs_behind import about_definitions, about_runs, time
from recframe.uncertainty.rounded import rounded

MOST_FLAGGED, MOST_NEWEST = 200, 100
"""Rows of tables, so that a page stays small."""
MARKS = {"better": "better", "worse": "worse", "higher": "warning", "lower": "warning"}
NONE = "\N{EN DASH}"
EVERYBODY = "all users"


@dataclass(frozen=True)
class Told:
    """What a page of a history is made of."""

    numbers: pl.DataFrame
    """The columns of `changes`, with `split_by` and `n_users`."""
    keys: Sequence[str]
    """The columns of segments and models."""
    about: pl.DataFrame
    """What is known of each run and metric: `tracked_run.ABOUT` and tags."""
    charts: Mapping[str, Any]
    """Of metrics, by their names."""
    metrics: Sequence[str]
    model: str
    window: int
    level: float
    title: str

    @property
    def newest(self) -> list[dict[str, Any]]:
        """The numbers of the newest run of each name."""
        last = pl.col("as_of").max().over("name")
        return self.numbers.filter(pl.col("as_of") == last).to_dicts()

    @property
    def flagged(self) -> list[dict[str, Any]]:
        """The numbers that were ever flagged, the newest first."""
        rows = self.numbers.filter("flagged").sort("as_of", descending=True, maintain_order=True)
        return rows.to_dicts()

    def about_whom(self, row: Mapping[str, Any]) -> str:
        """Return the name, the model and the segment that a number is about."""
        split = (row["split_by"] or "").split(", ")
        parts = [row["name"], row.get(self.model) if self.model in self.keys else None]
        found = [str(one) for one in parts if one is not None]
        segments = [
            f"{one}={NONE if row[one] is None else row[one]}"
            for one in self.keys
            if one != self.model and (one in split or row[one] is not None)
        ]
        return " · ".join([*found, *segments]) or EVERYBODY


def page(told: Told) -> Page:
    """Return the page of a history."""
    runs = told.numbers.select("as_of", "name").unique()
    first, last = runs["as_of"].min(), runs["as_of"].max()
    content = Content(
        told.title,
        f"{_counted(runs.height, 'run')} from {time(first)} to {time(last)}.",
        [
            _newest(told),
            _flagged(told),
            _over_time(told),
            about_definitions(told.about),
            about_runs(told.about, told.numbers),
        ],
        facts=[
            ("newest run", time(last)),
            ("runs", f"{runs.height:,}"),
            ("metrics", f"{len(told.metrics):,}"),
            ("flagged", f"{len(told.flagged):,}"),
        ],
        data={"newest": told.newest, "flagged": told.flagged},
        footer=f"Made by recframe {recframe.__version__}.",
    )
    return Page(content)


COLUMNS = (
    Column("metric", told="and below it the users that the number covers"),
    Column("value", "number", "the number, and below it its interval"),
    Column("expected", "number", "what the runs before predict, and below it the band"),
    Column("change", "number", "the value minus what is expected"),
    Column("verdict", "verdict"),
    Column("note"),
)


def _newest(told: Told) -> Section:
    rows, n = told.newest, len(told.newest)
    flags = [row for row in rows if row["flagged"]]
    judged = [row for row in rows if row["p_value"] is not None]
    lead = f"The newest run has {_counted(n, 'number')}; "
    if judged:
        lead += (
            f"{_counted(len(flags), 'of them is', 'of them are')} not what the runs before predict."
        )
    else:
        lead += f"there are too few runs before it to say what is expected: half of {told.window} are needed."
    # those of segments where there is something to say, behind those of all users
    of_all = [row for row in rows if not _is_of_segment(row, told)]
    shown = [*of_all, *(row for row in rows if _is_of_segment(row, told) and row["flagged"])]
    left = n - len(shown[:MOST_NEWEST])
    notes = (
        [f"{_counted(left, 'number')} of segments, as expected or open, left out."] if left else []
    )
    table = Table(
        "Newest numbers", COLUMNS, [_cells(row, told) for row in shown[:MOST_NEWEST]], notes
    )
    return Section(
        "newest", "The newest run", lead, [table] if shown else [], [], notes if not shown else []
    )


def _flagged(told: Told) -> Section:
    rows = told.flagged
    judged = told.numbers["p_value"].count()
    lead = f"Of {_counted(judged, 'number')} that could be judged, {_counted(len(rows), 'is', 'are')} flagged."
    rule = (
        f"A number is flagged where it lies outside the band that up to {told.window} runs before it predict, at "
        f"{told.level * 100:.6g} % for all numbers of a run together. So about one run in {1 / (1 - told.level):.0f} has a "
        "flag though nothing changed; numbers with heavy tails have more."
    )
    columns = [Column("as of"), *COLUMNS]
    cells = [[Cell(time(row["as_of"])), *_cells(row, told)] for row in rows[:MOST_FLAGGED]]
    left = len(rows) - len(cells)
    notes = [f"{_counted(left, 'earlier one')} left out."] if left else []
    table = Table("Flagged changes, the newest first", columns, cells, notes)
    return Section("flagged", "Flagged changes", lead, [Text([rule]), *([table] if cells else [])])


def _over_time(told: Told) -> Section:
    alt = "A line for each model: {} of the runs in the order of their time, and what the runs before predict."
    figures = [
        figure(f"chart-{place}", chart, alt.format(name))
        for place, (name, chart) in enumerate(told.charts.items())
    ]
    left = list(told.metrics)[len(figures) :]
    missing = [f"Without a chart: {', '.join(left)}."] if left else []
    return Section(
        "over-time",
        "Over time",
        f"{_counted(len(figures), 'metric')}, run by run.",
        figures,
        [],
        missing,
    )


def _is_of_segment(row: Mapping[str, Any], told: Told) -> bool:
    others = [one for one in told.keys if one != told.model and row[one] is not None]
    return bool(others) or (row["split_by"] or told.model) != told.model


def _cells(row: Mapping[str, Any], told: Told) -> list[Cell]:
    verdict = row["verdict"]
    return [
        Cell(row["metric"], told.about_whom(row)),
        Cell(_number(row["value"]), _ends(row, "value")),
        Cell(_number(row["expected"]), _ends(row, "expected")),
        Cell(_number(row["change"], sign=True)),
        Cell(verdict, mark=MARKS.get(verdict, "open" if verdict == "open" else "same")),
        Cell(row["note"] or ""),
    ]


def _number(value: float | None, *, sign: bool = False) -> str:
    if value is None:
        return NONE
    return ("+" if sign and value > 0 else "") + rounded(value)


def _ends(row: Mapping[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "" if low is None or high is None else f"{rounded(low)} to {rounded(high)}"


def _counted(n: int, one: str, several: str = "") -> str:
    return f"{n:,} {one if n == 1 else several or one + 's'}"
