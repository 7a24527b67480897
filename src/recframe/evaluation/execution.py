"""Execution of plans: lazy, with precomputation, or over some of the users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from recframe.evaluation.user_values import HeldValues
from recframe.frames.collecting import Ask
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.engine import MOST, Adds
from recframe.frames.kinds.kind import Kind
from recframe.frames.rows.joins import aggregate
from recframe.ranking.precomputed import models_of


@dataclass(frozen=True)
class Run:
    """Execution of a plan: over all users, or over some of them."""

    ask: Ask | None = None
    """Function that collects precomputed plans of a large eager frame; results do not change."""
    held: HeldValues | None = None
    """Cached users' values of the same frames."""
    adds: Adds | None = None
    """Function that adds up sums over some users to those of all."""
    in_one_round: bool = False
    """Whether the rows are seen once, so that no sums of contributions are made, which read those of all lists first."""

    @classmethod
    def of(cls, kind: Kind, held: HeldValues | None = None) -> Run:
        """Return the execution of a frame's plans."""
        adds = None if kind.all_users is None else kind.all_users.adds
        return cls(kind.asks, held, adds, in_one_round=kind.in_one_round)

    @property
    def is_divided(self) -> bool:
        """Whether a plan has some of the users alone."""
        return self.adds is not None

    @property
    def is_plain(self) -> bool:
        """Whether the plan runs as it is, without precomputation, cached values or added sums."""
        return self.ask is None and self.held is None and not self.is_divided

    def models(self, inputs: Inputs) -> pl.LazyFrame | None:
        """Return the models, if they are known; None leaves it to the plan to look for them."""
        if self.held is not None and self.held.models is not None:
            return self.held.models.lazy()
        if self.ask is not None and inputs.model and not inputs.is_part:
            return models_of(inputs).lazy()
        return None

    def added(
        self, sums: Sequence[pl.LazyFrame], keys: Sequence[str], same: Sequence[str] = ()
    ) -> pl.LazyFrame:
        """Return the sums of all folds and of all users, added up by the keys; columns in `same` are the same in each."""
        found = sums[0]
        if len(sums) > 1:
            rows = pl.concat(sums)
            values = [name for name in rows.collect_schema().names() if name not in keys]
            found = aggregate(rows, keys, [_added(name, same) for name in values])
        return found if self.adds is None else self.adds(found, keys, same)


def _added(name: str, same: Sequence[str]) -> pl.Expr:
    """Return a column of all folds together."""
    column = pl.col(name)
    if name in same:
        return column.first()
    return column.max() if name.startswith(MOST) else column.sum()
