"""Charts of users' values, scores, item exposure and audit findings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from recframe.audit.data import SEVERITIES
from recframe.charts.formatting import counted
from recframe.charts.long_format import (
    Names,
    check_of_users,
    check_whole,
    models_of,
    noun_of,
    one_metric,
    users_of,
    values_of_users,
    warned_of_truth,
)
from recframe.charts.style import (
    LETTER,
    Canvas,
    Fields,
    Series,
    alt,
    axis_title,
    drawn,
    finished,
    inner_width,
    layered,
    legend_of,
    lines,
    number_format,
    safe,
    tooltips,
)
from recframe.charts.themes import DASHES, GROUPS
from recframe.evaluation import metrics_of_lists
from recframe.evaluation.required_columns import needs_of
from recframe.frames.inputs import Inputs
from recframe.metrics import catalogue_metrics
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import PAIR, judge
from recframe.ranking.relevance import is_relevant_row
from recframe.side_info.aggregation_levels import Levels
from recframe.side_info.requirements import check_needs
from recframe.statistics import options

HEIGHT = 220
ROW = 20
"""Height of a model's row of zeros, in pixels."""
PANEL = 120
NARROW_SIDE = 90
ROUNDING = 1e-9
"""Tolerance at the upper end of a bin."""
MODEL = ["model", "model_place"]
VALUE, N, WIDTH, BIN, SHARE = (pl.col(one) for one in ("value", "n", "width", "bin", "share"))


def _of_bins(title: list[str]) -> alt.X:
    """Return the axis of values in bins."""
    return alt.X("low:Q", title=title, axis={"grid": False}, scale={"zero": False, "nice": False})


def _left(series: Series) -> float:
    """Return the width left of the marks, for model names."""
    if not series.named:
        return 100
    longest = max(map(len, series.names), default=0) * LETTER
    return min(longest, max(series.look.width // 3, NARROW_SIDE)) + 50


def _values_in_bins(
    rec: Any, metric: Metric[...], profile: str | None, bins: int, names: Names
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how many users have a value in each bin up to and with its upper end, and how many have 0."""
    inputs, values = values_of_users(rec, metric, profile)
    is_zero = VALUE == 0
    ends = dict(zip(("least", "most"), map(float, metric.range), strict=True))
    if all(map(math.isfinite, ends.values())):
        values = values.with_columns(pl.lit(end).alias(name) for name, end in ends.items())
    else:
        others = pl.when(~is_zero).then(VALUE)
        least, most = pl.min_horizontal(others.min(), 0.0), pl.max_horizontal(others.max(), 0.0)
        values = values.join(values.select(least=least, most=most), how="cross")
    bin_of = pl.when(~is_zero).then(_within((_place(bins) - ROUNDING).ceil() - 1, bins))
    values = values.with_columns(zero=is_zero, bin=bin_of)
    found = _counted(rec, values, ["zero"], bins, inputs, names)
    zeros = found.group_by(MODEL).agg(n=N.filter("zero").sum(), users=N.sum()).sort("model_place")
    above = found.filter(~pl.col("zero")).drop("zero").join(zeros["model", "users"], on="model")
    share = N / pl.col("users")
    return above.with_columns(share=share).sort("model_place", "bin"), zeros.with_columns(
        share=share
    )


def _place(bins: int) -> pl.Expr:
    """Return how many bins a value is above the least one."""
    return (VALUE - pl.col("least")) / _width(bins)


def _width(bins: int) -> pl.Expr:
    return (pl.col("most") - pl.col("least")) / bins


def _within(place: pl.Expr, bins: int) -> pl.Expr:
    return place.fill_nan(0.0).clip(0, bins - 1).cast(pl.Int64)


def _counted(
    rec: Any, rows: pl.LazyFrame, keys: list[str], bins: int, inputs: Inputs, names: Names
) -> pl.DataFrame:
    """Return the number of rows in each bin with its ends, and the models as text with their places."""
    least, width = pl.col("least").first(), _width(bins).first()
    counts = rows.group_by(*inputs.model, *keys, "bin")
    plan = counts.agg(n=pl.len().cast(pl.Int64), least=least, width=width)
    found: pl.DataFrame = rec._kind.give(plan, {}, warned_of_truth(inputs))  # noqa: SLF001
    low = pl.col("least") + BIN * WIDTH
    found = found.with_columns(
        low=low, high=low + WIDTH, model=names.model(bound=bool(inputs.model))
    )
    return found.with_columns(model_place=names.place)


def _filled(data: pl.DataFrame, keys: Sequence[str], bins: int) -> pl.DataFrame:
    """Return bins completed with empty ones, and a final edge for drawing steps."""
    if data.is_empty():
        return data
    start = (pl.col("low") - BIN * WIDTH).first()
    ends = data.group_by(keys, maintain_order=True).agg(WIDTH.first(), start=start)
    every = ends.join(pl.DataFrame({"bin": range(bins + 1)}), how="cross")
    found = every.join(data.select(*keys, "bin", "share", "n"), on=[*keys, "bin"], how="left")
    low = pl.col("start") + BIN * WIDTH
    high = pl.when(bins > BIN).then(low + WIDTH).otherwise(low)
    return found.with_columns(pl.col("share", "n").fill_null(0), low=low, high=high)


def _scores_in_bins(rec: Any, bins: int, names: Names) -> pl.DataFrame:
    """Return the number of rows per score bin, by relevance group of their items."""
    context = rec._context  # noqa: SLF001
    scored = context.having(rank=None, score=context.names["score"], ties="item")
    inputs = rec._with(scored)._inputs(None)  # noqa: SLF001
    inputs = inputs.under(under_profile.own(inputs.context))
    judged, model = judge(inputs), inputs.model
    lists = judged.counted(inputs.identified("recommendations"), {"truth", "both"})
    lists = lists.with_columns(value=pl.col("score").cast(pl.Float64)).filter(VALUE.is_finite())
    ends = lists.group_by(model or pl.lit(1).alias("all")).agg(least=VALUE.min(), most=VALUE.max())
    rows = _by_relevance(lists, inputs)
    rows = rows.join(ends, on=model, nulls_equal=True) if model else rows.join(ends, how="cross")
    rows = rows.with_columns(bin=_within(_place(bins).floor(), bins))
    found = _counted(rec, rows, ["group"], bins, inputs, names)
    group = pl.col("group").replace_strict(dict(enumerate(GROUPS)), return_dtype=pl.String)
    share = N / N.sum().over("model", "group")
    return found.with_columns(group, share=share).sort("model_place", "group", "bin")


def _by_relevance(lists: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return list rows with the relevance group of their items: the index in `GROUPS`."""
    if inputs.truth is not None:
        truth = inputs.identified("truth").group_by(PAIR).agg(pl.col("relevance").max())
        lists = lists.join(truth, on=PAIR, how="left")
    relevant, judged = is_relevant_row(inputs), pl.col("relevance").is_not_null()
    group = pl.when(relevant.fill_null(value=False)).then(0).when(judged).then(1).otherwise(2)
    return lists.with_columns(group=group.cast(pl.Int8))


def _scores_of(data: pl.DataFrame, name: str, series: Series, *, legend: bool) -> alt.Chart:
    """Return the scores of one model."""
    shown = [group for group in GROUPS if group in data["group"]] if legend else []
    colour, dash = _groups(series, name, shown)
    title = f"score of {name}" if series.named else "score"
    told: Fields = {
        "group:N": "items",
        "low:Q": ("from score", ",.4~g"),
        "high:Q": ("to score", ",.4~g"),
        "share:Q": ("share of the group", ".2%"),
        "n:Q": ("rows", ",d"),
    }
    of_model = drawn(data).transform_filter(alt.FieldEqualPredicate(field="model", equal=name))
    panel: alt.Chart = of_model.mark_line(interpolate="step-after", strokeWidth=2).encode(
        x=_of_bins(lines(f"{title} (its own unit)", inner_width(series.look))),
        y=alt.Y("share:Q", title=["share of the", "group's rows (%)"], axis={"format": "%"}),
        color=colour,
        strokeDash=dash,
        order="low:Q",
        tooltip=tooltips(series.told(told)),
    )
    return panel


def _groups(series: Series, model: str, shown: list[str]) -> tuple[Any, alt.StrokeDash]:
    """Return the encodings of what is known of an item, with a legend of what is shown: relevant ones in the model's colour."""
    of, group = series.look.colours, alt.datum.group
    own = series.colours[series.names.index(model)]
    # NOTE: without a scale, since views that stand together share theirs
    relevant, judged = group == GROUPS[0], group == GROUPS[1]
    known = alt.when(relevant).then(alt.value(own)).when(judged).then(alt.value(of.ink))
    colour = known.otherwise(alt.value(of.quiet))
    dashes = {"domain": list(GROUPS), "range": list(DASHES[:3])}
    legend = legend_of(shown, series.look) if shown else None
    return colour, alt.StrokeDash("group:N", scale=dashes, legend=legend)


EXPOSURE, ITEMS = pl.col("exposure"), pl.col("items")
OF_MODEL = ["model_place", "is_train"]
POINTS = 100
"""Steps of each axis with a point of their own, at the most."""
DECADE = 20
"""Points along a factor of e of the places."""
TRAIN = "train"
WHOM = "lists of, or train"


def _exposures(rec: Any, k: int | None, names: Names) -> tuple[pl.DataFrame, int]:
    """Return the number of items per exposure, of models and of train, and the size of the catalogue.

    Train is a model of its own, the last one.
    """
    inputs = under_profile.at_home(rec._inputs(None, None, []))  # noqa: SLF001
    # whose items are the catalogue is what that metric says
    check_needs(inputs, catalogue_metrics.gini, needs_of(catalogue_metrics.gini).facts)
    judged = judge(inputs)
    (cut,) = metrics_of_lists.cuts_of(inputs, Levels(), [], k, rec._run())  # noqa: SLF001
    sides, n = cut.sides, pl.len().cast(pl.Int64)
    # NOTE: lists of users outside the universe are shown too, as in gini, which reads no relevance
    items = cut.rows.group_by(*inputs.model, "item").agg(exposure=n, is_train=pl.lit(value=False))
    if inputs.train is not None:
        no_model = [pl.lit(None, inputs.schema["model"]).alias(name) for name in inputs.model]
        count, is_train = VALUE.cast(pl.Int64), pl.lit(value=True)
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


def _line(
    data: pl.DataFrame, x: alt.X, y: alt.Y, told: Fields, both: dict[str, Any], **mark: Any
) -> alt.Chart:
    """Return a line for each model in the order of x."""
    tooltip = tooltips({"model:N": WHOM, **told})
    marks = drawn(data).mark_line(strokeWidth=2, **mark)
    line: alt.Chart = marks.encode(x=x, y=y, order=str(x.shorthand), tooltip=tooltip, **both)
    return line


def _with_train(series: Series, data: pl.DataFrame) -> dict[str, Any]:
    """Return the encodings of models, and of train in the ink of the theme where it is among the data."""
    if not data["is_train"].any():
        return {"color": series.colour(), "strokeDash": series.dash()}
    names = [*series.names, data.filter("is_train")["model"][0]]
    legend = legend_of(names, series.look)
    colours = {"domain": names, "range": [*series.colours, series.look.colours.ink]}
    dashes = {"domain": names, "range": [*series.dashes, [3, 2]]}
    colour = alt.Color("model:N", scale=colours, legend=legend)
    dash = alt.StrokeDash("model:N", scale=dashes, legend=legend)
    return {"color": colour, "strokeDash": dash}


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


STEP = 38
"""Height of a finding's row, in pixels."""
LEAST = 0.9
"""The start of stems, on an axis of logarithms."""
SHAPES = ("triangle-up", "diamond", "circle")
FIELDS = {
    **{f"{one}:N": one for one in ("check", "severity", "frame", "example")},
    "treatment:N": "what recframe does",
    "remedy:N": "remedy",
}


def _labelled(data: pl.DataFrame) -> pl.DataFrame:
    """Return findings with their labels."""
    words = [counted(n, "row") for n in data["rows"]]
    # some checks find something in each of several columns, which the examples name
    alone = pl.when(pl.struct("check", "frame").is_unique()).then("frame")
    column = pl.col("example").str.extract("(column .+)$").fill_null(pl.col("example"))
    where = alone.otherwise(pl.format("{}, {}", "frame", column))
    name = pl.col("check").str.replace_all("_", " ")
    return data.with_columns(
        place=pl.int_range(pl.len()),
        drawn=pl.max_horizontal("rows", 1),
        label=pl.format("{}: {} ({})", name, pl.Series(words, dtype=pl.String), where),
    )


class PlotsOfLists(Canvas):
    """Charts of users' values, scores, items and findings."""

    def distribution(
        self,
        metric: str | Metric[...],
        *,
        k: int | None = None,
        bins: int = 20,
        profile: str | None = None,
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
        rec, look = self._rec, self._look
        check_whole(rec, "distribution()")
        metric = one_metric("distribution", metric, k)
        check_of_users(metric)
        names = models_of(rec)
        series = Series(names.order, look)
        data, zeros = _values_in_bins(rec, metric, profile, bins, names)
        data = safe(_filled(data, MODEL, bins))
        counts: Fields = {"share:Q": ("share of users", ".2%"), "n:Q": ("users", ",d")}
        colour, per_cent = series.colour(legend=False), {"format": "%"}
        width = inner_width(look, _left(series))
        none = lines(f"users with {metric} = 0 (%)", width)
        at_zero = drawn(safe(zeros)).mark_bar(height={"band": 0.7})
        at_zero = at_zero.encode(
            x=alt.X("share:Q", title=none, axis=per_cent, scale={"domain": [0, 1]}),
            color=colour,
            tooltip=tooltips(series.told(counts)),
        ).properties(width=width, height=max(len(series.names), 1) * ROW)
        kind = number_format(metric)
        fields = {"low:Q": ("above", kind), "high:Q": ("up to", kind), **counts}
        x = _of_bins(axis_title(metric, look, length=width))
        y = alt.Y("share:Q", title="share of users (%)", axis=per_cent)
        if series.named:
            model = alt.Y("model:N", sort=series.names, title=None, axis={"tickSize": 0})
            at_zero = at_zero.encode(y=model)
            # bars of one model, steps of several
            steps = drawn(data).mark_line(interpolate="step-after", strokeWidth=2)
            marks = steps.encode(strokeDash=series.dash(legend=False), order="low:Q")
        else:
            data = data.filter(pl.col("low") < pl.col("high"))
            x["bin"] = "binned"
            marks = drawn(data).mark_bar(binSpacing=1).encode(x2="high:Q")
        marks = marks.encode(x=x, y=y, color=colour, tooltip=tooltips(series.told(fields)))
        others = layered(data, marks, height=HEIGHT).properties(width=width)
        chart = alt.vconcat(at_zero, others, spacing=14)
        users = users_of(zeros, "users", noun_of(metric))
        subtitle = f"Values of {users}: zeros above, all others below, each bin up to and with its upper end."
        title = f"Distribution of {metric} over users"
        return finished(chart, look, title, subtitle, empty=zeros.is_empty())

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
        width, share, colours = inner_width(look), {"format": "%"}, look.colours
        both = _with_train(Series(names.order, look), curve)
        fields: Fields = {
            "items:Q": ("share of the items", ".2%"),
            "exposure:Q": (f"share of the {places}", ".2%"),
            "gini:Q": ("gini (0: all the same)", ".4f"),
        }
        least = lines("share of the catalogue's items, the least shown first (%)", width)
        x = alt.X("items:Q", title=least, axis=share)
        y = alt.Y("exposure:Q", title=f"share of all {places} (%)", axis=share)
        even = alt.Chart(pl.DataFrame({"items": [0.0, 1.0], "exposure": [0.0, 1.0]}))
        even = even.mark_line(color=colours.band, strokeWidth=1.5)
        even = even.encode(x="items:Q", y="exposure:Q")
        above = layered(curve, even, _line(curve, x, y, fields, both), height=HEIGHT)
        fields = {"place:Q": ("place of the item", ",d"), "share:Q": ("share of an item", ".4%")}
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
        return finished(chart, look, "Exposure of the items", subtitle, empty=curve.is_empty())

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
        rec, look = self._rec, self._look
        check_whole(rec, "scores()")
        names = models_of(rec)
        series = Series(names.order, look)
        data = safe(_filled(_scores_in_bins(rec, bins, names), [*MODEL, "group"], bins))
        size = {"width": inner_width(look), "height": PANEL}
        shown = [one for one in series.names if one in data["model"]]
        panels = [
            _scores_of(data, name, series, legend=place == 0).properties(**size)
            for place, name in enumerate(shown)
        ]
        empty = drawn(data).mark_point().properties(**size)
        chart = alt.vconcat(*(panels or [empty]), data=data, spacing=14)
        subtitle = "Each group's rows add up to 100%; scores of two models have no common scale."
        return finished(chart, look, "Scores by relevance", subtitle, empty=data.is_empty())

    def audit(self, k: int | None = None) -> alt.LayerChart:
        """Draw what `rec.audit(k)` finds, by the number of rows that are concerned: the most severe first.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.plot.audit().data.select("check", "severity", "rows").rows()
        [('duplicate_items', 'error', 2), ('no_relevant_beyond_lists', 'warning', 2)]
        """
        data, look = self._rec.audit(k), self._look
        n, data = len(data), _labelled(safe(data))
        size = alt.X(
            "drawn:Q",
            title=lines("rows concerned (logarithmic)", look.width - 40),
            scale={"type": "log", "domainMin": LEAST, "padding": 4},
            axis={"format": "~s", "tickCount": 5, "grid": False},
        )
        fields = tooltips({**FIELDS, "rows:Q": ("rows", ",d"), "users:Q": ("users", ",d")})
        base = drawn(data).encode(y=alt.Y("place:O", axis=None), x=size, tooltip=fields)
        colours, domain = look.colours.severities, list(SEVERITIES)
        found = [one for one in domain if one in data["severity"]]
        legend = alt.Legend(title=None, orient="top", symbolOpacity=1, values=found)
        scale = {"domain": domain, "range": [colours[one] for one in domain]}
        colour = alt.Color("severity:N", scale=scale, legend=legend)
        shapes = {"domain": domain, "range": list(SHAPES)}
        stems = base.mark_rule(strokeWidth=3).encode(x2=alt.X2Datum(LEAST), color=colour)
        dots = base.mark_point(filled=True, size=80, opacity=1).encode(
            color=colour, shape=alt.Shape("severity:N", scale=shapes, legend=legend)
        )
        words = base.mark_text(align="left", baseline="bottom", dy=-6, limit=look.width - 30)
        words = words.encode(x=alt.value(2), text="label:N")
        chart = layered(data, stems, dots, words, height=max(n, 1) * STEP + 16)
        heading = (
            "Findings of the audit",
            f"{counted(n, 'finding')} of the audit, the most severe first.",
        )
        nothing = "The audit finds nothing odd", "No row of any frame is concerned."
        return finished(chart, look, *(heading if n else nothing))
