"""Charts of users' values and of scores: how they are spread, in bins that were counted before."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.look.style import (
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
from recframe.look.themes import DASHES, GROUPS
from recframe.metrics.language.definition import Metric

HEIGHT = 220
ROW = 20
"""The height of a model's row of zeros, in pixels."""
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
    """Return the width of what stands left of the marks, where models are named there."""
    if not series.named:
        return 100
    longest = max(map(len, series.names), default=0) * LETTER
    return min(longest, max(series.look.width // 3, NARROW_SIDE)) + 50
