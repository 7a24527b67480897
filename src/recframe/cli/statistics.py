"""Statistical commands: `summarize`, `compare`, `winner`, `power`, `gaps` and `slices`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.cli.inputs import call_of
from recframe.cli.options import (
    ENGINE,
    FRAMES,
    OUTPUT,
    RECS,
    TRUTH,
    Decorator,
    declared,
    options_of,
)
from recframe.cli.output import ENDINGS, Options, give, is_table, view

FOR_READING = {"md", "tex"}
"""Formats of tables for people, which have the columns that a table on a terminal has."""


Show = Callable[[pl.DataFrame, Options], None]


def shown(frame: pl.DataFrame, options: Options) -> None:
    """Print a result as a table of numbers with intervals, or write it in full precision."""
    ending = ENDINGS.get(f".{(options['output'] or '').rpartition('.')[2].lower()}")
    is_read = is_table(options) or (options["form"] or ending) in FOR_READING
    give(view(frame) if is_read and not options["wide"] else frame, options)


def command_of(
    method: Callable[..., Any], short_help: str, *more: Decorator, show: Show = shown
) -> Decorator:
    """Make a command that shows what a method of the same name gives, of a function whose docstring is its help."""

    def made(function: Callable[[], None]) -> click.Command:
        called = partial(_call, method, show)
        declared(RECS, TRUTH, options_of(method), FRAMES, *more, OUTPUT)(called)
        text = inspect.getdoc(function)
        return click.command(method.__name__, short_help=short_help, help=text)(called)

    return made


def _call(
    method: Callable[..., Any], show: Show, /, recs: str, truth: str | None, **options: Any
) -> None:
    """Call a method on the files, and show its result."""
    with call_of(method, recs, truth, options) as ask:
        result = ask()
    show(result, options)


@command_of(rf.Rec.summarize, "Compute metrics with their intervals.", ENGINE)
def summarize() -> None:
    """Compute metrics of the recommendations in RECS with their intervals, overall or by segment.

    The files and options are those of recframe evaluate. A table, Markdown and LaTeX have a number with its interval in one
    cell; CSV, JSON and Parquet are in full precision, and serve recframe require --reference. --all-columns has more columns.

    \b
    Examples:
      recframe summarize recs.parquet truth.parquet -m ndcg@10 --by country --users users.parquet
      recframe summarize recs.parquet truth.parquet --model model -o table.tex
      recframe summarize recs.parquet truth.parquet -m ndcg@10 -o last.json
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.compare, "Compare models.", ENGINE)
def compare() -> None:
    """Compare the models in RECS, user by user: how far they are apart, and how sure that is.

    --model names the column that tells models apart; the other files and options are those of recframe evaluate. Without
    --baseline every two models are compared. It needs SciPy: pip install 'recframe[stats]'.

    \b
    Examples:
      recframe compare recs.parquet truth.parquet --model model --baseline popularity -m ndcg@10
      recframe compare recs.parquet truth.parquet --model model --baseline svd --margin 0.01 --by country --users users.csv
      recframe compare 'runs/*.run' test.qrels --model model -m ndcg@10,map -o table.tex
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.winner, "Find the best of several models.", ENGINE)
def winner() -> None:
    """Find the best of the models in RECS beside --baseline, and say what may be claimed of a model that was picked.

    The best of many looks better than it is: a table has its difference to the baseline as measured, and shrunk to what other
    users are likely to show. It needs SciPy: pip install 'recframe[stats]'.

    \b
    Examples:
      recframe winner recs.parquet truth.parquet --model model --baseline svd -m ndcg@10
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.power, "Power analysis: smallest detectable difference, users needed.", ENGINE)
def power() -> None:
    """Compute the smallest difference between models in RECS that the users can show, and how many users a wanted one takes.

    \b
    Examples:
      recframe power recs.parquet truth.parquet --model model --baseline svd -m ndcg@10 --wanted 0.01
      recframe power recs.parquet truth.parquet --model model --baseline svd -m ndcg@10 --margin 0.01
      recframe power recs.parquet truth.parquet --model model --baseline svd --training seed --trainings 5 -m ndcg@10
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.gaps, "Find the best and the worst segment of each column.", ENGINE)
def gaps() -> None:
    """Find the best and the worst segment of each --by column, and say how sure it is that they differ.

    \b
    Examples:
      recframe gaps recs.parquet truth.parquet -m ndcg@10 --users users.parquet --by country,device
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.slices, "Find the segments that are the worst off, alone and crossed.")
def slices() -> None:
    """Compare the segments of the --by columns, alone and crossed, with all other users; the worst come first.

    \b
    Examples:
      recframe slices recs.parquet truth.parquet -m ndcg@10 --users users.parquet --by country,device,age
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
