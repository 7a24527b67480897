"""The result of a run: as a dict that goes to JSON, and that dict as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import machine
from contenders import EAGER, LOOP, METRICS
from data import IDS, ORDERS, SHAPES, Settings
from timing import Timed

HEADINGS = ["", "median s", "minimum s", "x loop", "x loop (min)", "x eager"]


def collect(
    settings: Settings, k: int, entries: Sequence[Timed], numbers: Mapping[str, list[float]]
) -> dict[str, Any]:
    """Return everything about a run: settings, machine, versions, sizes, the numbers, each contender's seconds and ratios."""
    largest = next(entry.case for entry in entries if entry.scale == 1)
    by_name = {entry.contender.name: entry for entry in entries}
    return {
        "settings": asdict(settings) | {"k": k, "metrics": METRICS},
        "machine": machine.describe(),
        "versions": machine.versions(),
        "rows": [len(frame) for frame in largest.given],
        "relevant_rows": int((largest.judged["relevance"] > 0).sum()),
        "numbers": dict(zip(METRICS, numbers[LOOP], strict=True)),
        "contenders": [_entry(entry, by_name[LOOP], by_name.get(EAGER)) for entry in entries],
    }


def _entry(entry: Timed, loop: Timed, eager: Timed | None) -> dict[str, Any]:
    return {
        "name": entry.contender.name,
        "users": entry.case.n_users,
        "scale": entry.scale,
        "seconds": entry.seconds,
        "median": entry.median,
        "minimum": entry.minimum,
        "ratio_to_loop": entry.median / loop.median,
        "ratio_to_loop_of_minima": entry.minimum / loop.minimum,
        "ratio_to_eager": entry.median / eager.median if eager else None,
    }


def text(result: Mapping[str, Any]) -> str:
    """Return the readable form of a result."""
    return "\n".join([*_heading(result), "", *_table(result["contenders"]), "", *_notes(result)])


def _heading(result: Mapping[str, Any]) -> list[str]:
    settings = result["settings"]
    rows = " + ".join(f"{count:,}" for count in result["rows"])
    metrics = ", ".join(f"{name} {value:.6f}" for name, value in result["numbers"].items())
    share = result["relevant_rows"] / (settings["users"] * settings["length"])
    return [
        f"{SHAPES[settings['shape']]}: {rows} rows, {settings['users']:,} users x {settings['length']}, {share:.1%} relevant",
        f"ids {IDS[settings['ids']]}; {ORDERS[settings['order']]}",
        f"at k = {settings['k']}, the same from all to 1e-9: {metrics}",
        ", ".join(f"{name} {value}" for name, value in result["machine"].items()),
        ", ".join(f"{name} {value}" for name, value in result["versions"].items()),
    ]


def _table(contenders: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [HEADINGS, *(_row(one) for one in contenders)]
    if any("peak_bytes" in one for one in contenders):
        cells = [
            "peak MB",
            *(f"{_mark(one)}{one['peak_bytes'] * one['scale'] / 1e6:,.0f}" for one in contenders),
        ]
        rows = [[*row, cell] for row, cell in zip(rows, cells, strict=True)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(_aligned, row, widths, range(len(row)))) for row in rows]
    return [lines[0], "-" * len(lines[0]), *lines[1:]]


def _aligned(cell: str, width: int, place: int) -> str:
    return cell.rjust(width) if place else cell.ljust(width)


def _row(one: Mapping[str, Any]) -> list[str]:
    ratios = [one["ratio_to_loop"], one["ratio_to_loop_of_minima"], one["ratio_to_eager"]]
    seconds = [f"{_mark(one)}{one[name]:.4f}" for name in ("median", "minimum")]
    return [one["name"], *seconds, *("" if ratio is None else f"{ratio:.2f}" for ratio in ratios)]


def _mark(one: Mapping[str, Any]) -> str:
    return "~" if one["scale"] != 1 else ""


def _notes(result: Mapping[str, Any]) -> list[str]:
    contenders = result["contenders"]
    notes = [
        f"Interleaved repeats, {len(contenders[0]['seconds'])} of each, after one untimed run.",
        "The loop: one thread, from sorted arrays without nulls. The others: from the frames, conversion counted.",
        "cut: lists are cut at k before they are converted.",
    ]
    scaled = next((one for one in contenders if one["scale"] != 1), None)
    if scaled:
        notes.append(
            f"~ run on the first {scaled['users']:,} users, time (and memory) scaled by {scaled['scale']:g}."
        )
    if "input_bytes" in result:
        notes.append(
            f"peak MB: over what was held before the run; the input frames are {result['input_bytes'] / 1e6:,.0f} MB."
        )
    return notes
