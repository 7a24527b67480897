"""Warnings of a call: the table of all, and checks of lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import polars as pl

from recframe.audit.call_context import SOME, Seen
from recframe.audit.model_depths import model_without_common_ids, models_of_unequal_depth
from recframe.audit.suspects import ranked
from recframe.audit.warnings_of_truth import (
    by_without_common_values,
    few_users_with_a_weight,
    hardly_any_in_common,
    level_that_no_row_reaches,
    most_users_without_a_list,
    relevance_not_bound,
    truth_is_the_lists,
    truth_of_the_lists_alone,
)
from recframe.errors import warn
from recframe.frames.dtypes import text_of
from recframe.frames.hints import NAMED, Either, bind
from recframe.frames.inputs import Inputs
from recframe.frames.roles import names_trainings
from recframe.frames.rows.joins import aggregate, beside_one_another
from recframe.ranking.relevance import is_rank

SYSTEMS = {"model", "models", "algo", "algorithm", "system", "variant", "run", "method"}
SYSTEMS |= {"experiment", "recommender", "approach"}
"""Names of columns that identify systems."""


def lists_of_other_samples(seen: Seen) -> str | None:
    """A metric of sampled lists has no value, since no list has the number of items that it was told were drawn."""
    for metric in seen.metrics:
        n, name = metric.parameters.get("n_negatives"), str(metric)
        if not isinstance(n, int) or name not in seen.result.columns:
            continue
        # null, or 0 of users without lists, for every segment, of which there are some
        values = seen.result[name].fill_null(0)
        if values.is_empty() or (values != 0).any():
            continue
        lists = ranked(seen.inputs).group_by(*seen.inputs.model, "user")
        lengths = lists.agg(items=pl.len())
        counts = lengths.group_by("items").agg(lists=pl.len()).sort("lists", "items")
        most = seen.run(counts.tail(1))
        if len(most) and most["items"].item() != n + 1:
            found = f"{most['items'].item():,} items, as {most['lists'].item():,} lists have"
            return (
                f"{name} has no value: a relevant item and {n} others make lists of {n + 1} items; found {found}: say in "
                "n_negatives= how many were drawn, and give the whole lists as they were ranked"
            )
    return None


def several_models(seen: Seen) -> str | None:
    """Every user that was looked at has ranks, or with scores items, again and again, and a column tells them apart."""
    # systems have all ranks and some items in common
    place, often = ("item", 1.1) if seen.inputs.scored else ("rank", 1.5)
    named = [one for one in seen.labels if names_systems(one.name) or names_trainings(one.name)]
    # of several models each user has them again and again
    repeats = not seen.inputs.model and _repeats(seen, place, often)
    labels = seen.labels if repeats else named
    if not labels or not seen.lists_of_some_users:
        return None
    rows = pl.concat(seen.lists_of_some_users).drop_nulls(place)
    keys = [*seen.inputs.model, "user", place]
    for label in labels:
        if _tells_apart(rows, label.inside, keys, named=label in named):
            return (
                f"users have several rows of one {place} in {seen.title}, one for each value of column {label.name!r}, but "
                f"all rows of a user count as one list; {told_apart_by(label.name)}"
            )
    return None


def told_apart_by(name: str) -> str:
    """Return the advice for a column that identifies systems, or trainings of one."""
    if names_trainings(name):
        return f"if it names trainings of one model, write {bind(training=repr(name))}"
    return f"if it names systems, write {bind(model=repr(name))}"


def names_systems(name: str) -> bool:
    """Return whether a column's name is one of systems, such as `model`, `algo_name`, `run_id`."""
    words = str(name).casefold().replace("-", "_").replace(" ", "_").split("_")
    return words[0] in SYSTEMS and all(word in {"id", "name"} for word in words[1:])


def _repeats(seen: Seen, name: str, often: float) -> bool:
    """Return whether each of a few users has the values of a column so often, those without a value apart."""
    lists = [rows[name].head(SOME).drop_nulls() for rows in seen.lists_of_some_users]
    lists = [list_.drop_nans() if list_.dtype.is_float() else list_ for list_ in lists]
    return bool(lists) and all(len(list_) > often * list_.n_unique() for list_ in lists)


def _tells_apart(rows: pl.DataFrame, label: str, keys: list[str], *, named: bool) -> bool:
    """Return whether the rows of each key have as many labels as there are rows, and there are no more labels in all.

    Of a column that is named as those of systems are, some keys have several rows, whatever labels there are in all.
    """
    groups = rows.group_by(keys).agg(rows=pl.len(), labels=pl.col(label).n_unique())
    most: Any = groups["rows"].max() or 0
    apart = bool((groups["rows"] == groups["labels"]).all())
    return apart and (most > 1 if named else rows[label].n_unique() == most)


HALF = 0.5
"""The fraction of a mean over a tie of an even number of ranks."""
LEAST_EQUAL = 10
"""Fewest scores: fewer may be equal by chance."""
FEWEST_LISTS = 5
"""Minimum lists; of fewer none may begin up to the cut-off by chance."""

OF_ONE_VALUE = pl.col("lowest").eq_missing(pl.col("highest")) & (
    (pl.col("known") == 0) | (pl.col("known") == pl.col("rows"))
)
"""Whether all scores are missing, or none is and all are equal."""


def lists_without_ranks(seen: Seen) -> str | None:
    """No row has a rank, so every list is empty."""
    if "lists at hand" in seen.traits:
        n_rows = 0 if _has_rank(seen.lists["rank"]) else len(seen.lists)
    elif seen.found_nothing:
        has_rank = is_rank(pl.col("rank"), seen.inputs.schema["rank"]).any()
        n_rows = seen.run(seen.inputs.lists.select(pl.len() * ~has_rank)).item()
    else:
        return None
    if not n_rows:
        return None
    name = seen.inputs.context.names["rank"]
    return (
        f"column {name!r} of {seen.title} is null, NaN or infinite in all of its {n_rows:,} rows, so every list is empty; "
        f"rank each list from 1, or name a column of scores: {bind(score=NAMED)}"
    )


def _has_rank(column: pl.Series) -> bool:
    """Return whether a column has a rank, mostly among its first rows."""
    if not column.dtype.is_float():
        return column.null_count() < len(column)
    return bool(column.head(SOME).is_finite().any() or column.is_finite().any())


def scores_without_order(seen: Seen) -> str | None:
    """Warn of a model whose scores are all missing, or all equal where no tie policy was bound."""
    keys, inputs = seen.inputs.model, seen.inputs
    if seen.run(_spread(seen.sample.lazy(), inputs).filter(OF_ONE_VALUE)).is_empty():
        return None
    rows = inputs.identified("recommendations")
    found = seen.run(scores_of_one_value(rows, inputs).sort(keys or ["lowest"]))
    if found.is_empty():
        return None
    model, value = found["model"][0] if keys else None, found["lowest"][0]
    whose = f" of model {text_of(model)!r}" if keys else f" of {seen.title}"
    what = "null or NaN" if value is None else f"equal, {value:g}"
    name, ties = inputs.context.names["score"], ""
    if value is not None:
        ties = f", or with {bind(ties=repr('expected'))} for the mean over all orders of such items"
    return (
        f"all {found['rows'][0]:,} scores{whose} in column {name!r} are {what}, so its lists are in the order of the item ids; "
        f"give the model's own scores or a rank{ties}"
    )


def scores_of_one_value(rows: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return the models all of whose scores are one value or missing, though a list of theirs has several items.

    Equal scores are none of these where `ties` was bound, which says how they stand.
    """
    found = _spread(rows, inputs).filter(pl.col("rows") > pl.col("lists"))
    is_missing = pl.col("lowest").is_null()
    if "ties" in inputs.context.given and inputs.context.ties != "item":
        return found.filter(is_missing)
    return found.filter(is_missing | (OF_ONE_VALUE & (pl.col("rows") >= LEAST_EQUAL)))


def _spread(rows: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return each model's lowest and highest score, and its numbers of rows and lists."""
    score, list_keys = pl.col("score"), [*inputs.inside("row"), "user"]
    score = score.fill_nan(None) if inputs.schema["score"].is_float() else score
    lists = pl.struct(list_keys).n_unique() if len(list_keys) > 1 else pl.col("user").n_unique()
    counts = [
        score.min().alias("lowest"),
        score.max().alias("highest"),
        score.count().alias("known"),
        pl.len().alias("rows"),
        lists.alias("lists"),
    ]
    # a judged row that nobody lists may name no model
    named = rows.filter(pl.col("model").is_not_null()) if inputs.model else rows
    return aggregate(named, inputs.model, counts)


def ranks_over_all_lists(seen: Seen) -> str | None:
    """Warn of ranks over the whole frame instead of per list, so that most lists begin beyond the cut-off."""
    k = seen.deepest
    if not _may_be_distinct(seen):
        return None
    found = seen.run(ranked_at_once(seen.inputs, k))
    if found.is_empty():
        return None
    name, user = (seen.inputs.context.names[role] for role in ("rank", "user"))
    until = f"up to {k}" if k else "within their own length"
    over = Either(f": .rank('ordinal').over({user!r})")
    return (
        f"column {name!r} of {seen.title} has no rank twice, and {found['late'][0]:,} of {found['lists'][0]:,} lists have "
        f"none {until}: all rows seem to be ranked at once; rank each list from 1{over}, or name a column of scores: "
        f"{bind(score=NAMED)}"
    )


def _may_be_distinct(seen: Seen) -> bool:
    """Return whether the ranks of eager lists go so far that none of a model need be there twice."""
    ranks = seen.lists["rank"]
    highest: Any = ranks.max()
    names = [segment.name for segment in seen.inputs.segments if segment.inside in seen.parts]
    n_parts = prod(seen.result[name].n_unique() for name in names if name in seen.result.columns)
    return (
        len(ranks) >= FEWEST_LISTS
        and highest is not None
        and highest * seen.n_models * n_parts >= len(ranks) - ranks.null_count()
    )


def ranked_at_once(inputs: Inputs, k: int | None) -> pl.LazyFrame:
    """Return one row, `late` and `lists`, where ranks were made over the whole frame; none otherwise.

    No rank is there twice, most lists begin beyond `k` or, without one, beyond their own length, and lists have several
    items or ranks leave few numbers out: ranks of single items among all are distinct by chance too.
    """
    keys = [*inputs.inside("row"), *inputs.model]
    rank, n_rows = pl.col("rank"), pl.col("rows").sum()
    rows = ranked(inputs)
    ends = {"first": rank.min(), "last": rank.max()}
    lists = rows.group_by(*keys, "user").agg(rows=pl.len(), **ends)
    limit = pl.col("rows") if k is None else k
    whole = (n_rows >= 2 * pl.len()) | (pl.col("last").max() <= 2 * n_rows)
    late = lists.select(
        late=(pl.col("first") > limit).sum(), lists=pl.len(), n_rows=n_rows, whole=whole
    )
    distinct = rows.select(
        distinct=pl.struct(*keys, "rank").n_unique() if keys else rank.n_unique()
    )
    found = beside_one_another([late, distinct]).filter(
        (pl.col("distinct") == pl.col("n_rows"))
        & (pl.col("late") * 2 > pl.col("lists"))
        & (pl.col("lists") >= FEWEST_LISTS)
        & pl.col("whole")
    )
    return found.select("late", "lists")


def _are_shared(seen: Seen) -> bool:
    """Return whether list items share a fractional rank, in a sample of lists for large frames."""
    rows = seen.rows_of_some_users
    broken = rows.filter(pl.col("rank") != pl.col("rank").floor())
    sizes = broken.group_by(*seen.parts, *seen.inputs.model, "user", "rank").len()["len"]
    return bool((sizes > 1).any())


def ranks_as_means(seen: Seen) -> str | None:
    """Warn of ranks that are means over ties, such as 1.5 for two first items."""
    ranks = seen.sample["rank"].drop_nulls()
    ranks = ranks.filter(ranks.is_finite())
    parts = ranks - ranks.floor()
    broken = ranks.filter(parts > 0)
    if broken.is_empty() or (parts.filter(parts > 0) != HALF).any() or not _are_shared(seen):
        return None
    name = seen.inputs.context.names["rank"]
    over = Either(": .rank('ordinal') in Polars, .rank(method='first') in pandas")
    return (
        f"column {name!r} of {seen.title} has ranks such as {broken[0]:g}, which are means over ties: an item of rank 1.5 is "
        f"not a hit at 1, and no item is first; rank each list without ties{over}, or name the column of scores: "
        f"{bind(score=NAMED)}"
    )


Notice = Callable[[Seen], str | None]
NOTICES: Mapping[Notice, set[str]] = {
    lists_without_ranks: {"ranks"},
    lists_of_other_samples: set(),
    ranks_over_all_lists: {"ranks", "lists at hand"},
    ranks_as_means: {"fractions", "lists at hand"},
    scores_without_order: {"scores", "lists at hand"},
    by_without_common_values: {"segments", "truth"},
    several_models: {"labels"},
    model_without_common_ids: {"models"},
    models_of_unequal_depth: {"models", "lists at hand"},
    relevance_not_bound: {"sides"},
    level_that_no_row_reaches: {"level"},
    truth_is_the_lists: {"sides"},
    hardly_any_in_common: {"sides"},
    truth_of_the_lists_alone: {"lists at hand", "truth at hand"},
    most_users_without_a_list: {"truth"},
    few_users_with_a_weight: {"weights", "users at hand"},
}
"""The warnings, each with the traits without which it cannot apply."""
OF_JUDGING: Mapping[Notice, set[str]] = {relevance_not_bound: {"sides"}}
"""Notices on relevance, which hold before any metric is requested."""


def tell(seen: Seen, notices: Mapping[Notice, set[str]] = NOTICES) -> None:
    """Issue each warning once, at the user's line; of lists that are bounds nothing is said."""
    seen = replace(seen, inputs=seen.inputs.candidates)
    for notice, traits in notices.items():
        message = notice(seen) if traits <= seen.traits else None
        if message is not None:
            warn(message)
