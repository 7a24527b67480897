"""Numbers and intervals as they are read, in messages and tables."""

from __future__ import annotations


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """Return a number with its interval: 0.2512 [0.2410, 0.2620]; the number alone where it has none."""
    if value is None or low is None or high is None:
        return rounded(value)
    return f"{rounded(value)} [{rounded(low)}, {rounded(high)}]"


def rounded(value: float | None) -> str:
    """Return a number with four digits behind the point, of a large one four in all."""
    if value is None:
        return "null"
    return f"{value + 0.0:.4f}" if abs(value) < 10 else f"{value:.4g}"  # noqa: PLR2004  one digit before the point
