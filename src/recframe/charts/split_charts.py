"""Chart of a split: rows over time, by fold and part."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.audit.split_rows import FILTERED
from recframe.charts.chart_words import Fields, in_words
from recframe.charts.formatting import counted, per_cent
from recframe.charts.style import (
    alt,
    drawn,
    finished,
    layered,
    legend_of,
    lines,
    safe,
    tooltips,
)
from recframe.charts.themes import Look
from recframe.errors import ColumnError
from recframe.frames.dtypes import as_text
from recframe.frames.hints import NAMED, bind
from recframe.frames.options import FOLD
from recframe.splits.labelling import Labels

STRETCHES = 80
"""Most stretches of time that rows are counted in."""
FULL = 0.88
"""The height of the most rows, as a share of a band."""
TALLEST, LEAST = 90, 22
"""Heights of a band, in pixels: of one fold, and of very many."""
GROUPS = ("train", "fold_in", "truth", "left out by a filter", "neither")
"""The parts in a legend; gap, earlier and later are neither."""
part = pl.col("part").cast(pl.String)


def chart_of(labels: Labels, look: Look) -> alt.LayerChart:
    """Return the chart of a split."""
    if not labels.log.has_time:
        msg = f"s.plot() draws rows over time, and the log has none: {bind(time=NAMED)}"
        raise ColumnError(msg)
    counts = _counts(labels)
    data = safe(_as_bars(counts, labels.folds, labels.log.schema["time"]))
    numbers, finding = _said(counts)
    fields: Fields = {
        f"{FOLD}:O": "fold",
        "group:N": "part",
        "_from:N": "from",
        "_to:N": "before",
        "rows:Q": ("rows", ",d"),
    }
    data, told = in_words(data, fields)
    kept = [name for name in GROUPS if name in {*data["group"]}]
    kind = "T" if labels.log.schema["time"].is_temporal() else "Q"
    title = lines(labels.log.names["time"], look.width / 2)
    across = alt.X(f"low:{kind}", title=title, scale=alt.Scale(nice=False, zero=False))
    base = drawn(data).encode(x=across, x2=alt.X2("high", title=title), tooltip=tooltips(told))
    bars = base.mark_rect(stroke=None).encode(
        y=_bands(labels.folds), y2="_to_row", color=_colour(kept, look)
    )
    n_folds = len(labels.folds)
    height = n_folds * max(TALLEST - 8 * (n_folds - 1), LEAST)
    subtitle = f"{labels.rule.words}. Height: rows in stretches of equal length."
    words: dict[str, Any] = {"finding": finding, "numbers": numbers, "empty": counts.is_empty()}
    return finished(
        layered(data, bars, height=height), look, "Rows over time by part", subtitle, **words
    )


def _counts(labels: Labels) -> pl.DataFrame:
    """Return the rows of each fold, group of parts and stretch, and where each stretch begins and ends as numbers."""
    time = pl.col("time").to_physical().cast(pl.Float64)
    is_whole = labels.log.schema["time"] == pl.Date or labels.log.schema["time"].is_integer()
    filtered = pl.when(part.is_in(FILTERED)).then(pl.lit(GROUPS[3]))
    group = filtered.when(part.is_in(GROUPS[:3])).then(part).otherwise(pl.lit(GROUPS[4]))
    run = labels.log.kind.run
    known = {
        fold: rows.filter((part != "null") & pl.col("time").is_not_null())
        for fold, rows in labels.by_fold.items()
    }
    ends = run(next(iter(known.values())).select(low=time.min(), high=time.max()))
    low, high = ends.row(0)
    if low is None:
        low = high = 0.0
    # of whole numbers a stretch has as many as any other
    length = (high - low) / STRETCHES or 1.0
    length = float(max(-(-(high - low + 1) // STRETCHES), 1)) if is_whole else length
    place = ((time - low) / length).floor().clip(0, STRETCHES - 1)
    each = [
        rows.group_by(place.alias("place"), group.alias("group"))
        .agg(pl.len().cast(pl.Int64).alias("rows"))
        .with_columns(pl.lit(fold, pl.Int64).alias(FOLD))
        for fold, rows in known.items()
    ]
    begin = low + pl.col("place") * length
    return run(pl.concat(each)).with_columns(low=begin, high=begin + length)


def _as_bars(counts: pl.DataFrame, folds: list[int], dtype: pl.DataType) -> pl.DataFrame:
    """Return counts as bars that stand on one another in the band of their fold, which counts from above."""
    places = pl.col("group").replace_strict(GROUPS, range(len(GROUPS)), return_dtype=pl.Int64)
    data = counts.sort(FOLD, "place", places)
    at = [FOLD, "place"]
    rows, below = pl.col("rows"), pl.col("rows").cum_sum().over(at)
    highest = data.select(rows.sum().over(at).max()).item() or 1
    floor = pl.col(FOLD).replace_strict(folds, range(len(folds)), return_dtype=pl.Int64) + 1
    data = data.with_columns(
        _from_row=floor - (below - rows) / highest * FULL, _to_row=floor - below / highest * FULL
    )
    if dtype.is_temporal():
        physical = pl.Int32 if dtype == pl.Date else pl.Int64
        times = pl.col("low", "high").round().cast(physical).cast(dtype)
        data = data.with_columns(times)
        zone = getattr(dtype, "time_zone", None)
        data = (
            data
            if zone is None
            else data.with_columns(pl.col("low", "high").dt.replace_time_zone(None))
        )
    kind = data.schema["low"]
    return data.with_columns(
        _from=as_text(pl.col("low"), kind), _to=as_text(pl.col("high"), kind)
    ).drop("place")


def _bands(folds: list[int]) -> alt.Y:
    """Return the axis on which each fold has a band."""
    names = [f"fold {fold}" if len(folds) > 1 else "" for fold in folds]
    axis = {
        "values": [place + 0.5 for place in range(len(folds))],
        "labelExpr": f"{names}[floor(datum.value)]",
        "grid": False,
        "ticks": False,
        "domain": False,
    }
    scale = alt.Scale(domain=[0, len(folds)], reverse=True, nice=False)
    return alt.Y("_from_row:Q", title=None, axis=axis, scale=scale)


def _colour(kept: list[str], look: Look) -> alt.Color:
    """Return the encoding of parts by colour."""
    of = look.colours
    colours = dict(
        zip(
            GROUPS,
            (*of.models[:1], of.models[2], of.models[1], of.models[3], of.others),
            strict=True,
        )
    )
    scale = {"domain": kept, "range": [colours[name] for name in kept]}
    return alt.Color("group:N", scale=scale, legend=legend_of(kept, look))


def _said(counts: pl.DataFrame) -> tuple[list[str], str]:
    """Return the rows of train and truth of each fold, and the finding: the share of truth."""
    numbers, shares = [], []
    for (fold,), rows in counts.sort(FOLD).group_by(FOLD, maintain_order=True):
        n_train, n_truth = (
            int(rows.filter(pl.col("group").is_in(groups))["rows"].sum())
            for groups in (GROUPS[:2], GROUPS[2:3])
        )
        numbers.append(f"fold {fold} {counted(n_train, 'row')} in train and {n_truth:,} in truth")
        if n_train + n_truth:
            shares.append(n_truth / (n_train + n_truth))
    if not shares:
        return numbers, ""
    ends = [per_cent(one) for one in dict.fromkeys([min(shares), max(shares)])]
    return numbers, f"Truth has {' to '.join(dict.fromkeys(ends))} of the rows of train and truth"
