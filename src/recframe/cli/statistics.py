"""Statistical commands: `summarize`, `compare`, `power`, `gaps` and `slices`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.cli.files import ENDINGS
from recframe.cli.inputs import call_of
from recframe.cli.options import (
    FRAMES,
    MEMORY,
    OUTPUT,
    RECS,
    TRUTH,
    Decorator,
    declared,
    options_of,
)
from recframe.cli.output import NOTE, Options, give, is_table
from recframe.statistics.stored_results import with_interval

SHARES = ("relative", "detectable_relative", "wanted")
"""Columns that are shown in per cent."""
P_VALUES = ("p_value", "p_adjusted")
TIMES = 10
"""Share from which it is shown as a multiple."""


def view(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a short result for reading: keys, numbers with intervals, and a note where there is one."""
    names = frame.columns
    first = min(names.index(one) for one in ("metric", "requirement") if one in names)
    # an interval without its number, such as what is expected, is a column of its own
    of_ends = dict.fromkeys(re.sub("_(low|high)$", "", name) for name in names[first:])
    shown = [name for name in of_ends if name != NOTE or frame[NOTE].count()]
    return frame.select(*names[:first], *(_read_cells(frame, name) for name in shown))


def _read_cells(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column as people read it: shares in per cent, and values with their intervals."""
    rows = len(frame)
    column = frame.get_column(name, default=pl.Series(name, [None] * rows, dtype=pl.Float64))
    if name == NOTE:
        return column.fill_null("")
    if name not in SHARES and not column.dtype.is_float():
        return column
    low, high = (
        frame.get_column(f"{name}_{end}", default=pl.Series([None] * rows))
        for end in ("low", "high")
    )
    write = {**dict.fromkeys(SHARES, _share), **dict.fromkeys(P_VALUES, _p_value)}.get(name)
    cells = map(write, column) if write else map(with_interval, column, low, high)
    return pl.Series(name, cells, dtype=pl.String)


def _share(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f} x" if value >= TIMES else f"{100 * value + 0.0:.1f} %"


def _p_value(value: float | None) -> str:
    if value is None:
        return ""
    return "< 0.0001" if value < 1e-4 else f"{value:.4f}"  # noqa: PLR2004  the last digit


FOR_READING = {"md", "tex"}
"""Formats of tables for people, which have the columns that a table on a terminal has."""


Show = Callable[[pl.DataFrame, Options], None]


def shown(frame: pl.DataFrame, options: Options) -> None:
    """Print a result as a table of numbers with intervals, or write it in full precision."""
    ending = ENDINGS.get(f".{(options['output'] or '').rpartition('.')[2].lower()}")
    is_read = is_table(options) or (options["form"] or ending) in FOR_READING
    give(
        view(frame) if is_read else frame,
        options,
        _once(frame, options),
    )


def _once(frame: pl.DataFrame, options: Options) -> list[str]:
    """Return the options that a reader of the result has to know, in words."""
    words = {
        name: options[name]
        for name in ("baseline", "correction")
        if options.get(name) is not None and name not in frame.columns
    }
    if any(name.endswith("_low") for name in frame.columns) and "level" in options:
        words["intervals"] = f"{100 * options['level']:g} %"
    return [f"{name} {word}" for name, word in words.items()]


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


@command_of(rf.Rec.summarize, "Compute metrics with their intervals.", MEMORY)
def summarize() -> None:
    """Compute metrics of the recommendations in RECS with their intervals, overall or by segment.

    The files and options are those of recframe evaluate. A table, Markdown and LaTeX have a number with its interval in one
    cell; CSV, JSON and Parquet are in full precision, and serve recframe require --reference.

    \b
    Examples:
      recframe summarize recs.parquet truth.parquet -m ndcg@10 --by country \\
        --users users.parquet
      recframe summarize recs.parquet truth.parquet --model model -o table.tex
      recframe summarize recs.parquet truth.parquet -m ndcg@10 -o last.json
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.compare, "Compare models.", MEMORY)
def compare() -> None:
    """Compare the models in RECS, user by user: their differences, with intervals and verdicts.

    --model names the column of models; the other files and options are those of recframe evaluate. Without --baseline all pairs
    of models are compared. It needs SciPy: pip install 'recframe[stats]'.

    \b
    Examples:
      recframe compare recs.parquet truth.parquet --model model \\
        --baseline popularity -m ndcg@10
      recframe compare recs.parquet truth.parquet --model model --baseline svd \\
        --margin 0.01 --by country --users users.csv
      recframe compare 'runs/*.run' test.qrels --model model -m ndcg@10,map \\
        -o table.tex
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.power, "Power analysis: smallest detectable difference, users needed.", MEMORY)
def power() -> None:
    """Compute the smallest difference between models in RECS that the users can show, and how many users a wanted one needs.

    \b
    Examples:
      recframe power recs.parquet truth.parquet --model model --baseline svd \\
        -m ndcg@10 --wanted 0.01
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.gaps, "Find the best and the worst segment of each column.", MEMORY)
def gaps() -> None:
    """Find the best and the worst segment of each --by column, and the gap between them with its interval.

    \b
    Examples:
      recframe gaps recs.parquet truth.parquet -m ndcg@10 \\
        --users users.parquet --by country,device
    """  # noqa: D301  click reads the backspace as: leave these lines as they are


@command_of(rf.Rec.slices, "Find the segments that are the worst off, alone and crossed.", MEMORY)
def slices() -> None:
    """Compare the segments of the --by columns, alone and crossed, with all other users; the worst come first.

    \b
    Examples:
      recframe slices recs.parquet truth.parquet -m ndcg@10 \\
        --users users.parquet --by country,device,age
    """  # noqa: D301  click reads the backspace as: leave these lines as they are
