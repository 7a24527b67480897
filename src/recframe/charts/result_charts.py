"""Charts of results: models, segments, cut-offs, differences, users' values and items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.charts.formatting import listed, p_value, per_cent, signed, signed_share
from recframe.charts.forms import (
    ENDS,
    Canvas,
    Field,
    by_value,
    canvas,
    curves,
    dots,
    finished,
    leader,
    of_metric,
    plane,
    some_of,
    steps,
    views,
)
from recframe.charts.long_format import (
    OneMetric,
    Result,
    at_level,
    check_of_users,
    each_value,
    models_of,
    named,
    one_metric,
    reached,
    summary,
)
from recframe.charts.themes import Look
from recframe.errors import RecframeError, shown
from recframe.frames import options
from recframe.frames.dtypes import text_of
from recframe.metrics.language import registry
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import Definition, Metric
from recframe.metrics.language.registry import By, Cutoffs

if TYPE_CHECKING:
    import altair as alt

    from recframe.frames.options import Correction

CUTOFFS = range(1, 51)
OF_K = Field("k", "k = {}", axis="cut-off k", format="d")
RANK = Field("rank", "rank {}", axis="rank (1 is the first place)", format="d")
HITS = Field(
    "value",
    "{} of lists have a hit",
    ends=ENDS,
    axis="share of lists with a hit at the rank",
    format="%",
)
RECALL, PRECISION = (
    Field(name, f"{name} {{}}", axis=f"{name}@k (higher is better)")
    for name in ("recall", "precision")
)
ROUNDING = 1e-9
"""Tolerance at the upper end of a bin."""
A_DECADE = 12
"""Places of a curve of exposure from 10 to 100 items, and so on."""
SHARE = Field("share", "{} of users", per_cent, axis="share of users", format="%")
PLACES = Field("share", "{} of all places", per_cent, axis="share of all places", format="%")
ITEMS = Field(
    "items", "the first {} items", axis="items, from the most shown (logarithmic)", format="~s"
)
VERDICTS = ("better", "higher", "worse", "lower")
DIFFERENCE = Field("difference", write=signed, ends=ENDS)
TOLD = [
    Field("baseline", "compared with {}"),
    Field("metric", "in {}"),
    DIFFERENCE,
    Field("relative", "{} of its value", signed_share),
    Field("verdict"),
    Field("p_adjusted", "p {}", p_value),
]
"""Sentences on a difference."""


def _hit_at_k(at: At) -> pl.Expr:
    """Return 1 for a hit at rank k alone, expected with ties."""
    here = at.sum(lambda hit: hit.hit.cast(pl.Float64) * (hit.rank > float(at.k or 0) - 1))
    return here.clip(upper_bound=1.0)


HIT_AT = Metric[...](Definition("hit_at", _hit_at_k, range=(0.0, 1.0), linear=True))
"""Metric of the chart of hits by rank."""


class PlotsOfResults:
    """Charts of a frame, in a look that they share."""

    def __init__(self, rec: Any, look: Look = Look()) -> None:  # noqa: B008  it is frozen
        # NOTE: it holds what it is asked of and nothing else, so that rec.plot costs nothing and imports no Altair.
        self._of = rec
        self._look = look

    @property
    def _rec(self) -> Any:
        """The same `rec` without models that are bounds, with answers in frames of Polars."""
        return self._of._candidates()._in_polars()  # noqa: SLF001  the methods of this room are those of a Rec

    def _whole(self, call: str) -> Any:
        """Return the `rec` of a chart that shows no segments, or say so where some are bound."""
        by = self._of._context.by  # noqa: SLF001  the methods of this room are those of a Rec
        if by:
            raise RecframeError(
                f"plot.{call}() draws no segments, and by={shown(by[0])} is bound; ask it of a rec without group_by"
            )
        return self._rec

    def models(
        self,
        metric: OneMetric,
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
        return self._dots(summary(self._rec, [one], level, cluster), one, f"{one} of each model")

    def segments(
        self,
        metric: OneMetric,
        *,
        by: By = None,
        k: int | None = None,
        most: int = 30,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw a metric in each segment, the largest first: dots with intervals, and in brackets the number of users.

        The numbers are those of `summarize(metric, by=by)`; the interval of fewer than ten users is not drawn.

            by: the columns, or none where `group_by` has bound them. most: so many segments are shown, the largest.

        Raises what `summarize` raises, and a RecframeError without a column.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1], "country": ["DE", "FR"]})
        >>> chart = df.rec.plot.segments("mrr", by="country")
        >>> chart.data.select("segment", "value", "n_users").rows()
        [('DE', 1.0, 1), ('FR', 0.5, 1)]
        """
        one = one_metric("segments", metric, k)
        found = summary(self._rec, [one], level, cluster, by)
        if not found.by:
            raise RecframeError(
                "plot.segments needs the columns that make segments, such as by='country'; compare(...) compares models"
            )
        return self._dots(found, one, f"{one}", most)

    def _dots(
        self, found: Result, metric: Metric[...], title: str, most: int = 1
    ) -> alt.LayerChart:
        """Draw a metric in rows of segments, or of models."""
        value = of_metric(metric)
        of = canvas(self._look, found, value, [value], most=most)
        said = f"Means over {of.users}, with intervals at {found.at}."
        return finished(dots(of), of, title, said, leader(of, metric))

    def curve(
        self,
        metric: OneMetric,
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
        rec = self._whole("curve")
        plain = registry.asked([metric], None)[0]
        if plain.k is not None or k is None:
            name = str(replace(plain, k=None))
            raise RecframeError(
                f"curve draws {name!r} over cut-offs: curve({name!r}, k=range(1, 51))"
            )
        found = summary(rec, reached(rec, registry.asked([plain], k)), level, cluster)
        said = f"Mean over {{}}; band: interval at {found.at}."
        title = f"{plain} over the cut-off k"
        return self._lines(found, OF_K, of_metric(plain), title, said)

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
        rec = self._whole("hits_by_rank")
        ranks = range(1, options.whole("k", k, 1) + 1)
        found = summary(rec, reached(rec, registry.asked([HIT_AT], ranks)), level, cluster)
        found = found._replace(data=found.data.rename({"k": "rank"}))
        said = f"Of {{}}; the shares add up to n_hits@k; band: interval at {found.at}."
        return self._lines(found, RANK, HITS, "Hits by rank", said)

    def precision_recall(self, *, k: Cutoffs = CUTOFFS) -> alt.LayerChart:
        """Draw precision@k over recall@k: a line for each model, with a point for each k.

        The numbers are those of `evaluate("precision", "recall", k=k)`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.precision_recall(k=[1, 2]).data.select("k", "recall", "precision").rows()
        [(1, 0.0, 0.0), (2, 1.0, 0.5)]
        """
        rec = self._whole("precision_recall")
        metrics = reached(rec, registry.asked(["precision", "recall"], k))
        found = named(rec, rec.evaluate(metrics, tidy=True))
        rows = found.data.rename({"n": "n_users", "value": "recall"})
        other = rows.filter(metric="precision").select(precision="recall")
        found = found._replace(data=rows.filter(metric="recall").hstack(other))
        title = "Precision over recall, by cut-off"
        said = "Along each line k grows; mean over {}."
        return self._lines(found, RECALL, PRECISION, title, said, more=[OF_K], zero=True)

    def _lines(
        self,
        found: Result,
        x: Field,
        y: Field,
        title: str,
        said: str,
        *,
        more: Sequence[Field] = (),
        **scale: Any,
    ) -> alt.LayerChart:
        """Draw a line for each model; braces in what is said stand for the users."""
        of = canvas(self._look, found, y, [*more, x, y])
        chart = curves(of, x.along(nice=False, **scale))
        return finished(chart, of, title, said.replace("{}", of.users))

    def distribution(
        self,
        metric: OneMetric,
        *,
        k: int | None = None,
        bins: int = 20,
    ) -> alt.FacetChart:
        """Draw how users' values are spread: a view for each model with the share of users in each bin.

        The values are those of `evaluate(metric, by="user")`, which are summed up by bins before they are drawn. Each bin is
        without its lower and with its upper end, the first one with both; `bins` of them run over the range of the metric, or
        where that has no end over the values. Users without a value are left out.

        Raises a RecframeError for a metric of which no user has a value, such as coverage.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.distribution("mrr", bins=2).data.select("low", "high", "n", "share").rows()
        [(0.0, 0.5, 2, 1.0)]
        """
        rec = self._whole("distribution")
        one = one_metric("distribution", metric, k)
        check_of_users(one)
        values = each_value(rec, one, "user")
        data = _binned(values.data, one, options.whole("bins", bins, 1))
        low = Field("low", "above {}", axis=f"{one}")
        ranked = by_value(values.data, of_metric(one))
        told = [low, Field("high", "up to {}"), SHARE]
        found = values._replace(data=data)
        of = canvas(self._look, found, SHARE, told, ranked=ranked)
        chart = views(steps(of, low.along()), of, "model", of.ranked)
        return finished(chart, of, f"Distribution of {one} over users", f"Values of {of.users}.")

    def exposure(self, *, k: int | None = None) -> alt.LayerChart:
        """Draw how evenly lists show items, up to k: the share of all places that go to the items shown most.

        An item's share is that of `evaluate("exposure_share", by="item")`. At 100 items a line has the share of the 100 items
        that are shown most, and it ends at the number of items that are shown at all. The axis is logarithmic.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2, 2], "item": [1, 1, 2], "rank": [1, 1, 2]})
        >>> [round(share, 2) for share in df.rec.plot.exposure(k=10).data["share"]]
        [0.67, 1.0]
        """
        rec = self._whole("exposure")
        # no library has it, and lists have no weights
        rec = rec._with(rec._context.having(profile=None, weight=None))  # noqa: SLF001  the methods of this room are those of a Rec
        values = each_value(rec, one_metric("exposure", "exposure_share", k), "item")
        order = values.data.filter(pl.col("value") > 0).sort("value", descending=True)
        items = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("model")
        share = pl.col("value").cum_sum().over("model")
        n = pl.lit(None, pl.Int64)
        rows = order.with_columns(items=items, share=share, n_users=n)
        step = (pl.col("items").log(10) * A_DECADE).round()
        is_drawn = step.is_first_distinct() | (pl.col("items") == pl.col("items").max())
        found = values._replace(data=rows.filter(is_drawn.over("model")))
        said = "At 10 items: the share of all places that the 10 items shown most have. "
        said += "A line ends at the number of items that are shown."
        return self._lines(found, ITEMS, PLACES, "Exposure of the items", said, type="log")

    def compare(  # noqa: PLR0913  those of rec.compare
        self,
        metric: OneMetric,
        *,
        baseline: object,
        k: int | None = None,
        by: By = None,
        level: float = 0.95,
        margin: float | None = None,
        correction: Correction | None = "holm",
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw the differences of models from a baseline, with their intervals and the margin that does not matter.

        Takes the arguments of `rec.compare`, whose numbers it draws. Right is better: where lower values are, the axis is
        reversed. A filled mark has a verdict, a hollow one is open. Models are in the order of their values, the best first;
        segments by their users, most first. It takes recframe[stats].

        >>> import polars as pl, recframe as rf
        >>> old = pl.DataFrame({"user": [1, 2, 3], "item": [1, 2, 9], "rank": 1})
        >>> rec = rf.rec({"new": old.with_columns(item=pl.col("user")), "old": old}, truth=old.select("user", item="user"))
        >>> chart = rec.plot.compare("hit_rate@1", baseline="old")
        >>> chart.data.select("model", "baseline", "difference").rows()
        [('new', 'old', 0.3333333333333333)]
        """
        one = one_metric("compare", metric, k)
        how = {"level": level, "cluster": cluster}
        tests: dict[str, Any] = {"margin": margin, "correction": correction, **how}
        found = named(self._rec, self._rec.compare(one, baseline=baseline, by=by, **tests))
        found = found._replace(at=at_level(level, cluster))
        return self._differences(found, one, text_of(baseline), margin)

    def _differences(
        self, found: Result, metric: Metric[...], baseline: str, margin: float | None
    ) -> alt.LayerChart:
        """Draw a result of `compare` with a baseline."""
        size = (margin or 0.0) * pl.col("baseline_value").abs()
        is_open = pl.col("verdict").is_in(["open", "few"])
        data = found.data.rename({"difference_low": "low", "difference_high": "high"})
        data = data.with_columns(hollow=is_open, within=size, beyond=-size)
        found = found._replace(data=data, models=models_of(self._rec))
        axis = f"difference in {metric}" + " (right is better)" * bool(metric.direction)
        value = DIFFERENCE._replace(axis=axis, lower=metric.direction == "lower")
        of = canvas(self._look, found, value, TOLD)
        words = (
            f"{of.users.capitalize()} with both values; intervals at {found.at}, each by itself."
        )
        words += " Hollow: open, no difference is shown." * bool(of.data["hollow"].any())
        within = f" Band: within {per_cent(margin or 0)} of its value, which does not matter."
        words += within * (margin is not None)
        title = f"{metric}: differences from {baseline}"
        return finished(dots(of, zero=True), of, title, words, _finding(of, baseline))

    def tradeoff(
        self,
        x: OneMetric,
        y: OneMetric,
        *,
        k: int | None = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> alt.LayerChart:
        """Draw models as points of two metrics, with the intervals of both and the Pareto front.

        The numbers are those of `summarize(x, y)`, and the front is that of `rec.pareto(x, y)`: models that no other one equals
        or beats in both metrics and beats in one, by the metrics' better ends. Models that are not on it are hollow: they
        lie behind by their values, which may be chance. With a metric that has no direction there is no front.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.tradeoff("mrr", "recall@1").data.select("value", "value_y").rows()
        [(0.75, 0.5)]
        """
        rec = self._whole("tradeoff")
        metrics = [one_metric("tradeoff", one, k) for one in (x, y)]
        found = summary(rec, metrics, level, cluster)
        data, other = (found.data.filter(metric=str(metric)) for metric in metrics)
        data = data.hstack(other.select(pl.col("value", *ENDS).name.suffix("_y")))
        across = of_metric(metrics[0])
        up = of_metric(metrics[1], "value_y", ("low_y", "high_y"))
        # NOTE: the models are in the same order in both results
        has_front = len(data) > 1 and all(one.direction for one in metrics)
        hollow = rec.pareto(metrics)["front"] != "front" if has_front else pl.lit(value=False)
        found = found._replace(data=data.with_columns(hollow=hollow))
        of = canvas(self._look, found, across, [across, up])
        said = f"Crosses: intervals at {found.at}."
        finding = ""
        front = by_value(of.data.filter(~pl.col("hollow")), across)
        if has_front:
            said += " Filled: the Pareto front, models that no other equals or beats in both; hollow: behind it by value."
            names = listed(front, 3)
            finding = f"On the front: {names}, which no other model beats in both"
        title = f"{metrics[1]} against {metrics[0]}"
        return finished(plane(of, across, up), of, title, said, finding)


def _finding(of: Canvas, baseline: str) -> str:
    """Return which models are shown to be better than the baseline and worse, or in how many segments the best one is."""
    rows = of.data.filter(model=of.ranked[0]) if of.by else of.data
    said = list[str]()
    for verdict in VERDICTS:
        who = rows.filter(verdict=verdict)["model"].to_list()
        names = [*dict.fromkeys(who)]
        be = f"{listed(names, 3)} {'is' if len(names) == 1 else 'are'} {verdict}"
        said += [be + f" than {baseline}" * (not said) + some_of(len(who), of)] * bool(who)
    nobody = f"No model is shown to differ from {baseline}" + " in any segment" * bool(of.by)
    return ", ".join(said) or nobody


def _binned(values: pl.DataFrame, metric: Metric[...], bins: int) -> pl.DataFrame:
    """Return the share of users of each model in each bin that has some, with the model's users."""
    of = [*metric.range] if all(map(math.isfinite, metric.range)) else [0.0, *values["value"]]
    least = min(of)
    width = (max(of) - min(of)) / bins or 1.0
    place = ((pl.col("value") - least) / width - ROUNDING).ceil().clip(1, bins)
    ends: Any = {"low": least + (place - 1) * width, "high": least + place * width}
    rows = values.group_by("model", "segment", "place", **ends).agg(n=pl.len().cast(pl.Int64))
    n_users = pl.col("n").sum().over("model")
    return rows.with_columns(n_users=n_users, share=pl.col("n") / n_users).sort("model", "low")
