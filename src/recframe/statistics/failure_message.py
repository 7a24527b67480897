"""Failure messages of gates: a sentence and a table for logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from recframe.errors import RequirementError, short
from recframe.frames.hints import Either
from recframe.statistics.requirements import FAILS, MISSING, OPEN, SHORT, Gate
from recframe.statistics.stored_results import rounded, with_interval

GAP = "   "
MOST_SHOWN = 20
"""Rows shown in an error."""
FOUND = ("requirement", "state", "value", "bound", "difference", "n_users")


LET_PASS = ("missing='open'", "--missing open")
"""Option that lets missing rows pass, in Python and in a shell."""
NO_ROW = "no model and no segment has a row of it"


def check(result: pl.DataFrame, names: Mapping[str, str], gate: Gate) -> pl.DataFrame:
    """Return a gate's result, or raise a RequirementError with the failure message; `names` has the keys' own names."""
    told = found(result, gate, names)
    if told is not None:
        raise RequirementError(told)
    return result


def check_collected(result: pl.DataFrame, gate: Gate, *, wide: bool) -> pl.DataFrame:
    """Check a wide result with own key names, and return it wide or short."""
    found = check(result, _own_names(result), gate)
    return found if wide else short_of(found)


def short_of(result: pl.DataFrame) -> pl.DataFrame:
    """Return the short form of a gate's result."""
    return pl.DataFrame([result.get_column(name) for name in (*keys_of(result), *SHORT)])


def _own_names(result: pl.DataFrame) -> dict[str, str]:
    return {key: key for key in keys_of(result)}


def found(result: pl.DataFrame, gate: Gate, names: Mapping[str, str] | None = None) -> str | None:
    """Return the failure message, None if all requirements are met; without `names` the keys have their own.

    They are a sentence, and below it a table of what was found, the bound and the number of users.
    """
    unmet = result.filter(is_unmet(gate))
    if unmet.is_empty() and not without_rows(result, gate):
        return None
    names = _own_names(result) if names is None else names
    told = [*_of_nothing(result, gate), *_counted(unmet, names, result.height)]
    if gate.missing == "fails" and not gate.strict and (unmet["state"] == MISSING).any():
        told.append(f"{Either(*LET_PASS)} counts what is missing as open")
    sentence = "; ".join(told)
    if unmet.is_empty():
        return sentence
    shown = unmet.head(MOST_SHOWN)
    keys = [[name, *map(_text, shown[inside])] for inside, name in names.items()]
    columns = [*keys, *_cells(shown)]
    widths = [max(map(len, column)) for column in columns]
    lines = [GAP.join(map(str.ljust, row, widths)).rstrip() for row in zip(*columns, strict=True)]
    n_more = unmet.height - MOST_SHOWN
    more = [f"and {n_more} more"] * (n_more > 0)
    return "\n  ".join([f"{sentence}:", *lines, *more])


def keys_of(result: pl.DataFrame) -> list[str]:
    """Return the names of a result's keys."""
    return result.columns[: result.columns.index("requirement")]


def is_unmet(gate: Gate) -> pl.Expr:
    """Return whether a row fails, is missing or is of a requirement that was judged nowhere; of a strict gate also if open.

    NOTE: a segment below `min_users` is open by the caller's own word, so that it is unmet only where a requirement was
    judged in no segment at all.
    """
    state = pl.col("state")
    unmet = (state == FAILS) | _is_nowhere(gate)
    if gate.missing == "fails" or gate.strict:
        unmet |= state == MISSING
    return unmet | ((state == OPEN) & ~_is_small(gate)) if gate.strict else unmet


def _is_small(gate: Gate) -> pl.Expr:
    """Return whether a row has users with a value, but fewer than the minimum."""
    n = pl.col("n_users")
    return ((n > 0) & (n < gate.min_users)).fill_null(value=False)


def _is_nowhere(gate: Gate) -> pl.Expr:
    """Return whether a row is of a requirement that no row of enough users decides, or of a gate without such a row.

    NOTE: one requirement without a value beside others that have one is open, as its note says.
    """
    small = _is_small(gate)
    none = pl.col("value").is_null() | small
    return none.all() | (none.all() & small.any()).over("requirement")


def without_rows(result: pl.DataFrame, gate: Gate) -> list[str]:
    """Return the requirements without a row, such as those of models left out by `models=`."""
    there = set(result["requirement"])
    return [name for name in map(str, gate.requirements) if name not in there]


def _counted(unmet: pl.DataFrame, names: Mapping[str, str], n_rows: int) -> list[str]:
    """Return the number of unmet rows, by state."""
    states = []
    for state in (FAILS, MISSING, OPEN):
        n = int((unmet["state"] == state).sum())
        is_state = (
            f"fail{'s' * (n == 1)}" if state == FAILS else f"{'is' if n == 1 else 'are'} {state}"
        )
        states += [f"{n} {is_state}"] * (n > 0)
    if not states:
        return []
    # with keys a requirement has several rows
    what = ("row" if names else "requirement") + "s" * (n_rows != 1)
    *others, last = states
    told = f"{', '.join(others)} and {last}" if others else last
    return [f"of {n_rows} {what}, {told}"]


def _of_nothing(result: pl.DataFrame, gate: Gate) -> list[str]:
    """Return the requirements that were tested nowhere, and the reason."""
    absent = without_rows(result, gate)
    if result.is_empty():
        return ["nothing was judged: there is no segment and no model that anything is required of"]
    told_already = (pl.col("state") == MISSING) & (gate.missing == "fails" or gate.strict)
    rows = result.filter(_is_nowhere(gate) & ~told_already)
    names = rows["requirement"].unique(maintain_order=True).to_list()
    n = "a user" if gate.min_users == 1 else f"{gate.min_users} users"
    told = [f"nothing was judged of {name!r}: no row has {n} with a value" for name in names]
    return [*told, *(f"nothing was judged of {name!r}: {NO_ROW}" for name in absent)]


def _cells(shown: pl.DataFrame) -> list[list[str]]:
    ends = "", "_low", "_high"
    value = map(with_interval, *(shown[f"value{end}"] for end in ends))
    difference = map(with_interval, *(shown[f"difference{end}"] for end in ends))
    bound, n_users = map(rounded, shown["bound"]), (f"{one or 0:,}" for one in shown["n_users"])
    named = (shown["requirement"], shown["state"])
    cells: list[Iterable[str]] = [*named, value, bound, difference, n_users]
    return [[name, *column] for name, column in zip(FOUND, cells, strict=True)]


def _text(value: Any) -> str:
    return "null" if value is None else short(str(value))
