"""Methods of `rec` that show and keep results, and all answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, TypedDict, cast, overload

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import Asked, By, Cutoffs, F
from recframe.api.comparison_methods import Compared
from recframe.api.gates import Gates
from recframe.api.lists_shown import lists_of, shown_lists
from recframe.api.plots import Plot
from recframe.api.request import question, sentences
from recframe.api.splits import OfLogs
from recframe.api.uncertain import Uncertain
from recframe.errors import RecframeError
from recframe.frames import options
from recframe.frames.dtypes import text_of
from recframe.frames.options import MOST_DECIMALS
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recframe.charts.table import Table
    from recframe.reports.page import Page
    from recframe.tracking.histories import History


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
        return cast("F", shown_lists(self, metric, k, n, by, worst=True))

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
        return cast("F", shown_lists(self, metric, k, n, by, worst=False))

    @argument_errors.understood
    def table(  # noqa: PLR0913  those of summarize and compare, and how the table looks
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        decimals: int | None = None,
        intervals: bool = True,
        stars: bool = False,
        std: bool = False,
        header: Mapping[str, str] | None = None,
        caption: str = "",
    ) -> Table:
        r"""Return a table for publication: models as rows, metrics as columns, the best in bold, with intervals and marks.

        `.html()`, `.latex()` and `.markdown()` return it as text, `.save("table.tex")` writes the format of the ending, a
        notebook shows it, and `.gt` is a Great Tables object for further styling. HTML and LaTeX need recframe[table].

            baseline: the name of a model: others are marked * if they are significantly better, † if worse, by the paired t
                test of `compare` with Holm's correction for the whole table. It needs recframe[stats].
            stars: True marks the best model * where it is significantly better than the runner-up; it needs no baseline.
            std: True prints ± and the standard deviation over trainings behind each value.
            level: of the intervals, which are those of `summarize`; p values are compared with 1 - level.
            decimals: of each number; without it, two digits of half the narrowest interval of a column. Models whose rounded
                numbers are equal are all bold; if all models' are, none is.
            intervals: False leaves them out.
            header: titles of columns by their names, such as {"ndcg@10": "nDCG@10", "model": "System"}.
            caption: the text above the table, in LaTeX its caption.

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
        from recframe.charts.table import Looks, table  # noqa: PLC0415  importing recframe should take no time

        decimals = (
            None if decimals is None else options.whole("decimals", decimals, 0, MOST_DECIMALS)
        )
        for name, text in {"caption": caption, **(header or {})}.items():
            options.text(name, text)
        rec: Any = self._candidates(baseline)  # type: ignore[attr-defined]  # of a Rec
        # what a profile rounds is not rounded twice
        rec = rec(decimals=MOST_DECIMALS)._in_polars()  # noqa: SLF001  the methods of this room are those of a Rec
        asked = question(rec, metrics, k, by, None)
        other = None if baseline is None else text_of(baseline)
        looks = Looks(
            asked.metrics,
            other,
            stars,
            std,
            level,
            decimals,
            intervals,
            header or {},
            caption,
        )
        return table(rec, looks, argument_errors.names(by), sentences(asked.notes))

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
        sections: str | Sequence[str] | None = None,
    ) -> Page:
        """Return a report: all of a result in one page, which a notebook shows and `.save("report.html")` writes.

        It begins with what to do by the first metric, `compare` of the best model and the runner-up, and of both and the
        baseline: "Ship X" where X is shown to be better than both, "Keep X" where the baseline is the best, "Replace X by Y or
        Z" where both beat it and cannot be told apart, else "Do not decide on this". It names the segments that each is better
        for, the metrics that say the contrary, how many users get a worse list than with which model, and the share of the
        catalogue that is shown. Where models lack lists, are arms of an experiment or pooled, or ids do not meet, it says that
        first, in red, and decides nothing: values, audit and definitions are then all that is shown.

        Below stand the values of `summarize`, differences with verdicts (`compare`), segments, metrics over the cut-off, real
        cases (users whose lists changed the most between the best model and the runner-up, with what was missed and their
        histories), coverage, concentration, novelty and popularity, the findings of `audit`, and how
        each metric is computed (`explain`). What does not apply is left out. Its numbers are those of these calls.

            metrics: without any ndcg, recall, precision, hit_rate, mrr and map, at 10 or at `k`. The first one decides.
            baseline: the name of the model in use, which all others are compared with; without it each is with each, or more
                than eight with the best.
            by: columns of users, items or rows, each looked at by itself.
            level: that of the intervals.
            min_users: segments with fewer users are not judged.
            cluster: the column of clusters of users, as in `summarize`: intervals and verdicts are those of clusters.
            margin: a share of the baseline's value that does not matter, as in `compare`.
            title: what stands above the page.
            sections: the names of those to show: overview, comparison, segments, curves, cases, costs, audit, definitions.

        `.headline` is the first sentences, `.html` the page's text, and `.data` its numbers as plain data. A page holds the
        largest 30 segments of a column and a dozen cases, so that it stays small whatever the number of rows.

        It needs recframe[report]. Of LazyFrames the plans run. Raises what these calls raise, and a RecframeError
        with a column of trainings.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 9, 9]})
        >>> a = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 3, 4], "rank": 1})
        >>> b = pl.DataFrame({"user": [1, 2, 3, 4], "item": [9, 9, 9, 9], "rank": 1})
        >>> report = rf.rec({"a": a, "b": b}, truth).report("hit_rate@1", baseline="a", title="Two models")
        >>> report
        <Two models: 6 sections; .save('report.html') writes it>
        >>> [row["value"] for row in report.data["summary"]]
        [0.5, 0.5]
        """
        from recframe.reports.page import check_installed  # noqa: PLC0415
        from recframe.reports.report import report  # noqa: PLC0415

        options.text("title", title)
        check_installed()
        rec: Any = self
        context = rec._context  # noqa: SLF001  the methods of this room are those of a Rec
        columns = [*context.by, *argument_errors.names(by)]
        rec = rec._with(replace(context, by=()))  # noqa: SLF001
        found = _metrics(rec, metrics, k)
        if context.training is not None:
            raise RecframeError(
                "a report shows lists of one training; of several write summarize() and compare()"
            )
        asked = question(rec._candidates(), found, None, None, None) if found else None  # noqa: SLF001
        return report(
            rec,
            columns,
            title,
            _texts("sections", sections or []),
            metrics=found,
            baseline=None if baseline is None else text_of(baseline),
            by=[column if isinstance(column, str) else str(column.name) for column in columns],
            level=level,
            min_users=min_users,
            cluster=cluster,
            margin=margin,
            lacks=sentences(asked.notes) if asked else [],
        )

    _lists_of = lists_of
    """The lists of some users, for the cases of a report."""

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


def _texts(name: str, given: object) -> list[str]:
    """Return the names of sections."""
    names = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    return [options.text(name, one, "a name or several, such as 'overview'") for one in names]


DEFAULTS = ("ndcg", "recall", "precision", "hit_rate", "mrr", "map")
"""The metrics of a report without any, at `DEFAULT_K`."""
DEFAULT_K = 10


def _metrics(rec: Any, metrics: Sequence[Asked], k: Cutoffs) -> list[Metric[...]]:
    """Return the requested metrics or the defaults; none where no relevance is known."""
    if metrics:
        return registry.asked(metrics, k)
    judged = rec._inputs(None, []).judged  # noqa: SLF001  the methods of this room are those of a Rec
    return registry.asked(DEFAULTS, DEFAULT_K if k is None else k) if judged else []


class TrackOptions(TypedDict, total=False):
    """The options of `track`, but where and of which time the run is."""

    name: str | None
    tags: Mapping[str, object] | None
    k: Cutoffs
    by: By
    level: float
    cluster: str | None


class Tracked(Generic[F]):
    """`rec.track` and `rec.fingerprint`: results kept in a history."""

    @overload
    def track(
        self: Tracked[pl.LazyFrame],
        *metrics: Asked,
        history: History,
        as_of: date | str,
        **options: Unpack[TrackOptions],
    ) -> pl.DataFrame: ...
    @overload
    def track(
        self,
        *metrics: Asked,
        history: History,
        as_of: date | str,
        **options: Unpack[TrackOptions],
    ) -> F: ...
    @argument_errors.understood
    def track(  # noqa: PLR0913  those of summarize, and what is known of the run
        self,
        *metrics: Asked,
        history: History,
        as_of: date | str,
        name: str | None = None,
        tags: Mapping[str, object] | None = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> Any:
        """Write `summarize(...)` to a history, with the fingerprint of the data (see `fingerprint`), and return what it wrote.

            history: a folder of Parquet files, one for each run, such as "history.parquet", created if missing.
            as_of: the time of the result, such as "2026-11-22" or "2026-11-22T06:00+01:00": text, a date or a datetime.
                Without a zone it is UTC.
            name: a name of the run, so that several runs of one time and data do not replace each other.
            tags: values by name that are stored with each row: {"commit": "3f2a1c"} in a column `tag_commit`.
            k, by, level, cluster: those of `summarize`.

        A run with the same `as_of`, `name` and data replaces the earlier one, with all of its metrics: compute the metrics of
        a run in one call, or name the runs. A file has a temporary name until it is complete, so that readers see a whole run
        or none, and several processes may write at once.

        The columns of a file are `as_of`, `name`, those of tags, `by` as text ("null" for a segment that is null), `metric`,
        `value`, `low`, `high` (its interval), `std`, `n` (its users), `fingerprint`. `rf.history(...)` has all runs as a
        frame; Polars and DuckDB read the folder too: `read_parquet('folder/*.parquet')`. Of a LazyFrame the plan runs, and
        the result is a DataFrame.

        Raises what `summarize` raises, a RecframeError for an `as_of` that is not a time and a place that cannot be written,
        and a ColumnError if `by` has the name of one of the file's own columns.

        >>> import polars as pl, recframe as rf, tempfile
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for day in ("2026-11-21", "2026-11-22"):
        ...         tracked = df.rec.track("mrr", history=folder, as_of=day)
        ...     rf.history(folder).select("as_of", "value", "n")
        shape: (2, 3)
        ┌─────────────────────┬───────┬─────┐
        │ as_of               ┆ value ┆ n   │
        │ ---                 ┆ ---   ┆ --- │
        │ datetime[μs]        ┆ f64   ┆ i64 │
        ╞═════════════════════╪═══════╪═════╡
        │ 2026-11-21 00:00:00 ┆ 0.75  ┆ 2   │
        │ 2026-11-22 00:00:00 ┆ 0.75  ┆ 2   │
        └─────────────────────┴───────┴─────┘
        """
        from recframe.tracking.fingerprints import fingerprint  # noqa: PLC0415  importing recframe should take no time
        from recframe.tracking.histories import moment, place_of, write  # noqa: PLC0415

        rec: Any = self
        # what is wrong with these is said before any work is done
        place, time = place_of(history), moment(as_of)
        summary = rec.summarize(*metrics, k=k, by=by, cluster=cluster, level=level)
        names = argument_errors.names(cluster, argument_errors.names(by))
        data = fingerprint(rec._inputs(names, registry.asked(metrics, k)))  # noqa: SLF001  the methods of this room are those of a Rec
        return write(summary, place, {"as_of": time, "name": name, "fingerprint": data}, tags)

    @argument_errors.understood
    def fingerprint(self, *, by: By = None) -> str:
        """Return a short text that identifies the data.

        It depends on the rows of all bound frames, in the columns that a call reads: the roles, and `by`. Row order, kind of
        frame and dtype do not matter. It is stable within one version of Polars, whose hashes it uses. Unread columns and
        policies do not change it.

        Of LazyFrames the plan runs, in a streaming pass.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.fingerprint() == df.reverse().rec.fingerprint()
        True
        >>> df.rec.fingerprint() == df.head(1).rec.fingerprint()
        False
        """
        from recframe.tracking.fingerprints import fingerprint  # noqa: PLC0415  importing recframe should take no time

        rec: Any = self
        return fingerprint(rec._inputs(by))  # noqa: SLF001  the methods of this room are those of a Rec


class Answers(
    Uncertain[F],
    Compared[F],
    Gates[F],
    ResultsShown[F],
    Tracked[F],
    OfLogs[F],
):
    """The methods of `rec` but metrics: statistics, segments, gates, histories, lists, tables, charts, reports, splits."""
