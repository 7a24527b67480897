"""What a call warns of in the lists: none has a rank, users cut in two, the lists of several models taken for one."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.audit.seen import SOME, Seen
from recframe.frames.hints import Given, bind
from recframe.frames.roles import Segment, names_trainings
from recframe.judging.relevance import is_rank

SYSTEMS = {
    "model",
    "models",
    "algo",
    "algorithm",
    "system",
    "variant",
    "run",
    "method",
    "experiment",
}
SYSTEMS |= {"recommender", "approach"}
"""Names of columns that tell systems apart."""


def lists_of_other_samples(seen: Seen) -> str | None:
    """A metric of sampled lists has no value, since no list has the number of items that it was told were drawn."""
    for one in seen.metrics:
        n, name = one.parameters.get("n_negatives"), str(one)
        if not isinstance(n, int) or not _says_nothing(seen, name):
            continue
        lists, ranked = seen.inputs.lists, pl.lit(value=True)
        if not seen.inputs.scored:
            ranked = is_rank(pl.col("rank"), seen.inputs.schema["rank"])
        lengths = lists.filter(ranked).group_by(*seen.inputs.model, "user").agg(items=pl.len())
        counts = lengths.group_by("items").agg(lists=pl.len()).sort("lists", "items")
        most = seen.run(counts.tail(1))
        if len(most) and most["items"].item() != n + 1:
            found = f"{most['items'].item():,} items, as {most['lists'].item():,} lists have"
            return (
                f"{name} has no value, since lists of a relevant item and {n} others have {n + 1} items; found {found}: say "
                "how many were drawn in n_negatives=, and give the lists as they were ranked, with all items"
            )
    return None


def _says_nothing(seen: Seen, name: str) -> bool:
    """Return whether a metric came out as null, or as 0 of users without lists, for every segment, of which there are some."""
    if name not in seen.result.columns or not len(seen.result):
        return False
    return bool((seen.result[name].fill_null(0) == 0).all())


def users_in_two_halves(seen: Seen) -> str | None:
    """Users of a judged frame who have a value of a `by` column on some rows and null on others, and nobody has two."""
    # clusters of users are no rows of the result
    segments = [one for one in seen.inputs.segments if one.inside not in seen.inputs.units]
    for segment in segments:
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
    rank, value = pl.col("rank"), pl.col(segment.inside).is_not_null()
    missing = [] if seen.inputs.scored else [~is_rank(rank, seen.inputs.schema["rank"])]
    if "relevance" in seen.inputs.schema:
        missing.append(pl.col("relevance").is_null())
    lone = [none.any() & ~(none & value).any() for none in missing]
    return bool(seen.run(seen.inputs.lists.select(pl.any_horizontal(lone))).item())


def several_models(seen: Seen) -> str | None:
    """Every user that was looked at has ranks, or with scores items, again and again, and a column tells them apart."""
    # systems have all ranks and some items in common
    place, often = ("item", 1.1) if seen.inputs.scored else ("rank", 1.5)
    named = [one for one in seen.labels if names_systems(one.name) or names_trainings(one.name)]
    # of several models each user has them again and again
    repeats = not seen.inputs.model and _repeats(seen, place, often)
    if not (repeats or named):
        return None
    if not seen.lists_of_some_users:
        return None
    rows = pl.concat(seen.lists_of_some_users).drop_nulls(place)
    for label in seen.labels if repeats else named:
        if _tells_apart(
            rows, label.inside, [*seen.inputs.model, "user", place], named=label in named
        ):
            return (
                f"users have several rows of one {place} in {seen.title}, which column {label.name!r} tells apart, but all "
                f"rows of a user count as one list; {told_apart_by(label.name)}"
            )
    return None


def told_apart_by(name: str) -> str:
    """Return what to write where a column tells systems apart, or trainings of one."""
    if names_trainings(name):
        return f"if it tells trainings of one model apart, write {bind(training=repr(name))}"
    return f"if it names systems, write {bind(model=repr(name))}"


def names_systems(name: str) -> bool:
    """Return whether a column bears a name that columns of systems have: `model`, `algo_name`, `run_id`."""
    words = str(name).casefold().replace("-", "_").replace(" ", "_").split("_")
    return words[0] in SYSTEMS and all(word in {"id", "name"} for word in words[1:])


def _repeats(seen: Seen, name: str, often: float) -> bool:
    """Return whether each of a few users has the values of a column so often, those without a value apart."""
    lists = [rows[name].head(SOME).drop_nulls() for rows in seen.lists_of_some_users]
    lists = [one.drop_nans() if one.dtype.is_float() else one for one in lists]
    return bool(lists) and all(len(one) > often * one.n_unique() for one in lists)


def _tells_apart(rows: pl.DataFrame, label: str, keys: list[str], *, named: bool) -> bool:
    """Return whether the rows of each key have as many labels as there are rows, and there are no more labels in all.

    Of a column that is named as those of systems are, some keys have several rows, whatever labels there are in all.
    """
    groups = rows.group_by(keys).agg(rows=pl.len(), labels=pl.col(label).n_unique())
    most: Any = groups["rows"].max() or 0
    apart = bool((groups["rows"] == groups["labels"]).all())
    return apart and (most > 1 if named else rows[label].n_unique() == most)
