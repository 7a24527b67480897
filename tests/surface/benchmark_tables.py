"""The parts of pages that are written from what benchmarks have stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "benchmarks"
Figures = dict[str, Any]


def figures(name: str) -> Figures:
    """Return what a benchmark stored, nothing where it was not run yet."""
    path = FOLDER / f"{name}.json"
    found: Figures = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head, *lines = [f"| {' | '.join(row)} |" for row in (titles, *rows)]
    return "\n".join([head.replace("|  |", "| |", 1), f"|{'---|' * len(titles)}", *lines])


def listed(*parts: Mapping[str, str]) -> str:
    """Return what a figure depends on besides the code."""
    return ", ".join(f"{name} {value}" for part in parts for name, value in part.items())


def speed() -> str:
    result = figures("result")
    settings = result["settings"]
    head = (
        f"Six metrics (hit_rate, precision, recall, map, mrr, ndcg) at k = {settings['k']} of one judged frame of "
        f"{result['rows']:,} rows ({settings['users']:,} users x {settings['length']}), all giving the same numbers to 1e-9, "
        f"in turns of one run ({listed(result['machine'], result['versions'])}):"
    )
    rows = [
        [one["name"], f"{one['median']:.3f}", *(f"{one[f'ratio_to_{to}']:.1f}" for to in ("loop", "eager"))]
        for one in result["contenders"]
    ]  # fmt: skip
    tail = (
        "The loop is compiled, reads presorted arrays once on one thread and checks nothing; it is not a library, but shows "
        "what the machine can do."
    )
    titles = ["", "median seconds", "x compiled loop", "x recframe, eager"]
    return f"{head}\n\n{table(titles, rows)}\n\n{tail}"


def cases() -> str:
    result = figures("cases")
    n_rows = result["settings"]["users"] * result["settings"]["length"]
    head = (
        f"How time grows with the request: {n_rows:,} rows, each task as a multiple of another task interleaved with it, "
        f"medians of {result['repeats']} ({listed(result['machine'])}):"
    )
    rows = [
        [
            one["work"],
            f"{one['seconds']:.3g}",
            f"{one['seconds'] / one['yardstick_seconds']:.2f}",
            one["yardstick"],
        ]
        for one in result["cases"]
    ]
    tail = (
        f"`import recframe` takes {result['import_seconds'] * 1000:.0f} ms after `import polars`."
    )
    return f"{head}\n\n{table(['work', 'seconds', 'multiple', 'of'], rows)}\n\n{tail}"


def large() -> str:
    result = figures("large")
    head = (
        f"{result['rows']:,} recommendations and {result['truth_rows']:,} graded truth rows in Parquet files, the six metrics, "
        "at k = 10 unless noted, each run in its own process: seconds, CPU seconds and the peak of resident memory, medians "
        f"of {result['repeats']} ({listed(result['machine'], result['versions'])}):"
    )
    ways = {
        "one plan": '`evaluate(...).collect(engine="streaming")`',
        "scans": f'`rec(..., memory="{result["memory"]}")`',
        "DuckDB": f"DuckDB's SQL, `memory_limit='{result['memory']}'`",
    }
    runs = {(run["layout"], run["way"]): run for run in result["runs"]}
    layouts = dict.fromkeys(layout for layout, _ in runs)
    rows = [[layout, *(_taken(runs[layout, way]) for way in ways)] for layout in layouts]
    return f"{head}\n\n{table(['files', *ways.values()], rows)}"


def _taken(run: Figures) -> str:
    if "error" in run:
        return "out of memory"
    clocks = f"{run['seconds']:.2f} s, {run['cpu_seconds']:.2f} CPU s"
    return f"{clocks}, {run['peak_bytes'] / 1e9:.2f} GB"


def splits() -> str:
    result = figures("splits")
    found = {(one["work"], one["library"], one["frame"]): one for one in result["works"]}
    roads = list(dict.fromkeys((library, frame) for _, library, frame in found))
    head = (
        f"A log of {result['rows']:,} rows ({result['log_bytes'] / 1e6:.0f} MB), train and truth of each fold as frames: the "
        "least seconds, and by how many sizes of the log the first run raised the peak of memory. *: of a tenth of the rows."
    )

    def cell(one: Figures | None) -> str:
        if one is None:
            return ""
        mark = "*" * (one["log_rows"] < result["rows"])
        sizes = one["peak_bytes"] / result["log_bytes"] * result["rows"] / one["log_rows"]
        return f"{one['seconds']:.2f} s{mark}, {sizes:.1f} x"

    works = dict.fromkeys(work for work, *_ in found)
    rows = [[work, *(cell(found.get((work, *road))) for road in roads)] for work in works]
    titles = ["", *(", ".join(road) for road in roads)]
    return f"{head}\n\n{table(titles, rows)}"


# Libraries in environments of their own


def apart(result: Figures) -> str:
    """Return a run of `benchmarks/apart.py`, nothing where there was none yet."""
    if not result:
        return ""
    settings, of_cases = result["settings"], result["cases"]
    n_rows = " and ".join(f"{count:,}" for count in of_cases[0]["rows"])
    several = settings.get("models", 1)
    models = f" of {several} models" if several > 1 else ""
    head = (
        f"The same six metrics at k = {settings['k']} from two long frames, recommendations{models} and a binary truth "
        f"({n_rows} rows, {settings['users']:,} users), each library in its own process, starting from the frame, interleaved; "
        f"median of {len(of_cases[0]['contenders'][0]['seconds'])}, as a multiple of recframe's ({listed(result['machine'])}):"
    )
    rows = []
    for lines in zip(*(case["contenders"] for case in of_cases), strict=True):
        first, is_ours = lines[0], lines[0]["name"] == "recframe"
        cells = [f"{one['median']:.3f} s" if is_ours else f"{one['ratio']:.1f}" for one in lines]
        forms, missing = forms_of(first["metrics"], settings["metrics"])
        had = "; ".join([*forms, *(f"no {', '.join(missing)}" for _ in missing[:1])]) or "all six"
        rows.append([first["name"], *cells, had])
    titles = ["", *(f"{case['ids']} ids, {case['frame']}" for case in of_cases), "metrics"]
    shown = table(titles, rows)
    environments = "; ".join(map(listed, of_cases[0]["versions"].values()))
    tail = (
        f"*cut*: the lists were cut at k before they were converted. Environments: {environments}."
    )
    return f"{head}\n\n{shown}\n\n{tail}"


def forms_of(metrics: Sequence[str], six: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return which of the six metrics there are in another form, and which not at all."""
    had = {name.partition("(")[0] for name in metrics}
    forms = [f"`{name}`" for name in metrics if name not in six]
    return forms, [name for name in six if name not in had]


FRONT = (
    *("pytrec_eval", "ranx", "ir_measures", "RecTools", "RePlay", "Microsoft recommenders"),
    "torchmetrics",
)
"""The libraries of the front page, by how the names of their ways in begin."""


def front() -> str:
    """Return what the libraries take on their fastest way, for one model and for several, as a small table."""
    result, day = figures("apart"), figures("apart_day")
    n_rows, n_day = (one["cases"][0]["rows"][0] / 1e6 for one in (result, day))
    models = f"{day['settings']['models']} models"
    wanted = {
        "integer ids, Polars": _case(result, "int", "polars"),
        "text ids, pandas": _case(result, "string", "pandas"),
        f"{models}, text ids, Polars": _case(day, "string", "polars"),
        f"{models}, text ids, pandas": _case(day, "string", "pandas"),
    }

    def least(contenders: list[Figures], begins: str) -> float:
        return min(one["ratio"] for one in contenders if one["name"].startswith(begins))

    own = [f"{case[0]['median'] * 1000:.0f} ms" for case in wanted.values()]
    rows = [[one, *(f"{least(case, one):.1f} x" for case in wanted.values())] for one in FRONT]
    head = (
        f"Six metrics at k = 10 from {n_rows:.0f} million recommendations of one model, and from {n_day:.0f} million of "
        f"{models}, and their truth, on {result['machine']['threads']} cores. The others take this many times as long, each "
        "by the fastest way we found:"
    )
    shown = table(["", *wanted], [["**recframe**", *own], *rows])
    return f"{head}\n\n{shown}"


def _case(result: Figures, ids: str, frame: str) -> list[Figures]:
    """Return who ran on some ids and frames."""
    of = {(one["ids"], one["frame"]): one["contenders"] for one in result["cases"]}
    found: list[Figures] = of[ids, frame]
    return found


# Spark

AGREES = 1e-9
BY_HAND = (
    "The Spark SQL is written by hand, and does not check the data. *By windows*: a join, and windows over hits and truth. "
    "*By counts*: no join, window or array, but bits and counts, which needs grades known in advance, 1 to 5 here, and a k "
    "below 63."
)
SHOWN = ("spark.master", "spark.driver.memory", "spark.sql.shuffle.partitions")


def engines() -> str:
    result = figures("engines")
    contenders, settings, ours = result["contenders"], result["settings"], result["contenders"][0]
    spark = ", ".join(
        f"`{name}={value}`" for name, value in settings["spark"].items() if name in SHOWN
    )
    head = (
        f"The six metrics ({', '.join(settings['metrics'])}) at k = {settings['k']} of {ours['rows']:,} recommendations, "
        f"{settings['length']} a user, and about ten rows of graded truth a user, from Parquet files to the numbers at the "
        f"driver. Each way runs in its own process with the same settings ({spark}); the fastest of {len(ours['seconds'])} "
        f"runs, the first of each process left out ({listed(result['machine'])}):"
    )
    by_ids = [[one for one in contenders if one["ids"] == ids] for ids in _each(contenders, "ids")]
    slopes = "recframe on Spark by the number of recommendations; seconds, what the shuffles wrote, peak of a Python worker:"
    teams = (f"{team}: {listed(found)}" for team, found in result["versions"].items())
    parts = [head, *map(_contenders, by_ids), _agreement(contenders, settings["k"]), BY_HAND]
    parts += [slopes, _slopes(result["slopes"]), f"Environments: {'; '.join(teams)}."]
    return "\n\n".join(parts)


def _each(rows: Sequence[Figures], name: str) -> list[Any]:
    return list(dict.fromkeys(row[name] for row in rows))


def _contenders(contenders: Sequence[Figures]) -> str:
    ours = contenders[0]
    title = f"{'whole numbers' if ours['ids'] == 'int' else 'text'} as ids"
    rows = []
    for one in contenders:
        about = "~" if one["scale"] > 1 else ""
        times = [f"{about}{one[name]:.2g} x" for name in ("minimum_ratio", "cpu_seconds_ratio")]
        if one is ours:
            times = [f"{one['minimum']:.2f} s", f"{one['cpu_seconds']:.1f} s"]
        n_bytes, first = one["shuffle_bytes"] * one["scale"], min(one["first"]) * one["scale"]
        written = f"{about}{n_bytes / 1e6:.0f} MB" if one["stages"] else ""
        forms, missing = forms_of(one["metrics"], ours["metrics"])
        told = [f"no {', '.join(missing)}"] * bool(missing)
        told += [f"as {', '.join(forms)}"] * bool(forms)
        told += ["users with a list and truth alone"] * (one["universe"] == "both")
        had = "; ".join(told) or "all six"
        rows.append([one["name"], *times, f"{about}{first:.1f} s", written, had])
    return table([title, "time", "CPU time", "first run", "shuffle written", "metrics"], rows)


def _agreement(contenders: Sequence[Figures], k: int) -> str:
    """Say who gives the same numbers, and that some have been scaled."""
    off = [
        f"{one['name']}: `{name}@{k}` by {difference:.1e}"
        for one in contenders
        for name, difference in one["differences"].items()
        if difference > AGREES
    ]
    scaled = [one["rows"] for one in contenders if one["scale"] > 1]
    same = "All numbers are those of recframe on one machine, to 1e-9"
    told = [f"{same}, but for {'; '.join(off)}." if off else f"{same}."]
    if scaled:
        told.append(f"~: run on {scaled[0]:,} recommendations and scaled by the rows.")
    return " ".join(told)


def _slopes(slopes: Sequence[Figures]) -> str:
    kinds, of = _each(slopes, "ids"), {(one["rows"], one["ids"]): one for one in slopes}

    def cell(one: Figures | None) -> str:
        if one is None:
            return ""
        written = f"{one['shuffle_bytes'] / 1e6:.0f} MB in {one['shuffle_records']:,} records"
        return f"{one['minimum']:.1f} s, {written}, {one['python_peak_bytes'] / 1e6:.0f} MB"

    titles = ["recommendations", *("whole numbers" if one == "int" else "text" for one in kinds)]
    sizes = _each(slopes, "rows")
    rows = [[f"{size:,}", *(cell(of.get((size, one))) for one in kinds)] for size in sizes]
    return table(titles, rows)


def plan() -> str:
    """Return what the slopes make of a billion users."""
    result = figures("engines")
    settings, slopes = result["settings"], result["slopes"]
    kinds = _each(slopes, "ids")
    of = {kind: [one for one in slopes if one["ids"] == kind] for kind in kinds}
    sizes = [f"{one['rows'] / 1e6:.0f}" for one in of[kinds[0]]]
    head = (
        f"From the slopes of {', '.join(sizes[:-1])} and {sizes[-1]} million recommendations, {settings['length']} a user with "
        f"about ten rows of truth, six metrics at k = {settings['k']}, on {settings['cores']} cores:"
    )

    def of_a_user(kind: str, name: str) -> float:
        """Return what a user adds, from the smallest run to the largest."""
        least, most = (end(of[kind], key=lambda one: one["rows"]) for end in (min, max))
        users = (most["rows"] - least["rows"]) / settings["length"]
        added: float = (most[name] - least[name]) / users
        return added

    n_bytes = {kind: of_a_user(kind, "shuffle_bytes") for kind in kinds}
    seconds = {kind: of_a_user(kind, "cpu_seconds") for kind in kinds}
    rows: dict[str, Callable[[str], str]] = {
        "shuffled for each million users": lambda kind: f"{n_bytes[kind]:.0f} MB",
        "CPU time for each million users": lambda kind: f"{seconds[kind] * 1e6:.1f} s",
        "shuffled for a billion users": lambda kind: (
            f"{n_bytes[kind] / 1e3:.2g} TB" if n_bytes[kind] >= 1e3 else f"{n_bytes[kind]:.0f} GB"
        ),
        "CPU time for a billion users": lambda kind: f"{seconds[kind] * 1e9 / 3600:.1f} hours",
        "the same on 200 cores, all busy": lambda kind: (
            f"{seconds[kind] * 1e9 / 200 / 60:.0f} minutes"
        ),
    }
    titles = ["", *("whole numbers as ids" if one == "int" else "text as ids" for one in kinds)]
    return f"{head}\n\n{table(titles, ([name, *map(made, kinds)] for name, made in rows.items()))}"


# Simulations

FEWEST = 100
"""Fewest samples of a share that is shown."""


def simulated(rows: Sequence[Figures]) -> str:
    """Return a table of simulations in per cent; what misses its promise is bold."""
    columns = _each(rows, "column")
    promised = ["promised"] * any(row["promised"] for row in rows)
    lines = []
    for what in _each(rows, "what"):
        of = {row["column"]: row for row in rows if row["what"] == what}
        said = [next(iter(of.values()))["promised"] or "-"] * len(promised)
        lines.append([what, *said, *(_share(of.get(column)) for column in columns)])
    return table(["", *promised, *columns], lines)


def _share(row: Figures | None) -> str:
    if row is None or row["samples"] < FEWEST:
        return "-"
    shown = f"{100 * row['share']:.1f}"
    return shown if row["least"] <= row["share"] <= row["most"] else f"**{shown}**"


def simulations(name: str) -> str:
    return simulated([row for row in figures("simulations")["rows"] if row["table"] == name])
