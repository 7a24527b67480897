"""The words of requirements that are not met: a table that a log shows as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from recframe.errors import RequirementError
from recframe.uncertainty.requirements import FAILS, OPEN, Gate
from recframe.uncertainty.rounded import rounded, with_interval

GAP = "   "
MOST_SHOWN = 20
"""So many rows stand in an error."""
FOUND = ("requirement", "state", "value", "bound", "difference", "n_users")


def check(result: pl.DataFrame, names: Mapping[str, str], gate: Gate) -> pl.DataFrame:
    """Return a gate's result, or raise a RequirementError that shows what is not met; `names` has those of the keys."""
    unmet = result.filter(is_unmet(gate))
    if gate.strict and not result.height:
        raise RequirementError(
            "nothing was judged: there is no segment and no model that anything is required of"
        )
    if unmet.height:
        raise RequirementError(words(unmet, names, result.height))
    return result


def is_unmet(gate: Gate) -> pl.Expr:
    """Return whether a row fails; of a strict gate also whether it is open.

    NOTE: a segment below `min_users` is open by the caller's own word, so that it is unmet in a strict gate only where a
    requirement was judged in no segment at all.
    """
    n, state = pl.col("n_users").fill_null(0), pl.col("state")
    small = (n > 0) & (n < gate.min_users)
    if not gate.strict:
        return state == FAILS
    return (state == FAILS) | ((state == OPEN) & (~small | small.all().over("requirement")))


def words(unmet: pl.DataFrame, names: Mapping[str, str], n_rows: int) -> str:
    """Return what is not met: a sentence, and below it what was found, the bound and the number of users."""
    n, failing = unmet.height, int((unmet["state"] == FAILS).sum())
    is_open = n - failing
    states = [f"{failing} fail{'s' * (failing == 1)}"] * (failing > 0)
    states += [f"{is_open} {'is' if is_open == 1 else 'are'} open"] * (is_open > 0)
    # with keys a requirement has several rows
    what = ("row" if names else "requirement") + "s" * (n_rows != 1)
    first = f"of {n_rows} {what}, {' and '.join(states)}:"
    shown = unmet.head(MOST_SHOWN)
    keys = [[name, *map(_text, shown[inside])] for inside, name in names.items()]
    columns = [*keys, *_cells(shown)]
    widths = [max(map(len, column)) for column in columns]
    lines = [GAP.join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True)]
    more = [f"and {n - MOST_SHOWN} more"] if n > MOST_SHOWN else []
    return "\n".join([first, *(f"  {line}" for line in [*lines, *more])])


def _cells(shown: pl.DataFrame) -> list[list[str]]:
    value = map(with_interval, *(shown[f"value{end}"] for end in ("", "_low", "_high")))
    distance = map(with_interval, *(shown[f"difference{end}"] for end in ("", "_low", "_high")))
    cells: list[Sequence[str]] = [
        list(shown["requirement"]),
        list(shown["state"]),
        list(value),
        list(map(rounded, shown["bound"])),
        list(distance),
        [f"{one or 0:,}" for one in shown["n_users"]],
    ]
    return [[name, *column] for name, column in zip(FOUND, cells, strict=True)]


def _text(value: Any) -> str:
    return "null" if value is None else str(value).replace("\n", "\\n")
