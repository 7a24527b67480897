"""Names that a file has twice: of two such columns Polars renames one, and of two keys in JSON it drops one."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any

import polars as pl

from recframe.errors import RecframeError

ROWS = 10_000
"""The number of rows of JSON that are looked at, which takes a few hundredths of a second."""
FIRST_BYTES = 16_000_000
_RENAMED = re.compile(r"(.+)_duplicated_\d+")
_BETWEEN = re.compile(r"[\s,\[]*")


def first_lines(pattern: str, n: int) -> list[str]:
    """Return lines of a text file, packed or not, as they are; `pattern` is one that Polars finds it by."""
    # NOTE: no text has this sign, and JSON may not have it
    lines = pl.scan_csv(
        pattern, has_header=False, separator="\x01", quote_char=None, infer_schema=False
    )
    return lines.head(n).collect().to_series().fill_null("").to_list()


def check_columns(names: Iterable[str], path: str, pattern: str, separator: str) -> None:
    """Say so where two columns of a text file have one name; `names` are those that Polars gives them."""
    known = set(names)
    renamed = {one: found[1] for one in known if (found := _RENAMED.fullmatch(one))}
    # a file may have such a name of its own
    twice = [one for one, name in renamed.items() if name in known]
    if not twice:
        return
    header: list[str] = []
    with suppress(csv.Error):
        header = next(filter(None, csv.reader(first_lines(pattern, 100), delimiter=separator)), [])
    name = next((renamed[one] for one in sorted(twice) if one not in header), None)
    if name is not None:
        msg = f"{path!r} has two columns named {name!r}; drop or rename one of them. If its first line is no header, name the "
        raise RecframeError(msg + "columns: --header user,item,rank")


def check_keys(text: str, place: str) -> None:
    """Say so where an object of JSON has a key twice, in the first rows of a list or of lines."""
    # NOTE: numbers stay text, of which Python takes not all
    hook = partial(_once, place=place)
    decoder = json.JSONDecoder(object_pairs_hook=hook, parse_int=str, parse_float=str)
    end = 0
    # what is no JSON, or is cut off here, is told by what reads it
    with suppress(json.JSONDecodeError, RecursionError):
        for _ in range(ROWS):
            found = _BETWEEN.match(text, end)
            _, end = decoder.raw_decode(text, end if found is None else found.end())


def _once(pairs: list[tuple[str, Any]], place: str) -> dict[str, Any]:
    """Return an object of JSON, or say which key it has twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        msg = f"{place!r} has a row with two keys named {twice!r}; drop or rename one of them"
        raise RecframeError(msg)
    return found
