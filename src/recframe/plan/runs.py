"""How the plans of a call are run: left lazy, after questions to a large eager frame, or a part of the users at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import polars as pl

from recframe.frames.collecting import Ask, stream
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.engine import MOST, Adds
from recframe.frames.kinds.kind import Kind
from recframe.frames.rows.joins import aggregate
from recframe.judging.judged_frame import judge
from recframe.judging.settled import models_of
from recframe.plan.user_values import HeldValues


@dataclass(frozen=True)
class Run:
    """One plan over all users, which whoever asked for it collects; or several, each over a part of them."""

    ask: Ask | None = None
    """Collects questions to a large eager frame, whose answers allow a simpler plan; no answer changes a number."""
    n_parts: int = 1
    """How many parts of the users have plans of their own, each in the memory that it takes alone."""
    n_plans: int = 1
    """How many plans each part takes."""
    held: HeldValues | None = None
    """Values of users that were collected before, of the same frames."""
    tell: Callable[[float], object] | None = None
    """Is called with the share of the parts' plans that are done."""
    done: list[int] = field(default_factory=list)
    """The heights of the frames that were collected."""
    adds: Adds | None = None
    """Adds up sums over a bucket of users and those over all other buckets."""

    @classmethod
    def of(cls, kind: Kind, held: HeldValues | None = None) -> Run:
        """Return how the plans of a frame are run."""
        return cls(kind.asks, held=held, adds=kind.adds)

    @property
    def is_divided(self) -> bool:
        """Whether a plan has some of the users alone."""
        return self.n_parts > 1 or self.adds is not None

    @property
    def is_plain(self) -> bool:
        """Whether a plan is all that there is to run: nothing is asked ahead of it, held, or added up."""
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
        """Return the sums of all parts, added up by the keys; columns in `same` are the same in each part.

        A user has rows in one part alone, so that with the user as a key there is nothing to add.
        """
        if self.adds is not None:
            return self.adds(sums[0], keys, same)
        if len(sums) == 1:
            return sums[0]
        found = pl.concat([self._collected(one) for one in sums]).lazy()
        if "user" in keys:
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
