"""Frames of an engine, and their rows as Arrow tables."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NoReturn

import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]  # comes with every engine

from recframe.errors import RecframeError
from recframe.frames.kinds.engine import Engine, Routed, columns_of
from recframe.frames.kinds.kind import Kind, Named, Names, stream
from recframe.frames.kinds.pyarrow_frames import Arrow, in_plain_types, without_rows


class OfTables(Engine):
    """An engine whose rows travel as Arrow tables, in types that every engine has."""

    @abstractmethod
    def none(self, frame: Any) -> pa.Table:
        """Return a table without rows, whose schema is a frame's."""

    def schema(self, frame: Any) -> pl.Schema:
        """Return the dtypes that a frame's columns have in a bucket."""
        return Arrow(in_plain_types(self.none(frame))).schema

    def sent(self, schema: pl.Schema) -> pl.Schema:
        """Return the dtypes that columns of a local frame have in a bucket."""
        return pl.DataFrame(without_rows(schema)).schema


def local_rows(one: Routed) -> pl.DataFrame:
    """Return the columns that are read of a frame of this process."""
    return stream(columns_of(one.frame, one.columns))


class EngineFrame(Kind):
    """A frame of an engine."""

    engine: Engine
    is_lazy = True
    from_polars = ""
    """Python code in messages that converts the lists to a frame of this engine."""
    to_local = ""
    """Python code in messages that converts a side frame to a local one."""

    @property
    def schema(self) -> pl.Schema:
        """The dtypes that the columns have in Polars."""
        return self.engine.schema(self.frame)

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> NoReturn:
        """Say that the lists have to be the engine's, too."""
        del named, ids, numbers
        name = self.engine.name
        raise RecframeError(
            f"a side frame is a frame of {name}, but the lists are not: give the lists to {name}, {self.from_polars}, or "
            f"collect the side frame, {self.to_local}"
        )
