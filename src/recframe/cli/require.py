"""`recframe require`: requirements, exit status and test report."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import click
import polars as pl

import recframe as rf
from recframe.api.gates import gate_of
from recframe.cli import files
from recframe.cli.files import FORMATS
from recframe.cli.inputs import columns_of, on_files, paths_of
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
    note,
    put,
    say,
    say_written,
    write,
)
from recframe.cli.readers import READERS, ending_of
from recframe.cli.statistics import shown as show
from recframe.cli.values import time_of
from recframe.errors import RecframeError
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames import atomic_write
from recframe.statistics.requirements import (
    MISSING,
    NO_ROW,
    OPEN,
    Gate,
    Requirement,
    failure_message,
    is_unmet,
    keys_of,
    short_of,
    without_rows,
)
from recframe.statistics.stored_results import is_summary, rounded, with_interval
from recframe.tracking import histories

NAME = "recframe require"
# XML 1.0 has no way to write them
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: pl.DataFrame, gate: Gate) -> str:
    """Return a test case for each row, by its keys, and for each requirement without a row.

    What is not met is a failure, and other rows that are open or missing are skipped.
    """
    unmet = result.select(is_unmet(gate).alias("unmet")).to_series()
    keys = keys_of(result)
    suite = ET.Element("testsuite", {"name": NAME})
    for row, fails in zip(result.iter_rows(named=True), unmet, strict=True):
        place = ", ".join(f"{key}={'null' if row[key] is None else row[key]}" for key in keys)
        kind = "skipped" if row["state"] in {OPEN, MISSING} else "system-out"
        case = _case(suite, place or NAME, row["requirement"], "failure" if fails else kind)
        _fill(case, _words(row), row["state"])
    for requirement in without_rows(result, gate):
        case = _case(suite, NAME, requirement, "failure")
        _fill(case, f"nothing was judged: {NO_ROW}", "missing")
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
    value = with_interval(row["value"], row["value_low"], row["value_high"])
    distance = with_interval(row["difference"], row["difference_low"], row["difference_high"])
    words = f"{row['state']}: {value} against {rounded(row['bound'])}, apart by {distance}"
    words += f"; {row['n_users'] or 0} users detect {rounded(row['detectable'])}"
    return f"{words}; {row['note']}" if row["note"] else words


def _text(text: str) -> str:
    return _CONTROL.sub("?", text)


JUNIT = "junit"
USERS_OF = ".users.parquet"
"""The ending of the file of users' values beside a stored result."""
BELONGS_TO = "belongs_to"
"""Column of users' values with a mark of the result that they were stored with."""
OF_GATE = ("strict", "min_users", "missing")
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
        "An earlier result, of --store or recframe summarize -o, that '0.99 * reference' stands for; or a table of "
        "recommendations to compare with, or the name of a model.",
        "REFERENCE",
    ),
    option(
        "--as-of",
        "The day or time of this run: those before it count.  [default: all runs]",
        "TIME",
        time_of,
    ),
    option("--name", "Which runs count, where the history has several names.", "WORD"),
    option(
        "--store",
        "Write the result to a file, for a later --reference; not where a requirement fails.",
        "FILE",
    ),
    option(
        "--users-values",
        "Store the values of users beside it, so that a later result can be compared with them user by user.",
        is_flag=True,
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

    A bound is a number, or a share of a model's value: 'ndcg@10 >= 0.99 * popularity', with --model; of an earlier result:
    'ndcg@10 >= 0.99 * reference', with --reference; or of the prediction from the last runs of a history: 'ndcg@10 >= trailing'
    or 'ndcg@10 >= 0.95 * trailing', with --history. Each requirement holds, fails or is open: it fails if the data show that it
    is not met, and is open with too few users, or runs, to tell. It is missing if a model or segment of the earlier result, or
    of every last run, is missing now.

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
        'ndcg@10 >= 0.99 * reference' --reference last.json --store last.json
      recframe require recs.parquet truth.parquet 'ndcg@10 >= trailing' \\
        --history history.parquet --as-of 2026-11-22
      recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.28' \\
        --format junit -o report.xml
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    with as_not_judged():
        earlier = _earlier(options)
        _check_outputs(options, list(paths_of(recs, given.truth, options).values()))
        unwritten = {**options, "output": None, "form": None}
        with on_files(recs, given.truth, unwritten) as rec:
            arguments = arguments_of(rf.Rec.require, options)
            arguments |= {"models": options["models"] or None, "last": earlier}
            result = rec.require(
                *given.requirements,
                **arguments | {"history": _before(options), "raises": False, "wide": True},
            )
            gate = gate_of(given.requirements, **{one: options[one] for one in OF_GATE})
            words = failure_message(result, gate)
            users = (
                None if words is not None else _values_of_users(rec, given.requirements, options)
            )
        _give(result, gate, options)
        if words is None:
            _store(result, users, options)
    _end(result, words, options)


@contextmanager
def as_not_judged() -> Iterator[None]:
    """Turn errors before judging into an exit status of its own."""
    try:
        yield
    except (rf.RecframeError, pl.exceptions.PolarsError) as error:
        raise NotJudged(str(error)) from None


def _before(options: Options) -> list[Any] | None:
    """Return a history and those of its runs that are before a time and of a name, where these are given."""
    if options["history"] is None:
        return None
    runs = histories.runs(options["history"])
    if options["as_of"] is not None:
        runs = runs.filter(pl.col("as_of") < options["as_of"])
    if options["name"] is not None:
        runs = runs.filter(name=options["name"])
    return [options["history"], runs]


def _earlier(options: Options) -> list[pl.LazyFrame] | None:
    """Return an earlier result, if --reference is one and no table of lists, and take it off the options."""
    path = options["reference"]
    if path is None or not (ending_of(path) in READERS or Path(path).exists()):
        return None
    summary = files.scan(path)
    if not is_summary(summary.collect_schema()):
        return None
    options["reference"] = None
    place = _users_of(path)
    if not place.exists():
        return [summary]
    values = files.scan(str(place))
    marks = values.select(pl.col(f"^{BELONGS_TO}$").unique()).collect()
    if marks.rows() == [(_mark_of(path),)]:
        return [summary, values.drop(BELONGS_TO)]
    note(f"{str(place)!r} does not belong to {path!r}, and is not used")
    return [summary]


def _users_of(path: str) -> Path:
    """Return the file of the users' values of a stored result."""
    place = Path(path).expanduser()
    return place.with_name(place.name.partition(".")[0] + USERS_OF)


def _mark_of(path: str) -> str:
    """Return the SHA-256 of a stored result's file, which identifies its version."""
    return hashlib.sha256(Path(path).expanduser().read_bytes()).hexdigest()


def _is_junit(options: Options) -> bool:
    path, form = options["output"], options["form"]
    return bool(form == JUNIT or (form is None and path and path.lower().endswith(".xml")))


def _check_outputs(options: Options, inputs: Sequence[str]) -> None:
    """Say before any work is done that a result cannot be written."""
    store = options["store"]
    check_output(options["output"], JUNIT if _is_junit(options) else options["form"], inputs)
    if store is not None:
        check_output(store, None, inputs)
        check_output(str(_users_of(store)), None, inputs)
    elif options["users_values"]:
        raise RecframeError("--users-values has a place beside a stored result; write --store FILE")


def _give(result: pl.DataFrame, gate: Gate, options: Options) -> None:
    path = options["output"]
    if not _is_junit(options):
        show(result if options["wide"] else short_of(result), options)
    elif path in {None, STDOUT}:
        put(junit(result, gate))
    else:
        atomic_write.write_text(path, junit(result, gate))
        say_written(path, result)


def _values_of_users(
    rec: Any, required: list[Requirement], options: Options
) -> pl.DataFrame | None:
    """Return the values of users that are stored with a result; None where they are not asked for."""
    metrics = [
        requirement.metric for requirement in required if not is_of_segment(requirement.metric)
    ]
    if options["store"] is None or not options["users_values"] or not metrics:
        return None
    user = columns_of(options).get("user", "user")
    values: pl.DataFrame = rec.evaluate(*metrics, by=[*options["by"], user])
    return values


def _store(result: pl.DataFrame, users: pl.DataFrame | None, options: Options) -> None:
    """Write a result that is good, for later ones to be compared with, and the values of its users.

    NOTE: not one that fails, which the next would be compared with and pass, worse and worse from one to the next.
    """
    path = options["store"]
    if path is None:
        return
    write(result, path, None)
    if users is not None:
        marked = users.with_columns(pl.lit(_mark_of(path)).alias(BELONGS_TO))
        write(marked, str(_users_of(path)), None)
    say(f"stored {path}", err=True)


def _end(result: pl.DataFrame, words: str | None, options: Options) -> None:
    """Print the outcome to stderr and exit; failed rows are included unless stdout shows them."""
    if words is not None:
        say(words.partition(":\n")[0] if is_table(options) else words, err=True)
        click.get_current_context().exit(1)
    states = result["state"].value_counts(sort=True).rows()
    said = {"holds": "hold", "fails": "fail"}
    counts = (f"{n} {state if n == 1 else said.get(state, state)}" for state, n in states)
    say(", ".join(counts), err=True)
