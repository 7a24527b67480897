"""What a call warns of in the truth: columns that could say what is relevant and do not, and a level that no row reaches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from recframe.audit.seen import SOME, Seen
from recframe.audit.unbound_columns import (
    are_two_values,
    bounds_of,
    is_called_as_grades,
    may_be_grades,
    truth_without_relevance,
    unbound_columns,
)
from recframe.conventions import under_profile
from recframe.frames.at_hand import at_hand
from recframe.frames.hints import NAMED, Either, Given, bind
from recframe.frames.roles import Side, listed
from recframe.judging.relevance import is_relevant_row
from recframe.plan.needs import needs_of
from recframe.plan.recorder import EXPECTED, HITS

MIN_RELEVANCE = Either("min_relevance=", "--min-relevance")
MOST_NAMED = 5


def relevance_not_bound(seen: Seen) -> str | None:
    """The truth has no relevance, so that each row counts 1, and a column that could say otherwise."""
    truth = truth_without_relevance(seen.inputs)
    if truth is None or not _reads_relevance(seen):
        return None
    flags: dict[str, str] = {}
    grades: dict[str, tuple[str, str]] = {}
    for name, values in _unbound(seen, truth):
        if are_two_values(values):
            flags[name] = "False" if values.dtype == pl.Boolean else "0"
        elif is_called_as_grades(name) and may_be_grades(values):
            lowest, highest = (f"{float(one):g}" for one in bounds_of(values))
            grades[name] = (lowest, highest)
    # of several, the one that is called as grades are is shown first
    flags = {
        name: flags[name] for name in sorted(flags, key=lambda one: not is_called_as_grades(one))
    }
    if not flags and not grades:
        return None
    first = next(iter(flags or grades))
    lowest = flags[first] if flags else grades[first][0]
    answers = [str(bind(relevance=repr(next(iter(some))))) for some in (flags, grades) if some]
    threshold = f", with {MIN_RELEVANCE} for the grades that count" * bool(grades)
    return (
        f"{truth.title} has {_described(flags, grades)}, but no column of relevance is bound, so that rows of {lowest} count "
        f"as relevant as all others; write {' or '.join(answers)}{threshold}, if it says what is relevant, or "
        f"{bind(relevance='False')} if each row counts"
    )


def _reads_relevance(seen: Seen) -> bool:
    """Return whether what is relevant changes anything that was asked for; judge() asks for no metric, and says it."""
    if not seen.metrics or seen.inputs.context.no_relevant == "skip":
        return True
    return any(needs_of(one).reads_relevance for one in seen.metrics)


def _unbound(seen: Seen, truth: Side) -> Iterator[tuple[str, pl.Series]]:
    """Give each column that nothing is bound to with its values, of a LazyFrame with some of them."""
    columns = unbound_columns(seen.inputs, truth)
    if not columns:
        return
    if at_hand(truth.take([], columns[:1])) is None:
        some = seen.run(truth.take([], columns).lazy().head(SOME))
        yield from ((one.name, some[one.inside]) for one in columns)
        return
    for one in columns:
        rows = at_hand(truth.take([], [one]))
        if rows is not None:
            yield one.name, rows[one.inside]


def _described(flags: Mapping[str, str], grades: Mapping[str, tuple[str, str]]) -> str:
    """Return what the columns look like, in words."""
    words = []
    for lowest, what in {"0": "0 and 1", "False": "False and True"}.items():
        names = [name for name, one in flags.items() if one == lowest]
        if names:
            article, s = ("a ", "") if len(names) == 1 else ("", "s")
            words.append(f"{article}column{s} {listed(names, MOST_NAMED)} of {what}")
    for name, (low, high) in grades.items():
        words.append(f"a column {name!r} of {low} to {high}, which looks like grades")
    return " and ".join(words)


def level_that_no_row_reaches(seen: Seen) -> str | None:
    """The relevance of no row is as high as the threshold."""
    level = seen.inputs.context.min_relevance
    if _counts_some(seen):
        return None
    relevance = pl.col("relevance")
    reached = is_relevant_row(seen.inputs).any()
    asked = seen.inputs.identified("truth").select(
        relevance.cast(pl.Float64).max(), reached=reached
    )
    highest, is_reached = seen.run(asked).row(0)
    if highest is None or is_reached:
        return None
    side = seen.inputs.sides.get("truth", seen.main)
    return (
        f"{Given('min_relevance', level)}: no row of {side.title} reaches it, so that none is relevant; the highest grade is "
        f"{highest:g}; write a level up to that, or name the column of the grades: {bind(relevance=NAMED)}"
    )


def _counts_some(seen: Seen) -> bool:
    """Return whether a metric under the threshold has a value above 0, so that a row reaches it, or none reads relevance."""
    context = seen.inputs.context
    under = [
        one
        for one in seen.metrics
        if needs_of(one).reads_relevance
        and under_profile.under(context, one).context.min_relevance is not None
    ]
    counting = [one for one in under if needs_of(one).columns & (HITS | EXPECTED)]
    return not under or any(seen.highest.get(one, 0.0) > 0 for one in counting)
