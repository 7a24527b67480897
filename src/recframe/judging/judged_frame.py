"""Recommendations held against the truth: the universe, duplicates, nulls and unranked rows are decided here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import polars as pl

from recframe.frames.context import Context, Sharing
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.tables import MODELS
from recframe.frames.rows.joins import at_best_rank, distinct_names
from recframe.frames.rows.packing import (
    SMALL_INTEGERS,
    alike_as_one,
    joined_as_numbers,
    joined_by_hash,
)
from recframe.judging.known import NOTHING, Known, graded
from recframe.judging.relevance import (
    as_number,
    best_rank,
    gain_of,
    is_rank,
    is_relevant_row,
    rows_of_models,
)
from recframe.judging.scores import Scored, in_order_given, scored
from recframe.judging.segments_of_rows import in_known_segments
from recframe.judging.ties_of_lists import effective_lists

PAIR = ["user", "item"]


def judge(inputs: Inputs, models: pl.LazyFrame | None = None) -> Judged:
    """Hold the recommendations against the truth; `models` are those that a part of the users may not show."""
    judged = held(inputs, models)
    if not inputs.inside("row") or (judged.truth is None and judged.scores is None):
        return judged
    if (
        inputs.truth is not None
        and judged.truth is not None
        and not (inputs.model or judged.scores)
    ):
        return judged.cut_by_rows(judged.truth)
    # A segment of rows cuts through the lists and the truth alike, so models and scores need them as one frame.
    rows = judged.frame()
    if inputs.truth is None:  # who has a row counts, though it say nothing
        rows = pl.concat([rows, judged.silent_rows()], how="diagonal")
    return replace(judged, lists=rows, truth=None, scores=None, known=Known(distinct=True))


def held(inputs: Inputs, models: pl.LazyFrame | None = None) -> Judged:
    """Return the recommendations beside the truth, each in its own frame."""
    lists = in_order_given(inputs.identified("recommendations"), inputs.context.ties)
    scores = _scored(lists, inputs) if inputs.scored else None
    if inputs.truth is None and not (inputs.model or scores):
        return Judged(inputs, effective_lists(lists, lists, inputs))
    truth = inputs.identified("truth")
    # every model is held against the same truth: what the frame says of any of them
    if inputs.truth is None:
        truth = truth.select(*PAIR, "relevance", *inputs.inside("row"))
    truth = truth.filter(pl.col("relevance").is_not_null())
    if inputs.model and models is None and inputs.tables is not None:
        models = inputs.tables.get(MODELS, {"model": inputs.schema["model"]})
    elif inputs.model and models is None:
        models = rows_of_models(inputs).unique()
    return Judged(inputs, effective_lists(lists, truth, inputs), truth, models, scores)


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
    known: Known = NOTHING
    """What a plan may rely on, where a large eager frame was asked."""
    of_rows: tuple[str, ...] = ()
    """The segments of rows by which the lists and the truth meet, which are cut by them."""

    @property
    def context(self) -> Context:
        """What `rec(...)` bound."""
        return self.inputs.context

    @property
    def sharing(self) -> Sharing | None:
        """How tied items count where they have no order; the lists' ranks are then those of whole ties."""
        return self.inputs.sharing

    @property
    def model(self) -> list[str]:
        """The model as a key, where one is bound."""
        return self.inputs.model

    @property
    def rows(self) -> list[str]:
        """The segments that cut through lists, as keys: properties of the rows and of their items, or the item itself."""
        return self.inputs.inside("row", "items") + ["item"] * any(
            one.inside == "item" for one in self.inputs.segments
        )

    def in_segments(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of items with the segments that are properties of these."""
        names = self.inputs.inside("items")
        if not names or self.inputs.items is None:
            return rows
        return rows.join(self.inputs.items.select("item", *names), on="item", how="left")

    @property
    def list_keys(self) -> list[str]:
        """What tells one list from another."""
        keys = [key for key in (*self.rows, *self.model) if key not in self._numbered]
        return [*keys, self.key]

    @property
    def key(self) -> str:
        """The key that tells the users' lists apart: the user, or the number that stands for one, and for its segments."""
        return "number" if self._numbered else "user"

    @cached_property
    def _numbered(self) -> list[str]:
        """What the number of a list stands for."""
        names = [] if self.known.names is None else self.known.names.collect_schema()
        return [name for name in names if name != "number"]

    def named(self, lists: pl.LazyFrame) -> pl.LazyFrame:
        """Return lists with what their numbers stand for."""
        names = self.known.names
        return lists if names is None else lists.join(names, on="number", how="left")

    # Which users count

    @property
    def universe(self) -> Literal["truth", "recs", "both", "all", "rows"]:
        """Which users count; "rows" is every user of a judged frame."""
        return self.context.universe or ("rows" if self.inputs.truth is None else "truth")

    @cached_property
    def recommended_users(self) -> pl.LazyFrame:
        """The users with a ranked row."""
        return self._with_rank.select("user")

    @property
    def _with_rank(self) -> pl.LazyFrame:
        """The rows of the lists with a rank, which a plan of two frames reads by a scan of their own."""
        if self.scores:
            return self.lists
        if self.truth is None or self.of_rows:
            return self.lists.filter(self._ranked)
        return self.inputs.identified("recommendations", where=self._ranked)

    @cached_property
    def judged_users(self) -> pl.LazyFrame:
        """The users with a judged row."""
        if self.truth is not None:
            return self.truth.select("user")
        return self.lists.filter(pl.col("relevance").is_not_null()).select("user")

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The users of the universe, repeated as they come."""
        if self.known.crowd is not None:
            return self.known.crowd
        if self.universe == "truth":
            return self.judged_users
        if self.universe == "recs":
            return self.recommended_users
        if self.universe == "both":
            return self.judged_users.join(self.recommended_users.unique(), on="user", how="semi")
        if self.universe == "rows" and self.inputs.crowd is not None:
            return self.inputs.crowd
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
            return self.users.unique() if self.known.crowd is None else self.users
        if self.known.members is not None:
            return self.known.members
        pairs = distinct_names(*self.inputs.inside("row"), *PAIR)
        rows = pl.concat([rows.select(pairs) for rows in self.rows_of_members()])
        return self.in_segments(rows).select(*self.rows, "user").unique()

    def silent_rows(self) -> pl.LazyFrame:
        """Return the rows of a judged frame that neither rank nor judge their item: their segments, model, user and item."""
        ranked = pl.lit(value=True) if self.scores else self._ranked
        rows = self.lists.filter(~ranked & pl.col("relevance").is_null())
        return rows.select(*self.inputs.inside("row"), *self.model, *PAIR)

    def rows_of_members(self) -> list[pl.LazyFrame]:
        """Return all rows of the judged frame that are of users in the universe, or those of the lists and of the truth."""
        lists, *truth = self.rows_of_all()
        # those of a judged frame are not all ranked
        left_out = {"truth", "both"} | ({"recs"} if self.inputs.truth is None else set())
        return [
            self.counted(lists, left_out),
            *(self.counted(one, {"recs", "both"}) for one in truth),
        ]

    def rows_of_all(self) -> list[pl.LazyFrame]:
        """Return the same rows, whether or not their users are in the universe."""
        if self.truth is None:
            return [self.lists]
        return [self.lists if self.inputs.truth is None else self._with_rank, self.truth]

    def counted(self, frame: pl.LazyFrame, unless: set[str]) -> pl.LazyFrame:
        """Return the rows of users in the universe; only the universes in `unless` can leave a user of this branch out."""
        if self.universe not in unless:
            return frame
        return frame.join(self.users.unique(), on="user", how="semi")

    # The branches

    def hits(self, k: int | None = None) -> pl.LazyFrame:
        """Return the relevant rows with a rank up to k, one for each item of a list: keys, item, rank, gain."""
        if self.known.hits is not None:
            return self.known.hits.filter(self._up_to(k))
        if self.truth is None:
            return self._relevant_pairs.filter(self._up_to(k))
        if self.scores is not None and self.scores.gains_at_hand(k):
            hits = self._ranked_lists(k).filter(pl.col("gain").is_not_null())
            hits, names = (
                self.in_segments(hits.select(*PAIR, "rank", *self._tied, "gain")),
                self.known.names,
            )
            return hits if names is None else hits.join(names, on="user", maintain_order="left")
        rows, is_up_to = self.rows_to_meet(k)
        ranked, pairs = rows.filter(is_up_to), self.relevant_rows()
        if self.known.packs:
            hits = joined_as_numbers(ranked, pairs, PAIR, "inner")
        elif self.known.distinct:
            hits = joined_by_hash(ranked, pairs, PAIR)
        else:
            hits = ranked.join(pairs, on=self._pair, nulls_equal=bool(self.of_rows))
        highest = pl.col("gain", *self._tied).max()
        return at_best_rank(self._with_keys(hits), self.list_keys, highest)

    def rows_to_meet(self, k: int | None) -> tuple[pl.LazyFrame, pl.Expr]:
        """Return rows of the lists: keys, item, rank; and whether one has a rank up to k."""
        rows = self.lists if self.scores is None else self._ranked_lists(k)
        return rows.select(*self.model, *self._pair, self._rank, *self._tied), self._up_to(k)

    def relevant_rows(self) -> pl.LazyFrame:
        """Return the relevant rows of the frame that has the relevance, with their gains.

        Of a judged frame: keys, item, rank. Of the truth: user and item, and segments of its rows.
        """
        if self.known.pairs is not None:
            return self.known.pairs
        if self.truth is not None:
            return self.truth.filter(self._relevant).select(*self._pair, gain=self._gain)
        rows = self.lists.filter(self._relevant)
        keys = distinct_names(*self.inputs.inside("row"), *self.model, *PAIR)
        return self.in_segments(rows.select(*keys, self._rank, *self._tied, gain=self._gain))

    @cached_property
    def _relevant_pairs(self) -> pl.LazyFrame:
        """Return the relevant rows of a judged frame, one for each item of a list: keys, item, rank, gain."""
        rank, rows = pl.col("rank"), self.relevant_rows()
        if self.known.distinct:
            return rows
        if not self._rank_dtype.is_integer():
            rows = rows.with_columns(pl.when(is_rank(rank)).then(rank))
        keys = distinct_names(*self.list_keys, "item")
        values = [rank.min(), pl.col("gain", *self._tied).max()]
        return alike_as_one(rows, keys, self.schema, values, few=self.inputs.few)

    def relevant(self, *also: str) -> pl.LazyFrame:
        """Return the relevant rows, one for each item: keys, gain, and the item if it is asked for."""
        columns = [*distinct_names(*self.list_keys, *also), "gain"]
        if self.context.relevant_from == "list":
            return self.hits().select(columns)
        if self.truth is None:
            return self.counted(self._relevant_pairs.select(columns), {"recs", "both"})
        of_all = [name for name in columns if name not in self.model]
        rows = self._with_keys(self._pairs).select(of_all)
        return self.for_each_model(self.counted(rows, {"recs", "both"}))

    def not_relevant(self) -> pl.LazyFrame:
        """Return the rows judged not relevant, one for each item: keys, and True in `not_relevant`."""
        if self.context.relevant_from == "list":
            items = (
                self.listed()
                .filter(pl.col("listed_judged"))
                .rename({"listed_relevant": "relevant"})
            )
        else:
            rows = self.in_segments(self.lists if self.truth is None else self.truth)
            judged = rows.filter(pl.col("relevance").is_not_null())
            keys = [key for key in self.list_keys if self.truth is None or key not in self.model]
            pair = distinct_names(*keys, "item")
            items = (
                judged.select(*pair, relevant=self._relevant)
                if self.truth is None and self.known.once
                else judged.group_by(pair).agg(self._relevant.any().alias("relevant"))
            )
        misses = self.counted(items.filter(~pl.col("relevant")), {"recs", "both"})
        misses = misses.with_columns(not_relevant=pl.lit(value=True))
        if self.context.relevant_from == "truth":
            misses = self.for_each_model(misses)
        return misses.select(*self.list_keys, "not_relevant")

    def listed(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists, one for each item: keys, item, listed_rank, listed_relevant, listed_judged.

        With k those alone whose rank is up to k.
        """
        # an item that a judged frame repeats may have its best rank behind k
        cut = k if self.truth is not None or self.known.once else None
        rows = self._ranked_lists(cut)
        if self.truth is not None:
            rows = rows.select(*self.model, *self._pair, "rank", *self._tied)
            rows = graded(rows, self.truth, self.known, self.of_rows)
        rows = self.in_segments(self.counted(rows, {"truth", "both"}))
        keys = distinct_names(*self.list_keys, "item")
        tied = {f"listed_{name}": name for name in self._tied}
        items = rows.select(
            *keys,
            **tied,
            listed_rank=pl.col("rank").cast(pl.Float64),
            listed_relevant=self._relevant.fill_null(value=False),
            listed_judged=pl.col("relevance").is_not_null(),
        )
        if self.known.once:
            return items
        best = best_rank(pl.col("listed_rank"), pl.col("listed_relevant"))
        values = [best, pl.col("listed_relevant", "listed_judged").any(), pl.col([*tied]).max()]
        items = alike_as_one(items, keys, self.schema, values, few=self.inputs.few)
        return items if cut == k else items.filter(pl.col("listed_rank") <= k)

    def relevant_pairs(self, segments: Sequence[str] = ()) -> pl.LazyFrame:
        """Return each relevant pair of a user and an item once, whoever recommended it; with segments, in each of them."""
        rows = (self.lists if self.truth is None else self.truth).filter(self._relevant)
        rows = self.in_segments(rows) if segments else rows
        return rows.select(*distinct_names(*segments, *PAIR)).unique()

    def relevant_items(self) -> pl.LazyFrame:
        """Return the relevant items of each list, listed or not: keys, item; of users outside the universe too."""
        rows = self.relevant_pairs(self.rows)
        if self.context.relevant_from == "list":
            return self.ranked().join(
                rows, on=distinct_names(*self.rows, *PAIR), how="semi", nulls_equal=True
            )
        return self.for_each_model(rows)

    def ranked(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank, up to k, whether or not their users are in the universe."""
        return self.in_segments(self._ranked_lists(k)).select(
            *distinct_names(*self.rows, *self.model, *PAIR), self._rank
        )

    def cut(self, k: int | None) -> pl.LazyFrame:
        """Return the rows of the lists of the universe's users with a rank up to k, one for each item: keys, item, rank."""
        if self.known.first is not None:
            return self.known.first
        rows = self.counted(self.ranked(k), {"truth", "both"})
        return at_best_rank(rows, self.list_keys)

    def for_each_model(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of the truth once for each model; as they are where there are none, or where the rows have theirs."""
        return (
            rows.join(self.models, how="cross")
            if self.truth is not None and self.models is not None
            else rows
        )

    @cached_property
    def _relevant(self) -> pl.Expr:
        return is_relevant_row(self.inputs)

    def _ranked_lists(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank, up to k."""
        if self.scores is None:
            return self.lists.filter(self._up_to(k))
        ranked, segments = (
            self.scores.ranked(k, lambda: self._pairs).filter(self._up_to(k)),
            self.inputs.inside("row"),
        )
        if not segments:
            return ranked
        # An item of several rows has one rank, that of its best score in the whole list, in the segments of all of them.
        pairs = [*self.model, *PAIR]
        return ranked.join(
            self.lists.select(*pairs, *segments).unique(), on=pairs, nulls_equal=True
        )

    def _with_keys(self, pairs: pl.LazyFrame) -> pl.LazyFrame:
        """Return pairs of users and items with all keys of the lists, which the number of a list may stand for."""
        return pairs if {*self.rows} <= {*self._numbered} else self.in_segments(pairs)

    @property
    def _pair(self) -> list[str]:
        """What lists and truth meet by: the user and the item, inside a segment of rows."""
        return [*self.of_rows, *PAIR]

    def cut_by_rows(self, truth: pl.LazyFrame) -> Judged:
        """Return the same where segments of rows cut through the lists and the truth alike.

        NOTE: rows of each are filtered before they meet; one frame of all that is ranked or judged took six times as long.
        """
        of_rows = self.inputs.inside("row")
        lists, truth = in_known_segments(self._ranked_lists(), truth, PAIR, of_rows)
        return replace(self, lists=lists, truth=truth, of_rows=tuple(of_rows))

    @cached_property
    def _pairs(self) -> pl.LazyFrame:
        """Each relevant pair of the truth once, with its gain, in each segment of its rows."""
        rows, gain = self.relevant_rows(), pl.col("gain")
        if self.known.distinct:
            return rows
        return alike_as_one(rows, self._pair, self.schema, [gain.max()], few=self.inputs.few)

    def _up_to(self, k: int | None) -> pl.Expr:
        return self._ranked if k is None else self._ranked & (pl.col("rank") <= k)

    @property
    def _tied(self) -> list[str]:
        return ["tied"] * (self.sharing == "expected")

    @property
    def _gain(self) -> pl.Expr:
        return gain_of(self.inputs)

    @cached_property
    def _rank(self) -> pl.Expr:
        return pl.col("rank") if self.scores else as_number("rank", self._rank_dtype)

    @cached_property
    def _ranked(self) -> pl.Expr:
        return is_rank(pl.col("rank"), self._rank_dtype)

    @property
    def _rank_dtype(self) -> pl.DataType:
        return pl.Int64() if self.scores else self.schema["rank"]

    @cached_property
    def schema(self) -> pl.Schema:
        """The columns of the lists and their dtypes."""
        return self.lists.collect_schema()

    @property
    def whole_ranks(self) -> bool:
        """Whether the ranks of the hits are whole numbers."""
        return self._rank_dtype in SMALL_INTEGERS

    @property
    def key_dtype(self) -> pl.DataType:
        """The dtype of the last key of a list."""
        return pl.Int64() if self.key == "number" else self.schema["user"]

    # The judged frame

    def frame(self) -> pl.LazyFrame:
        """Return the judged frame: keys, item, rank and relevance, and where it is made of two the segments of rows."""
        keys, rank, relevance = [*self.model, *PAIR], pl.col("rank"), pl.col("relevance")
        ranked = pl.when(self._ranked).then(rank)
        if self.truth is None:
            best = best_rank(ranked, self._relevant)
            pairs = at_best_rank(self.lists, keys, relevance.max(), best=best)
            return self.counted(pairs, {"truth", "recs", "both"})
        of_rows = self.inputs.inside("row")
        kept = [rank.min(), *(pl.col(one).max() for one in self._tied)]
        lists = self.counted(self._ranked_lists(), {"truth", "both"})
        lists = lists.group_by(*keys, *of_rows).agg(kept)
        truth = self.counted(self.truth, {"recs", "both"})
        truth = self.for_each_model(truth.group_by(*PAIR, *of_rows).agg(relevance.max()))
        on = [*keys, *of_rows]
        fills = self.inputs.truth is not None and bool(of_rows)
        if fills:
            lists, truth = in_known_segments(lists, truth, keys, of_rows)
        pairs = lists.join(truth, on=on, how="full", coalesce=True, nulls_equal=True)
        return pairs.group_by(on).agg(*kept, relevance.max()) if fills else pairs


def _scored(lists: pl.LazyFrame, inputs: Inputs) -> Scored:
    """Return the lists with their scores, and where a row of theirs has the relevance of its pair, with its gain."""
    if inputs.truth is not None or inputs.model:
        return scored(lists, [*inputs.model, "user"], [], inputs.context.ties)
    gain = pl.when(is_relevant_row(inputs)).then(gain_of(inputs))
    return scored(lists.with_columns(gain=gain), ["user"], ["gain"], inputs.context.ties)
