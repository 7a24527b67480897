"""`recframe track` and `history`: results kept from run to run, and all of them as a table again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.cli import completion
from recframe.cli.declared import (
    BY,
    COLUMNS,
    CUTOFFS,
    DECIMALS,
    MIX,
    OUTPUT,
    POLICIES,
    PROFILE,
    RECS,
    SIDES,
    TRUTH,
    WINDOW,
    declared,
    history_option,
    metrics_option,
)
from recframe.cli.given import bound_at_once, paths_of, scanned
from recframe.cli.options import split, time_of
from recframe.cli.printing import say
from recframe.cli.results import STDOUT, check_output, give, is_table
from recframe.cli.shell import noted, words_of_the_shell
from recframe.cli.uncertain import CLUSTER, answered
from recframe.errors import RecframeError, suggestion
from recframe.tracking import kept

DROPPED = (
    *("run", "fingerprint", "tracked_at", "recframe", "polars", "definition", "split_by", "note"),
)
"""What a history has beside its numbers, which a table to look at leaves out."""
SHOWN = (
    *("value", "value_low", "value_high", "n_users", "expected_low", "expected_high", "difference"),
    *("p_adjusted", "verdict"),
)


def tags_of(
    ctx: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return tags by their names."""
    pairs = [one.partition("=") for one in split(ctx, parameter, values)]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise click.BadParameter(
                f"{name + equals + value!r} is no name=word; write commit=3f2a1c"
            )
    return {name: value for name, _, value in pairs}


@click.command(short_help="Compute metrics with intervals, and append them to a history.")
@declared(
    RECS,
    TRUTH,
    metrics_option("A metric, such as ndcg@10; see recframe metrics.", required=True),
    CUTOFFS,
    history_option(
        "The folder that the run goes into, which is made where it is missing; or a .duckdb file.",
        required=True,
    ),
    click.option(
        "--as-of",
        required=True,
        metavar="TIME",
        help="The day or time that the result holds for: 2026-11-22, or 2026-11-22T06:00+01:00.",
    ),
    click.option("--name", metavar="WORD", help="A name of the run, beside others of that time."),
    click.option(
        "--tag",
        "tags",
        multiple=True,
        callback=tags_of,
        metavar="NAME=WORD",
        help="A word that stands with each row, such as commit=3f2a1c.",
    ),
    BY,
    click.option(
        "--users-values",
        "per_user",
        is_flag=True,
        help="Keep the values of users too, under hashed ids, so that require --history holds each against their own mean.",
    ),
    CLUSTER,
    SIDES,
    COLUMNS,
    POLICIES,
    PROFILE,
    DECIMALS,
    OUTPUT,
)
def track(recs: str, truth: str | None, **options: Any) -> None:
    """Compute metrics of RECS held against TRUTH, with intervals, and append them to a history.

    The files and columns are those of recframe evaluate. A run of the same time, name and data replaces itself; several may be
    tracked at once. recframe history prints what there is.

    \b
    Examples:
      recframe track recs.parquet truth.parquet -m ndcg@10 --history history.parquet --as-of 2026-11-22
      recframe track recs.parquet truth.parquet -m ndcg,mrr -k 10 --by country --users users.csv \\
        --history history.parquet --as-of 2026-11-22 --tag commit=3f2a1c
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    paths = paths_of(recs, truth, options)
    with words_of_the_shell(paths):
        run = ("by", "history", "as_of", "name", "tags", "per_user", "cluster")
        kept = {one: options[one] for one in run}
        ask = bound_at_once(scanned(paths, options), options).track
        cutoffs = list(options["cutoffs"]) or None
        with noted(ids_as_text=options["ids_as_text"]):
            result = answered(partial(ask, *options["metrics"], k=cutoffs, **kept))
    _give(result, options)
    # the note begins with how many users' values there are
    users = (
        f", {result['note'][0].partition('; ')[0]}" if options["per_user"] and len(result) else ""
    )
    say(f"tracked in {options['history']}{users}", err=True)


OF_A_HISTORY = declared(
    click.argument("history", metavar="DIR", shell_complete=completion.files),
    metrics_option("The metrics to print, such as ndcg@10.  [default: all]"),
    click.option(
        "--since", callback=time_of, metavar="TIME", help="The first day or time to print."
    ),
)


@click.command(short_help="Print the runs of a history.")
@declared(OF_A_HISTORY, OUTPUT)
def history(history: str, metrics: list[str], since: datetime | None, **options: Any) -> None:
    """Print the runs that recframe track has put into DIR, a folder or a .duckdb file, by the time that they hold for.

    The table has the numbers; in a --format, and with -o FILE, stands all that the history has: fingerprints of the data,
    versions, and what each metric stood for.

    \b
    Examples:
      recframe history history.parquet
      recframe history history.parquet -m ndcg@10 --since 2026-11-01 -o month.csv
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    check_output(options["output"] or STDOUT, options["form"])
    with words_of_the_shell({}):
        runs, damaged = _runs(history)
        _give(_since(of_metrics(runs, metrics), since), options)
        if damaged is not None:
            raise damaged


@click.command(short_help="Print which runs of a history are not as expected.")
@declared(
    OF_A_HISTORY,
    WINDOW,
    MIX,
    click.option(
        "--level", type=float, default=0.99, show_default=True, help="How sure a flag is."
    ),
    click.option("--flagged", is_flag=True, help="Print what is flagged, and nothing else."),
    OUTPUT,
)
def changes(history: str, metrics: list[str], since: datetime | None, **options: Any) -> None:
    """Print each number of the history in DIR beside what the runs before it predict, and whether it is flagged as a change.

    The band allows for all numbers of a run; of those that -m leaves out it knows nothing. In a --format, and with -o FILE,
    stands all that is known: p values, the rule, and the fingerprint of the data. It needs pip install 'recframe[stats]'.

    \b
    Examples:
      recframe changes history.parquet --flagged
      recframe changes history.parquet -m ndcg@10 --window 28 --since 2026-11-01
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    check_output(options["output"] or STDOUT, options["form"])
    with words_of_the_shell({}):
        runs = of_metrics(kept.runs(history), metrics)
        found = rf.changes(runs, **{one: options[one] for one in ("window", "level", "mix")})
    found = found.filter("flagged") if options["flagged"] else found
    _give(_since(found, since), options)


def _runs(history: str) -> tuple[pl.DataFrame, RecframeError | None]:
    """Return the runs of a history, and what is wrong with those that cannot be read."""
    try:
        return kept.runs(history), None
    except kept.DamagedRunsError as error:
        return error.others, error


def of_metrics(runs: pl.DataFrame, metrics: Sequence[str]) -> pl.DataFrame:
    """Return the runs of some metrics, of all where none are named; or say which one the history does not have."""
    known = runs["metric"].unique().sort().to_list()
    names = [one if one in known else str(rf.parse(one)) for one in metrics]
    for name in names:
        if known and name not in known:
            close = suggestion(name, known) or f"; it has {', '.join(known)}"
            msg = f"the history has nothing of {name!r}{close}"
            raise RecframeError(msg)
    return runs.filter(pl.col("metric").is_in(names)) if names else runs


def _since(runs: pl.DataFrame, since: datetime | None) -> pl.DataFrame:
    """Return the runs from a time on."""
    return runs if since is None else runs.filter(pl.col("as_of") >= since)


def _give(result: pl.DataFrame, options: dict[str, Any]) -> None:
    """Show a result by its numbers, or write all of it."""
    if not is_table(options["output"], options["form"]):
        give(result, options["output"], options["form"])
        return
    keys = result.columns[: result.columns.index("k") + 1]
    shown = [one for one in keys if one not in DROPPED and one != "k"]
    empty = [one for one in shown if result[one].null_count() == result.height and result.height]
    rows = result.select(
        *(one for one in shown if one not in empty),
        *(one for one in SHOWN if one in result.columns),
    )
    give(rows.with_columns(_days(rows)), options["output"], options["form"])


def _days(rows: pl.DataFrame) -> list[pl.Expr]:
    """Return times as days, where all of them are."""
    if "as_of" not in rows.columns:
        return []
    days = pl.col("as_of").dt.date()
    return (
        [days]
        if rows.select((pl.col("as_of") == days.cast(pl.Datetime("us"))).all()).item()
        else []
    )
