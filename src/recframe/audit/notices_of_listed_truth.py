"""What a call warns of in a truth that knows of no relevant item beyond the lists, as after a join with them."""

from __future__ import annotations

import polars as pl

from recframe.audit.listed_truth import NEARLY_ALL, listed, listed_truth
from recframe.audit.seen import Seen
from recframe.frames.collecting import LARGE
from recframe.frames.hints import FrameOf, bind
from recframe.judging.relevance import is_relevant_row


def truth_of_the_lists_alone(seen: Seen) -> str | None:
    """Warn of a truth all of whose relevant rows are in the lists, as after an inner join with them."""
    inputs = seen.inputs
    if seen.truth is None or seen.lists is None or inputs.context.relevant_from == "list":
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
    if seen.lists is None or len(seen.lists) <= LARGE:
        return True
    pair = [*seen.inputs.inside("row"), "user", "item"]
    together = seen.list_in_one_place()
    for rows in seen.rows_of_each_user() if together is None else [together]:
        if _has_other_pairs(_relevant_to_user(seen, rows), rows, pair):
            return False
    users = seen.users_all_over()
    if users is None:
        return True
    relevant = seen.run(_relevant(seen).filter(pl.col("user").is_in(users.implode())).select(pair))
    counts = relevant.group_by(pair[:-1]).len()["len"]
    are_judged = relevant["user"].n_unique() >= NEARLY_ALL * len(users)
    if are_judged and (counts == counts.median()).sum() >= NEARLY_ALL * len(counts):
        return False  # as of a fixed number of drawn items
    rows = seen.lists.filter(seen.lists["user"].is_in(users.implode()))
    keys = [*seen.inputs.model, *pair[:-1]]
    found = listed(relevant.lazy(), _as_in_plan(seen, rows).lazy(), keys)
    return not seen.run(found).is_empty()


def _relevant_to_user(seen: Seen, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the relevant rows of an eager truth of the one user of some rows."""
    if seen.truth is None or seen.truth["user"].dtype != rows["user"].dtype:
        return rows.clear()
    mine = seen.truth.filter(seen.truth["user"] == rows["user"].slice(0, 1))
    if "relevance" not in mine.columns:
        return mine
    return mine.filter(pl.col("relevance").is_not_null() & is_relevant_row(seen.inputs))


def _relevant(seen: Seen) -> pl.LazyFrame:
    return seen.inputs.counted("truth").filter(is_relevant_row(seen.inputs))


def _has_other_pairs(relevant: pl.DataFrame, rows: pl.DataFrame, pair: list[str]) -> bool:
    """Return whether some relevant pairs are in no list."""
    listed = rows.select(pl.col(name).cast(relevant.schema[name]) for name in pair)
    return (
        not relevant.drop_nulls("item")
        .join(listed, on=pair, how="anti", nulls_equal=True)
        .is_empty()
    )


def _as_in_plan(seen: Seen, rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of eager lists in the dtypes that they have inside the plan."""
    schema = seen.inputs.schema
    return rows.with_columns(pl.col(name).cast(schema[name]) for name in rows.columns)
