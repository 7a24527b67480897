"""What a call on uncertainty asks: metrics by segment, of users who may hang together, and how its result is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import ColumnError, RecframeError, shown
from recframe.frames.hints import Given
from recframe.frames.inputs import GROUP, Inputs
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.namespace import calls
from recframe.namespace.bound_metric import Asked, By, Cutoffs
from recframe.plan.evaluation import Convention
from recframe.plan.segments import keys_of
from recframe.uncertainty.pairs import BASELINE, MODEL


@dataclass(frozen=True)
class Question:
    """What is asked of a frame: metrics by segment, of users who may hang together in clusters."""

    rec: Any
    inputs: Inputs
    conventions: list[Convention]
    cluster: str | None
    """The name inside the plan of the column that names clusters, which is the last segment."""

    @property
    def metrics(self) -> list[Metric[...]]:
        """The metrics with all their parameters, one for each column."""
        return [one.metric for one in self.conventions]

    @property
    def by(self) -> dict[str, str]:
        """The key columns of the result, by their names inside the plan."""
        return {
            inside: name
            for inside, name in keys_of(self.inputs, self.metrics)
            if inside not in {self.cluster, GROUP}
        }

    def given(self, plan: pl.LazyFrame, names: Mapping[str, str], columns: Sequence[str]) -> Any:
        """Return a result under the names of its columns, as a frame of the kind that came in."""
        taken = [*columns, *names.values()]
        for name in names.values():
            if taken.count(name) > 1:
                msg = f"{Given('by', name)} is also the name of a result column; rename the column before"
                raise ColumnError(msg)
        named = plan.select(
            *(pl.col(inside).alias(name) for inside, name in names.items()), *columns
        )
        sources = dict(self.inputs.sources)
        if BASELINE in names:
            sources[names[BASELINE]] = sources.get(names[MODEL])
        kind = self.rec._kind  # noqa: SLF001  the methods of this room are those of a Rec
        return kind.give(named, sources)


def question(
    rec: Any,
    metrics: Sequence[Asked],
    k: Cutoffs,
    by: By,
    cluster: str | None,
    profile: str | None,
) -> Question:
    """Return what is asked, or say why there is no such thing."""
    found = registry.asked(registry.each(metrics), k)
    names = calls.names(by)
    if cluster is not None and not isinstance(cluster, str):
        msg = f"cluster={shown(cluster)}: cluster takes the name of a column, such as 'household'"
        raise RecframeError(msg)
    inputs = rec._inputs([*names, *([cluster] if cluster else [])], profile, found)  # noqa: SLF001
    if any(one.inside == "user" for one in inputs.segments):
        msg = f"{Given('by', inputs.context.name_of('user'))}: one user has no interval; evaluate(by='user') has the values"
        raise RecframeError(msg)
    inside = None if cluster is None else inputs.segments[-1]
    if inside is not None and inside.name != cluster:
        msg = f"cluster={cluster!r} is a column of by= too; users of one cluster may then not stand in one segment"
        raise RecframeError(msg)
    asked = under_profile.asked(inputs.context, found)
    return Question(rec, inputs, asked, None if inside is None else inside.inside)
