"""Runs of a history as lines that are drawn: which numbers stand on one, and where one ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from recframe.errors import ColumnError, RecframeError, shown, suggestion
from recframe.look.themes import ALL, Look
from recframe.metrics.language.definition import Metric
from recframe.namespace import chart_data
from recframe.namespace.bound_metric import Cutoffs
from recframe.namespace.chart_names import Names
from recframe.tracking.changed_runs import judged, runs_of, watched
from recframe.tracking.read_runs import Runs, metric_of

if TYPE_CHECKING:
    import altair as alt

MOST = 6
"""Segments in one chart."""
GAP = 2.5
"""Runs are further apart than usual, in steps of which half of them are shorter, where a line between them would lie."""
EVERYBODY = "all users"
A_HISTORY = "rf.history('history.parquet').rec.plot.timeline('ndcg@10')"


@dataclass(frozen=True)
class Lines:
    """Runs of a history, with what `rf.changes` says of them, as lines to draw."""

    runs: Runs
    judged: pl.DataFrame
    model: str
    """The column of models, if there is one."""
    window: int
    level: float

    def splits_of(self, metric: str) -> list[list[str]]:
        """Return the columns that the numbers of a metric were split by, but models: those of few columns first."""
        rows = self.judged.filter(pl.col("metric") == metric)
        found = {tuple(_columns(one or "", self.model)) for one in rows["split_by"].unique()}
        return sorted(map(list, found), key=lambda one: (len(one), one))

    def chart(
        self, metric: str, split: Sequence[str], look: Look, most: int = MOST
    ) -> alt.LayerChart | alt.VConcatChart:
        """Return the chart of a metric, by segment where it is split."""
        from recframe.look import of_history  # noqa: PLC0415  Altair is an extra
        from recframe.look.style import Series  # noqa: PLC0415

        rows = self.judged.filter(pl.col("metric") == metric)
        data = _of_split(self.runs, rows, split, self.model)
        kept = _largest(data, most)
        series = Series(_names(kept), look)
        n = data["segment"].n_unique()
        how = of_history.Timeline(metric, metric_of(metric), split, self.window, self.level, n)
        return of_history.timeline(_in_stretches(kept), series, how)


def lines_of(rec: Any, window: int, level: float) -> Lines:
    """Return the runs of a frame that is a history, with what `rf.changes` says of them."""
    kind = rec._kind  # noqa: SLF001
    missing = [one for one in ("as_of", "metric", "k", "value") if one not in kind.columns]
    if missing:
        msg = f"plot.timeline draws a history, {A_HISTORY}; found a frame without the column {missing[0]!r}"
        raise ColumnError(msg)
    how = watched(window, level)
    runs = runs_of(kind, how)
    model = rec._context.model or "model"  # noqa: SLF001  the methods of this room are those of a Rec
    return Lines(runs, judged(runs, how), model, window, level)


def name_of(found: pl.DataFrame, metric: str | Metric[...], k: Cutoffs) -> str:
    """Return the metric as the history names it, one of the user's own too, or say that it has nothing of it."""
    names = found["metric"].unique().sort().to_list()
    if isinstance(metric, str) and metric in names:
        return metric
    name = str(chart_data.one_metric("timeline()", metric, k))  # type: ignore[arg-type]
    if name not in names:
        close = suggestion(name, names) or f"; it has {', '.join(names) or 'no numbers'}"
        msg = f"the history has nothing of {name!r}{close}"
        raise RecframeError(msg)
    return name


def _of_split(runs: Runs, found: pl.DataFrame, split: Sequence[str], model: str) -> pl.DataFrame:
    """Return the numbers that were split by some columns alone, with their models and segments as text."""
    names = found["split_by"].unique().to_list()
    columns = {one: _columns(one or "", model) for one in names}
    wanted = _columns(", ".join(split), model)
    kept = [one for one in names if columns[one] == wanted]
    if not kept:
        raise RecframeError(_no_such_split(split, list(columns.values())))
    rows = found.filter(pl.col("split_by").is_in(kept, nulls_equal=True))
    inside = dict(zip(runs.keys, runs.inside, strict=True))
    _check_columns(inside, rows, [*split, model])
    told = [inside[model]] if model in inside else []
    told += ["name"] if rows["name"].n_unique() > 1 else []
    who = pl.concat_str([_text(one) for one in told], separator=" · ", ignore_nulls=True)
    segment = [Names.of([rows[one]]).text(pl.col(one)) for one in map(inside.__getitem__, split)]
    order = pl.col(inside[model]).rank("dense") if model in inside else pl.lit(0)
    return rows.with_columns(
        order=order,
        model=pl.when(who != "").then(who).otherwise(pl.lit(ALL)) if told else pl.lit(ALL),
        segment=pl.concat_str(segment, separator=" · ") if segment else pl.lit(""),
    )


def _check_columns(inside: Mapping[str, str], rows: pl.DataFrame, asked: Sequence[str]) -> None:
    """Say so where a column of segments is gone, or another one tells numbers apart: it was dropped or renamed."""
    gone = [one for one in asked[:-1] if one not in inside]
    if gone:
        msg = (
            f"the history was split by {gone[0]!r}, and the frame has no such column: keep it under its name, "
            "or drop the rows that were split by it"
        )
        raise ColumnError(msg)
    others = [one for one in inside if one not in asked and rows[inside[one]].n_unique() > 1]
    if others:
        msg = (
            f"numbers of one time differ by {others[0]!r}, of which the history does not know that they were split by it: "
            "keep its columns under their names, or filter the rows of one"
        )
        raise ColumnError(msg)


def _names(data: pl.DataFrame) -> list[str]:
    """Return the names of models in their own order: numbers by their size."""
    found = data.select("model", "order").sort("order", "model", nulls_last=True)
    return found["model"].unique(maintain_order=True).to_list()


def _columns(split_by: str, model: str) -> list[str]:
    """Return the columns that a result was split by, but the one of models."""
    return sorted({*split_by.split(", ")} - {model, ""})


def _no_such_split(split: Sequence[str], others: Sequence[Sequence[str]]) -> str:
    asked = f"split by {', '.join(map(repr, split))}" if split else f"of {EVERYBODY}"
    calls_of = [
        f"by={shown(one[0] if len(one) == 1 else list(one))}" if one else "no by" for one in others
    ]
    return f"the history has no such number {asked}; draw those that it has, with {' or '.join(calls_of)}"


def _text(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.String)


def _largest(data: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the segments with the most users, in their own order."""
    sizes = data.group_by("segment", maintain_order=True).agg(pl.col("n_users").max())
    kept = sizes.sort("n_users", descending=True, nulls_last=True, maintain_order=True).head(most)
    return data.filter(pl.col("segment").is_in(kept["segment"].implode())).sort(
        "segment", "order", "model", "as_of", maintain_order=True
    )


def _in_stretches(data: pl.DataFrame) -> pl.DataFrame:
    """Return numbers with the stretch that each is in: a line ends where the next run is far away, or has no value."""
    line = ["segment", "model"]
    step = pl.col("as_of").cast(pl.Datetime("us")).diff().dt.total_microseconds().over(line)
    data = data.with_columns(step=step)
    # NOTE: column by column, since Polars 1 allows no window in another
    data = data.with_columns(usual=pl.col("step").median().over(line))
    far = pl.col("step") > GAP * pl.col("usual")
    begins = far.fill_null(value=False) | pl.col("value").is_null()
    data = data.with_columns(stretch=begins.cast(pl.Int64).cum_sum().over(line)).drop("usual")
    return data.with_columns(alone=pl.len().over(*line, "stretch") == 1)
