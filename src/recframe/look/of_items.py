"""The chart of the items that are shown: the Lorenz curve and the long tail, of lists and of train."""

from __future__ import annotations

import polars as pl

from recframe.look.style import (
    Series,
    alt,
    drawn,
    finished,
    inner_width,
    layered,
    legend_of,
    lines,
    safe,
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
    encodings = _with_train(series, curve)
    first, second = (
        _lorenz(curve, series, encodings, places),
        _tail(tail, series, encodings, places),
    )
    chart = alt.vconcat(first, second, spacing=18)
    told = "Above: the further below the diagonal, the more goes to few items. Below: how steeply the tail falls."
    return finished(chart, series.look, "Exposure of the items", told, empty=curve.is_empty())


Encodings = tuple[alt.Color, alt.StrokeDash]


def _lorenz(
    curve: pl.DataFrame, series: Series, encodings: Encodings, places: str
) -> alt.LayerChart:
    """Return shares of items against shares of exposure, with the diagonal where all items have the same."""
    width, colours = inner_width(series.look), series.look.colours
    even = alt.Chart(pl.DataFrame({"items": [0.0, 1.0], "exposure": [0.0, 1.0]}))
    even = even.mark_line(color=colours.band, strokeWidth=1.5)
    items = alt.X(
        "items:Q",
        title=lines("share of the catalogue's items, the least shown first (%)", width),
        axis=alt.Axis(format="%"),
    )
    exposed = alt.Y("exposure:Q", title=f"share of all {places} (%)", axis=alt.Axis(format="%"))
    colour, dash = encodings
    lorenz = drawn(curve).mark_line(strokeWidth=2)
    lorenz = lorenz.encode(
        x=items,
        y=exposed,
        color=colour,
        strokeDash=dash,
        order="items:Q",
        tooltip=[
            alt.Tooltip("model:N", title=WHOM),
            alt.Tooltip("items:Q", title="share of the items", format=".2%"),
            alt.Tooltip("exposure:Q", title=f"share of the {places}", format=".2%"),
            alt.Tooltip("gini:Q", title="gini (0: all the same)", format=".4f"),
        ],
    )
    diagonal = even.encode(x="items:Q", y="exposure:Q")
    return layered(curve, diagonal, lorenz, height=HEIGHT).properties(width=width)


def _tail(tail: pl.DataFrame, series: Series, encodings: Encodings, places: str) -> alt.LayerChart:
    """Return the share of each item, from the most shown to the least."""
    width = inner_width(series.look)
    place = alt.X(
        "place:Q",
        title=lines("items from the most shown to the least (place, logarithmic)", width),
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(grid=False, format="~s"),
    )
    share = alt.Y(
        "share:Q",
        title=lines(f"share of {places}, each item (logarithmic)", HEIGHT),
        scale=alt.Scale(type="log"),
        axis=alt.Axis(format="~p", tickCount=5),
    )
    colour, dash = encodings
    steps = drawn(tail).mark_line(strokeWidth=2, interpolate="step-before")
    steps = steps.encode(
        x=place,
        y=share,
        color=colour,
        strokeDash=dash,
        order="place:Q",
        tooltip=[
            alt.Tooltip("model:N", title=WHOM),
            alt.Tooltip("place:Q", title="place of the item", format=",d"),
            alt.Tooltip("share:Q", title="share of an item", format=".4%"),
        ],
    )
    return layered(tail, steps, height=HEIGHT).properties(width=width)


def _with_train(series: Series, data: pl.DataFrame) -> Encodings:
    """Return the encodings of models, and of train in the ink of the theme where it is among the data."""
    if not data["is_train"].any():
        return series.colour(), series.dash()
    names = [*series.names, data.filter("is_train")["model"][0]]
    legend = legend_of(names, series.look)
    colours = [*series.colours, series.look.colours.ink]
    dashes = [*series.dashes, [3, 2]]
    return (
        alt.Color("model:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
        alt.StrokeDash("model:N", scale=alt.Scale(domain=names, range=dashes), legend=legend),
    )
