"""Charts of values in bins: metrics of users, and scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from recframe.charts.chart_words import Fields, by_value, said_of
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
    HEADING,
    LETTER,
    Canvas,
    Series,
    alt,
    axis_title,
    drawn,
    finished,
    inner_width,
    layered,
    lines,
    number_format,
    safe,
    tooltips,
)
from recframe.charts.themes import GROUPS
from recframe.frames.inputs import Inputs
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.ranking.judged_frame import PAIR, judge
from recframe.ranking.relevance import is_relevant_row

HEIGHT = 220
ROW = 20
"""Height of a model's row of zeros, in pixels."""
PANEL = 110
NARROW_SIDE = 90
LONG_BAR = 0.85
"""Share from which the number of a bar is in it."""
ROUNDING = 1e-9
"""Tolerance at the upper end of a bin."""
MODEL = ["model", "model_place"]
VALUE, N, WIDTH, BIN = (pl.col(one) for one in ("value", "n", "width", "bin"))


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
    rec: Any, metric: Metric[...], bins: int, names: Names
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return how many users have a value in each bin up to and with its upper end, and how many have 0."""
    inputs, values = values_of_users(rec, metric)
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
    rec: Any,
    rows: pl.LazyFrame,
    keys: list[str],
    bins: int,
    inputs: Inputs,
    names: Names,
    *sums: str,
) -> pl.DataFrame:
    """Return the number of rows in each bin with its ends and sums of columns, and the models as text with their places."""
    least, width = pl.col("least").first(), _width(bins).first()
    counts = rows.group_by(*inputs.model, *keys, "bin")
    added = {name: pl.col(name).sum() for name in sums}
    plan = counts.agg(n=pl.len().cast(pl.Int64), least=least, width=width, **added)
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
    """Return the number of rows per score bin, by whether their items are relevant, and each model's `area`, its AUC."""
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
    places = VALUE.rank("average")
    places = places.over(model) if model else places
    rows = rows.with_columns(bin=_within(_place(bins).floor(), bins), places=places)
    found = _counted(rec, rows, ["group"], bins, inputs, names, "places")
    group = pl.col("group").replace_strict(dict(enumerate(GROUPS)), return_dtype=pl.String)
    found = found.with_columns(group, share=N / N.sum().over("model", "group"))
    return found.join(_auc(found), on="model", how="left").sort("model_place", "group", "bin")


def _auc(found: pl.DataFrame) -> pl.DataFrame:
    """Return each model's share of pairs, of a relevant row and another one, in which the relevant one has the higher score.

    Equal scores count half. With R the sum of the places of n relevant rows among all rows by score, the lowest first, and m
    other rows it is (R - n (n + 1) / 2) / (n m).
    """
    is_relevant = pl.col("group") == GROUPS[0]
    n = N.filter(is_relevant).sum().cast(pl.Float64)
    m = N.filter(~is_relevant).sum().cast(pl.Float64)
    above = pl.col("places").filter(is_relevant).sum() - n * (n + 1) / 2
    return found.group_by("model", maintain_order=True).agg(
        area=(above / (n * m)).fill_nan(None),
        n_relevant=n.cast(pl.Int64),
        n_others=m.cast(pl.Int64),
    )


def _by_relevance(lists: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return list rows with whether their items are relevant: the index in `GROUPS`."""
    if inputs.truth is not None:
        truth = inputs.identified("truth").group_by(PAIR).agg(pl.col("relevance").max())
        lists = lists.join(truth, on=PAIR, how="left")
    group = pl.when(is_relevant_row(inputs).fill_null(value=False)).then(0).otherwise(1)
    return lists.with_columns(group=group.cast(pl.Int8))


def _scores_of(rows: pl.DataFrame, data: pl.DataFrame, name: str, series: Series) -> alt.LayerChart:
    """Return the scores of one model: of relevant items in its colour, in front of those of all others."""
    look, first = series.look, rows.filter(model=name).row(0, named=True)
    title = lines(f"score of {name}" if series.named else "score", inner_width(look))
    told: Fields = {
        "group:N": "items",
        "low:Q": ("from score", ",.4~g"),
        "high:Q": ("to score", ",.4~g"),
        "share:Q": ("share of the group", ".2%"),
        "n:Q": ("rows", ",d"),
    }
    of_model = drawn(data).transform_filter(alt.FieldEqualPredicate(field="model", equal=name))
    base = of_model.encode(
        x=_of_bins(title),
        y=alt.Y(
            "share:Q", title=["share of the", "group's rows (%)"], axis={"format": "%"}, stack=None
        ),
        tooltip=tooltips(series.told(told)),
    )
    own = series.colours[series.names.index(name)]
    areas = []
    for group, colour in zip(GROUPS[::-1], (look.colours.others, own), strict=True):
        of_group = base.transform_filter(alt.FieldEqualPredicate(field="group", equal=group))
        area = of_group.mark_area(interpolate="step-after", opacity=0.55, line={"color": colour})
        areas.append(area.encode(color=alt.ColorValue(colour)))
    auc = "no AUC" if first["area"] is None else f"AUC {first['area']:.3f}"
    said = f"{first['n_relevant']:,} relevant rows, {first['n_others']:,} others"
    words = f"{f'{name}: ' if series.named else ''}{auc} ({said})"
    heading = alt.TitleParams(lines(words, look.width * 0.8), color=look.colours.ink, **HEADING)
    return alt.LayerChart(layer=areas, height=PANEL, width=inner_width(look), title=heading)


def _bins_or_steps(data: pl.DataFrame, series: Series) -> alt.Chart:
    """Return the bars of one model, or the steps of several."""
    if not series.named:
        bars: alt.Chart = drawn(data).mark_bar(binSpacing=1).encode(x2="high:Q")
        return bars
    steps = drawn(data).mark_line(interpolate="step-after", strokeWidth=2)
    width = {"strokeWidth": series.of_coloured(2.5, 1)} if series.others else {}
    lines_of: alt.Chart = steps.encode(strokeDash=series.dash(legend=False), order="low:Q", **width)
    return lines_of


def _with_shares(
    zeros: pl.DataFrame, base: alt.Chart, colour: alt.Color, series: Series, width: int
) -> alt.LayerChart:
    """Return the bars of users with 0, each with its share beside it, or in it where it is long."""
    bars = base.mark_bar(height={"band": 0.7}).encode(color=colour)
    share, of = alt.Text("share:Q", format=".1%"), series.look.colours
    short = base.transform_filter(alt.FieldLTPredicate(field="share", lt=LONG_BAR))
    long = base.transform_filter(alt.FieldGTEPredicate(field="share", gte=LONG_BAR))
    texts = [
        short.mark_text(align="left", dx=4, color=of.ink).encode(text=share),
        long.mark_text(align="right", dx=-4, color=of.background).encode(text=share),
    ]
    height = max(len(series.names), 1) * ROW
    return layered(zeros, bars, *texts, height=height).properties(width=width)


def _most_served(zeros: pl.DataFrame, metric: Metric[...]) -> str:
    """Return which model leaves the fewest users with 0, or how many one model does."""
    rows = zeros.drop_nulls("share").sort("share").to_dicts()
    if not rows or (len(rows) > 1 and rows[0]["share"] == rows[1]["share"]):
        return ""
    best = rows[0]
    if len(rows) == 1:
        return f"{best['share']:.1%} of {noun_of(metric)}s have {metric} = 0"
    return (
        f"{best['model']} has the fewest {noun_of(metric)}s with {metric} = 0: {best['share']:.1%}"
    )


class PlotsOfBins(Canvas):
    """Charts of users' values and of scores."""

    def distribution(
        self,
        metric: str | Metric[...],
        *,
        k: int | None = None,
        bins: int = 20,
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
        data, zeros = _values_in_bins(rec, metric, bins, names)
        series = Series(names.order, look, by_value(safe(zeros), "share", lower=True))
        data, zeros = series.in_front(safe(_filled(data, MODEL, bins))), safe(zeros)
        counts: Fields = {"share:Q": ("share of users", ".2%"), "n:Q": ("users", ",d")}
        colour, per_cent = series.colour(legend=False), {"format": "%"}
        width = inner_width(look, _left(series))
        none = lines(f"users with {metric} = 0 (%)", width)
        at_zero = drawn(zeros).encode(
            x=alt.X("share:Q", title=none, axis=per_cent, scale={"domain": [0, 1]}),
            tooltip=tooltips(series.told(counts)),
        )
        kind = number_format(metric)
        fields = {"low:Q": ("above", kind), "high:Q": ("up to", kind), **counts}
        x = _of_bins(axis_title(metric, look, length=width))
        y = alt.Y("share:Q", title="share of users (%)", axis=per_cent)
        if series.named:
            at_zero = at_zero.encode(
                y=alt.Y("model:N", sort=series.by_value, title=None, axis={"tickSize": 0})
            )
        else:
            data = data.filter(pl.col("low") < pl.col("high"))
            x["bin"] = "binned"
        marks = _bins_or_steps(data, series)
        marks = marks.encode(x=x, y=y, color=colour, tooltip=tooltips(series.told(fields)))
        others = layered(data, marks, height=HEIGHT).properties(width=width)
        chart = alt.vconcat(_with_shares(zeros, at_zero, colour, series, width), others, spacing=14)
        users = users_of(zeros, "users", noun_of(metric))
        subtitle = f"Values of {users}: zeros above, all others below, each bin up to and with its upper end."
        title = f"Distribution of {metric} over users"
        first, *more = said_of(zeros, "share", ".1%", interval=False) or [""]
        words: dict[str, Any] = {"numbers": [f"With 0: {first}", *more], "empty": zeros.is_empty()}
        words["finding"] = _most_served(zeros, metric)
        return finished(chart, look, title, subtitle + series.words, **words)

    def scores(self, *, bins: int = 40) -> alt.VConcatChart:
        """Draw the scores of relevant items in front of those of all others: a view for each model, with its AUC.

        AUC is the share of pairs of rows, a relevant one and another one of any user, in which the relevant one has the higher
        score; equal scores count half. Each group's rows add up to 100%, so that the few relevant ones are seen. Scores run
        over `bins` between the lowest and the highest of a model; the scores of two models have no common scale. Rows of users
        outside the universe, and those without a finite score, are left out.

        Raises a ColumnError without a column of scores.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 1], "item": [1, 2], "score": [0.9, 0.1], "relevance": [1, None]})
        >>> data = df.rec.plot.scores(bins=2).data
        >>> data.filter(pl.col("n") > 0).select("group", "n", "share").rows()
        [('all others', 1, 1.0), ('relevant', 1, 1.0)]
        """
        rec, look = self._rec, self._look
        check_whole(rec, "scores()")
        names = models_of(rec)
        found = _scores_in_bins(rec, bins, names)
        of_models = [*MODEL, "group", "area", "n_relevant", "n_others"]
        data = safe(_filled(found, of_models, bins))
        rows = data.unique("model", keep="first", maintain_order=True).sort(
            "area", descending=True, nulls_last=True
        )
        series = Series(names.order, look, rows["model"].to_list())
        shown = [one for one in series.coloured if one in rows["model"]]
        panels = [_scores_of(rows, data, name, series) for name in shown]
        empty = drawn(data).mark_point().properties(width=inner_width(look), height=PANEL)
        chart = alt.vconcat(*(panels or [empty]), data=data, spacing=14)
        subtitle = "In colour: relevant items; grey: all others. Each group's rows add up to 100%; scores of two models have "
        subtitle += "no common scale. AUC: how often a relevant row has the higher score of two."
        if series.others:
            subtitle += f" {series.others[0].upper()}{series.others[1:]} are not drawn."
        best = rows.drop_nulls("area").row(0, named=True) if rows["area"].count() else None
        finding = (
            f"{best['model']} separates relevant items best: AUC {best['area']:.3f}"
            if best and len(rows) > 1
            else ""
        )
        if best and len(rows) == 1:
            finding = f"A relevant row has the higher score in {best['area']:.0%} of pairs"
        words: dict[str, Any] = {
            "finding": finding,
            "numbers": said_of(rows, "area", ".3f", interval=False),
            "empty": data.is_empty(),
        }
        return finished(chart, look, "Scores by relevance", subtitle, **words)
