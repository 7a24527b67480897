"""The report of a `rec`: its sections, each a function of what is known."""

from __future__ import annotations

import platform
import re
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Any

import polars as pl

import recframe
from recframe.charts.formatting import TIMES, count, counted, listed, number, per_cent, signed
from recframe.charts.long_format import keyed, noun_of
from recframe.charts.themes import MOST_COLOURED
from recframe.errors import DataError, RecframeError, RecframeWarning, short, shown, suggestion, warn
from recframe.evaluation.required_columns import needs_of
from recframe.evaluation.user_values import HeldValues
from recframe.frames.hints import Either
from recframe.metrics import catalogue_metrics, popularity_metrics
from recframe.metrics.language import registry
from recframe.metrics.language.definition import Metric
from recframe.profiles import explanation, under_profile
from recframe.reports.cases import Cases
from recframe.reports.cases import cases as cases_of
from recframe.reports.decision import SHOWN, Decision, decided
from recframe.reports.facts import CUTOFFS, Facts
from recframe.reports.page import Page, Section, Text, Tile, Tiles, figure
from recframe.reports.tables import (
    MARKS,
    Cell,
    Row,
    differences_table,
    findings_table,
    measured,
    noted,
    values_table,
    with_interval,
)
from recframe.side_info.requirements import check_needs
from recframe.tracking.fingerprints import fingerprint

BEYOND = (
    catalogue_metrics.coverage,
    catalogue_metrics.gini,
    popularity_metrics.novelty,
    popularity_metrics.popularity_lift,
)
"""Metrics of the costs of accuracy."""
MOST_MARKS, MOST_SEGMENTS, MOST_LACKS = 120, 30, 3
"""Most marks of a chart of differences, segments of a chart, and sentences on missing lists."""
POOLED = ("pooled_lists", "pooled_models", "models_of_the_truth", "model_without_common_ids")
"""Findings on which nothing is decided."""
MORE = {
    "truth": (
        Either("truth=, or a column of relevance,", "TRUTH, or a column of relevance,"),
        "shows how good the lists are",
    ),
    "model": (
        Either(
            "model=, a column of models, or a frame for each, rf.rec({'a': a, 'b': b}),",
            "--model, a column of models,",
        ),
        "compares models",
    ),
    "baseline": (Either("baseline=", "--baseline"), "names the model in use"),
    "by": (Either("by=", "--by"), "shows segments, by columns of users, items or lists"),
    "train": (Either("train=", "--train"), "shows each user's history, novelty and popularity"),
    "items": (
        Either("items=", "--items"),
        "one row for each item, shows titles, and how much of the catalogue is recommended",
    ),
}
"""What to bind to see more, in Python and in a shell."""


def report(
    rec: Any, columns: Sequence[Any], title: str, sections: Sequence[str], **asked: Any
) -> Page:
    """Return the report of a `rec`, with the warnings on the way, which are given once more."""
    for name in sections:
        if name not in SECTIONS:
            close = suggestion(name, SECTIONS) or f"; there are {', '.join(SECTIONS)}"
            raise RecframeError(f"sections={shown(name)} is no section of a report{close}")
    facts, made, missing = Facts(rec, columns, **asked), {}, []
    found: dict[str, None] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RecframeWarning)
        facts.stop = _stop(facts)
        facts.decision = None if facts.stop else _decided(facts)
        for name in [one for one in SECTIONS if one in sections or not sections]:
            try:
                made[name] = SECTIONS[name](facts) if not facts.stop or name in ALWAYS else None
            except DataError:
                raise
            except RecframeError as error:
                # several folds have no answer to some questions
                if facts.inputs.folds is None:
                    raise
                missing.append(str(error))
    for one in caught:
        if issubclass(one.category, RecframeWarning):
            found[str(one.message)] = None
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    for message in found:
        warn(message)
    facts.data["warnings"] = [*found]
    shown_sections = [one for one in made.values() if one is not None]
    more = [*dict.fromkeys([*missing, *_more(facts)])]
    notes = [f"{line}" for line in found]
    blocks = [Text([notes], f"{counted(len(notes), 'note')} for whoever made this page")] * bool(notes)
    if more or blocks:
        parts = [*blocks, *[Text([more])] * bool(more)]
        shown_sections.append(Section("more", "Notes, and what else a report can show", "", parts))
    return Page(
        title,
        facts.stop or _headline(facts),
        shown_sections,
        _about(facts),
        {**_question(facts), **facts.data},
        _footer(facts),
        warns=bool(facts.stop),
    )


def _stop(facts: Facts) -> str:
    """Return why nothing is decided on the numbers of a page, or "" where they may mean something."""
    rows = facts.summary if facts.metrics else []
    if not rows:
        return ""
    nothing = "These numbers mean nothing"
    errors = {row["check"]: row for row in facts.findings}
    for check, role in (("no_common_users", "user"), ("no_common_items", "item")):
        row = errors.get(check, {"frame": "", "severity": ""})
        if row["frame"] == "truth" and row["severity"] == "error":
            many = "hardly any" if any(one["value"] for one in rows) else "no"
            return f"{nothing}: {many} {role} id of the lists is in the truth ({row['example']})."
    if not any(row["n_users"] for row in rows):
        return f"{nothing}: no user is counted."
    alike = [row["std"] == 0 and row["n_users"] > 1 for row in rows]
    values = {row["metric"]: row["value"] for row in rows}
    if all(alike) and all(row["value"] == values[row["metric"]] for row in rows):
        same = listed([f"{metric} is {number(value)}" for metric, value in values.items()])
        return f"{nothing}: for every user of every list {same}."
    lines = [*facts.lacks[:MOST_LACKS]]
    lines += [f"{counted(len(facts.lacks) - MOST_LACKS, 'more model')} lack lists."] * (len(facts.lacks) > MOST_LACKS)
    pooled = [errors[check] for check in POOLED if check in errors]
    lines += [f"{row['what'].replace('`', '')} ({row['example']}): {row['remedy']}." for row in pooled]
    return " ".join([*lines, "Nothing is decided on these numbers."] if lines else [])


def _decided(facts: Facts) -> Decision | None:
    """Return the decision of several models, whose warnings are those of the sections."""
    if len(facts.models) < 2 or facts.metrics[:1] != facts.tested[:1]:  # noqa: PLR2004  a pair
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecframeWarning)
        return decided(facts) if facts.metrics else None


def _headline(facts: Facts) -> str:
    """Return what to ship by the first metric, or without a decision its best value."""
    if facts.decision is not None:
        return facts.decision.text(facts.data.get("costs", ()))
    return _best_value(facts) if facts.metrics else ""


def _best_value(facts: Facts) -> str:
    """Return the best value of the first metric as a sentence."""
    metric = facts.metrics[0]
    rows = [row for row in facts.summary if row["metric"] == str(metric)]
    known = [row for row in rows if row["value"] is not None]
    if not known:
        return f"No user has a value of {metric}."
    best = known[0]
    value = f"{with_interval(best)}, over {counted(best['n_users'], noun_of(metric))}"
    if len(rows) == 1:
        return f"{metric} is {value}."
    if len({row["value"] for row in rows}) == 1:
        return f"All models have the same {metric}: {value}."
    extreme = "lowest" if metric.direction == "lower" else "highest"
    return f"{best['model']} has the {extreme} {metric}: {value}."


def overview(facts: Facts) -> Section | None:
    """Return the best, by how much and at whose cost; all models; and what each metric says."""
    if not facts.metrics:
        return None
    rows, first, parts = facts.summary, facts.metrics[0], []
    is_compared = len(facts.models) > 1 and not facts.stop
    if facts.decision is not None:
        parts.append(Tiles(_tiles(facts, facts.decision)))
    if is_compared:
        parts.append(_figure(facts, "models", lambda plot: plot.models(first, **facts.how._asdict())))
    caption = f"Mean of each metric, with its interval at {facts.how.words}"
    table = values_table(rows, facts.metrics, caption, bold=is_compared)
    parts.append(table._replace(notes=[*table.notes, *[facts.bounds] * bool(facts.bounds)]))
    parts.append(Text([[f"{metric}: {_first_sentence(metric)}" for metric in facts.metrics]]))
    about = "{model} ({metric})" if len(facts.models) > 1 else "{metric}"
    notes = noted((row["note"], about.format(**row)) for row in rows)
    parts += [Text([notes], f"{counted(len(notes), 'note')} on the values")] * bool(notes)
    lead = _best_value(facts) if is_compared else "The values, which decide nothing." * bool(facts.stop)
    return Section("overview", "Overview", lead, parts)


def _tiles(facts: Facts, decision: Decision) -> list[Tile]:
    """Return the three numbers of the first screen: the best, its gain over the runner-up, and the users worse off."""
    ahead, other = decision.ahead[0], decision.runner_up
    best = next(row for row in facts.summary if row["model"] == decision.best)
    value, ends = measured(best)[:2]
    gain, interval = decision.written(ahead, signed)
    relative, share = ahead["relative"], gain
    if relative is not None:
        of = decision.signs[decision.metric] * relative
        share = "+" * (of > 0) + per_cent(of) if relative < TIMES else f"{1 + relative:,.0f} x"
    mark = MARKS.get(ahead["verdict"], "open")
    found = [
        Tile(f"Best by {decision.metric}", decision.best, f"{value} ({ends})"),
        Tile(f"Gain over the {decision.role}", share, f"{gain} ({interval}) over {other}", mark),
    ]
    if ahead["losses"] is not None and ahead["n_users"]:
        n, losses = ahead["n_users"], ahead["losses"]
        told = f"{losses:,} of {n:,} users; {ahead['wins']:,} better off"
        found.append(Tile(f"Users worse off than with {other}", per_cent(losses / n), told))
    return found


def comparison(facts: Facts) -> Section | None:
    """Return the differences of models from the baseline, or from one another."""
    if (len(facts.models) < 2 and facts.baseline is None) or not facts.tested:  # noqa: PLR2004  a pair
        return None
    against = facts.baseline
    if against is None and facts.decision is not None and len(facts.models) > MOST_COLOURED:
        against = facts.decision.best
    given = {"margin": facts.margin, **facts.how._asdict()}
    found = facts.rec._compared([facts.tested], against, **given, counts=True)  # noqa: SLF001  the methods of this room
    rows = facts.by_value(facts.keep("compared", keyed(facts.rec, found)), facts.summary)
    if not rows:
        return None
    parts = [_differences(facts, "compare", found, facts.tested, against)] * (len(found) <= MOST_MARKS)
    caption = f"Pairwise differences, with intervals at {facts.how.words}"
    parts.append(differences_table(rows, caption, "model and metric", _pair))
    notes = [f"{one}: no test is known." for one in facts.metrics if one not in facts.tested]
    notes += noted((row["note"], f"{row['model']} ({row['metric']})") for row in rows)
    parts += [Text([notes], f"{counted(len(notes), 'note')} on the differences")] * bool(notes)
    n, other = sum(row["verdict"] in SHOWN for row in rows), f" with {against}" * bool(against)
    lead = f"{n:,} of {counted(len(rows), 'comparison')}{other} {'shows' if n == 1 else 'show'} a difference."
    return Section("comparison", "Comparison of models", lead, parts)


def _pair(row: Row) -> Cell:
    return Cell(row["model"], f"minus {row['baseline']}, {row['metric']}")


def segments(facts: Facts) -> Section | None:
    """Return the best model less the runner-up in each segment, and the values of all models."""
    if not facts.columns or not facts.of_users:
        return None
    parts, lead, first, of = [], "", facts.of_users[0], facts.decision
    if of is not None and of.segments:
        verdicts = [row["verdict"] for row in of.segments]
        better, worse = (verdicts.count(word) for word in ("better", "worse"))
        n = counted(len(verdicts), "segment")
        lead = f"{of.best} is better than {of.runner_up} in {better:,} of {n}, worse in {worse:,}."
        for place, found in enumerate(of.by_column.values()):
            largest = found.sort("n_users", descending=True).head(MOST_SEGMENTS)
            parts.append(_differences(facts, f"pair-{place}", largest, [first], of.runner_up))
    most = max(min(MOST_SEGMENTS, MOST_MARKS // max(len(facts.models), 1)), 3)
    how = {"most": most, **facts.how._asdict()}
    for place, column in enumerate(facts.columns):
        name = f"segments-{place}"
        parts.append(_figure(facts, name, lambda plot, by=column: plot.segments(first, by=by, **how)))
    return Section("segments", "Segments", lead, parts)


def curves(facts: Facts) -> Section | None:
    """Return metrics over the cut-off."""
    parts, how = [], facts.how._asdict()
    cutoffs = sorted({*CUTOFFS, *([] if facts.k is None else [facts.k])})
    # the cut-offs of a curve are nobody's question, and the others are answered
    with suppress(RecframeError), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecframeWarning)
        for one in facts.over_cutoffs:
            over = {"k": cutoffs, "mark": facts.k, **how}
            parts.append(_figure(facts, f"curve-{one.name}", lambda plot, of=one: plot.curve(of, **over)))
        if facts.of_users:
            ranks = {"k": facts.last_rank, **how}
            parts.append(_figure(facts, "hits", lambda plot: plot.hits_by_rank(**ranks)))
    return Section("curves", "Over the cut-off", "", parts) if parts else None


def cases(facts: Facts) -> Section | None:
    """Return users whose lists differ most between the best model and the runner-up, and those of the best."""
    if not facts.of_users:
        return None
    first, of = facts.of_users[0], facts.decision
    rows = [row for row in facts.summary if row["metric"] == str(first) and row["n_users"]]
    if not rows:
        return None
    pair = (rows[0]["model"], None) if of is None else (of.best, of.runner_up)
    whom = "" if pair[1] is None else f" of {pair[0]}, against {pair[1]}"
    return Section("cases", "Cases", f"Lists of real users by {first}{whom}.", [Cases(cases_of(facts, *pair))])


def costs(facts: Facts) -> Section | None:
    """Return what is beyond accuracy, and who is shown what."""
    metrics = [replace(one, k=facts.k) for one in BEYOND]
    served = [metric for metric in metrics if _is_served(facts, metric)]
    if not served:
        return None
    # metrics and chart have the same lists, up to the same k
    home = facts.plain._with(facts.plain._context)._in_polars()  # noqa: SLF001  the methods of this room
    home._held = HeldValues({}, cuts={})  # noqa: SLF001
    found = keyed(home, home.evaluate(served, tidy=True))
    name, k = pl.col("metric"), pl.col("k")
    named = pl.when(k.is_null()).then(name).otherwise(pl.format("{}@{}", name, k))
    rows = facts.keep("costs", found.with_columns(metric=named))
    rows = facts.by_value(rows, facts.summary) if facts.metrics else rows
    named_metrics = [registry.parse(one) for one in dict.fromkeys(row["metric"] for row in rows)]
    parts = [
        values_table(rows, named_metrics, "What the lists are like", bold=False),
        _figure(facts, "exposure", lambda plot: plot.exposure(k=facts.k), of=home),
        Text([[f"{one}: {_first_sentence(one)}" for one in named_metrics]]),
    ]
    return Section("costs", "Beyond accuracy", "", parts)


def audit(facts: Facts) -> Section | None:
    """Return the findings of the audit."""
    if facts.inputs.folds is not None or not facts.inputs.judged:
        return None
    rows = facts.findings
    if not rows:
        return Section("audit", "Audit of the data", "The audit finds nothing odd in the data.")
    levels = [row["severity"] for row in rows]
    each = [counted(levels.count(one), one.replace("info", "note")) for one in dict.fromkeys(levels)]
    lead = f"What the audit finds in the data: {listed(each)}."
    return Section("audit", "Audit of the data", lead, [findings_table(rows)])


def definitions(facts: Facts) -> Section | None:
    """Return how each metric is computed, with all of its options."""
    parts = []
    for metric in facts.metrics:
        meaning = explanation.meaning(facts.inputs, metric).partition("\n\n")[2]
        parts.append(Text(_blocks(meaning), f"{metric}"))
    return Section("definitions", "How the numbers are computed", "", parts) if parts else None


SECTIONS = {
    one.__name__: one
    for one in (overview, comparison, segments, curves, cases, costs, audit, definitions)
}
"""The sections, by name and in their order."""
ALWAYS = ("overview", "audit", "definitions")
"""Sections of numbers on which nothing is decided."""


def _figure(facts: Facts, name: str, draw: Any, of: Any = None) -> Any:
    """Return a chart of a `rec`, in which best, runner-up and baseline stand out."""
    named = [] if facts.decision is None else facts.decision.named
    return figure(f"chart-{name}", lambda width: draw(facts.plot(width, of, named)))


def _differences(
    facts: Facts, name: str, found: pl.DataFrame, metrics: Sequence[Metric[...]], baseline: str | None
) -> Any:
    """Return the chart of comparisons at hand."""
    given = {"baseline": baseline, "margin": facts.margin}
    return _figure(facts, name, lambda plot: plot._differences(found, metrics, facts.how, **given))  # noqa: SLF001


def _is_served(facts: Facts, metric: Metric[...]) -> bool:
    """Return whether the frames that a metric needs are bound."""
    with suppress(RecframeError):
        check_needs(facts.inputs, metric, needs_of(metric).facts)
        return True
    return False


def _first_sentence(metric: Metric[...]) -> str:
    return " ".join((metric.__doc__ or "").strip().partition("\n\n")[0].split())


def _blocks(folded: str) -> list[str | list[str]]:
    """Return the paragraphs of a text that was folded for a terminal; lines that begin with a dash are a list."""
    found: list[str | list[str]] = []
    for part in filter(str.strip, folded.replace("`", "").split("\n\n")):
        lines = [" ".join(one.removeprefix("- ").split()) for one in re.split(r"\n(?=- )", part)]
        found.append(lines if part.startswith("- ") else " ".join(part.split()))
    return found


def _more(facts: Facts) -> list[str]:
    """Return what to bind to see more."""
    inputs, has_models = facts.inputs, len(facts.models) > 1
    bound = {
        "truth": bool(facts.metrics),
        "model": has_models,
        "baseline": facts.baseline is not None or not has_models,
        "by": bool(facts.by),
        "train": inputs.train is not None,
        "items": inputs.items is not None,
    }
    return [f"{way} {what}." for name, (way, what) in MORE.items() if not bound[name]]


def _question(facts: Facts) -> dict[str, Any]:
    """Return what was asked, as plain data."""
    metrics = [str(metric) for metric in facts.metrics]
    asked = {"models": facts.models, "baseline": facts.baseline, "by": facts.by}
    return {"metrics": metrics, **asked, **facts.how._asdict()}


def _about(facts: Facts) -> dict[str, str]:
    """Return the names and values below the headline, of what there is."""
    users = max((row["n_users"] for row in facts.data.get("summary", ())), default=None)
    split = facts.plain._context.split  # noqa: SLF001  the methods of this room
    found = {
        "Users": None if users is None else count(users),
        "Models": count(len(facts.models)) if facts.inputs.model else None,
        "Baseline": facts.baseline,
        "Segments by": ", ".join(facts.by),
        "Conventions of": facts.inputs.context.profile,
        "Intervals": facts.how.words,
        "Split": None if split is None else short(split.rule.words),
    }
    return {name: value for name, value in found.items() if value}


def _footer(facts: Facts) -> str:
    """Return when and by which versions a page was made, and of which data."""
    day = datetime.now().astimezone()
    versions = f"recframe {recframe.__version__}, Polars {pl.__version__} and Python {platform.python_version()}"
    data = f"of the data with the fingerprint {fingerprint(facts.inputs, facts.metrics)}"
    return f"Made by {versions} on {day.day} {day:%B %Y}, {data}. This page is one file and loads nothing from any network."
