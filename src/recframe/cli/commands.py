"""The command `recframe` and its commands."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe import demo as simulated
from recframe.api.splits import Splits
from recframe.cli import calls
from recframe.cli.options import (
    PATH,
    Command,
    options_of,
    options_of_files,
    options_of_rec,
)
from recframe.cli.output import NotJudgedError, say
from recframe.cli.results import FORMATS, TABLE
from recframe.errors import readable

INTERRUPTED, LEFT = 130, 141
"""Exit statuses after Ctrl-C, and where the reader of stdout leaves, as `head` does: 128 and the number of the signal."""


class Commands(click.Group):
    """Commands whose errors are a line, without a traceback."""

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run a command, and end with its status."""
        status: Any = 1
        try:
            status = super().main(*args, **settings | {"standalone_mode": False})
        except click.Abort:
            status = INTERRUPTED
        except click.ClickException as error:
            # click repeats what was written; NOTE: the text is final to type checkers, and what show() prints
            error.message = readable(error.message)  # type: ignore[misc]
            error.show()
            status = error.exit_code
        except (rf.RecframeError, pl.exceptions.PolarsError) as error:
            say(f"error: {' '.join(readable(str(error)).split())}", err=True)
            status = 2 if isinstance(error, NotJudgedError) else 1
        sys.exit(status)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command, and say where its output cannot be written."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            # so that what is left to write does not fail at the end once more
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            if isinstance(error, BrokenPipeError):
                ctx.exit(LEFT)
            msg = f"cannot write to {error.filename or 'stdout'}: {error.strerror}"
            raise rf.RecframeError(msg) from None


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


# Arguments and options that several commands have

OF_TEXT = {"Files": options_of_files()}
OF_METHODS = {
    "Files": [
        *options_of_rec("users items train reference model training"),
        *OF_TEXT["Files"],
        *options_of_rec("memory"),
    ],
    "Policies": [
        *options_of_rec("profile universe no_relevant min_relevance min_relevance_for"),
        *options_of_rec("relevant_from ties decimals"),
        click.Option(
            ["--all-relevant"],
            is_flag=True,
            help="Every row of TRUTH counts 1, whatever its columns say.",
        ),
    ],
}
RECS, LOG = (click.Argument([name], type=PATH) for name in ("recs", "log"))
OF_ALL_USERS = {"report", "track"}
"""Methods that take no bound of memory."""
TRUTH = click.Argument(["truth"], type=PATH, required=False)
DIR = click.Path(file_okay=False, path_type=Path)
OUTPUT = partial(click.Option, ["-o", "--output"], metavar="FILE", type=PATH)
OUTPUTS = (
    click.Option(
        ["--format", "form"],
        type=click.Choice([TABLE, *FORMATS]),
        help="What stands on stdout: a table to look at, or all in full precision.  [default: table]",
    ),
    OUTPUT(
        help="Write in full precision to a file, in the format that its ending names; - is stdout, as CSV or as --format says."
    ),
)
PAGE = (OUTPUT(help="The page to write; - is stdout.", default="report.html", show_default=True),)
HISTORY = (
    click.Argument(["history"], type=PATH),
    click.Option(
        ["--since"],
        type=click.DateTime(),
        default="1000-01-01",
        help="The first day or time to show, such as 2026-11-22.",
    ),
)
DOCUMENTED = (rf.Rec.track, rf.Rec.compare, rf.Rec.summarize, rf.Rec.evaluate)
"""Methods whose docstrings hold for parameters of the same name elsewhere, the last first."""


def method(
    name: str,
    text: str,
    show: calls.Show = calls.show_result,
    outputs: Iterable[click.Parameter] = OUTPUTS,
    published: str | None = None,
) -> Command:
    """Return the command of a method of `rec` on files; `published` is the method that makes what is published."""
    named = OF_METHODS["Files"]
    shared = OF_METHODS | {"Files": named[:-1] if name in OF_ALL_USERS else named}
    takes = [RECS, TRUTH, *options_of(getattr(rf.Rec, name), *DOCUMENTED, but="tidy"), *outputs]
    run = partial(calls.run, name, show, published)
    return Command(name, params=takes, callback=run, help=text, shared=shared)


def function(
    name: str,
    takes: Iterable[click.Parameter],
    show: calls.Show,
    text: str,
    make: Callable[..., Any],
    published: Callable[..., Any] | None = None,
) -> Command:
    """Return the command of a function; `published` is the function that makes what is published."""
    run = partial(calls.run, make, show, published)
    return Command(name, params=[*takes, *OUTPUTS], callback=run, help=text)


# The commands

METHODS = (
    method(
        "evaluate",
        """Compute metrics of the recommendations in RECS, compared with TRUTH.

        \b
        Examples:
          recframe evaluate recs.parquet truth.parquet -m ndcg@10 -m recall@20
          recframe evaluate recs.csv truth.csv --columns user=user_id,item=movie_id
          recframe evaluate 'recs/*.parquet' truth.parquet --model model \\
              --users users.csv --by country
          recframe evaluate r.txt t.txt --separator tab \\
              --header recs=user,item,rank --header truth=user,item
          recframe evaluate judged.parquet -m ndcg,recall -k 5,10,20 -o table.md
          recframe evaluate recs.parquet truth.parquet --model model -o paper.tex
        """,
        published="table",
    ),
    method(
        "audit",
        """Check the data quality of RECS and TRUTH.

        Exit status: 1 for a finding of severity error, and for files that cannot be read; 2 for the options; else 0.

        \b
        Examples:
          recframe audit recs.parquet truth.parquet -k 10 \\
              --train train.parquet --items items.parquet
        """,
        calls.show_findings,
    ),
    method(
        "summarize",
        """Compute metrics with their intervals, overall or by segment.

        \b
        Examples:
          recframe summarize recs.parquet truth.parquet -m ndcg@10 \\
              --by country --users users.parquet
          recframe summarize recs.parquet truth.parquet --model model -o last.parquet
        """,
    ),
    method(
        "compare",
        """Compare the models in RECS, user by user: their differences, with intervals and verdicts.

        \b
        Examples:
          recframe compare recs.parquet truth.parquet -m ndcg@10 \\
              --model model --baseline popularity
          recframe compare recs.parquet truth.parquet --model model --baseline svd \\
              --margin 0.01 --by country --users users.csv
          recframe compare 'runs/*.run' test.qrels --model model -m map
        """,
    ),
    method(
        "power",
        """Compute the smallest difference that the users can show, and the users that a wanted one needs.

        \b
        Examples:
          recframe power recs.parquet truth.parquet -m ndcg@10 \\
              --model model --baseline svd --wanted 0.01
        """,
    ),
    method(
        "gaps",
        """Find the best and the worst segment of each --by column, and the gap between them.

        \b
        Examples:
          recframe gaps recs.parquet truth.parquet -m ndcg@10 \\
              --users users.parquet --by country,device
        """,
    ),
    method(
        "slices",
        """Compare the segments of the --by columns, alone and crossed, with all other users, the worst first.

        \b
        Examples:
          recframe slices recs.parquet truth.parquet -m ndcg@10 \\
              --users users.parquet --by country,device,age
        """,
    ),
    method(
        "report",
        """Write a page: values, models compared, segments, curves, costs, findings and real cases.

        \b
        Examples:
          recframe report recs.parquet truth.parquet --model model \\
              --baseline popularity -o report.html
        """,
        calls.show_saved,
        PAGE,
        "report",
    ),
    method(
        "track",
        """Compute metrics with intervals, and append them to a history.

        \b
        Examples:
          recframe track recs.parquet truth.parquet -m ndcg@10 \\
              --history history --as-of 2026-11-22
        """,
        calls.show_runs,
    ),
)
REQUIRE = Command(
    "require",
    params=[
        RECS,
        click.Argument(["given"], nargs=-1, required=True, metavar="[TRUTH] REQUIREMENT..."),
        *options_of(rf.Rec.require, *DOCUMENTED, but="requirements k last raises"),
        click.Option(
            ["--last"],
            type=PATH,
            metavar="FILE",
            help="An earlier result, a file of recframe summarize or a history of recframe track, that 'last' stands for.",
        ),
        *OUTPUTS,
    ],
    callback=calls.run_gate,
    help="""Require values of metrics, and fail where they are not met. A bound is a number, a share of a model's value,
    'ndcg@10 >= 0.99 * popularity', or of an earlier result, 'ndcg@10 >= 0.99 * last'. Each row holds, fails or is open: too few
    users to tell. Quotes keep a shell from writing to files by >. Exit status: 0 if nothing fails; 1 if a requirement fails, a
    row is missing or nothing was judged (with --strict also if a row is open); 2 for options, files and data that cannot be
    judged.

    \b
    Examples:
      recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.28' 'mrr >= 0.2'
      recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.99 * popularity' \\
          --model model --by country --users users.csv
      recframe require recs.parquet truth.parquet 'ndcg@10 >= 0.99 * last' \\
          --last history
    """,
    shared=OF_METHODS,
)
RULES = {name: rule for name, rule in vars(Splits).items() if not name.startswith("_")}
OF_SPLITS = (
    click.Option(
        ["-o", "--output"],
        metavar="DIR",
        type=DIR,
        help="The folder for the files train and truth (and fold_in), which is made where it is missing.",
    ),
    click.Option(
        ["--format", "form"],
        type=click.Choice(["parquet", "csv", "tsv", "ndjson", "arrow"]),
        default="parquet",
        show_default=True,
        help="The format of the files.",
    ),
)
SPLIT = click.Group(
    "split",
    help="""Split a log into train and truth, and audit the split.

    LOG has a row for each interaction; --columns time=NAME names the times, which all rules but random need. What came out is
    printed, with its audit. Exit status: 1 for a finding of severity error, and for files that cannot be read; 2 for the
    options.
    """,
    commands=[
        Command(
            name.replace("_", "-"),
            params=[LOG, *options_of(rule, *RULES.values(), Splits), *OF_SPLITS],
            callback=partial(calls.run_split, name),
            help=(inspect.getdoc(rule) or "").partition("\n")[0],
            shared=OF_TEXT,
        )
        for name, rule in RULES.items()
    ],
)
OTHERS = (
    function(
        "history",
        HISTORY,
        calls.show_runs,
        """Print the runs of a history. A --format, or -o FILE, has all columns.

        \b
        Examples:
          recframe history history --since 2026-11-01 -o month.csv
        """,
        rf.history,
    ),
    function(
        "changes",
        [
            *HISTORY,
            *options_of(rf.changes, but="history"),
            click.Option(["--changed"], is_flag=True, help="Print what changed, and nothing else."),
        ],
        calls.show_runs,
        """Print each number of a history with the band of the runs before it, and whether it changed.

        Of many numbers some change by chance. With -o FILE.html it is a page of them.

        \b
        Examples:
          recframe changes history --changed
          recframe changes history -o dashboard.html
        """,
        rf.changes,
        rf.dashboard,
    ),
    function(
        "metrics",
        [],
        partial(calls.show_known, ("name", "aliases", "formula", "parameters")),
        """List the metrics; a --format, or -o FILE, has all that is known of them.

        A metric is written name(parameter=value)@k: ndcg@10, 'f_score(beta=2)@5'; recframe explain says what it means.

        \b
        Examples:
          recframe metrics --format json
        """,
        rf.list_metrics,
    ),
    function(
        "profiles",
        [],
        partial(calls.show_known, ("profile", "metrics")),
        """List the conventions of other libraries; a --format, or -o FILE, has all that is known of them.

        \b
        Examples:
          recframe profiles --format json
        """,
        rf.list_profiles,
    ),
    function(
        "explain",
        [
            click.Argument(["metric"]),
            click.Argument(["profiles"], nargs=-1, metavar="[PROFILE]..."),
        ],
        calls.show_explained,
        """Explain a metric, or why two profiles differ in it. In Python rec.explain(...) says in numbers of your own data what
        each switch adds to the value.

        \b
        Examples:
          recframe explain map@10 trec_eval
          recframe explain precision@10 ranx jurity
        """,
        lambda metric, profiles: rf.explain(metric, *profiles),
    ),
    Command(
        "demo",
        params=[
            *options_of(simulated.simulate),
            click.Option(
                ["--save"],
                metavar="DIR",
                type=DIR,
                help="Write the tables as Parquet files, to try commands on.",
            ),
        ],
        callback=calls.run_demo,
        help="""Simulate a shop with three recommenders, and evaluate them overall and by segment.

        \b
        Examples:
          recframe demo --save shop
        """,
    ),
)
for one in (*METHODS, REQUIRE, SPLIT, *OTHERS):
    main.add_command(one)
