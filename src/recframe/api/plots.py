"""Class `Plot`, the charts of `rec.plot`.

The charts themselves are in `charts/`; a history's chart is here, since it reads names as this room does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from recframe.api import argument_errors, reprs
from recframe.api.argument_errors import Cutoffs
from recframe.charts.result_charts import PlotsOfResults
from recframe.charts.themes import Look, ThemeName
from recframe.frames.dtypes import text_of
from recframe.metrics.language.definition import Metric

if TYPE_CHECKING:
    import altair as alt


class Plot(PlotsOfResults):
    """Charts of a frame: each method asks for numbers, sums them up in Polars, and returns an Altair chart.

    A chart is yours to restyle (`chart.properties(height=200)`) and to save: `chart.save("ndcg.svg")`, `"ndcg.png"`, and
    `chart.save("ndcg.html", inline=True)`, a page that needs no network. No chart needs a browser to be saved. It holds the
    few hundred numbers that it shows, whatever the number of rows; `chart.to_dict()` has them. Of a LazyFrame the plan is
    collected, by the streaming engine, since a chart needs its numbers.

    Models are in the order of their values, the best first; segments by their users, most first, and those of fewer than ten
    users without an interval. Up to eight models have a colour and a shape each, the same in all charts. Of more, the best
    two have a colour and all others are grey;
    `rec.plot(highlight=["svd", "knn"])` chooses who stands out. The titles of models, segments, differences, tradeoffs and
    histories say the finding, by value or by a verdict. Each mark has a sentence with its numbers, and those of the first and
    the last marks of each model are the chart's `description`, for those who do not see it.

    `rec.plot(theme="dark")` draws on dark ground, and `rec.plot(width=400)` charts of 400 pixels in all.
    Charts are put together (`first | second`) once `chart.config = chart.autosize = alt.Undefined` has taken their theme.

    In a notebook Altair shows it, by scripts from the network; after `alt.renderers.enable("svg")` as a picture, which is also
    seen without a network and on GitHub.
    """

    @argument_errors.understood
    def __call__(
        self,
        *,
        theme: ThemeName = "light",
        width: int = 600,
        highlight: object | Sequence[object] = (),
    ) -> Plot:
        """Return the same with another look: the theme "light" or "dark", and the width of charts in pixels.

        highlight: the models in colour; all others are grey.
        """
        models = highlight if isinstance(highlight, list | tuple) else (highlight,)
        return Plot(self._of, Look(theme, width, tuple(map(text_of, models))))

    @argument_errors.understood
    def timeline(
        self,
        metric: str | Metric[...],
        *,
        k: Cutoffs = None,
        by: str | Sequence[str] | None = None,
        window: int = 14,
        level: float = 0.99,
        most: int = 6,
    ) -> alt.LayerChart | alt.FacetChart:
        """Draw a metric of a history over time: a line for each model, its intervals, and its changes.

        It takes a history: `rf.history("history.parquet").rec.plot.timeline("ndcg@10")`. Bands are the intervals of the
        numbers, triangles the runs that `rf.changes` calls *changed*, in their numbers what is expected. Models stand in the
        column `model`, or the one that is bound; several names of runs stand as models of their own.

            by: the columns that the numbers were split by, such as "country": a view for each segment, one below the other.
                Without it, the numbers of all users are drawn.
            window, level: those of `rf.changes`. most: how many segments are drawn at the most, those with the most users.

        Raises a ColumnError for a frame that is no history, and a RecframeError for a metric or segments that it does not
        have.

        >>> import polars as pl, recframe as rf, tempfile
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> folder = tempfile.mkdtemp()
        >>> for day in (1, 2, 3):
        ...     tracked = df.rec.track("mrr", history=folder, as_of=f"2026-11-{day:02}")
        >>> rf.history(folder).rec.plot.timeline("mrr").data["value"].to_list()
        [0.75, 0.75, 0.75]
        """
        from recframe.charts import history_charts  # noqa: PLC0415  it takes NumPy
        from recframe.tracking.changed_runs import changes, runs_of  # noqa: PLC0415

        bound = self._of._context.by  # noqa: SLF001  the methods of this room are those of a Rec
        split = [*map(str, argument_errors.names(by, bound))]
        runs = runs_of(self._of._frame, "plot.timeline")  # noqa: SLF001
        found = changes(runs, window=window, level=level)
        name = history_charts.name_of(found, metric, k)
        model = self._of._context.model or "model"  # noqa: SLF001
        drawn = history_charts.timeline(found, name, model, split, self._look, most)
        return cast("alt.LayerChart | alt.FacetChart", drawn)

    def __repr__(self) -> str:
        return f"<rec.plot of {reprs.of_frame(self._of._frame)}: {', '.join(CHARTS)}>"  # noqa: SLF001

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say which chart has the closest name."""
            msg = argument_errors.none_of("rec.plot has no chart", name, CHARTS)
            raise AttributeError(msg, name=name, obj=self)


OF_FAMILIES = (
    *("curve", "hits_by_rank", "precision_recall"),
    *("models", "segments", "distribution", "compare", "tradeoff"),
    "exposure",
)
"""Charts that the files of their families define."""
CHARTS = (*OF_FAMILIES, "timeline")
"""The charts, in the order in which a message lists them."""

# what is said of wrong arguments is known in this room alone
for chart in OF_FAMILIES:
    setattr(Plot, chart, argument_errors.understood(getattr(Plot, chart)))
