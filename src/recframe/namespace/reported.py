"""The method of `rec` that makes a report: all of a result in one page that works offline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

from recframe.conventions import under_profile
from recframe.errors import RecframeError, shown
from recframe.frames.dtypes import text_of
from recframe.metrics import accuracy
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.namespace import calls
from recframe.namespace.bound_metric import Asked, By, Cutoffs, F

if TYPE_CHECKING:
    from recframe.look.pages.report import Report

DEFAULTS = (
    accuracy.ndcg,
    accuracy.recall,
    accuracy.precision,
    accuracy.hit_rate,
    accuracy.mrr,
    accuracy.map,
)
"""What is shown where no metric is asked for, at `DEFAULT_K`."""
DEFAULT_K = 10


class Reported(Generic[F]):
    """The method that makes a report."""

    @calls.understood
    def report(  # noqa: PLR0913  those of summarize, compare and gaps, and what the page is called
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        min_users: int = 30,
        cluster: str | None = None,
        title: str = "Recommendations, evaluated",
        title_of: str | None = None,
        profile: str | None = None,
    ) -> Report:
        """Return a report: all of a result in one page, which a notebook shows and `.save("report.html")` writes.

        The file works offline: its scripts, charts and numbers are in it, and it asks nothing of any network. It has the
        values of `summarize` with their intervals and users, what each metric means (`explain`), models held against one
        another with verdicts (`compare`), segments and the gaps between them (`gaps`, `slices`), metrics over the cut-off,
        how users' values are spread, what accuracy costs (coverage, concentration, novelty, popularity), the findings of
        `audit`, and real cases: the best, the worst and, with a baseline, the most changed users by the first metric, each
        with their list, what it missed and their history. What does not apply is left out, and the page says in a line what
        to bind to see it. Warnings stand in the page too. Its numbers are those of these calls.

            metrics: without any ndcg, recall, precision, hit_rate, mrr and map, at 10 or at `k`.
            baseline: the name of a model that all others are held against; without it all pairs are.
            by: columns of users, items or rows, each looked at by itself.
            level: that of the intervals. min_users: segments with fewer users are neither best nor worst.
            cluster: a column of the users who hang together, as in `summarize`: intervals and verdicts are those of clusters.
            title: what stands above the page.
            title_of: the column of `items` that names an item; else one that is called title, name or the like.

        `.html` is the page's text, and `.data` its numbers as plain data, which stand in the page as JSON. A page holds
        the largest 30 segments of a column and some 100 kB of cases, so that it stays small whatever the number of rows.

        It needs recframe[report]. Of LazyFrames the plans run. Raises what these calls raise, and a RecframeError where a path
        cannot be written to.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 9, 9]})
        >>> a = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 3, 4], "rank": 1})
        >>> b = pl.DataFrame({"user": [1, 2, 3, 4], "item": [9, 9, 9, 9], "rank": 1})
        >>> report = rf.rec({"a": a, "b": b}, truth).report("hit_rate@1", baseline="a", title="Two models")
        >>> report
        <Two models: 7 sections; .save('report.html') writes it>
        >>> [row["value"] for row in report.data["summary"]]
        [0.5, 0.5]
        """
        from recframe.look.pages.page import check_installed  # noqa: PLC0415
        from recframe.look.pages.report import report  # noqa: PLC0415

        _check(title, title_of)
        check_installed()
        rec: Any = self
        context = rec._context  # noqa: SLF001  the methods of this room are those of a Rec
        columns = [*context.by, *calls.names(by)]
        if profile is not None:
            context = under_profile.bind(context, {"profile": profile})
        rec = rec._with(replace(context, by=()))  # noqa: SLF001
        return report(
            rec,
            columns,
            metrics=_metrics(rec, metrics, k),
            baseline=None if baseline is None else text_of(baseline),
            by=[one if isinstance(one, str) else str(one.name) for one in columns],
            level=level,
            min_users=min_users,
            cluster=cluster,
            title=title,
            title_of=title_of,
        )


def _check(title: object, title_of: object) -> None:
    """Say what is wrong with what a page is called, or with the column of titles."""
    if not isinstance(title, str):
        msg = f"title={shown(title)}: title takes text"
        raise RecframeError(msg)
    if title_of is not None and not isinstance(title_of, str):
        msg = f"title_of={shown(title_of)}: title_of takes the name of a column of items, such as 'title'"
        raise RecframeError(msg)


def _metrics(rec: Any, metrics: Sequence[Asked], k: Cutoffs) -> list[Metric[...]]:
    """Return the metrics that are asked for; else those that are sensible, and none where nothing says what is relevant."""
    if metrics:
        return registry.asked(registry.each(metrics), k)
    judged = rec._inputs(None, None, []).judged  # noqa: SLF001  the methods of this room are those of a Rec
    return registry.asked(DEFAULTS, DEFAULT_K if k is None else k) if judged else []
