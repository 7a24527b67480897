"""The methods of `rec` that say how sure numbers are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal

import polars as pl

from recframe.conventions import under_profile
from recframe.errors import ColumnError
from recframe.frames.hints import Given
from recframe.metrics.language import registry
from recframe.namespace import calls
from recframe.namespace.bound_metric import Asked, By, Cutoffs, F
from recframe.plan.beside import SPREAD
from recframe.plan.segments import keys_of, numbered
from recframe.uncertainty import summary

Method = Literal["auto", "t", "bootstrap"]


class Uncertain(Generic[F]):
    """The methods of `rec` that say how sure numbers are."""

    @calls.understood
    def summarize(  # noqa: PLR0913  those of evaluate, and how intervals are made
        self,
        *metrics: Asked,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        method: Method = "auto",
        cluster: str | None = None,
        n_resamples: int = 2000,
        seed: int = 0,
        profile: str | None = None,
    ) -> F:
        """Return metrics with their intervals, a row for each segment, model and metric.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1, 2], "item": [1, 2, 1], "rank": [1, 2, 1], "relevance": [0, 1, 1]})
        >>> df.rec.summarize("mrr").select("metric", "value", "value_low", "value_high", "n_users")
        """
        found = registry.asked(registry.each(metrics), k)
        rec: Any = self
        names = [*calls.names(by), *([] if cluster is None else [cluster])]
        inputs = rec._inputs(names, profile, found)  # noqa: SLF001  the methods of this class are those of a Rec
        asked = under_profile.asked(inputs.context, found)
        wide = rec._evaluated(inputs, asked, SPREAD)  # noqa: SLF001
        by_names = [name for _, name in keys_of(inputs, found)]
        keys = [f"key {place}" for place in range(len(by_names))]
        planned = [one.metric for one in asked]
        wide = numbered(wide, keys)
        if cluster is not None:
            wide = summary.of_clusters(wide, keys, planned)
            keys, by_names = keys[:-1], by_names[:-1]
        _check_names(by_names, summary.COLUMNS)
        how = summary.Intervals(level, method)
        long = summary.summarized(wide, keys, planned, how)
        named = (pl.col(key).alias(name) for key, name in zip(keys, by_names, strict=True))
        return rec._kind.give(long.select(*named, *summary.COLUMNS), inputs.sources)


def _check_names(names: Sequence[str], columns: Mapping[str, object]) -> None:
    for name in names:
        if name in columns:
            msg = (
                f"{Given('by', name)} is also the name of a result column; rename the column before"
            )
            raise ColumnError(msg)
