"""The part of docs/engines.md that is written from what `benchmarks/engines.py` has stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

AGREES = 1e-9
BY_HAND = (
    "The Spark SQL is written by hand, and does not check the data. *By windows*: a join, and windows over hits and truth. "
    "*By counts*: no join, window or array, but bits and counts, which needs grades known in advance, 1 to 5 here, and a k "
    "below 63."
)


def tables(result: dict[str, Any]) -> str:
    """Return a run of the benchmark on Spark as text and Markdown tables."""
    contenders = result["contenders"]
    head = _head(result, contenders[0])
    parts = [head, *(_contenders(contenders, ids) for ids in _each(contenders, "ids"))]
    parts += [_agreement(contenders, result["settings"]["k"]), BY_HAND]
    slopes = "recframe on Spark by the number of recommendations; seconds, what the shuffles wrote, peak of a Python worker:"
    return "\n\n".join([*parts, slopes, _slopes(result["slopes"]), _versions(result)])


def _each(rows: Sequence[dict[str, Any]], name: str) -> list[Any]:
    return list(dict.fromkeys(row[name] for row in rows))


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(line)} |" for line in [titles, *rows]]
    return "\n".join([lines[0], f"|{'---|' * len(titles)}", *lines[1:]])


def _head(result: dict[str, Any], ours: dict[str, Any]) -> str:
    settings = result["settings"]
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    spark = ", ".join(
        f"`{name}={value}`"
        for name, value in settings["spark"].items()
        if name in {"spark.master", "spark.driver.memory", "spark.sql.shuffle.partitions"}
    )
    return (
        f"The six metrics ({', '.join(settings['metrics'])}) at k = {settings['k']} of {ours['rows']:,} recommendations, "
        f"{settings['length']} a user, and about ten rows of graded truth a user, from Parquet files to the numbers at the "
        f"driver. Each way runs in its own process with the same settings ({spark}); the fastest of {len(ours['seconds'])} "
        f"runs, the first of each process left out ({machine}):"
    )


def _contenders(contenders: Sequence[dict[str, Any]], ids: str) -> str:
    mine = [one for one in contenders if one["ids"] == ids]
    title = f"{'whole numbers' if ids == 'int' else 'text'} as ids"
    titles = [title, "time", "CPU time", "first run", "shuffle written", "metrics"]
    return _table(titles, [_contender(one, mine[0]) for one in mine])


def _contender(one: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    about = "~" if one["scale"] > 1 else ""
    times = [f"{about}{one[name]:.2g} x" for name in ("minimum_ratio", "cpu_seconds_ratio")]
    if one is ours:
        times = [f"{one['minimum']:.2f} s", f"{one['cpu_seconds']:.1f} s"]
    n_bytes, first = one["shuffle_bytes"] * one["scale"], min(one["first"]) * one["scale"]
    return [
        one["name"],
        *times,
        f"{about}{first:.1f} s",
        f"{about}{n_bytes / 1e6:.0f} MB" if one["stages"] else "",
        _metrics(one, ours),
    ]


def _metrics(one: dict[str, Any], ours: dict[str, Any]) -> str:
    """Return which of the metrics there are, and which only in another form."""
    forms = [f"`{name}`" for name in one["metrics"] if name not in ours["metrics"]]
    had = {name.partition("(")[0] for name in one["metrics"]}
    missing = [name for name in ours["metrics"] if name not in had]
    told = [f"no {', '.join(missing)}"] if missing else []
    told += [f"as {', '.join(forms)}"] if forms else []
    told += ["users with a list and truth alone"] if one["universe"] == "both" else []
    return "; ".join(told) or "all six"


def _agreement(contenders: Sequence[dict[str, Any]], k: int) -> str:
    """Say who gives the same numbers, and that some have been scaled."""
    off = [
        f"{one['name']}: `{name}@{k}` by {difference:.1e}"
        for one in contenders
        for name, difference in one["differences"].items()
        if difference > AGREES
    ]
    scaled = [one for one in contenders if one["scale"] > 1]
    same = "All numbers are those of recframe on one machine, to 1e-9"
    told = [f"{same}, but for {'; '.join(off)}." if off else f"{same}."]
    if scaled:
        told.append(f"~: run on {scaled[0]['rows']:,} recommendations and scaled by the rows.")
    return " ".join(told)


def _slopes(rows: Sequence[dict[str, Any]]) -> str:
    kinds = _each(rows, "ids")
    titles = ["recommendations", *("whole numbers" if one == "int" else "text" for one in kinds)]
    lines = []
    for size in _each(rows, "rows"):
        of = {one["ids"]: one for one in rows if one["rows"] == size}
        lines.append([f"{size:,}", *(_slope(of[one]) if one in of else "" for one in kinds)])
    return _table(titles, lines)


def _slope(one: dict[str, Any]) -> str:
    return (
        f"{one['minimum']:.1f} s, {one['shuffle_bytes'] / 1e6:.0f} MB in {one['shuffle_records']:,} records, "
        f"{one['python_peak_bytes'] / 1e6:.0f} MB"
    )


def plan(result: dict[str, Any]) -> str:
    """Return what the slopes make of a billion users, as text and a Markdown table."""
    length, k = result["settings"]["length"], result["settings"]["k"]
    cores = result["settings"]["cores"]
    kinds = _each(result["slopes"], "ids")
    of = {kind: [one for one in result["slopes"] if one["ids"] == kind] for kind in kinds}
    sizes = [f"{one['rows'] / 1e6:.0f}" for one in of[kinds[0]]]
    head = (
        f"From the slopes of {', '.join(sizes[:-1])} and {sizes[-1]} million recommendations, {length} a user with about ten "
        f"rows of truth, six metrics at k = {k}, on {cores} cores:"
    )
    titles = ["", *("whole numbers as ids" if one == "int" else "text as ids" for one in kinds)]
    rows = {
        "shuffled for each million users": lambda one: (
            f"{_of_a_user(one, 'shuffle_bytes', length):.0f} MB"
        ),
        "CPU time for each million users": lambda one: (
            f"{_of_a_user(one, 'cpu_seconds', length) * 1e6:.1f} s"
        ),
        "shuffled for a billion users": lambda one: (
            f"{_of_a_user(one, 'shuffle_bytes', length) / 1e3:.2g} TB"
            if _of_a_user(one, "shuffle_bytes", length) >= 1e3
            else f"{_of_a_user(one, 'shuffle_bytes', length):.0f} GB"
        ),
        "CPU time for a billion users": lambda one: (
            f"{_of_a_user(one, 'cpu_seconds', length) * 1e9 / 3600:.1f} hours"
        ),
        "the same on 200 cores, all busy": lambda one: (
            f"{_of_a_user(one, 'cpu_seconds', length) * 1e9 / 200 / 60:.0f} minutes"
        ),
    }
    lines = [[name, *(made(of[kind]) for kind in kinds)] for name, made in rows.items()]
    return f"{head}\n\n{_table(titles, lines)}"


def _of_a_user(slopes: Sequence[dict[str, Any]], name: str, length: int) -> float:
    """Return what a user adds, from the smallest run to the largest."""
    least, most = (end(slopes, key=lambda one: one["rows"]) for end in (min, max))
    return (most[name] - least[name]) / ((most["rows"] - least["rows"]) / length)


def _versions(result: dict[str, Any]) -> str:
    said = [
        f"{team}: {', '.join(f'{name} {value}' for name, value in found.items())}"
        for team, found in result["versions"].items()
    ]
    return f"Environments: {'; '.join(said)}."
