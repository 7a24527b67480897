"""Lazy frames whose answers are wanted at once: plans are collected by the streaming engine, and what is seen is told."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from recframe.frames.kinds.polars_lazyframe import LazyPolars


@dataclass(frozen=True)
class Streamed:
    """A LazyFrame of files that are larger than memory, or may be."""

    frame: pl.LazyFrame


class StreamedPolars(LazyPolars):
    """A polars.LazyFrame that answers with DataFrames."""

    collects = True

    def __init__(self, frame: Streamed) -> None:
        super().__init__(frame.frame)


KIND = StreamedPolars
