"""Options of commands, made from signatures, and options of input files."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any, Literal, get_args, get_origin

import click

import recframe as rf
from recframe.cli.files import FORMATS, WRITERS
from recframe.cli.output import TABLE
from recframe.cli.values import (
    by_files,
    bytes_of,
    complete_metrics,
    complete_profiles,
    cutoffs_of,
    encoding,
    header,
    metrics_of,
    one_of,
    one_truth,
    roles_of,
    separator,
    tags_of,
    threshold,
    values_of,
)
from recframe.frames import options
from recframe.frames.hints import NAMED_COLUMNS
from recframe.frames.options import MOST_DECIMALS

DEFAULT_METRICS = ("ndcg", "recall", "precision", "hit_rate", "mrr", "map")
NONE = "none"
"""The word of a shell for Python's None, where that is no default."""
Decorator = Callable[[Any], Any]
PATH = click.Path(readable=False)
"""A path, which a shell completes; whether it can be read is said by what reads it."""
OF_PATHS = {"DIR", "FILE", "USERS", "ITEMS", "TRAIN", "REFERENCE", "RECS", "TRUTH"}
"""The words for the values of options that are paths."""


def declared(*options: Decorator) -> Decorator:
    """Return a decorator that gives a command arguments and options, in this order."""
    return lambda command: reduce(lambda made, option: option(made), reversed(options), command)


def option(
    names: str,
    text: str,
    metavar: str | None = None,
    read: Callable[[Any], Any] | None = None,
    **settings: Any,
) -> Decorator:
    """Return an option; `names` are separated by blanks, and `read` takes the text, or all texts, of its value."""
    if read is not None:
        settings["callback"] = partial(_read, read)
    if metavar in OF_PATHS:
        settings.setdefault("type", PATH)
    return click.option(*names.split(), metavar=metavar, help=text, **settings)


def _read(
    read: Callable[[Any], Any], ctx: click.Context, parameter: click.Parameter, value: Any
) -> Any:
    del ctx, parameter
    return None if value is None else read(value)


def argument(name: str, read: Callable[[Any], Any] | None = None, **settings: Any) -> Decorator:
    """Return an argument, which is a path where its settings say nothing else."""
    settings = {"type": PATH} | settings
    if read is not None:
        settings |= {"callback": partial(_read, read), "nargs": -1}
    return click.argument(name, **settings)


# Options of Python's methods

_several = partial(option, multiple=True)
METRICS = partial(
    _several,
    "-m --metric metrics",
    metavar="METRIC",
    read=metrics_of,
    shell_complete=complete_metrics,
)
BY = partial(_several, "--by", metavar="COLUMN", read=values_of)
HISTORY = partial(option, "--history", metavar="DIR")
OF_NAMES: Mapping[str, Decorator] = {
    "metrics": METRICS(
        "A metric, such as ndcg@10 or 'map(normalizer=min)@10'; see recframe metrics. "
        f"Default: {', '.join(DEFAULT_METRICS)}, each at 10 or at every -k."
    ),
    "track.metrics": METRICS("A metric, such as ndcg@10; see recframe metrics.", required=True),
    "k": _several("-k", "A cut-off for the metrics without an @.", "K", cutoffs_of),
    "audit.k": option("-k", "Find lists with fewer than K rows.", "K", type=click.IntRange(min=1)),
    "by": BY(
        "A column to split the result by: of RECS, TRUTH, USERS or ITEMS; user gives every user's own values."
    ),
    "audit.by": BY("A column that is to split results by: users with two values of it are found."),
    "require.by": BY(
        "A column to split the result by, so that each segment has to meet the requirements."
    ),
    "min_relevance": option(
        "--min-relevance",
        "Rows from this relevance up are relevant, or any: every row with a relevance.  [default: above 0]",
        "X",
        threshold,
    ),
    "by_time.min_relevance": option(
        "--min-relevance",
        "Rows below this relevance, or without one, stay in train and are never truth.",
        "X",
        type=float,
    ),
    "rolling.folds": option("--folds", "The number of folds.", "N", type=click.IntRange(min=1)),
    "item_columns": _several(
        "--item-columns item_columns",
        "A column of ITEMS that stands beside each item of a case.",
        "COLUMN",
        values_of,
    ),
    "models": _several(
        "--models", "The models that are asked about.  [default: all]", "NAME", values_of
    ),
    "track.history": HISTORY(
        "The folder that the run goes into, which is made where it is missing.",
        required=True,
    ),
    "as_of": option(
        "--as-of",
        "The day or time that the result holds for: 2026-11-22, or 2026-11-22T06:00+01:00.",
        "TIME",
        required=True,
    ),
    "tags": _several(
        "--tag tags",
        "A word that stands with each row, such as commit=3f2a1c.",
        "NAME=WORD",
        tags_of,
    ),
}
"""Options that are read from text in a way of their own, by the name of the argument, or the method's before it."""
TEXTS: Mapping[str, str | tuple[str, str]] = {
    "baseline": ("MODEL", "The baseline, which the other models are compared with."),
    "level": "The confidence level of intervals.",
    "changes.level": "The confidence level of a flag.",
    "margin": (
        "X",
        "The share of the baseline that does not matter: 0.01 for 1 %; tests for not worse and the same.",
    ),
    "correction": "How p values are corrected for many tests.",
    "min_users": ("N", "Minimum users per segment to be tested."),
    "cluster": (
        "COLUMN",
        "A column of clusters, such as households: users within one are correlated.",
    ),
    "wanted": (
        "X",
        "The difference to detect, as a share of the baseline.",
    ),
    "depth": ("N", "The number of columns to cross."),
    "support": "Add after each metric the number of users or lists that were averaged.",
    "strict": "Fail for open requirements too.",
    "window": (
        "N",
        "The number of earlier runs for a prediction; half of them are enough to begin.",
    ),
    "name": ("WORD", "A name of the run, if several have the same time."),
    "title": ("TEXT", "The title of the page."),
    "title_of": ("COLUMN", "The column of ITEMS that names an item."),
    "step": ("LENGTH", "From the end of one window to the next.  [default: that of --rolling]"),
    "gap": ("LENGTH", "A length between train and truth that neither has."),
    "rolling.window": ("LENGTH", "The length of train.  [default: all that is before]"),
    "until": ("TIME", "With a point of time: where truth ends."),
    "align": ("day|hour", "End the last window with the whole day, or hour, of the last row."),
    "keep": ("N", "The number of rows that a user keeps in train, or else has no truth."),
    "per": "Whether each user's pairs are split, or those of the whole log.",
    "random.seed": "The seed; the same one gives the same split, whatever the order of rows.",
    "fold_in": ("SHARE", "The share of a test user's rows that go in, or their number."),
    "order": "Which rows go in: the first in time, or random ones.",
    "target": "Which of a user's rows in the window are truth.",
    "cold": "Whether truth keeps rows of users and items that are not in train.",
    "seen": "Whether truth keeps pairs that are in train.",
    "min_train": ("N", "The number of rows in train that a user of the truth needs."),
    "universe": "The users that count.  [default: those of TRUTH]",
    "no_relevant": "What a user without a relevant item counts.  [default: zero]",
    "relevant_from": "Where the relevant items come from: the truth, or the list alone.  [default: truth]",
    "min_relevance_for": (
        "Which metrics --min-relevance holds for: all, or those that count relevant rows.  [default: all]"
    ),
    "ties": "The order of items with equal scores.  [default: item]",
}
"""The help of an option, behind the word for its value where it has one, by its argument, or the method's name before it."""
LONGEST_METAVAR = 60
"""Length above which the words that an option takes stand in its help."""
LEAST = {"seed": 0, "min_train": 0, "keep": 0, "window": 5}
"""The smallest whole numbers of options, where these are not 1."""


def options_of(method: Callable[..., Any], *names: str, but: tuple[str, ...] = ()) -> Decorator:
    """Return the options of a method's arguments, in their order; or of some of them, or of all but some."""
    found = inspect.signature(method).parameters
    asked = [found[name] for name in names or found if name not in but]
    return declared(*filter(None, (_option(method, one) for one in asked)))


def arguments_of(method: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method's arguments by name, of those that options were made of."""
    names = set(inspect.signature(method).parameters) - {"metrics"}
    return {name: value for name, value in options.items() if name in names}


def _option(method: Callable[..., Any], argument: inspect.Parameter) -> Decorator | None:
    """Return the option of an argument, of the type that its annotation says; none where a shell has no word for it."""
    name, default = argument.name, argument.default
    keys = (f"{method.__name__}.{name}", name)
    made = next((OF_NAMES[key] for key in keys if key in OF_NAMES), None)
    text = next((TEXTS[key] for key in keys if key in TEXTS), None)
    if made is not None or text is None:
        return made
    metavar, text = (None, text) if isinstance(text, str) else text
    settings = _type_of(method, argument)
    words = getattr(settings.get("type"), "choices", ())
    if len("|".join(words)) > LONGEST_METAVAR:
        metavar, text = "WORD", f"{text}  One of {', '.join(words)}."
    flag = "--" + name.replace("_", "-")
    says_default = default not in (None, argument.empty) and default is not False
    return option(
        f"{flag} {name}",
        text,
        metavar,
        **settings,
        default=None if default is argument.empty else default,
        show_default=says_default,
        required=default is argument.empty,
    )


def _type_of(method: Callable[..., Any], argument: inspect.Parameter) -> dict[str, Any]:
    """Return the type of an option: of words, of whole numbers from the smallest, of numbers, a flag, or text."""
    names = vars(options) | inspect.unwrap(method).__globals__
    annotation = eval(argument.annotation, names)  # noqa: S307  our own annotations, those of options alone
    kinds = (annotation, *get_args(annotation))
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    if words and argument.default is not None and type(None) in kinds:
        return {"type": click.Choice([*words, NONE]), "callback": _without_none}
    if words:
        return {"type": click.Choice(words)}
    if bool in kinds:
        return {"is_flag": True}
    if int in kinds:
        return {"type": click.IntRange(min=LEAST.get(argument.name, 1))}
    return {"type": float if float in kinds else str}


def _without_none(ctx: click.Context, parameter: click.Parameter, value: str) -> str | None:
    """Return what Python takes for the word of nothing."""
    del ctx, parameter
    return None if value == NONE else value


# Options of files, and of what is bound to them

RECS = argument("recs")
TRUTH = argument("truth", one_truth, metavar="[TRUTH]")
DESCRIBED = declared(
    option("--users", "A table of users, one row each; its columns serve --by.", "USERS"),
    option(
        "--items",
        "A table of items, one row each: the catalogue of coverage and others; its columns serve --by.",
        "ITEMS",
    ),
    option(
        "--train",
        "What the systems were fitted on, user and item: for novelty, popularity and others.",
        "TRAIN",
    ),
)
SIDES = declared(
    DESCRIBED,
    option(
        "--reference",
        "A table of recommendations to compare with, or with --model the name of a model.",
        "REFERENCE",
    ),
)
OF_TABLES = declared(
    _several(
        "--columns",
        f"The names of your columns, where they differ from the roles: {', '.join(NAMED_COLUMNS)}; in all files, or for "
        "one of them truth=item=article_id.",
        "[FILE=]ROLE=NAME",
        roles_of,
    ),
    _several(
        "--header",
        "The names of the columns of text files without a header line, in their order: user,item,rank, or for one of "
        "the files recs=user,item,rank. An empty name leaves a column out.",
        "[FILE=]NAMES",
        partial(by_files, read=header),
    ),
    _several(
        "--separator",
        "The separator of columns in text files, such as ';', tab or '::', whatever their ending.",
        "[FILE=]MARK",
        partial(by_files, read=separator),
    ),
    _several(
        "--encoding",
        "The encoding of text files that are not UTF-8, such as latin-1.",
        "[FILE=]NAME",
        partial(by_files, read=encoding),
    ),
    _several(
        "--decimal",
        "The sign before the decimals in text files, point or comma.",
        "[FILE=]SIGN",
        partial(by_files, read=partial(one_of, {"point": ".", "comma": ","})),
    ),
    _several(
        "--quotes",
        "Whether quotes hold a value together in text files, yes or no.  [default: yes where commas or semicolons separate "
        "columns, or the first line has quotes]",
        "[FILE=]WORD",
        partial(by_files, read=partial(one_of, {"yes": True, "no": False})),
    ),
    _several(
        "--lists-separator",
        "The separator of ids if a column has lists as text, ' ' for 'a b c'; a row is then a user's list.",
        "[FILE=]MARK",
        partial(by_files, read=separator),
    ),
)
COLUMNS = declared(
    option("--model", "The column of models; each gets its own rows.", "COLUMN"),
    option(
        "--training",
        "The column of trainings of one model, such as the seed; values are means over them.",
        "COLUMN",
    ),
    OF_TABLES,
)
POLICIES = declared(
    options_of(
        rf.Rec.__call__,
        *("universe", "no_relevant", "min_relevance", "min_relevance_for", "relevant_from", "ties"),
    ),
    option(
        "--all-relevant", "Every row of TRUTH counts 1, whatever its columns say.", is_flag=True
    ),
)
PROFILE = option(
    "--profile",
    "The conventions of another library, such as trec_eval or recbole; see recframe profiles.",
    "NAME",
    shell_complete=complete_profiles,
)
DECIMALS = option(
    "--decimals",
    "Round means to this number of decimals.",
    "N",
    type=click.IntRange(0, MOST_DECIMALS),
)
FRAMES = declared(SIDES, COLUMNS, POLICIES, PROFILE)
MEMORY = option(
    "--memory",
    "The most that the command may take, such as 2GB; rows that do not fit wait in temporary files.  "
    "[default: half of what is free]",
    "BYTES",
    bytes_of,
)
FORMAT = option(
    "--format form",
    "What stands on stdout: a table to look at, or all in full precision.  [default: table]",
    type=click.Choice([TABLE, *FORMATS]),
)
OUTPUT = declared(
    FORMAT,
    option(
        "-o --output",
        f"Write in full precision to a file: {', '.join(WRITERS)}; - is stdout, as CSV or as --format says.",
        "FILE",
    ),
)
