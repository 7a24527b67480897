"""Chart of the exposure of items."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.charts.chart_words import Fields, by_value
from recframe.charts.long_format import (
    Names,
    check_whole,
    models_of,
)
from recframe.charts.style import (
    Canvas,
    Series,
    alt,
    drawn,
    finished,
    inner_width,
    layered,
    legend_of,
    lines,
    safe,
    tooltips,
)
from recframe.charts.themes import Look
from recframe.evaluation import metrics_of_lists
from recframe.evaluation.required_columns import needs_of
from recframe.metrics import catalogue_metrics
from recframe.profiles import under_profile
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import judge
from recframe.side_info.aggregation_levels import Levels
from recframe.side_info.requirements import check_needs
from recframe.statistics import options

HEIGHT = 220
EXPOSURE, ITEMS = pl.col("exposure"), pl.col("items")
OF_MODEL = ["model_place", "is_train"]
POINTS = 100
"""Steps of each axis with a point of their own, at the most."""
DECADE = 20
"""Points along a factor of e of the places."""
TRAIN = "train"
WHOM = "model, or train"


def _exposures(rec: Any, k: int | None, names: Names) -> tuple[pl.DataFrame, int]:
    """Return the number of items per exposure, of models and of train, and the size of the catalogue.

    Train is a model of its own, the last one.
    """
    inputs = under_profile.at_home(rec._inputs(None, []))  # noqa: SLF001
    # whose items are the catalogue is what that metric says
    check_needs(inputs, catalogue_metrics.gini, needs_of(catalogue_metrics.gini).facts)
    judged = judge(inputs)
    cut = metrics_of_lists.cut_of(inputs, Levels(), [], k, rec._run())  # noqa: SLF001
    sides, n = cut.sides, pl.len().cast(pl.Int64)
    # NOTE: lists of users outside the universe are shown too, as in gini, which reads no relevance
    items = cut.rows.group_by(*inputs.model, "item").agg(exposure=n, is_train=pl.lit(value=False))
    if inputs.train is not None:
        no_model = [pl.lit(None, inputs.schema["model"]).alias(name) for name in inputs.model]
        count, is_train = pl.col("value").cast(pl.Int64), pl.lit(value=True)
        train = sides.popularity.select(*no_model, "item", exposure=count, is_train=is_train)
        items = pl.concat([items, train])
    if inputs.items is not None:
        items = items.join(sides.catalogue.select("item"), on="item", how="semi")
    rows = items.group_by(*inputs.model, "is_train", "exposure").agg(items=n)
    size = sides.catalogue.select(catalogue=pl.col("item").n_unique().cast(pl.Int64))
    plan = size.join(rows, how="left", on=pl.lit(1))
    plan = after_checks(plan, judged, "items", pl.Int64, steep=False)
    found = rec._kind.give(plan, {})  # noqa: SLF001
    rows = found.drop_nulls("exposure").with_columns(model=names.model(bound=bool(inputs.model)))
    name = next(one for one in (TRAIN, f"{TRAIN} (data)") if one not in names.order)
    of_train = {"model": pl.lit(name), "model_place": pl.lit(len(names.order), pl.Int64)}
    rows = rows.with_columns(model_place=names.place).with_columns(
        pl.when("is_train").then(value).otherwise(column).alias(column)
        for column, value in of_train.items()
    )
    return rows, int(found["catalogue"].max() or 0)


def _label(curve: pl.DataFrame) -> pl.Expr:
    """Return models with their Gini beside their names."""
    labels = {one["model"]: f"{one['model']} (Gini {one['gini']:.3f})" for one in curve.to_dicts()}
    return pl.col("model").replace(labels)


def _lorenz_view(
    curve: pl.DataFrame, both: dict[str, Any], places: str, look: Look
) -> alt.LayerChart:
    """Return the Lorenz curves in front of the diagonal, on which all items have the same."""
    fields: Fields = {
        "items:Q": ("share of the items", ".2%"),
        "exposure:Q": (f"share of the {places}", ".2%"),
        "gini:Q": ("Gini (0: all items alike)", ".4f"),
    }
    title = "share of the catalogue's items, the least shown first (%)"
    x = alt.X("items:Q", title=lines(title, inner_width(look)), axis={"format": "%"})
    y = alt.Y("exposure:Q", title=f"share of all {places} (%)", axis={"format": "%"})
    even = alt.Chart(pl.DataFrame({"items": [0.0, 1.0], "exposure": [0.0, 1.0]}))
    even = even.mark_line(color=look.colours.band, strokeWidth=1.5)
    even = even.encode(x="items:Q", y="exposure:Q")
    return layered(curve, even, _line(curve, x, y, fields, both), height=HEIGHT)


def _line(
    data: pl.DataFrame, x: alt.X, y: alt.Y, told: Fields, both: dict[str, Any], **mark: Any
) -> alt.Chart:
    """Return a line for each model in the order of x."""
    tooltip = tooltips({"model:N": WHOM, **told})
    marks = drawn(data).mark_line(strokeWidth=2, **mark)
    line: alt.Chart = marks.encode(x=x, y=y, order=str(x.shorthand), tooltip=tooltip, **both)
    return line


def _with_train(series: Series, data: pl.DataFrame) -> dict[str, Any]:
    """Return the encodings of models, and of train in the ink of the theme where it is among the data, by their labels."""
    labels = dict(data.select("model", "label").unique().rows())
    of, others = series.look.colours, [*filter(None, [series.others])]
    trains = data.filter("is_train")["label"].unique().to_list()
    names = [labels.get(one, one) for one in series.names] + others + trains
    kept = [labels.get(one, one) for one in series.coloured] + others + trains
    legend = legend_of(kept, series.look) if series.named or trains else None
    colours = [*series.colours, *[of.others] * len(others), *[of.ink] * len(trains)]
    colour = alt.Color("label:N", scale={"domain": names, "range": colours}, legend=legend)
    width = {"strokeWidth": series.widths} if series.others else {}
    return {"color": colour, **width}


def lorenz(found: pl.DataFrame, catalogue: int) -> pl.DataFrame:
    """Return shares of items and of exposure that add up, the least shown items first: model, items, exposure, gini.

    `found` says how many `items` have each `exposure`, of each model and of train; the other items of the catalogue have 0.
    Gini is that of the metric: Σ over j of (2j - N - 1) · e_(j) / ((N - 1) · Σ e).
    """
    listed = found.filter(EXPOSURE > 0).select("model", *OF_MODEL, "exposure", "items")
    nothing = pl.lit(0, pl.Int64)
    none = listed.group_by("model", *OF_MODEL).agg(nothing.alias("exposure"), ITEMS.sum())
    starts = [none.with_columns(items=items) for items in (nothing, catalogue - ITEMS)]
    ordered = pl.concat([*starts, listed]).sort(*OF_MODEL, "exposure", "items")
    exposed = EXPOSURE * ITEMS
    total, up_to = exposed.sum().over(OF_MODEL), ITEMS.cum_sum().over(OF_MODEL)
    ordered = ordered.with_columns(up_to=up_to, total=total)
    spread = (exposed * (2 * pl.col("up_to") - ITEMS - catalogue)).sum().over(OF_MODEL)
    gini = spread / (pl.col("total") * (catalogue - 1))
    points = ordered.select(
        *("model", *OF_MODEL),
        gini=gini.fill_nan(0.0).clip(0.0, 1.0),
        items=pl.col("up_to") / catalogue,
        exposure=exposed.cum_sum().over(OF_MODEL) / pl.col("total"),
    )
    # the corner up to which nothing is shown has a step of its own
    return _thinned(points, (ITEMS * POINTS).floor(), (EXPOSURE * POINTS).floor(), EXPOSURE > 0)


def tail(found: pl.DataFrame) -> pl.DataFrame:
    """Return the share of the exposure that the item at each place has, the most shown items first: model, place, share."""
    place = pl.col("place")
    ordered = found.filter(EXPOSURE > 0)
    ordered = ordered.sort(*OF_MODEL, "exposure", descending=[False, False, True])
    share = EXPOSURE / (EXPOSURE * ITEMS).sum().over(OF_MODEL)
    ordered = ordered.select(
        "model", *OF_MODEL, ITEMS.cum_sum().over(OF_MODEL).alias("place"), share=share
    )
    first = ordered.unique(OF_MODEL, keep="first", maintain_order=True)
    first = first.filter(place > 1).with_columns(place=pl.lit(1, pl.Int64))
    points = pl.concat([first, ordered]).sort(*OF_MODEL, "place")
    return _thinned(points, (place.log() * DECADE).floor())


def _thinned(points: pl.DataFrame, *steps: pl.Expr) -> pl.DataFrame:
    """Return the last point of each step, and the first and the last of each curve."""
    ends = [(step != step.shift(-1)).over(OF_MODEL).fill_null(value=True) for step in steps]
    first = pl.int_range(pl.len()).over(OF_MODEL) == 0
    return points.filter(pl.any_horizontal(ends) | first)


class PlotsOfLists(Canvas):
    """The chart of items."""

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
        rec, look = self._rec, self._look
        check_whole(rec, "exposure()")
        k = None if k is None else options.whole("k", k, 1)
        names = models_of(rec)
        found, catalogue = _exposures(rec, k, names)
        curve, steps = safe(lorenz(found, catalogue)), safe(tail(found))
        places = "places" if k is None else f"places up to {k}"
        width = inner_width(look)
        curve, steps = (one.with_columns(label=_label(curve)) for one in (curve, steps))
        series = Series(
            names.order, look, by_value(curve.filter(~pl.col("is_train")), "gini", lower=True)
        )
        curve, steps = series.in_front(curve), series.in_front(steps)
        both = _with_train(series, curve)
        above = _lorenz_view(curve, both, places, look)
        fields: Fields = {
            "place:Q": ("place of the item", ",d"),
            "share:Q": ("share of an item", ".4%"),
        }
        most = lines("items from the most shown to the least (place, logarithmic)", width)
        axis, scale = {"grid": False, "format": "~s"}, {"type": "log", "nice": False}
        x = alt.X("place:Q", title=most, scale=scale, axis=axis)
        of_each = lines(f"share of {places}, each item (logarithmic)", HEIGHT)
        ticks = {"format": "~p", "tickCount": 5}
        y = alt.Y("share:Q", title=of_each, scale={"type": "log"}, axis=ticks)
        line = _line(steps, x, y, fields, both, interpolate="step-before")
        below = layered(steps, line, height=HEIGHT)
        views = [one.properties(width=width) for one in (above, below)]
        chart = alt.vconcat(*views, spacing=18)
        subtitle = "Above: the further below the diagonal, the more goes to few items. Below: how steeply the tail falls."
        ginis = curve.unique("model", keep="first", maintain_order=True)
        numbers = [f"Gini of {one['model']} {one['gini']:.3f}" for one in ginis.to_dicts()]
        title, empty = "Exposure of the items", curve.is_empty()
        words = subtitle + series.words
        return finished(chart, look, title, words, numbers=numbers, empty=empty)
