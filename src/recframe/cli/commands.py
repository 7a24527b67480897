"""The command `recframe` and its commands."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe import demo as simulated
from recframe.audit.report import CHECKS
from recframe.cli import files
from recframe.cli.calls import (
    FORMAT,
    HISTORY,
    OUTPUTS,
    PAGE,
    PUBLISHED,
    command,
    command_of,
)
from recframe.cli.gates import require
from recframe.cli.inputs import reading
from recframe.cli.options import PATH, Option, options_of
from recframe.cli.output import Failure, NotJudged, Options, note, put, say
from recframe.cli.results import STDOUT, check_output, give, is_table
from recframe.cli.splits import split
from recframe.cli.tables import print_findings, print_frame
from recframe.errors import RecframeError, readable, suggestion
from recframe.reports.page import Page

INTERRUPTED, LEFT = 130, 141
"""Exit statuses after Ctrl-C, and where the reader of stdout leaves, as `head` does: 128 and the number of the signal."""


@contextmanager
def _words_of_usage() -> Iterator[None]:
    """Have click's own errors, which repeat what was written, be fit for a terminal."""
    try:
        yield
    except click.UsageError as error:
        text = readable(error.message)
        if "unexpected extra argument" in text:
            text += "; put a pattern in quotes: 'recs/*.parquet'"
        # NOTE: it is final to type checkers, and what its own show() prints
        error.message = text  # type: ignore[misc]
        raise


class Commands(click.Group):
    """Commands whose errors are a line, without a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what stands before the name of a command."""
        with _words_of_usage():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            with _words_of_usage():
                return super().invoke(ctx)
        except (rf.RecframeError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            is_own = isinstance(error, rf.RecframeError)
            kind = NotJudged if ctx.invoked_subcommand == "require" else Failure
            raise kind(str(error) if is_own else f"Polars: {files.first_line(error)}") from None
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except OSError as error:
            # so that what is left to write does not fail at the end once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            if error.errno == errno.EPIPE:
                ctx.exit(LEFT)
            msg = f"cannot write to stdout: {error.strerror}"
            raise Failure(msg) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(rf.__version__, prog_name="recframe")
def main() -> None:
    """Recommender metrics from tables of recommendations.

    RECS has the columns user, item and rank (from 1) or score; TRUTH has user, item and, if graded, relevance. RECS alone is a
    judged table with a column relevance. Each is a Parquet, CSV, TSV, JSON, NDJSON, Arrow or TREC file, a folder, a pattern in
    quotes, or - for the standard input. The result alone goes to stdout, notes and errors to stderr.

    \b
    recframe demo --save shop
    recframe evaluate shop/recs.parquet shop/truth.parquet --model model
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    for stream in (sys.stdout, sys.stderr):
        # a terminal that cannot show a character shows a question mark
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


# Findings, histories and pages


def _show_findings(found: pl.DataFrame, options: Options) -> None:
    """Show findings, and exit with 1 where one is of severity error."""
    if options["memory"] is not None:
        left = ", ".join(check.name for check in CHECKS if "all users" in check.needs)
        note(f"a call within --memory makes no checks of all users at once: {left}")
    if is_table(options):
        print_findings(found)
    else:
        give(found, options)
    if "error" in found["severity"]:
        click.get_current_context().exit(1)


def _show_runs(runs: pl.DataFrame, options: Options) -> None:
    """Show runs by their numbers, or write all that is known of them."""
    if is_table(options):
        times = runs["as_of"]
        if (times == times.dt.truncate("1d")).all():
            runs = runs.with_columns(times.dt.date())
        runs = runs.rename({"low": "value_low", "high": "value_high"})
        names = [one.name for one in runs if one.count() or not len(runs)]
        hidden = {"fingerprint", "std", "expected", "n_runs"}
        runs = runs.select(name for name in names if name not in hidden)
    give(runs, options)


def _show_tracked(result: pl.DataFrame, options: Options) -> None:
    """Show the rows of a run, and say where it is."""
    _show_runs(result, options)
    say(f"tracked in {options['history']}", err=True)


def _show_page(page: Page, options: Options) -> None:
    """Write a page."""
    output = options["output"]
    if output == STDOUT:
        put(f"{page.html}\n".encode())
        return
    page.save(output)
    say(f"wrote {output} ({Path(output).stat().st_size / 1000:,.0f} kB)", err=True)


def _history(history: str, since: datetime, **options: Any) -> None:
    """Show the runs of a history."""
    check_output(options)
    with reading({}):
        runs = rf.history(history)
    _show_runs(runs.filter(pl.col("as_of") >= since), options)


def _changes(history: str, since: datetime, *, changed: bool, **options: Any) -> None:
    """Show the numbers of a history with what changed, or write the page of them."""
    is_page = (options["output"] or "").endswith(PAGE)
    check_output(options, also=[PAGE])
    how = {"window": options["window"], "level": options["level"]}
    with reading({}):
        found: Any = rf.dashboard(history, **how) if is_page else rf.changes(history, **how)
    if is_page:
        _show_page(found, options)
        return
    found = found.filter(pl.col("as_of") >= since)
    _show_runs(found.filter(verdict="changed") if changed else found, options)


# Metrics, profiles and the demo


def _list(
    make: Callable[[], pl.DataFrame],
    shown: Sequence[str],
    name: str | None,
    spelt: Callable[[str], str] = str,
    **options: Any,
) -> None:
    """List what is known, or all that is known of one."""
    check_output(options)
    known = make()
    if name is not None:
        found = known.filter(pl.first() == spelt(name))
        if found.is_empty():
            msg = f"there is no {name!r}{suggestion(name, known.to_series())}"
            raise RecframeError(msg)
        known = found
    if not is_table(options):
        give(known, options)
    elif name is None:
        print_frame(known.select(shown))
    else:
        facts = known.row(0, named=True).items()
        say("\n".join(f"{f'{title}:':<19}{value}" for title, value in facts if value))


def _explain(metric: str, profiles: Sequence[str], **options: Any) -> None:
    """Explain a metric, or the difference of two profiles in it."""
    check_output(options)
    with reading({}):
        found = rf.explain(metric, *profiles)
    if is_table(options):
        say(str(found))
    else:
        give(found.frame, options)


def _demo(save: Path | None, **options: Any) -> None:
    """Simulate a shop, evaluate its models, and write its tables."""
    simulation = simulated.simulate(**options)
    say(
        f"A simulated shop: {options['n_users']:,} users, {options['n_items']:,} items, {simulation.train.height:,} rows to "
        f"train on, {simulation.truth.height:,} held out as the truth.\n\n{simulated.python_lines(**options)}"
    )
    answers = [*simulated.answers(simulation)]
    for question, line, frame in answers:
        say(f"{question}\n{line}\n")
        print_frame(frame)
        say("")
    if save is not None:
        try:
            simulation.save(save)
        except OSError as error:
            msg = f"cannot write into {str(save)!r}: {error.strerror}"
            raise Failure(msg) from None
        place = shlex.quote(str(save))
        say(
            f"Wrote recs, truth, train, users, items and log into {save}. Try:\n\n"
            f"recframe evaluate {place}/recs.parquet {place}/truth.parquet \\\n"
            f"    --model model --users {place}/users.parquet --by activity -m ndcg@10\n"
        )
    say(simulated.conclusion(answers[0][-1]))


SINCE = (
    HISTORY,
    Option(
        ["--since"],
        type=click.DateTime(),
        default="1000-01-01",
        help="The first day or time to show, such as 2026-11-22.",
    ),
)
NAME = click.Argument(["name"], required=False)
METHODS = (
    command_of(
        rf.Rec.evaluate,
        "Compute metrics of the recommendations in RECS, compared with TRUTH.",
        "recs.parquet truth.parquet -m ndcg@10 -m recall@20",
        "recs.csv truth.csv --columns user=user_id,item=movie_id",
        "'recs/*.parquet' truth.parquet --model model \\\n      --users users.csv --by country",
        "r.txt t.txt --separator tab \\\n      --header recs=user,item,rank --header truth=user,item",
        "judged.parquet -m ndcg,recall -k 5,10,20 -o table.md",
        "recs.parquet truth.parquet --model model -o paper.tex",
        show=give,
        also=PUBLISHED,
    ),
    command_of(
        rf.Rec.audit,
        "Check the data quality of RECS and TRUTH. Exit status: 1 for a finding of severity error, and for files that cannot "
        "be read; 2 for the options; else 0.",
        "recs.parquet truth.parquet -k 10 \\\n      --train train.parquet --items items.parquet",
        show=_show_findings,
    ),
    command_of(
        rf.Rec.summarize,
        "Compute metrics with their intervals, overall or by segment.",
        "recs.parquet truth.parquet -m ndcg@10 \\\n      --by country --users users.parquet",
        "recs.parquet truth.parquet --model model -o last.parquet",
    ),
    command_of(
        rf.Rec.compare,
        "Compare the models in RECS, user by user: their differences, with intervals and verdicts.",
        "recs.parquet truth.parquet -m ndcg@10 \\\n      --model model --baseline popularity",
        "recs.parquet truth.parquet --model model --baseline svd \\\n      --margin 0.01 --by country --users users.csv",
        "'runs/*.run' test.qrels --model model -m map",
    ),
    command_of(
        rf.Rec.power,
        "Compute the smallest difference that the users can show, and the users that a wanted one needs.",
        "recs.parquet truth.parquet -m ndcg@10 \\\n      --model model --baseline svd --wanted 0.01",
    ),
    command_of(
        rf.Rec.gaps,
        "Find the best and the worst segment of each --by column, and the gap between them.",
        "recs.parquet truth.parquet -m ndcg@10 \\\n      --users users.parquet --by country,device",
    ),
    command_of(
        rf.Rec.slices,
        "Compare the segments of the --by columns, alone and crossed, with all other users, the worst first.",
        "recs.parquet truth.parquet -m ndcg@10 \\\n      --users users.parquet --by country,device,age",
    ),
    command_of(
        rf.Rec.report,
        "Write a page: values, models compared, segments, curves, costs, findings and real cases.",
        "recs.parquet truth.parquet --model model \\\n      --baseline popularity -o report.html",
        show=_show_page,
        outputs=[
            Option(
                ["-o", "--output"],
                metavar="FILE",
                type=PATH,
                default="report.html",
                show_default=True,
                help="The page to write; - is the standard output.",
            )
        ],
        more=(),
        also=[PAGE],
    ),
    command_of(
        rf.Rec.track,
        "Compute metrics with intervals, and append them to a history.",
        "recs.parquet truth.parquet -m ndcg@10 \\\n      --history history --as-of 2026-11-22",
        show=_show_tracked,
        more=(),
    ),
)
OTHERS = (
    command(
        "history",
        _history,
        "Print the runs of a history. A --format, or -o FILE, has all columns.",
        "history --since 2026-11-01 -o month.csv",
        takes=[*SINCE, *OUTPUTS],
    ),
    command(
        "changes",
        _changes,
        "Print each number of a history with the band of the runs before it, and whether it changed. Of many numbers some "
        "change by chance.",
        "history --changed",
        "history -o dashboard.html",
        takes=[
            *SINCE,
            *options_of(rf.changes, but={"history"}),
            Option(["--changed"], is_flag=True, help="Print what changed, and nothing else."),
            FORMAT,
            Option(
                ["-o", "--output"],
                metavar="FILE",
                type=PATH,
                help="Write all columns to a file; an ending of .html writes the page of the history.",
            ),
        ],
    ),
    command(
        "metrics",
        partial(
            _list,
            rf.list_metrics,
            ("name", "aliases", "formula", "parameters"),
            spelt=lambda name: rf.parse(name).name,
        ),
        "List the metrics, or all that is known of one. A metric is written name(parameter=value)@k: ndcg@10, "
        "'f_score(beta=2)@5'; recframe explain says what it means.",
        "ndcg",
        takes=[NAME, *OUTPUTS],
    ),
    command(
        "profiles",
        partial(_list, rf.list_profiles, ("profile", "metrics")),
        "List the conventions of other libraries, or show one.",
        "trec_eval",
        takes=[NAME, *OUTPUTS],
    ),
    command(
        "explain",
        _explain,
        "Explain a metric, or why two profiles differ in it. In Python rec.explain(...) says in numbers of your own data what "
        "each switch adds to the value.",
        "map@10 trec_eval",
        "precision@10 ranx jurity",
        takes=[
            click.Argument(["metric"]),
            click.Argument(["profiles"], nargs=-1, metavar="[PROFILE]..."),
            *OUTPUTS,
        ],
    ),
    command(
        "demo",
        _demo,
        "Simulate a shop with three recommenders, and evaluate them overall and by segment.",
        "--save shop",
        takes=[
            *options_of(simulated.simulate),
            Option(
                ["--save"],
                metavar="DIR",
                type=click.Path(file_okay=False, path_type=Path),
                help="Write the tables as Parquet files, to try commands on.",
            ),
        ],
    ),
)
for one in (*METHODS, require, split, *OTHERS):
    main.add_command(one)
