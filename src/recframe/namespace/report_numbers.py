"""The numbers of a report: each section's results, answered from the users' values that are collected once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import replace
from typing import Any

import polars as pl

import recframe
from recframe.audit import call_warnings
from recframe.audit.call_context import Seen
from recframe.audit.findings import meanings_of_checks
from recframe.conventions import explanation, under_profile
from recframe.errors import DataError, RecframeError, RecframeWarning, warn
from recframe.facts.requirements import check_needs
from recframe.frames.collecting import stream
from recframe.frames.hints import Either
from recframe.frames.inputs import Inputs
from recframe.look.pages.findings_of_a_report import Asked, Drawn, Gathered
from recframe.look.themes import ALL
from recframe.metrics import accuracy_counts, catalogue_metrics, popularity_metrics
from recframe.metrics.language.definition import Metric
from recframe.namespace import chart_data, report_cases
from recframe.namespace.chart_names import WITHOUT_MODELS, Names
from recframe.plan import trainings
from recframe.plan.held_values import held_values
from recframe.plan.leave_one_out import reason_without
from recframe.plan.needs import is_of_segment, needs_of
from recframe.plan.user_values import HeldValues
from recframe.uncertainty import options

CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
"""Where metrics are drawn over the cut-off."""
MOST_CURVES = 2
MOST_RANKS = 20
MOST_SEGMENTS = 30
"""So many segments of a column are drawn, the largest."""
MOST_MARKS = 120
"""So many marks a chart of segments or differences has, one below the other."""
TO_BIND = {
    "truth": Either("truth=, or a column of relevance,", "TRUTH, or a column of relevance,"),
    "model": Either(
        "model=, a column that tells models apart, or a frame for each, rf.rec({'a': a, 'b': b}),",
        "--model, a column that tells models apart,",
    ),
    "baseline": Either("baseline=", "--baseline"),
    "by": Either("by=", "--by"),
    "train": Either("train=", "--train"),
    "items": Either("items=", "--items"),
}
"""What to give for more to be shown, in Python and in a shell."""
OF_ONE_TRAINING = "a report of one training, whose lists are one of each user,"
BEYOND = (
    catalogue_metrics.coverage,
    catalogue_metrics.gini,
    popularity_metrics.novelty,
    popularity_metrics.popularity_lift,
)
"""What accuracy may cost."""


class Gathering:
    """A report's questions to one `rec`, in the order of its sections."""

    def __init__(self, rec: Any, by: Sequence[Any], asked: Asked) -> None:
        self.plain, self.by, self.asked = rec, list(by), asked
        self.metrics = list(asked.metrics)
        self.inputs: Inputs = rec._inputs(None, None, self.metrics)  # noqa: SLF001  the methods of this room
        self.missing: dict[str, list[str]] = {}
        self.charts: dict[str, list[Drawn]] = {}
        self.rec = self._holding()
        self.names = self._names()

    @property
    def of_users(self) -> list[Metric[...]]:
        """The metrics of which each user has a value."""
        return [one for one in self.metrics if not is_of_segment(one)]

    @property
    def over_cutoffs(self) -> list[Metric[...]]:
        """The metrics that are drawn over the cut-off, without one."""
        named = {one.name: replace(one, k=None) for one in self.of_users if one.k is not None}
        return list(named.values())[:MOST_CURVES]

    @property
    def sure(self) -> dict[str, Any]:
        """The options of all intervals and verdicts."""
        return {"level": self.asked.level, "cluster": self.asked.cluster}

    @property
    def k(self) -> int | None:
        """The cut-off of what is shown beside the metrics: that of the first one that has one."""
        return next((one.k for one in self.metrics if one.k is not None), None)

    def gathered(self) -> Gathered:
        """Return all numbers."""
        with ThreadPoolExecutor(1) as other:
            return self._gathered(self._audited(other))

    def _audited(self, other: Executor) -> Callable[[], pl.DataFrame | None]:
        """Return what gives the findings; of a large frame they are looked for while charts are drawn.

        NOTE: Polars and Altair leave each other a core. A LazyFrame's source may not be one that two may read at a time.
        """
        if self.plain._kind.asks is None:  # noqa: SLF001
            return self._findings
        # the words that messages are in are those of this thread
        return other.submit(copy_context().run, self._findings).result

    def _gathered(self, findings: Callable[[], pl.DataFrame | None]) -> Gathered:
        models = self.names.order
        found: dict[str, Any] = {"models": models}
        if self.metrics:
            found |= {"summary": self._summary(), "meanings": self._meanings()}
            found |= self._comparison(models) | self._segments(models) | self._spread()
            self._curves()
        else:
            self._lacks(
                "overview",
                f"{TO_BIND['truth']} shows how good the lists are.",
            )
        found |= {"costs": self._costs(), "cases": self._cases(models), "findings": findings()}
        found["sure"] = self._interval_words()
        found["facts"] = self._facts(models, found.get("summary"), found["sure"])
        return Gathered(asked=self.asked, charts=self.charts, missing=self.missing, **found)

    def _holding(self) -> Any:
        """Return the same with the users' values of all that is asked for collected."""
        rec = self.plain._in_polars()  # noqa: SLF001
        conventions = under_profile.asked(self.inputs.context, self.metrics)
        over_k = [replace(one, k=k) for one in self.over_cutoffs for k in CUTOFFS]
        by_rank = [replace(accuracy_counts.n_hits, k=k) for k in range(1, self._last_rank() + 1)]
        for more in (over_k, by_rank if self.of_users else []):
            # a profile's library may have them without a cut-off alone
            with suppress(RecframeError):
                conventions += under_profile.asked(self.inputs.context, more)
        if conventions:
            home = under_profile.at_home(self.inputs)
            rec._held = held_values(home, conventions, rec._run(), rec._kind.run)  # noqa: SLF001
        return rec

    def _last_rank(self) -> int:
        return min(max((one.k or MOST_RANKS for one in self.metrics), default=1), MOST_RANKS)

    def _lacks(self, section: str, words: str) -> None:
        self.missing.setdefault(section, []).append(words)

    @contextmanager
    def _where_it_can(self, section: str) -> Iterator[None]:
        """Leave out what these frames or policies do not allow, and say why; errors in the data are raised."""
        try:
            yield
        except DataError:
            raise
        except RecframeError as error:
            self._lacks(section, str(error))

    def _draw(self, section: str, name: str, chart: Any) -> None:
        self.charts.setdefault(section, []).append(Drawn(f"chart-{name}", chart))

    def _keyed(self, result: pl.DataFrame) -> pl.DataFrame:
        return chart_data.keyed(self.rec, result)

    def _names(self) -> Names:
        """Return what models are called in the page."""
        held = None if self.rec._held is None else self.rec._held.models  # noqa: SLF001
        # of trainings each is held as one
        held = None if self.inputs.training else held
        if not self.inputs.model:
            return WITHOUT_MODELS
        if held is None:
            lists = self.inputs.identified("recommendations").select("model").unique()
            held = self.rec._kind.run(lists.drop_nulls())  # noqa: SLF001
        return Names.of([held["model"]])

    def _summary(self) -> pl.DataFrame:
        result = self.rec.summarize(self.metrics, **self.sure, wide=True)
        if self.rec._kind.is_lazy:  # noqa: SLF001  whose calls tell nothing
            wide = self.rec.evaluate(self.metrics)
            home = trainings.one_of_each(under_profile.at_home(self.inputs))
            call_warnings.tell(Seen(home, self.metrics, wide, stream))
        return self._keyed(result)

    def _meanings(self) -> list[tuple[str, str]]:
        return [(str(one), explanation.meaning(self.inputs, one)) for one in self.metrics]

    def _comparison(self, models: Sequence[str]) -> dict[str, Any]:
        """Return models held against one another, and draw it."""
        if len(models) < 2 and self.asked.baseline is None:  # noqa: PLR2004  a pair
            self._lacks("comparison", f"{TO_BIND['model']} holds models against one another.")
            return {}
        untested = [one for one in self.metrics if is_of_segment(one) and reason_without(one)]
        tested = [one for one in self.metrics if one not in untested]
        if not tested:
            return {"untested": [str(one) for one in untested]}
        given = {"baseline": self.asked.baseline, **self.sure}
        found = self.rec.compare(tested, **given, wide=True)
        if self.asked.baseline is None:
            self._lacks(
                "comparison",
                f"{TO_BIND['baseline']} names the model that all others are held against.",
            )
        if len(found) <= MOST_MARKS:
            self._draw("comparison", "compare", self.rec.plot.compare(tested, **given))
        return {"compared": self._keyed(found), "untested": [str(one) for one in untested]}

    def _segments(self, models: Sequence[str]) -> dict[str, Any]:
        """Return gaps between segments and the worst slices, and draw each column."""
        if not self.by:
            self._lacks(
                "segments", f"{TO_BIND['by']} shows segments, by columns of users, items or lists."
            )
            return {}
        if not self.of_users:
            return {}
        first = self.of_users[0]
        given = {"by": self.by, "min_users": self.asked.min_users, **self.sure}
        if not self.inputs.training:
            gaps = self.rec.gaps(self.of_users, **given, wide=True)
        most = max(min(MOST_SEGMENTS, MOST_MARKS // len(models)), 3) if models else MOST_SEGMENTS
        for place, one in enumerate(self.by):
            chart = self.rec.plot.segments(
                first,
                by=one,
                min_users=self.asked.min_users,
                most=most,
                **self.sure,
            )
            self._draw("segments", f"segments-{place}", chart)
        if self.inputs.training:
            self._lacks("segments", f"{OF_ONE_TRAINING} shows gaps between segments.")
            return {}
        slices = self.rec.slices(first, **given, depth=1, wide=True)
        return {"gaps": self._keyed_by_model(gaps), "slices": self._keyed_by_model(slices)}

    def _keyed_by_model(self, found: pl.DataFrame) -> pl.DataFrame:
        """Return results with the model as text, in `model`."""
        name = self.rec._context.model  # noqa: SLF001
        if name is None:
            return found.with_columns(model=pl.lit(ALL))
        # NOTE: under a name of our own, since one such as "^.*$" is a pattern to Polars
        models = found[name].alias("model").to_frame()
        text = models.select(self.names.text(pl.col("model"))).to_series()
        return found.drop(name).with_columns(text)

    def _spread(self) -> dict[str, Any]:
        """Draw how users' values are spread, and return how many have 0."""
        found = []
        for place, one in enumerate(self.of_users[:MOST_CURVES]):
            chart = self.rec.plot.distribution(one)
            self._draw("distributions", f"distribution-{place}", chart)
            zeros = chart.vconcat[0].data.with_columns(metric=pl.lit(str(one)))
            found.append(zeros.select("model", "metric", "n", "users", "share"))
        return {"zeros": pl.concat(found) if found else None}

    def _curves(self) -> None:
        plot = self.rec.plot
        # the cut-offs of a curve are nobody's question, and the others are answered
        with self._where_it_can("curves"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RecframeWarning)
            for one in self.over_cutoffs:
                chart = plot.curve(one, k=CUTOFFS, **self.sure)
                self._draw("curves", f"curve-{one.name}", chart)
            if self.of_users:
                self._draw("curves", "hits", plot.hits_by_rank(k=self._last_rank()))

    def _costs(self) -> pl.DataFrame | None:
        """Return what is beyond accuracy, and draw who is shown what."""
        metrics = [replace(one, k=self.k) for one in BEYOND]
        served = [one for one in metrics if self._is_served(one)]
        if len(served) < len(metrics):
            words = f"{TO_BIND['train']}, what the models were fitted on, and {TO_BIND['items']}, one row for each item, "
            words += "tell what accuracy costs: coverage, concentration, novelty and popularity."
            self._lacks("costs", words)
        if not served:
            return None
        home = self.plain._in_polars()  # noqa: SLF001
        # metrics and chart have the same lists, up to the same k
        home._held = HeldValues({}, cuts={})  # noqa: SLF001
        with self._where_it_can("costs"):
            found = home.evaluate(served, tidy=True)
            if self.inputs.training:
                self._lacks("costs", f"{OF_ONE_TRAINING} shows who is shown what.")
            else:
                self._draw("costs", "exposure", home.plot.exposure(k=self.k))
            return chart_data.keyed(home, found).with_columns(metric=_with_cutoff())
        return None

    def _is_served(self, metric: Metric[...]) -> bool:
        """Return whether the frames that a metric needs are bound."""
        try:
            check_needs(self.inputs, metric, needs_of(metric).facts)
        except RecframeError:
            return False
        return True

    def _findings(self) -> pl.DataFrame | None:
        if not self.inputs.judged:
            self._lacks("findings", f"{TO_BIND['truth']} has the audit look at the data.")
            return None
        found: pl.DataFrame = self.plain._in_polars().audit(self.k, by=self.by or None)  # noqa: SLF001
        what = meanings_of_checks()
        told = pl.col("check").replace_strict(what, default="", return_dtype=pl.String)
        return found.with_columns(what=told)

    def _cases(self, models: Sequence[str]) -> dict[str, Any] | None:
        if not self.of_users:
            return None
        if self.inputs.training:
            self._lacks("cases", f"{OF_ONE_TRAINING} shows lists of users.")
            return None
        if self.inputs.items is None:
            self._lacks(
                "cases", f"{TO_BIND['items']}, one row for each item with a title, names items."
            )
        if self.inputs.train is None:
            self._lacks("cases", f"{TO_BIND['train']} shows each user's history.")
        if len(models) > 1 and self.asked.baseline is None:
            self._lacks(
                "cases", f"{TO_BIND['baseline']} shows the users that a model changes the most."
            )
        title = report_cases.title_column(self.inputs, self.asked)
        with self._where_it_can("cases"):
            first = self.of_users[0]
            words = report_cases.Words(self.names, title, self.asked.baseline)
            return report_cases.cases(self.rec, self.inputs, first, words)
        return None

    def _interval_words(self) -> str:
        level, cluster = self.asked.level, self.asked.cluster
        if not self.metrics:
            return options.per_cent(level)
        return chart_data.interval_words(self.rec, self.metrics[0], level, cluster, None)

    def _facts(
        self, models: Sequence[str], summary: pl.DataFrame | None, sure: str
    ) -> list[tuple[str, str]]:
        found = []
        if summary is not None and len(summary):
            found.append(("Users", f"{max(summary['n_users']):,}"))
        if self.inputs.model:
            found.append(("Models", f"{len(models):,}"))
        if self.asked.baseline is not None:
            found.append(("Baseline", self.asked.baseline))
        if self.asked.by:
            found.append(("Segments by", ", ".join(self.asked.by)))
        if self.inputs.context.profile:
            found.append(("Conventions of", self.inputs.context.profile))
        return [
            *found,
            ("Intervals", sure),
            ("recframe", recframe.__version__),
        ]


def _with_cutoff() -> pl.Expr:
    """Return a metric's name with its cut-off, of a result in long form."""
    name, k = pl.col("metric"), pl.col("k")
    return pl.when(k.is_null()).then(name).otherwise(pl.format("{}@{}", name, k))


def gather(rec: Any, by: Sequence[Any], asked: Asked) -> Gathered:
    """Return the numbers of a report, with what was warned of on the way, which is warned of once more."""
    told: list[str] = []
    with _kept(told):
        found = Gathering(rec, by, asked).gathered()
    for text in dict.fromkeys(told):
        warn(text)
    return replace(found, warnings=list(dict.fromkeys(told)))


@contextmanager
def _kept(told: list[str]) -> Iterator[None]:
    """Write down recframe's warnings; others are shown as they are."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RecframeWarning)
        yield
    for one in caught:
        if issubclass(one.category, RecframeWarning):
            told.append(str(one.message))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
