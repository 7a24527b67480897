"""What a call warns of: numbers that come out, but are rarely meant, and how to write what is.

A notice is one function of what a call has seen, which returns its words, or None. It asks cheap questions first: what the
result shows, what an eager column knows of itself, its first rows; and all rows only where these leave a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from recframe.errors import warn
from recframe.frames.collecting import Collect
from recframe.frames.hints import NAMED, FrameOf, Given, bind
from recframe.frames.inputs import Inputs
from recframe.frames.roles import Segment
from recframe.judging.relevance import is_rank

SOME = 1_000
"""So many first rows most often tell that there is nothing to warn of."""
RESULT_COLUMNS = {"n_users", "n_lists"}


@dataclass(frozen=True)
class Seen:
    """What notices look at: the frames of a call, its result, and a way to collect further plans."""

    inputs: Inputs
    result: pl.DataFrame
    run: Collect

    @property
    def title(self) -> str:
        """What the frame is called that has the lists."""
        return str(FrameOf("judged" if self.inputs.truth is None else "recommendations"))

    @property
    def found_nothing(self) -> bool:
        """Whether every metric came out as 0 or null."""
        keys = (
            {one.name for one in self.inputs.segments}
            | {self.inputs.context.name_of("model")}
            | RESULT_COLUMNS
        )
        numbers = [column for column in self.result.get_columns() if column.dtype.is_numeric()]
        return not any((column != 0).any() for column in numbers if column.name not in keys)


def tell(seen: Seen) -> None:
    """Warn of what was found, each notice once, at the user's line."""
    for message in _messages(seen):
        warn(message)


def _messages(seen: Seen) -> Iterator[str]:
    for notice in (lists_without_ranks, users_in_two_halves):
        message = notice(seen)
        if message is not None:
            yield message


def lists_without_ranks(seen: Seen) -> str | None:
    """No row has a rank, so every list is empty."""
    if seen.inputs.scored:
        return None
    given = seen.inputs.given.get("recommendations")
    if given is not None:
        n_rows = 0 if _has_rank(given["rank"]) else len(given)
    elif seen.found_nothing:
        rank = is_rank(pl.col("rank"), seen.inputs.schema["rank"])
        n_rows = seen.run(
            seen.inputs.lists.select(pl.when(~rank.any()).then(pl.len()).otherwise(0))
        ).item()
    else:
        return None
    if not n_rows:
        return None
    name = seen.inputs.context.name_of("rank")
    return (
        f"column {name!r} of {seen.title} is null, NaN or infinite in all of its {n_rows:,} rows, so every list is empty; "
        f"rank each list from 1, or name a column of scores: {bind(score=NAMED)}"
    )


def _has_rank(column: pl.Series) -> bool:
    if not column.dtype.is_float():
        return column.null_count() < len(column) or not len(column)
    return not len(column) or any(
        bool(rows.is_finite().any()) for rows in (column.head(SOME), column)
    )


def users_in_two_halves(seen: Seen) -> str | None:
    """Users of a judged frame who have a value of a `by` column on some rows and null on others, and nobody has two."""
    for segment in seen.inputs.segments:
        if segment.owner == "row" and seen.inputs.truth is None and _may_be_halved(seen, segment):
            users = seen.run(seen.inputs.in_two_halves(segment))
            if len(users):
                return (
                    f"{Given('by', segment.name)}: {seen.title} has a value of this column on some rows of a user and null "
                    f"on others, so the user counts in two segments: {len(users):,} of them, such as {users['user'][0]!r}; "
                    f"fill it in on all rows of the user, or give it as a column of {bind(users='...')}"
                )
    return None


def _may_be_halved(seen: Seen, segment: Segment) -> bool:
    """Return whether the result has a null segment, and no row without a rank, or none without a relevance, has a value."""
    values = seen.result[segment.name]
    if not 0 < values.null_count() < len(values):
        return False
    given = seen.inputs.given.get("recommendations")
    if given is not None:  # columns answer in a tenth of the time of a plan
        described = given[segment.inside].is_not_null()
        missing = [] if seen.inputs.scored else [_without_rank(given["rank"])]
        missing += [given["relevance"].is_null()] if "relevance" in given.columns else []
        return any(bool(none.any()) and not (none & described).any() for none in missing)
    value, rank, relevance = pl.col(segment.inside), pl.col("rank"), pl.col("relevance")
    unlisted = (
        pl.lit(value=False) if seen.inputs.scored else ~is_rank(rank, seen.inputs.schema["rank"])
    )
    lone = [
        none.any() & ~(none & value.is_not_null()).any() for none in (unlisted, relevance.is_null())
    ]
    return bool(seen.run(seen.inputs.lists.select(pl.any_horizontal(lone))).item())


def _without_rank(column: pl.Series) -> pl.Series:
    return (
        ~column.is_finite().fill_null(value=False) if column.dtype.is_float() else column.is_null()
    )
