"""Errors that only the data can show, and lists pooled into one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf, isqrt

import polars as pl

from recframe.errors import RecframeError, fails_whole_if
from recframe.frames.hints import Either, FrameOf, Given, bind, text
from recframe.frames.inputs import Frames, Owner
from recframe.frames.kinds.kind import LARGE, run_as_it_is, run_by_size
from recframe.frames.options import FOLD, OF_LISTS
from recframe.frames.roles import names_trainings, unbound_labels
from recframe.frames.rows.joins import are_in_steps, distinct_names
from recframe.frames.segments import Segment
from recframe.ranking.judged_frame import (
    MODEL,
    PAIR,
    RANK,
    RELEVANCE,
    Judged,
    lacks_model,
    named_models,
)

RANK_BELOW_1 = text(
    "a rank is below 1, but ranks start at 1; if they count from 0, add 1 to them",
    Either(
        ": frame.with_columns(pl.col('rank') + 1), or pandas_frame['rank'] += 1", " in the file"
    ),
)
WITHOUT_MODEL = (
    "a ranked row has no model: the column {!r} is null or NaN there; "
    "give each ranked row the name of its model, or drop it"
)
INFINITE_RELEVANCE = "a relevance is infinite; replace it with the highest grade"
STEEP_RELEVANCE = (
    "a relevance is above 1000, too steep for gain='exp' (2^relevance - 1); write gain='linear'"
)
STEEPEST = 1000
FIRST_INEXACT = 2.0**53
FLOAT_IDS = "{} has ids that are floats from 2^53 up, where two ids may have become one; read the column as integers or text"
TOO_MANY = 1.25
"""Rows up to the last rank, for each rank, above which a list is several; competition ranks have 1 at most."""
FEW_ROWS = 200_000
"""Rows of which all users are looked at, some 10,000; no plan knows their number before it runs."""
OF_SOME_USERS = pl.col("user").hash() % 64 == 0
"""Whether a row is of one of the users who are looked at where they are many: of one hash in 64."""
OF_FEW_USERS = pl.col("user").hash() < 2**56
"""Whether a row is of one of the fewer users who show that lists are several: of one hash in 256."""
DRAWN = 7
"""Rows drawn for each square root of all: of two lists in one, some 25 pairs of these are of one user and rank."""
FEWEST_OF_A_BUCKET = 30
"""Lists of two rows or more that a bucket must have to be judged: those of few users say nothing of most lists."""
ABOVE_ALL_COUNTS = 2.0**24
POOLED = (
    "most lists have far more rows than ranks, as where several lists of a user stand in one; tell these apart with {}; if "
    "they are ties instead, rank them one by one, as rank('ordinal') does, or bind their scores with {}"
)


def after_checks(
    rows: pl.LazyFrame,
    judged: Judged,
    number: str,
    dtype: pl.DataType | type[pl.DataType],
    *,
    steep: bool,
) -> pl.LazyFrame:
    """Return rows in no certain column order, after checks that fail when the plan runs and the data breaks a rule.

    `number` names a column of numbers that the rows have, of a dtype.

    NOTE: the checks stand before the rows, as rows of a column of numbers that are filtered out again. Joined with the rows
    they would not run where there are none, as in a part of the users that has no user.
    """
    checks = _checks(judged, steep=steep)
    if not checks:
        return rows
    passed = pl.concat(checks).select(pl.col("check").cast(dtype).alias(number))
    return pl.concat([passed.filter(pl.col(number) != 0), rows], how="diagonal")


def _checks(judged: Judged, *, steep: bool) -> list[pl.LazyFrame]:
    """Return one-row frames that fail when the plan runs, for errors that no schema shows."""
    inputs, looks = judged.inputs, not judged.context.strict
    highest = RELEVANCE.cast(pl.Float64).max()
    # an audit's errors have what is looked at here among them
    # models first: where some rows have none, others would say that there are too few
    checks = []
    if looks and may_lack_models(inputs):
        message = WITHOUT_MODEL.format(inputs.context.model)
        check = inputs.check("recommendations", lacks_model(inputs), message)
        if inputs.all_users is not None:  # those whose ranks are read alone may show none
            check = named_models(inputs).select(
                check=fails_whole_if(MODEL.is_null().any(), message)
            )
        checks.append(check)
    checks += [*inputs.checks, *_of_float_ids(inputs)]
    source = inputs.identified("truth")
    if steep:
        checks.append(source.select(check=fails_whole_if(highest > STEEPEST, STEEP_RELEVANCE)))
    if looks and not (inputs.scored or "rank" in inputs.known.hold):
        below = RANK.lt(1)
        if inputs.schema["rank"].is_float():
            below &= RANK.gt(-inf)  # which is no rank
        checks.append(inputs.check("recommendations", below, str(RANK_BELOW_1)))
    if looks and inputs.relevance_dtype.is_float() and "relevance" not in inputs.known.hold:
        checks.append(source.select(check=fails_whole_if(highest == inf, INFINITE_RELEVANCE)))
    if looks:
        of_lists, rows = inputs.inside("lists"), inputs.counted("recommendations")
        for segment in inputs.segments:
            if segment.inside in of_lists:
                checks.append(_two_values(rows, segment))
    return checks


def may_lack_models(inputs: Frames) -> bool:
    """Return whether a model is bound and a row of the lists may have none."""
    lists = inputs.given.get("recommendations")
    return bool(inputs.model) and (lists is None or lists["model"].null_count() > 0)


def _of_float_ids(inputs: Frames) -> list[pl.LazyFrame]:
    """Return the checks of ids that are floats, which hold each whole number up to 2^53 alone."""
    owners: list[Owner] = (
        ["recommendations"] if inputs.truth is None else ["recommendations", "truth"]
    )
    checks = []
    for owner, role in product(owners, PAIR):
        if inputs.schema[role].is_float():
            column = f"{FrameOf(owner)}, column {inputs.context.names[role]!r}"
            wrong = pl.col(role).abs() >= FIRST_INEXACT
            checks.append(inputs.check(owner, wrong, FLOAT_IDS.format(column)))
    return checks


def _two_values(frame: pl.LazyFrame, segment: Segment) -> pl.LazyFrame:
    """Return the check of a property of users that the lists alone have."""
    message = (
        f"{Given('by', segment.name)}: a user has two values of this column, so it is not a property of the user. If it "
        f"names systems, write {bind(model=repr(segment.name))}; if it describes items, give it as {bind(items='...')}; if "
        "it cuts lists and truth into parts, such as weeks, give the truth the column too: each part is then a list"
    )
    pairs = frame.select("user", segment.inside).drop_nulls().unique()
    return pairs.select(check=fails_whole_if(pl.col("user").n_unique() < pl.len(), message))


def as_frame(judged: Judged) -> pl.LazyFrame:
    """Return the judged frame under the bound column names, after the same checks as a metric."""
    if judged.sharing is not None:
        raise RecframeError(
            f"judge() gives each item a rank of its own, and ties={judged.sharing!r} has one for all items of a tie; "
            "write another ties= for it"
        )
    names, frame = judged.context.names, judged.frame()
    frame = after_checks(frame, judged, "rank", frame.collect_schema()["rank"], steep=False)
    roles = [*judged.model, *PAIR, "rank", "relevance"]
    return frame.select(pl.col(role).alias(names[role]) for role in roles)


def check_lists(inputs: Frames) -> Frames:
    """Reject eager lists that are several in one; return others with a check that fails when the plan runs."""
    lists = inputs.given.get("recommendations")
    if inputs.scored or (lists is not None and _have_each_rank_once(inputs, lists)):
        return inputs
    message = POOLED.format(told_apart(inputs), Given("score", "..."))
    are_most = 2 * pl.col("several").sum() > pl.len()
    if inputs.all_users is not None:
        are_most &= pl.len() >= FEWEST_OF_A_BUCKET
    models = pooled(inputs).group_by(inputs.model or pl.lit(0)).agg(are_most=are_most)
    check = models.select(check=fails_whole_if(pl.col("are_most").any(), message))
    if lists is None:
        return replace(inputs, checks=(*inputs.checks, check))
    run_by_size(check, len(lists))
    return inputs


def _have_each_rank_once(inputs: Frames, lists: pl.DataFrame) -> bool:
    """Return whether no list has a rank twice, among the rows that are drawn where there are many."""
    n = len(lists)
    if n > LARGE:
        # NOTE: a sample without replacement would number all rows
        places = pl.int_range(DRAWN * isqrt(n), eager=True).hash() % n
        lists = lists[places.unique()]
    else:
        ranks = lists["rank"].cast(pl.Float64)
        own = ranks.slice(1)
        steps = own - ranks.head(-1) >= 1
        if own.has_nulls():  # Polars makes a query of is_null(), too
            steps |= own.is_null()
        if are_in_steps(lists["user"], steps):
            return True
    # ranks closer than 1 are equal ones that are pushed apart
    rank = RANK.cast(pl.Float64).floor()
    ranked = lists.lazy().select(*keys_of_lists(inputs), rank).drop_nulls("rank")
    return not run_as_it_is(ranked).is_duplicated().any()


def keys_of_lists(inputs: Frames) -> list[str]:
    """Return the columns that tell lists apart."""
    of_lists = (*OF_LISTS, FOLD, "user")
    return [*inputs.inside("rows"), *filter(inputs.schema.__contains__, of_lists)]


def pooled(inputs: Frames) -> pl.LazyFrame:
    """Return the lists with two rows or more: their keys, their number of rows and whether they are `several`.

    Competition ranks leave out as many ranks as they repeat, so that the rows ahead of the last rank fill the ranks ahead of
    it. Of many rows only the users of one hash in 256 are looked at.
    """
    keys, n = keys_of_lists(inputs), pl.col("len")
    rows = _with_scores(inputs, distinct_names(*keys, *PAIR, "rank"))
    first = rows.head(FEW_ROWS)
    few = first.select(few=pl.len() < FEW_ROWS)
    # two branches: joined with all rows, their number would cost a copy of them
    whole = first.join(few.filter("few"), how="cross")
    some = rows.filter(OF_FEW_USERS).join(few.remove("few"), how="cross")
    # after it, so that the ranks of users who are not looked at are not compared
    rows = pl.concat([whole, some]).drop_nulls(PAIR).filter(RANK.is_between(1, inf, "left"))
    # an item that is repeated counts once, but not where the truth has parts that the call does not name
    if not _labels_of_both(inputs):
        best = [RANK.min(), pl.col("^score$").max()]
        rows = rows.group_by(distinct_names(*keys, "item")).agg(best)
    if "score" in rows.collect_schema():  # equal ranks of equal scores are ties
        rows = rows.select(*keys, "rank", "score").unique()
    # what asks for the rows at the last rank inside a group does not stream, and a sum does
    at_last = (ABOVE_ALL_COUNTS * RANK + n).max() - ABOVE_ALL_COUNTS * RANK.max()
    several = n.sum() - at_last + 1 > TOO_MANY * RANK.max().ceil()
    lists = rows.group_by(*keys, RANK.cast(pl.Float64)).len().group_by(keys)
    return lists.agg(rows=n.sum(), several=several).filter(pl.col("rows") > 1)


def _with_scores(inputs: Frames, names: list[str]) -> pl.LazyFrame:
    """Return columns of the lists, with the scores that are bound along with ranks."""
    main = inputs.sides["recommendations"]
    if main.context.score is None or not main.has("score"):
        return inputs.lists.select(names)
    cut = [segment for segment in inputs.segments if segment.inside in names]
    roles = {*names, "score"} - {segment.inside for segment in cut}
    return main.take(roles, cut).lazy()


def told_apart(inputs: Frames) -> str:
    """Return what to write with the columns that may tell lists apart."""
    labels = unbound_labels(inputs.sides["recommendations"], inputs.segments) or ["..."]
    other = "by" if inputs.model else "model"
    ways = {name: "training" if names_trainings(name) else other for name in labels}
    ways = dict.fromkeys(_labels_of_both(inputs), "by") or ways
    return " or ".join(str(Given(option, name)) for name, option in [*ways.items()][:3])


def _labels_of_both(inputs: Frames) -> list[str]:
    """Return the unbound columns of the lists that the truth has too."""
    labels = unbound_labels(inputs.sides["recommendations"], inputs.segments)
    of_truth = inputs.sides["truth"].columns if "truth" in inputs.sides else []
    return [name for name in labels if name in of_truth]
