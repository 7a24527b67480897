"""Logs for laws of splits: rows that tie, repeat and lack something, with ids of all forms; and their rules in plain Python."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from math import floor
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

import recframe as rf
from plain_keys import plain_key

LONG = ["x" * 64 + middle * 72 + "y" * 64 for middle in "ab"]
"""Texts of 200 bytes that differ in the middle alone, so that they have the same key."""
TEXTS = ["", "å234567", "z" * 41, *LONG, "b", "a"]
NUMBERS = [3, 0, 1, 2**31 - 1, 7, 2, 5]
FORMS: dict[str, tuple[list[Any], pl.DataType]] = {
    "Int32": (NUMBERS, pl.Int32()),
    "UInt64": ([*NUMBERS[:-1], 2**64 - 1], pl.UInt64()),
    "text": (TEXTS, pl.String()),
}
Row = tuple[Any, Any, Any]
Parts = list[list[str]]


@st.composite
def rows_of_logs(draw: st.DrawFn, *, form: str | None = None) -> tuple[str, list[Row]]:
    """Return the form of ids, and rows of user, item and time; half of them tie, a tenth repeat, a few lack something."""
    form = form or draw(st.sampled_from([*FORMS]))
    ids, _ = FORMS[form]
    row = st.tuples(
        st.sampled_from(ids[:5]),
        st.sampled_from(ids),
        st.one_of(st.integers(0, 3), st.integers(4, 40)),
    )
    rows = draw(st.lists(row, min_size=2, max_size=40))
    rows += draw(st.lists(st.sampled_from(rows), max_size=len(rows) // 10 + 1))
    for place in draw(st.sampled_from([(), (), (), (0,), (1,), (2,), (0, 2)])):
        rows.append(tuple(None if at == place else one for at, one in enumerate(rows[0])))
    return form, draw(st.permutations(rows))


def log_of(form: str, rows: Sequence[Row]) -> pl.DataFrame:
    """Return rows as a log, with the number of each row."""
    dtype = FORMS[form][1]
    schema = {"u": dtype, "i": dtype, "t": pl.Int64()}
    return pl.DataFrame([*rows], schema, orient="row").with_row_index("n")


def _by_user(rows: Sequence[Row], *, needs: Iterable[int]) -> dict[Any, list[int]]:
    """Return the numbers of each user's rows, but of those that lack something that the rule reads."""
    found = defaultdict(list)
    for number, row in enumerate(rows):
        if all(row[place] is not None for place in needs):
            found[row[0]].append(number)
    return found


def _unlabelled(rows: Sequence[Row], folds: int, needs: Iterable[int], otherwise: str) -> Parts:
    """Return parts of rows that lack something, and one part for the others."""
    lack = [any(row[place] is None for place in needs) for row in rows]
    return [["null" if lacks else otherwise for lacks in lack] for _ in range(folds)]


def plain_last_per_user(rows: Sequence[Row], n: int, folds: int, keep: int) -> Parts:
    """Return the part of each row, fold by fold, by the definition of `last_per_user`."""
    parts = _unlabelled(rows, folds, (0, 1, 2), "train")
    for numbers in _by_user(rows, needs=(0, 1, 2)).values():
        event = {one: (rows[one][2], rows[one][1]) for one in numbers}
        events = sorted({*event.values()})
        blocks: dict[int, list[Any]] = defaultdict(list)
        for place, one in enumerate(reversed(events)):
            blocks[place // n].append(one)
        for block in range(folds):
            before = [one for one in events if one < min(blocks[block], default=events[0])]
            if len(before) < keep or len(events) < (block + 1) * n + keep:
                break
            for number in numbers:
                if event[number] in blocks[block]:
                    parts[folds - 1 - block][number] = "truth"
                    for earlier in range(folds - 1 - block):
                        parts[earlier][number] = "later"
    return parts


def _edges(share: Fraction, folds: int, units: int) -> list[int]:
    return [floor(fold * share * units + Fraction(1, 2)) for fold in range(folds + 1)]


def _range_of(key: int, share: float, folds: int) -> int | None:
    """Return the fold whose keys a key is among."""
    width = int(share * 2**64)
    fold = key // width
    if fold >= folds:
        return folds - 1 if abs(share * folds - 1) < 1e-9 else None
    return fold


def plain_random(  # noqa: PLR0913  the options of the rule
    rows: Sequence[Row], *, share: float | None, n: int | None, per, folds, seed, keep
) -> Parts:
    """Return the part of each row, fold by fold, by the definition of `random`."""
    parts = _unlabelled(rows, folds, (0, 1), "train")
    exact = Fraction(1, folds) if share is None else Fraction(str(share))
    for user, numbers in _by_user(rows, needs=(0, 1)).items():
        key = {rows[one][1]: plain_key(seed, user, rows[one][1]) for one in numbers}
        items = sorted(key, key=lambda item: (key[item], item))
        of_n = [(n or 0) * one for one in range(folds + 1)]
        edges = _edges(exact, folds, len(items)) if n is None else of_n
        for number in numbers:
            item = rows[number][1]
            place = items.index(item)
            if per == "log":
                fold = _range_of(key[item], 1 / folds if share is None else share, folds)
                found = [] if fold is None else [fold]
            else:
                kept = place >= len(items) - keep
                found = [f for f in range(folds) if edges[f] <= place < edges[f + 1] and not kept]
            for fold in found:
                parts[fold][number] = "truth"
    return parts


def plain_by_user(  # noqa: PLR0913  the options of the rule
    rows: Sequence[Row], *, share: float | None, folds, fold_in, order, seed, at: int | None
) -> Parts:
    """Return the part of each row, fold by fold, by the definition of `by_user`."""
    needs = (0, 1, 2) if order == "time" or at is not None else (0, 1)
    parts = _unlabelled(rows, folds, needs, "train")
    for user, numbers in _by_user(rows, needs=needs).items():
        if at is None:
            own = _range_of(plain_key(seed, user), 1 / folds if share is None else share, folds)
        else:
            own = 0 if min(rows[one][2] for one in numbers) >= at else None
            for one in numbers:
                parts[0][one] = "train" if rows[one][2] < at else "later"
        if own is None:
            continue
        unit = {}
        for one in numbers:
            _, item, time = rows[one]
            unit[one] = (time if order == "time" else plain_key(seed, user, item), item)
        units = sorted({*unit.values()})
        first = fold_in if fold_in >= 1 else max(1, floor(Fraction(str(fold_in)) * len(units)))
        for one in numbers:
            parts[own][one] = "fold_in" if units.index(unit[one]) < first else "truth"
    return parts


def labels_are(log: pl.DataFrame, rule: str, expected: Parts, **options: Any) -> None:
    """Assert that each row has the part that is expected, or that the split says that it has no train or truth."""
    names = dict(
        zip(("user", "item", "time"), [one for one in log.columns if one != "n"], strict=True)
    )
    call = getattr(log.rec(**names).split, rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rf.RecframeWarning)
        if not all("train" in parts for parts in expected) or "truth" not in chain(*expected):
            with pytest.raises(rf.DataError, match="has no row"):
                call(**options)
            return
        labels = call(**options).labels
    assert labels["part"].to_list() == [part for parts in expected for part in parts]
    assert labels["fold"].to_list() == [fold for fold, parts in enumerate(expected) for _ in parts]
    assert labels.drop("fold", "part").equals(pl.concat([log] * len(expected)))
