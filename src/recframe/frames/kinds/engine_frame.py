"""A frame that an engine holds, as a kind: its names and dtypes are known, its rows are the engine's."""

from __future__ import annotations

from typing import NoReturn

import polars as pl

from recframe.errors import RecframeError
from recframe.frames.kinds.engine import Engine
from recframe.frames.kinds.kind import Kind, Named, Names


class EngineFrame(Kind):
    """A frame of an engine."""

    engine: Engine
    is_lazy = True
    from_polars = ""
    """How the lists become a frame of it."""
    to_local = ""
    """How a side frame of it becomes one of this process."""

    @property
    def schema(self) -> pl.Schema:
        """The dtypes that the columns have in Polars."""
        return pl.DataFrame(self.engine.none(self.frame)).schema

    def take(self, named: Named, ids: Names = (), numbers: Names = ()) -> NoReturn:
        """Say that the lists have to be the engine's, too."""
        del named, ids, numbers
        name = self.engine.name
        msg = (
            f"a side frame is of {name} and the lists are not: give them to {name}, {self.from_polars}, or take the side "
            f"frame from it, {self.to_local}"
        )
        raise RecframeError(msg)
