"""Commands of methods of `rec`, with options from their signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click
import polars as pl

import recframe as rf
from recframe.cli.inputs import bound, paths_of, reading, scanned
from recframe.cli.options import (
    FILES,
    HELP_ALL,
    PATH,
    POLICIES,
    Command,
    Option,
    options_of,
    options_of_files,
    options_of_rec,
)
from recframe.cli.output import Options
from recframe.cli.results import FORMATS, TABLE, check_output, give, publish
from recframe.engines.scans import default_memory
from recframe.errors import RecframeError

Show: TypeAlias = Callable[[Any, Options], None]
"""A function that shows a result."""
IN_BUCKETS = {"evaluate", "summarize", "compare", "power", "gaps", "slices"}
"""Methods whose plans are sums over users, which need no more memory than they are given."""
DEFAULT_METRICS = ("ndcg", "recall", "precision", "hit_rate", "mrr", "map")
DEFAULT_K = 10
PAGE = ".html"
"""The ending of pages."""
PUBLISHED = (".tex", ".html")
"""Endings of tables to publish."""
DOCUMENTED = (rf.Rec.track, rf.Rec.compare, rf.Rec.summarize, rf.Rec.evaluate)
"""Methods whose docstrings hold for parameters of the same name elsewhere, the last first."""

# Arguments and options that several commands have

RECS, LOG, HISTORY = (click.Argument([name], type=PATH) for name in ("recs", "log", "history"))
TRUTH = click.Argument(["truth"], type=PATH, required=False)
FORMAT = Option(
    ["--format", "form"],
    type=click.Choice([TABLE, *FORMATS]),
    help="What stands on stdout: a table to look at, or all in full precision.  [default: table]",
)
OUTPUT = Option(
    ["-o", "--output"],
    metavar="FILE",
    type=PATH,
    help="Write in full precision to a file, in the format that its ending names; - is stdout, as CSV or as --format says.",
)
OUTPUTS = (FORMAT, OUTPUT)
MEMORY = options_of_rec("memory", group=FILES)
OF_FILES = (
    *options_of_rec("users", "items", "train", "reference", "model", "training", group=FILES),
    *options_of_files(),
)
OF_POLICIES = (
    *options_of_rec("profile", "universe", "no_relevant", "min_relevance", group=POLICIES),
    *options_of_rec("min_relevance_for", "relevant_from", "ties", "decimals", group=POLICIES),
    Option(
        ["--all-relevant"],
        group=POLICIES,
        is_flag=True,
        help="Every row of TRUTH counts 1, whatever its columns say.",
    ),
)


def command(
    name: str,
    run: Callable[..., None],
    text: str,
    *examples: str,
    takes: Iterable[click.Parameter] = (),
) -> Command:
    """Return a command with its help."""
    lines = "\n".join(f"  recframe {name} {one}" for one in examples)
    shown = f"\n\n\b\nExamples:\n{lines}" if examples else ""
    short = text.partition(". ")[0].removesuffix(".") + "."
    return Command(
        name,
        params=[*takes, HELP_ALL],
        callback=run,
        short_help=short,
        help=text + shown,
    )


def command_of(
    method: Callable[..., Any],
    *texts: str,
    show: Show | None = None,
    outputs: Iterable[click.Parameter] = OUTPUTS,
    more: Iterable[click.Parameter] = MEMORY,
    also: Iterable[str] = (),
) -> Command:
    """Return the command of a method of `rec` on files, with its help and examples; `also` are further endings of files."""
    own = options_of(method, *DOCUMENTED, but={"tidy"})
    takes = [RECS, TRUTH, *own, *outputs, *OF_FILES, *more, *OF_POLICIES]
    run = partial(_run, method, show or show_result, also)
    return command(method.__name__, run, *texts, takes=takes)


def _run(
    method: Callable[..., Any],
    show: Show,
    also: Iterable[str],
    recs: str,
    truth: str | None,
    **options: Any,
) -> None:
    """Call a method on files, and show its result."""
    paths = paths_of(recs, truth, options)
    with reading(paths):
        check_output(options, paths.values(), also)
        if method is rf.Rec.evaluate and _is_published(options):
            method, show = rf.Rec.table, publish
        result = called(method, bound(scanned(paths, options), options), options)
    show(result, options)


def _is_published(options: Options) -> bool:
    """Return whether values are written as a table to publish, or say that it has no numbers of averaged users."""
    path = options["output"] or ""
    if options["form"] is not None or Path(path).suffix.lower() not in PUBLISHED:
        return False
    if options["support"]:
        msg = f"cannot write {path!r} with --support: a table to publish has one number of users; leave --support out"
        raise RecframeError(msg)
    return True


def called(method: Callable[..., Any], rec: Any, options: Options, *first: Any, **more: Any) -> Any:
    """Return the result of a method of `rec` with a command's options."""
    if method.__name__ in IN_BUCKETS and options["memory"] is None:
        rec = rec(memory=default_memory())
    names = options.keys() & inspect.signature(method).parameters.keys() - {"metrics"}
    arguments = {name: options[name] for name in names} | more
    if "metrics" in options:
        first = tuple(options["metrics"] or DEFAULT_METRICS)
        if not options["metrics"] and options["k"] is None:
            arguments["k"] = DEFAULT_K
    answers = rec._in_polars()  # noqa: SLF001  tables of Polars, whatever was scanned
    call = getattr(answers, method.__name__)
    return call(*first, **arguments)


def show_result(result: pl.DataFrame, options: Options) -> None:
    """Show a result, with the options that its reader has to know."""
    words = [
        f"{name} {options[name]}"
        for name in ("baseline", "correction")
        if options.get(name) is not None and name not in result.columns
    ]
    if "level" in options and any(name.endswith("_low") for name in result.columns):
        words.append(f"intervals {100 * options['level']:g} %")
    give(result, options, words)
