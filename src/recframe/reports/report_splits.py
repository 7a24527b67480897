"""Section of a report on the split of its lists."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.audit import report as audit
from recframe.audit.findings import meanings_of_checks
from recframe.charts.formatting import (
    NONE,
    Cell,
    Column,
    Row,
    Table,
    count,
    counted,
    number,
    per_cent,
    share,
    table,
    text,
)
from recframe.charts.split_charts import chart_of
from recframe.charts.themes import Look
from recframe.errors import RecframeWarning, short
from recframe.metrics.language.definition import Metric
from recframe.reports.decision import sign_of
from recframe.reports.page import Section, figure, where_it_can
from recframe.reports.report_tables import findings_table
from recframe.splits.baselines import BOUNDS
from recframe.splits.description import described, rows_of
from recframe.splits.labelling import Labels

POPULAR, ORACLE = "popular", BOUNDS[0]
"""The baselines between which a model's share of the way is."""
ASK = "split.baselines('popular', 'oracle') beside the lists show how far each model comes from one to the other."
FOLDS = (
    Column("fold", "number", write=count),
    Column("train", "number", "rows of train", "rows_train", count),
    Column("truth", "number", "rows of truth", "rows_truth", count),
    Column("users", "number", "users of truth", "users_truth", count),
    Column("share", "number", "rows of truth, of those of train and truth", "share", share),
    Column(
        "cold users",
        "number",
        "rows of truth of users without a row in train",
        "cold_users",
        share,
    ),
    Column(
        "cold items",
        "number",
        "rows of truth of items without a row in train",
        "cold_items",
        share,
    ),
    Column("in train", "number", "rows of truth whose pair is in train", "seen", share),
    Column(
        "recall at most",
        "number",
        "the highest recall of a model that lists items of train alone, a mean over users",
        "ceiling",
        number,
    ),
)


class SectionsOfSplits:
    """The section on the split: its folds, how far models come, values by fold, and its audit."""

    whole: Any
    """The `rec` with the models that are bounds, too."""
    metrics: list[Metric[...]]
    plot: Any
    data: dict[str, list[dict[str, Any]]]

    @property
    def labels(self) -> Labels | None:
        """The labels of the split that bound the frames."""
        found: Labels | None = self.whole._context.split  # noqa: SLF001  the methods of this room
        return found

    def split(self, section: Section) -> None:
        """Show the folds and what they leave to models, how far these come, and what the audit of the split finds."""
        labels = self.labels
        if labels is None:
            return
        rows = _of_folds(labels)
        self.data["split"] = rows
        n_truth = sum(row["rows_truth"] for row in rows)
        folds = f"{counted(len(rows), 'fold')}, with " if len(rows) > 1 else ""
        section.lead = f"{labels.rule.words}: {folds}{counted(n_truth, 'row')} of truth."
        if labels.log.has_time:
            section.parts.append(figure("chart-split", chart_of(labels, Look())))
        columns = FOLDS if len(rows) > 1 else FOLDS[1:]
        section.parts.append(table("The split in numbers", columns, _dated(rows)))
        if self.metrics:
            self._way(section)
            if len(rows) > 1:
                with where_it_can(section):
                    chart = self.plot.folds(self.metrics[0])
                    section.parts.append(figure("chart-folds", chart))
        found = self._keep_findings(labels)
        if found:
            section.parts.append(
                replace(findings_table(found), caption="What the audit of the split finds")
            )

    def _keep_findings(self, labels: Labels) -> list[dict[str, Any]]:
        plan = audit.audit_split(rows_of(labels))
        meanings = meanings_of_checks()
        what = pl.col("check").replace_strict(meanings, default="", return_dtype=pl.String)
        found = labels.log.kind.run(plan).with_columns(what=what)
        self.data["split_findings"] = found.to_dicts()
        return self.data["split_findings"]

    def _way(self, section: Section) -> None:
        """Show the share of the way from popular to the oracle that each model has gone."""
        rows = ways(self._values(), self.metrics)
        if not rows:
            section.missing.append(ASK)
            return
        self.data["way"] = rows
        section.parts.append(_ways_table(rows, self.metrics))

    def _values(self) -> dict[str, dict[str, float | None]]:
        """Return the values of all models, bounds too, by metric."""
        whole = self.whole._in_polars()  # noqa: SLF001
        model = whole._context.model  # noqa: SLF001
        if model is None:
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecframeWarning)
            found = whole.evaluate(self.metrics)
        names = found[model].cast(pl.String).to_list()
        return {
            str(metric): dict(zip(names, found[str(metric)].to_list(), strict=True))
            for metric in self.metrics
        }

    @property
    def facts_of_split(self) -> dict[str, str | None]:
        """The rule of the split, for the head of the page."""
        return {} if self.labels is None else {"Split": short(self.labels.rule.words)}


def ways(
    values: dict[str, dict[str, float | None]], metrics: Sequence[Metric[...]]
) -> list[dict[str, Any]]:
    """Return each model's share of the way from popular to the oracle: (m - popular) / (oracle - popular).

    It is null where the oracle does not beat popular, or a value is missing; without these two there is no row.
    """
    rows = []
    for metric in metrics:
        of = values.get(str(metric), {})
        if POPULAR not in of or ORACLE not in of:
            continue
        start, end, sign = of[POPULAR], of[ORACLE], sign_of(metric)
        is_known = start is not None and end is not None and sign * (end - start) > 0
        for model, value in of.items():
            way = None
            if is_known and value is not None:
                way = (value - start) / (end - start) + 0.0  # type: ignore[operator]  # both are known
            rows.append({"model": model, "metric": str(metric), "value": value, "way": way})
    return rows


def _ways_table(rows: Sequence[Row], metrics: Sequence[Metric[...]]) -> Table:
    """Return models by metrics: the share of the way, and below it the value."""
    sign = sign_of(metrics[0]) or 1
    first = [row for row in rows if row["metric"] == str(metrics[0])] or rows
    ordered = sorted(first, key=lambda row: (row["value"] is None, -sign * (row["value"] or 0.0)))
    names = list(dict.fromkeys(row["model"] for row in ordered))
    cells = {(row["model"], row["metric"]): _way_cell(row) for row in rows}
    shown = [str(one) for one in metrics if (names[0], str(one)) in cells]
    lines = []
    for name in names:
        label = Cell(text(name), "a bound, no candidate" if name in BOUNDS else "")
        lines.append([label, *(cells[name, metric] for metric in shown)])
    columns = [Column("model"), *(Column(one, "number") for one in shown)]
    caption = (
        f"The share of the way from {POPULAR} to {ORACLE} that each model has gone, with its value"
    )
    note = f"(value - {POPULAR}) / ({ORACLE} - {POPULAR}); a dash where {ORACLE} does not beat {POPULAR}."
    return Table(caption, columns, lines, [note])


def _way_cell(row: Row) -> Cell:
    way = NONE if row["way"] is None else per_cent(row["way"])
    return Cell(way, number(row["value"]))


def _of_folds(labels: Labels) -> list[dict[str, Any]]:
    """Return the description of each fold, with the ceiling of recall that cold items leave."""
    folds = rows_of(labels)
    run = labels.log.kind.run
    rows = run(described(folds)).to_dicts()
    ceilings = run(pl.concat([one.shares(~pl.col("of_item")) for one in folds.values()]))
    for row, ceiling in zip(rows, ceilings["ceiling"], strict=True):
        row["ceiling"] = ceiling
    return rows


def _dated(rows: Sequence[Row]) -> Sequence[Row]:
    """Return rows of folds with the ends of train and truth below their numbers of rows."""
    found = []
    for row in rows:
        ends = {}
        for part in ("train", "truth"):
            if row.get(f"{part}_from") is not None:
                low, high = (_day(row[f"{part}_{end}"]) for end in ("from", "to"))
                ends[f"rows_{part}_small"] = f"{low} to {high}"
        found.append({**row, **ends})
    return found


def _day(time: Any) -> str:
    """Return the day of a time, or a number as it is."""
    day = getattr(time, "strftime", None)
    return day("%Y-%m-%d") if day else f"{time:,}"
