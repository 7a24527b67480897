"""The commands that say how sure numbers are: `summarize`, `compare` and others, and `require`, which can fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import click
import polars as pl

from recframe.cli.declared import (
    BY,
    COLUMNS,
    METRICS,
    OUTPUT,
    POLICIES,
    PROFILE,
    RECS,
    SIDES,
    TRUTH,
    declared,
)
from recframe.cli.engines import ENGINE, answering
from recframe.cli.given import metrics_and_cutoffs, paths_of
from recframe.cli.progress import bar
from recframe.cli.results import ENDINGS, give, is_table
from recframe.cli.shell import noted, read_errors, words_of_the_shell
from recframe.cli.views import view
from recframe.errors import plan_errors
from recframe.uncertainty.summary import Method

FOR_READING = {"md", "tex"}
"""Formats of tables for people, which have the columns that a table on a terminal has."""
LEVEL = click.option(
    "--level", type=float, default=0.95, show_default=True, help="How sure intervals are."
)
MIN_USERS = click.option(
    "--min-users",
    type=click.IntRange(min=1),
    metavar="N",
    help="Segments with fewer users are not judged.  [default: 5; of gaps and slices 30]",
)
CLUSTER = click.option(
    "--cluster",
    metavar="COLUMN",
    help="A column whose values are users who hang together, such as households.",
)
SEED = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
RESAMPLES = click.option(
    "--resamples",
    "n_resamples",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many resamples.",
)
BASELINE = click.option(
    "--baseline", metavar="MODEL", help="The model that the others are held against."
)
ALL_COLUMNS = click.option(
    "--all-columns",
    is_flag=True,
    help="Show or write every column, not the few of the short form; in tables too each in full precision.",
)
COMPARED = declared(RECS, TRUTH, METRICS, BASELINE, BY)
FRAMES = declared(SIDES, COLUMNS, POLICIES, PROFILE)
ANSWER_OF_ENGINES = declared(FRAMES, ENGINE, ALL_COLUMNS, OUTPUT)
RESAMPLED = declared(SEED, RESAMPLES)


def answered(ask: Callable[[], pl.DataFrame]) -> pl.DataFrame:
    """Return what is asked for, with a bar while files are read."""
    with read_errors(), plan_errors(), bar("reading"):
        return ask()


def shown(frame: pl.DataFrame, options: dict[str, Any]) -> None:
    """Show a result as a table whose numbers have their intervals beside them, or write it in full precision."""
    path, form = options["output"], options["form"]
    ending = ENDINGS.get(f".{(path or '').rpartition('.')[2].lower()}")
    is_read = is_table(path, form) or (form or ending) in FOR_READING
    give(view(frame) if is_read and not options["all_columns"] else frame, path, form)


def asked(
    method: str, recs: str, truth: str | None, options: dict[str, Any], given: dict[str, Any]
) -> None:
    """Ask a method of the files and show what it returns; `given` goes to it beside metrics, cut-offs and segments."""
    paths = paths_of(recs, truth, options)
    with words_of_the_shell(paths):
        metrics, cutoffs = metrics_and_cutoffs(options["metrics"], options["cutoffs"])
        with noted(ids_as_text=options["ids_as_text"]), answering(paths, options) as rec:
            wide = {"wide": options["all_columns"]}
            ask = partial(
                getattr(rec, method), *metrics, k=cutoffs, by=options["by"], **given, **wide
            )
            result = answered(ask)
    shown(result, options)


def some(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return those options that were given."""
    return {name: options[name] for name in names if options.get(name) is not None}


@click.command(short_help="Compute metrics with their intervals.")
@declared(
    RECS,
    TRUTH,
    METRICS,
    BY,
    LEVEL,
    click.option(
        "--method",
        type=click.Choice(get_args(Method)),
        help="How intervals are made.  [default: auto]",
    ),
    CLUSTER,
    RESAMPLED,
    ANSWER_OF_ENGINES,
)
def summarize(recs: str, truth: str | None, **options: Any) -> None:
    """Compute metrics of the recommendations in RECS with their intervals, overall or by segment.

    The files and options are those of recframe evaluate. A table, Markdown and LaTeX have a number with its interval in one
    cell; CSV, JSON and Parquet are in full precision, and serve recframe require --reference. --all-columns has more columns.

    \b
    Examples:
      recframe summarize recs.parquet truth.parquet -m ndcg@10 --by country --users users.parquet
      recframe summarize recs.parquet truth.parquet --model model -o table.tex
      recframe summarize recs.parquet truth.parquet -m ndcg@10 -o last.json
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    given = some(options, "level", "method", "cluster", "seed", "n_resamples")
    asked("summarize", recs, truth, options, given)


@click.command(short_help="Hold models against one another.")
@declared(
    COMPARED,
    LEVEL,
    click.option(
        "--margin",
        type=float,
        metavar="X",
        help="The share of the baseline that does not matter: 0.01 for 1 %; tests for not worse and the same.",
    ),
    click.option(
        "--test",
        type=click.Choice(["t", "permutation", "bootstrap"]),
        help="How p values are made.  [default: t]",
    ),
    click.option(
        "--correction",
        type=click.Choice(["holm", "max_t", "bonferroni", "benjamini-hochberg", "none"]),
        help="For how many tests p values account.  [default: holm]",
    ),
    click.option(
        "--family",
        type=click.Choice(["table", "metric", "segment"]),
        help="Which tests are accounted for together.  [default: table]",
    ),
    click.option(
        "--looks",
        type=click.Choice(["any"]),
        help="Look as often as you like while users are added: wider intervals that hold at all looks.",
    ),
    MIN_USERS,
    CLUSTER,
    RESAMPLED,
    ANSWER_OF_ENGINES,
)
def compare(recs: str, truth: str | None, **options: Any) -> None:
    """Hold the models in RECS against one another, user by user: how far they are apart, and how sure that is.

    --model names the column that tells models apart; the other files and options are those of recframe evaluate. Without
    --baseline every two models are held against each other. It needs SciPy: pip install 'recframe[stats]'.

    \b
    Examples:
      recframe compare recs.parquet truth.parquet --model model --baseline popularity -m ndcg@10
      recframe compare recs.parquet truth.parquet --model model --baseline svd --margin 0.01 --by country --users users.csv
      recframe compare 'runs/*.run' test.qrels --model model -m ndcg@10,map -o table.tex
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    of_test = ("test", "correction", "family", "looks", "seed", "n_resamples")
    given = some(options, "baseline", "level", "margin", "min_users", "cluster", *of_test)
    if given.get("correction") == "none":
        given["correction"] = None
    asked("compare", recs, truth, options, given)


@click.command(short_help="Find the best of several models.")
@declared(
    COMPARED,
    LEVEL,
    MIN_USERS,
    CLUSTER,
    RESAMPLED,
    ANSWER_OF_ENGINES,
)
def winner(recs: str, truth: str | None, **options: Any) -> None:
    """Find the best of the models in RECS beside --baseline, and say what may be claimed of a model that was picked.

    The best of many looks better than it is: a table has its difference to the baseline as measured, and shrunk to what other
    users are likely to show. It needs SciPy: pip install 'recframe[stats]'.

    \b
    Examples:
      recframe winner recs.parquet truth.parquet --model model --baseline svd -m ndcg@10
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    if options["baseline"] is None:
        raise click.UsageError("--baseline names the model that the others are held against")
    given = some(options, "baseline", "level", "min_users", "cluster", "seed", "n_resamples")
    asked("winner", recs, truth, options, given)


@click.command(short_help="Say what differences the users can show.")
@declared(
    COMPARED,
    click.option(
        "--wanted",
        type=float,
        metavar="X",
        help="The difference that is to be shown, as a share of the baseline.  [default: 0.01]",
    ),
    click.option(
        "--power", type=float, metavar="X", help="How often it is to be shown.  [default: 0.8]"
    ),
    click.option(
        "--margin",
        type=float,
        metavar="X",
        help="Ask for the users of whom a gate holds: not worse by this share; --wanted is then what there is.  [default: 0]",
    ),
    click.option(
        "--rows",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many rows are corrected together.  [default: 1]",
    ),
    click.option(
        "--trainings",
        type=click.IntRange(min=2),
        metavar="N",
        help="How many trainings each model is to have, with --training.  [default: as many as there are]",
    ),
    LEVEL,
    CLUSTER,
    ANSWER_OF_ENGINES,
)
def power(recs: str, truth: str | None, **options: Any) -> None:
    """Say how small a difference between the models in RECS so many users can show, and how many a wanted one takes.

    \b
    Examples:
      recframe power recs.parquet truth.parquet --model model --baseline svd -m ndcg@10 --wanted 0.01
      recframe power recs.parquet truth.parquet --model model --baseline svd -m ndcg@10 --margin 0.01
      recframe power recs.parquet truth.parquet --model model --baseline svd --training seed --trainings 5 -m ndcg@10
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    given = some(
        options, "baseline", "wanted", "power", "margin", "rows", "trainings", *("level", "cluster")
    )
    asked("power", recs, truth, options, given)


@click.command(short_help="Find the best and the worst segment of each column.")
@declared(
    RECS,
    TRUTH,
    METRICS,
    BY,
    BASELINE,
    MIN_USERS,
    CLUSTER,
    LEVEL,
    ANSWER_OF_ENGINES,
)
def gaps(recs: str, truth: str | None, **options: Any) -> None:
    """Find the best and the worst segment of each --by column, and say how sure it is that they differ.

    \b
    Examples:
      recframe gaps recs.parquet truth.parquet -m ndcg@10 --users users.parquet --by country,device
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    asked("gaps", recs, truth, options, some(options, "baseline", "min_users", "level", "cluster"))


@click.command(short_help="Find the segments that are the worst off, alone and crossed.")
@declared(
    RECS,
    TRUTH,
    METRICS,
    BY,
    click.option(
        "--depth",
        type=click.IntRange(min=1),
        metavar="N",
        help="How many columns are crossed.  [default: 2]",
    ),
    BASELINE,
    MIN_USERS,
    CLUSTER,
    LEVEL,
    FRAMES,
    ALL_COLUMNS,
    OUTPUT,
)
def slices(recs: str, truth: str | None, **options: Any) -> None:
    """Hold the segments of the --by columns, alone and crossed, against all other users; the worst come first.

    \b
    Examples:
      recframe slices recs.parquet truth.parquet -m ndcg@10 --users users.parquet --by country,device,age
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
    given = some(options, "depth", "baseline", "min_users", "level", "cluster")
    asked("slices", recs, truth, options, given)
