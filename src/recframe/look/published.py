"""Summaries as tables to publish: cells of values and verdicts, titles, and notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.frames.dtypes import text_of
from recframe.look.table import BETTER, MARKS, WORSE, Cell, Table
from recframe.metrics.language.definition import Metric

MISSING = "\N{EN DASH}"
Key = tuple[Any, ...]
"""A segment, a model and a metric, or the first of these."""


@dataclass(frozen=True)
class Publication:
    """A summary as a table to publish, and the notes on how it was made."""

    metrics: Sequence[Metric[...]]
    verdicts: Mapping[Key, str]
    """By the segment, the model and the metric."""
    untested: Sequence[str]
    """Metrics of which no test is known."""
    baseline: str | None
    decimals: int
    intervals: bool
    level: float
    title: str

    def table(self, summary: pl.DataFrame, keys: Mapping[str, str], model: str | None) -> Table:
        """Return a row for each model, in groups by segment; or for each segment, without models.

        `keys` are the names that the columns of segments and of the model have for readers, by those that they have here.
        """
        groups = [key for key in keys if key != model]
        ordered = summary.sort(groups, nulls_last=True, maintain_order=True) if groups else summary
        found: dict[Key, dict[Any, dict[str, Any]]] = {}
        for row in ordered.to_dicts():
            of_group = found.setdefault(tuple(row[key] for key in groups), {})
            of_group.setdefault(row.get(model or ""), {})[row["metric"]] = row
        titles = _names(list(found))
        names = _names([(name,) for models in found.values() for name in models])
        rows: list[tuple[str, str, tuple[Cell, ...]]] = []
        for group, models in found.items():
            best = [self._best(str(one), one.definition.direction, models) for one in self.metrics]
            for name, values in models.items():
                cells = tuple(
                    self._cell(values[str(one)], text, self.verdicts.get((*group, name, str(one))))
                    for one, text in zip(self.metrics, best, strict=True)
                )
                above = (titles[group], names[name,]) if model else ("", titles[group])
                rows.append((*above, cells))
        by = ", ".join(keys[key] for key in groups)
        notes = [*self._notes(summary), *self._legend([row[-1] for row in rows])]
        heads = (by, keys[model]) if model else ("", by)
        return Table(_columns(self.metrics), heads, tuple(rows), tuple(notes), self.title)

    def _number(self, value: float | None) -> str:
        # without -0
        n = self.decimals
        return MISSING if value is None else f"{round(value, n) + 0.0:.{n}f}"

    def _best(self, metric: str, direction: str | None, models: Mapping[Any, Any]) -> str | None:
        """Return the best value as it is shown: models that look alike are equally good."""
        values = [values[metric]["value"] for values in models.values()]
        known = [value for value in values if value is not None]
        # where all look alike, none is better
        if not direction or len({*map(self._number, known)}) < 2:  # noqa: PLR2004  two that differ
            return None
        return self._number(max(known) if direction == "higher" else min(known))

    def _cell(self, row: Mapping[str, Any], best: str | None, verdict: str | None) -> Cell:
        numbers = (self._number(row[one]) for one in ("value", "value_low", "value_high"))
        value, low, high = numbers
        is_sure = self.intervals and MISSING not in {low, high}
        mark = MARKS.get(verdict or "", "")
        return Cell(value, f"[{low}, {high}]" if is_sure else "", mark, best=value == best)

    def _notes(self, summary: pl.DataFrame) -> list[str]:
        """Return of how many users the numbers speak, and how sure they are."""
        counts: dict[str, list[str]] = {}
        for metric in map(str, self.metrics):
            n = summary.filter(pl.col("metric") == metric)["n_users"].to_list()
            ends = [f"{end:,}" for end in (min(n, default=0), max(n, default=0))]
            counts.setdefault(" to ".join(dict.fromkeys(ends)), []).append(metric)
        of = [f"{n} ({', '.join(names)})" for n, names in counts.items()]
        notes = [f"Users: {'; '.join(of if len(counts) > 1 else counts)}."]
        if self.intervals:
            notes.append(f"In brackets: the interval at {self.level:.10g} of each value.")
        return notes

    def _legend(self, rows: Sequence[Sequence[Cell]]) -> list[str]:
        """Return the meaning of the signs of a table, of those that stand in it."""
        lowest = [str(one) for one in self.metrics if one.definition.direction == "lower"]
        of_lowest = f"; of {', '.join(lowest)} the lowest" if lowest else ""
        has_best = any(cell.best for cells in rows for cell in cells)
        notes = [f"Bold: the best model{of_lowest}."] if has_best else []
        if self.baseline is None:
            return notes
        said, none = {*self.verdicts.values()}, ", of a metric without a direction)"
        better, worse = (
            f"{word} ({other}{none}" if other in said else word
            for word, other in (("better", "higher"), ("worse", "lower"))
        )
        notes.append(
            f"{BETTER} {better}, {WORSE} {worse} than {self.baseline}: paired t test, "
            f"p of at most {1 - self.level:.6g} after Holm's correction for all tests of the table."
        )
        if self.untested:
            notes.append(f"Not tested: {', '.join(self.untested)}.")
        return notes


def _names(keys: Sequence[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
    """Return keys as text, no two of them alike: null is "null", or "(null)" beside that text."""
    columns = (map(text_of, column) for column in zip(*keys, strict=True))
    none = ["(null)" if "null" in texts else "null" for texts in columns]
    found: dict[tuple[Any, ...], str] = {}
    seen = Counter[str]()
    for key in dict.fromkeys(keys):
        parts = (n if one is None else text_of(one) for one, n in zip(key, none, strict=True))
        text = ", ".join(parts)
        seen[text] += 1
        found[key] = text if seen[text] == 1 else f"{text} ({seen[text]})"
    return found


def _columns(metrics: Sequence[Metric[...]]) -> tuple[tuple[str, str], ...]:
    """Return what stands above each column, where a metric is there at several cut-offs, and its title."""
    apart = [str(one).rpartition("@") for one in metrics]
    many = Counter(name for name, _, _ in apart if name)
    return tuple(
        (name, f"@{cut}") if many[name] > 1 else ("", str(metric))
        for (name, _, cut), metric in zip(apart, metrics, strict=True)
    )
