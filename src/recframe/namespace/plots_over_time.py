"""The chart of a history: the part of `rec.plot` that asks `rf.changes` for its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from recframe.metrics.language.definition import Metric
from recframe.namespace import calls
from recframe.namespace.bound_metric import Cutoffs

if TYPE_CHECKING:
    import altair as alt


class PlotOverTime:
    """The chart of a history."""

    if TYPE_CHECKING:
        _of: Any
        _look: Any

    @calls.understood
    def timeline(
        self,
        metric: str | Metric[...],
        *,
        k: Cutoffs = None,
        by: str | Sequence[str] | None = None,
        window: int = 14,
        level: float = 0.99,
        most: int = 6,
    ) -> alt.LayerChart | alt.VConcatChart:
        """Draw a metric of a history over time: a line for each model, its intervals, and what is flagged as a change.

        It is asked of a history: `rf.history("history.parquet").rec.plot.timeline("ndcg@10")`. Bands are the intervals of the
        numbers, thin lines the ends of what the runs before predict, triangles the runs outside, which `rf.changes` flags:
        those of the whole history that is handed in. Where runs are more than 2.5 times as far apart as usual, the line has
        a gap. Models stand in the column `model`, or the one that is bound; several names of runs stand as models of their
        own.

            by: the columns that the numbers were split by, such as "country": a chart for each segment, one below the other.
                Without it, the numbers of all users are drawn.
            window, level: those of `rf.changes`. most: how many segments are drawn at the most, those with the most users.

        Raises a ColumnError for a frame that is no history, and a RecframeError for a metric or segments that it does not
        have.

        >>> import polars as pl, recframe
        >>> days = pl.date_range(pl.date(2026, 11, 1), pl.date(2026, 11, 3), eager=True)
        >>> runs = pl.DataFrame({"as_of": days, "metric": "ndcg@10", "k": 10, "value": [0.30, 0.31, 0.29]})
        >>> runs.rec.plot.timeline("ndcg@10").data["value"].to_list()
        [0.3, 0.31, 0.29]
        """
        from recframe.look import of_history  # noqa: PLC0415  Altair is an extra

        lines = of_history.lines_of(self._of, window, level)
        bound = self._of._context.by  # noqa: SLF001  the methods of this room are those of a Rec
        split = [str(one) for one in dict.fromkeys([*bound, *calls.names(by)])]
        name = of_history.name_of(lines.judged, metric, k)
        return lines.chart(name, split, self._look, most)
