"""NumPy and SciPy imports, and array types for annotations.

NOTE: the files of this room that compute import this one, and this one imports NumPy and scipy.special, 0.4 seconds. What a
call without intervals runs imports none of them. scipy.stats and statsmodels, four and eight times as slow to import, serve
the tests as oracles alone.
"""

from __future__ import annotations

from typing import TypeAlias

from recframe.errors import RecframeError

try:
    import numpy as np
    import numpy.typing as npt
    from scipy import special
except ModuleNotFoundError as missing:
    message = (
        f"this needs {missing.name}, which is not installed; write: pip install 'recframe[stats]'"
    )
    raise RecframeError(message) from None

Numbers: TypeAlias = npt.NDArray[np.float64]
Labels: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]
Given: TypeAlias = npt.ArrayLike
"""Number, sequence or array that broadcasts."""

__all__ = ["Flags", "Given", "Labels", "Numbers", "np", "numbers", "ratio", "special"]


def numbers(given: Given) -> Numbers:
    """Return the input as an array of 64-bit floats."""
    return np.asarray(given, dtype=np.float64)


def ratio(numerator: Given, denominator: Given) -> Numbers:
    """Return a / b without a warning: 0 / 0 is NaN, x / 0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(numerator, denominator)
