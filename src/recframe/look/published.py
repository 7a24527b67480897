"""What a table says: its cells from values and verdicts, what stands above them, and the notes below."""

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
Row = dict[str, Any]
Written = tuple[str, str, tuple[Cell, ...]]
"""The group, the name and the cells of a row."""
Verdicts = Mapping[tuple[Any, ...], str]
"""Verdicts by the segment, the model and the metric."""


@dataclass(frozen=True)
class Looks:
    """How a table is to look, and what its notes tell of how it was made."""

    decimals: int = 3
    intervals: bool = True
    level: float = 0.95
    baseline: str | None = None
    untested: tuple[str, ...] = ()
    """Metrics of which no test is known."""
    title: str = ""


def published(
    summary: pl.DataFrame,
    keys: Mapping[str, str],
    model: str | None,
    metrics: Sequence[Metric[...]],
    verdicts: Verdicts,
    looks: Looks,
) -> Table:
    """Return a summary as a table: a row for each model, in groups by segment; or for each segment, without models.

    `keys` are the names that the columns of segments and of the model have for readers, by those that they have here.
    """
    groups = [key for key in keys if key != model]
    ordered = summary.sort(groups, nulls_last=True, maintain_order=True) if groups else summary
    found: dict[tuple[Any, ...], dict[Any, dict[str, Row]]] = {}
    for row in ordered.to_dicts():
        group = tuple(row[key] for key in groups)
        of_model = found.setdefault(group, {}).setdefault(row.get(model or ""), {})
        of_model[row["metric"]] = row
    rows: list[Written] = []
    titles_of = _names(list(found))
    names_of = _names([(name,) for models in found.values() for name in models])
    for group, models in found.items():
        best = {str(one): _best(one, models, looks) for one in metrics} if len(models) > 1 else {}
        above = titles_of[group]
        for name, values in models.items():
            cells = tuple(
                _cell(
                    values[str(one)], best.get(str(one)), _mark(verdicts, group, name, one), looks
                )
                for one in metrics
            )
            rows.append((above, names_of[name,], cells) if model else ("", above, cells))
    title = ", ".join(keys[key] for key in groups)
    titles = (title, keys[model]) if model else ("", title)
    notes = [*_notes(summary, metrics, looks), *_legend(rows, metrics, verdicts, looks)]
    return Table(_columns(metrics), titles, tuple(rows), tuple(notes), looks.title)


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


def _best(metric: Metric[...], models: Mapping[Any, Mapping[str, Row]], looks: Looks) -> str | None:
    """Return the best value as it is shown: models that look alike are equally good."""
    values = [values[str(metric)]["value"] for values in models.values()]
    known = [value for value in values if value is not None]
    direction = metric.definition.direction
    # where all look alike, none is better
    if not direction or len({_number(value, looks) for value in known}) < min(len(values), 2):
        return None
    return _number(max(known) if direction == "higher" else min(known), looks)


def _number(value: float | None, looks: Looks) -> str:
    # without -0
    return MISSING if value is None else f"{round(value, looks.decimals) + 0.0:.{looks.decimals}f}"


def _cell(row: Row, best: str | None, mark: str, looks: Looks) -> Cell:
    value, low, high = (_number(row[one], looks) for one in ("value", "value_low", "value_high"))
    sure = looks.intervals and MISSING not in {low, high}
    return Cell(value, f"[{low}, {high}]" if sure else "", mark, best=value == best)


def _mark(verdicts: Verdicts, group: tuple[Any, ...], model: object, metric: Metric[...]) -> str:
    return MARKS.get(verdicts.get((*group, model, str(metric)), ""), "")


def _notes(summary: pl.DataFrame, metrics: Sequence[Metric[...]], looks: Looks) -> list[str]:
    """Return what is to be known of the numbers: of how many users they speak, and how sure they are."""
    counts: dict[str, list[str]] = {}
    for metric in metrics:
        n: list[int] = summary.filter(pl.col("metric") == str(metric))["n_users"].to_list()
        least, most = min(n, default=0), max(n, default=0)
        words = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        counts.setdefault(words, []).append(str(metric))
    (first, *others) = counts.items()
    of = [first[0]] if not others else [f"{n} ({', '.join(names)})" for n, names in counts.items()]
    notes = [f"Users: {'; '.join(of)}."]
    if looks.intervals:
        notes.append(f"In brackets: the interval at {looks.level:.10g} of each value.")
    return notes


def _legend(
    rows: Sequence[Written], metrics: Sequence[Metric[...]], verdicts: Verdicts, looks: Looks
) -> list[str]:
    """Return what the signs of a table say, those that stand in it."""
    cells = [cell for _, _, of_row in rows for cell in of_row]
    lowest = ", ".join(str(one) for one in metrics if one.definition.direction == "lower")
    best = f"Bold: the best model; of {lowest} the lowest." if lowest else "Bold: the best model."
    notes = [best] if any(cell.best for cell in cells) else []
    if looks.baseline is None:
        return notes
    said = {*verdicts.values()}
    better = "better (higher, of a metric without a direction)" if "higher" in said else "better"
    worse = "worse (lower, of a metric without a direction)" if "lower" in said else "worse"
    notes.append(
        f"{BETTER} {better}, {WORSE} {worse} than {looks.baseline}: paired t test, "
        f"p of at most {1 - looks.level:.6g} after Holm's correction for all tests of the table."
    )
    if looks.untested:
        notes.append(f"Not tested: {', '.join(looks.untested)}.")
    return notes
