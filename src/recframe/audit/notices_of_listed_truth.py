"""What a call warns of in a truth that knows of no relevant item beyond the lists, as after a join with them."""

from __future__ import annotations

import polars as pl

from recframe.audit.listed_truth import listed_truth
from recframe.audit.seen import Seen
from recframe.frames.collecting import LARGE
from recframe.frames.hints import FrameOf, bind
from recframe.judging.judged_frame import PAIR
from recframe.judging.relevance import is_relevant_row

SOME_USERS = 40
"""Users of whom finding the rows takes four times as long as of one, and who tell most of what all do."""


def truth_of_the_lists_alone(seen: Seen) -> str | None:
    """Warn of a truth all of whose relevant rows are in the lists, as after an inner join with them."""
    inputs = seen.inputs
    if inputs.context.relevant_from == "list":
        return None
    if not seen.found_a_hit or inputs.inside("truth") or not _may_be_joined(seen):
        return None
    found = seen.run(listed_truth(inputs))
    if found.is_empty():
        return None
    users, rows = found.row(0)
    return (
        f"all {rows:,} relevant rows of {FrameOf('truth')}, of {users:,} users, are in the lists of {seen.title}, as after an "
        "inner join, so recall misses nothing, and users without a hit are not there; give the whole truth, or say that the "
        f"lists are all that is known: {bind(relevant_from=repr('list'))}"
    )


def _may_be_joined(seen: Seen) -> bool:
    """Return whether the lists of some users of a large frame have all that is relevant to these."""
    if len(seen.lists) <= LARGE:
        return True
    schema = seen.inputs.schema
    pair = [pl.col(name).cast(schema[name]) for name in (*seen.inputs.inside("row"), *PAIR)]
    relevant = (
        is_relevant_row(seen.inputs) if "relevance" in seen.truth.columns else pl.lit(value=True)
    )
    for mine in seen.some_users:
        rows = seen.lists.filter(mine)
        user = rows["user"].head(1).cast(seen.truth["user"].dtype, strict=False)
        judged = seen.truth.filter(seen.truth["user"] == user).filter(relevant)
        missing = (
            judged.select(pair)
            .drop_nulls("item")
            .join(
                rows.select(pair),
                on=[*seen.inputs.inside("row"), *PAIR],
                how="anti",
                nulls_equal=True,
            )
        )
        if len(missing):
            return False
    if schema["user"].is_nested():
        return True
    users = pl.concat(
        one["user"].gather_every(max(1, len(one) // SOME_USERS)).cast(schema["user"])
        for one in (seen.lists, seen.truth)
    )
    return not seen.run(listed_truth(seen.inputs, users.drop_nulls().unique())).is_empty()
