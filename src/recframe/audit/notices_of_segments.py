"""Warnings on a `by` column of lists and truth: null in one of the frames, or without a value that both have."""

from __future__ import annotations

from collections.abc import Iterator

from recframe.audit.notices_of_ids import in_common, some_of
from recframe.audit.seen import Seen
from recframe.frames.hints import FrameOf, Given, bind
from recframe.frames.roles import Segment

MOST_NULL = 0.5
"""The share of null rows from which on a column looks like a failed join, if the other frame has half of it or less."""


def by_null_in_one_frame(seen: Seen) -> str | None:
    """Warn of a `by` column that is null on most rows of one frame, and of few rows of the other."""
    lists, truth = seen.lists, seen.truth
    if lists.is_empty() or truth.is_empty():
        return None
    for segment in _of_both_frames(seen):
        columns = {"recommendations": lists[segment.inside], "truth": truth[segment.inside]}
        nulls = {name: column.null_count() / len(column) for name, column in columns.items()}
        if is_null_in_one(nulls["recommendations"], nulls["truth"]):
            name = max(nulls, key=lambda one: nulls[one])
            titles = {"recommendations": seen.title, "truth": str(FrameOf("truth"))}
            worse = titles.pop(name)
            (other,) = titles.values()
            return (
                f"{Given('by', segment.name)} is null on {columns[name].null_count():,} of the {len(columns[name]):,} rows of "
                f"{worse}, but not in {other}, as after a join that failed, so these rows meet none of the other frame's: "
                f"look whether the keys of the join match, or give the column once, in {bind(users='users')}"
            )
    return None


def is_null_in_one(here: float, there: float) -> bool:
    """Return whether one share of null rows is that of a failed join, and the other is none."""
    return max(here, there) > MOST_NULL and min(here, there) <= max(here, there) / 2


def by_without_common_values(seen: Seen) -> str | None:
    """Warn of a `by` column of which lists and truth have no value in common, so that no segment has both."""
    truth = seen.inputs.truth
    if truth is None or seen.found_a_hit:
        return None
    for segment in _of_both_frames(seen):
        if _some_value_in_common(seen, segment):
            continue
        found = seen.run(in_common(seen.inputs.lists, truth, segment.inside))
        here, there, common = found.select("here", "there", "common").row(0)
        if here and there and not common:
            such_here, such_there = found.select("such_here", "such_there").row(0)
            return (
                f"{Given('by', segment.name)}: {seen.title} and {FrameOf('truth')} have no value of this column in common: "
                f"{here:,} in the lists, such as {such_here!r}, and {there:,} in the truth, such as {such_there!r}; write the "
                f"values alike in both frames, or give the column once, in {bind(users='users')}"
            )
    return None


def _of_both_frames(seen: Seen) -> Iterator[Segment]:
    """Give the segments that cut two frames into parts."""
    yield from (one for one in seen.inputs.segments if one.inside in seen.parts)


def _some_value_in_common(seen: Seen, segment: Segment) -> bool:
    """Return whether some rows of two eager frames show a value that both have."""
    if not {"lists at hand", "truth at hand"} <= seen.traits:
        return False
    if seen.lists[segment.inside].dtype.is_nested():
        return False
    here, there = (some_of(frame[segment.inside]) for frame in (seen.lists, seen.truth))
    return bool(here & there)
