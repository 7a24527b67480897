"""Execution of plans: lazy, with precomputation, or in parts of users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

from recframe.evaluation.user_values import HeldValues
from recframe.frames.collecting import Ask, stream
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.engine import MOST, Adds
from recframe.frames.kinds.kind import Kind
from recframe.frames.rows.joins import aggregate
from recframe.ranking.judged_frame import judge
from recframe.ranking.precomputed import models_of


@dataclass(frozen=True)
class Run:
    """Execution of a plan: over all users, or part by part."""

    ask: Ask | None = None
    """Function that collects precomputed plans of a large eager frame; results do not change."""
    n_parts: int = 1
    """Number of parts of users with plans of their own, run one at a time to limit memory."""
    n_plans: int = 1
    """Number of plans per part."""
    held: HeldValues | None = None
    """Cached users' values of the same frames."""
    tell: Callable[[float], object] | None = None
    """Callback with the share of finished plans."""
    done: list[int] = field(default_factory=list)
    """Heights of collected frames."""
    adds: Adds | None = None
    """Function that adds up sums over buckets of users."""

    @classmethod
    def of(cls, kind: Kind, held: HeldValues | None = None) -> Run:
        """Return the execution of a frame's plans."""
        return cls(kind.asks, held=held, adds=kind.adds)

    @property
    def is_divided(self) -> bool:
        """Whether a plan has some of the users alone."""
        return self.n_parts > 1 or self.adds is not None

    @property
    def is_plain(self) -> bool:
        """Whether the plan runs as it is, without precomputation, cached values or added sums."""
        return self.ask is None and self.held is None and not self.is_divided

    def parts(self, inputs: Inputs) -> list[Inputs]:
        """Return the inputs part by part; together they have every row that has a user."""
        return (
            [inputs.part(number, self.n_parts) for number in range(self.n_parts)]
            if self.n_parts > 1
            else [inputs]
        )

    def models(self, inputs: Inputs) -> pl.LazyFrame | None:
        """Return the models of all parts, of which one may not show all; None leaves it to the plan to look for them."""
        if self.held is not None and self.held.models is not None:
            return self.held.models.lazy()
        if self.ask is not None and inputs.model and inputs.tables is None:
            return models_of(inputs).lazy()
        return judge(inputs).models if self.n_parts > 1 else None

    def added(
        self, sums: Sequence[pl.LazyFrame], keys: Sequence[str], same: Sequence[str] = ()
    ) -> pl.LazyFrame:
        """Return the sums of all parts, or of all folds, added up by the keys; columns in `same` are the same in each.

        A user has rows in one part alone, so that with the user as a key there is nothing to add; in folds as in any frames.
        """
        if self.adds is not None:
            return self.adds(sums[0], keys, same)
        if len(sums) == 1:
            return sums[0]
        is_apart = self.n_parts > 1
        found = pl.concat([self._collected(one).lazy() if is_apart else one for one in sums])
        if is_apart and "user" in keys:
            return found
        values = [name for name in found.collect_schema().names() if name not in keys]
        return aggregate(found, keys, [_added(name, same) for name in values])

    def _collected(self, sums: pl.LazyFrame) -> pl.DataFrame:
        found = stream(sums)
        self.done.append(len(found))
        if self.tell is not None:
            self.tell(len(self.done) / (self.n_parts * self.n_plans))
        return found


def _added(name: str, same: Sequence[str]) -> pl.Expr:
    """Return a column of all parts together."""
    column = pl.col(name)
    if name in same:
        return column.first()
    return column.max() if name.startswith(MOST) else column.sum()
