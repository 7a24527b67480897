"""`recframe require`: requirements, exit status and test report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import click
import polars as pl

import recframe as rf
from recframe.cli import files
from recframe.cli.files import FORMATS
from recframe.cli.inputs import on_files, paths_of, scan
from recframe.cli.options import (
    COLUMNS,
    DESCRIBED,
    MEMORY,
    POLICIES,
    PROFILE,
    RECS,
    argument,
    arguments_of,
    declared,
    option,
    options_of,
)
from recframe.cli.output import (
    STDOUT,
    TABLE,
    Failure,
    Options,
    check_output,
    is_table,
    put,
    say,
    say_written,
)
from recframe.cli.statistics import shown as show
from recframe.errors import RecframeError
from recframe.frames import atomic_write
from recframe.statistics.requirements import (
    OPEN,
    Requirement,
    check,
    is_unmet,
)
from recframe.statistics.stored_results import rounded, with_interval

NAME = "recframe require"
# XML 1.0 has no way to write them
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: pl.DataFrame, of_gate: Options) -> str:
    """Return a test case for each row, by its keys: what is not met is a failure, other rows that are open are skipped."""
    unmet = result.select(is_unmet(**of_gate).alias("unmet")).to_series()
    keys = result.columns[: result.columns.index("requirement")]
    suite = ET.Element("testsuite", {"name": NAME})
    for row, fails in zip(result.iter_rows(named=True), unmet, strict=True):
        place = ", ".join(f"{key}={'null' if row[key] is None else row[key]}" for key in keys)
        kind = "skipped" if row["state"] == OPEN else "system-out"
        case = _case(suite, place or NAME, row["requirement"], "failure" if fails else kind)
        _fill(case, _words(row), row["state"])
    kinds = Counter(case[0].tag for case in suite)
    counts = {
        "tests": len(suite),
        "failures": kinds["failure"],
        "errors": 0,
        "skipped": kinds["skipped"],
    }
    suite.attrib |= {name: str(n) for name, n in counts.items()}
    suites = ET.Element("testsuites", suite.attrib)
    suites.append(suite)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _case(suite: ET.Element, place: str, requirement: str, kind: str) -> ET.Element:
    """Add a test case, and return the element of its outcome."""
    # dots make folders of a class name
    about = {"classname": _text(place), "name": _text(requirement), "time": "0"}
    return ET.SubElement(ET.SubElement(suite, "testcase", about), kind)


def _fill(outcome: ET.Element, words: str, state: str) -> None:
    words = _text(words)
    if outcome.tag != "system-out":
        outcome.set("message", words)
    if outcome.tag == "failure":
        outcome.set("type", state)
    if outcome.tag != "skipped":
        outcome.text = words


def _words(row: dict[str, Any]) -> str:
    """Return the finding as a sentence."""
    distance = with_interval(row["difference"], row["difference_low"], row["difference_high"])
    words = f"{row['state']}: {rounded(row['value'])} against {rounded(row['bound'])}, apart by {distance}"
    words += f"; {row['n_users'] or 0} users"
    return f"{words}; {row['note']}" if row["note"] else words


def _text(text: str) -> str:
    return _CONTROL.sub("?", text)


JUNIT = "junit"
OF_GATE = ("strict", "min_users")
"""Options that decide whether a row of a result is met."""
SIGNS = re.compile("[<>=≥≤]")


class NotJudged(Failure):
    """An error that keeps requirements from being judged, with the status 2; 1 is for one that fails."""

    exit_code = 2


class Given(NamedTuple):
    """The arguments behind RECS: a truth, and requirements."""

    truth: str | None
    requirements: list[Requirement]


def truth_and_requirements(values: tuple[str, ...]) -> Given:
    """Return the truth, which comes first if there is one, and the requirements, or say what is none."""
    has_truth = bool(values) and not SIGNS.search(values[0])
    texts = values[1:] if has_truth else values
    if not texts:
        raise click.UsageError(
            "no requirement was given; write for example recframe require RECS TRUTH 'ndcg@10 >= 0.28'"
        )
    try:
        found = [Requirement.parse(text) for text in texts]
    except RecframeError as error:
        unquoted = not all(map(SIGNS.search, texts))
        hint = "; put each requirement in quotes, since a shell writes to files by >" * unquoted
        raise click.UsageError(f"{error}{hint}") from None
    return Given(values[0] if has_truth else None, found)


@click.command(short_help="Fail if metrics do not meet requirements.")
@declared(
    RECS,
    argument("given", truth_and_requirements, metavar="[TRUTH] REQUIREMENT..."),
    options_of(rf.Rec.require, but=("k",)),
    option(
        "--reference",
        "An earlier result, a file of recframe summarize or a history of recframe track, that '0.99 * reference' stands for; "
        "or a table of recommendations to compare with, or the name of a model.",
        "REFERENCE",
    ),
    DESCRIBED,
    COLUMNS,
    POLICIES,
    PROFILE,
    MEMORY,
    option(
        "--format form",
        "What stands on stdout: a table to look at, all in full precision, or JUnit's XML.  [default: table]",
        type=click.Choice([TABLE, *FORMATS, JUNIT]),
    ),
    option(
        "-o --output",
        "Write to a file, in the formats of recframe evaluate, or as JUnit's XML with the ending .xml.",
        "FILE",
    ),
)
def require(recs: str, given: Given, **options: Any) -> None:
    """Compare the recommendations in RECS with REQUIREMENTs, such as 'ndcg@10 >= 0.28', each in quotes.

    A bound is a number, or a share of a model's value: 'ndcg@10 >= 0.99 * popularity', with --model; or of an earlier result:
    'ndcg@10 >= 0.99 * reference', with --reference, where the latest run of a history counts. Each requirement holds, fails or
    is open: it fails if the data show that it is not met, and is open with too few users to tell. It is missing if a model or
    segment of the earlier result is missing now.

    Exit status: 0 if nothing fails, 1 if a requirement fails or is missing, or nothing was judged (with --strict, also if one
    is open), 2 for options, files, columns, metrics and data that cannot be judged. It needs SciPy: pip install
    'recframe[stats]'.

    \b
    Examples:
      recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.28' \\
        'mrr@10 >= 0.2'
      recframe require recs.parquet truth.parquet \\
        'ndcg@10 >= 0.99 * popularity' --model model --by country \\
        --users users.csv
      recframe require recs.parquet truth.parquet \\
        'ndcg@10 >= 0.99 * reference' --reference last.json
      recframe require recs.parquet truth.parquet \\
        'ndcg@10 >= 0.99 * reference' --reference history.parquet
      recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.28' \\
        --format junit -o report.xml
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    with as_not_judged():
        earlier = _earlier(options)
        form = JUNIT if _is_junit(options) else options["form"]
        check_output(options["output"], form, paths_of(recs, given.truth, options).values())
        unwritten = {**options, "output": None, "form": None}
        with on_files(recs, given.truth, unwritten) as rec:
            arguments = arguments_of(rf.Rec.require, options)
            arguments |= {"models": options["models"] or None, "last": earlier, "raises": False}
            result = rec.require(*given.requirements, **arguments)
            of_gate = {one: options[one] for one in OF_GATE}
            words = None
            try:
                check(result, **of_gate)
            except rf.RequirementError as error:
                words = str(error)
        _give(result, of_gate, options)
    _end(result, words, options)


@contextmanager
def as_not_judged() -> Iterator[None]:
    """Turn errors before judging into an exit status of its own."""
    try:
        yield
    except (rf.RecframeError, pl.exceptions.PolarsError) as error:
        raise NotJudged(str(error)) from None


def _earlier(options: Options) -> pl.DataFrame | pl.LazyFrame | None:
    """Return an earlier result, if --reference is one and no table of lists, and take it off the options."""
    path = options["reference"]
    if path is None or not (files.ending_of(path) in files.KNOWN or Path(path).exists()):
        return None
    found = scan(path)
    columns = {*found.collect_schema()}
    if not {"metric", "value"} <= columns:
        return None
    options["reference"] = None
    return rf.history(path) if Path(path).is_dir() else found


def _is_junit(options: Options) -> bool:
    path, form = options["output"], options["form"]
    return bool(form == JUNIT or (form is None and path and path.lower().endswith(".xml")))


def _give(result: pl.DataFrame, of_gate: Options, options: Options) -> None:
    path = options["output"]
    if not _is_junit(options):
        show(result, options)
    elif path in {None, STDOUT}:
        put(junit(result, of_gate))
    else:
        atomic_write.write_text(path, junit(result, of_gate))
        say_written(path, result)


def _end(result: pl.DataFrame, words: str | None, options: Options) -> None:
    """Print the outcome to stderr and exit; failed rows are included unless stdout shows them."""
    if words is not None:
        say(words.partition(":\n")[0] if is_table(options) else words, err=True)
        click.get_current_context().exit(1)
    states = result["state"].value_counts(sort=True).rows()
    said = {"holds": "hold", "fails": "fail"}
    counts = (f"{n} {state if n == 1 else said.get(state, state)}" for state, n in states)
    say(", ".join(counts), err=True)
