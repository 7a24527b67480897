"""The chart of the items that are shown: the Lorenz curve and the long tail, of lists and of train."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.look.style import (
    Fields,
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

HEIGHT = 220
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
