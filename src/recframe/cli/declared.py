"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, get_args

import click

import recframe as rf
from recframe.cli import completion
from recframe.cli.options import (
    headers,
    list_separators,
    n_bytes,
    one_truth,
    separators,
    split,
    split_columns,
    split_metrics,
    split_numbers,
    threshold,
)
from recframe.cli.results import FORMATS, TABLE, WRITERS
from recframe.cli.unpacking import MOST, MOST_OF_JSON
from recframe.frames.context import (
    MOST_DECIMALS,
    NAMED_COLUMNS,
    NoRelevant,
    RelevantFrom,
    Ties,
    Universe,
)

DEFAULT_METRICS = ("ndcg", "recall", "precision", "hit_rate", "mrr", "map")
Decorator = Callable[[Any], Any]


def declared(*options: Decorator) -> Decorator:
    """Return a decorator that gives a command arguments and options, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def file_option(
    name: str, text: str, *, metavar: str | None = None, required: bool = False
) -> Decorator:
    """Return an option that takes a file."""
    return click.option(
        f"--{name}",
        metavar=metavar or name.upper(),
        required=required,
        help=text,
        shell_complete=completion.files,
    )


def history_option(text: str, *, required: bool = False) -> Decorator:
    """Return the option that takes a history."""
    return file_option("history", text, metavar="DIR", required=required)


def by_option(text: str) -> Decorator:
    """Return the option that names columns of segments."""
    return click.option(
        "--by",
        multiple=True,
        callback=split,
        metavar="COLUMN",
        shell_complete=completion.columns,
        help=text,
    )


RECS = click.argument("recs", shell_complete=completion.files)
TRUTH = click.argument(
    "truth", nargs=-1, callback=one_truth, metavar="[TRUTH]", shell_complete=completion.files
)
BY = by_option(
    "A column to split the result by: of RECS, TRUTH, USERS or ITEMS; user gives every user's own values."
)


def metrics_option(text: str, *, required: bool = False) -> Decorator:
    """Return the option that names metrics."""
    return click.option(
        "-m",
        "--metric",
        "metrics",
        multiple=True,
        required=required,
        callback=split_metrics,
        metavar="METRIC",
        shell_complete=completion.metrics,
        help=text,
    )


CUTOFFS = click.option(
    "-k",
    "cutoffs",
    multiple=True,
    callback=split_numbers,
    metavar="K",
    help="A cut-off for the metrics without an @.",
)
METRICS = declared(
    metrics_option(
        "A metric, such as ndcg@10 or 'map(normalizer=min)@10'; see recframe metrics. "
        f"Default: {', '.join(DEFAULT_METRICS)}, each at 10 or at every -k."
    ),
    CUTOFFS,
)
WINDOW = click.option(
    "--window",
    type=click.IntRange(min=5),
    default=14,
    show_default=True,
    metavar="N",
    help="How many runs of a history predict the next; half of them are enough to begin with.",
)
MIX = click.option(
    "--mix",
    metavar="COLUMN",
    help="A column of users that the runs were tracked by: values are standardised to its shares of users in the window.",
)
DESCRIBED = declared(
    file_option("users", "A table of users, one row each; its columns serve --by."),
    file_option(
        "items",
        "A table of items, one row each: the catalogue of coverage and others; its columns serve --by.",
    ),
    file_option(
        "train",
        "What the systems were fitted on, user and item: for novelty, popularity and others.",
    ),
)
SIDES = declared(
    DESCRIBED,
    file_option(
        "reference",
        "A table of recommendations to compare with, or with --model the name of a model.",
    ),
)
COLUMNS = declared(
    click.option(
        "--model",
        metavar="COLUMN",
        shell_complete=completion.columns,
        help="The column that tells systems apart; each gets its own rows.",
    ),
    click.option(
        "--training",
        metavar="COLUMN",
        shell_complete=completion.columns,
        help="The column that tells trainings of one model apart, such as the seed; values are means over them.",
    ),
    click.option(
        "--columns",
        multiple=True,
        callback=split_columns,
        metavar="ROLE=NAME",
        shell_complete=completion.roles,
        help=f"The names of your columns, in all files, where they differ from the roles: {', '.join(NAMED_COLUMNS)}.",
    ),
    click.option(
        "--header",
        multiple=True,
        callback=headers,
        metavar="[FILE=]NAMES",
        help="The names of the columns of text files without a header line, in their order: user,item,rank, or for one of "
        "the files recs=user,item,rank. An empty name leaves a column out.",
    ),
    click.option(
        "--separator",
        multiple=True,
        callback=separators,
        metavar="[FILE=]MARK",
        help="What stands between the columns of text files, ';' or tab for example, whatever their ending.",
    ),
    click.option(
        "--lists-separator",
        multiple=True,
        callback=list_separators,
        metavar="[FILE=]MARK",
        help="What stands between the ids where a column has a list in a text, ' ' for 'a b c'; a row is then a user's list.",
    ),
    click.option(
        "--max-bytes",
        callback=n_bytes,
        metavar="N",
        help="How many bytes a packed file may unpack to, and a pipe may have, such as 20GB.  "
        f"[default: {MOST // 10**9}GB, JSON {MOST_OF_JSON // 10**6}MB]",
    ),
    click.option(
        "--ids-as-text",
        is_flag=True,
        help="Read user and item ids as text: where files disagree on their type.",
    ),
)
POLICIES = declared(
    click.option(
        "--universe",
        type=click.Choice(get_args(Universe)),
        help="The users that count.  [default: those of TRUTH]",
    ),
    click.option(
        "--no-relevant",
        type=click.Choice(get_args(NoRelevant)),
        help="What a user without a relevant item counts.  [default: zero]",
    ),
    click.option(
        "--min-relevance",
        callback=threshold,
        metavar="X",
        help="Rows from this relevance up are relevant, or any: every row with a relevance.  [default: above 0]",
    ),
    click.option(
        "--all-relevant",
        is_flag=True,
        help="Every row of TRUTH counts 1, whatever its columns say.",
    ),
    click.option(
        "--relevant-from",
        type=click.Choice(get_args(RelevantFrom)),
        help="Where the relevant items come from: the truth, or the list alone.  [default: truth]",
    ),
    click.option(
        "--ties",
        type=click.Choice(get_args(Ties)),
        help="How items of one score, or of one rank, stand.  [default: item]",
    ),
)
PROFILE = click.option(
    "--profile",
    metavar="NAME",
    shell_complete=completion.profiles,
    help="The conventions of another library, such as trec_eval or recbole; see recframe profiles.",
)
DECIMALS = click.option(
    "--decimals",
    type=click.IntRange(0, MOST_DECIMALS),
    metavar="N",
    help="Round means to so many decimals.",
)
FORMAT = click.option(
    "--format",
    "form",
    type=click.Choice([TABLE, *FORMATS]),
    help="What stands on stdout: a table to look at, or all in full precision.  [default: table]",
)
OUTPUT = declared(
    FORMAT,
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        shell_complete=completion.files,
        help=f"Write in full precision to a file: {', '.join(WRITERS)}; - is stdout, as CSV or as --format says.",
    ),
)
POLICY_NAMES = (
    "universe",
    "no_relevant",
    "min_relevance",
    "relevant_from",
    "ties",
    "decimals",
    "profile",
)
SIDE_NAMES = ("users", "items", "train")
VERSION = click.version_option(rf.__version__, prog_name="recframe")
