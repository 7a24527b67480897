"""The kind of frame of `many_frames`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import polars as pl

from many_frames import InProcess
from recframe.frames.kinds.kind import Kind


class Many(Kind):
    engine = InProcess()
    is_lazy = True

    @property
    def columns(self) -> list[str]:
        return self.frame.rows.column_names

    def labels(self) -> list[str]:
        return []

    def numbers(self) -> list[str]:
        return []

    def take(
        self, named: Mapping[str, str], ids: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Any:
        raise NotImplementedError

    def give(self, plan: pl.LazyFrame, sources: Mapping[str, Any], seen: Any = None) -> Any:
        raise NotImplementedError

    def rows(self, result: Any) -> None:
        del result


KIND = Many
