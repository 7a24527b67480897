"""Row sources of user metrics: hits, relevant rows, listed rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from recframe.errors import RecframeError
from recframe.evaluation.grade_counts import by_grades
from recframe.evaluation.required_columns import (
    BEST_ORDER,
    EXPECTED,
    HITS,
    LIST_IDEAL,
    LISTED,
    LISTED_PROPENSITIES,
    OF_LISTED_RELEVANT,
    PLACED,
    PROPENSITIES,
    RELEVANT,
    TOTALS,
    WHOLE,
    Recorder,
)
from recframe.frames.collecting import Ask
from recframe.frames.rows.positions import (
    best_first,
    by_item,
    sorted_by_rank,
    spread_ranks,
    with_places,
)
from recframe.metrics.language.at import AGREEMENT_BEFORE, discount
from recframe.metrics.language.reading import SCALED, scaled
from recframe.metrics.language.sums_over_ranks import sums_of_shares
from recframe.ranking.expectation import at_last_places, over_places, ties_with_hits
from recframe.ranking.judged_frame import PAIR, Judged
from recframe.side_info import attributes
from recframe.side_info.sources import Sides


def hits(judged: Judged, words: Recorder, deepest: int | None) -> pl.LazyFrame:
    """Return the hits in the order of their ranks, where no two of a list are closer than 1."""
    keys, asked = judged.list_keys, words.asked
    if judged.sharing is not None:
        return _hits_of_ties(judged, words, deepest)
    rows = judged.hits(deepest)
    if not asked.isdisjoint(TOTALS):
        rows = _with_totals(judged, rows, asked)
    if asked & PROPENSITIES:
        rows = with_propensities(judged, rows)
    numbered = "hits_so_far" in asked
    rows = with_distinct_ranks(judged, rows, deepest, numbered=numbered)
    rows = rows.rename({"place": "hits_so_far"}) if numbered else rows
    columns, before, windows = [*keys], [], dict(words.windows)
    for name in sorted(asked):
        if name in HITS or name in PROPENSITIES or name in TOTALS:
            columns.append(name)
        elif name.startswith(AGREEMENT_BEFORE):
            before.append(name)
        elif name.startswith(LIST_IDEAL):
            windows[name] = _list_ideal_rank(name)
    if before or "place_in_best_order" in asked:
        rows = _with_places_in_best_order(judged, rows, before)
    numbers = pl.col("rank", "gain").cast(pl.Float64)
    rows = rows.with_columns(numbers, discount=discount(pl.col("rank")))
    if windows:
        rows = rows.with_columns(one.over(keys).alias(name) for name, one in windows.items())
    return rows.select(*columns, *before, *windows)


def with_distinct_ranks(
    judged: Judged, hits: pl.LazyFrame, deepest: int | None, *, numbered: bool = False
) -> pl.LazyFrame:
    """Return hits with ranks of each list at least 1 apart, and where requested their numbers in its order."""
    keys = judged.list_keys
    if judged.known.in_order:
        return with_places(hits, keys) if numbered else hits
    hits = hits.sort(*keys, "rank", *by_item(judged.inputs.schema, keys))
    hits = spread_ranks(with_places(hits, keys), keys, whole=judged.whole_ranks)
    return hits if deepest is None else hits.filter(pl.col("rank") <= deepest)


def with_propensities(judged: Judged, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return relevant rows with given propensities (0 where not above 0), or with popularities.

    The other one of the two columns is null. NOTE: an item that train does not have counts as one that one user has, as in
    novelty: nothing that is known of it makes a number of its own. A given propensity that is not above 0 is no such
    statement but an error of the data, of a cold item too.
    """
    nothing = pl.lit(None, pl.Float64)
    if not judged.inputs.has_propensity:
        sides = Sides(judged.inputs, judged)
        shares: Any = attributes.popularity_share.build(sides)
        # where train is empty it has no share
        of_one = 1 / pl.col("value").max().fill_null(1.0)
        rows = rows.join(shares, on="item", how="left", maintain_order="left")
        rows = rows.join(sides.popularity.select(of_one=of_one), how="cross", maintain_order="left")
        share = pl.coalesce("value", "of_one").alias("popularity_share")
        return rows.with_columns(share, given_propensity=nothing).drop("value", "of_one")
    given = pl.col("propensity").cast(pl.Float64).fill_nan(None)
    pair = [*judged.of_rows, *PAIR]
    pairs = judged.inputs.counted("truth").group_by(pair).agg(given_propensity=given.max())
    rows = rows.join(pairs, on=pair, how="left", maintain_order="left", nulls_equal=True)
    return rows.with_columns(pl.col("given_propensity").fill_null(0.0), popularity_share=nothing)


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
    known = [*sorted(HITS | EXPECTED), *worth, *TOTALS]
    columns = [name for name in known if name in words.asked]
    return places.with_columns(discount=discount(pl.col("rank"))).select(*keys, *columns)


def _with_places_in_best_order(
    judged: Judged, hits: pl.LazyFrame, before: Sequence[str]
) -> pl.LazyFrame:
    """Return hits with their places among all relevant rows by gain; those of one gain stand in the order of the list."""
    keys, gain, depth = judged.list_keys, pl.col("gain"), pl.col("depth")
    better = gain.rank("min", descending=True).over(keys).cast(pl.Int64) - 1
    grades = judged.relevant().select(*keys, "gain", better=better).unique()
    grade = [*keys, "gain"]
    hits = hits.join(grades, on=grade, how="left", nulls_equal=True, maintain_order="left")
    place = (pl.col("better") + gain.cum_count().over(grade)).cast(pl.Float64)
    hits = hits.with_columns(place_in_best_order=place)
    later = pl.max_horizontal(pl.col("rank").cast(pl.Float64), "place_in_best_order")
    hits = hits.with_columns(depth=(later.ceil() - 1).clip(upper_bound=2**31).cast(pl.Int64))
    for name in before:
        sums = sums_of_shares(float(name.removeprefix(AGREEMENT_BEFORE)))
        table = pl.LazyFrame({"depth": range(len(sums)), name: sums})
        known = depth.clip(upper_bound=len(sums) - 1)
        hits = hits.with_columns(known=known).join(
            table, left_on="known", right_on="depth", how="left", maintain_order="left"
        )
        hits = hits.drop("known")
    return hits


def _list_ideal_rank(name: str) -> pl.Expr:
    """Return the place of each hit among the hits up to k, in the order of their gains."""
    k = name.partition("@")[2]
    inside = pl.when(pl.col("rank") <= float(k)).then("gain") if k else pl.col("gain")
    return inside.rank("ordinal", descending=True)


def relevant(judged: Judged, words: Recorder, ask: Ask | None) -> list[pl.LazyFrame]:
    """Return the requested columns of relevant rows, listed or not, in ideal order if requested."""
    # of a truth they are the same for every model
    of_all = judged.truth is not None and judged.context.relevant_from == "truth"
    one = replace(judged, models=None) if of_all and judged.models is not None else judged
    keys = judged.list_keys
    if of_all and judged.model:
        keys = [key for key in keys if key not in judged.model]
    rows = one.relevant().rename({"gain": "relevant_gain"})
    sums = None
    if words.read & BEST_ORDER:
        if ask is not None and not words.asked & RELEVANT:
            sums = by_grades(rows, keys, words.values_of(RELEVANT), ask)
        rows = _in_best_order(rows, keys, one, words.read)
    found = words.branches(keys, rows, RELEVANT) if sums is None else [sums]
    return [judged.for_each_model(branch) for branch in found] if of_all else found


def _in_best_order(
    rows: pl.LazyFrame, keys: Sequence[str], judged: Judged, asked: set[str]
) -> pl.LazyFrame:
    """Return the relevant rows in ideal order per list, with the requested columns."""
    rows = best_first(rows, keys, judged.key_dtype, "relevant_gain")
    rank = pl.col("place").cast(pl.Float64)
    built = {
        "ideal_rank": rank.alias("ideal_rank"),
        "ideal_gain": pl.col("relevant_gain").alias("ideal_gain"),
        "ideal_discount": discount(rank).alias("ideal_discount"),
    }
    columns = map(built.__getitem__, sorted(asked & BEST_ORDER))
    return with_places(rows, keys).select(*keys, "relevant_gain", *columns)


def listed(judged: Judged, asked: set[str], deepest: int | None) -> pl.LazyFrame:
    """Return the list rows, and the number of non-relevant rows above the relevant ones."""
    keys = judged.list_keys
    if "listed_tied" in asked and judged.inputs.item_keys:
        msg = (
            "ties='expected' cannot tell how many items of a segment are among the first k of a list with scores; request "
            "list_length and judged without k, or by a column that does not describe items"
        )
        raise RecframeError(msg)
    rows = judged.listed(None if asked & WHOLE else deepest)
    if asked & PLACED:
        rows = sorted_by_rank(rows, keys, judged.key_dtype, "listed_rank")
        rows = _among_others(rows, keys)
    rank, relevant = pl.col("listed_rank"), pl.col("listed_relevant")
    if asked & LISTED <= OF_LISTED_RELEVANT:
        rows = rows.filter(relevant)
    if asked & LISTED_PROPENSITIES:
        rows = with_propensities(judged, rows)
        rows = rows.rename({name: f"listed_{name}" for name in PROPENSITIES})
    rows = rows.with_columns(whole_rank=rank, relevant_rank=pl.when(relevant).then(rank))
    rows = _with_totals(judged, rows, asked)
    columns = [name for name in sorted(LISTED.union(TOTALS)) if name in asked]
    return rows.select(*keys, *columns)


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
            rows = rows.join(
                totals, on=judged.list_keys, how="left", nulls_equal=True, maintain_order="left"
            )
            rows = rows.with_columns(pl.col(name).fill_null(0))
    return rows
