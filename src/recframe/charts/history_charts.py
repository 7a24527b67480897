"""Chart of a history: values over time, bands, changes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple

import polars as pl

from recframe.charts.formatting import counted
from recframe.charts.forms import (
    ENDS,
    SAID,
    USERS,
    Canvas,
    Encoding,
    Field,
    canvas,
    curves,
    finished,
    of_metric,
    views,
)
from recframe.charts.long_format import Names, Result, one_metric, with_segments
from recframe.charts.themes import ALL, Look
from recframe.errors import ColumnError, RecframeError, shown, suggestion
from recframe.frames.collecting import stream
from recframe.frames.kinds.kind import Kind
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse
from recframe.tracking.changed_runs import changes

MOST = 6
"""Most segments in one chart."""
A_HISTORY = "rf.history('history.parquet').rec.plot.timeline('ndcg@10')"
FIRST_KEY = 3
"""Place of the first column of segments and models among those of `rf.changes`, behind as_of, name and fingerprint."""


class Lines(NamedTuple):
    """Runs of a history, with the columns of `rf.changes`, as lines to draw."""

    rows: pl.DataFrame
    """Those of `rf.changes`, with `n_users`; the columns of segments are `key 0` and on, and `split` names those that count."""
    keys: dict[str, str]
    """The names of these columns inside, by their own."""
    window: int
    level: float

    @classmethod
    def of(cls, changes: pl.DataFrame, model: str, window: int, level: float) -> Lines:
        """Return the lines of the columns of `rf.changes`, with what each row was `split_by`."""
        names = changes.columns[: changes.columns.index("metric")]
        # some names are patterns to Polars
        keys = {name: f"key {place}" for place, name in enumerate(names) if name not in OF_RUN}
        there = [
            pl.when(pl.col(inside).is_not_null()).then(pl.lit(name))
            for name, inside in keys.items()
        ]
        split = pl.concat_str(there or [pl.lit("")], separator=", ", ignore_nulls=True)
        rows = changes.rename(keys).with_columns(split_by=pl.when(split != "").then(split))
        return cls(keys, rows, model, window, level)

    def splits_of(self, metric: str) -> list[list[str]]:
        """Return the columns that the numbers of a metric were split by: those of few columns first."""
        splits = self.rows.filter(metric=metric)["split"].unique().to_list()
        return sorted(splits, key=lambda one: (len(one), one))

    def chart(self, metric: str, split: Sequence[str], look: Look, most: int = MOST) -> Any:
        """Return the chart of a metric, by segment where it is split."""
        splits, wanted = self.splits_of(metric), [name for name in self.keys if name in split]
        if wanted not in splits or len(wanted) < len(split):
            asked = f"split by {', '.join(map(repr, split))}" if split else "of all users"
            calls = [f"by={shown(one[0] if len(one) == 1 else one)}" if one else "no by" for one in splits]
            msg = f"the history has no such number {asked}; draw those that it has, with {' or '.join(calls)}"
            raise RecframeError(msg)
        keys = [self.keys[name] for name in split]
        rows = self.rows.filter(pl.col("metric") == metric, pl.col("split") == pl.lit(wanted, self.rows.schema["split"]))
        rows = with_segments(rows.sort(*keys, "as_of", maintain_order=True), keys)
        names = Names(rows["model"].unique().sort().to_list())
        own = bool(keys) and all(isinstance(rows.schema[key], pl.Enum) for key in keys)
        known = _metric_of(metric)
        value = of_metric(known) if known else Field("value", f"{metric} {{}}", ends=ENDS, axis=metric)
        value = value._replace(axis=metric) if split else value
        expected = Field("expected", "expected {}", ends=("expected_low", "expected_high"))
        told = [Field("as_of", "as of {}"), value, expected, Field("verdict"), Field("note"), USERS]
        latest = rows.filter(as_of=rows["as_of"].max())
        lower = known is not None and known.direction == "lower"
        found = Result(rows, names, ", ".join(split), own)
        of = canvas(look, found, value, told, at=latest, lower=lower, most=most)
        x = {"field": "as_of", "type": "temporal", "title": None, "axis": {"grid": False}}
        y = of.up(150 if split else 280, padding=8)
        chart: Any = curves(of, x, y, more=_expected(of, x, y))
        chart = views(chart, look, "label", of.labels, 1) if split else chart
        title = f"{metric} over time" + (f", by {found.by}" if split else "")
        read = of.data.filter(pl.col("as_of") == pl.col("as_of").max().over("label", "model"))
        return finished(chart, of, title, self._told(of.data), _finding(metric, of.data), read)

    def _told(self, data: pl.DataFrame) -> str:
        """Return the description of the chart, in words."""
        bands = "Bands: intervals of the numbers. " * bool(data["low"].count())
        judged, flagged = data["flagged"].count(), int(data["flagged"].sum())
        if not judged:
            return f"{bands}Too few runs to say what is expected: half of {self.window} are needed."
        thin = f"Thin lines: what up to {self.window} runs before predict, at {self.level * 100:.6g} % for all numbers of a run"
        found = f"{flagged:,} flagged (triangles)" if flagged else "none flagged"
        return f"{bands}{thin}; {found} of {judged:,} judged."


def lines_of(kind: Kind, model: str, window: int, level: float) -> Lines:
    """Return the runs of a history with what is expected of them; several names of runs are models of their own."""
    columns = [*map(str, kind.columns)]
    # NOTE: some names, such as "^.*$", are patterns to Polars
    history = stream(kind.take({f"column {at}": one for at, one in enumerate(columns)}).lazy())
    history.columns = columns
    found = changes(history, window=window, level=level)
    names = found.columns[FIRST_KEY : found.columns.index("metric")]
    inside = {name: f"key {place}" for place, name in enumerate(names)}
    found, history = (frame.rename(inside, strict=False) for frame in (found, history))
    on = [name for name in ("as_of", "name", *inside.values(), "metric") if name in history.columns]
    if "n_users" not in history.columns:
        history = history.with_columns(n_users=pl.lit(None, pl.Int64))
    users = history.select(*on, "n_users").cast({"name": pl.String} if "name" in on else {})
    users = users.unique(on, keep="last", maintain_order=True)
    rows = found.join(users, on=on, how="left", nulls_equal=True, maintain_order="left")
    who = [pl.col(inside.pop(model)).cast(pl.String)] if model in inside else []
    who += [pl.col("name")] * (rows["name"].n_unique() > 1)
    text = pl.concat_str(who or [pl.lit(ALL)], separator=" · ", ignore_nulls=True).replace("", ALL)
    known = rows.select(pl.col(key).is_not_null() for key in inside.values()).rows() or [()] * len(rows)
    split = [[*compress(inside, row)] for row in known]
    rows = rows.rename({"value_low": "low", "value_high": "high"})
    rows = rows.with_columns(model=text, split=pl.Series(split, dtype=pl.List(pl.String)))
    return Lines(rows, inside, window, level)


def timeline(rec: Any, metric: str | Metric[...], k: Any, split: Sequence[str], look: Look, most: int, **how: Any) -> Any:
    """Return the chart of a frame that is a history."""
    kind = rec._kind  # noqa: SLF001  the methods of this room are those of a Rec
    for missing in (one for one in ("as_of", "metric", "value") if one not in kind.columns):
        msg = f"plot.timeline draws a history, {A_HISTORY}; found a frame without the column {missing!r}"
        raise ColumnError(msg)
    lines = lines_of(kind, rec._context.model or "model", **how)  # noqa: SLF001
    names = lines.rows["metric"].unique().sort().to_list()
    name = metric if metric in names else str(one_metric("timeline()", metric, k))
    if name not in names:
        close = suggestion(name, names) or f"; it has {', '.join(names) or 'no numbers'}"
        msg = f"the history has nothing of {name!r}{close}"
        raise RecframeError(msg)
    return lines.chart(name, split, look, most)


def _metric_of(text: str) -> Metric[...] | None:
    """Return the metric of a text, None where it is one of the user's own that is not there now."""
    try:
        return parse(text)
    except RecframeError:
        return None


def _expected(of: Canvas, x: Encoding, y: Encoding) -> list[Any]:
    """Return the lines of what is expected, and triangles at what is flagged."""
    thin = of.clear(of.base(x=x, **of.channels("color")))
    thin = thin.mark_line(strokeWidth=1, strokeDash=[2, 2], opacity=0.75, interpolate="step")
    lines = [thin.encode(y={**y, "field": f"expected_{end}"}) for end in ENDS]
    colours = {"fill": of.look.colours.warning, "stroke": of.look.colours.ink}
    side = {"expr": "datum.change > 0 ? 'triangle-up' : 'triangle-down'"}
    flags = of.base(x=x, y=y, **SAID).transform_filter("datum.flagged")
    return [*lines, flags.mark_point(shape=side, size=150, opacity=1, **colours)]


def _finding(metric: str, rows: pl.DataFrame) -> str:
    """Return how many runs are flagged, of those that were judged, and the latest of them."""
    flagged = rows.filter("flagged")
    if flagged.is_empty():
        return f"{metric}: every run is as expected" * bool(rows["flagged"].count())
    n, latest = len(flagged), flagged["as_of"].max()
    return f"{metric}: {counted(n, 'run')} {'is' if n == 1 else 'are'} flagged, the latest of {latest:%Y-%m-%d}"
