"""Charts of values: models, segments, cut-offs and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl

from recframe.charts.formatting import per_cent
from recframe.charts.forms import (
    ENDS,
    HEIGHT,
    OF_VIEW,
    USERS,
    Charts,
    Field,
    best_of,
    curves,
    dots,
    finished,
    leader,
    of_metric,
    views,
)
from recframe.charts.long_format import (
    Intervals,
    check_whole,
    in_columns,
    longest_list,
    named,
    noun_of,
    one_metric,
    summary,
)
from recframe.errors import RecframeError
from recframe.frames.hints import Given
from recframe.metrics import accuracy
from recframe.metrics.language import registry
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Definition, Metric
from recframe.metrics.language.registry import By, Cutoffs
from recframe.statistics import options

if TYPE_CHECKING:
    import altair as alt

CUTOFFS = range(1, 51)
OF_K = Field("k", "k = {}", axis="cut-off k", format="d")


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
        check_whole(self._rec, "models()")
        metric, how = one_metric("models", metric, k), Intervals(level, cluster)
        found, lower = summary(self._rec, [metric], how), metric.direction == "lower"
        value, noun = of_metric(metric), noun_of(metric)
        told = [value, USERS._replace(title=f"{{}} {noun}s")]
        of = self._canvas(found, value, told, lower=lower)
        subtitle = f"Means over {of.users(noun)}, with intervals at {how.words}."
        finding = leader(of, "place", what=best_of(metric))
        return finished(
            dots(of, "model", of.ranked), of, f"{metric} of each model", subtitle, finding
        )

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
        """Draw a metric in each segment, the best first: dots with intervals, and in brackets the number of users.

        The numbers are those of `summarize(metric, by=by)`; `slices` has pooled estimates of small segments.

        Segments are in the order of their values, the best first; those of an enum in its own. Intervals of fewer than ten
        users are not drawn, since they would stretch the axis.

            by: the columns, or none where `group_by` has bound them. most: so many segments are shown, the largest.

        Raises what `summarize` raises, and a RecframeError without a column.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["DE", "FR"]})
        >>> chart = df.rec.plot.segments("mrr", by="country")
        >>> chart.data.select("segment", "value", "n_users").rows()
        [('DE', 1.0, 1), ('FR', 0.5, 1)]
        """
        metric, how = one_metric("segments", metric, k), Intervals(level, cluster)
        found, lower = summary(self._rec, [metric], how, by), metric.direction == "lower"
        if not found.by:
            msg = "plot.segments needs the columns that make segments: segments(..., by='country')"
            if by is not None:
                msg = (
                    f"{Given('by', by)}: plot.segments draws segments; compare(...) compares models"
                )
            raise RecframeError(msg)
        value = of_metric(metric)
        of = self._canvas(found, value, [value], lower=lower, most=most)
        subtitle = f"Dots: means with intervals at {how.words}; in brackets: users."
        finding = leader(of, "label", "in {} segments", best_of(metric))
        return finished(
            dots(of, "label", of.labels), of, f"{metric} by {found.by}", subtitle, finding
        )

    def curve(
        self,
        metric: str | Metric[...],
        *,
        k: Cutoffs = CUTOFFS,
        by: By = None,
        mark: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart | alt.FacetChart:
        """Draw a metric over the cut-off k: a line for each model, and a band for its intervals.

        The numbers are those of `summarize(metric, k=k, by=by)`; without users there is nothing but the axes, and the chart
        says so. By segment there is a view for each, at most twelve: those with the most users.

            metric: without a cut-off of its own. k: the cut-offs; those beyond the longest list are left out.
            mark: a cut-off to point at, such as the k that decides. level, cluster: of the intervals, as in `summarize`.

        Raises what `summarize` raises, and a RecframeError for a metric with an `@`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.curve("recall", k=[1, 2]).data.select("k", "value", "n_users").rows()
        [(1, 0.5, 2), (2, 1.0, 2)]
        """
        how, plain = Intervals(level, cluster), registry.asked([metric], None)[0]
        mark = None if mark is None else options.whole("mark", mark, 1)
        if plain.k is not None or k is None:
            name = str(replace(plain, k=None))
            msg = f"curve draws {name!r} over cut-offs: curve({name!r}, k=range(1, 51))"
            raise RecframeError(msg)
        found = summary(self._rec, self._reached(registry.asked([plain], k)), how, by)
        mark = mark if mark in found.data["k"] else None
        last = mark or max(found.data["k"], default=0)
        value, at = of_metric(plain), found.data.filter(k=last)
        value = value._replace(axis=str(plain)) if found.by else value
        noun = noun_of(plain)
        told = [OF_K, value, *[USERS._replace(title=f"{{}} {noun}s")] * (not found.by)]
        of = self._canvas(found, value, told, at=at, lower=plain.direction == "lower", most=12)
        x = OF_K.along(of.across, nice=False)
        y = value.along(OF_VIEW if found.by else HEIGHT, zero=True)
        rule = of.base(x={"datum": last}).transform_aggregate(rows="count()")
        rule = rule.mark_rule(strokeDash=[2, 3], color=self._look.colours.quiet)
        lines = curves(of, x, y, more=[rule] * bool(mark))
        said = f"; band: interval at {how.words}" + f"; dashed: k = {mark}" * bool(mark) + "."
        read, title = of.data.filter(k=last), f"{plain} over the cut-off k"
        if found.by:
            chart = views(lines, self._look, "label", of.labels)
            title, said = f"{title}, by {found.by}", f"In brackets: users{said}"
            where = f"at k = {last} in {{}} segments"
            finding = leader(of._replace(data=read), "label", where, best_of(plain))
            return finished(chart, of, title, said, finding, read)
        finding = leader(of, "k", "at {} cut-offs", best_of(plain))
        return finished(lines, of, title, f"Mean over {of.users(noun)}{said}", finding, read)

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
        check_whole(self._rec, "hits_by_rank()")
        how, ranks = Intervals(level, cluster), range(1, options.whole("k", k, 1) + 1)
        found = summary(self._rec, self._reached(registry.asked([HIT_AT], ranks)), how)
        found = found._replace(data=found.data.rename({"k": "rank"}))
        share = "share of lists with a hit at the rank"
        value = Field("value", "{} of lists have a hit", per_cent, ENDS, share, "%")
        rank = Field("rank", "rank {}", axis="rank (1 is the first place)", format="d")
        of = self._canvas(found, value, [rank, value, USERS])
        chart = curves(of, rank.along(of.across, nice=False), value.along(HEIGHT, zero=True))
        subtitle = f"Of {of.users()}; the shares up to k add up to n_hits@k; band: interval at {how.words}."
        finding = leader(of, "rank", "at {} ranks", "most hits")
        return finished(chart, of, "Hits by rank", subtitle, finding, of.data.filter(rank=1))

    def precision_recall(self, *, k: Cutoffs = CUTOFFS) -> alt.LayerChart:
        """Draw precision@k over recall@k: a line for each model, with a point for each k.

        The numbers are those of `evaluate("precision", "recall", k=k)`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.precision_recall(k=[1, 2]).data.select("k", "recall", "precision").rows()
        [(1, 0.0, 0.0), (2, 1.0, 0.5)]
        """
        check_whole(self._rec, "precision_recall()")
        metrics = self._reached(registry.asked([accuracy.precision, accuracy.recall], k))
        found = named(self._rec, self._rec.evaluate(metrics, tidy=True))
        names = ("recall", "precision")
        data = found.data.rename({"n": "n_users"})
        data = in_columns(data, {name: (name, "value") for name in names}, "k")
        x, y = (
            Field(name, f"{name} {{}}", axis=f"{name}@k (0 to 1, higher is better)")
            for name in names
        )
        of = self._canvas(found._replace(data=data), y, [OF_K, y, x, USERS])
        chart = curves(of, x.along(of.across, zero=True), y.along(HEIGHT, zero=True), band=False)
        last = max(of.data["k"], default=0)
        subtitle = f"Along each line k goes from {min(of.data['k'], default=0)} to {last}; mean over {of.users()}."
        finding = leader(of, "k", "at {} cut-offs", "best precision")
        title, read = "Precision over recall, by cut-off", of.data.filter(k=last)
        return finished(chart, of, title, subtitle, finding, read)

    def _reached(self, metrics: Sequence[Metric[...]]) -> list[Metric[...]]:
        """Return the metrics whose cut-offs the longest list reaches, and those with the first cut-off."""
        last = max(longest_list(self._rec) or 0, min(one.k or 0 for one in metrics))
        return [one for one in metrics if (one.k or 0) <= last]
