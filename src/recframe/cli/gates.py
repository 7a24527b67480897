"""`recframe require`: a gate with an exit status."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import polars as pl

import recframe as rf
from recframe.cli.calls import (
    DOCUMENTED,
    MEMORY,
    OF_FILES,
    OF_POLICIES,
    OUTPUTS,
    RECS,
    called,
    command,
    show_result,
)
from recframe.cli.inputs import bound, paths_of, reading, scan, scanned
from recframe.cli.options import PATH, Option, options_of
from recframe.cli.output import say
from recframe.cli.results import check_output, is_table
from recframe.errors import RecframeError
from recframe.statistics.requirements import Requirement, check

SIGNS = re.compile("[<>=≥≤]")


def _require(recs: str, given: tuple[str, ...], last: str | None, **options: Any) -> None:
    """Require something of the recommendations, show the states, and exit with 1 where it is not met."""
    has_truth = bool(given) and not SIGNS.search(given[0])
    requirements = _requirements(given[has_truth:])
    paths = paths_of(recs, given[0] if has_truth else None, options)
    with reading(paths):
        check_output(options, [*paths.values(), *filter(None, [last])])
        earlier = None if last is None else _earlier(last)
        rec = bound(scanned(paths, options), options)
        more = {"last": earlier, "raises": False}
        result = called(rf.Rec.require, rec, options, *requirements, **more)
    show_result(result, options)
    try:
        check(result, strict=options["strict"], min_users=options["min_users"])
    except rf.RequirementError as unmet:
        # the rows that are not met stand in the table
        words = str(unmet)
        say(words.partition(":\n")[0] if is_table(options) else words, err=True)
        click.get_current_context().exit(1)
    states = result["state"].value_counts(sort=True).rows()
    say(", ".join(f"{state} {n}" for state, n in states), err=True)


def _earlier(path: str) -> pl.DataFrame | pl.LazyFrame:
    """Return an earlier result: the runs of a history, or a table in a file."""
    if Path(path).is_dir():
        return rf.history(path)
    return scan(path)


def _requirements(texts: tuple[str, ...]) -> list[Requirement]:
    """Return requirements, or say what is none."""
    if not texts:
        msg = "no requirement was given; write for example recframe require RECS TRUTH 'ndcg@10 >= 0.28'"
        raise click.UsageError(msg)
    try:
        return [*map(Requirement.parse, texts)]
    except RecframeError as error:
        unquoted = not all(map(SIGNS.search, texts))
        hint = "; put each requirement in quotes, since a shell writes to files by >" * unquoted
        msg = f"{error}{hint}"
        raise click.UsageError(msg) from None


require = command(
    "require",
    _require,
    "Require values of metrics, and fail where they are not met. A bound is a number, a share of a model's value, 'ndcg@10 "
    ">= 0.99 * popularity', or of an earlier result, 'ndcg@10 >= 0.99 * last'. Each row holds, fails or is open: too few "
    "users to tell. Exit status: 0 if nothing fails; 1 if a requirement fails, a row is missing or nothing was judged (with "
    "--strict also if a row is open); 2 for options, files and data that cannot be judged.",
    "recs.parquet truth.parquet 'ndcg@10 >= 0.28' 'mrr >= 0.2'",
    "recs.parquet truth.parquet 'ndcg@10 >= 0.99 * popularity' \\\n      --model model --by country --users users.csv",
    "recs.parquet truth.parquet 'ndcg@10 >= 0.99 * last' \\\n      --last history",
    takes=[
        RECS,
        click.Argument(["given"], nargs=-1, metavar="[TRUTH] REQUIREMENT..."),
        Option(
            ["--last"],
            type=PATH,
            metavar="FILE",
            help="An earlier result, a file of recframe summarize or a history of recframe track, that 'last' stands for.",
        ),
        *options_of(rf.Rec.require, *DOCUMENTED, but={"requirements", "k", "last", "raises"}),
        *OUTPUTS,
        *OF_FILES,
        *MEMORY,
        *OF_POLICIES,
    ],
)
