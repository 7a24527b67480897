"""The part of docs/benchmarks.md that is written from what `benchmarks/growth.py` has stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

FRAMES = {"sorted": "one frame", "shuffled": "one frame, shuffled", "two": "two frames"}
MORE = 1.1
"""From this multiple on there are more relevant rows."""
STAGES = {
    "rows taken": "taking the relevant rows",
    "questions": "computing statistics for the plan",
    "values and sums": "the plan itself",
    "between": "the steps between",
}


def text(result: dict[str, Any]) -> str:
    """Return a run as text and Markdown tables."""
    parts = [_head(result), _lines(result["lines"]), _verdict(result)]
    parts += [_head_of_shapes(result["settings"]), _shapes(result["shapes"])]
    parts += [_head_of_threads(result["threads"]), _threads(result["threads"])]
    return "\n\n".join([*parts, _amdahl(result["threads"])])


def _head(result: dict[str, Any]) -> str:
    settings = result["settings"]
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    return (
        f"Six metrics at k = 10 unless noted, one size changed at a time: rows in lists of {settings['length']}; k over "
        f"{settings['k_rows']:,} rows in lists of {settings['k_length']:,}; metrics and cut-offs over {settings['whole']:,} "
        f"rows; models of {settings['model_rows']:,} rows each. {_seconds(settings)}, the fewest of {result['repeats']} "
        f"turns ({machine}). Steepest is the highest slope on logarithmic axes, of parts that add more than "
        f"{settings['weighty']} seconds if any do: 1 is linear, like the dashed lines, and 0 is constant."
    )


def _seconds(settings: dict[str, Any]) -> str:
    return "Seconds" if settings["clock"] == "wall" else "Seconds of all threads together"


def _lines(lines: Sequence[dict[str, Any]]) -> str:
    titles = ["", "frames", "from", "to", "seconds", "steepest", "x compiled loop"]
    return _table(titles, [_line(one) for one in lines])


def _line(one: dict[str, Any]) -> list[str]:
    first, last = one["points"][0], one["points"][-1]
    middle, worst = one["middle"], one["steepest"]
    (seconds,) = (point["minimum"] for point in one["points"] if point["size"] == middle["size"])
    return [
        one["axis"],
        one["name"],
        f"{first['size']:,}",
        f"{last['size']:,}",
        f"{first['minimum']:.3g} to {last['minimum']:.3g}",
        f"{worst['slope']:.2f}, {worst['from']:,} to {worst['to']:,}",
        f"{seconds / middle['loop_seconds']:.1f} at {middle['size']:,}",
    ]


def _verdict(result: dict[str, Any]) -> str:
    """Say what is worse than linear, and which points are cliffs."""
    settings = result["settings"]
    found = [
        f"{one['axis']}, {one['name']}: {finding}"
        for one in result["lines"]
        for finding in one["findings"]
    ]
    if found:
        return f"Worse than linear, or a cliff: {'; '.join(found)}."
    return (
        f"No such part is steeper than {settings['steep']}, and nowhere does one of what there is more of take "
        f"{settings['cliff']} x as long as at the point before: nothing is worse than linear, and there is no cliff."
    )


def _head_of_shapes(settings: dict[str, Any]) -> str:
    return (
        f"Odd shapes of some {settings['shape_rows']:,} rows, as multiples of the time of a plain frame of as many rows in the "
        "same order, with the multiple of relevant rows where there are more:"
    )


def _shapes(shapes: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            one["shape"],
            f"{one['seconds'] / one['plain_seconds']:.2f}",
            f"{one['relevant_ratio']:.1f}" if one["relevant_ratio"] > MORE else "",
        ]
        for one in shapes
    ]
    return _table(["frame", "x plain", "x relevant rows"], rows)


def _head_of_threads(threads: Sequence[dict[str, Any]]) -> str:
    return (
        f"Six metrics at k = 10 of {threads[0]['rows']:,} rows with one thread and with two (`POLARS_MAX_THREADS`), in "
        "interleaved processes, minimum seconds:"
    )


def _threads(threads: Sequence[dict[str, Any]]) -> str:
    titles = ["", "1 thread", "2 threads", "speed-up", "serial"]
    titles += [f"predicted on {n} cores" for n in threads[0]["predicted"]]
    rows = [
        [
            FRAMES[one["kind"]],
            *(f"{seconds:.3f}" for seconds in one["stages"]["whole"]),
            f"{one['speed_up']:.2f} x",
            f"{one['serial']:.0%}",
            *(f"{faster:.1f} x" for faster in one["predicted"].values()),
        ]
        for one in threads
    ]
    return _table(titles, rows)


def _amdahl(threads: Sequence[dict[str, Any]]) -> str:
    """Say by which law the table predicts, and how far two threads share each stage."""
    law = (
        "Serial is what two threads do not share, by Amdahl's law: 2 / speed-up - 1. The predictions follow from it alone: "
        "they are not measured, and ignore that all cores share one memory."
    )
    stages = [
        f"{shown} {_share(threads[0], stage):.0%}, {_speed_up(threads[0], stage):.2f} x"
        for stage, shown in STAGES.items()
    ]
    return f"{law} Of one thread's time on {FRAMES[threads[0]['kind']]}, and its speed-up with two: {'; '.join(stages)}."


def _share(one: dict[str, Any], stage: str) -> float:
    return float(one["stages"][stage][0] / sum(one["stages"][name][0] for name in STAGES))


def _speed_up(one: dict[str, Any], stage: str) -> float:
    first, second = one["stages"][stage]
    return float(first / max(second, 1e-9))


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(line)} |" for line in [titles, *rows]]
    return "\n".join([lines[0], f"|{'---|' * len(titles)}", *lines[1:]])
