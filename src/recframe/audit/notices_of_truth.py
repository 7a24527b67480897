"""What a call warns of in the truth: grades that nothing is bound to, so that each of them counts as relevant."""

from __future__ import annotations

from recframe.audit.seen import SOME, Seen
from recframe.frames.at_hand import at_hand
from recframe.frames.hints import Either, bind
from recframe.frames.roles import READ_AS_GIVEN, Segment, Side

GRADES = {"rating", "ratings", "grade", "stars", "score", "label", "gain", "rel", "target"}
GRADES |= {"judgement", "judgment", "feedback"}
"""Names of columns of grades, whatever numbers these are."""
NO_GRADES = {"day", "weekday", "dayofweek", "week", "month", "quarter", "year", "hour", "season"}
NO_GRADES |= {
    "fold",
    "split",
    "cluster",
    "segment",
    "group",
    "bucket",
    "session",
    "position",
    "rank",
}
"""Names of columns of small numbers that are none."""
MIN_RELEVANCE = Either("min_relevance=", "--min-relevance")
N_GRADES = range(3, 12)
"""So many different numbers, none further from 0 than the highest of these, look like grades: 1 to 5, 0 to 10, half stars."""


def grades_not_bound(seen: Seen) -> str | None:
    """The truth has no relevance, so that each row counts 1, and a column of numbers that look like grades."""
    side = seen.inputs.sides.get("truth")
    if (
        side is None
        or side.kind.frame is seen.main.kind.frame
        or side.has("relevance")
        or side.context.relevance is not None
    ):
        return None
    for name in _unbound_numbers(seen, side):
        values = _values(seen, side, name)
        if len(values) > 1 and _is_of_grades(name.casefold(), values):
            low, high = min(values), max(values)
            return (
                f"{side.title} has a column {name!r} of {low:g} to {high:g}, which looks like grades, but no column of "
                f"relevance is bound, so that rows of {low:g} count as relevant as all others; write "
                f"{bind(relevance=repr(name))}, with {MIN_RELEVANCE} for the grades that count, or drop the column where each "
                "row is a hit"
            )
    return None


def _unbound_numbers(seen: Seen, side: Side) -> list[str]:
    """Return the columns of numbers that no role and no segment has."""
    context = side.context
    bound = {context.name_of(role) for role in ("user", "item", *READ_AS_GIVEN) if role != "score"}
    bound |= {one.name for one in seen.inputs.segments}
    if bound.issuperset(side.columns):
        return []
    return [name for name in side.kind.numbers() if name not in bound]


def _values(seen: Seen, side: Side, name: str) -> set[float]:
    """Return some of a column's values."""
    taken = side.take([], [Segment("value", name, "truth")])
    here = at_hand(taken)
    rows = seen.run(taken.lazy().head(SOME)) if here is None else here
    return set(rows["value"].head(SOME).to_list()) - {None}


def _is_of_grades(name: str, values: set[float]) -> bool:
    return name in GRADES or (name not in NO_GRADES and _are_grades(values))


def _are_grades(values: set[float]) -> bool:
    return len(values) in N_GRADES and all(
        abs(one) <= N_GRADES[-1] and 2 * one == int(2 * one) for one in values
    )
