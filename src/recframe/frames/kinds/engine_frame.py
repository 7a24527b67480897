"""A frame that an engine holds, as a kind: its names and dtypes are known, its rows are the engine's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.kinds.engine import Engine
from recframe.frames.kinds.kind import Kind, Seen, Taken
from recframe.frames.kinds.polars_dataframe import may_be_labels, of_numbers


class EngineFrame(Kind):
    """A frame of an engine."""

    engine: Engine
    is_lazy = True
    from_polars = ""
    """How the lists become a frame of it."""
    to_local = ""
    """How a side frame of it becomes one of this process."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.frame.columns)

    def labels(self) -> list[str]:
        """Return the names of the columns whose values may be labels."""
        return may_be_labels(self._schema)

    def numbers(self) -> list[str]:
        """Return the names of the columns of numbers."""
        return of_numbers(self._schema)

    @property
    def _schema(self) -> pl.Schema:
        return pl.DataFrame(self.engine.none(self.frame)).schema

    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Taken:
        """Say that the lists have to be the engine's, too."""
        del named, ids, numbers
        name = self.engine.name
        msg = (
            f"a side frame is of {name} and the lists are not: give them to {name}, {self.from_polars}, or take the side "
            f"frame from it, {self.to_local}"
        )
        raise RecframeError(msg)

    def give(
        self,
        plan: pl.LazyFrame,
        sources: Mapping[str, Any],
        seen: Seen | None = None,
        columns: Sequence[str] | None = None,
    ) -> Any:
        """Say that plans of Polars have no result in an engine."""
        del plan, sources, seen, columns
        raise NotImplementedError

    def rows(self, result: Any) -> None:
        """Return None: nothing is collected."""
        del result
