"""Recommendations held against the truth: the universe, duplicates, nulls and unranked rows are decided here."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import polars as pl

from recframe.context import Context
from recframe.errors import fails_if
from recframe.inputs import Inputs, Segment
from recframe.order import is_narrow, one_number
from recframe.scores import Scored, scored
from recframe.terms import INFINITE_RELEVANCE, RANK_BELOW_1, STEEP_RELEVANCE, STEEPEST, is_rank, is_relevant

PAIR = ["user", "item"]


def judge(inputs: Inputs) -> Judged:
    """Hold the recommendations against the truth."""
    lists = _with_items(_identified(inputs.lists), inputs)
    truth, scores = inputs.truth, None
    if inputs.scored:
        own = ["relevance"] * (truth is None and not inputs.model)
        scores = scored(lists, [*inputs.model, "user"], [*inputs.inside("row", "items"), *own])
    if truth is None and (inputs.model or scores):  # every model is held against what the frame says of any of them
        truth = inputs.lists.select(*PAIR, "relevance", *inputs.inside("row"))
    if truth is None:
        return Judged(inputs, lists)
    truth = _with_items(_identified(truth).filter(pl.col("relevance").is_not_null()), inputs)
    named = pl.col("model").is_not_null() | (pl.lit(value=True) if scores else is_rank(pl.col("rank")))
    # A row that names no model and ranks nothing is a judged row of all of them.
    models = lists.filter(named).select("model").unique() if inputs.model else None
    judged = Judged(inputs, lists, truth, models, scores)
    # A segment of rows cuts through the lists and the truth alike, so it needs them as one frame.
    return replace(judged, lists=judged.frame(), truth=None, scores=None, distinct=True) if judged.rows else judged


@dataclass(frozen=True)
class Judged:
    """The branches that metrics read: hits, relevant rows, rows judged not relevant, rows of the lists, and the users.

    One frame (a judged frame) is the source of all of them. With two, each branch comes from the frame that has it: the
    hits from an inner join, the relevant rows from the truth alone.
    """

    inputs: Inputs
    lists: pl.LazyFrame
    truth: pl.LazyFrame | None = None
    models: pl.LazyFrame | None = None
    scores: Scored | None = None
    """The lists once more, where their ranks come from scores."""
    distinct: bool = False
    """Whether every relevant pair of a user and an item is known to stand once in the frame that has the relevance."""

    narrow: bool = False
    """Whether the relevant rows' users and gains are known to fit into one number of 64 bits; see `order.is_narrow`."""
    n_users: int | None = None
    """How many users there are in `users`, where that is known."""

    @property
    def context(self) -> Context:
        """What `rec(...)` bound."""
        return self.inputs.context

    @property
    def model(self) -> list[str]:
        """The model as a key, where one is bound."""
        return self.inputs.model

    @property
    def rows(self) -> list[str]:
        """The segments that are a property of the row, as keys."""
        return self.inputs.inside("row", "items") + ["item"] * any(one.inside == "item" for one in self.inputs.segments)

    @property
    def list_keys(self) -> list[str]:
        """What tells one list from another."""
        return [*self.rows, *self.model, "user"]

    # The universe

    @property
    def universe(self) -> Literal["truth", "recs", "both", "all", "rows"]:
        """Which users count; "rows" is every user of a judged frame."""
        return self.context.universe or ("rows" if self.inputs.truth is None else "truth")

    @cached_property
    def recommended_users(self) -> pl.LazyFrame:
        """The users with a ranked row."""
        return (self.lists if self.scores else self.lists.filter(self._ranked)).select("user")

    @cached_property
    def judged_users(self) -> pl.LazyFrame:
        """The users with a judged row."""
        if self.truth is not None:
            return self.truth.select("user")
        return self.lists.filter(pl.col("relevance").is_not_null()).select("user")

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The users of the universe, repeated as they come."""
        if self.universe == "truth":
            return self.judged_users
        if self.universe == "recs":
            return self.recommended_users
        if self.universe == "both":
            return self.judged_users.join(self.recommended_users.unique(), on="user", how="semi")
        if self.universe == "rows" or self.inputs.truth is None:
            everyone = [self.lists.select("user")]
        else:
            everyone = [self.judged_users, self.recommended_users]
        if self.universe == "all" and self.inputs.users is not None:
            everyone.append(self.inputs.users.select("user").drop_nulls())
        return pl.concat(everyone) if len(everyone) > 1 else everyone[0]

    def members(self) -> pl.LazyFrame:
        """Return each user of the universe, once for each segment of rows in which the judged frame has a row of theirs."""
        if not self.rows:
            return self.users.unique()
        return self._counted(self.lists, {"truth", "recs", "both"}).select(*self.rows, "user").unique()

    def _counted(self, frame: pl.LazyFrame, unless: set[str]) -> pl.LazyFrame:
        """Return the rows of users in the universe; only the universes in `unless` can leave a user of this branch out."""
        if self.universe not in unless:
            return frame
        return frame.join(self.users.unique(), on="user", how="semi")

    # The branches

    def hits(self, k: int | None = None) -> pl.LazyFrame:
        """Return the relevant rows with a rank up to k, one for each item of a list: keys, item, rank, gain."""
        rank = pl.col("rank")
        if self.truth is None:
            return self._relevant_pairs().filter(self._up_to(k))
        if self._judges_itself and self.distinct and self.scores is not None and self.scores.at_hand(k) is not None:
            rows = self._ranked_lists(k).filter(self._relevant)
            return rows.select(*PAIR, self._rank, gain=pl.col("relevance").cast(pl.Float64))
        ranked = self._ranked_lists(k).select(*self.model, *PAIR, self._rank)
        return (
            ranked.join(self._relevant_truth(self.truth), on=PAIR)
            .group_by(*self.model, *PAIR)
            .agg(rank.min(), pl.col("gain").max())
        )

    def _relevant_pairs(self) -> pl.LazyFrame:
        """Return the relevant rows of a judged frame, one for each item of a list: keys, item, rank, gain."""
        rank = pl.col("rank")
        rows = self.lists.filter(self._relevant)
        rows = rows.select(*self.list_keys, *self._item, self._rank, gain=pl.col("relevance").cast(pl.Float64))
        if self.distinct:
            return rows.cache()  # the hits and the best order start from the same few rows
        rows = rows.with_columns(pl.when(is_rank(rank)).then(rank))
        return rows.group_by(*self.list_keys, *self._item).agg(rank.min(), pl.col("gain").max())

    def _relevant_truth(self, truth: pl.LazyFrame) -> pl.LazyFrame:
        return truth.filter(self._relevant).select(*PAIR, gain=pl.col("relevance").cast(pl.Float64))

    def relevant(self) -> pl.LazyFrame:
        """Return the relevant rows, one for each item: keys, gain."""
        if self.context.relevant_from == "list":
            return self.hits().select(*self.list_keys, "gain")
        if self.truth is None:
            return self._counted(self._relevant_pairs().select(*self.list_keys, "gain"), {"recs", "both"})
        rows = self._relevant_truth(self.truth)
        if not self.distinct:
            rows = rows.group_by(PAIR).agg(pl.col("gain").max())
        return self._for_each_model(self._counted(rows.select("user", "gain"), {"recs", "both"}))

    def not_relevant(self) -> pl.LazyFrame:
        """Return the rows judged not relevant, one for each item: keys, and True in `not_relevant`."""
        if self.context.relevant_from == "list":
            rows, keys = self.listed().filter(pl.col("listed_judged")), self.list_keys
        elif self.truth is None:
            rows, keys = self.lists.filter(pl.col("relevance").is_not_null()), self.list_keys
        else:
            rows, keys = self.truth, ["user"]
        relevant = pl.col("listed_relevant") if self.context.relevant_from == "list" else self._relevant
        pair = dict.fromkeys([*keys, "item"])
        items = rows.group_by(*pair).agg(relevant.any().alias("relevant"))
        misses = self._counted(items.filter(~pl.col("relevant")), {"recs", "both"})
        misses = misses.select(*keys, not_relevant=pl.lit(value=True))
        return misses if self.context.relevant_from == "list" else self._for_each_model(misses)

    def listed(self) -> pl.LazyFrame:
        """Return the rows of the lists, one for each item: keys, item, listed_rank, listed_relevant, listed_judged."""
        rows = self._ranked_lists()
        if self.truth is not None:
            truth = self.truth.group_by(PAIR).agg(pl.col("relevance").max())
            rows = rows.select(*self.model, *PAIR, "rank").join(truth, on=PAIR, how="left")
        rows = self._counted(rows, {"truth", "both"})
        rank = pl.col("rank").cast(pl.Float64)
        return rows.group_by(*self.list_keys, *self._item).agg(
            listed_rank=rank.filter(self._relevant).min().fill_null(rank.min()),
            listed_relevant=self._relevant.any(),
            listed_judged=pl.col("relevance").is_not_null().any(),
        )

    def _for_each_model(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        return rows.join(self.models, how="cross") if self.truth is not None and self.models is not None else rows

    @property
    def _item(self) -> list[str]:
        return ["item"] * ("item" not in self.list_keys)

    @property
    def _relevant(self) -> pl.Expr:
        schema = (self.lists if self.truth is None else self.truth).collect_schema()
        return is_relevant(pl.col("relevance"), self.context.min_relevance, schema["relevance"])

    def _ranked_lists(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank, up to k."""
        return (self.lists if self.scores is None else self.scores.ranked(k)).filter(self._up_to(k))

    def _up_to(self, k: int | None) -> pl.Expr:
        return self._ranked if k is None else self._ranked & (pl.col("rank") <= k)

    @property
    def _judges_itself(self) -> bool:
        """Whether each row of the lists has the one relevance that counts for its pair, but for duplicates."""
        return self.inputs.truth is None and not self.model

    @property
    def _rank(self) -> pl.Expr:
        dtype = self._rank_dtype
        fits = dtype.is_integer() and dtype not in (pl.UInt64, pl.Int128)
        return pl.col("rank").cast(pl.Int64 if fits else pl.Float64)

    @property
    def _ranked(self) -> pl.Expr:
        return is_rank(pl.col("rank"), self._rank_dtype)

    @property
    def _rank_dtype(self) -> pl.DataType:
        return pl.Int64() if self.scores else self.lists.collect_schema()["rank"]

    # The judged frame, and what only the data can show

    def frame(self) -> pl.LazyFrame:
        """Return the judged frame: keys, item, rank and relevance, and the segments of rows."""
        keys = [*self.model, *PAIR]
        segments = [name for name in self.rows if name != "item"]
        rank, relevance = pl.col("rank"), pl.col("relevance")
        kept = [pl.col(name).first() for name in segments]
        ranked = pl.when(self._ranked).then(rank)
        if self.truth is None:
            best = ranked.filter(self._relevant).min().fill_null(ranked.min())
            pairs = self.lists.group_by(keys).agg(best.alias("rank"), relevance.max(), *kept)
            return self._counted(pairs, {"truth", "recs", "both"})
        lists = self._counted(self._ranked_lists(), {"truth", "both"}).group_by(keys).agg(rank.min(), *kept)
        truth = self._counted(self.truth, {"recs", "both"}).group_by(PAIR).agg(relevance.max(), *kept)
        pairs = lists.join(self._for_each_model(truth), on=keys, how="full", coalesce=True, nulls_equal=True)
        return pairs.with_columns(pl.coalesce(f"{name}_right", name).alias(name) for name in segments)

    def settled(self, run: Callable[[pl.LazyFrame], pl.DataFrame], k: int | None) -> Judged:
        """Return the same for a large eager frame, asked once what its plan can rely on; no number changes."""
        if self.distinct:  # a judged frame made of two, which every branch reads
            return replace(self, lists=run(self.lists).lazy())
        judged = replace(self, scores=self.scores and self.scores.settled(run, k))
        return replace(judged, **run(judged.questions()).row(0, named=True))

    def questions(self) -> pl.LazyFrame:
        """Return one row of what a plan can rely on, where the data says so."""
        rows = self.lists if self.truth is None else self.truth
        keys = self.list_keys if self.truth is None else ["user"]
        schema, user = rows.collect_schema(), pl.col("user")
        pair = one_number([pl.col(key) for key in [*keys, *self._item]], schema)
        whole = schema["user"].is_signed_integer() and keys == ["user"]
        gain = pl.col("relevance").cast(pl.Float64)
        relevant = rows.filter(self._relevant)
        if self._judges_itself and self.scores is not None and self.scores.best is not None:
            # The first rows, too: none of those that are not relevant may be of an item that another row says is.
            misses = self.scores.best.filter(~self._relevant.fill_null(value=False))
            relevant = pl.concat([relevant, misses], how="diagonal_relaxed")
        relevant = relevant.select(pair=pair.sort(), narrow=is_narrow(user, gain) if whole else pl.lit(value=False))
        repeated = pl.col("pair") == pl.col("pair").shift()
        pairs = relevant.select(distinct=~repeated.any(), narrow=pl.col("narrow").first())
        if not schema["user"].is_integer():  # comparing whole numbers costs next to nothing, and structs have no order
            return pairs
        changes = (user != user.shift()).sum() + user.len().clip(upper_bound=1)
        n_users = self.users.select(n_users=pl.when((user >= user.shift()).all()).then(changes))
        return pl.concat([pairs, n_users], how="horizontal")

    def checks(self, *, steep: bool) -> list[pl.LazyFrame]:
        """Return frames of one row that fail when the plan runs: what no schema shows."""
        rank, relevance = pl.col("rank"), pl.col("relevance")
        highest = relevance.cast(pl.Float64).fill_nan(None).max()
        found = [*self.inputs.checks]
        if not self.inputs.scored:
            lists = _identified(self.inputs.lists)
            lowest = pl.when(is_rank(rank)).then(rank) if _is_float(lists, "rank") else rank
            found.append(lists.select(check=fails_if(lowest.min() < 1, RANK_BELOW_1)))
        source = _identified(self.inputs.lists if self.inputs.truth is None else self.inputs.truth)
        if _is_float(source, "relevance"):
            found.append(source.select(check=fails_if(highest == math.inf, INFINITE_RELEVANCE)))
        for owner, frame in (("recommendations", self.inputs.lists), ("truth", self.inputs.truth)):
            found += [_two_values(frame, one) for one in self.inputs.segments if one.owner == owner and frame is not None]
        if steep:
            found.append(source.select(check=fails_if(highest > STEEPEST, STEEP_RELEVANCE)))
        return found


def _two_values(frame: pl.LazyFrame, segment: Segment) -> pl.LazyFrame:
    message = (
        f"by={segment.name!r}: a user has two values of this column, so it is not a property of the user. "
        f"If it tells systems apart, write rec(model={segment.name!r}); if it describes items, give it as rec(items=...)"
    )
    pairs = frame.select("user", segment.inside).drop_nulls().unique()
    return pairs.select(check=fails_if(pl.col("user").n_unique() < pl.len(), message))


def _is_float(frame: pl.LazyFrame, name: str) -> bool:
    return frame.collect_schema()[name].is_float()


def _with_items(frame: pl.LazyFrame, inputs: Inputs) -> pl.LazyFrame:
    """Return the rows with the segments that are properties of their items."""
    names = inputs.inside("items")
    if not names or inputs.items is None:
        return frame
    return frame.join(inputs.items.select("item", *names), on="item", how="left")


def _identified(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows with a user and an item."""
    return frame.filter(pl.col("user").is_not_null() & pl.col("item").is_not_null())
