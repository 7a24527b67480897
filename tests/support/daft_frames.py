"""Frames of Daft."""

from __future__ import annotations

import os
from typing import Any

import polars as pl

from frame_kinds import Kind

os.environ.setdefault("DAFT_PROGRESS_BAR", "0")
os.environ.setdefault("DO_NOT_TRACK", "true")
os.environ.setdefault("RECFRAME_DAFT_BUCKETS", "4")


def made(frame: pl.DataFrame) -> Any:
    """A frame of Daft's."""
    import daft  # noqa: PLC0415  where it is installed

    return daft.from_arrow(frame.to_arrow())


def read(frame: Any) -> pl.DataFrame:
    """The rows of a frame of Daft's."""
    return pl.DataFrame(frame.to_arrow())


DAFT = Kind("daft", made, read)
