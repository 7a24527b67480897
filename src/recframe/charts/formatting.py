"""Numbers and words as charts, tables and pages write them."""

from __future__ import annotations

import math
from collections.abc import Sequence

NONE = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
DIGITS = 3
SMALL = 0.001
"""Value below which a number has two significant digits."""
LEAST = 1e-6
ROUNDING = 1e-9
"""Values up to which a number is 0: alone, and as a share of half its interval."""
MOST_DECIMALS = 9
LEAST_P = 0.001
TIMES = 10
"""Relative difference from which it is written as a multiple."""


def number(
    value: float | None,
    ends: Sequence[float] = (),
    *,
    sign: bool = False,
    decimals: int | None = None,
) -> str:
    """Return a number, to two digits of half the width of its interval; a number that reads 0 keeps its sign.

    There is one digit more where an end of the interval would read 0. Without an interval there are three decimals, fewer for
    a large number, and two significant digits near 0; `decimals` are so many, whatever the interval.

    >>> number(0.0382, (0.0301, 0.0463)), number(163.2, (140.0, 190.0)), number(0.002, (-0.00001, 0.004))
    ('0.0382', '163', '0.00200')
    >>> number(0.0000001, (0.0000001, 0.004)), number(0.25), number(1234.5)
    ('+0.00000', '0.250', '1,234')
    """
    if value is None:
        return NONE
    size = abs(value)
    half = (ends[1] - ends[0]) / 2 if ends else 0.0
    least = LEAST
    digits = 0 if size >= 1000 else 1 if size >= 10 else DIGITS  # noqa: PLR2004  four digits in all
    if 0.0 < half < math.inf:
        digits = min(max(1 - math.floor(math.log10(half)), 0), MOST_DECIMALS)
        least = ROUNDING * half
        digits += any(least < abs(end) < 0.5 / 10**digits for end in ends)
    elif LEAST < size < SMALL:
        digits = 1 - math.floor(math.log10(size))
    digits = digits if decimals is None else decimals
    known = value if size > least else 0.0
    text = f"{known:+,.{digits}f}".replace("-", MINUS)
    is_zero = not text.strip(f"+{MINUS}0.,")
    return text if known and (sign or is_zero) else text.lstrip("+")


def signed(value: float | None, ends: Sequence[float] = ()) -> str:
    """Return a number with its sign."""
    return number(value, ends, sign=True)


def written(value: object, ends: Sequence[float] = ()) -> str:
    """Return a value as text: a number by its interval, a time without a midnight."""
    if isinstance(value, float):
        return number(value, ends)
    return f"{value:,}" if isinstance(value, int) else str(value).removesuffix(" 00:00:00")


def per_cent(value: float) -> str:
    """Return a share in per cent as a sentence has it, to two digits.

    >>> per_cent(0.3764), per_cent(0.0042), per_cent(1.714)
    ('38 %', '0.42 %', '171 %')
    """
    size = 100 * value
    digits = f"{size:,.0f}" if abs(size) >= 10 else f"{size:.2g}"  # noqa: PLR2004  two digits
    return f"{digits.replace('-', MINUS)} %"


def signed_share(value: float | None) -> str:
    """Return a relative difference in per cent with its sign; from ten times on as a multiple: 64 x the other."""
    if value is not None and value >= TIMES:
        return f"{1 + value:,.0f} x"
    return NONE if value is None else f"{100 * value:+.1f}%".replace("-", MINUS)


def p_value(value: float | None) -> str:
    """Return a p value."""
    if value is None:
        return NONE
    return f"< {LEAST_P}" if value < LEAST_P else f"{value:.3f}"


def count(value: float | None) -> str:
    """Return a whole number, in groups of three digits."""
    return NONE if value is None else f"{value:,.0f}"


def counted(n: int, noun: str, several: str = "") -> str:
    """Return a number of things."""
    return f"{n:,} {noun if n == 1 else several or noun + 's'}"


def listed(names: Sequence[str], most: int = 6) -> str:
    """Return names in a sentence: a, b and c; of many the first and how many more there are."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1:,} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
