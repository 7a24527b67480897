"""The section of a report on segments: the gaps between them, those that are the worst off, and a chart of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recframe.look.pages import words
from recframe.look.pages.findings_of_a_report import Gathered
from recframe.look.pages.parts import Cell, Column, Section, Table
from recframe.look.pages.report_models import MOST_ROWS, figures, left_out

Row = Mapping[str, Any]
MOST_SLICES = 12
SURE = 0.05


def segments(found: Gathered) -> Section | None:
    """Return segments with their gaps."""
    missing = found.missing.get("segments", ())
    if found.gaps is None:
        return None
    gaps = found.gaps.to_dicts()
    parts: list[Any] = [_gaps(found, gaps)]
    parts += figures(found, "segments")
    if found.slices is not None and len(found.slices):
        parts.append(_slices(found, found.slices.to_dicts()))
    notes = words.noted([(row["note"], row["by"]) for row in gaps])
    return Section("segments", "Segments", _lead(gaps), parts, notes, missing)


def _lead(gaps: Sequence[Row]) -> str:
    """Return the surest of the widest gaps as a sentence."""
    known = [one for one in gaps if one["gap"] is not None]
    if not known:
        return "No two segments are large enough to be compared."
    first = [one for one in known if one["metric"] == known[0]["metric"]]
    widest = max(first, key=lambda one: one["gap"])
    of = "" if widest["model"] == "all lists" else f" with {widest['model']}"
    values = f"{words.number(widest['best_value'])} against {words.number(widest['worst_value'])}"
    said = f"By {widest['by']}, {widest['metric']}{of} is the furthest apart between {widest['best']} and {widest['worst']}"
    gap = f"a gap of {words.with_interval(widest, 'gap')}"
    sure = "" if (widest["gap_low"] or 0) > 0 else ", which may be chance"
    return f"{said}: {values}, {gap}{sure}."


def _gaps(found: Gathered, rows: Sequence[Row]) -> Table:
    has_models = found.has_models
    columns = [Column("by"), *([Column("model")] if has_models else []), Column("metric")]
    columns += [
        Column("best", "text", "the segment with the best value, of those with enough users"),
        Column("", "number"),
        Column("worst", "text"),
        Column("", "number"),
        Column(
            "gap",
            "number",
            "best minus worst; its interval holds for all pairs of segments at once",
        ),
        Column("p", "number", "under the hypothesis that no two segments differ"),
        Column("segments", "number"),
    ]
    lines = [_gap(row, has_models=has_models) for row in rows[:MOST_ROWS]]
    notes = [f"Segments with fewer than {found.asked.min_users} users are neither best nor worst."]
    caption = "The best and the worst segment of each column"
    return Table(caption, columns, lines, [*notes, *left_out(len(rows), len(lines), "rows")])


def _gap(row: Row, *, has_models: bool) -> list[Cell]:
    small = f"{row['n_small']:,} small" if row["n_small"] else ""
    return [
        Cell(row["by"]),
        *([Cell(row["model"])] if has_models else []),
        Cell(row["metric"]),
        *_end(row, "best"),
        *_end(row, "worst"),
        Cell(words.number(row["gap"]), words.interval(row["gap_low"], row["gap_high"])),
        Cell(words.p_value(row["p_value"])),
        Cell(words.count(row["n_segments"]), small),
    ]


def _end(row: Row, name: str) -> list[Cell]:
    if row[name] is None:
        return [Cell(words.NONE), Cell("")]
    users = words.counted(row[f"{name}_n_users"], "user")
    return [Cell(row[name]), Cell(words.number(row[f"{name}_value"]), users)]


def _slices(found: Gathered, rows: Sequence[Row]) -> Table:
    """Return the segments that are the worst off, against all other users."""
    has_models = found.has_models
    columns = [Column("segment"), *([Column("model")] if has_models else [])]
    columns += [
        Column("users", "number"),
        Column(str(rows[0]["metric"]), "number"),
        Column("all others", "number"),
        Column("difference", "number", "its interval holds for all segments at once"),
        Column("p", "number", "after Holm's correction"),
    ]
    worst = sorted(rows, key=lambda one: (one["p_adjusted"] is None, _from_rest(found, one)))
    lines = [_slice(row, has_models=has_models) for row in worst[:MOST_SLICES]]
    notes = left_out(len(rows), len(lines), "segments")
    return Table("Segments against all other users, the worst first", columns, lines, notes)


def _from_rest(found: Gathered, row: Row) -> float:
    lower = found.asked.metrics[0].definition.direction == "lower"
    difference: float = row["difference"] or 0.0
    return -difference if lower else difference


def _slice(row: Row, *, has_models: bool) -> list[Cell]:
    ends = words.interval(row["difference_low"], row["difference_high"], sign=True)
    return [
        Cell(row["segment"]),
        *([Cell(row["model"])] if has_models else []),
        Cell(words.count(row["n_users"])),
        Cell(words.number(row["value"]), words.interval(row["value_low"], row["value_high"])),
        Cell(words.number(row["rest"])),
        Cell(words.number(row["difference"], sign=True), ends),
        Cell(words.p_value(row["p_adjusted"])),
    ]
