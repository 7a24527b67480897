"""Lazy frames whose answers are wanted at once: plans are collected by the streaming engine, and what is seen is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.frames.collecting import stream
from recframe.frames.kinds.kind import Applied, Seen, chosen
from recframe.frames.kinds.polars_lazyframe import LazyPolars


@dataclass(frozen=True)
class Streamed:
    """A LazyFrame of files that are larger than memory, or may be."""

    frame: pl.LazyFrame


class StreamedPolars(LazyPolars):
    """A polars.LazyFrame that answers with DataFrames."""

    def __init__(self, frame: Streamed) -> None:
        super().__init__(frame.frame)

    def applied(self, plan: pl.LazyFrame, to: Applied, schema: pl.Schema) -> pl.LazyFrame:
        """Return what a function makes of a plan's result, which is collected."""
        del schema
        return to(stream(plan)).lazy()

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Mapping[str, Any],
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:
        """Return a plan's result, collected."""
        del sources
        result = stream(plan)
        if seen is not None:
            seen(result, stream)
        return chosen(result, columns)


KIND = StreamedPolars
