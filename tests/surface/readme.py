"""Writes what is generated, parts of the pages and methods of `.rec`: `python tests/surface/readme.py`; tests compare them."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import engine_tables
import public_api
import recframe as rf
from recframe.audit.checks import SEVERITIES, Check
from recframe.audit.report import CHECKS, CHECKS_OF_SPLITS
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import registered

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
HOME = ROOT / "docs" / "index.md"
UNCERTAINTY = ROOT / "docs" / "uncertainty.md"
OVER_TIME = ROOT / "docs" / "over_time.md"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
AUDIT = ROOT / "docs" / "audit.md"
ON_ENGINES = ROOT / "docs" / "engines.md"
A_BILLION = ROOT / "docs" / "how_to" / "a_billion_users.md"
PAGES = [README, HOME, UNCERTAINTY, OVER_TIME, BENCHMARKS, AUDIT, ON_ENGINES, A_BILLION]
"""The pages with generated parts."""
METHODS = Path(rf.__file__).parent / "api" / "methods.py"
RESULT = ROOT / "tests" / "benchmarks" / "result.json"
LARGE = ROOT / "tests" / "benchmarks" / "large.json"
CASES = ROOT / "tests" / "benchmarks" / "cases.json"
GROWTH = ROOT / "tests" / "benchmarks" / "growth.json"
SPLITS = ROOT / "tests" / "benchmarks" / "splits.json"
APART = ROOT / "tests" / "benchmarks" / "apart.json"
APART_DAY = APART.with_name("apart_day.json")
"""The same with several models in one frame."""
ENGINES = ROOT / "tests" / "benchmarks" / "engines.json"
SIMULATIONS = ROOT / "tests" / "benchmarks" / "simulations.json"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


WARNED = {None: "", "always": "always", "low": "where hardly anything is found"}


def check_table(every: Sequence[Check] = CHECKS) -> str:
    """Return the checks of the audit as a Markdown table, the most severe first."""
    checks = sorted(every, key=lambda check: SEVERITIES.index(check.severity))
    rows = [
        f"| `{check.name}` | {check.severity} | {check.meaning.rstrip('.')} | {check.treatment} "
        f"| {WARNED[check.warns]} |"
        for check in checks
    ]
    return "\n".join(
        [
            "| check | severity | what it finds | what recframe does | a call warns |",
            "|---|---|---|---|---|",
            *rows,
        ]
    )


def speed_table() -> str:
    """Return the last full run of the benchmark, as it was stored, as text and a Markdown table."""
    result: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    settings = result["settings"]
    said = ", ".join(
        f"{name} {one}" for name, one in {**result["machine"], **result["versions"]}.items()
    )
    head = (
        f"Six metrics (hit_rate, precision, recall, map, mrr, ndcg) at k = {settings['k']} of one judged frame of "
        f"{result['rows']:,} rows ({settings['users']:,} users x {settings['length']}), all giving the same numbers to 1e-9, "
        f"in turns of one run ({said}):"
    )
    rows = [
        f"| {one['name']} | {one['median']:.3f} | {one['ratio_to_loop']:.1f} | {one['ratio_to_eager']:.1f} |"
        for one in result["contenders"]
    ]
    tail = (
        "The loop is compiled, reads presorted arrays once on one thread and checks nothing; it is not a library, but shows "
        "what the machine can do."
    )
    titles = ["| | median seconds | x compiled loop | x recframe, eager |", "|---|---|---|---|"]
    return "\n".join([head, "", *titles, *rows, "", tail])


def case_table() -> str:
    """Return the last full run of the benchmark of pieces of work, as text and a Markdown table."""
    result: dict[str, Any] = json.loads(CASES.read_text(encoding="utf-8"))
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    rows = result["settings"]["users"] * result["settings"]["length"]
    head = (
        f"How time grows with the request: {rows:,} rows, each task as a multiple of another task interleaved with it, "
        f"medians of {result['repeats']} ({machine}):"
    )
    table = [
        f"| {one['work']} | {one['seconds']:.3g} | {one['seconds'] / one['yardstick_seconds']:.2f} | {one['yardstick']} |"
        for one in result["cases"]
    ]
    tail = (
        f"`import recframe` takes {result['import_seconds'] * 1000:.0f} ms after `import polars`."
    )
    return "\n".join(
        [head, "", "| work | seconds | multiple | of |", "|---|---|---|---|", *table, "", tail]
    )


def large_table() -> str:
    """Return the last full run on layouts of files, as text and a Markdown table."""
    result: dict[str, Any] = json.loads(LARGE.read_text(encoding="utf-8"))
    said = ", ".join(
        f"{name} {one}" for name, one in {**result["machine"], **result["versions"]}.items()
    )
    head = (
        f"{result['rows']:,} recommendations and {result['truth_rows']:,} graded truth rows in Parquet files, the six metrics, "
        "at k = 10 unless noted, each run in its own process: seconds, CPU seconds and the peak of resident memory, medians "
        f"of {result['repeats']} ({said}):"
    )
    ways = {
        "one plan": '`evaluate(...).collect(engine="streaming")`',
        "buckets": f'`rec(..., memory="{result["memory"]}")`',
        "DuckDB": f"DuckDB's SQL, `memory_limit='{result['memory']}'`",
    }
    runs = {(run["layout"], run["way"]): run for run in result["runs"]}
    table = [f"| files | {' | '.join(ways.values())} |", f"|---{'|---' * len(ways)}|"]
    for layout in dict.fromkeys(run["layout"] for run in result["runs"]):
        cells = [_taken(runs[layout, way]) for way in ways]
        table += [_row([layout, *cells])]
    return "\n".join([head, "", *table])


def _taken(run: dict[str, Any]) -> str:
    if "error" in run:
        return "out of memory"
    return (
        f"{run['seconds']:.2f} s, {run['cpu_seconds']:.2f} CPU s, {run['peak_bytes'] / 1e9:.2f} GB"
    )


def growth_table() -> str:
    """Return the last full run of the benchmark of growth, as text and a Markdown table."""
    result: dict[str, Any] = json.loads(GROWTH.read_text(encoding="utf-8"))
    settings = result["settings"]
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    head = (
        f"Six metrics at k = 10 unless noted, one size changed at a time: rows in lists of {settings['length']}; k over "
        f"{settings['k_rows']:,} rows in lists of {settings['k_length']:,}; metrics and cut-offs over {settings['whole']:,} "
        f"rows; models of {settings['model_rows']:,} rows each. Seconds of all threads together, the fewest of "
        f"{result['repeats']} turns ({machine}). Steepest is the highest slope on logarithmic axes, of parts that add more "
        f"than {settings['weighty']} seconds if any do: 1 is linear, like the dashed lines, 0 is constant, and above 1 is "
        "worse than linear."
    )
    titles = ["", "frames", "from", "to", "seconds", "steepest", "x compiled loop"]
    lines = [_row(titles), f"|{'---|' * len(titles)}", *map(_grown, result["lines"])]
    return "\n".join([head, "", *lines])


def _grown(line: dict[str, Any]) -> str:
    first, *_, last = line["points"]
    middle, worst = line["middle"], line["steepest"]
    (seconds,) = (point["minimum"] for point in line["points"] if point["size"] == middle["size"])
    cells = [line["axis"], line["name"], f"{first['size']:,}", f"{last['size']:,}"]
    cells += [f"{first['minimum']:.3g} to {last['minimum']:.3g}"]
    cells += [f"{worst['slope']:.2f}, {worst['from']:,} to {worst['to']:,}"]
    return _row([*cells, f"{seconds / middle['loop_seconds']:.1f} at {middle['size']:,}"])


def apart_table(path: Path) -> str:
    """Return a full run of the libraries that have environments of their own, nothing where there was none yet."""
    return table_of(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else ""


def splits_table() -> str:
    """Return the last run of the benchmark of splits, as text and a Markdown table."""
    result: dict[str, Any] = json.loads(SPLITS.read_text(encoding="utf-8"))
    works = result["works"]
    roads = list(dict.fromkeys((one["library"], one["frame"]) for one in works))
    found = {(one["work"], one["library"], one["frame"]): one for one in works}
    table = [
        f"| | {' | '.join(f'{library}, {frame}' for library, frame in roads)} |",
        f"|---{'|---' * len(roads)}|",
    ]
    for work in dict.fromkeys(one["work"] for one in works):
        entries = [found.get((work, *road)) for road in roads]
        cells = ["" if one is None else _seconds_and_size(one, result) for one in entries]
        table.append(_row([work, *cells]))
    head = (
        f"A log of {result['rows']:,} rows ({result['log_bytes'] / 1e6:.0f} MB), train and truth of each fold as frames: the "
        "least seconds, and by how many sizes of the log the first run raised the peak of memory. *: of a tenth of the rows."
    )
    return "\n".join([head, "", *table])


def _seconds_and_size(entry: dict[str, Any], result: dict[str, Any]) -> str:
    mark = "*" * (entry["log_rows"] < result["rows"])
    sizes = entry["peak_bytes"] / result["log_bytes"] * result["rows"] / entry["log_rows"]
    return f"{entry['seconds']:.2f} s{mark}, {sizes:.1f} x"


def table_of(result: dict[str, Any]) -> str:
    """Return a run of `benchmarks/apart.py` as text and a Markdown table."""
    settings, cases = result["settings"], result["cases"]
    machine = ", ".join(f"{name} {value}" for name, value in result["machine"].items())
    versions = "; ".join(
        ", ".join(f"{name} {value}" for name, value in found.items())
        for found in cases[0]["versions"].values()
    )
    rows = " and ".join(f"{count:,}" for count in cases[0]["rows"])
    several = settings.get("models", 1)
    models = f" of {several} models" if several > 1 else ""
    head = (
        f"The same six metrics at k = {settings['k']} from two long frames, recommendations{models} and a binary truth "
        f"({rows} rows, {settings['users']:,} users), each library in its own process, starting from the frame, interleaved; "
        f"median of {len(cases[0]['contenders'][0]['seconds'])}, as a multiple of recframe's ({machine}):"
    )
    titles = [f"{case['ids']} ids, {case['frame']}" for case in cases]
    table = [f"| | {' | '.join(titles)} | metrics |", f"|---{'|---' * len(cases)}|---|"]
    for lines in zip(*(case["contenders"] for case in cases), strict=True):
        cells = [
            f"{one['median']:.3f} s" if one["name"] == "recframe" else f"{one['ratio']:.1f}"
            for one in lines
        ]
        table.append(
            f"| {lines[0]['name']} | {' | '.join(cells)} | {_had(lines[0]['metrics'], settings['metrics'])} |"
        )
    tail = f"*cut*: the lists were cut at k before they were converted. Environments: {versions}."
    return "\n".join([head, "", *table, "", tail])


FRONT = {
    "pytrec_eval": "pytrec_eval",
    "ranx": "ranx",
    "ir_measures": "ir_measures",
    "RecTools": "RecTools",
    "RePlay": "RePlay",
    "Microsoft recommenders": "Microsoft recommenders",
    "torchmetrics": "torchmetrics",
}
"""The libraries of the front page, by how the names of their ways in begin."""


def front_table() -> str:
    """Return what the libraries take on their fastest way, for one model and for several, as a small table."""
    result = json.loads(APART.read_text(encoding="utf-8"))
    day = json.loads(APART_DAY.read_text(encoding="utf-8"))
    models = f"{day['settings']['models']} models"
    n_rows, n_day = (one["cases"][0]["rows"][0] / 1e6 for one in (result, day))
    wanted = {
        "integer ids, Polars": _case(result, "int", "polars"),
        "text ids, pandas": _case(result, "string", "pandas"),
        f"{models}, text ids, Polars": _case(day, "string", "polars"),
        f"{models}, text ids, pandas": _case(day, "string", "pandas"),
    }
    own = [f"{case[0]['median'] * 1000:.0f} ms" for case in wanted.values()]
    lines = [
        f"| | {' | '.join(wanted)} |",
        f"|{'---|' * (len(wanted) + 1)}",
        _row(["**recframe**", *own]),
    ]
    for name, begins in FRONT.items():
        lines.append(_row([name, *(f"{_least(one, begins):.1f} x" for one in wanted.values())]))
    head = (
        f"Six metrics at k = 10 from {n_rows:.0f} million recommendations of one model, and from {n_day:.0f} million of "
        f"{models}, and their truth, on {result['machine']['threads']} cores. The others take this many times as long, each "
        "by the fastest way we found:"
    )
    return "\n".join([head, "", *lines])


def _case(result: dict[str, Any], ids: str, frame: str) -> list[dict[str, Any]]:
    """Return who ran on some ids and frames."""
    cases = {(one["ids"], one["frame"]): one["contenders"] for one in result["cases"]}
    found: list[dict[str, Any]] = cases[ids, frame]
    return found


def front_numbers() -> str:
    """Return the table that the five lines of README and home make."""
    from recframe.demo import simulate  # noqa: PLC0415  it takes NumPy

    shop = simulate()
    rec = rf.rec(shop.recs, shop.truth, model="model")
    return str(rec.table("ndcg@10", "recall@10", "mrr", baseline="popularity")).rstrip()


def front_proofs() -> str:
    """Return the proofs of the site's home, which compares them with what was measured."""
    home = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    proofs = home.partition("## Three proofs\n")[2].partition("\n## ")[0].strip()
    return re.sub(r"\]\((?!https?:)", "](docs/", proofs)


def _least(contenders: list[dict[str, Any]], begins: str) -> float:
    return min(one["ratio"] for one in contenders if one["name"].startswith(begins))


def _had(metrics: list[str], six: list[str]) -> str:
    """Return which of the six metrics there are, and in which other form."""
    forms = [f"`{one}`" for one in metrics if one not in six]
    missing = [one for one in six if not any(found.partition("(")[0] == one for found in metrics)]
    without = [f"no {', '.join(missing)}"] if missing else []
    return "; ".join([*forms, *without]) or "all six"


def plan_table() -> str:
    """Return what a billion users would take on Spark, from the slopes of the last full run."""
    return engine_tables.plan(json.loads(ENGINES.read_text(encoding="utf-8")))


def engines_table() -> str:
    """Return the last full run of the benchmark on Spark as text and tables, nothing where there was none yet."""
    if not ENGINES.exists():
        return ""
    return engine_tables.tables(json.loads(ENGINES.read_text(encoding="utf-8")))


FEWEST = 100
"""Fewest samples of a share that is shown."""


def simulated(table: str) -> str:
    """Return a table of simulations in per cent; what misses its promise is bold."""
    rows = json.loads(SIMULATIONS.read_text(encoding="utf-8"))["rows"]
    rows = [row for row in rows if row["table"] == table]
    columns = list(dict.fromkeys(row["column"] for row in rows))
    promised = ["promised"] * any(row["promised"] for row in rows)
    titles = ["", *promised, *columns]
    lines = [_row(titles), f"|{'---|' * len(titles)}"]
    for what in dict.fromkeys(row["what"] for row in rows):
        of = {row["column"]: row for row in rows if row["what"] == what}
        said = [next(iter(of.values()))["promised"] or "-"] * len(promised)
        lines.append(_row([what, *said, *(_share(of.get(column)) for column in columns)]))
    return "\n".join(lines)


def _share(row: dict[str, Any] | None) -> str:
    if row is None or row["samples"] < FEWEST:
        return "-"
    shown = f"{100 * row['share']:.1f}"
    return shown if row["least"] <= row["share"] <= row["most"] else f"**{shown}**"


PARTS: dict[str, Callable[[], str]] = {
    "checks": check_table,
    "checks of splits": lambda: check_table(CHECKS_OF_SPLITS),
    "speed": speed_table,
    "front table": front_numbers,
    "front proofs": front_proofs,
    "front speed": front_table,
    "cases": case_table,
    "growth": growth_table,
    "apart": lambda: apart_table(APART),
    "apart day": lambda: apart_table(APART_DAY),
    "large": large_table,
    "splits": splits_table,
    "engines": engines_table,
    "plan": plan_table,
    **{
        f"simulated {table}": lambda table=table: simulated(table)
        for table in ("users", "sets", "trainings", "histories")
    },
}
"""What is generated on pages."""


def written(text: str) -> str:
    """Return a page with its generated parts made anew."""
    for name, made in PARTS.items():
        pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)"
        text = re.sub(
            pattern,
            lambda found, made=made: f"{found[1]}{made()}\n{found[2]}",
            text,
            count=1,
            flags=re.DOTALL,
        )
    return text


def methods() -> str:
    """Return `api/methods.py` made anew: a line for each metric of the registry."""
    head = re.sub(r"    \w+ = metrics\.\w+\n", "", METHODS.read_text(encoding="utf-8"))
    return head + "".join(
        f"    {one.name} = metrics.{one.name}\n"
        for one in registered().values()
        if one.definition.builtin
    )


STUB = '''"""What type checkers and editors know of the metrics as methods, written by `python tests/surface/readme.py`."""

# fmt: off
# mypy: disable-error-code="overload-overlap"

from typing import Generic, Literal, overload

import pandas as pd
import polars as pl

from recframe.api.argument_errors import By, Cutoffs, F
'''


def stubs() -> str:
    """Return `api/methods.pyi`: each metric with its own parameters, a float for one number of an eager frame."""
    metrics = [one for one in registered().values() if one.definition.builtin]
    of_frames = "\n".join(
        _stub(one, "Methods[pl.DataFrame] | Methods[pd.DataFrame]") for one in metrics
    )
    of_segments = "\n".join(_stub(one, "") for one in metrics)
    return (
        f"{STUB}\nclass Methods(Generic[F]):\n{of_frames}\n"
        f"\nclass SegmentedMethods(Generic[F]):\n{of_segments}\n"
    )


def _stub(metric: Metric[...], eager: str) -> str:
    """Return a metric as a method; with overloads where it is a float for some frames."""
    own = [
        f"{name}: {_type(one)} = {_quoted(one.default)}"
        for name, one in metric.typed_parameters.items()
    ]
    about = " ".join((metric.__doc__ or "").partition("\n\n")[0].split())
    told = f'        """{about}"""'
    kinds = (
        [([f"self: {eager}", "k: int | None = None", "by: None = None"], "float")] if eager else []
    )
    kinds.append((["self", "k: Cutoffs = None", "by: By = None"], "F"))
    lines = []
    for first, result in kinds:
        lines += ["    @overload"] if eager else []
        lines += [f"    def {metric.name}(", f"        {', '.join(first)},"]
        lines += [f"        {one}," for one in [*("*" for _ in own[:1]), *own]]
        lines += [f"    ) -> {result}:", told]
    return "\n".join(lines)


def _type(parameter: inspect.Parameter) -> str:
    """Return a parameter's annotation as a stub has it."""
    annotation = parameter.annotation
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is Literal:
        return f"Literal[{', '.join(map(_quoted, get_args(annotation)))}]"
    written = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return written.replace("collections.abc.", "")


def _quoted(value: object) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    public_api.LISTED.write_text(public_api.listed(), encoding="utf-8")
    METHODS.with_suffix(".pyi").write_text(stubs(), encoding="utf-8")
    METHODS.write_text(methods(), encoding="utf-8")
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
