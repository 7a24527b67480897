"""Numbers as a page writes them, and words for how many there are."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
DIGITS = 3
SMALL = 0.001
"""Below it a number has digits of its own."""
LEAST = 1e-6
"""Below it a number is written as 0."""
LEAST_P = 0.001


def number(value: float | None, *, sign: bool = False) -> str:
    """Return a number with three digits behind the point; of a large one, and of one near 0, three in all."""
    if value is None:
        return NONE
    size = abs(value)
    if size >= 1000:  # noqa: PLR2004  four digits before the point
        text = f"{value:+,.0f}"
    elif size >= 10:  # noqa: PLR2004  two digits before the point
        text = f"{value:+.1f}"
    elif LEAST < size < SMALL:
        text = f"{value:+.{1 - math.floor(math.log10(size))}f}".rstrip("0")
    else:
        text = f"{value + 0.0:+.{DIGITS}f}"
    text = text.replace("-", MINUS)
    return text if sign and value else text.lstrip("+")


def interval(low: float | None, high: float | None, *, sign: bool = False) -> str:
    """Return an interval, or nothing where there is none."""
    if low is None or high is None:
        return ""
    return f"{number(low, sign=sign)} to {number(high, sign=sign)}"


def with_interval(row: Mapping[str, Any], name: str, *, sign: bool = False) -> str:
    """Return a number with its interval in brackets."""
    ends = interval(row[f"{name}_low"], row[f"{name}_high"], sign=sign)
    return number(row[name], sign=sign) + (f" ({ends})" if ends else "")


def per_cent(value: float | None, *, sign: bool = False) -> str:
    """Return a share in per cent."""
    if value is None:
        return NONE
    text = f"{100 * value:+.1f}%" if sign else f"{100 * value:.1f}%"
    return text.replace("-", MINUS)


def p_value(value: float | None) -> str:
    """Return a p value."""
    if value is None:
        return NONE
    return f"< {LEAST_P}" if value < LEAST_P else f"{value:.3f}"


def count(value: float | None) -> str:
    """Return a whole number, in groups of three digits."""
    return NONE if value is None else f"{value:,.0f}"


def counted(value: int, noun: str) -> str:
    """Return a number of things."""
    return f"{value:,} {noun}{'' if value == 1 else 's'}"


def listed(names: list[str], most: int = 6) -> str:
    """Return names in a sentence: a, b and c; of many the first and how many more there are."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1:,} more"]
    return (
        names[0]
        if len(names) == 1
        else ", ".join(names[:-1]) + f" and {names[-1]}"
        if names
        else ""
    )


def of_model(text: str, model: str) -> str:
    """Return what is told of a model, with its name where there are several."""
    return f"{text} with {model}" if model else text


def blocks(text: str) -> list[str | list[str]]:
    """Return the paragraphs of a text that was folded for a terminal; lines that begin with a dash are a list."""
    found: list[str | list[str]] = []
    for part in text.split("\n\n"):
        if part.startswith("- "):
            lines = re.split(r"\n(?=- )", part)
            found.append([_plain(one.removeprefix("- ")) for one in lines])
        elif part.strip():
            found.append(_plain(part))
    return found


def _plain(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def noted(rows: Sequence[tuple[str | None, str]], most: int = 5) -> list[str]:
    """Return each note once, behind what it is about; rows have a note or None, and what they are about."""
    told: dict[str, dict[str, None]] = {}
    for note, about in rows:
        if note:
            told.setdefault(note, {})[about] = None
    lines = [f"{listed([*about])}: {note}." for note, about in told.items()]
    more = [f"{len(lines) - most:,} more notes are in the numbers of this page."]
    return lines[:most] + (more if len(lines) > most else [])
