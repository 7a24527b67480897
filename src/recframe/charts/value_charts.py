"""Charts of values: models, segments, cut-offs and ranks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.charts.formatting import per_cent
from recframe.charts.forms import (
    ENDS,
    Charts,
    Field,
    canvas,
    dots,
    finished,
    leader,
    of_metric,
)
from recframe.charts.long_format import at_level, named, one_metric, reached, summary
from recframe.errors import RecframeError
from recframe.metrics import accuracy
from recframe.metrics.language import registry
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Definition, Metric
from recframe.metrics.language.registry import By, Cutoffs
from recframe.statistics import options

if TYPE_CHECKING:
    import altair as alt

CUTOFFS = range(1, 51)
LAST = pl.col("k") == pl.col("k").max()
OF_K = Field("k", "k = {}", axis="cut-off k", format="d")
RANK = Field("rank", "rank {}", axis="rank (1 is the first place)", format="d")
SHARE = Field(
    "value",
    "{} of lists have a hit",
    per_cent,
    ENDS,
    axis="share of lists with a hit at the rank",
    format="%",
)
RECALL, PRECISION = (
    Field(name, f"{name} {{}}", axis=f"{name}@k (higher is better)")
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
        self._whole("models")
        one = one_metric("models", metric, k)
        return self._dots(one, f"{one} of each model", "model", level=level, cluster=cluster)

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
        one, how = one_metric("segments", metric, k), {"level": level, "cluster": cluster}
        return self._dots(one, f"{one}", "label", most, by=by, **how)

    def _dots(
        self, metric: Metric[...], title: str, row: str, most: int = 1, **options: Any
    ) -> alt.LayerChart:
        """Draw a metric in rows of models, or of segments."""
        found, value = summary(self._rec, [metric], **options), of_metric(metric)
        if row == "label" and not found.by:
            msg = "plot.segments needs the columns that make segments, such as by='country'; compare(...) compares models"
            raise RecframeError(msg)
        of = canvas(self._look, found, value, [value], most=most)
        how = at_level(options["level"], options["cluster"])
        said = f"Means over {of.users}, with intervals at {how}."
        chart = dots(of, row, of.ranked if row == "model" else of.labels)
        return finished(chart, of, title, said, leader(of, metric))

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
        rec, plain = self._whole("curve"), registry.asked([metric], None)[0]
        if plain.k is not None or k is None:
            name = str(replace(plain, k=None))
            msg = f"curve draws {name!r} over cut-offs: curve({name!r}, k=range(1, 51))"
            raise RecframeError(msg)
        how = {"level": level, "cluster": cluster}
        found = summary(rec, reached(rec, registry.asked([plain], k)), **how)
        said, title = (
            f"Mean over {{}}; band: interval at {at_level(**how)}.",
            f"{plain} over the cut-off k",
        )
        return self._lines(found, OF_K, of_metric(plain), title, said, LAST)

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
        rec, ranks = self._whole("hits_by_rank"), range(1, options.whole("k", k, 1) + 1)
        how = {"level": level, "cluster": cluster}
        found = summary(rec, reached(rec, registry.asked([HIT_AT], ranks)), **how)
        found = found._replace(data=found.data.rename({"k": "rank"}))
        said = f"Of {{}}; the shares add up to n_hits@k; band: interval at {at_level(**how)}."
        return self._lines(found, RANK, SHARE, "Hits by rank", said, pl.col("rank") == 1)

    def precision_recall(self, *, k: Cutoffs = CUTOFFS) -> alt.LayerChart:
        """Draw precision@k over recall@k: a line for each model, with a point for each k.

        The numbers are those of `evaluate("precision", "recall", k=k)`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.precision_recall(k=[1, 2]).data.select("k", "recall", "precision").rows()
        [(1, 0.0, 0.0), (2, 1.0, 0.5)]
        """
        rec = self._whole("precision_recall")
        metrics = reached(rec, registry.asked([accuracy.precision, accuracy.recall], k))
        found = named(rec, rec.evaluate(metrics, tidy=True))
        rows = found.data.rename({"n": "n_users", "value": "recall"})
        other = rows.filter(metric="precision").select(precision="recall")
        found = found._replace(data=rows.filter(metric="recall").hstack(other))
        title, said = "Precision over recall, by cut-off", "Along each line k grows; mean over {}."
        more, at = [OF_K], {"zero": True}
        return self._lines(found, RECALL, PRECISION, title, said, LAST, more=more, **at)
