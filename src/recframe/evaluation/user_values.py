"""Users' values of every metric, and their rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import filterfalse
from typing import Literal

import polars as pl
from polars.datatypes import DataType

from recframe.errors import OTHER_TIES, NoOrderError, RecframeError, without_order
from recframe.evaluation import side_rows
from recframe.evaluation.grade_counts import by_grades
from recframe.evaluation.required_columns import (
    BEST_ORDER,
    CUT,
    DTYPES,
    EXPECTED,
    HITS,
    LIST_IDEAL,
    LISTED,
    LISTED_PROPENSITIES,
    OF_CATALOGUE,
    OF_LISTED_RELEVANT,
    OF_TWO_FRAMES,
    PLACED,
    PROPENSITIES,
    RELEVANT,
    TOTALS,
    WHOLE,
    Recorder,
    needs_of,
    recorded,
)
from recframe.frames.kinds.kind import Ask
from recframe.frames.rows.joins import (
    ExactSums,
    aggregate,
    beside_one_another,
    best_first,
    distinct_names,
    heads,
    in_distinct_ranks,
    joined,
    sorted_by_rank,
    with_places,
)
from recframe.metrics.language.at import AGREEMENT_BEFORE, At, discount
from recframe.metrics.language.definition import Definition, Metric, Metrics
from recframe.metrics.language.reading import SCALED, scaled
from recframe.metrics.language.sums_over_ranks import sums_of_shares
from recframe.ranking import known
from recframe.ranking.data_checks import after_checks
from recframe.ranking.expectation import at_last_places, over_places, ties_with_hits
from recframe.ranking.judged_frame import Judged
from recframe.side_info.precompute import shown

WITH_RELEVANT: Metric[...] = Metric(
    Definition(
        "with relevant",
        lambda at: (at.n_relevant > 0).cast(pl.Float64),
        range=(0.0, 1.0),
        linear=True,
    )
)
"""Internal metric: whether a user has a relevant item; the space in its name avoids collisions."""
WITH_LIST: Metric[...] = Metric(
    Definition(
        "with list",
        lambda at: pl.when(at.list_length > 0).then(1.0),
        range=(0.0, 1.0),
        linear=True,
    )
)
"""Internal metric: 1 for users with a list, null for others."""
OF_HITS_OR_RELEVANT = {*HITS, *EXPECTED, *RELEVANT, "steepness"}


@dataclass(frozen=True)
class UserValues:
    """Users' values as `value 0`, `value 1`, ..., in metric order.

    A user without a row in the branches that the metrics read is absent from `present`, and has the values of an empty list.
    There may be millions of such users, so that `sums` counts them, and `each` alone has a row for every one.
    """

    judged: Judged
    keys: list[str]
    """The keys of the segments."""
    names: list[str]
    """The names of the values."""
    present: pl.LazyFrame
    """Counted lists with rows in the row sources: keys and values."""
    empty: pl.LazyFrame
    """One row: the values of an empty list."""
    steep: bool
    """Whether gains may overflow at high grades."""
    aligned: bool
    """Whether rows are of the same users in all models."""

    def each(self) -> pl.LazyFrame:
        """Return every user of each segment, once, after checks: the keys, the user, and the values."""
        rows = self.of_everyone().with_columns(n_users=pl.lit(1, dtype=pl.Int64))
        return self._checked(rows).select(*distinct_names(*self.keys, "user"), *self.names)

    def of_everyone(self) -> pl.LazyFrame:
        """Return the same before checks."""
        judged, names = self.judged, self.names
        on = [*judged.rows, *judged.model, "user"]
        present = judged.named(self.present).select(*on, *names, present=pl.lit(value=True))
        skips = judged.context.no_relevant == "skip"
        how: Literal["inner", "left"] = "inner" if skips else "left"
        users = joined(users_in_segments(judged), present, on, how)
        if names and not skips:
            users = users.join(self.of_empty_list, how="cross").with_columns(
                pl.when("present").then(name).otherwise(f"empty {name}") for name in names
            )
        return users.select(*distinct_names(*self.keys, "user"), *names)

    def sums(self, exact: ExactSums) -> pl.LazyFrame:
        """Return one row per segment: keys, n_users and sums for means.

        The sums are in the parts of `exact`, see `sums_of_values`.
        """
        keys, counts = self.keys, [pl.len().cast(pl.Int64).alias("n_present")]
        columns = [*keys, "n_users", "n_present", *exact.parts]
        for name in self.names:
            counts.append(pl.col(name).count().alias(f"count {name}"))
            columns += [f"count {name}", f"empty {name}"]
        rows, judged = self.present, self.judged
        if not {*keys} <= {*judged.model}:
            rows = judged.inputs.attach(judged.named(rows), "users")
        sums = exact.summed(rows, keys, counts)
        segments = n_users_of_segments(judged, keys)
        if keys:
            segments = segments.join(sums, on=keys, how="left", nulls_equal=True)
            # a frame without columns has no row
            segments = segments.join(self.of_empty_list, how="cross") if self.names else segments
        else:
            segments = beside_one_another([segments, sums, self.of_empty_list])
        return self._checked(segments).select(columns)

    @property
    def of_empty_list(self) -> pl.LazyFrame:
        """One row: the values of an empty list, as `empty value 0`, ..."""
        names = map("empty {}".format, self.names)
        return self.empty.rename(dict(zip(self.names, names, strict=True)))

    def _checked(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return after_checks(rows, self.judged, "n_users", pl.Int64, steep=self.steep)


def names_of(metrics: Metrics) -> list[str]:
    """Return the names of metrics' values."""
    return [*map("value {}".format, range(len(metrics)))]


def bounded_names(metrics: Metrics) -> frozenset[str]:
    """Return the names of those of metrics' values that are never above 1 or far below 2^-42, by recframe's own word."""
    found = set()
    for name, metric in zip(names_of(metrics), metrics, strict=True):
        if metric.is_bounded:
            found.add(name)
    return frozenset(found)


def sums_of_values(metrics: Metrics) -> ExactSums:
    """Return the sums of metrics' values, under the names of these."""
    names = names_of(metrics)
    values = dict(zip(names, map(pl.col, names), strict=True))
    return ExactSums(values, bounded_names(metrics))


def deepest_of(metrics: Metrics) -> int | None:
    """Return the largest cut-off of the metrics that read ranks, None where one of them has none.

    Relevant rows count at any rank, or without one.
    """
    deepest = 1
    for metric in metrics:
        if metric.k is not None:
            deepest = max(deepest, metric.k)
        elif not needs_of(metric).columns <= RELEVANT or needs_of(metric).over == "lists":
            return None
    return deepest


def values_of_users(
    judged: Judged, metrics: Metrics, keys: Sequence[str], ask: Ask | None
) -> UserValues:
    """Return the values of some metrics for the users of a judgement, in the segments of some keys."""
    words, context = Recorder(), judged.context
    deepest = deepest_of(metrics)
    values = values_of_lists(metrics, words, deepest, judged)
    skips = context.no_relevant == "skip"
    counted = At(None, words).n_relevant > 0 if skips else pl.len() > 0
    if ask is not None:
        judged = known_for(judged, metrics, words, deepest, ask)
    # the branches that the words above have asked for
    rows = rows_of_branches(judged, words, deepest, ask)
    lists = rows.group_by(judged.list_keys).agg(**values, counted=counted)
    _check_shapes(lists, values, metrics)
    has_one_truth = judged.truth is not None and context.relevant_from == "truth"
    read, roots = words.read if has_one_truth else set[str](), set[str]()
    for value in values.values():
        roots.update(value.meta.root_names())
    return UserValues(
        judged=judged,
        keys=list(keys),
        names=list(values),
        # NOTE: a name as text has Polars look it up in the whole plan's schema, which is a tenth of a small call
        present=lists.filter(pl.col("counted")),
        empty=_no_rows(frozenset(roots)).select(**values),
        steep="steepness" in words.asked,
        aligned=bool(read & RELEVANT) and read <= OF_HITS_OR_RELEVANT,
    )


def rows_of_branches(
    judged: Judged, words: Recorder, deepest: int | None, ask: Ask | None
) -> pl.LazyFrame:
    """Return the rows of all requested row sources, concatenated; columns of other sources are null."""
    asked, read, branches = words.asked, words.read, []
    reads_hits = bool(asked & (HITS | EXPECTED | PROPENSITIES) or words.windows)
    if reads_hits or any(name.startswith(LIST_IDEAL) for name in asked):
        branches.append(_hits(judged, words, deepest))
    if read & RELEVANT:
        branches += _relevant(judged, words, read, ask)
    if read & LISTED:
        rows = _listed(judged, read, deepest)
        branches += words.branches(judged.list_keys, rows, LISTED.union(TOTALS))
    if words.worths or not read <= OF_TWO_FRAMES:
        branches += side_rows.branches(judged, words, read, deepest, ask)
    return pl.concat(branches or [judged.relevant()], how="diagonal")


def known_for(
    judged: Judged, metrics: Metrics, words: Recorder, deepest: int | None, ask: Ask
) -> Judged:
    """Return the judgement with what is known of the rows that its plan reads (large eager frames)."""
    reads = known.Reads(
        k=deepest,
        whole_lists=bool(words.read & WHOLE),
        listed=bool(words.read & LISTED),
        first=bool(words.read & CUT),
        by_number=not (words.reads_lists() or words.worths),
        by_hits=judged.context.no_relevant == "zero" and all(map(_is_made_by_hits, metrics)),
    )
    judged = replace(judged, known=known.ask(judged, reads, ask))
    if not words.read & OF_CATALOGUE:
        return judged
    items = shown(side_rows.sides_of(judged), ask)
    return replace(judged, known=replace(judged.known, items=items))


def _is_made_by_hits(metric: Metric[...]) -> bool:
    """Return whether a metric of hits and relevant rows has the value of an empty list for each list without a hit.

    NOTE: all of recframe's own have, unless a user without relevant items has 1; one of the user's may say more of relevant
    rows than what hits are divided by.
    """
    return metric.definition.builtin and metric.parameters.get("without_relevant") != "one"


def values_of_lists(
    metrics: Metrics, words: Recorder, deepest: int | None, judged: Judged
) -> dict[str, pl.Expr]:
    """Return each metric's value of a list, under a name of its own, and add to the words what it reads.

    Raises an error for a metric that needs an order of tied items.
    """
    values = {}
    for number, metric in enumerate(metrics):
        sharing, definition = judged.sharing, metric.definition
        if sharing is not None and not (definition.builtin or definition.linear):
            raise RecframeError(
                f"ties={sharing!r} needs your metric {metric.name!r} to be a sum over hits (see rf.At), declared by "
                f"@rf.metric(linear=True); otherwise {OTHER_TIES}"
            )
        try:
            value, own = recorded(metric, cut=metric.k == deepest, sharing=sharing)
        except NoOrderError as error:
            raise without_order(str(metric), str(sharing), error) from None
        words.add(own)
        value = value.cast(pl.Float64)
        if judged.context.no_relevant == "null":
            value = pl.when(At(None, words).n_relevant > 0).then(value)
        values[f"value {number}"] = value
    return values


@lru_cache
def _no_rows(names: frozenset[str]) -> pl.LazyFrame:
    """Return an empty frame with the words' columns, to evaluate an empty list."""
    schema: dict[str, type[DataType]] = dict.fromkeys(names, pl.Float64)
    for name in names & DTYPES.keys():
        schema[name] = DTYPES[name]
    return pl.LazyFrame(schema=schema)


def _check_shapes(lists: pl.LazyFrame, names: Collection[str], metrics: Metrics) -> None:
    """Reject users' own metrics with several values per list."""
    for name, metric in zip(names, metrics, strict=True):
        if not metric.definition.builtin and lists.collect_schema()[name] != pl.Float64:
            raise RecframeError(
                f"the metric {metric.name!r} has a value for each row of a list; "
                "return one for the list: its sum(), max(), ..."
            )


# Users of segments


def users_in_segments(judged: Judged) -> pl.LazyFrame:
    """Return each user of the universe once for each segment and model, whether or not they have a row in the branches."""
    return judged.for_each_model(judged.inputs.attach(judged.members(), "users"))


def n_users_of_segments(judged: Judged, keys: Sequence[str]) -> pl.LazyFrame:
    """Return n_users for each segment, whether or not any of its users has a row in the branches."""
    of_users = [*filter("model".__ne__, keys)]
    n_users = pl.len().cast(pl.Int64).alias("n_users")
    if of_users and judged.known.n_users is not None:
        support = judged.known.n_users
    elif of_users:
        members = judged.inputs.attach(judged.members(), "users")
        support = members.group_by(of_users).agg(n_users)
    elif judged.known.users is not None:
        support = judged.known.users.select(n_users)
    else:
        # rows mostly stand user by user, so that few are left to a hash table
        n_users = pl.col("user").n_unique().cast(pl.Int64).alias("n_users")
        support = aggregate(heads(judged.users), [], [n_users])
    return support if judged.models is None else judged.for_each_model(support)


# Row sources: hits, relevant rows, listed rows


def _hits(judged: Judged, words: Recorder, deepest: int | None) -> pl.LazyFrame:
    """Return the hits in the order of their ranks, where no two of a list are closer than 1."""
    keys, asked = judged.list_keys, words.asked
    if judged.sharing is not None:
        return _hits_of_ties(judged, words, deepest)
    rows = judged.hits(deepest)
    if not asked.isdisjoint(TOTALS):
        rows = _with_totals(judged, rows, asked)
    if asked & PROPENSITIES:
        rows = side_rows.with_propensities(judged, rows)
    numbered = "hits_so_far" in asked
    if judged.known.in_order:
        rows = with_places(rows, keys) if numbered else rows
    else:
        rows = in_distinct_ranks(rows, keys, judged.inputs.schema, whole=judged.whole_ranks)
        rows = rows if deepest is None else rows.filter(pl.col("rank") <= deepest)
    rows = rows.rename({"place": "hits_so_far"}) if numbered else rows
    columns = asked & (HITS | PROPENSITIES | {*TOTALS})
    before, windows = [], dict(words.windows)
    for name in sorted(asked - columns):
        if name.startswith(AGREEMENT_BEFORE):
            before.append(name)
        elif name.startswith(LIST_IDEAL):
            windows[name] = _list_ideal_rank(name)
    if before or "place_in_best_order" in asked:
        rows = _with_places_in_best_order(judged, rows, before)
    numbers = pl.col("rank", "gain").cast(pl.Float64)
    rows = rows.with_columns(numbers, discount=discount(pl.col("rank")))
    if windows:
        rows = rows.with_columns(one.over(keys).alias(name) for name, one in windows.items())
    return rows.select(*keys, *sorted(columns), *before, *windows)


def _hits_of_ties(judged: Judged, words: Recorder, deepest: int | None) -> pl.LazyFrame:
    """Return the places that tied hits may take, with the expectations of the words there, or the last places of ties."""
    keys = judged.list_keys
    worth = {name: scaled(name) for name in sorted(words.asked) if name.startswith(SCALED)}
    ties = ties_with_hits(judged.hits(deepest), keys, worth)
    ties = _with_totals(judged, ties, words.asked)
    places = (
        over_places(ties, keys, deepest, [*worth])
        if judged.sharing == "expected"
        else at_last_places(ties, keys)
    )
    columns = sorted(words.asked & {*HITS, *EXPECTED, *worth, *TOTALS})
    return places.with_columns(discount=discount(pl.col("rank"))).select(*keys, *columns)


def _with_places_in_best_order(
    judged: Judged, hits: pl.LazyFrame, before: Sequence[str]
) -> pl.LazyFrame:
    """Return hits with their places among all relevant rows by gain; those of one gain stand in the order of the list."""
    keys, gain, depth = judged.list_keys, pl.col("gain"), pl.col("depth")
    better = gain.rank("min", descending=True).over(keys).cast(pl.Int64) - 1
    grades = judged.relevant().select(*keys, "gain", better=better).unique()
    grade = [*keys, "gain"]
    hits = joined(hits, grades, grade, in_order=True)
    place = (pl.col("better") + gain.cum_count().over(grade)).cast(pl.Float64)
    hits = hits.with_columns(place_in_best_order=place)
    later = pl.max_horizontal(pl.col("rank").cast(pl.Float64), "place_in_best_order")
    hits = hits.with_columns(depth=(later.ceil() - 1).clip(upper_bound=2**31).cast(pl.Int64))
    for name in before:
        sums = sums_of_shares(float(name.removeprefix(AGREEMENT_BEFORE)))
        table = pl.LazyFrame({"known": range(len(sums)), name: sums})
        hits = hits.with_columns(known=depth.clip(upper_bound=len(sums) - 1))
        hits = hits.join(table, on="known", how="left", maintain_order="left").drop("known")
    return hits


def _list_ideal_rank(name: str) -> pl.Expr:
    """Return the place of each hit among the hits up to k, in the order of their gains."""
    k = name.partition("@")[2]
    inside = pl.when(pl.col("rank") <= float(k)).then("gain") if k else pl.col("gain")
    return inside.rank("ordinal", descending=True)


def _relevant(
    judged: Judged, words: Recorder, read: set[str], ask: Ask | None
) -> list[pl.LazyFrame]:
    """Return the requested columns of relevant rows, listed or not, in ideal order if requested."""
    # of a truth they are the same for every model
    of_all = judged.truth is not None and judged.context.relevant_from == "truth"
    one, keys = judged, judged.list_keys
    if of_all and judged.models is not None:
        one = replace(judged, models=None)
        keys = [*filterfalse(judged.model.__contains__, keys)]
    rows = one.relevant().rename({"gain": "relevant_gain"})
    sums = None
    if read & BEST_ORDER:
        if ask is not None and not words.asked & RELEVANT:
            sums = by_grades(rows, keys, words.values_of(RELEVANT), ask)
        rows = _in_best_order(rows, keys, one, read)
    found = words.branches(keys, rows, RELEVANT) if sums is None else [sums]
    return [*map(judged.for_each_model, found)] if of_all else found


def _in_best_order(
    rows: pl.LazyFrame, keys: Sequence[str], judged: Judged, asked: set[str]
) -> pl.LazyFrame:
    """Return the relevant rows in ideal order per list, with the requested columns."""
    rows = best_first(rows, keys, judged.key_dtype, "relevant_gain")
    placed, rank = with_places(rows, keys), pl.col("place").cast(pl.Float64)
    built = {
        "ideal_rank": rank,
        "ideal_gain": pl.col("relevant_gain"),
        "ideal_discount": discount(rank),
    }
    columns = {name: built[name] for name in sorted(asked & BEST_ORDER)}
    return placed.select(*keys, "relevant_gain", **columns)


def _listed(judged: Judged, asked: set[str], deepest: int | None) -> pl.LazyFrame:
    """Return the list rows, and the number of non-relevant rows above the relevant ones."""
    keys = judged.list_keys
    if "listed_tied" in asked and judged.inputs.item_keys:
        raise RecframeError(
            "ties='expected' cannot tell how many items of a segment are among the first k of a list with scores; request "
            "list_length and judged without k, or by a column that does not describe items"
        )
    rows = judged.listed(None if asked & WHOLE else deepest)
    if asked & PLACED:
        rows = sorted_by_rank(rows, keys, judged.key_dtype, "listed_rank")
        rows = _among_others(rows, keys)
    rank, relevant = pl.col("listed_rank"), pl.col("listed_relevant")
    if asked & LISTED <= OF_LISTED_RELEVANT:
        rows = rows.filter(relevant)
    if asked & LISTED_PROPENSITIES:
        rows = side_rows.with_propensities(judged, rows)
        rows = rows.rename({name: f"listed_{name}" for name in PROPENSITIES})
    rows = rows.with_columns(whole_rank=rank, relevant_rank=pl.when(relevant).then(rank))
    rows = _with_totals(judged, rows, asked)
    return rows.select(*keys, *sorted(asked & LISTED.union(TOTALS)))


def _among_others(rows: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Return list rows with their positions, and for relevant ones the misses above.

    NOTE: all of it from running counts of misses, at the bounds of lists and of runs of one rank: a window over the lists
    costs ten times as much.
    """
    rank, relevant, place = pl.col("listed_rank"), pl.col("listed_relevant"), pl.col("place")
    is_first = place == 1
    opens = is_first | (rank != rank.shift())
    closes = opens.shift(-1, fill_value=True)

    def bounds(is_miss: pl.Expr) -> tuple[pl.Expr, pl.Expr]:
        """Return how many misses of its list stand before a row's run of one rank, and up to its end."""
        through = is_miss.cast(pl.Int64).cum_sum()
        before = through - is_miss.cast(pl.Int64)
        start = pl.when(is_first).then(before).forward_fill()
        run = pl.when(opens).then(before).forward_fill()
        return run - start, pl.when(closes).then(through).backward_fill() - start

    # a miss of the same rank counts a half, and of judged ones not at all
    above, through = bounds(~relevant)
    others = {
        "judged_misses_above": pl.col("listed_judged") & ~relevant,
        "graded_misses_above": pl.col("listed_graded") & ~relevant,
        "hits_above": relevant,
    }
    counts = {name: bounds(one)[0].cast(pl.Float64) for name, one in others.items()}
    return with_places(rows, keys).with_columns(
        listed_place=place,
        misses_above=pl.when(relevant).then((above + through).cast(pl.Float64) / 2),
        **{name: pl.when(relevant).then(one) for name, one in counts.items()},
    )


def _with_totals(judged: Judged, rows: pl.LazyFrame, asked: set[str]) -> pl.LazyFrame:
    """Return the rows with their list's numbers of relevant and of non-relevant rows."""
    for name, branch in zip(TOTALS, (judged.relevant, judged.misses), strict=True):
        if name in asked:
            totals = branch().group_by(judged.list_keys).agg(pl.len().cast(pl.Int64).alias(name))
            rows = joined(rows, totals, judged.list_keys, in_order=True)
            rows = rows.with_columns(pl.col(name).fill_null(0))
    return rows
