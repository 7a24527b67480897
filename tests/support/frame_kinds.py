"""The kinds of frame that every metric test runs on: how one is made, and how a result of it is read back."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import polars as pl
import pytest


@dataclass(frozen=True)
class Kind:
    """One kind of frame: how it is made from a Polars frame, and how a result of it is read back as one."""

    name: str
    make: Callable[[pl.DataFrame], Any]
    read: Callable[[Any], pl.DataFrame]

    def __call__(self, frame: pl.DataFrame) -> Any:
        return self.make(frame)

    def __repr__(self) -> str:
        return self.name


def chunked(frame: pl.DataFrame) -> pl.DataFrame:
    """Cut a frame into chunks of one and more rows, behind rows that a slice hides."""
    pieces = [frame[:1], frame[1:3], frame[3:]]
    return pl.concat([frame[:0], *pieces], rechunk=False)


def with_an_index(frame: pl.DataFrame) -> pd.DataFrame:
    result = frame.to_pandas()
    result.index = (
        pd.MultiIndex.from_arrays([range(len(result)), ["x"] * len(result)])
        if len(result)
        else result.index
    )
    return result


def nullable(frame: pl.DataFrame) -> pd.DataFrame:
    with warnings.catch_warnings():
        # pandas 2.2 tries whether floats are whole numbers by casting them, infinite ones too
        warnings.filterwarnings("ignore", "invalid value encountered in cast", RuntimeWarning)
        return frame.to_pandas().convert_dtypes()


def from_pandas(frame: Any) -> pl.DataFrame:
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(frame.index, pd.RangeIndex)
    return pl.from_pandas(frame)


def collected(engine: str) -> Callable[[Any], pl.DataFrame]:
    def read(frame: Any) -> pl.DataFrame:
        assert isinstance(frame, pl.LazyFrame)
        return frame.collect(engine=engine)  # type: ignore[call-overload]

    return read


def eager(frame: Any) -> pl.DataFrame:
    assert isinstance(frame, pl.DataFrame)
    return frame


KINDS = [
    Kind("polars", lambda frame: frame, eager),
    Kind("chunked", chunked, eager),
    Kind("lazy", lambda frame: frame.lazy(), collected("in-memory")),
    Kind("streaming", lambda frame: frame.lazy(), collected("streaming")),
    Kind("pandas", with_an_index, from_pandas),
    Kind("pandas-nullable", nullable, from_pandas),
    Kind(
        "pandas-arrow", lambda frame: frame.to_pandas(use_pyarrow_extension_array=True), from_pandas
    ),
]


def kinds_in_turn(name: str) -> list[Kind]:
    """Return Polars' frames and in turn one of the others, which differ in how frames come in and go out."""
    plain, *others = KINDS
    return [plain, others[zlib.crc32(name.encode()) % len(others)]]


def slow_after_the_first(kinds: Iterable[Kind]) -> list[Any]:
    """Kinds to run a thorough test on, of which the fast lane has the first."""
    first, *others = kinds
    return [first, *(pytest.param(one, marks=pytest.mark.slow) for one in others)]


# made of others, or their plans run or read otherwise: every metric's worked number, models and propensities have them
# in the fast lane too
THOROUGH = {"chunked", "streaming", "pandas-nullable", "pandas-arrow"}


def sharp_and_thorough(kinds: Iterable[Kind], thorough: Collection[str] = THOROUGH) -> list[Any]:
    """Kinds to run a test on, of which the fast lane leaves out those that are near to others."""
    return [
        pytest.param(one, marks=pytest.mark.slow) if one.name in thorough else one for one in kinds
    ]
