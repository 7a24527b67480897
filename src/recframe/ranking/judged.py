"""The judged frame: universe, duplicates, nulls and unranked rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import polars as pl

from recframe.frames.inputs import Inputs, check_is_one_fold
from recframe.frames.options import Context, Sharing
from recframe.frames.rows.integer_keys import SMALL_INTEGERS, joined_as_numbers
from recframe.frames.rows.joins import alike_as_one, at_best_rank, distinct_names
from recframe.ranking.relevance import (
    as_number,
    best_rank,
    gain_of,
    is_rank,
    is_relevant_row,
    rows_of_models,
)
from recframe.ranking.scores import Scored, in_order_given, scored

PAIR = ["user", "item"]
Universe = Literal["truth", "recs", "both", "all", "rows"]


@dataclass(frozen=True)
class Known:
    """Facts of the rows of large eager frames; none changes a number."""

    pairs: pl.LazyFrame | None = None
    """Relevant rows, each item of a list once; of a truth each pair of a user and an item."""
    packs: bool = False
    """Whether both ids of a relevant pair fit into one 64-bit integer."""
    names: pl.LazyFrame | None = None
    """Keys by number, where a number stands for them in the relevant rows and the hits."""
    hits: pl.LazyFrame | None = None
    """Hits up to the largest k, for separate lists and truth."""
    in_order: bool = False
    """Whether hits are sorted by list and rank, each item of a list once, with ranks at least 1 apart."""
    users: pl.LazyFrame | None = None
    """Distinct users, where segments do not cut rows."""
    n_users: pl.LazyFrame | None = None
    """Numbers of users by segment, if all segments are columns of rows, or all are columns of items."""
    listed: pl.LazyFrame | None = None
    """Rows of the lists up to the largest k with the highest relevance that the truth has of their pairs."""
    once: bool = False
    """Whether items are unique per list, among rows up to the largest k and rows with a relevance."""
    first: pl.LazyFrame | None = None
    """Top-k rows of the universe's users, items unique per list."""
    scores: Scored | None = None
    """Lists ranked by score, with their first rows."""
    items: pl.LazyFrame | None = None
    """Distinct items of all frames."""
    checked: bool = False
    """Whether the data checks have passed."""


def judge(inputs: Inputs, models: pl.LazyFrame | None = None, known: Known | None = None) -> Judged:
    """Join the recommendations with the truth; `models` are those that one part of the users may lack."""
    check_is_one_fold(inputs)
    known = known or Known()
    lists = in_order_given(inputs.identified("recommendations"), inputs.context.ties)
    if inputs.truth is None and not (inputs.model or inputs.scored):
        return Judged(inputs, lists, known=known)
    truth, shared = inputs.identified("truth"), inputs.inside("rows")
    # all models share one truth: what the frame says of any of them
    if inputs.truth is None:
        truth = truth.select(*shared, *PAIR, "relevance")
    truth = truth.filter(pl.col("relevance").is_not_null())
    if inputs.ranks_by_gain and inputs.inside("truth"):
        shared = inputs.row_keys
        lists = _in_parts_of(truth, lists, shared)
    if inputs.model and models is None:
        models = rows_of_models(inputs).unique()
    keys = [*shared, *inputs.model, "user"]
    scores = scored(lists, keys, inputs.context.ties) if inputs.scored else None
    return Judged(inputs, lists, truth, models, scores, tuple(shared), known)


def _in_parts_of(truth: pl.LazyFrame, lists: pl.LazyFrame, names: Sequence[str]) -> pl.LazyFrame:
    """Return rows of the lists once for each part of the truth that has their user; `names` are the parts' columns."""
    parts = truth.select(*names, "user").unique()
    shared = [name for name in names if name in lists.collect_schema()]
    return lists.join(parts, on=[*shared, "user"], nulls_equal=True)


@dataclass(frozen=True)
class Judged:
    """Judged data: hits, relevant, non-relevant and listed rows, and users.

    One frame (a judged frame) is the source of all of them. With two, each branch comes from the frame that has it: the
    hits from an inner join, the relevant rows from the truth alone.
    """

    inputs: Inputs
    lists: pl.LazyFrame
    truth: pl.LazyFrame | None = None
    models: pl.LazyFrame | None = None
    given_scores: Scored | None = None
    """Lists ranked by score, if ranks come from scores."""
    shared: tuple[str, ...] = ()
    """Segments that both lists and truth have as columns: pairs are joined within them."""
    known: Known = field(default_factory=Known)

    @cached_property
    def context(self) -> Context:
        """The options bound by `rec(...)`."""
        return self.inputs.context

    @cached_property
    def sharing(self) -> Sharing | None:
        """The tie policy under which tied items share ranks; None otherwise."""
        return self.inputs.sharing

    @cached_property
    def scores(self) -> Scored | None:
        """Lists ranked by score, with what is known of them."""
        return self.known.scores or self.given_scores

    # Keys

    @cached_property
    def model(self) -> list[str]:
        """The model as a key, where one is bound."""
        return self.inputs.model

    @cached_property
    def rows(self) -> list[str]:
        """The segments that cut the users' rows into parts, as keys: columns of rows, of their items, or the item itself."""
        return [*self.of_rows, *self.inputs.item_keys]

    @cached_property
    def of_rows(self) -> list[str]:
        """The row segments that are columns of the lists, of the truth, or of both."""
        return self.inputs.row_keys

    @cached_property
    def user_keys(self) -> list[str]:
        """The keys of a user in a segment, on which the universe is decided."""
        return [*self.rows, "user"]

    @cached_property
    def list_keys(self) -> list[str]:
        """The keys of a list."""
        keys = [key for key in (*self.rows, *self.model) if key not in self._numbered]
        return [*keys, self.key]

    @cached_property
    def key(self) -> str:
        """The key of users' lists: the user, or a number for user and segments."""
        return "number" if self._numbered else "user"

    @property
    def key_dtype(self) -> pl.DataType:
        """The dtype of the last key of a list."""
        return pl.Int64() if self._numbered else self.schema["user"]

    @cached_property
    def _numbered(self) -> list[str]:
        """The key columns that the number of a list replaces."""
        names = [] if self.known.names is None else self.known.names.collect_schema()
        return [name for name in names if name != "number"]

    def named(self, lists: pl.LazyFrame) -> pl.LazyFrame:
        """Return lists with the keys that their numbers replace."""
        names = self.known.names
        return lists if names is None else lists.join(names, on="number", how="left")

    def in_segments(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of items with the segments that are properties of these."""
        return self.inputs.attach(rows, "items")

    def for_each_model(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of the truth once for each model; as they are where there are none, or where the rows have theirs."""
        if self.truth is None or self.models is None:
            return rows
        return rows.join(self.models, how="cross")

    # Which users count

    @cached_property
    def universe(self) -> Universe:
        """The universe of users; "rows" is every user of a judged frame."""
        return self.context.universe or ("rows" if self.inputs.truth is None else "truth")

    @property
    def _ranked_rows(self) -> pl.LazyFrame:
        """The rows of the lists with a rank, in the parts of the truth."""
        if self.scores:
            rows = self.lists
        elif self.truth is None or self._parted:
            rows = self.lists.filter(self._ranked)
        else:  # a plan of two frames reads them by a scan of their own
            rows = self.inputs.identified("recommendations", where=self._ranked)
        return self._in_parts(rows)

    @property
    def _judged_rows(self) -> pl.LazyFrame:
        """The rows with a relevance."""
        if self.truth is not None:
            return self.truth
        return self.lists.filter(pl.col("relevance").is_not_null())

    @property
    def judged_users(self) -> pl.LazyFrame:
        """The users with a judged row, in each segment that has one, with repetitions."""
        return self._users_of(self._judged_rows)

    def _users_of(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the keys of the users of rows, with repetitions."""
        return self.in_segments(rows).select(self.user_keys)

    @property
    def _adds_users(self) -> bool:
        """Whether users count who have no row of lists or truth."""
        return self.universe == "all" and self.inputs.users is not None

    def rows_of_users(self) -> list[pl.LazyFrame] | None:
        """Return the rows that define the universe's users; None if no rows alone do."""
        if self.universe == "both" or self._adds_users:
            return None
        return self._sources_of_users()

    def _sources_of_users(self) -> list[pl.LazyFrame]:
        """Return the rows of lists and truth that have users of the universe."""
        if self.universe == "truth":
            return [self._judged_rows]
        if self.universe == "recs":
            return [self._ranked_rows]
        if self.inputs.truth is None:
            return [self.lists]
        return [self._judged_rows, self._ranked_rows]

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The users of the universe in each segment, with repetitions."""
        if not self.rows:
            known = self.inputs.crowd if self.universe == "rows" else None
            known = known if self.known.users is None else self.known.users
            if known is not None:
                return known
        if self.universe == "both":
            ranked = self._users_of(self._ranked_rows).unique()
            return self.judged_users.join(ranked, on=self.user_keys, how="semi", nulls_equal=True)
        everyone = [self._users_of(rows) for rows in self._sources_of_users()]
        if self._adds_users and self.inputs.users is not None:
            users = self.inputs.users.select("user").drop_nulls()
            if self.rows:
                users = users.join(self._parts(), how="cross").select(self.user_keys)
            everyone.append(users)
        return pl.concat(everyone) if len(everyone) > 1 else everyone[0]

    def _parts(self) -> pl.LazyFrame:
        """Return each part that a row of a frame is in, of any user: the values of the segments that cut rows."""
        frames = [self.lists] if self.truth is None else [self._in_parts(self.lists), self.truth]
        parts, of_items = [], self.inputs.item_keys
        if self.of_rows:
            parts.append(pl.concat(rows.select(self.of_rows) for rows in frames))
        if of_items:
            items = [rows.select("item") for rows in frames]
            if self.inputs.items is not None:
                items.append(self.inputs.items.select("item").drop_nulls())
            parts.append(self.in_segments(pl.concat(items).unique()).select(of_items))
        first, *others = [self.inputs.of_all(rows.unique()) for rows in parts]
        return first.join(others[0], how="cross") if others else first

    def members(self) -> pl.LazyFrame:
        """Return the distinct users of the universe, in each segment of rows where they count."""
        is_known = self.known.users is not None and not self.rows
        return self.users if is_known else self.users.unique()

    def counted(self, frame: pl.LazyFrame, unless: set[str]) -> pl.LazyFrame:
        """Return the rows of users in the universe; only the universes in `unless` can leave a user of this branch out."""
        if self.universe not in unless:
            return frame
        users = self.users.unique()
        return frame.join(users, on=self.user_keys, how="semi", nulls_equal=bool(self.rows))

    # Hits and relevant rows

    def hits(self, k: int | None = None) -> pl.LazyFrame:
        """Return the relevant rows with a rank up to k, one for each item of a list: keys, item, rank, gain."""
        if self.known.hits is not None:
            return self.known.hits.filter(self.up_to(k))
        if self.truth is None:
            return self._keyed_pairs.filter(self.up_to(k))
        rows, is_up_to = self.rows_to_meet(k)
        ranked, pairs = rows.filter(is_up_to), self.pairs
        if self.known.packs:
            hits = joined_as_numbers(ranked, pairs, PAIR, "inner")
        else:
            hits = ranked.join(pairs, on=[*self.shared, *PAIR], nulls_equal=bool(self.shared))
        highest = pl.col("gain", *self._tied).max()
        return at_best_rank(self._with_keys(hits), self.list_keys, highest)

    def rows_to_meet(self, k: int | None) -> tuple[pl.LazyFrame, pl.Expr]:
        """Return rows of the lists: keys, item, rank; and whether one has a rank up to k."""
        rows = self.lists if self.scores is None else self._ranked_lists(k)
        names = [*self.model, *self.shared, *PAIR]
        return rows.select(*names, self._rank, *self._tied), self.up_to(k)

    def relevant_rows(self) -> pl.LazyFrame:
        """Return the relevant rows of the frame that has the relevance: keys, item, rank in a judged frame, gain."""
        rank = [self._rank] * (self.truth is None)
        return self._relevant_of_frame().select(
            *self.of_rows, *PAIR, *rank, gain=gain_of(self.inputs)
        )

    @cached_property
    def pairs(self) -> pl.LazyFrame:
        """The relevant rows, each item once for each user: keys without segments of items, item, rank, gain."""
        if self.known.pairs is not None:
            return self.known.pairs
        rows, rank, values = self.relevant_rows(), pl.col("rank"), [pl.col("gain").max()]
        if self.truth is None:
            values = [rank.min(), *values]
            if not self._rank_dtype.is_integer():
                rows = rows.with_columns(pl.when(is_rank(rank)).then(rank))
        schema = self.schema if self.truth is None else rows.collect_schema()
        keys = [*self.of_rows, *PAIR]
        return alike_as_one(rows, keys, schema, values, few=self.inputs.known.few)

    def _with_keys(self, pairs: pl.LazyFrame) -> pl.LazyFrame:
        """Return pairs of users and items with all keys of the lists, which the number of a list may stand for."""
        return pairs if {*self.rows} <= {*self._numbered} else self.in_segments(pairs)

    @cached_property
    def _keyed_pairs(self) -> pl.LazyFrame:
        """The relevant rows, each item of a list once, with all keys of the lists."""
        return self._with_keys(self.pairs)

    def relevant(self, *also: str) -> pl.LazyFrame:
        """Return the relevant rows, one per item: keys, gain, and the item if requested."""
        columns = [*distinct_names(*self.list_keys, *also), "gain"]
        if self.context.relevant_from == "list":
            return self.hits().select(columns)
        of_all = [name for name in columns if name not in self.model]
        rows = self.counted(self._keyed_pairs.select(of_all), {"recs", "both"})
        return self.for_each_model(rows)

    def misses(self) -> pl.LazyFrame:
        """Return the rows judged not relevant, one for each item: keys."""
        if self.context.relevant_from == "list":
            items = self.listed().filter("listed_judged").rename({"listed_relevant": "relevant"})
            rows = self.counted(items.filter(~pl.col("relevant")), {"recs", "both"})
            return rows.select(self.list_keys)
        keys = [key for key in self.list_keys if self.truth is None or key not in self.model]
        pair, relevant = distinct_names(*keys, "item"), is_relevant_row(self.inputs)
        rows = self.in_segments(self._judged_rows).select(*pair, relevant=relevant)
        if not (self.truth is None and self.known.once):
            rows = rows.group_by(pair).agg(pl.col("relevant").any())
        rows = self.counted(rows.filter(~pl.col("relevant")), {"recs", "both"})
        return self.for_each_model(rows).select(self.list_keys)

    def _relevant_of_frame(self) -> pl.LazyFrame:
        """Return the rows that say that an item is relevant, with all their columns."""
        rows = self.lists if self.truth is None else self.truth
        return rows.filter(is_relevant_row(self.inputs))

    def relevant_pairs(self, segments: Sequence[str]) -> pl.LazyFrame:
        """Return each relevant pair of a user and an item once, whoever recommended it; with segments, in each of them."""
        rows = self._relevant_of_frame()
        rows = self.in_segments(rows) if segments else rows
        return rows.select(*distinct_names(*segments, *PAIR)).unique()

    def gains(self) -> pl.LazyFrame:
        """Return each relevant pair of a user and an item once with its gain, in each segment of the rows."""
        gain = gain_of(self.inputs).max()
        return self._relevant_of_frame().group_by(*self.of_rows, *PAIR).agg(gain=gain)

    def relevant_items(self) -> pl.LazyFrame:
        """Return the relevant items of each list, listed or not: keys, item; of users outside the universe too."""
        rows = self.relevant_pairs(self.rows)
        if self.context.relevant_from == "truth":
            return self.for_each_model(rows)
        on = distinct_names(*self.rows, *PAIR)
        return self.ranked().join(rows, on=on, how="semi", nulls_equal=True)

    # Rows of the lists

    def listed(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists, one for each item: keys, item, rank, and what its relevance says.

        The columns are listed_rank, listed_relevant, listed_judged, and listed_graded of a relevance that is not below 0. With
        k those alone whose rank is up to k.
        """
        # an item that a judged frame repeats may have its best rank behind k
        cut = k if self.truth is not None or self.known.once else None
        rows = self.counted(self.in_segments(self._with_relevance(cut)), {"truth", "both"})
        keys, relevance = distinct_names(*self.list_keys, "item"), pl.col("relevance")
        items = rows.select(
            *keys,
            *(pl.col(name).alias(f"listed_{name}") for name in self._tied),
            listed_rank=pl.col("rank").cast(pl.Float64),
            listed_relevant=is_relevant_row(self.inputs).fill_null(value=False),
            listed_judged=relevance.is_not_null(),
            listed_graded=(relevance.cast(pl.Float64) >= 0).fill_null(value=False),
        )
        if self.known.once:
            return items
        rank, flags = pl.col("listed_rank"), ["listed_relevant", "listed_judged", "listed_graded"]
        best = best_rank(rank, pl.col("listed_relevant"))
        tied = pl.col([f"listed_{name}" for name in self._tied]).max()
        values = [best, pl.col(flags).any(), tied]
        items = alike_as_one(items, keys, self.schema, values, few=self.inputs.known.few)
        return items if cut == k else items.filter(rank <= k)

    def _with_relevance(self, k: int | None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank, up to k, with the highest relevance of their pairs."""
        if self.known.listed is not None:
            return self.known.listed.filter(self.up_to(k))
        rows, pair = self._ranked_lists(k), [*self.of_rows, *PAIR]
        if self.truth is None:
            return rows
        rows = self._in_parts(rows).select(*distinct_names(*pair, *self.model), "rank", *self._tied)
        best = self.truth.group_by(pair).agg(pl.col("relevance").max())
        return rows.join(best, on=pair, how="left", nulls_equal=bool(self.of_rows))

    def ranked(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank, up to k, whether or not their users are in the universe."""
        rows = self.in_segments(self._in_parts(self._ranked_lists(k)))
        return rows.select(*distinct_names(*self.rows, *self.model, *PAIR), self._rank)

    def cut(self, k: int | None) -> pl.LazyFrame:
        """Return the rows of the lists of the universe's users with a rank up to k, one for each item: keys, item, rank."""
        if self.known.first is not None:
            return self.known.first
        rows = self.counted(self.ranked(k), {"truth", "both"})
        return at_best_rank(rows, self.list_keys)

    def _ranked_lists(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank, up to k."""
        rows = self.lists
        if self.scores is not None:
            rows = self.scores.ranked(k, lambda: self.pairs)
        return rows.filter(self.up_to(k))

    @property
    def _parted(self) -> bool:
        """Whether list rows already carry the parts that only the truth has as columns."""
        return len(self.shared) > len(self.inputs.inside("rows"))

    def _in_parts(self, lists: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of the lists, which stay whole where the truth alone has a column, once for each part of the truth."""
        if self.truth is None or self._parted or not self.inputs.inside("truth"):
            return lists
        return _in_parts_of(self.truth, lists, self.of_rows)

    def up_to(self, k: int | None) -> pl.Expr:
        """Return whether a row of the lists has a rank up to k."""
        return self._ranked if k is None else self._ranked & (pl.col("rank") <= k)

    @cached_property
    def _tied(self) -> list[str]:
        return ["tied"] * (self.sharing == "expected")

    @cached_property
    def _rank(self) -> pl.Expr:
        return pl.col("rank") if self.scores else as_number("rank", self._rank_dtype)

    @cached_property
    def _ranked(self) -> pl.Expr:
        return is_rank(pl.col("rank"), self._rank_dtype)

    @cached_property
    def _rank_dtype(self) -> pl.DataType:
        return pl.Int64() if self.scores else self.schema["rank"]

    @cached_property
    def whole_ranks(self) -> bool:
        """Whether the ranks of the hits are whole numbers."""
        return self._rank_dtype in SMALL_INTEGERS

    @cached_property
    def schema(self) -> pl.Schema:
        """The columns of the lists and their dtypes."""
        return self.lists.collect_schema()

    # The judged frame

    def frame(self) -> pl.LazyFrame:
        """Return the judged frame, without segments: keys, item, rank and relevance."""
        keys, rank, relevance = [*self.model, *PAIR], pl.col("rank"), pl.col("relevance")
        if self.truth is None:
            best = best_rank(pl.when(self._ranked).then(rank), is_relevant_row(self.inputs))
            pairs = at_best_rank(self.lists, keys, relevance.max(), best=best)
            return self.counted(pairs, {"truth", "recs", "both"})
        lists = self.counted(self._ranked_lists(), {"truth", "both"}).group_by(keys).agg(rank.min())
        truth = self.counted(self.truth, {"recs", "both"})
        truth = self.for_each_model(truth.group_by(PAIR).agg(relevance.max()))
        return lists.join(truth, on=keys, how="full", coalesce=True, nulls_equal=True)
