"""Charts of users' values and of items' exposure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

from recframe.charts.formatting import per_cent
from recframe.charts.forms import (
    Charts,
    Field,
    by_value,
    canvas,
    curves,
    finished,
    leader,
    of_metric,
    steps,
    views,
)
from recframe.charts.long_format import check_of_users, each_value, one_metric, whole
from recframe.frames import options
from recframe.metrics import exposure_metrics
from recframe.metrics.language.definition import Metric

if TYPE_CHECKING:
    import altair as alt

ROUNDING = 1e-9
"""Tolerance at the upper end of a bin."""
A_DECADE = 12
"""Places of a curve of exposure from 10 to 100 items, and so on."""
SHARE = Field("share", "{} of users", per_cent, axis="share of users", format="%")
ZEROS = Field("zeros", "{} of all have 0", per_cent, lower=True)
PLACES = Field("share", "{} of all places", per_cent, axis="share of all places", format="%")
ITEMS = Field(
    "items",
    "the first {} items",
    axis="items, from the most shown (logarithmic)",
    format="~s",
    best="most items in its lists",
)


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

        The values are those of `evaluate(metric, by="user")`, which are summed up by bins before they are drawn. Each bin is
        without its lower and with its upper end, the first one with both; `bins` of them run over the range of the metric, or
        where that has no end over the values. Users without a value are left out.

        Raises a RecframeError for a metric of which no user has a value, such as coverage.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [0, 1]})
        >>> df.rec.plot.distribution("mrr", bins=2).data.select("low", "high", "n", "share", "zeros").rows()
        [(0.0, 0.5, 2, 1.0, 0.5)]
        """
        rec, one = whole(self._rec, "distribution()"), one_metric("distribution", metric, k)
        check_of_users(one)
        values = each_value(rec, one, "user")
        data = _binned(values.data, one, options.whole("bins", bins, 1))
        low = Field("low", "above {}", axis=f"{one}")
        told = [low, Field("high", "up to {}"), SHARE, ZEROS]
        ranked = by_value(data, of_metric(one))
        of = canvas(self._look, values._replace(data=data), SHARE, told, ranked=ranked)
        chart = views(steps(of, low.along(of.across), "high"), of, "model", of.ranked)
        read = of.data.unique("model", keep="first", maintain_order=True)
        fewest = ZEROS._replace(best=f"fewest users with {one} = 0")
        finding = leader(of._replace(data=read, value=fewest))
        said = f"Values of {of.users}."
        return finished(chart, of, f"Distribution of {one} over users", said, finding, read)

    def exposure(self, *, k: int | None = None) -> alt.LayerChart:
        """Draw how evenly lists show items, up to k: the share of all places that go to the items shown most.

        An item's share is that of `evaluate("exposure_share", by="item")`. At 100 items a line has the share of the 100 items
        that are shown most, and it ends at the number of items that are shown at all. The axis is logarithmic.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2, 2], "item": [1, 1, 2], "rank": [1, 1, 2]})
        >>> [round(share, 2) for share in df.rec.plot.exposure(k=10).data["share"]]
        [0.67, 1.0]
        """
        rec, metric = whole(self._rec, "exposure()"), exposure_metrics.exposure_share
        # no library has it, and lists have no weights
        rec = rec._with(rec._context.having(profile=None, weight=None))  # noqa: SLF001  the methods of this room are those of a Rec
        values = each_value(rec, one_metric("exposure", metric, k), "item")
        order = values.data.filter(pl.col("value") > 0).sort("value", descending=True)
        place, n = pl.int_range(1, pl.len() + 1, dtype=pl.Int64), pl.lit(None, pl.Int64)
        share = pl.col("value").cum_sum()
        rows = order.with_columns(items=place.over("model"), share=share.over("model"), n_users=n)
        grid = [round(10 ** (step / A_DECADE)) for step in range(10 * A_DECADE)]
        is_end = pl.col("items") == pl.col("items").max().over("model")
        rows = rows.filter(is_end | pl.col("items").is_in(grid))
        ranked, found = by_value(rows.filter(is_end), ITEMS), values._replace(data=rows)
        of = canvas(self._look, found, PLACES, [ITEMS, PLACES], ranked=ranked)
        chart = curves(of, ITEMS.along(of.across, type="log", nice=False))
        said = "At 10 items: the share of all places that the 10 items shown most have. "
        said += "A line ends at the number of items that are shown."
        read = of.data.filter(is_end)
        finding = leader(of._replace(data=read, value=ITEMS))
        return finished(chart, of, "Exposure of the items", said, finding, read)


def _binned(values: pl.DataFrame, metric: Metric[...], bins: int) -> pl.DataFrame:
    """Return the share of users of each model in each bin that has some, with the model's mean, users and share of zeros."""
    ends = [*metric.range] if all(map(math.isfinite, metric.range)) else [0.0, *values["value"]]
    least, width = min(ends), (max(ends) - min(ends)) / bins or 1.0
    value, n = pl.col("value"), pl.len().cast(pl.Int64)
    place = ((value - least) / width - ROUNDING).ceil().clip(1, bins)
    each = values.drop("key").with_columns(
        value=value.mean().over("model"),
        n_users=n.over("model"),
        zeros=(value == 0).mean().over("model"),
        low=least + (place - 1) * width,
        high=least + place * width,
    )
    rows = each.group_by(each.columns).agg(n=n).sort("model", "low")
    return rows.with_columns(share=pl.col("n") / pl.col("n_users"))
