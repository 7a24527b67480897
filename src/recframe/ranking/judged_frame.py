"""The judged frame: relevant rows, hits, listed rows and users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import filterfalse

import polars as pl

from recframe.frames.inputs import Frames, check_is_one_fold
from recframe.frames.rows.integer_keys import SMALL_INTEGERS, joined_as_numbers
from recframe.frames.rows.joins import alike_as_one, at_best_rank, distinct_names, joined
from recframe.ranking.scores import Scored, scored

PAIR = ["user", "item"]
MODEL, RANK, RELEVANCE, GAIN = (pl.col(name) for name in ("model", "rank", "relevance", "gain"))
TIED = pl.col("^tied$")
"""The number of tied items of a row's rank, where these share the first rank of theirs; else no column."""


# Rows that are relevant, ranked, or of a model


def is_relevant_row(inputs: Frames) -> pl.Expr:
    """Return whether a row of the frame that has the relevance is relevant; null never is.

    It is above 0, from `min_relevance` up, or any: a plain condition on numbers, that a scan can evaluate.
    """
    dtype, least = inputs.relevance_dtype, inputs.context.min_relevance
    if least == "any":
        return RELEVANCE.is_not_null()
    # A threshold is compared in the column's own precision: 0.7 as Float32 is at least 0.7.
    is_plain = dtype.is_float() or dtype.is_integer()
    value = RELEVANCE if is_plain else RELEVANCE.cast(pl.Float64)
    return value > 0 if least is None else value >= least


def is_rank(rank: pl.Expr, dtype: pl.DataType | None = None) -> pl.Expr:
    """Return whether a rank puts its item into the list; null, NaN and infinite ranks do not."""
    if dtype is not None and dtype.is_integer():
        return rank.is_not_null()
    return rank.is_not_null() & rank.cast(pl.Float64).is_finite()


def as_number(name: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as Int64 where that holds all its values, else as Float64."""
    wide = pl.Int64 if dtype in SMALL_INTEGERS else pl.Float64
    return pl.col(name) if dtype == wide else pl.col(name).cast(wide)


def lacks_model(inputs: Frames) -> pl.Expr:
    """Return whether a ranked list row has no model; each row with a score is ranked."""
    unnamed = MODEL.is_null()
    return unnamed if inputs.scored else unnamed & is_rank(RANK, inputs.schema["rank"])


def rows_of_models(inputs: Frames) -> pl.LazyFrame:
    """Return the model of each row that names one; a judged row may name none, and is then one of all models."""
    if inputs.models is not None:
        return inputs.models
    named = MODEL.is_not_null()
    if inputs.all_users is not None:
        return named_models(inputs).filter(named)
    return inputs.identified("recommendations", where=named).select("model")


def named_models(inputs: Frames) -> pl.LazyFrame:
    """Return the models of all users, of whom a plan has some; null where a ranked row names none."""
    wanted = MODEL.is_not_null() | lacks_model(inputs)
    models = inputs.identified("recommendations", where=wanted).select("model")
    of_lists = ("models", inputs.schema["model"], inputs.context.without)
    return inputs.added(of_lists, models.unique, ["model"])


# The judged frame


@dataclass(frozen=True)
class Known:
    """Facts of the rows of large eager frames; none changes a number."""

    pairs: pl.LazyFrame | None = None
    """Relevant rows, each item of a list once; of a truth each pair of a user and an item."""
    packs: bool = False
    """Whether both ids of a relevant pair fit into one 64-bit integer."""
    in_order: bool = False
    """Whether hits are sorted by list and rank, each item of a list once, with ranks at least 1 apart."""
    names: pl.LazyFrame | None = None
    """Users and segments by number, where a number stands for both in the relevant rows and the hits."""
    hits: pl.LazyFrame | None = None
    """Hits up to the largest k of lists and truth, where a number stands for users and segments."""
    users: pl.LazyFrame | None = None
    """Distinct users, where segments do not cut rows."""
    n_users: pl.LazyFrame | None = None
    """Numbers of users by segment, if all segments are columns of rows, or all are columns of items."""
    listed: pl.LazyFrame | None = None
    """Rows of the lists up to the largest k, each item once, with the highest relevance; all judged ones of a judged frame."""
    first: pl.LazyFrame | None = None
    """Top-k rows of the universe's users, items unique per list."""
    scores: Scored | None = None
    """Lists ranked by score, with their first rows."""
    items: pl.LazyFrame | None = None
    """Distinct items of all frames."""


def judge(inputs: Frames, models: pl.LazyFrame | None = None) -> Judged:
    """Join the recommendations with the truth; `models` are those that one part of the users may lack."""
    check_is_one_fold(inputs)
    lists = inputs.identified("recommendations")
    if inputs.truth is None and not (inputs.model or inputs.scored):
        return Judged(inputs, lists)
    of_both = inputs.inside("rows")
    truth = inputs.identified("truth")
    # all models share one truth: what the frame says of any of them
    if inputs.truth is None:
        truth = truth.select(*of_both, *PAIR, "relevance")
    truth = truth.filter(RELEVANCE.is_not_null())
    if inputs.inside("truth"):
        # lists stay whole where the truth alone has a column: there is one for each part of the truth
        parts = truth.select(*inputs.row_keys, "user").unique()
        on = [*of_both, "user"]
        lists = lists.join(parts, on=on, nulls_equal=True, maintain_order="left")
    if inputs.model and models is None:
        models = rows_of_models(inputs).unique()
    keys = [*inputs.row_keys, *inputs.model, "user"]
    scores = scored(lists, keys, inputs.context.ties) if inputs.scored else None
    return Judged(inputs, lists, truth, models, scores)


@dataclass(eq=False)
class Judged:
    """Judged data: hits, relevant, non-relevant and listed rows, and users.

    One frame (a judged frame) is the source of all of them. With two, each branch comes from the frame that has it: the
    hits from an inner join, the relevant rows from the truth alone.
    """

    inputs: Frames
    lists: pl.LazyFrame
    truth: pl.LazyFrame | None = None
    models: pl.LazyFrame | None = None
    given_scores: Scored | None = None
    """Lists ranked by score, if ranks come from scores."""
    known: Known = field(default_factory=Known)

    def __post_init__(self) -> None:
        """Set the options, the keys and the conditions that the rows are made with."""
        inputs, known = self.inputs, self.known
        self.context, self.sharing, self.schema = inputs.context, inputs.sharing, inputs.schema
        self.scores = known.scores or self.given_scores
        # "rows" is every user of a judged frame
        is_judged = inputs.truth is None
        self.universe = self.context.universe or ("rows" if is_judged else "truth")
        # segments that are columns of lists or truth, and those with properties of items, or the item itself
        self.model, self.of_rows = inputs.model, inputs.row_keys
        self.rows = [*self.of_rows, *inputs.item_keys]
        self.pair_keys = [*self.of_rows, *PAIR]
        self.user_keys = [*self.rows, "user"]
        numbered = known.names is not None
        self.list_keys = [*self.model, "number"] if numbered else [*self.rows, *self.model, "user"]
        self.key_dtype: pl.DataType = pl.Int64() if numbered else self.schema["user"]
        dtype = pl.Int64() if self.scores else self.schema["rank"]
        self.whole_ranks = dtype in SMALL_INTEGERS
        self._ranked = is_rank(RANK, dtype)
        number = as_number("rank", dtype)
        self._rank = number if dtype.is_integer() else pl.when(self._ranked).then(number)

    def named(self, lists: pl.LazyFrame) -> pl.LazyFrame:
        """Return lists with the users and segments that a number stands for."""
        names = self.known.names
        return lists if names is None else lists.join(names, on="number", how="left")

    def for_each_model(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of the truth once for each model; as they are where there are none, or where the rows have theirs."""
        return rows if self.models is None else rows.join(self.models, how="cross")

    def up_to(self, k: int | None) -> pl.Expr:
        """Return whether a row of the lists has a rank up to k."""
        return self._ranked if k is None else self._ranked & RANK.le(k)

    # Which users count

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The users of the universe in each segment, with repetitions."""
        if self.known.users is not None:
            return self.known.users
        everyone = [*map(self._users_of, self.sources_of_users())]
        if self.universe == "both":
            judged, ranked = everyone
            return judged.join(ranked.unique(), on=self.user_keys, how="semi", nulls_equal=True)
        if self.universe == "all" and self.inputs.users is not None:
            everyone.append(self._described(self.inputs.users.select("user").drop_nulls()))
        return pl.concat(everyone)

    def sources_of_users(self) -> list[pl.LazyFrame]:
        """Return the rows of lists and truth that have users of the universe."""
        if self.universe == "truth":
            return [self._judged_rows]
        if self.universe == "recs":
            return [self._ranked_rows]
        if self.inputs.truth is None and self.universe != "both":
            return [self.lists]
        return [self._judged_rows, self._ranked_rows]

    @property
    def judged_users(self) -> pl.LazyFrame:
        """The users with a judged row, in each segment that has one, with repetitions."""
        return self._users_of(self._judged_rows)

    @property
    def _judged_rows(self) -> pl.LazyFrame:
        """The rows with a relevance."""
        if self.truth is not None:
            return self.truth
        return self.lists.filter(RELEVANCE.is_not_null())

    @property
    def _ranked_rows(self) -> pl.LazyFrame:
        """The rows of the lists with a rank."""
        if self.scores:
            return self.lists
        if self.truth is None or self.inputs.inside("truth"):
            return self.lists.filter(self._ranked)
        # a plan of two frames reads them by a scan of their own
        return self.inputs.identified("recommendations", where=self._ranked)

    def _users_of(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the keys of the users of rows, with repetitions."""
        return self.inputs.attach(rows, "items").select(self.user_keys)

    def _described(self, users: pl.LazyFrame) -> pl.LazyFrame:
        """Return the keys of users in each part that a row of lists or truth is in, of any user."""
        if not self.rows:
            return users
        rows = [self._users_of(one) for one in (self.lists, self.truth) if one is not None]
        parts = self.inputs.of_all(pl.concat(rows).select(self.rows).unique())
        return users.join(parts, how="cross").select(self.user_keys)

    def members(self) -> pl.LazyFrame:
        """Return the distinct users of the universe, in each segment of rows where they count."""
        return self.users.unique() if self.known.users is None else self.users

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
            return self._keyed(self.pairs).filter(self.up_to(k))
        rows, pairs = self.rows_to_meet(k), self.pairs
        if self.known.packs:
            hits = joined_as_numbers(rows, pairs, PAIR, "inner")
        else:
            hits = rows.join(pairs, on=self.pair_keys, nulls_equal=bool(self.of_rows))
        highest = [GAIN.max(), TIED.max()]
        return at_best_rank(self._keyed(hits), self.list_keys, *highest)

    def rows_to_meet(self, k: int | None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank up to k: keys without segments of items, item, rank."""
        rows = self._ranked_lists(k)
        return rows.select(*self.model, *self.pair_keys, self._rank, TIED)

    def relevant_rows(self) -> pl.LazyFrame:
        """Return the relevant rows of the frame that has the relevance: keys, item, rank in a judged frame, gain."""
        is_judged, rows = self.truth is None, self.lists if self.truth is None else self.truth
        gain = as_number("relevance", self.inputs.relevance_dtype)
        if self.context.min_relevance == "any":  # a negative relevance has no gain
            gain = gain.clip(lower_bound=0)
        rows = rows.filter(is_relevant_row(self.inputs))
        return rows.select(*self.pair_keys, *[self._rank] * is_judged, gain=gain)

    @cached_property
    def pairs(self) -> pl.LazyFrame:
        """The relevant rows, each item once for each user: keys without segments of items, item, rank, gain."""
        return self._pairs if self.known.pairs is None else self.known.pairs

    @property
    def _pairs(self) -> pl.LazyFrame:
        values = [*[RANK.min()] * (self.truth is None), GAIN.max()]
        return self._as_one(self.relevant_rows(), self.pair_keys, values)

    def _as_one(
        self, rows: pl.LazyFrame, keys: Sequence[str], values: Sequence[pl.Expr]
    ) -> pl.LazyFrame:
        """Return distinct keys of rows, with some values of these."""
        return alike_as_one(rows, keys, self.schema, values, few=self.inputs.known.few)

    def _keyed(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows of items with the segments of these, if no number stands for them."""
        has_number = self.known.names is not None
        return rows if has_number or not self.inputs.segments else self.inputs.attach(rows, "items")

    def relevant(self, *also: str) -> pl.LazyFrame:
        """Return the relevant rows, one per item: keys, gain, and the item if requested."""
        columns = [*distinct_names(*self.list_keys, *also), "gain"]
        if self.context.relevant_from == "list":
            return self.hits().select(columns)
        of_all = filterfalse(self.model.__contains__, columns)
        rows = self.counted(self._keyed(self.pairs).select(of_all), {"recs", "both"})
        return self.for_each_model(rows)

    def misses(self) -> pl.LazyFrame:
        """Return the rows judged not relevant, one for each item: keys."""
        if self.context.relevant_from == "list":
            missed = self.listed().filter("listed_judged", ~pl.col("listed_relevant"))
            return missed.select(self.list_keys)
        rows = self._judged_rows.select(*self.pair_keys, RELEVANCE)
        rows = self._as_one(rows, self.pair_keys, [RELEVANCE.max()])
        rows = self._keyed(rows.filter(~is_relevant_row(self.inputs)))
        rows = self.counted(rows, {"recs", "both"})
        return self.for_each_model(rows).select(self.list_keys)

    def relevant_pairs(self, segments: Sequence[str]) -> pl.LazyFrame:
        """Return each relevant pair of a user and an item once, with its gain, whoever recommended it; in some segments."""
        rows = self.inputs.attach(self._pairs, "items")
        return rows.select(*distinct_names(*segments, *PAIR), "gain")

    def relevant_items(self) -> pl.LazyFrame:
        """Return the relevant items of each list, listed or not: keys, item; of users outside the universe too."""
        on = distinct_names(*self.rows, *PAIR)
        rows = self.relevant_pairs(self.rows).select(on)
        if self.context.relevant_from == "truth":
            return self.for_each_model(rows)
        return self.ranked().join(rows, on=on, how="semi", nulls_equal=True)

    # Rows of the lists

    def listed(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists, one for each item: keys, item, rank, and what its relevance says.

        The columns are listed_rank, listed_relevant, listed_judged, and listed_graded of a relevance that is not below 0. With
        k those alone whose rank is up to k.
        """
        rows = self.known.listed
        if rows is None:
            keys = [*self.model, *self.pair_keys]
            rows = self._as_one(self.rows_with_relevance(k), keys, self.values_of_repeated())
        rows = self.counted(self._keyed(rows.filter(self.up_to(k))), {"truth", "both"})
        return rows.select(
            *distinct_names(*self.list_keys, "item"),
            TIED.name.prefix("listed_"),
            listed_rank=RANK.cast(pl.Float64),
            listed_relevant=is_relevant_row(self.inputs).fill_null(value=False),
            listed_judged=RELEVANCE.is_not_null(),
            listed_graded=(RELEVANCE.cast(pl.Float64) >= 0).fill_null(value=False),
        )

    def values_of_repeated(self) -> list[pl.Expr]:
        """Return the highest relevance of the rows of one item, and its best rank: of its relevant rows if these have one."""
        best = RANK.filter(is_relevant_row(self.inputs)).min()
        best = best.fill_null(RANK.min())
        return [best, RELEVANCE.max(), TIED.max()]

    def rows_with_relevance(self, k: int | None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank up to k: keys, item, rank, relevance.

        Of a judged frame they are all judged rows with a rank: an item that is repeated may have its best rank behind k.
        """
        if self.truth is None:
            rows = self.lists.filter(self._ranked, self.up_to(k) | RELEVANCE.is_not_null())
            return rows.select(*self.pair_keys, self._rank, RELEVANCE)
        best = self.truth.group_by(self.pair_keys).agg(RELEVANCE.max())
        on, of_rows = self.pair_keys, bool(self.of_rows)
        return self.rows_to_meet(k).join(best, on=on, how="left", nulls_equal=of_rows)

    def ranked(self, k: int | None = None) -> pl.LazyFrame:
        """Return the rows of the lists with a rank, up to k, whether or not their users are in the universe."""
        rows = self.inputs.attach(self._ranked_lists(k), "items")
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

    def frame(self) -> pl.LazyFrame:
        """Return the judged frame, without segments: keys, item, rank and relevance."""
        keys = [*self.model, *PAIR]
        if self.truth is None:
            rows = self.lists.with_columns(rank=pl.when(self._ranked).then(RANK))
            pairs = rows.group_by(keys).agg(self.values_of_repeated())
            return self.counted(pairs, {"truth", "recs", "both"})
        lists = self.counted(self._ranked_lists(), {"truth", "both"}).group_by(keys).agg(RANK.min())
        truth = self.counted(self.truth, {"recs", "both"})
        truth = self.for_each_model(truth.group_by(PAIR).agg(RELEVANCE.max()))
        return joined(lists, truth, keys, "full")
