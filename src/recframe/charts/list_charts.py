"""Charts of users' values and of items' exposure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.charts.formatting import per_cent
from recframe.charts.forms import HEIGHT, Charts, Field, curves, finished, leader, steps, views
from recframe.charts.long_format import (
    Names,
    Result,
    check_of_users,
    check_whole,
    models_of,
    one_metric,
)
from recframe.charts.themes import ALL
from recframe.evaluation import metrics_of_lists
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import judge
from recframe.side_info.aggregation_levels import Levels
from recframe.statistics import options

if TYPE_CHECKING:
    import altair as alt

ROUNDING = 1e-9
"""Tolerance at the upper end of a bin."""
A_DECADE = 12
"""Places of a curve of exposure from 10 to 100 items, and so on."""


class PlotsOfLists(Charts):
    """Charts of users' values and of items."""

    def distribution(
        self,
        metric: str | Metric[...],
        *,
        k: int | None = None,
        bins: int = 20,
    ) -> alt.FacetChart:
        """Draw how users' values are spread: a view for each model with the share of users in each bin.

        The values are those of `evaluate(metric, by="user")`, which are summed up by bins before they are drawn. The share of
        users with 0 stands above each view, and all others are in the bins, each without its lower and with its upper end;
        `bins` of them run over the range of the metric, or where that has no end over the values. Users without a value are
        left out.

        Raises a RecframeError for a metric of which no user has a value, such as coverage.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [0, 1]})
        >>> chart = df.rec.plot.distribution("mrr", bins=2)
        >>> chart.data.select("title", "low", "high", "n", "share").rows()
        [('50 % have 0', 0.0, 0.5, 1, 0.5)]
        """
        check_whole(self._rec, "distribution()")
        metric, names = one_metric("distribution", metric, k), models_of(self._rec)
        check_of_users(metric)
        found = Result(_binned(_values_of_users(self._rec, metric, names), metric, bins), names)
        share = Field("share", "{} of users", per_cent, axis="share of users", format="%")
        low = Field("low", "above {}", axis=str(metric))
        told = [low, Field("high", "up to {}"), share, Field("n", "{} users")]
        of = self._canvas(found, share, told, at=found.data, lower=metric.direction == "lower")
        models = of.data.unique("model", maintain_order=True)
        titles = {row["model"]: _title(row) for row in models.to_dicts()}
        of = of._replace(data=of.data.with_columns(title=pl.col("model").replace(titles)))
        bars = steps(of, low.along(of.across), "high")
        chart = views(bars, self._look, "title", [*titles.values()])
        zeros = of._replace(data=models, value=Field("zeros"), lower=True)
        finding = leader(zeros, "place", what=f"fewest users with {metric} = 0")
        subtitle = f"Values of {of.users()}; each bin up to and with its upper end."
        read = pl.DataFrame({"words": [*titles.values()]})
        return finished(chart, of, f"Distribution of {metric} over users", subtitle, finding, read)

    def exposure(self, *, k: int | None = None) -> alt.LayerChart:
        """Draw how evenly lists show items, up to k: the share of all places that go to the items shown most.

        An item's exposure is the number of lists that have it, as in `gini`. At 100 items a line has the share of the 100 items
        that are shown most, and it ends at the number of items that are shown at all. The axis is logarithmic.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2, 2], "item": [1, 1, 2], "rank": [1, 1, 2]})
        >>> [round(share, 2) for share in df.rec.plot.exposure(k=10).data["share"]]
        [0.67, 1.0]
        """
        check_whole(self._rec, "exposure()")
        k, names = None if k is None else options.whole("k", k, 1), models_of(self._rec)
        data = _concentration(self._rec, k, names)
        up_to = f"share of all places in the lists{'' if k is None else f' up to {k}'}"
        share = Field("share", "{} of all places", per_cent, axis=up_to, format="%")
        place = Field(
            "items",
            "the first {} items",
            axis="items, from the most shown (logarithmic)",
            format="~s",
        )
        ends = data.sort("items").unique("model", keep="last")
        at = ends.select("model", value="items")
        of = self._canvas(Result(data, names), share, [place, share], at=at)
        x = place.along(of.across, type="log", nice=False)
        chart = curves(of, x, share.along(HEIGHT, zero=True), band=False)
        subtitle = "At 10 items: the share of all places that the 10 items shown most have. "
        subtitle += "A line ends at the number of items that are shown."
        read = of.data.filter(pl.col("items") == pl.col("items").max().over("model"))
        finding = leader(
            of._replace(data=read, value=place), "place", what="most items in its lists"
        )
        return finished(chart, of, "Exposure of the items", subtitle, finding, read)


def _values_of_users(rec: Any, metric: Metric[...], names: Names) -> pl.DataFrame:
    """Return the value of each user and model who has one."""
    model, user = rec._context.model, rec._context.names["user"]  # noqa: SLF001  the methods of this room are those of a Rec
    result = rec.evaluate(metric, by=user)
    of_model = pl.lit(ALL) if model is None else names.text(pl.lit(result[model]))
    values = pl.DataFrame({"value": result.to_series(result.width - 1)})
    return values.with_columns(model=of_model).drop_nulls()


def _binned(values: pl.DataFrame, metric: Metric[...], bins: int) -> pl.DataFrame:
    """Return the share of users of each model in each bin that has some, beside the model's mean, users and zeros.

    A model whose users all have 0 has a row of an empty bin.
    """
    ends = [*metric.range] if all(map(math.isfinite, metric.range)) else [0.0, *values["value"]]
    least, width = min(ends), (max(ends) - min(ends)) / bins
    value, n = pl.col("value"), pl.len().cast(pl.Int64)
    of_models = values.group_by("model").agg(value.mean(), n_users=n, zeros=(value == 0).mean())
    place = ((value - least) / (width or 1.0) - ROUNDING).ceil().clip(1, bins)
    counts = values.filter(value != 0).group_by("model", high=least + place * width).agg(n=n)
    found = of_models.join(counts, on="model", how="left").sort("model", "high")
    found = found.with_columns(
        n=pl.col("n").fill_null(0), high=pl.col("high").fill_null(least + width)
    )
    share = pl.col("n") / pl.col("n_users")
    return found.with_columns(low=pl.col("high") - width, share=share, segment=pl.lit(""), place=0)


def _title(row: dict[str, Any]) -> str:
    """Return a model with its share of users with 0."""
    zeros = f"{per_cent(row['zeros'])} have 0"
    return zeros if row["model"] == ALL else f"{row['model']}: {zeros}"


def _concentration(rec: Any, k: int | None, names: Names) -> pl.DataFrame:
    """Return the share of all places that so many items have, those shown most; their numbers spread on a logarithmic axis."""
    inputs = under_profile.at_home(rec._inputs(None, []))  # noqa: SLF001  the methods of this room are those of a Rec
    cut = metrics_of_lists.cut_of(inputs, Levels(), [], k, rec._run())  # noqa: SLF001
    # NOTE: lists of users outside the universe are shown too, as in gini, which reads no relevance
    plan = cut.rows.group_by(*inputs.model, "item").agg(exposure=pl.len().cast(pl.Float64))
    plan = after_checks(plan.drop("item"), judge(inputs), "exposure", pl.Float64, steep=False)
    rows: pl.DataFrame = rec._kind.give(plan, {})  # noqa: SLF001
    rows = rows.with_columns(model=names.text(pl.col("model")) if inputs.model else pl.lit(ALL))
    rows = rows.sort("model", "exposure", descending=[False, True])
    items, exposure = pl.int_range(1, pl.len() + 1, dtype=pl.Int64), pl.col("exposure")
    share = exposure.cum_sum().over("model") / exposure.sum().over("model")
    rows = rows.with_columns(items=items.over("model"), share=share)
    grid = [round(10 ** (step / A_DECADE)) for step in range(10 * A_DECADE)]
    is_end = pl.col("items") == pl.col("items").max().over("model")
    kept = rows.filter(pl.col("items").is_in(grid) | is_end)
    return kept.with_columns(segment=pl.lit(""), place=0, n_users=0)
