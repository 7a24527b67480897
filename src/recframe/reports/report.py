"""The report of a `rec`, section by section."""

from __future__ import annotations

import platform
import warnings
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import polars as pl

import recframe
from recframe.audit.checks import SEVERITIES
from recframe.audit.report import meanings_of_checks, tell
from recframe.charts.formatting import counted, listed, number
from recframe.charts.long_format import Intervals, keyed, models_of
from recframe.charts.value_charts import HIT_AT
from recframe.errors import RecframeError, RecframeWarning, short, warn
from recframe.evaluation import trainings
from recframe.evaluation.caching import held_values
from recframe.evaluation.required_columns import is_of_segment, needs_of
from recframe.evaluation.user_values import HeldValues
from recframe.frames.collecting import stream
from recframe.frames.inputs import Inputs
from recframe.metrics import catalogue_metrics, popularity_metrics
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import explanation, under_profile
from recframe.reports import headline, report_cases
from recframe.reports.decision import Asking, Decision, decided
from recframe.reports.page import Content, Page, Section, Text, figure, notes_below, where_it_can
from recframe.reports.page_tables import Row, blocks, noted
from recframe.reports.report_segments import (
    MOST_ALIKE,
    MOST_MARKS,
    OF_ONE_TRAINING,
    TO_BIND,
    SectionsOfSegments,
)
from recframe.reports.report_tables import (
    costs_table,
    differences_table,
    findings_table,
    values_table,
)
from recframe.side_info.requirements import check_needs
from recframe.statistics.groups import reason_without
from recframe.tracking.fingerprints import fingerprint

CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
"""The cut-offs of curves."""
MOST_CURVES = 2
MOST_RANKS = 20
BEYOND = (
    catalogue_metrics.coverage,
    catalogue_metrics.gini,
    popularity_metrics.novelty,
    popularity_metrics.popularity_lift,
)
"""Metrics of the costs of accuracy."""
SECTIONS = {
    "overview": "Overview",
    "comparison": "Comparison of models",
    "segments": "Segments",
    "curves": "Over the cut-off",
    "costs": "Beyond accuracy",
    "cases": "Cases",
    "findings": "Audit of the data",
    "definitions": "How the numbers are computed",
}
"""The titles of the sections, in their order; each is a method of `ReportBuilder`."""
TABLES = (
    "summary",
    "ahead",
    "compared",
    "segments",
    "costs",
    "findings",
)
"""The numbers of a report."""
NOUNS = {"error": "error", "warning": "warning", "info": "note"}


@dataclass(frozen=True)
class Cases:
    """The place of the cases, which the page's script shows from its data."""

    kind = "cases"
    models: tuple[str, ...]
    kinds: tuple[str, ...]


def report(rec: Any, columns: Sequence[Any], **asked: Any) -> Page:
    """Return the report of a `rec`, with the warnings on the way, which are given once more."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RecframeWarning)
        builder = ReportBuilder(rec, list(columns), **asked)
        sections = builder.sections()
    found: dict[str, None] = {}
    for one in caught:
        if issubclass(one.category, RecframeWarning):
            found[str(one.message)] = None
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    with warnings.catch_warnings():
        # what a chart of the first screen says has been said
        warnings.simplefilter("ignore", RecframeWarning)
        content = builder.content(sections, list(found))
    for message in found:
        warn(message)
    return Page(content, "report.html.j2", ("report.css",), ("report.js",))


@dataclass
class ReportBuilder(SectionsOfSegments):
    """The sections of a report, in their order, each of which asks one `rec` for its numbers."""

    plain: Any
    columns: list[Any]
    metrics: list[Metric[...]]
    baseline: str | None
    by: list[str]
    """The names of the columns of segments."""
    level: float
    min_users: int
    cluster: str | None
    """The column of clusters: users within one are correlated."""
    margin: float | None
    """The share of the baseline's value that does not matter."""
    title: str
    title_of: str | None
    """The column of `items` that names an item."""
    item_columns: list[str]
    """Columns of `items` that stand beside each item of a case."""

    def __post_init__(self) -> None:
        """Collect the users' values of all that is asked for."""
        self.plain = self.plain._candidates()  # noqa: SLF001  the methods of this room
        self.inputs = self.plain._inputs(None, self.metrics)  # noqa: SLF001
        self.data: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
        self.shown_cases: dict[str, Any] | None = None
        self.of_users = [metric for metric in self.metrics if not is_of_segment(metric)]
        cut = {one.name: replace(one, k=None) for one in self.of_users if one.k is not None}
        self.over_cutoffs = list(cut.values())[:MOST_CURVES]
        self.how = Intervals(self.level, self.cluster)
        self.sure = self.how._asdict()
        self.k = next((metric.k for metric in self.metrics if metric.k is not None), None)
        self.last_rank = min(
            max((metric.k or MOST_RANKS for metric in self.metrics), default=1), MOST_RANKS
        )
        self.rec = self._holding()
        self.names = models_of(self.rec)
        self.models = self.names.order
        self.has_models = len(self.models) > 1
        self.decision: Decision | None = None
        self.nothing = ""

    def _holding(self) -> Any:
        """Return the same `rec` with users' values of all requested metrics collected."""
        rec = self.plain._in_polars()  # noqa: SLF001
        if self.inputs.folds is not None:  # whose values are of each fold
            return rec
        conventions = under_profile.asked(self.inputs.context, self.metrics)
        over_k = [replace(one, k=k) for one in self.over_cutoffs for k in CUTOFFS]
        by_rank = [replace(HIT_AT, k=k) for k in range(1, self.last_rank + 1)]
        for more in (over_k, by_rank if self.of_users else []):
            # a profile's library may have them without a cut-off alone
            with suppress(RecframeError):
                conventions += under_profile.asked(self.inputs.context, more)
        if conventions:
            home = under_profile.at_home(self.inputs)
            rec._held = held_values(home, conventions, rec._run(), rec._kind.run)  # noqa: SLF001
        return rec

    def sections(self) -> list[Section]:
        """Return the sections in their order; those without a lead have nothing to show."""
        sections = {name: Section(name, title) for name, title in SECTIONS.items()}
        names = ["costs", "cases"]
        if self.metrics:
            self._keep("summary", self._summary())
            self.decision = self._decided()
            names = ["comparison", "segments", "curves", *names]
        else:
            words = f"{TO_BIND['truth']} shows how good the lists are."
            sections["overview"].missing.append(words)
        for name in names:
            # several folds have no answer to some questions
            with where_it_can(sections[name]) if self.inputs.folds else nullcontext():
                getattr(self, name)(sections[name])
        self.findings(sections["findings"])
        self.definitions(sections["definitions"])
        return list(sections.values())

    def content(self, sections: list[Section], warned: list[str]) -> Content:
        """Return the whole page."""
        self.nothing = headline.nothing(self.data, warned)
        self.overview(sections[0], warned)
        shown = [section for section in sections if section.lead]
        lines = [words for section in sections if not section.lead for words in section.missing]
        lines = list(dict.fromkeys(lines))
        if lines:
            more = "What else a report can show", "What to bind to see more.", [Text([lines])]
            shown.append(Section("more", *more))
        data = {
            "metrics": [str(metric) for metric in self.metrics],
            "models": self.models,
            "baseline": self.baseline,
            "by": self.by,
            **self.sure,
            **self.data,
            "cases": self.shown_cases,
            "warnings": warned,
        }
        split = self.plain._context.split  # noqa: SLF001
        facts = {
            "Baseline": self.baseline,
            "Segments by": ", ".join(self.by) or None,
            "Conventions of": self.inputs.context.profile or None,
            "Intervals": self.how.words,
            "Split": None if split is None else short(split.rule.words),
        }
        models = self.models if self.inputs.model else []
        return Content(
            self.title,
            "" if self.nothing else headline.headline(self.data, self.metrics, self.decision),
            shown,
            headline.facts(self.data, models, **facts),
            data,
            _footer(self.inputs),
            self.nothing,
        )

    def _summary(self) -> pl.DataFrame:
        result = self.rec.summarize(self.metrics, **self.sure)
        if self.rec._kind.is_lazy:  # noqa: SLF001  whose calls tell nothing
            wide = self.rec.evaluate(self.metrics)
            home = trainings.one_of_each(under_profile.at_home(self.inputs))
            tell(home, self.metrics, wide, stream)
        return keyed(self.rec, result)

    def overview(self, section: Section, warned: Sequence[str]) -> None:
        """Show the best, by how much and at whose cost; all models; and what each metric says."""
        if not self.metrics and not warned:
            return
        rows = self.data["summary"]
        section.lead = "No accuracy metric could be computed."
        if rows:
            first = self.metrics[0]
            section.lead = headline.best_value(rows, first)
            if self.nothing:
                section.lead = "The values, which say nothing of the models."
            else:
                section.parts.append(headline.tiles(self.data, first, self.decision))
            if self.has_models:
                of_chart = self.plot.models(first, **self.sure)
                section.parts.append(figure("chart-models", of_chart))
            bold = self.has_models and not self.nothing
            section.parts.append(values_table(rows, self.metrics, self.how.words, bold=bold))
            lines = [f"{metric}: {headline.first_sentence(metric)}" for metric in self.metrics]
            section.parts.append(Text([lines]))
        about = "{model} ({metric})" if self.has_models else "{metric}"
        notes = [*warned, *noted((row["note"], about.format(**row)) for row in rows)]
        section.parts += notes_below(notes, "for whoever made this page")

    def definitions(self, section: Section) -> None:
        """Show how each metric is computed, with all of its options."""
        for metric in self.metrics:
            meaning = explanation.meaning(self.inputs, metric).partition("\n\n")[2]
            section.parts.append(Text(blocks(meaning), f"{metric}"))
        if section.parts:
            section.lead = (
                "Formulas, empty cases and options of each metric, for those who check the numbers."
            )

    @property
    def _tested(self) -> list[Metric[...]]:
        """The metrics whose differences can be tested."""
        return [one for one in self.metrics if not (is_of_segment(one) and reason_without(one))]

    def _decided(self) -> Decision | None:
        """Return the decision, where there are models, and the first metric has a test."""
        if not self.has_models or self.metrics[0] not in self._tested:
            return None
        margin, cluster = self.margin, self.cluster
        self.asking = Asking(self.rec, self._tested, self.level, cluster, margin, self.min_users)
        # what is told of a call is told by those of the sections
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecframeWarning)
            values = [row for row in self.data["summary"] if row["model"] != self.names.none]
            found = decided(self.asking, values, self.baseline)
        if found is not None:
            self.data["ahead"] = [dict(row) for row in found.ahead]
        return found

    def comparison(self, section: Section) -> None:
        """Compare models with one another."""
        if len(self.models) < 2 and self.baseline is None:  # noqa: PLR2004  a pair
            section.missing.append(f"{TO_BIND['model']} holds models against one another.")
            return
        if not self._tested:
            return
        against = self.baseline
        if against is None and self.decision is not None and len(self.models) > MOST_ALIKE:
            against = self.decision.best
        given = {"margin": self.margin, **self.sure}
        found = self.rec._compared([self._tested], against, **given, counts=True)  # noqa: SLF001
        if self.baseline is None:
            words = f"{TO_BIND['baseline']} names the model that all others are held against."
            section.missing.append(words)
        if len(found) <= MOST_MARKS:
            chart = self._chart_of(found, self._tested, against)
            section.parts.append(figure("chart-compare", chart))
        rows = self._keep("compared", keyed(self.rec, found))
        places = [row["model"] for row in headline.by_value(self.data["summary"], self.metrics[0])]
        rows = sorted(rows, key=lambda row: places.index(row["model"]))
        section.lead = "There are not two models to compare."
        if rows:
            section.lead = headline.tally(rows, against)
        section.parts.append(differences_table(rows, self.how.words, self.level))
        untested = [one for one in self.metrics if one not in self._tested]
        notes = [f"{one}: no test is known." for one in untested]
        notes += noted((row["note"], f"{row['model']} ({row['metric']})") for row in rows)
        section.parts += notes_below(notes, "on the differences")

    def _by_model(self, rows: Sequence[Row]) -> str:
        """Return the value of each model in a sentence."""
        about = [f" with {row['model']}" if self.has_models else "" for row in rows]
        return listed([number(row["value"]) + of for row, of in zip(rows, about, strict=True)])

    def curves(self, section: Section) -> None:
        """Show metrics over the cut-off."""
        # the cut-offs of a curve are nobody's question, and the others are answered
        with where_it_can(section), warnings.catch_warnings():
            warnings.simplefilter("ignore", RecframeWarning)
            for one in self.over_cutoffs:
                cutoffs = sorted({*CUTOFFS, *([] if self.k is None else [self.k])})
                chart = self.plot.curve(one, k=cutoffs, mark=self.k, **self.sure)
                section.parts.append(figure(f"chart-curve-{one.name}", chart))
            if self.of_users:
                hits = self.plot.hits_by_rank(k=self.last_rank, **self.sure)
                section.parts.append(figure("chart-hits", hits))
        if section.parts:
            # of a part that cannot be drawn nothing is to be bound
            section.missing.clear()
            names = [f"{one} over the cut-off" for one in self.over_cutoffs]
            names = [*names, "hits by rank"][: len(section.parts)]
            section.lead = f"How the numbers change with the cut-off: {listed(names)}."

    def costs(self, section: Section) -> None:
        """Show what is beyond accuracy, and who is shown what."""
        metrics = [replace(one, k=self.k) for one in BEYOND]
        served = [metric for metric in metrics if self._is_served(metric)]
        if len(served) < len(metrics):
            words = f"{TO_BIND['train']}, what the models were fitted on, and {TO_BIND['items']}, one row for each item, "
            words += "tell what accuracy costs: coverage, concentration, novelty and popularity."
            section.missing.append(words)
        if not served:
            return
        home = self.plain._in_polars()  # noqa: SLF001
        # metrics and chart have the same lists, up to the same k
        home._held = HeldValues({}, cuts={})  # noqa: SLF001
        rows = []
        with where_it_can(section):
            found = home.evaluate(served, tidy=True)
            if self.inputs.training:
                section.missing.append(f"{OF_ONE_TRAINING} shows who is shown what.")
            else:
                plot = home.plot(highlight=self.highlight)
                section.parts.append(figure("chart-exposure", plot.exposure(k=self.k)))
            rows = self._keep("costs", keyed(home, found).with_columns(metric=_with_cutoff()))
        if rows:
            self._costs(section, rows)

    def _costs(self, section: Section, rows: Sequence[Row]) -> None:
        names = dict.fromkeys(row["metric"] for row in rows)
        name = rows[0]["metric"]
        first = [one for one in rows if one["metric"] == name and one["value"] is not None]
        values = self._by_model(first)
        section.lead = f"What the lists are like besides being right{f': {name} is {values}' if values else ''}."
        metrics = [registry.parse(one) for one in names]
        section.parts.insert(0, costs_table(rows, metrics))
        section.parts.append(Text([[f"{one}: {headline.first_sentence(one)}" for one in metrics]]))

    def _is_served(self, metric: Metric[...]) -> bool:
        """Return whether the frames that a metric needs are bound."""
        with suppress(RecframeError):
            check_needs(self.inputs, metric, needs_of(metric).facts)
            return True
        return False

    def cases(self, section: Section) -> None:
        """Show users' cases."""
        if not self.of_users:
            return
        if self.inputs.training:
            section.missing.append(f"{OF_ONE_TRAINING} shows lists of users.")
            return
        columns = report_cases.ItemColumns.of(self.inputs, self.title_of, self.item_columns)
        lacking: dict[str, Any] = {
            f"{TO_BIND['items']}, one row for each item with a title, names items.": self.inputs.items,
            f"{TO_BIND['train']} shows each user's history.": self.inputs.train,
        }
        if self.has_models:
            words = f"{TO_BIND['baseline']} shows the users that a model changes the most."
            lacking[words] = self.baseline
        section.missing = [words for words, bound in lacking.items() if bound is None]
        with where_it_can(section):
            self.shown_cases = report_cases.cases(
                self.rec, self.inputs, self.of_users[0], self.names, columns, self.baseline
            )
        if self.shown_cases is None:
            return
        every = self.shown_cases["cases"]
        models = tuple(dict.fromkeys(one["model"] for one in every))
        kinds = tuple(dict.fromkeys(one["kind"] for one in every))
        section.lead = f"{len(every)} lists of real users by {self.of_users[0]}: {listed(kinds)}."
        section.parts = [Cases(models, kinds)]
        if columns.title is not None:
            note = f"Items are named by the column {columns.title!r} of the items frame."
            section.missing.insert(0, note)

    def findings(self, section: Section) -> None:
        """Show the findings of the audit."""
        if self.inputs.folds is not None:  # whose audit is that of the split
            return
        if not self.inputs.judged:
            section.missing.append(f"{TO_BIND['truth']} has the audit look at the data.")
            return
        found = self.plain._in_polars().audit(self.k, by=self.columns or None)  # noqa: SLF001
        meanings = meanings_of_checks()
        what = pl.col("check").replace_strict(meanings, default="", return_dtype=pl.String)
        rows = self._keep("findings", found.with_columns(what=what))
        section.lead = "The audit finds nothing odd in the data."
        if rows:
            levels = [row["severity"] for row in rows]
            each = [
                counted(levels.count(severity), NOUNS[severity])
                for severity in SEVERITIES
                if severity in levels
            ]
            section.lead = f"What the audit finds in the data: {listed(each)}."
            section.parts = [findings_table(rows)]


def _with_cutoff() -> pl.Expr:
    """Return a metric's name with its cut-off, of a result in long form."""
    name, k = pl.col("metric"), pl.col("k")
    return pl.when(k.is_null()).then(name).otherwise(pl.format("{}@{}", name, k))


def _footer(inputs: Inputs) -> str:
    """Return when and by which versions a page was made, and of which data."""
    day = datetime.now().astimezone()
    versions = f"recframe {recframe.__version__}, Polars {pl.__version__} and Python {platform.python_version()}"
    made = f"Made by {versions} on {day.day} {day:%B %Y}"
    data = f"of the data with the fingerprint {fingerprint(inputs)}"
    return f"{made}, {data}. This page is one file and loads nothing from any network."
