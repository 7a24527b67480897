"""Charts of users' values, scores, item exposure and audit findings."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.audit.data import SEVERITIES
from recframe.charts.formatting import counted
from recframe.charts.style import (
    LETTER,
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
from recframe.charts.themes import DASHES, GROUPS, Look
from recframe.metrics.language.definition import Metric

HEIGHT = 220
ROW = 20
"""Height of a model's row of zeros, in pixels."""
PANEL = 120
NARROW_SIDE = 90


def distribution(
    data: pl.DataFrame, zeros: pl.DataFrame, series: Series, metric: Metric[...], users: str
) -> alt.VConcatChart:
    """Return users' values in bins: model, low, high, share, n; and the zeros: model, share, n."""
    width, n_models = inner_width(series.look, _left(series)), max(len(series.names), 1)
    counts: Fields = {"share:Q": ("share of users", ".2%"), "n:Q": ("users", ",d")}
    colour, per_cent = series.colour(legend=False), {"format": "%"}
    none = lines(f"users with {metric} = 0 (%)", width)
    at_zero = drawn(safe(zeros)).mark_bar(height={"band": 0.7})
    at_zero = at_zero.encode(
        x=alt.X("share:Q", title=none, axis=per_cent, scale={"domain": [0, 1]}),
        color=colour,
        tooltip=tooltips(series.told(counts)),
    ).properties(width=width, height=n_models * ROW)
    if series.named:
        model = alt.Y("model:N", sort=series.names, title=None, axis={"tickSize": 0})
        at_zero = at_zero.encode(y=model)
    kind = number_format(metric)
    ends: Fields = {"low:Q": ("above", kind), "high:Q": ("up to", kind)}
    data = safe(data)
    base = drawn(data).encode(
        x=alt.X(
            "low:Q",
            title=axis_title(metric, series.look, length=width),
            axis={"grid": False},
            scale={"zero": False, "nice": False},
            bin=alt.Undefined if series.named else "binned",
        ),
        y=alt.Y("share:Q", title="share of users (%)", axis=per_cent),
        color=colour,
        tooltip=tooltips(series.told({**ends, **counts})),
    )
    # bars of one model, steps of several
    marks = base.mark_bar(binSpacing=1).encode(x2="high:Q")
    if series.named:
        steps = base.mark_line(interpolate="step-after", strokeWidth=2)
        marks = steps.encode(strokeDash=series.dash(legend=False), order="low:Q")
    others = layered(data, marks, height=HEIGHT).properties(width=width)
    chart = alt.vconcat(at_zero, others, spacing=14)
    told = (
        f"Values of {users}: zeros above, all others below, each bin up to and with its upper end."
    )
    title = f"Distribution of {metric} over users"
    return finished(chart, series.look, title, told, empty=zeros.is_empty())


def scores(data: pl.DataFrame, series: Series) -> alt.VConcatChart:
    """Return scores in bins, by what is known of the item: model, group, low, high, share, n."""
    data, size = safe(data), {"width": inner_width(series.look), "height": PANEL}
    names = [one for one in series.names if one in data["model"]]
    panels = [
        _scores_of(data, name, series, legend=place == 0).properties(**size)
        for place, name in enumerate(names)
    ]
    empty = drawn(data).mark_point().properties(**size)
    chart = alt.vconcat(*(panels or [empty]), data=data, spacing=14)
    told = "Each group's rows add up to 100%; scores of two models have no common scale."
    return finished(chart, series.look, "Scores by relevance", told, empty=data.is_empty())


def _scores_of(data: pl.DataFrame, name: str, series: Series, *, legend: bool) -> alt.Chart:
    """Return the scores of one model."""
    shown = [one for one in GROUPS if one in data["group"]] if legend else []
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
        x=alt.X(
            "low:Q",
            title=lines(f"{title} (its own unit)", inner_width(series.look)),
            scale={"zero": False, "nice": False},
            axis={"grid": False},
        ),
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


def _left(series: Series) -> float:
    """Return the width left of the marks, for model names."""
    if not series.named:
        return 100
    longest = max(map(len, series.names), default=0) * LETTER
    return min(longest, max(series.look.width // 3, NARROW_SIDE)) + 50


WHOM = "lists of, or train"


def exposure(
    curve: pl.DataFrame, tail: pl.DataFrame, series: Series, places: str
) -> alt.VConcatChart:
    """Return the Lorenz curve and the long tail, of lists and of train.

    The curve: model, items, exposure (shares that add up), gini. The tail: model, place, share. Train is a model of its own.
    """
    curve, tail = safe(curve), safe(tail)
    width, share, colours = inner_width(series.look), {"format": "%"}, series.look.colours
    even = alt.Chart(pl.DataFrame({"items": [0.0, 1.0], "exposure": [0.0, 1.0]}))
    even = even.mark_line(color=colours.band, strokeWidth=1.5)
    told: Fields = {
        "items:Q": ("share of the items", ".2%"),
        "exposure:Q": (f"share of the {places}", ".2%"),
        "gini:Q": ("gini (0: all the same)", ".4f"),
    }
    least = lines("share of the catalogue's items, the least shown first (%)", width)
    x = alt.X("items:Q", title=least, axis=share)
    y = alt.Y("exposure:Q", title=f"share of all {places} (%)", axis=share)
    both = _with_train(series, curve)
    lorenz = _line(curve, x, y, told, both)
    diagonal = even.encode(x="items:Q", y="exposure:Q")
    above = layered(curve, diagonal, lorenz, height=HEIGHT).properties(width=width)
    told = {"place:Q": ("place of the item", ",d"), "share:Q": ("share of an item", ".4%")}
    most = lines("items from the most shown to the least (place, logarithmic)", width)
    axis, scale = {"grid": False, "format": "~s"}, {"type": "log", "nice": False}
    x = alt.X("place:Q", title=most, scale=scale, axis=axis)
    of_each = lines(f"share of {places}, each item (logarithmic)", HEIGHT)
    ticks = {"format": "~p", "tickCount": 5}
    y = alt.Y("share:Q", title=of_each, scale={"type": "log"}, axis=ticks)
    steps = _line(tail, x, y, told, both, interpolate="step-before")
    below = layered(tail, steps, height=HEIGHT).properties(width=width)
    chart = alt.vconcat(above, below, spacing=18)
    words = "Above: the further below the diagonal, the more goes to few items. Below: how steeply the tail falls."
    return finished(chart, series.look, "Exposure of the items", words, empty=curve.is_empty())


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


POINTS = 100
"""Steps of each axis with a point of their own, at the most."""
DECADE = 20
"""Points along a factor of e of the places."""
N, ITEMS = pl.col("exposure"), pl.col("items")
OF_MODEL = ["model_place", "is_train"]


def lorenz(found: pl.DataFrame, catalogue: int) -> pl.DataFrame:
    """Return shares of items and of exposure that add up, the least shown items first: model, items, exposure, gini.

    `found` says how many `items` have each `exposure`, of each model and of train; the other items of the catalogue have 0.
    Gini is that of the metric: Σ over j of (2j - N - 1) · e_(j) / ((N - 1) · Σ e).
    """
    ordered = found.filter(N > 0).sort(*OF_MODEL, "exposure")
    unlisted = catalogue - ITEMS.sum().over(OF_MODEL)
    up_to = unlisted + ITEMS.cum_sum().over(OF_MODEL)
    total = (N * ITEMS).sum().over(OF_MODEL)
    ordered = ordered.with_columns(
        up_to=up_to, total=total, taken=(N * ITEMS).cum_sum().over(OF_MODEL), unlisted=unlisted
    )
    before = pl.col("up_to") - ITEMS
    spread = (N * ITEMS * (2 * before + ITEMS - catalogue)).sum().over(OF_MODEL)
    gini = spread / (pl.col("total") * (catalogue - 1))
    ordered = ordered.with_columns(gini=gini.fill_nan(0.0).clip(0.0, 1.0))
    starts = [
        ordered.unique(OF_MODEL, keep="first", maintain_order=True).with_columns(
            up_to=at, taken=pl.lit(0, pl.Int64)
        )
        for at in (pl.lit(0, pl.Int64), pl.col("unlisted"))
    ]
    points = pl.concat([*starts, ordered]).select(
        "model",
        *OF_MODEL,
        "gini",
        items=pl.col("up_to") / catalogue,
        exposure=pl.col("taken") / pl.col("total"),
    )
    points = points.sort(*OF_MODEL, "items", "exposure")
    # the corner up to which nothing is shown has a step of its own
    steps = [(pl.col("items", "exposure") * POINTS).floor(), (pl.col("exposure") > 0).alias("seen")]
    return _thinned(points, steps)


def tail(found: pl.DataFrame) -> pl.DataFrame:
    """Return the share of the exposure that the item at each place has, the most shown items first: model, place, share."""
    ordered = found.filter(N > 0).sort(*OF_MODEL, "exposure", descending=[False, False, True])
    share = N / (N * ITEMS).sum().over(OF_MODEL)
    ordered = ordered.with_columns(place=ITEMS.cum_sum().over(OF_MODEL), share=share)
    first = ordered.unique(OF_MODEL, keep="first", maintain_order=True)
    first = first.filter(pl.col("place") > 1).with_columns(place=pl.lit(1, pl.Int64))
    columns = ["model", *OF_MODEL, "place", "share"]
    points = pl.concat([first, ordered]).select(columns).sort(*OF_MODEL, "place")
    return _thinned(points, [(pl.col("place").log() * DECADE).floor()])


def _thinned(points: pl.DataFrame, steps: list[pl.Expr]) -> pl.DataFrame:
    """Return the last point of each step, and the first and the last of each curve."""
    ends = [(one != one.shift(-1)).over(OF_MODEL).fill_null(value=True) for one in steps]
    differs = pl.any_horizontal(ends)
    first = pl.int_range(pl.len()).over(OF_MODEL) == 0
    return points.filter(differs | first)


STEP = 38
"""Height of a finding's row, in pixels."""
LEAST = 0.9
"""The start of stems, on an axis of logarithms."""
SHAPES = ("triangle-up", "diamond", "circle")
TOLD = {
    **{f"{one}:N": one for one in ("check", "severity", "frame", "example")},
    "treatment:N": "what recframe does",
    "remedy:N": "remedy",
}


def audit(data: pl.DataFrame, look: Look) -> alt.LayerChart:
    """Return findings: check, severity, frame, rows, users, example, treatment, remedy, as `audit` has them."""
    data, n = _labelled(safe(data)), len(data)
    size = alt.X(
        "drawn:Q",
        title=lines("rows concerned (logarithmic)", look.width - 40),
        scale={"type": "log", "domainMin": LEAST, "padding": 4},
        axis={"format": "~s", "tickCount": 5, "grid": False},
    )
    told = tooltips({**TOLD, "rows:Q": ("rows", ",d"), "users:Q": ("users", ",d")})
    base = drawn(data).encode(y=alt.Y("place:O", axis=None), x=size, tooltip=told)
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
    if not n:
        nothing = "The audit finds nothing odd", "No row of any frame is concerned."
        return finished(chart, look, *nothing)
    subtitle = f"{counted(n, 'finding')} of the audit, the most severe first."
    return finished(chart, look, "Findings of the audit", subtitle)


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
