"""The runs behind the numbers of a history: what metrics stood for, versions, data that repeat, and tags."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import polars as pl

from recframe.look.pages.parts import Cell, Column, Section, Table

MOST_RUNS = 200
VERSIONS = ("recframe", "polars")
NONE = "\N{EN DASH}"


def about_definitions(about: pl.DataFrame) -> Section:
    """Return the section on what changed in how numbers were made: definitions and versions."""
    known = about.filter(pl.col("definition").is_not_null())
    meant = _turns(known, ["name", "metric"], "definition")
    made = [turn for one in VERSIONS for turn in _turns(about, ["name"], one)]
    tables = [
        _table(
            "Metrics whose meaning changed",
            ["metric", "stood for", "stands for"],
            meant,
        ),
        _table("Versions that changed", ["what", "before", "after"], made),
    ]
    lead = (
        "The meaning of a metric changed: numbers from before and after the change are not compared."
        if meant
        else "Every metric means the same in all runs."
    )
    parts = [one for one in tables if one.rows]
    return Section("definitions", "What the numbers stand for", lead, parts)


def _table(caption: str, titles: Sequence[str], turns: Sequence[dict[str, Any]]) -> Table:
    """Return a table of what turned into something else; the first title is also the name of what did."""
    what, before, after = titles
    rows = [
        [Cell(row[what]), Cell(time(row["as_of"])), Cell(row["before"]), Cell(row["now"])]
        for row in turns
    ]
    return Table(caption, [Column(one) for one in (what, "from", before, after)], rows)


def _turns(about: pl.DataFrame, of: Sequence[str], what: str) -> list[dict[str, Any]]:
    """Return where the values of a column turn into others, in the order of time."""
    rows = (
        about.select("as_of", *of, what)
        .unique(maintain_order=True)
        .sort("as_of", maintain_order=True)
    )
    before = pl.col(what).shift().over(of)
    turned = rows.with_columns(before=before).filter(pl.col("before") != pl.col(what))
    return turned.rename({what: "now"}).with_columns(what=pl.lit(what)).to_dicts()


def about_runs(about: pl.DataFrame, numbers: pl.DataFrame) -> Section:
    """Return the section on the runs: when, of which data, made by which versions, with which tags."""
    tags = [one for one in about.columns if one.startswith("tag_")]
    runs = _runs(about, numbers, tags)
    n_again = runs["same_as"].count()
    lead = f"{runs.height:,} run{'s' * (runs.height != 1)}, the newest first; each with the fingerprint of its data."
    notes = [_repeated(n_again)] if n_again else []
    shown = runs.head(MOST_RUNS).to_dicts()
    left = runs.height - len(shown)
    table = Table(
        "Runs",
        [
            *(Column(one) for one in ("as of", "name", "data", *VERSIONS)),
            *(Column(one.removeprefix("tag_")) for one in tags),
            *(Column(one, "number") for one in ("metrics", "flagged")),
        ],
        [_run(row, tags) for row in shown],
        [f"{left:,} earlier left out."] if left else [],
    )
    return Section("runs", "Runs", lead, [table], notes)


def _runs(about: pl.DataFrame, numbers: pl.DataFrame, tags: Sequence[str]) -> pl.DataFrame:
    """Return a row for each run, with how many of its numbers are flagged, and which earlier one is of the same data."""
    key = ["as_of", "name", "fingerprint"]
    runs = about.group_by(key, maintain_order=True).agg(
        pl.col("metric").n_unique().alias("metrics"),
        *(pl.col(one).last() for one in (*VERSIONS, *tags)),
    )
    runs = runs.sort("as_of", descending=True, nulls_last=True, maintain_order=True)
    flags = numbers.group_by("as_of", "name").agg(pl.col("flagged").sum())
    runs = runs.join(
        flags, on=["as_of", "name"], how="left", nulls_equal=True, maintain_order="left"
    )
    first = pl.col("as_of").min().over("name", "fingerprint")
    again = pl.col("fingerprint").is_not_null() & (pl.col("as_of") > first)
    return runs.with_columns(same_as=pl.when(again).then(first))


def _repeated(n: int) -> str:
    return (
        f"{n:,} run{' is' if n == 1 else 's are'} of the same data as an earlier one of their name: was the data not updated? "
        "They count once in what is expected."
    )


def _run(row: dict[str, Any], tags: Sequence[str]) -> list[Cell]:
    same = "" if row["same_as"] is None else f"as on {time(row['same_as'])}"
    return [
        Cell(time(row["as_of"])),
        Cell(row["name"] or NONE),
        Cell(row["fingerprint"] or NONE, same),
        *(Cell(row[one] or NONE) for one in (*VERSIONS, *tags)),
        Cell(f"{row['metrics']:,}"),
        Cell(f"{row['flagged'] or 0:,}"),
    ]


def time(of: Any) -> str:
    """Return a time as text, the first moment of a day as the day."""
    if isinstance(of, datetime):
        whole = of.time() == datetime.min.time()
        return of.date().isoformat() if whole else of.isoformat(" ", timespec="minutes")
    return of.isoformat() if isinstance(of, date) else NONE
