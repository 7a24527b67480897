"""Methods of `rec` that show results, and the class of all answers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs, F
from recframe.api.comparison_methods import Compared
from recframe.api.gates import Gates
from recframe.api.history_methods import Tracked
from recframe.api.log_methods import OfLogs
from recframe.api.plots import Plot
from recframe.api.request import question, sentences
from recframe.api.uncertain import Uncertain
from recframe.charts.long_format import (
    check_of_users,
    joined_on,
    rows_of_lists,
    values_of_users,
    warned_of_truth,
    with_columns_of_items,
)
from recframe.errors import ColumnError, RecframeError, shown
from recframe.evaluation.required_columns import is_of_segment
from recframe.evaluation.segments import keys_of
from recframe.frames.collecting import stream
from recframe.frames.dtypes import text_of
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.lookup import kind_for
from recframe.frames.options import MOST_DECIMALS
from recframe.frames.roles import Segment
from recframe.metrics import accuracy
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import under_profile
from recframe.statistics import options
from recframe.statistics.groups import reason_without
from recframe.statistics.sums import MODEL

if TYPE_CHECKING:
    from recframe.charts.table import Table
    from recframe.reports.page import Page

PLACE, HIT = "place", "hit"
"""Columns without a role: a user's position in the result, and whether a row is a hit."""


class ResultsShown(Generic[F]):
    """The methods of `rec` that show results."""

    @argument_errors.understood
    def worst(
        self,
        metric: str | Metric[...],
        *,
        n: int = 20,
        k: int | None = None,
        by: By = None,
    ) -> F:
        """Return the users with the worst values of a metric, with their lists and their truth.

        A row for each item of such a user that is recommended up to the metric's cut-off, or relevant. Columns: `by` columns (a
        bound model first), `place` (1 is the worst user), the user, the metric, the rank (null: relevant, but never
        recommended; after the cut-off: recommended too low), the item, the relevance, `hit` (relevant, and recommended up to
        the cut-off), and the columns of `items`, such as a title. Rows are sorted by `by`, place, rank and item; users of equal
        value by user. Users without a value are left out.

        There are `n` users for each `by` segment and each model; a user's whole list is shown, whatever the segment. The worst
        have the lowest values, or the highest if the metric's direction is "lower".

        Raises a RecframeError for a set metric, such as coverage, which has no values of users.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "rank": [1, 2, 1]})
        >>> truth = pl.DataFrame({"user": [1, 2], "item": [12, 10]})
        >>> films = pl.DataFrame({"item": [10, 11, 12], "title": ["Emma", "Dune", "Jaws"]})
        >>> recs.rec(truth=truth, items=films).worst("ndcg@10", n=1)
        shape: (3, 8)
        ┌───────┬──────┬─────────┬──────┬──────┬───────────┬───────┬───────┐
        │ place ┆ user ┆ ndcg@10 ┆ rank ┆ item ┆ relevance ┆ hit   ┆ title │
        │ ---   ┆ ---  ┆ ---     ┆ ---  ┆ ---  ┆ ---       ┆ ---   ┆ ---   │
        │ i64   ┆ i64  ┆ f64     ┆ i64  ┆ i64  ┆ i64       ┆ bool  ┆ str   │
        ╞═══════╪══════╪═════════╪══════╪══════╪═══════════╪═══════╪═══════╡
        │ 1     ┆ 1    ┆ 0.0     ┆ 1    ┆ 10   ┆ null      ┆ false ┆ Emma  │
        │ 1     ┆ 1    ┆ 0.0     ┆ 2    ┆ 11   ┆ null      ┆ false ┆ Dune  │
        │ 1     ┆ 1    ┆ 0.0     ┆ null ┆ 12   ┆ 1         ┆ false ┆ Jaws  │
        └───────┴──────┴─────────┴──────┴──────┴───────────┴───────┴───────┘
        """
        result: F = _shown(self, metric, k, n, by, worst=True)
        return result

    @argument_errors.understood
    def best(
        self,
        metric: str | Metric[...],
        *,
        n: int = 20,
        k: int | None = None,
        by: By = None,
    ) -> F:
        """Return the users with the best values of a metric, with their lists and their truth; otherwise as `worst`.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [10, 10], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.best("mrr", n=1)
        shape: (1, 7)
        ┌───────┬──────┬─────┬──────┬──────┬───────────┬──────┐
        │ place ┆ user ┆ mrr ┆ rank ┆ item ┆ relevance ┆ hit  │
        │ ---   ┆ ---  ┆ --- ┆ ---  ┆ ---  ┆ ---       ┆ ---  │
        │ i64   ┆ i64  ┆ f64 ┆ i64  ┆ i64  ┆ i64       ┆ bool │
        ╞═══════╪══════╪═════╪══════╪══════╪═══════════╪══════╡
        │ 1     ┆ 1    ┆ 1.0 ┆ 1    ┆ 10   ┆ 1         ┆ true │
        └───────┴──────┴─────┴──────┴──────┴───────────┴──────┘
        """
        result: F = _shown(self, metric, k, n, by, worst=False)
        return result

    @argument_errors.understood
    def table(  # noqa: PLR0913  those of summarize and compare, and how the table looks
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        decimals: int = 3,
        intervals: bool = True,
        title: str = "",
    ) -> Table:
        r"""Return a table for publication: models as rows, metrics as columns, the best in bold, with intervals and marks.

        `.html()`, `.latex()` and `.markdown()` return it as text, `.save("table.tex")` writes the format of the ending, a
        notebook shows it, and `.gt` is a Great Tables object for further styling. HTML and LaTeX need recframe[table].

            baseline: the name of a model: others are marked * if they are significantly better, † if worse, by the paired t
                test of `compare` with Holm's correction for the whole table. It needs recframe[stats].
            level: of the intervals, which are those of `summarize`; p values are compared with 1 - level.
            decimals: of each number. Models whose rounded numbers are equal are all bold; if all models' are, none is.
            intervals: False leaves them out.
            title: the text above the table.

        Below the table are the number of users and the meaning of the marks. By segment, models are grouped by segment; without
        a model, the rows are the segments. A LazyFrame is collected.

        Raises what `summarize` and `compare` raise.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": [1, 2, 3, 4], "item": [9, 2, 9, 9]})
        >>> a = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 3, 4], "rank": 1})
        >>> b = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 9, 9], "rank": 1})
        >>> print(rf.rec({"a": a, "b": b}, truth).table("hit_rate@1", "mrr@1", decimals=2))
        | model | hit_rate@1 | mrr@1 |
        | :--- | ---: | ---: |
        | a | 0.25 [0.02, 0.87] | 0.25 [0.02, 0.87] |
        | b | **0.75** [0.13, 0.98] | **0.75** [0.13, 0.98] |
        <BLANKLINE>
        Users: 4.
        In brackets: the interval at 0.95 of each value.
        Bold: the best model.
        <BLANKLINE>
        """
        from recframe.charts.table import Publication  # noqa: PLC0415  importing recframe should take no time

        decimals = options.whole("decimals", decimals, 0, MOST_DECIMALS)
        title = options.text("title", title)
        rec: Any = self._candidates(baseline)  # type: ignore[attr-defined]  # of a Rec
        # what a profile rounds is not rounded twice
        rec = rec(decimals=MOST_DECIMALS)
        asked = question(rec, metrics, k, by, None)
        names, given = [*asked.by.values()], {"by": by, "level": level}
        numbers = ["metric", "value", "value_low", "value_high", "n_users"]
        summary = _collected(rec.summarize(*metrics, k=k, **given), names, numbers)
        tested, untested = _tested(asked.metrics)
        model, verdicts, tests = asked.by.get(MODEL), {}, 0
        if baseline is not None and tested:
            found = asked.rec.compare(*tested, baseline=baseline, **given)
            ordered = sorted(names, key=lambda name: name == model)
            found = _collected(found, ordered, ["metric", "verdict", "p_adjusted"])
            verdicts = {row[:-2]: row[-2] for row in found.rows()}
            tests = int(found["p_adjusted"].count())
        publication = Publication(
            asked.metrics,
            sentences(asked.notes),
            verdicts,
            tests,
            [str(one) for one in untested],
            None if baseline is None else text_of(baseline),
            decimals,
            intervals,
            level,
            title,
        )
        keys = {f"key {place}": name for place, name in enumerate(names)}
        of_model = next((key for key, name in keys.items() if name == model), None)
        return publication.table(summary, keys, of_model)

    @argument_errors.understood
    def report(  # noqa: PLR0913  those of summarize and compare, and what the page is called
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        min_users: int = 30,
        cluster: str | None = None,
        margin: float | None = None,
        title: str = "Recommendations, evaluated",
        title_of: str | None = None,
        item_columns: str | Sequence[str] | None = None,
    ) -> Page:
        """Return a report: all of a result in one page, which a notebook shows and `.save("report.html")` writes.

        It begins with what to do by the first metric, `compare` of the best model and the runner-up, and of the best and the
        baseline: "Ship X" where X is shown to be better than both, "Keep X" where the baseline is the best, else "Do not decide
        on this", with the users that would tell (`power`). It names the metrics that say the contrary, the segment that is
        worse off, how many users get a worse list, and what it costs. Where ids do not meet, nobody is counted or all values
        are equal, it says in red that the numbers mean nothing.

        Below stand the values of `summarize` with their intervals and users, pairwise differences with verdicts (`compare`),
        segments: where the best gains and loses, metrics over the cut-off, what accuracy costs (coverage, concentration,
        novelty, popularity), real cases (the best, the worst and, with a baseline, the most changed users by the first metric,
        with their lists, what these missed and their histories), the findings of `audit`, and what each metric means
        (`explain`). What does not apply is left out, and the page says in a line what to bind to see it. Its numbers are those
        of these calls.

            metrics: without any ndcg, recall, precision, hit_rate, mrr and map, at 10 or at `k`. The first one decides.
            baseline: the name of the model in use, which all others are compared with; without it each is with each, or more
                than eight with the best.
            by: columns of users, items or rows, each looked at by itself.
            level: that of the intervals.
            min_users: segments with fewer users are not judged.
            cluster: the column of clusters of users, as in `summarize`: intervals and verdicts are those of clusters.
            margin: a share of the baseline's value that does not matter, as in `compare`.
            title: what stands above the page.
            title_of: the column of `items` that names an item; else one that is called title, name or the like.
            item_columns: columns of `items` that stand as text beside each item of a case.

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
        from recframe.reports.page import check_installed  # noqa: PLC0415
        from recframe.reports.report import report  # noqa: PLC0415

        title = options.text("title", title)
        if title_of is not None:
            _texts("title_of", [title_of])
        check_installed()
        rec: Any = self
        context = rec._context  # noqa: SLF001  the methods of this room are those of a Rec
        columns = [*context.by, *argument_errors.names(by)]
        rec = rec._with(replace(context, by=()))  # noqa: SLF001
        return report(
            rec,
            columns,
            metrics=_metrics(rec, metrics, k),
            baseline=None if baseline is None else text_of(baseline),
            by=[column if isinstance(column, str) else str(column.name) for column in columns],
            level=level,
            min_users=min_users,
            cluster=cluster,
            margin=margin,
            title=title,
            title_of=title_of,
            item_columns=_texts("item_columns", item_columns or []),
        )

    @property
    def plot(self) -> Plot:
        """Charts of these frames: `rec.plot.curve("ndcg")`, and others; `rec.plot(theme="dark", width=400)` says how they look.

        They are Altair's, need `pip install 'recframe[plot]'`, and are drawn of numbers that are summed up before: of a
        LazyFrame, too, whose plan is then collected.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> chart = df.rec.plot.curve("recall", k=[1, 2])
        >>> chart.to_dict()["title"]["text"]
        ['recall over the cut-off k']
        """
        return Plot(self)


def _tested(metrics: Sequence[Metric[...]]) -> tuple[list[Metric[...]], list[Metric[...]]]:
    """Return the metrics whose differences have a test, and the others."""
    untested = [one for one in metrics if is_of_segment(one) and reason_without(one)]
    return [one for one in metrics if one not in untested], untested


def _texts(name: str, given: object) -> list[str]:
    """Return the names of columns of items."""
    columns = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    takes = "the name of a column of items, such as 'title'"
    return [options.text(name, one, takes) for one in columns]


def _shown(
    rec: Any,
    metric: str | Metric[...],
    k: int | None,
    n: object,
    by: By,
    *,
    worst: bool,
) -> Any:
    """Return the lists of the first users, as a frame of the same kind."""
    one, number = _checked(metric, k, n)
    context = rec._context  # noqa: SLF001  the methods of this class are those of a Rec
    user = context.names["user"]
    inputs, values = values_of_users(rec, one, argument_errors.names(by))
    keys = keys_of(inputs, [one])
    segments = [key for key in keys if key != "user"]
    lower_is_better = one.direction == "lower"
    order = {**dict.fromkeys(segments, False), "value": worst == lower_is_better, "user": False}
    ordered = values.sort(*order, descending=[*order.values()], nulls_last=True)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    ordered = ordered.with_columns((place.over(segments) if segments else place).alias(PLACE))
    values = ordered.filter(pl.col(PLACE) <= number).cache()
    # The segments are the users' alone: a list is shown whole, and compared with all of the truth.
    models = values.select("model") if inputs.model else None
    convention = under_profile.asked(inputs.context, [one])[0]
    plain = replace(inputs, segments=(), context=convention.context, models=models)
    names = {key: keys[key] for key in segments}
    shown_items = _columns_of_items(plain, {*names.values()})
    lists = rows_of_lists(plain, one, values.select("user"))
    lists = with_columns_of_items(lists, plain, shown_items)
    names |= {PLACE: PLACE, "user": user, "value": str(one)}
    names |= {role: context.names[role] for role in ("rank", "item", "relevance")}
    names |= {HIT: HIT} | {column.inside: column.name for column in shown_items}
    _check_names(list(names.values()))
    by_list = [*segments, PLACE, "user", "rank", "item"]
    plan = joined_on(values, lists, [*inputs.model, "user"]).sort(by_list, nulls_last=True)
    plan = plan.select(pl.col(inside).alias(name) for inside, name in names.items())
    # NOTE: pandas' rows are sorted by these columns once more where it has categories, so that they say the whole order.
    sources = {names[inside]: inputs.sources.get(names[inside]) for inside in by_list}
    sources[names["item"]] = rec._kind.source(names["item"])  # noqa: SLF001
    return rec._kind.give(plan, sources, warned_of_truth(inputs))  # noqa: SLF001


def _checked(metric: str | Metric[...], k: int | None, n: object) -> tuple[Metric[...], int]:
    """Return the metric and the number of users, or say why there is no such thing."""
    one, *others = registry.asked([metric], k)
    if others:
        raise RecframeError(f"k={shown(k)}: users are sorted by one cut-off; write k=10")
    check_of_users(one)
    return one, options.whole("n", n, 1)


def _columns_of_items(inputs: Inputs, without: Collection[str]) -> list[Segment]:
    """Return the columns of the items frame except the id and segments of the result."""
    if inputs.items is None:
        return []
    without = {inputs.context.names["item"], *without}
    names = [name for name in inputs.sides["items"].columns if name not in without]
    return [Segment(f"shown {place}", name, "items") for place, name in enumerate(names)]


def _check_names(names: Sequence[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        msg = (
            f"the result has a column {twice[0]!r} of its own, and {twice[0]!r} is also a column of items= or by=; rename "
            "that"
        )
        raise ColumnError(msg)


def _collected(result: Any, names: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Return a result of whatever kind as a frame of Polars in memory, its keys under names of our own.

    NOTE: some names, such as "^.*$", are patterns to Polars.
    """
    keys = {f"key {place}": name for place, name in enumerate(names)}
    return stream(kind_for(result).take({**keys, **{column: column for column in columns}}).lazy())


DEFAULTS = (
    accuracy.ndcg,
    accuracy.recall,
    accuracy.precision,
    accuracy.hit_rate,
    accuracy.mrr,
    accuracy.map,
)
"""The metrics of a report without any, at `DEFAULT_K`."""
DEFAULT_K = 10


def _metrics(rec: Any, metrics: Sequence[Asked], k: Cutoffs) -> list[Metric[...]]:
    """Return the requested metrics or the defaults; none where no relevance is known."""
    if metrics:
        return registry.asked(registry.each(metrics), k)
    judged = rec._inputs(None, []).judged  # noqa: SLF001  the methods of this room are those of a Rec
    return registry.asked(DEFAULTS, DEFAULT_K if k is None else k) if judged else []


class Answers(
    Uncertain[F],
    Compared[F],
    Gates[F],
    ResultsShown[F],
    Tracked[F],
    OfLogs[F],
):
    """The methods of `rec` but metrics: statistics, segments, gates, histories, lists, tables, charts, reports, splits."""
