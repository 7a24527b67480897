"""Commands on results over time: `track`, `history`, `changes` and `report`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import click
import polars as pl
from click.core import ParameterSource

import recframe as rf
from recframe.cli.inputs import call_of, paths_of
from recframe.cli.options import (
    DECIMALS,
    FRAMES,
    HISTORY,
    METRICS,
    OUTPUT,
    TRUTH,
    argument,
    arguments_of,
    declared,
    option,
    options_of,
)
from recframe.cli.output import (
    STDOUT,
    Options,
    check_output,
    check_place,
    give,
    is_table,
    is_terminal,
    put,
    say,
    words_of_the_shell,
)
from recframe.cli.statistics import command_of, view
from recframe.cli.values import time_of
from recframe.errors import RecframeError, plan_errors, suggestion
from recframe.reports.page import Page, check_ending

SHOWN = ("value", "low", "high", "n", "expected_low", "expected_high", "change", "verdict")
ENDS = {"low": "value_low", "high": "value_high"}
"""Columns of an interval by the names that stand with their value on a terminal."""
KILO = 1000
OF_A_HISTORY = {"history", "output", "title", "window", "model", "metrics", "level"}
"""The options of the page of a history."""


def _show_tracked(result: pl.DataFrame, options: Options) -> None:
    """Show the rows of a run, and say where it is."""
    _show(result, options)
    say(f"tracked in {options['history']}", err=True)


@command_of(
    rf.Rec.track,
    "Compute metrics with intervals, and append them to a history.",
    DECIMALS,
    show=_show_tracked,
)
def track() -> None:
    """Compute metrics of RECS and TRUTH with intervals, and append them to a history.

    The files and columns are those of recframe evaluate. A run of the same time, name and data replaces the earlier one;
    several processes may track at once. recframe history prints the runs.

    \b
    Examples:
      recframe track recs.parquet truth.parquet -m ndcg@10 \\
        --history history.parquet --as-of 2026-11-22
      recframe track recs.parquet truth.parquet -m ndcg,mrr -k 10 --by country \\
        --users users.csv --history history.parquet --as-of 2026-11-22 \\
        --tag commit=3f2a1c
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


RUNS = declared(
    argument("history", metavar="DIR"),
    METRICS("The metrics to print, such as ndcg@10.  [default: all]"),
    option("--since", "The first day or time to print.", "TIME", time_of),
)


@click.command(short_help="Print the runs of a history.")
@declared(RUNS, OUTPUT)
def history(history: str, metrics: list[str], since: datetime | None, **options: Any) -> None:
    """Print the runs that recframe track has put into DIR, by time.

    The table has the numbers; a --format, or -o FILE, has everything in the history, fingerprints of the data too.

    \b
    Examples:
      recframe history history.parquet
      recframe history history.parquet -m ndcg@10 --since 2026-11-01 \\
        -o month.csv
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    check_output(options["output"], options["form"])
    with words_of_the_shell({}):
        _show(_since(of_metrics(rf.history(history), metrics), since), options)


@click.command(short_help="Print the numbers of a history, and which of them changed.")
@declared(
    RUNS,
    options_of(rf.changes),
    option("--changed", "Print what changed, and nothing else.", is_flag=True),
    OUTPUT,
)
def changes(history: str, metrics: list[str], since: datetime | None, **options: Any) -> None:
    """Print each number of the history in DIR with the band of the runs before it, and whether it changed.

    Each number is judged by itself: of many numbers some change by chance. A --format, or -o FILE, has all columns, the
    fingerprint of the data too. It needs pip install 'recframe[stats]'.

    \b
    Examples:
      recframe changes history.parquet --changed
      recframe changes history.parquet -m ndcg@10 --window 28 --since 2026-11-01
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    check_output(options["output"], options["form"])
    with words_of_the_shell({}):
        runs = of_metrics(rf.history(history), metrics)
        found = rf.changes(runs, **arguments_of(rf.changes, options))
    found = found.filter(verdict="changed") if options["changed"] else found
    _show(_since(found, since), options)


def of_metrics(runs: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the runs of some metrics, of all where none are named; or say which one the history does not have."""
    known = runs["metric"].unique().sort().to_list()
    names = [metric if metric in known else str(rf.parse(metric)) for metric in metrics]
    for name in names:
        if known and name not in known:
            close = suggestion(name, known) or f"; it has {', '.join(known)}"
            raise RecframeError(f"the history has nothing of {name!r}{close}")
    return runs.filter(pl.col("metric").is_in(names)) if names else runs


def _since(runs: pl.DataFrame, since: datetime | None) -> pl.DataFrame:
    """Return the runs from a time on."""
    return runs if since is None else runs.filter(pl.col("as_of") >= since)


def _show(result: pl.DataFrame, options: Options) -> None:
    """Show a result by its numbers, or write all of it."""
    if is_table(options):
        keys = result.columns[: result.columns.index("metric") + 1]
        full = [key for key in keys if result[key].count() or result.is_empty()]
        names = [one for one in (*full, *SHOWN) if one in result.columns and one != "fingerprint"]
        result = result.select(names)
        times = result.get_column("as_of", default=pl.Series("as_of", [], pl.Datetime("us")))
        days = times.dt.date()
        if len(days) and (times == days.cast(pl.Datetime("us"))).all():
            result = result.with_columns(days)
        result = view(result.rename(ENDS, strict=False)) if is_terminal() else result
    give(result, options)


@click.command(short_help="Write an offline page with all results.")
@declared(
    argument("recs", required=False),
    TRUTH,
    options_of(rf.Rec.report),
    HISTORY("Write a page of the runs that recframe track has put there, in place of RECS."),
    options_of(rf.dashboard, "window"),
    FRAMES,
    option(
        "-o --output",
        "The page to write, a file that ends in .html; - is the standard output.",
        "FILE",
        default="report.html",
        show_default=True,
    ),
)
def report(recs: str | None, truth: str | None, **options: Any) -> None:
    """Write a page in one file: values with intervals, models compared, segments, curves, costs, findings and real cases.

    The files and options are those of recframe evaluate. The page works offline and uses no network. It needs
    pip install 'recframe[report]'.

    With --history, and without RECS, it is a page of all runs of a history: the latest numbers, the changes, each metric
    over time, and the runs behind them. --level is then that of the changes.  [default: 0.99]

    \b
    Examples:
      recframe report recs.parquet truth.parquet -m ndcg@10 -o report.html
      recframe report recs.parquet truth.parquet --model model \\
        --baseline popularity --users users.parquet --by country
      recframe report recs.parquet truth.parquet --items items.parquet \\
        --train train.parquet --title 'Week 47'
      recframe report --history history.parquet -o dashboard.html
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    if options["history"] is not None:
        _of_history(recs, options)
        return
    if recs is None:
        raise click.UsageError("Missing argument 'RECS'; or write --history DIR.")
    output = options["output"]
    _check_output(output, paths_of(recs, truth, options).values())
    with call_of(rf.Rec.report, recs, truth, options | {"output": None, "form": None}) as ask:
        page = ask()
    _write(page, output)


def _of_history(recs: str | None, options: Options) -> None:
    """Write the page of a history."""
    if recs is not None:
        raise click.UsageError(f"--history makes a page of its own; leave out {recs!r}")
    written = {one: options[one] for one in _written()}
    beyond = [one.replace("_", "-") for one in written if one not in OF_A_HISTORY]
    if beyond:
        raise click.UsageError(f"--history makes a page of its own, which takes no --{beyond[0]}")
    output, given = options["output"], arguments_of(rf.dashboard, written)
    with words_of_the_shell({}):
        _check_output(output, [])
        runs = of_metrics(rf.history(options["history"]), options["metrics"])
        with plan_errors():
            page = rf.dashboard(**given | {"history": runs})
        _write(page, output)


def _written() -> list[str]:
    """Return the names of the options that the command was given."""
    context = click.get_current_context()
    # click 8.2 says of an argument that is left out that it stands there
    given = [one for one, value in context.params.items() if value is not None]
    sources = {one: context.get_parameter_source(one) for one in given}
    return [one for one, source in sources.items() if source is ParameterSource.COMMANDLINE]


def _check_output(output: str, inputs: Iterable[str]) -> None:
    """Say what is wrong with where the page is to be written."""
    if output != STDOUT:
        check_ending(output)
        check_place(output, inputs)


def _write(page: Page, output: str) -> None:
    """Write the page, and say so."""
    if output == STDOUT:
        put(page.html + "\n")
        return
    page.save(output)
    size = Path(output).expanduser().stat().st_size
    say(f"wrote {output} ({size / KILO:,.0f} kB)", err=True)
