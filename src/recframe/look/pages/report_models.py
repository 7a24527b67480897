"""The sections of a report on models: their values, how they compare, over the cut-off, and how users differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from recframe.look.pages import words
from recframe.look.pages.findings_of_a_report import Drawn, Gathered
from recframe.look.pages.page import figure
from recframe.look.pages.parts import Cell, Column, Figure, Section, Table, Text
from recframe.metrics.language.definition import Metric

Row = Mapping[str, Any]
MOST_ROWS = 60
"""Of a table; a page says how many were left out."""
MARKS = {
    **dict.fromkeys(("better", "not worse"), "better"),
    **dict.fromkeys(("worse", "not better"), "worse"),
    **dict.fromkeys(("same", "higher", "lower"), "same"),
}
"""How verdicts look, by their words."""


def left_out(found: int, shown: int, noun: str) -> list[str]:
    """Say how many rows a table does not have."""
    return [f"{found - shown:,} more {noun} are not shown."] if found > shown else []


def figures(found: Gathered, section: str) -> list[Figure]:
    """Return the charts of a section."""
    return [_figure(one) for one in found.charts.get(section, ())]


def _figure(one: Drawn) -> Figure:
    made = figure(one.name, one.chart, "")
    alt = one.alt or f"Chart: {made.title}. {made.told} Its numbers stand below it."
    return Figure(made.name, made.title, made.told, alt, made.spec)


def headline(found: Gathered) -> str:
    """Return what is seen first, in a sentence."""
    if found.compared is not None and len(found.compared):
        return _verdict(_first_compared(found))
    if found.summary is None or not len(found.summary):
        return ""
    return _best(found)


def _first_compared(found: Gathered) -> Row:
    """Return the comparison to speak of: of the first metric, that of the model with the best value."""
    frame, metric = found.compared, found.asked.metrics[0]
    if frame is None:
        return {}
    rows = frame.to_dicts()
    rows = [one for one in rows if one["metric"] == str(metric)] or rows
    sign = -1 if metric.definition.direction == "lower" else 1
    known = [one for one in rows if one["value"] is not None]
    if found.asked.baseline is None:
        return max(known or rows, key=lambda one: abs(one["difference"] or 0.0))
    return max(known or rows, key=lambda one: sign * (one["value"] or 0.0))


def _verdict(row: Row) -> str:
    """Return a comparison as a sentence."""
    users = words.counted(row["n_users"], "user")
    pair = f"{row['model']} is {{}} {row['baseline']}"
    size = abs(row["difference"] or 0.0)
    ends = sorted((abs(row["difference_low"] or 0.0), abs(row["difference_high"] or 0.0)))
    by = f" by {words.number(size)} ({words.interval(*ends)}) in {row['metric']}, {users}."
    told = {
        "better": "better than",
        "worse": "worse than",
        "higher": "higher than",
        "lower": "lower than",
        "same": "the same as",
        "not worse": "not worse than",
        "not better": "not better than",
    }
    if row["verdict"] in {"better", "worse", "higher", "lower"}:
        return pair.format(told[row["verdict"]]) + by
    ends_signed = words.with_interval(row, "difference", sign=True)
    if row["verdict"] in told:
        return (
            pair.format(told[row["verdict"]])
            + f" in {row['metric']}: a difference of {ends_signed}, {users}."
        )
    return (
        f"Whether {row['model']} differs from {row['baseline']} in {row['metric']} is open: "
        f"a difference of {ends_signed}, {users}."
    )


def _best(found: Gathered) -> str:
    """Return the best value of the first metric as a sentence."""
    if found.summary is None:
        return ""
    metric = found.asked.metrics[0]
    rows = [one for one in found.summary.to_dicts() if one["metric"] == str(metric)]
    known = [one for one in rows if one["value"] is not None]
    if not known:
        return f"No user has a value of {metric}."
    lower = metric.definition.direction == "lower"
    best = (min if lower else max)(known, key=lambda one: one["value"])
    value = words.with_interval(best, "value")
    noun = "list" if metric.definition.over_lists else "user"
    users = words.counted(best["n_users"], noun)
    if not found.has_models:
        return f"{metric} is {value}, over {users}."
    extreme = "highest" if not lower else "lowest"
    return f"{best['model']} has the {extreme} {metric}: {value}, over {users}."


def overview(found: Gathered) -> Section | None:
    """Return the values with their intervals."""
    if not found.asked.metrics and not found.warnings:
        return None
    parts: list[Any] = [_values(found)] if found.summary is not None and len(found.summary) else []
    lead = _best(found) if parts else "No accuracy metric could be computed."
    for name, text in found.meanings:
        parts.append(Text(words.blocks(text.partition("\n\n")[2]), f"What {name} means"))
    notes = [*found.warnings, *_notes(found)]
    return Section("overview", "Overview", lead, parts, notes, found.missing.get("overview", ()))


def _notes(found: Gathered) -> Iterator[str]:
    """Give what is to be known of the intervals, each once."""
    if found.summary is None:
        return
    rows = found.summary.to_dicts()
    yield from words.noted(
        [
            (
                row["note"],
                f"{row['model']} ({row['metric']})" if found.has_models else row["metric"],
            )
            for row in rows
        ]
    )


def _values(found: Gathered) -> Table:
    """Return a table of models and metrics."""
    rows = {} if found.summary is None else _by_model(found.summary.to_dicts())
    metrics = found.asked.metrics
    best = {str(one): _best_of(one, rows) for one in metrics if len(rows) > 1}
    lines = []
    for model, values in rows.items():
        cells = [_value(values.get(str(one)), best.get(str(one))) for one in metrics]
        users = max((one["n_users"] for one in values.values()), default=0)
        lines.append([Cell(model), *cells, Cell(words.count(users))])
    columns = [Column("model" if found.has_models else "")]
    columns += [Column(str(one), "number", _range_of(one)) for one in metrics]
    caption = f"Mean of each metric, with its interval at {found.sure}"
    notes = (
        ["Bold: the best value. An interval shows where the value lies among all users like these."]
        if best
        else []
    )
    return Table(caption, [*columns, Column("users", "number")], lines, notes)


def _range_of(metric: Metric[...]) -> str:
    direction = metric.definition.direction
    low, high = metric.range
    return f"{low:g} to {high:g}{f', {direction} is better' if direction else ''}"


def _by_model(rows: Sequence[Row]) -> dict[str, dict[str, Row]]:
    found: dict[str, dict[str, Row]] = {}
    for row in rows:
        found.setdefault(row["model"], {})[row["metric"]] = row
    return found


def _best_of(metric: Metric[...], rows: Mapping[str, Mapping[str, Row]]) -> float | None:
    direction = metric.definition.direction
    values = [one[str(metric)]["value"] for one in rows.values() if str(metric) in one]
    known = [one for one in values if one is not None]
    if not known or not direction:
        return None
    best: float = min(known) if direction == "lower" else max(known)
    return best


def _value(row: Row | None, best: float | None) -> Cell:
    if row is None:
        return Cell(words.NONE)
    ends = words.interval(row["value_low"], row["value_high"])
    is_best = row["value"] is not None and row["value"] == best
    return Cell(words.number(row["value"]), ends, "best" if is_best else "")


def comparison(found: Gathered) -> Section | None:
    """Return models held against one another."""
    missing = found.missing.get("comparison", ())
    if found.compared is None:
        return None
    rows = found.compared.to_dicts()
    lead = _verdict(_first_compared(found)) if rows else "There are not two models to compare."
    parts = [*figures(found, "comparison"), _differences(found, rows[:MOST_ROWS], len(rows))]
    notes = [f"{one}: no test is known." for one in found.untested]
    notes += words.noted([(row["note"], f"{row['model']} ({row['metric']})") for row in rows])
    return Section("comparison", "Comparison of models", lead, parts, notes, missing)


def _differences(found: Gathered, rows: Sequence[Row], n: int) -> Table:
    names = ["model", "against", "metric"]
    columns = [*(Column(one) for one in names), Column("verdict", "verdict")]
    columns += [
        Column("difference", "number", "mean over users with both values, and its interval"),
        Column("relative", "number", "difference over the baseline's value"),
        Column(
            "p", "number", "p value of the paired t test, after Holm's correction for the table"
        ),
        Column(
            "users better / same / worse", "number", "users whose value is higher, the same, lower"
        ),
        Column("users", "number"),
    ]
    lines = [_difference(row) for row in rows]
    notes = [
        "Verdicts by the paired t test after Holm's correction; open: no difference is shown; the models need not be alike."
    ]
    caption = f"Differences, with their intervals at {found.sure}"
    return Table(caption, columns, lines, [*notes, *left_out(n, len(rows), "rows")])


def _difference(row: Row) -> list[Cell]:
    counts = words.NONE
    if row["wins"] is not None:
        counts = " / ".join(words.count(row[one]) for one in ("wins", "ties", "losses"))
    ends = words.interval(row["difference_low"], row["difference_high"], sign=True)
    return [
        Cell(row["model"]),
        Cell(row["baseline"]),
        Cell(row["metric"]),
        Cell(row["verdict"] or words.NONE, "", MARKS.get(row["verdict"], "open")),
        Cell(words.number(row["difference"], sign=True), ends),
        Cell(words.per_cent(row["relative"], sign=True)),
        Cell(words.p_value(row["p_adjusted"])),
        Cell(counts),
        Cell(words.count(row["n_users"])),
    ]


def curves(found: Gathered) -> Section | None:
    """Return metrics over the cut-off."""
    parts = figures(found, "curves")
    if not parts:
        return None
    names = [one.title for one in parts]
    lead = f"How the numbers change with the cut-off: {words.listed([one[0].lower() + one[1:] for one in names])}."
    return Section("curves", "Over the cut-off", lead, parts)


def distributions(found: Gathered) -> Section | None:
    """Return how users' values are spread."""
    parts = figures(found, "distributions")
    if not parts or found.zeros is None or found.zeros.is_empty():
        return None
    metric = found.zeros["metric"][0]
    rows = [one for one in found.zeros.to_dicts() if one["metric"] == metric]
    shares = [
        words.of_model(words.per_cent(one["share"]), one["model"] if found.has_models else "")
        for one in rows
    ]
    lead = f"The share of users with {metric} = 0: {words.listed(shares)}. A mean hides who they are; see the cases."
    return Section("distributions", "How users differ", lead, parts)
