"""Lists pooled into one: ranks that repeat more often than ties can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isqrt

import polars as pl

from recframe.errors import fails_whole_if
from recframe.frames.collecting import LARGE, run_by_size
from recframe.frames.hints import Given
from recframe.frames.inputs import Inputs
from recframe.frames.options import FOLD
from recframe.frames.roles import OF_LISTS, Segment, names_trainings, unbound_labels
from recframe.ranking.judged_frame import PAIR

TOO_MANY = 1.25
"""Rows per rank above which a list is several; competition ranks, which leave ranks out for ties, have 1 at most."""
FEW_ROWS = 200_000
"""Rows of which all users are looked at, some 10,000; no plan knows their number before it runs."""
ONE_IN_64 = 2**58
DRAWN = 7
"""Rows drawn for each square root of all: of two lists in one, some 25 pairs of these are of one user and rank."""
FEWEST_OF_A_BUCKET = 30
"""Lists of two rows or more that a bucket must have to be judged: those of few users say nothing of most lists."""
ABOVE_ALL_COUNTS = 2.0**24
LABEL = "label "
MESSAGE = (
    "most lists have far more rows than ranks, as where several lists of a user stand in one; tell these apart with {}; if "
    "they are ties instead, rank them one by one, as rank('ordinal') does, or bind their scores with {}"
)


def check_lists(inputs: Inputs) -> Inputs:
    """Reject eager lists that are several in one; return others with a check that fails when the plan runs."""
    lists = inputs.given.get("recommendations")
    if inputs.scored or (lists is not None and _have_each_rank_once(inputs, lists)):
        return inputs
    several = pooled(inputs)
    are_most = 2 * pl.col("several").sum() > pl.len()
    if inputs.tables is not None:
        are_most &= pl.len() >= FEWEST_OF_A_BUCKET
    message = MESSAGE.format(told_apart(inputs), Given("score", "..."))
    check = several.select(check=fails_whole_if(are_most, message))
    if lists is None:
        return replace(inputs, checks=(*inputs.checks, check))
    run_by_size(check, len(lists))
    return inputs


def _have_each_rank_once(inputs: Inputs, lists: pl.DataFrame) -> bool:
    """Return whether no list has a rank twice, among the rows that are drawn where there are many."""
    if len(lists) > LARGE:
        step = isqrt(len(lists)) // DRAWN
        place = pl.int_range(0, len(lists) - step, step, eager=True)
        # not every so many rows: those of equal parts that stand one below another might never meet
        lists = lists[place + (place.hash() % step).cast(pl.Int64)]
    elif _are_in_order(lists["user"], lists["rank"]):
        return True
    # ranks closer than 1 are equal ones that are pushed apart
    rank = pl.col("rank").cast(pl.Float64).floor()
    ranked = lists.select(*keys_of_lists(inputs), rank).drop_nulls("rank")
    return not ranked.is_duplicated().any()


def _are_in_order(users: pl.Series, ranks: pl.Series) -> bool:
    """Return whether the rows of each user follow each other, from rank to rank."""
    if ranks.has_nulls() or users.dtype.is_nested() or not users.is_sorted():
        return False
    is_same = users[:-1] == users[1:]
    return not (is_same & (ranks[:-1] + 1 > ranks[1:])).any()


def keys_of_lists(inputs: Inputs) -> list[str]:
    """Return the columns that tell lists apart."""
    of_lists = (*OF_LISTS, FOLD, "user")
    return [*inputs.inside("row"), *(key for key in of_lists if key in inputs.schema)]


def pooled(inputs: Inputs) -> pl.LazyFrame:
    """Return the lists with two rows or more: their keys, their number of rows and whether they are `several`."""
    keys = keys_of_lists(inputs)
    rows = _of_some_users(_rows(inputs, keys).filter("ranked"))
    rank, n, score = pl.col("rank"), pl.col("len"), pl.col("^score$")
    items = [name for name in rows.collect_schema() if name == "item" or name.startswith(LABEL)]
    rows = rows.group_by(*keys, *items).agg(rank.min().cast(pl.Float64), score.max())
    # equal ranks of equal scores are ties
    rows = rows.select(*keys, rank, score).unique() if "score" in rows.collect_schema() else rows
    # what asks for the rows at the highest rank inside a group does not stream, and a sum does
    at_highest = (ABOVE_ALL_COUNTS * rank + n).max() - ABOVE_ALL_COUNTS * rank.max()
    places = rank.max().ceil() + at_highest - 1
    lists = rows.group_by(*keys, rank).len().group_by(keys).agg(rows=n.sum(), places=places)
    several = pl.col("rows") > TOO_MANY * pl.col("places")
    return lists.filter(pl.col("rows") > 1).select(*keys, "rows", several=several)


def _rows(inputs: Inputs, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the rows of the lists with what tells an item's rows apart, and whether they are `ranked`."""
    main = inputs.sides["recommendations"]
    # of a LazyFrame no column is read that the call does not name
    is_here = "recommendations" in inputs.given
    labels = [Segment(LABEL + name, name, "recommendations") for name in _of_both(inputs)] * is_here
    has_scores = main.context.names["score"] in main.columns
    score = {"score"} if has_scores and (is_here or main.context.score is not None) else set()
    parts = [segment for segment in inputs.segments if segment.inside in keys]
    roles = {*keys, *score, *PAIR, "rank"} - {segment.inside for segment in parts}
    # a column of its own, so that the ranks of users who are not looked at are not read
    ranked = pl.col("rank").is_between(1, inf, "left") & pl.all_horizontal(
        pl.col(PAIR).is_not_null()
    )
    return main.take(roles, [*labels, *parts]).lazy().with_columns(ranked=ranked)


def _of_some_users(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows of all users where they are few, else of the users of one hash in 64."""
    first, some = rows.head(FEW_ROWS), rows.filter(pl.col("user").hash() < ONE_IN_64)
    few = first.select(few=pl.col("user").len() < FEW_ROWS)
    first, some = (part.join(few, how="cross") for part in (first, some))
    return pl.concat([first.filter("few"), some.filter(~pl.col("few"))])


def _of_both(inputs: Inputs) -> list[str]:
    """Return the unbound columns of the lists that a truth has too."""
    truth = inputs.sides.get("truth")
    labels = unbound_labels(inputs.sides["recommendations"], inputs.segments)
    return [name for name in labels if truth is not None and name in truth.columns]


def told_apart(inputs: Inputs) -> str:
    """Return what to write with the columns that may tell lists apart; a judged frame is the truth too."""
    labels = unbound_labels(inputs.sides["recommendations"], inputs.segments)
    of_both, trainings = _of_both(inputs), [*filter(names_trainings, labels)]
    names_models = inputs.context.names["model"] in [*labels, *inputs.model]
    if of_both:
        option = "by"
    elif trainings:
        option = "training"
    else:
        option = "by" if labels and inputs.truth is None and not names_models else "model"
    names = of_both or trainings or labels or ["..."]
    return " or ".join(str(Given(option, name)) for name in names[:3])
