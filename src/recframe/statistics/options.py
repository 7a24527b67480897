"""Validation of options of statistical methods."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from recframe.errors import RecframeError, shown
from recframe.frames.options import plain_number

Correction = Literal["holm", "benjamini-hochberg"]


def one_of(name: str, value: object, choices: Collection[str | None]) -> None:
    """Raise an error that lists the values of an option."""
    if value not in choices:
        takes = " or ".join(repr(choice) for choice in choices)
        msg = f"{name}={shown(value)}: {name} takes {takes}"
        raise RecframeError(msg)


def share(name: str, value: object, example: str) -> float:
    """Return a number between 0 and 1, or say that it has to be one."""
    number = plain_number(value)
    if number is None or not 0 < number < 1:
        msg = f"{name}={shown(value)}: {name} takes a number between 0 and 1, such as {name}={example}"
        raise RecframeError(msg)
    return float(number)


def whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """Return a whole number within two ends, or say that it has to be one."""
    number = plain_number(value)
    if not isinstance(number, int) or number < least or (most is not None and number > most):
        end = "up" if most is None else f"to {most}"
        msg = f"{name}={shown(value)}: {name} takes a whole number from {least} {end}"
        raise RecframeError(msg)
    return number


def text(name: str, value: object, takes: str = "text") -> str:
    """Return a text, or say what is taken."""
    if not isinstance(value, str):
        msg = f"{name}={shown(value)}: {name} takes {takes}"
        raise RecframeError(msg)
    return value


def per_cent(level: float) -> str:
    """Return a level in per cent, with all of its digits: 0.995 is 99.5%, and no 100%."""
    return f"{level * 100:.10g}%"
