"""Warnings on ids, the truth, weights and segments of two frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from recframe.audit.call_context import SOME, Seen
from recframe.audit.suspects import (
    are_two_values,
    bounds_of,
    is_called_as_grades,
    listed_truth,
    may_be_grades,
    truth_without_relevance,
    unbound_columns,
)
from recframe.evaluation.recorder import EXPECTED, HITS
from recframe.evaluation.required_columns import needs_of
from recframe.frames.collecting import LARGE
from recframe.frames.eager_data import at_hand
from recframe.frames.hints import NAMED, Either, FrameOf, Given, bind
from recframe.frames.roles import Segment, Side, listed
from recframe.frames.rows.joins import beside_one_another
from recframe.profiles import under_profile
from recframe.ranking.judged_frame import PAIR
from recframe.ranking.relevance import is_relevant_row

HARDLY = 0.01
"""Share of common ids below which it is doubtful that two frames have the same ids."""
SIDES = {"user": ("truth", "train", "users"), "item": ("truth", "train", "items")}
"""Frames whose ids should match those of the lists, by role."""
MANY = 300
"""Sampled ids of each frame, which mostly show one that both have."""
MOST_ABSENT = 0.5
LIKELY = 0.7
"""Estimated share of users with a list below which the lists are counted; the estimate uses one list's length."""


def truth_is_the_lists(seen: Seen) -> str | None:
    """The frame of recommendations was given as the truth too."""
    truth = seen.inputs.sides.get("truth")
    if truth is None or truth.kind.frame is not seen.main.kind.frame:
        return None
    return (
        f"{FrameOf('truth')} is {seen.title} itself, so every recommended item counts as relevant; give the rows that users "
        "liked, or no truth if the lists have a relevance"
    )


def hardly_any_in_common(seen: Seen) -> str | None:
    """Nothing was found, and the lists share no ids with another frame, or fewer than one in a hundred."""
    sides = (
        [*SIDES["user"], *SIDES["item"]]
        if seen.found_nothing
        else ["truth"] * seen.found_hardly_anything(HARDLY)
    )
    if not sides:
        return None
    for role, names in SIDES.items():
        for name in names:
            side = getattr(seen.inputs, name)
            if name in sides and side is not None and not some_in_common(seen, name, role, HARDLY):
                found = seen.run(apart(seen.inputs.lists, side, role, HARDLY))
                if len(found):
                    return _apart(seen, name, role, found.row(0, named=True))
    return None


def in_common(rows: pl.LazyFrame, others: pl.LazyFrame, role: str) -> pl.LazyFrame:
    """Return one row: the numbers of ids `here`, `there` and in `common`, and an example of each."""
    here, there = (one.select(role).drop_nulls() for one in (rows, others))
    ids_here, ids_there = here.unique(), there.unique()
    counts = [
        ids_here.select(here=pl.len()),
        here.select(such_here=pl.col(role).first()),
        ids_there.select(there=pl.len()),
        there.select(such_there=pl.col(role).first()),
        ids_here.join(ids_there, on=role, how="semi").select(common=pl.len()),
    ]
    return beside_one_another(counts)


def apart(rows: pl.LazyFrame, others: pl.LazyFrame, role: str, share: float = 0.0) -> pl.LazyFrame:
    """Return the row of `in_common` of frames with no id in common, or with less than a share of the fewer ones."""
    fewer, common = pl.min_horizontal("here", "there"), pl.col("common")
    is_less = (common == 0) | (common < share * fewer)
    return in_common(rows, others, role).filter((fewer > 0) & is_less)


def some_in_common(seen: Seen, name: str, role: str, share: float = 0.0) -> bool:
    """Return whether sampled ids of two eager frames show one that both have, and more than a share."""
    given = seen.inputs.given
    if not {"recommendations", name} <= given.keys():
        return False
    columns = seen.lists[role], given[name][role]
    dtype = columns[0].dtype
    if columns[1].dtype != dtype or not (dtype.is_integer() or dtype == pl.String):
        return False
    here, there = ({*_sampled(column).to_list()} for column in columns)
    return len(here & there) > share * len(here)


def _sampled(ids: pl.Series) -> pl.Series:
    """Return some hundred ids, from all over a frame."""
    return ids.gather_every(max(1, len(ids) // MANY)).drop_nulls()


def _apart(seen: Seen, name: str, role: str, found: dict[str, object]) -> str:
    many = "no" if not found["common"] else f"hardly any ({found['common']:,})"
    here, there = (seen.inputs.sides[one].context.names[role] for one in ("recommendations", name))
    columns = f"column {here!r} holds" if here == there else f"columns {here!r} and {there!r} hold"
    return (
        f"{seen.title} and {FrameOf(name)} have {many} {role} ids in common: {found['here']:,} in the lists, such as "
        f"{found['such_here']!r}, and {found['there']:,} in the other, such as {found['such_there']!r}; check that {columns} "
        f"the same ids in both, or name the column that does: {bind(**{role: NAMED})}"
    )


def most_users_without_a_list(seen: Seen) -> str | None:
    """Most users of the truth have no list, as where the lists are those of one segment, and nobody said who counts."""
    if seen.inputs.context.universe is not None:
        return None
    if not _may_be_few(seen):
        return None
    users = seen.inputs.counted("truth").select("user").unique()
    absent = users.join(
        seen.inputs.identified("recommendations").select("user").unique(), on="user", how="anti"
    )
    counts = beside_one_another([users.select(all=pl.len()), absent.select(absent=pl.len())])
    n_all, n_absent = seen.run(counts).row(0)
    if n_absent <= MOST_ABSENT * n_all or n_absent == n_all:
        return None
    return (
        f"{n_absent:,} of the {n_all:,} users of {FrameOf('truth')} have no list in {seen.title}, and count with an empty "
        f"one; if these are the lists of one segment, give all lists and write {Given('by', '...')}; with "
        f"{bind(universe=repr('recs'))} only users with a list count"
    )


def _may_be_few(seen: Seen) -> bool:
    """Return whether lists may exist for only half of the users in the means, judged by a few list lengths."""
    inputs, result = seen.inputs, seen.result
    are_of_users = all(segment.owner in {"users", "user id"} for segment in inputs.segments)
    if "n_users" not in result.columns or not are_of_users:
        return False
    n_users = int(result["n_users"].sum()) // max(seen.n_models, 1)
    n_rows, length = seen.lengths()
    return not length or n_rows / length < LIKELY * n_users


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
        f"all {rows:,} relevant rows of {FrameOf('truth')}, of {users:,} users, are in the lists of {seen.title}, as after "
        "an inner join, so recall misses nothing and users without a hit are missing; give the whole truth, or say that "
        f"only listed items are known: {bind(relevant_from=repr('list'))}"
    )


def _may_be_joined(seen: Seen) -> bool:
    """Return whether the lists of some users of a large frame have all that is relevant to these."""
    schema = seen.inputs.schema
    if len(seen.lists) <= LARGE or schema["user"].is_nested():
        return True
    keys = [*seen.inputs.inside("row"), *PAIR]
    pairs = [pl.col(name).cast(schema[name]) for name in keys]
    relevant = pl.lit(value=True)
    if "relevance" in seen.truth.columns:
        relevant = is_relevant_row(seen.inputs)
    for mine in seen.some_users:
        rows = seen.lists.filter(mine)
        user = rows["user"].head(1).cast(seen.truth["user"].dtype, strict=False)
        judged = seen.truth.filter(seen.truth["user"] == user).filter(relevant)
        judged = judged.select(pairs).drop_nulls("item")
        if len(judged.join(rows.select(pairs), on=keys, how="anti", nulls_equal=True)):
            return False
    users = pl.concat(
        one["user"].gather_every(max(1, len(one) // SOME_USERS)).cast(schema["user"])
        for one in (seen.lists, seen.truth)
    )
    return not seen.run(listed_truth(seen.inputs, users.drop_nulls().unique())).is_empty()


MIN_RELEVANCE = Either("min_relevance=", "--min-relevance")
MOST_NAMED = 5


def relevance_not_bound(seen: Seen) -> str | None:
    """The truth has no relevance, so that each row counts 1, and a column that could say otherwise."""
    truth = truth_without_relevance(seen.inputs)
    if truth is None or not _reads_relevance(seen):
        return None
    columns = dict(_unbound(seen, truth))
    flags = [name for name, values in columns.items() if are_two_values(values)]
    # of several, the one that is called as grades are is shown first
    flags.sort(key=lambda name: not is_called_as_grades(name))
    others = [name for name in columns if name not in flags and is_called_as_grades(name)]
    grades = [name for name in others if may_be_grades(columns[name])]
    if not flags and not grades:
        return None
    answers = [str(bind(relevance=repr(names[0]))) for names in (flags, grades) if names]
    threshold = f", with {MIN_RELEVANCE} for the grades that count" * bool(grades)
    words = " and ".join(_described(columns, flags, grades))
    return (
        f"{truth.title} has {words}, but no column of relevance is bound, so that rows of "
        f"{_shown(columns[[*flags, *grades][0]].min())} count as relevant as all others; write {' or '.join(answers)}"
        f"{threshold}, if it says what is relevant, or {bind(relevance='False')} if each row counts"
    )


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, bool) else f"{float(value):g}"


def _reads_relevance(seen: Seen) -> bool:
    """Return whether relevance affects the result, through metrics, `no_relevant` or `judge()`."""
    if not seen.metrics or seen.inputs.context.no_relevant == "skip":
        return True
    return any(needs_of(metric).reads_relevance for metric in seen.metrics)


def _unbound(seen: Seen, truth: Side) -> Iterator[tuple[str, pl.Series]]:
    """Give each column that nothing is bound to with its values, of a LazyFrame with some of them."""
    columns = unbound_columns(seen.inputs, truth)
    some: pl.DataFrame | None = None
    if columns and at_hand(truth.take([], columns[:1])) is None:
        some = seen.run(truth.take([], columns).lazy().head(SOME))
    for column in columns:
        rows = at_hand(truth.take([], [column])) if some is None else some
        if rows is not None:
            yield column.name, rows[column.inside]


def _described(
    columns: Mapping[str, pl.Series], flags: list[str], grades: list[str]
) -> Iterator[str]:
    """Give descriptions of columns."""
    for values in ("0 and 1", "False and True"):
        is_truth = values != "0 and 1"
        names = [name for name in flags if (columns[name].dtype == pl.Boolean) == is_truth]
        if names:
            article, s = ("a ", "") if len(names) == 1 else ("", "s")
            yield f"{article}column{s} {listed(names, MOST_NAMED)} of {values}"
    for name in grades:
        low, high = (_shown(one) for one in bounds_of(columns[name]))
        yield f"a column {name!r} of {low} to {high}, which looks like grades"


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
        metric
        for metric in seen.metrics
        if needs_of(metric).reads_relevance
        and under_profile.under(context, metric).context.min_relevance is not None
    ]
    counting = [one for one in under if needs_of(one).columns & (HITS | EXPECTED)]
    return not under or any(seen.highest.get(one, 0.0) > 0 for one in counting)


FEW = 0.5
"""The share of users with a weight below which means are those of a minority."""
LIKELY_WEIGHTED = 0.7
"""The share of sampled users with a weight from which the others are not read."""


def few_users_with_a_weight(seen: Seen) -> str | None:
    """Warn that most counted users have no weight, and are left out."""
    if _have_mostly_weights(seen):
        return None
    inputs, weight = seen.inputs, pl.col("weight").cast(pl.Float64).fill_nan(None)
    users = inputs.counted("truth" if inputs.truth is not None else "recommendations")
    users = users.select("user").unique()
    weighted = users if inputs.users is None else inputs.users.filter(weight.is_not_null())
    without = users.join(weighted, on="user", how="anti")
    counts = [users.select(all=pl.len()), without.select(without=pl.len())]
    n_all, n_without = seen.run(beside_one_another(counts)).row(0)
    if n_without <= FEW * n_all:
        return None
    return (
        f"{Given('weight', inputs.context.weight)}: {n_without:,} of the {n_all:,} users who count have no weight in "
        f"{FrameOf('users')}, and weighted means leave them out; give each user a weight, such as 1 or 0, or check that both "
        "frames have the same user ids"
    )


def _have_mostly_weights(seen: Seen) -> bool:
    """Return whether most of some users of an eager truth, or judged frame, have a weight."""
    given = seen.inputs.given
    users = given["users"]
    judging = given.get("recommendations" if seen.inputs.truth is None else "truth")
    if judging is None or judging.schema["user"] != users.schema["user"]:
        return False
    some = _sampled(judging["user"]).unique()
    weighted = users.filter(pl.col("weight").is_not_null())
    n_weighted = len(weighted.join(some.to_frame(), on="user", how="semi"))
    return n_weighted >= LIKELY_WEIGHTED * len(some)


def by_without_common_values(seen: Seen) -> str | None:
    """Warn of a `by` column of which lists and truth have no value in common, so that no segment has both."""
    truth = seen.inputs.truth
    if truth is None or seen.found_a_hit:
        return None
    for segment in _of_both_frames(seen):
        if some_in_common(seen, "truth", segment.inside):
            continue
        for here, such_here, there, such_there, _ in seen.run(
            apart(seen.inputs.lists, truth, segment.inside)
        ).rows():
            return (
                f"{Given('by', segment.name)}: {seen.title} and {FrameOf('truth')} have no value of this column in common: "
                f"{here:,} in the lists, such as {such_here!r}, and {there:,} in the truth, such as {such_there!r}; write "
                f"the values the same way in both frames, or give the column once, in {bind(users='users')}"
            )
    return None


def _of_both_frames(seen: Seen) -> Iterator[Segment]:
    """Give the segments that cut two frames into parts."""
    yield from (segment for segment in seen.inputs.segments if segment.inside in seen.parts)
