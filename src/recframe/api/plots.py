"""Class `Plot`, the charts of `rec.plot`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.api import argument_errors, chart_data
from recframe.api.bound_metric import Asked, By, Cutoffs
from recframe.charts import long_format
from recframe.charts.themes import Look, ThemeName
from recframe.errors import RecframeError, suggestion
from recframe.frames.dtypes import text_of
from recframe.metrics import accuracy, accuracy_counts, accuracy_curves
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.statistics import options

if TYPE_CHECKING:
    import altair as alt

    from recframe.statistics.options import Correction, Family, Test


One = str | Metric[...]
"""A metric."""
CUTOFFS = range(1, 51)
POINTS = [tenth / 10 for tenth in range(11)]
"""Recall levels of interpolated precision."""


class Plot:
    """Charts of a frame: each method asks for numbers, sums them up in Polars, and returns an Altair chart.

    A chart is yours to restyle (`chart.properties(height=200)`) and to save: `chart.save("ndcg.svg")`, `"ndcg.png"`, and
    `chart.save("ndcg.html", inline=True)`, a page that needs no network. No chart needs a browser to be saved. It holds the few
    hundred numbers that it shows, whatever the number of rows; `chart.to_dict()` has them. A model has the same colour in all
    charts of the same models, which stand in the order of their names. Of a LazyFrame the plan is collected, by the streaming
    engine, since a chart needs its numbers.

    `rec.plot(theme="dark")` draws on dark ground, and `rec.plot(width=400)` charts of 400 pixels in all. `theme=None` leaves
    ground and fonts alone, for charts that are put together (`first | second`) or that follow a theme of your own.
    """

    def __init__(self, rec: Any, look: Look = Look()) -> None:  # noqa: B008  it is frozen
        # NOTE: it holds what it is asked of and nothing else, so that rec.plot costs nothing and imports no Altair.
        self._of = rec
        self._look = look

    @argument_errors.understood
    def __call__(self, *, theme: ThemeName | None = "light", width: int = 600) -> Plot:
        """Return the same with another look: the theme "light", "dark" or None, and the width of charts in pixels."""
        return Plot(self._of, Look(theme, width))

    @property
    def _rec(self) -> Any:
        """The same `rec`, with answers in frames of Polars."""
        return self._of._in_polars()  # noqa: SLF001  the methods of this room are those of a Rec

    def _series(self, result: pl.DataFrame) -> Any:
        from recframe.charts.style import Series  # noqa: PLC0415  Altair is an extra

        return Series(long_format.models_in(self._of, result).order, self._look)

    @argument_errors.understood
    def curve(
        self,
        metric: One,
        *,
        k: Cutoffs = CUTOFFS,
        by: By = None,
        level: float = 0.95,
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart | alt.FacetChart:
        """Draw a metric over the cut-off k: a line for each model, and a band for its intervals.

        The numbers are those of `summarize(metric, k=k, by=by)`; without users there is nothing but the axes, and the chart
        says so. By segment there is a view for each, at most twelve: those with the most users.

            metric: without a cut-off of its own. k: the cut-offs. level, cluster: of the intervals, as in `summarize`.

        Raises what `summarize` raises, and a RecframeError for a metric with an `@`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.curve("recall", k=[1, 2]).data.select("k", "value", "n_users").rows()
        [(1, 0.5, 2), (2, 1.0, 2)]
        """
        from recframe.charts import cutoff_charts  # noqa: PLC0415  Altair is an extra

        metrics = chart_data.over_cutoffs("curve", metric, k)
        result, data, sure = long_format.summary(self._of, metrics, level, cluster, profile, by)
        plain, series = replace(metrics[0], k=None), self._series(result)
        names = long_format.segment_columns(self._of, result)
        if names:
            return cutoff_charts.curves(data, series, plain, names, sure)
        return cutoff_charts.curve(data, series, plain, sure)

    @argument_errors.understood
    def gains(
        self,
        *,
        k: Cutoffs = CUTOFFS,
        level: float = 0.95,
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw the cumulative gain over k: the sum of the relevance of the hits up to k, mean over users, and the best one.

        With relevance of 0 and 1 it is n_hits@k. The best is that of all relevant items in their best order, up to k of them.
        Bands are intervals as `summarize` has them. A user without a hit counts 0.

        Raises what `summarize` raises.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [1, 3]})
        >>> df.rec.plot.gains(k=[1, 2]).data.select("k", "value", "best").rows()
        [(1, 1.0, 3.0), (2, 4.0, 4.0)]

        Source: Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques.
        """
        from recframe.charts import cutoff_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "gains()")
        gain, best = chart_data.GAINS
        metrics = [one for each in (gain, best) for one in registry.asked([each], k)]
        result, data, sure = long_format.summary(self._of, metrics, level, cluster, profile)
        is_best = pl.col("metric").str.starts_with("best")
        ideal = data.filter(is_best).select("model", "k", best="value")
        data = data.filter(~is_best).join(ideal, on=["model", "k"], maintain_order="left")
        return cutoff_charts.gains(data, self._series(result), sure)

    @argument_errors.understood
    def hits_by_rank(self, *, k: int = 20, profile: str | None = None) -> alt.LayerChart:
        """Draw how many lists have a hit at each rank from 1 to k, as a share of the users.

        The share at r is n_hits@r - n_hits@(r - 1), so that the shares add up to n_hits@k. With repeated ranks in one list it
        counts hits, of which one rank may have several. A user without a hit counts 0.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.hits_by_rank(k=3).data.select("rank", "value").rows()
        [(1, 0.5), (2, 0.5), (3, 0.0)]
        """
        from recframe.charts import cutoff_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "hits_by_rank()")
        ks = range(1, options.whole("k", k, 1) + 1)
        result = self._rec.evaluate(accuracy_counts.n_hits, k=ks, tidy=True, profile=profile)
        data = long_format.keyed(self._of, result).rename({"k": "rank", "n": "n_users"})
        value = pl.col("value")
        before = value.shift(1, fill_value=0.0).over("model", order_by="rank")
        data = data.with_columns(value=value - before)
        return cutoff_charts.hits_by_rank(data, self._series(result))

    @argument_errors.understood
    def precision_recall(
        self, *, k: Cutoffs = CUTOFFS, profile: str | None = None
    ) -> alt.LayerChart:
        """Draw precision@k over recall@k: a line for each model, with a point for each k.

        The numbers are those of `evaluate("precision", "recall", k=k)`. `interpolated_precision` is the other curve that goes
        by the name of precision and recall.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.precision_recall(k=[1, 2]).data.select("k", "recall", "precision").rows()
        [(1, 0.0, 0.0), (2, 1.0, 0.5)]
        """
        from recframe.charts import cutoff_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "precision_recall()")
        asked = [accuracy.precision, accuracy.recall]
        result = self._rec.evaluate(asked, k=k, tidy=True, profile=profile)
        data = long_format.keyed(self._of, result).rename({"n": "n_users"})
        found = data.filter(pl.col("metric") == str(asked[1])).select("model", "k", recall="value")
        data = data.filter(pl.col("metric") == str(asked[0])).rename({"value": "precision"})
        data = data.join(found, on=["model", "k"], maintain_order="left")
        return cutoff_charts.precision_recall(data, self._series(result))

    @argument_errors.understood
    def interpolated_precision(
        self,
        *,
        k: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw interpolated precision over recall, at the recalls 0, 0.1, ..., 1: a line for each model, with bands.

        The numbers are those of `summarize("interpolated_precision(recall=0)", ...)`: the highest precision at any rank where
        so much is found, mean over users. `k` cuts the lists first. 0 where a list does not get so far.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.interpolated_precision().data.select("recall", "value").rows()[:2]
        [(0.0, 0.5), (0.1, 0.5)]

        Source: Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, chapter 8.
        """
        from recframe.charts import cutoff_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "interpolated_precision()")
        points = [accuracy_curves.interpolated_precision(recall=one) for one in POINTS]
        metrics = [long_format.one_metric("interpolated_precision", one, k) for one in points]
        result, data, sure = long_format.summary(self._of, metrics, level, cluster, profile)
        names = [str(one) for one in metrics]
        recall = pl.col("metric").replace_strict(names, POINTS, return_dtype=pl.Float64)
        data = data.with_columns(recall=recall)
        return cutoff_charts.interpolated_precision(data, self._series(result), sure)

    @argument_errors.understood
    def segments(  # noqa: PLR0913  those of summarize, and which segments are shown
        self,
        metric: One,
        *,
        by: By = None,
        k: int | None = None,
        min_users: int = 30,
        most: int = 30,
        level: float = 0.95,
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw a metric in each segment, the highest first: dots with intervals, and in brackets the number of users.

        The numbers are those of `summarize(metric, by=by)`. A segment with fewer than `min_users` users has its pooled estimate
        beside the raw one: what `slices` calls `pooled`, drawn towards the other segments by what its few users leave open; it
        takes NumPy, SciPy and four segments, and there is none for a metric that is one function of a segment's lists.

            by: the columns, or none where `group_by` has bound them. most: so many segments are shown, the largest.

        Raises what `summarize` raises, and a RecframeError without a column.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["DE", "FR"]})
        >>> chart = df.rec.plot.segments("mrr", by="country")
        >>> chart.data.select("segment", "value", "n_users").rows()
        [('DE', 1.0, 1), ('FR', 0.5, 1)]
        """
        from recframe.charts import model_charts  # noqa: PLC0415

        one = long_format.one_metric("segments", metric, k)
        result, data, sure = long_format.summary(self._of, [one], level, cluster, profile, by)
        names = long_format.segment_columns(self._of, result)
        if not names:
            msg = "plot.segments needs the columns that make segments: segments(..., by='country')"
            raise RecframeError(msg)
        none = data.with_columns(pooled=pl.lit(None, pl.Float64))
        data = none if one.shape == "set" else model_charts.with_pooled(data)
        series = self._series(result)
        return model_charts.segments(data, series, one, names, sure, min_users=min_users, most=most)

    @argument_errors.understood
    def distribution(
        self, metric: One, *, k: int | None = None, bins: int = 20, profile: str | None = None
    ) -> alt.VConcatChart:
        """Draw how users' values are spread: the share of users with 0 above, and below all others in bins.

        The values are those of `evaluate(metric, by="user")`, which are summed up by bins before they are drawn. A bin has the
        values above its lower and up to its upper end; `bins` of them run over the range of the metric, or where that has no
        end over the values. Users without a value are left out.

        Raises a RecframeError for a metric of which no user has a value, such as coverage.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [0, 1]})
        >>> chart = df.rec.plot.distribution("mrr", bins=2)
        >>> chart.vconcat[0].data.select("n", "share").rows(), chart.vconcat[1].data.select("low", "high", "n").rows()
        ([(1, 0.5)], [(0.0, 0.5, 1), (0.5, 1.0, 0)])
        """
        from recframe.charts import list_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "distribution()")
        one = long_format.one_metric("distribution", metric, k)
        long_format.check_of_users(one)
        names = long_format.models_of(self._rec)
        above, zeros = chart_data.users_values(self._rec, one, profile, bins, names)
        series = self._of_names(names)
        above = chart_data.filled(above, ["model", "model_place"], bins)
        if not series.named:
            above = above.filter(pl.col("low") < pl.col("high"))
        users = long_format.users_of(zeros, "users", long_format.noun_of(one))
        return list_charts.distribution(above, zeros, series, one, users)

    @argument_errors.understood
    def compare(  # noqa: PLR0913  those of rec.compare
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        margin: float | None = None,
        test: Test = "t",
        correction: Correction | None = "holm",
        family: Family = "table",
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw the differences of models from a baseline, with their intervals and the margin that does not matter.

        The numbers and all arguments are those of `rec.compare`, which see. One metric is drawn in its own unit, several as
        shares of the baseline's values. A filled mark has a verdict, a hollow one is open. It takes recframe[stats].

        >>> import polars as pl, recframe as rf
        >>> old = pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 9], "rank": 1})
        >>> rec = rf.rec({"new": old.with_columns(item=pl.col("user")), "old": old}, truth=old.select("user", item="user"))
        >>> chart = rec.plot.compare("hit_rate@1", baseline="old")
        >>> chart.data.select("model", "baseline", "difference").rows()
        [('new', 'old', 0.3333333333333333)]
        """
        from recframe.charts import model_charts  # noqa: PLC0415

        result = self._rec.compare(
            *metrics,
            baseline=baseline,
            k=k,
            by=by,
            level=level,
            margin=margin,
            test=test,
            correction=correction,
            family=family,
            cluster=cluster,
            profile=profile,
            wide=True,
        )
        found = registry.asked(registry.each(metrics), k)
        data = chart_data.rows_compared(long_format.keyed(self._of, result), margin=margin)
        from_ = f"from {text_of(baseline)}" if baseline is not None else "of each two models"
        title = f"{', '.join(map(str, found))}: differences {from_}"
        sure = long_format.interval_words(self._rec, found[0], level, cluster, profile)
        only = None if len(found) > 1 else found[0]
        return model_charts.compare(data, self._series(result), only, title, sure, margin)

    @argument_errors.understood
    def tradeoff(
        self,
        x: One,
        y: One,
        *,
        k: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
        profile: str | None = None,
    ) -> alt.LayerChart:
        """Draw models as points of two metrics, with the intervals of both and the Pareto front.

        The numbers are those of `summarize(x, y)`. On the front are the models that no other one beats in one metric without
        being worse in the other, by the metrics' better ends; with a metric that has no direction there is no front.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.tradeoff("mrr", "recall@1").data.select("x", "y").rows()
        [(0.75, 0.5)]
        """
        from recframe.charts import model_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "tradeoff()")
        pair = [long_format.one_metric("tradeoff", one, k) for one in (x, y)]
        if pair[0] == pair[1]:
            msg = f"tradeoff takes two metrics, and found {str(pair[0])!r} twice"
            raise RecframeError(msg)
        result, data, sure = long_format.summary(self._of, pair, level, cluster, profile)
        across = chart_data.of_axis(data, pair[0], "x")
        up = chart_data.of_axis(data, pair[1], "y")
        both = across.join(up, on="model", maintain_order="left")
        data = chart_data.on_front(both, pair)
        return model_charts.tradeoff(data, self._series(result), pair[0], pair[1], sure)

    @argument_errors.understood
    def exposure(self, *, k: int | None = None) -> alt.VConcatChart:
        """Draw how evenly lists show items, up to k: the Lorenz curve and the long tail, beside those of train.

        An item's exposure is the number of lists that have it, as in `gini`, which the curve's tooltip has too; in train, where
        that is bound, the number of its users. The catalogue is that of `gini`, and so are the errors. Items of no list are
        those at the start of the curve, and have no place in the tail, whose axes are logarithmic.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 1]})
        >>> rec = df.rec(items=pl.DataFrame({"item": [1, 2, 3, 4]}))
        >>> rec.plot.exposure(k=10).vconcat[0].layer[1].data.select("items", "exposure", "gini").rows()
        [(0.0, 0.0, 1.0), (0.75, 0.0, 1.0), (1.0, 1.0, 1.0)]
        """
        from recframe.charts import list_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "exposure()")
        cut = None if k is None else options.whole("k", k, 1)
        names = long_format.models_of(self._rec)
        found, catalogue = chart_data.exposures(self._rec, cut, names)
        series = self._of_names(names)
        curve, tail = list_charts.lorenz(found, catalogue), list_charts.tail(found)
        where = "places" if cut is None else f"places up to {cut}"
        return list_charts.exposure(curve, tail, series, where)

    @argument_errors.understood
    def scores(self, *, bins: int = 40) -> alt.VConcatChart:
        """Draw the scores of items that are relevant, judged not relevant, and not judged: a view for each model.

        Each group's rows add up to 100%, so that the few relevant ones are seen. Scores run over `bins` between the lowest and
        the highest of a model; the scores of two models have no common scale. Rows of users outside the universe, and those
        without a finite score, are left out.

        Raises a ColumnError without a column of scores.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "score": [0.9, 0.1], "relevance": [1, None]})
        >>> data = df.rec.plot.scores(bins=2).data
        >>> data.filter(pl.col("n") > 0).select("group", "n", "share").rows()
        [('not judged', 1, 1.0), ('relevant', 1, 1.0)]
        """
        from recframe.charts import list_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "scores()")
        names = long_format.models_of(self._rec)
        found = chart_data.binned_scores(self._rec, bins, names)
        data = chart_data.filled(found, ["model", "model_place", "group"], bins)
        return list_charts.scores(data, self._of_names(names))

    @argument_errors.understood
    def overlap(
        self, metric: One = "rbo@10", *, k: int | None = None, profile: str | None = None
    ) -> alt.LayerChart:
        """Draw how far the lists of each two models agree, as a heat map: rank-biased overlap, or another metric.

        A cell is `evaluate(metric)` of the row's model, with the column's model bound as `reference`: an evaluation for each
        model.

        Raises a RecframeError without models, and for a metric that holds lists against no reference.

        >>> import polars as pl, recframe as rf
        >>> a = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2]})
        >>> rec = rf.rec({"a": a, "b": a.with_columns(item=pl.col("item") + 1)}, truth=a)
        >>> rec.plot.overlap("overlap@2").data.select("model", "other", "value").rows()
        [('a', 'a', 1.0), ('b', 'a', 0.5), ('a', 'b', 0.5), ('b', 'b', 1.0)]

        Source: Webber, Moffat and Zobel 2010, A similarity measure for indefinite rankings.
        """
        from recframe.charts import model_charts  # noqa: PLC0415

        chart_data.check_whole(self._of, "overlap()")
        one = long_format.one_metric("overlap", metric, k)
        if "reference" not in one.definition.needs:
            msg = f"{one} holds lists against no reference; plot.overlap takes rbo, overlap or unexpectedness"
            raise RecframeError(msg)
        names = chart_data.models_bound(self._rec, "overlap()")
        parts = []
        for name in (one for one in names.order if one != names.none):
            bound = self._rec(reference=name)
            result = bound.evaluate(one, tidy=True, profile=profile)
            parts.append(long_format.keyed(self._of, result).with_columns(other=pl.lit(name)))
        data = pl.concat(parts) if parts else pl.DataFrame(schema=_OVERLAP)
        return model_charts.overlap(data.select(*_OVERLAP), self._of_names(names), one)

    @argument_errors.understood
    def audit(self, k: int | None = None) -> alt.LayerChart:
        """Draw what `rec.audit(k)` finds, by the number of rows that are concerned: the most severe first.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.audit().data.select("check", "severity", "rows").rows()
        [('duplicate_items', 'error', 2), ('no_relevant_beyond_lists', 'warning', 2)]
        """
        from recframe.charts import list_charts  # noqa: PLC0415

        return list_charts.audit(self._rec.audit(k), self._look)

    @argument_errors.understood
    def timeline(
        self,
        metric: str | Metric[...],
        *,
        k: Cutoffs = None,
        by: str | Sequence[str] | None = None,
        window: int = 14,
        level: float = 0.99,
        most: int = 6,
    ) -> alt.LayerChart | alt.VConcatChart:
        """Draw a metric of a history over time: a line for each model, its intervals, and what is flagged as a change.

        It is asked of a history: `rf.history("history.parquet").rec.plot.timeline("ndcg@10")`. Bands are the intervals of the
        numbers, thin lines the ends of what the runs before predict, triangles the runs outside, which `rf.changes` flags:
        those of the whole history that is handed in. Where runs are more than 2.5 times as far apart as usual, the line has
        a gap. Models stand in the column `model`, or the one that is bound; several names of runs stand as models of their
        own.

            by: the columns that the numbers were split by, such as "country": a chart for each segment, one below the other.
                Without it, the numbers of all users are drawn.
            window, level: those of `rf.changes`. most: how many segments are drawn at the most, those with the most users.

        Raises a ColumnError for a frame that is no history, and a RecframeError for a metric or segments that it does not
        have.

        >>> import polars as pl, recframe
        >>> days = pl.date_range(pl.date(2026, 11, 1), pl.date(2026, 11, 3), eager=True)
        >>> runs = pl.DataFrame({"as_of": days, "metric": "ndcg@10", "k": 10, "value": [0.30, 0.31, 0.29]})
        >>> runs.rec.plot.timeline("ndcg@10").data["value"].to_list()
        [0.3, 0.31, 0.29]
        """
        from recframe.charts import history_charts  # noqa: PLC0415  Altair is an extra

        lines = history_charts.lines_of(self._of, window, level)
        bound = self._of._context.by  # noqa: SLF001  the methods of this room are those of a Rec
        split = [str(one) for one in dict.fromkeys([*bound, *argument_errors.names(by)])]
        name = history_charts.name_of(lines.judged, metric, k)
        return lines.chart(name, split, self._look, most)

    def _of_names(self, names: long_format.Names) -> Any:
        from recframe.charts.style import Series  # noqa: PLC0415

        return Series(names.order, self._look)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say which chart has the closest name."""
            if name.startswith("_"):
                raise AttributeError(name)
            msg = f"rec.plot has no chart {name!r}{suggestion(name, CHARTS) or '; it has ' + ', '.join(CHARTS)}"
            raise AttributeError(msg, name=name, obj=self)


CHARTS = tuple(name for name in vars(Plot) if not name.startswith("_"))
_OVERLAP = {"model": pl.String, "other": pl.String, "value": pl.Float64, "n": pl.Int64}
