"""The command of splits."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import polars as pl
from click.core import ParameterSource

import recframe as rf
from recframe.api.splits import Splits
from recframe.cli.inputs import columns_of, reading, scanned, tables_of
from recframe.cli.options import (
    OF_TABLES,
    argument,
    declared,
    option,
    options_of,
)
from recframe.cli.output import (
    Options,
    check_place,
    noted,
    print_findings,
    print_frame,
    say_written,
    tell,
    words_of_the_shell,
    write,
)
from recframe.errors import RecframeError

RULES: dict[str, Callable[..., Any]] = {
    "by_time": Splits.by_time,
    "rolling": Splits.rolling,
    "last_per_user": Splits.last_per_user,
    "random": Splits.random,
    "by_user": Splits.by_user,
}
OF_TIMES = ("step", "gap", "window", "until")
"""Options that are numbers where times are."""
_ISO = r"^\d{4}-\d{2}-\d{2}"
_LENGTH = re.compile(r"(\d+ ?[A-Za-z]+ ?)+")
SHARE_DECIMALS = 4
PARTS = ("train", "fold_in", "truth")

HOW = declared(
    option(
        "--by-time",
        "Split at one point of time: truth is the last 7d, the last 0.2 of the rows, or all from 2024-05-01 on. Of times that "
        "are numbers write last=604800 or at=1714521600.",
        "WHEN",
    ),
    option(
        "--rolling",
        "Split at --folds points: the truth of each is a window of this length, such as 7d, the last one at the end.",
        "LENGTH",
    ),
    option("--last-per-user", "Split off the last N events of each user.", "N"),
    option(
        "--random",
        "Split off a random share of the pairs of user and item, such as 0.2; or N pairs of each user.",
        "SHARE",
    ),
    option(
        "--by-user",
        "Split off a random share of the users, such as 0.2, or those who are new, at=2024-05-01: the first of their rows are "
        "fold_in, the others truth.",
        "SHARE",
    ),
)
OF_RULES = declared(
    options_of(Splits.rolling, "folds", "step", "gap", "window"),
    options_of(Splits.by_time, "until", "align"),
    options_of(Splits.last_per_user, "keep"),
    options_of(Splits.random, "per", "seed"),
    options_of(Splits.by_user, "fold_in", "order"),
    options_of(Splits.by_time, "target", "cold", "seen", "min_train", "min_relevance"),
)


@click.command(short_help="Split a log into train and truth, and audit the split.")
@declared(
    argument("log"),
    HOW,
    OF_RULES,
    OF_TABLES,
    option(
        "-o --output",
        "The folder for the files train and truth (and fold_in); it is made where it is missing. With several folds they have "
        "a column fold.",
        "DIR",
        type=click.Path(file_okay=False, path_type=Path),
    ),
    option("--labels", "Write labels too: each row of LOG with its fold and part.", is_flag=True),
    option(
        "--format form",
        "The format of the files.",
        type=click.Choice(["parquet", "csv", "tsv", "ndjson", "arrow"]),
        default="parquet",
        show_default=True,
    ),
)
@click.pass_context
def split(ctx: click.Context, /, log: str, **options: Any) -> None:
    """Split LOG, a row for each interaction, into train and truth by one of five rules; print what came out, and its audit.

    LOG has the columns user and item; --columns time=NAME names the times, which all rules but --random need. Nothing is
    dropped in silence: a row in neither file has a part that says why, and is counted. Exit status: 1 for a finding of severity
    error, and for files or columns that cannot be read; 2 for the options; else 0.

    \b
    Examples:
      recframe split log.parquet --by-time 7d --columns time=bought_at -o split
      recframe split log.parquet --rolling 7d --folds 4 --columns time=t -o split
      recframe split log.parquet --last-per-user 1 --columns time=t -o split
      recframe split log.csv --random 0.2 --seed 1 --format csv -o split
      recframe split log.parquet --by-user 0.2 --fold-in 0.8 -o split
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    rule, arguments = _call(ctx, options)
    paths = {"log": log}
    with words_of_the_shell(paths):
        with noted(), reading():
            made = getattr(_bound(paths, options).split, rule)(**arguments)
            tables = {name: getattr(made, name) for name in PARTS}
            labels = {"labels": made.labels} if options["labels"] else {}
            described, findings = made.describe(), made.audit()
            tell(f"{str(made).splitlines()[0]}\n")
        for table in _views(described):
            print_frame(table)
        print_findings(findings)
        _write({**tables, **labels}, options, log)
    _end(findings)


def _views(described: pl.DataFrame) -> list[pl.DataFrame]:
    """Return a description as tables that fit a terminal: times, rows, shares and medians of each fold."""
    numbers = [one.name for one in described.drop("fold") if one.dtype.is_integer() and one.sum()]
    floats = [one.name for one in described if one.dtype.is_float()]
    medians = [name for name in floats if name.startswith("median_")]
    times = [name for name in described.columns if name.endswith(("_from", "_to"))]
    times = [name for name in times if described[name].count()]
    shares = [name for name in floats if name not in medians]
    rounded = described.with_columns(pl.col(floats).round(SHARE_DECIMALS))
    first = ["fold"] * (len(described) > 1)
    return [rounded.select(*first, *one) for one in (times, numbers, shares, medians) if one]


def _call(ctx: click.Context, options: Options) -> tuple[str, dict[str, Any]]:
    """Return the rule and its arguments, of the options that were given."""
    given = {
        name: options[name]
        for name in options
        if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    rules = [rule for rule in RULES if rule in given]
    if len(rules) != 1:
        found = " and ".join(map(_flag, rules)) or "none"
        msg = f"write one of {', '.join(map(_flag, RULES))}; found {found}"
        raise click.UsageError(msg, ctx)
    (rule,) = rules
    known = {name: {*inspect.signature(method).parameters} for name, method in RULES.items()}
    arguments = {name: given[name] for name in given if name in set().union(*known.values())}
    for name in arguments:
        if name not in known[rule]:
            others = [_flag(one) for one in RULES if name in known[one]]
            msg = f"{_flag(name)} is an option of {' and '.join(others)}, and not of {_flag(rule)}"
            raise click.UsageError(msg, ctx)
    if rule == "rolling" and "folds" not in arguments:
        raise click.UsageError("--rolling needs --folds N, the number of windows", ctx)
    arguments |= {name: _number(arguments[name]) for name in OF_TIMES if name in arguments}
    return rule, {**_first_argument(rule, str(given[rule])), **arguments}


def _first_argument(rule: str, text: str) -> dict[str, Any]:
    """Return the argument that the value of a rule's option is."""
    name, equals, written = text.partition("=")
    if equals and name in inspect.signature(RULES[rule]).parameters:
        return {name: _number(written)}
    value = _number(text)
    is_share = isinstance(value, float)
    if rule == "random":
        return {"share" if is_share else "n": value}
    if rule != "by_time":
        return {{"rolling": "horizon", "last_per_user": "n", "by_user": "share"}[rule]: value}
    if isinstance(value, int):
        msg = f"--by-time {text}: write last={text} for the length of the truth, or at={text} for the point where it begins"
        raise click.UsageError(msg)
    return {"share" if is_share else "last" if _LENGTH.fullmatch(text) else "at": value}


def _number(text: str) -> int | float | str:
    """Return the number that a text is, or the text."""
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    return text


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _tables(paths: Mapping[str, str], options: Options) -> dict[str, pl.DataFrame]:
    """Return the tables of a command's files, whose times are no text."""
    tables = tables_of(scanned(dict(paths), options))
    time = columns_of(options).get("time")
    return {name: _with_times(frame, time, paths[name]) for name, frame in tables.items()}


def _with_times(frame: pl.DataFrame, time: str | None, path: str) -> pl.DataFrame:
    """Return a table whose times are read from ISO text, as text files have them."""
    if time is None or frame.schema.get(time) != pl.String:
        return frame
    other = frame.filter(~pl.col(time).str.contains(_ISO))
    if len(other):
        msg = f"column {time!r} of {path!r} has {other[time][0]!r}; write times as 2024-05-01, or 2024-05-01T18:30:00"
        raise RecframeError(msg)
    days = frame[time].str.len_chars().max() == len("2024-05-01")
    text = frame[time].str
    return frame.with_columns(text.to_date() if days else text.to_datetime())


def _bound(paths: Mapping[str, str], options: Options) -> Any:
    return rf.rec(_tables(paths, options)["log"], **columns_of(options))


def _write(tables: Mapping[str, pl.DataFrame], options: Options, log: str) -> None:
    """Write tables into the folder; of the fold-in where there is one."""
    folder = options["output"]
    if folder is None:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        if len(table) or name != "fold_in":
            path = str(folder / f"{name}.{options['form']}")
            check_place(path, [log])
            write(table, path, None)
            say_written(path, table)


def _end(findings: pl.DataFrame) -> None:
    """End with an error where a finding is one."""
    if "error" in findings["severity"]:
        click.get_current_context().exit(1)
