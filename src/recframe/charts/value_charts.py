"""Charts of values: models, segments, cut-offs and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.charts.formatting import per_cent
from recframe.charts.forms import (
    ENDS,
    Charts,
    Field,
    canvas,
    curves,
    dots,
    finished,
    leader,
    of_metric,
)
from recframe.charts.long_format import (
    Intervals,
    longest_list,
    named,
    one_metric,
    summary,
    whole,
)
from recframe.errors import RecframeError
from recframe.frames import options
from recframe.metrics import accuracy
from recframe.metrics.language import registry
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Definition, Metric
from recframe.metrics.language.registry import By, Cutoffs

if TYPE_CHECKING:
    import altair as alt

CUTOFFS = range(1, 51)
OF_K = Field("k", "k = {}", axis="cut-off k", format="d")
RANK = Field("rank", "rank {}", axis="rank (1 is the first place)", format="d")
SHARE = Field(
    "value",
    "{} of lists have a hit",
    per_cent,
    ENDS,
    axis="share of lists with a hit at the rank",
    format="%",
    best="most hits",
)
RECALL, PRECISION = (
    Field(name, f"{name} {{}}", axis=f"{name}@k (higher is better)", best=f"best {name}")
    for name in ("recall", "precision")
)


def _hit_at_k(at: At) -> pl.Expr:
    """Return 1 for a hit at rank k alone, expected with ties."""
    here = at.sum(lambda hit: hit.hit.cast(pl.Float64) * (hit.rank > float(at.k or 0) - 1))
    return here.clip(upper_bound=1.0)


HIT_AT = Metric[...](Definition("hit_at", _hit_at_k, range=(0.0, 1.0), linear=True))
"""Metric of the chart of hits by rank."""


class PlotsOfValues(Charts):
    """Charts of models, segments, cut-offs and ranks."""

    def models(
        self,
        metric: str | Metric[...],
        *,
        k: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw a metric of each model, the best first: a dot with its interval.

        The numbers are those of `summarize(metric)`. Intervals of two models that overlap do not say that the models are alike,
        since both have the same users: `compare` draws their difference.

        Raises what `summarize` raises.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": [1, 2], "item": [1, 2]})
        >>> recs = {name: truth.with_columns(rank=pl.lit(rank)) for name, rank in {"a": 2, "b": 1}.items()}
        >>> rf.rec(recs, truth=truth).plot.models("mrr").data.select("model", "value").rows()
        [('b', 1.0), ('a', 0.5)]
        """
        whole(self._rec, "models()")
        return self._dots(one_metric("models", metric, k), Intervals(level, cluster))

    def segments(
        self,
        metric: str | Metric[...],
        *,
        by: By = None,
        k: int | None = None,
        most: int = 30,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw a metric in each segment, the largest first: dots with intervals, and in brackets the number of users.

        The numbers are those of `summarize(metric, by=by)`.

        Segments are in the order of their users, most first; those of an enum in its own. Intervals of fewer than ten users
        are not drawn, since they would stretch the axis.

            by: the columns, or none where `group_by` has bound them. most: so many segments are shown, the largest.

        Raises what `summarize` raises, and a RecframeError without a column.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["DE", "FR"]})
        >>> chart = df.rec.plot.segments("mrr", by="country")
        >>> chart.data.select("segment", "value", "n_users").rows()
        [('DE', 1.0, 1), ('FR', 0.5, 1)]
        """
        how = Intervals(level, cluster)
        return self._dots(one_metric("segments", metric, k), how, most, by, of_segments=True)

    def _dots(
        self,
        metric: Metric[...],
        how: Intervals,
        most: int = 1,
        by: By = None,
        *,
        of_segments: bool = False,
    ) -> alt.LayerChart:
        """Draw a metric of each model, or of each segment."""
        found, value = summary(self._rec, [metric], how, by), of_metric(metric)
        if of_segments and not found.by:
            msg = "plot.segments needs the columns that make segments, such as by='country'; compare(...) compares models"
            raise RecframeError(msg)
        of = canvas(self._look, found, value, [value], most=most)
        row, order = ("label", of.labels) if of_segments else ("model", of.ranked)
        said = f"Means over {of.users}, with intervals at {how.words}."
        title, finding = f"{metric}", leader(of, "label", "in {} segments")
        title += "" if of_segments else " of each model"
        return finished(dots(of, row, order), of, title, said, finding)

    def curve(
        self,
        metric: str | Metric[...],
        *,
        k: Cutoffs = CUTOFFS,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw a metric over the cut-off k: a line for each model, and a band for its intervals.

        The numbers are those of `summarize(metric, k=k)`; without users there is nothing but the axes, and the chart says so.

            metric: without a cut-off of its own. k: the cut-offs; those beyond the longest list are left out.
            level, cluster: of the intervals, as in `summarize`.

        Raises what `summarize` raises, and a RecframeError for a metric with an `@`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.curve("recall", k=[1, 2]).data.select("k", "value", "n_users").rows()
        [(1, 0.5, 2), (2, 1.0, 2)]
        """
        rec, how = whole(self._rec, "curve()"), Intervals(level, cluster)
        plain = registry.asked([metric], None)[0]
        if plain.k is not None or k is None:
            name = str(replace(plain, k=None))
            msg = f"curve draws {name!r} over cut-offs: curve({name!r}, k=range(1, 51))"
            raise RecframeError(msg)
        found = summary(rec, _reached(rec, registry.asked([plain], k)), how)
        value, last = of_metric(plain), max(found.data["k"], default=0)
        of = canvas(self._look, found, value, [OF_K, value])
        chart = curves(of, OF_K.along(of.across, nice=False))
        said = f"Mean over {of.users}; band: interval at {how.words}."
        finding, read = leader(of, "k", "at {} cut-offs"), of.data.filter(k=last)
        return finished(chart, of, f"{plain} over the cut-off k", said, finding, read)

    def hits_by_rank(
        self,
        *,
        k: int = 20,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw the share of lists with a hit at each rank from 1 to k, or to the end of the longest list, with intervals.

        The share at r is n_hits@r - n_hits@(r - 1), so that the shares add up to n_hits@k; of several hits at one rank in one
        list, one counts. A user without a hit counts 0.

            level, cluster: of the intervals, which are those of `summarize`: Wilson's.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.hits_by_rank(k=3).data.select("rank", "value").rows()
        [(1, 0.5), (2, 0.5)]
        """
        rec, how = whole(self._rec, "hits_by_rank()"), Intervals(level, cluster)
        ranks = range(1, options.whole("k", k, 1) + 1)
        found = summary(rec, _reached(rec, registry.asked([HIT_AT], ranks)), how)
        found = found._replace(data=found.data.rename({"k": "rank"}))
        of = canvas(self._look, found, SHARE, [RANK, SHARE])
        chart = curves(of, RANK.along(of.across, nice=False))
        said = f"Of {of.users}; the shares add up to n_hits@k; band: interval at {how.words}."
        finding, read = leader(of, "rank", "at {} ranks"), of.data.filter(rank=1)
        return finished(chart, of, "Hits by rank", said, finding, read)

    def precision_recall(self, *, k: Cutoffs = CUTOFFS) -> alt.LayerChart:
        """Draw precision@k over recall@k: a line for each model, with a point for each k.

        The numbers are those of `evaluate("precision", "recall", k=k)`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.precision_recall(k=[1, 2]).data.select("k", "recall", "precision").rows()
        [(1, 0.0, 0.0), (2, 1.0, 0.5)]
        """
        rec = whole(self._rec, "precision_recall()")
        metrics = _reached(rec, registry.asked([accuracy.precision, accuracy.recall], k))
        found = named(rec, rec.evaluate(metrics, tidy=True))
        rows = found.data.rename({"n": "n_users", "value": "recall"})
        other = rows.filter(metric="precision").select(precision="recall")
        found = found._replace(data=rows.filter(metric="recall").hstack(other))
        of = canvas(self._look, found, PRECISION, [OF_K, PRECISION, RECALL])
        chart = curves(of, RECALL.along(of.across, zero=True))
        last = max(of.data["k"], default=0)
        said = f"Along each line k goes up to {last}; mean over {of.users}."
        finding, read = leader(of, "k", "at {} cut-offs"), of.data.filter(k=last)
        return finished(chart, of, "Precision over recall, by cut-off", said, finding, read)


def _reached(rec: Any, metrics: Sequence[Metric[...]]) -> list[Metric[...]]:
    """Return the metrics whose cut-offs the longest list reaches, and those with the first cut-off."""
    last = max(longest_list(rec) or 0, min(one.k or 0 for one in metrics))
    return [one for one in metrics if (one.k or 0) <= last]
