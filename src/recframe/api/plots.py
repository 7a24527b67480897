"""Class `Plot`, the charts of `rec.plot`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs
from recframe.charts import long_format
from recframe.charts.themes import Look, ThemeName
from recframe.errors import suggestion
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric

if TYPE_CHECKING:
    import altair as alt

    from recframe.statistics.options import Correction, Family, Test


One = str | Metric[...]
"""A metric."""
CUTOFFS = range(1, 51)


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

        how = long_format.Intervals(level, cluster, profile)
        return cutoff_charts.curve(self._rec, self._look, metric, k, by, how)

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
        from recframe.charts import cutoff_charts  # noqa: PLC0415  Altair is an extra

        how = long_format.Intervals(level, cluster, profile)
        return cutoff_charts.gains(self._rec, self._look, k, how)

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
        from recframe.charts import cutoff_charts  # noqa: PLC0415  Altair is an extra

        return cutoff_charts.hits_by_rank(self._rec, self._look, k, profile)

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
        from recframe.charts import cutoff_charts  # noqa: PLC0415  Altair is an extra

        return cutoff_charts.precision_recall(self._rec, self._look, k, profile)

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
        from recframe.charts import cutoff_charts  # noqa: PLC0415  Altair is an extra

        how = long_format.Intervals(level, cluster, profile)
        return cutoff_charts.interpolated_precision(self._rec, self._look, k, how)

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
        from recframe.charts import model_charts  # noqa: PLC0415  Altair is an extra

        how = long_format.Intervals(level, cluster, profile)
        return model_charts.segments(
            self._rec, self._look, metric, by, k, how, min_users=min_users, most=most
        )

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
        from recframe.charts import list_charts  # noqa: PLC0415  Altair is an extra

        return list_charts.distribution(self._rec, self._look, metric, k, bins, profile)

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
        how = long_format.Intervals(level, cluster, profile)
        found = registry.asked(registry.each(metrics), k)
        return model_charts.compare(
            self._rec, self._look, result, found, how, baseline=baseline, margin=margin
        )

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
        from recframe.charts import model_charts  # noqa: PLC0415  Altair is an extra

        how = long_format.Intervals(level, cluster, profile)
        return model_charts.tradeoff(self._rec, self._look, (x, y), k, how)

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
        from recframe.charts import list_charts  # noqa: PLC0415  Altair is an extra

        return list_charts.exposure(self._rec, self._look, k)

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
        from recframe.charts import list_charts  # noqa: PLC0415  Altair is an extra

        return list_charts.scores(self._rec, self._look, bins)

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
        from recframe.charts import model_charts  # noqa: PLC0415  Altair is an extra

        return model_charts.overlap(self._rec, self._look, metric, k, profile)

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

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say which chart has the closest name."""
            if name.startswith("_"):
                raise AttributeError(name)
            msg = f"rec.plot has no chart {name!r}{suggestion(name, CHARTS) or '; it has ' + ', '.join(CHARTS)}"
            raise AttributeError(msg, name=name, obj=self)


CHARTS = tuple(name for name in vars(Plot) if not name.startswith("_"))
