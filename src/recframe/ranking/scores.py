"""Ranks from scores: highest first, each item at its best score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.options import Ties
from recframe.frames.rows.positions import by_item, with_places
from recframe.frames.rows.profiling import are_distinct, marked_sorted
from recframe.ranking.top_k import SCORE, Reach, within_reach

# As they were given, other ids have an order of their own.
_TEXT = (pl.Binary, pl.String, pl.Duration, pl.Struct, pl.List, pl.Array)


@dataclass(frozen=True)
class Scored:
    """Lists ranked by score, with precomputed properties of their rows.

    NOTE: no more than the first k of a list are sorted. They are all that a metric cut at k asks for, and counting the
    better scores of each row costs a fifth of sorting all of them, let alone of grouping all of them by their items.
    """

    rows: pl.LazyFrame
    """Keys, item, score and kept columns: `row`, and `gain` where rows have their own."""
    keys: tuple[str, ...]
    """Keys of a list."""
    ties: Ties
    by_score: bool = False
    """Whether rows are known to be sorted by list and descending score."""
    cut_clear: bool = False
    """Whether tied scores at and behind a list's `depth` are known to be in tie order."""
    best: pl.LazyFrame | None = None
    """Candidate rows for the top `depth`, items unique, if precomputed."""
    depth: int | None = None
    standing: bool = False
    """Whether the rows of `best` are sorted by rank, with ties in order."""
    gained: bool = False
    """Whether the rows of `best` have their pairs' final gains."""

    def ranked(self, k: int | None, gains: Callable[[], pl.LazyFrame]) -> pl.LazyFrame:
        """Return each item of the lists once, with its rank; with k at least those whose rank is up to k.

        Under ties="expected" tied items share the first rank of theirs, and `tied` is their number; under "last" they share
        the last one. `gains` has each relevant pair of a user and an item once, with its gain.
        """
        rows = self._at_hand(k)
        if rows is None:
            rows = self._each_item_once(self.rows) if k is None else self._first_items(k)
        elif self.standing:
            return self._placed(rows)
        if self.ties in {"expected", "last"}:
            return self._sharing(rows)
        if self.ties in {"pessimistic", "optimistic"} and not self.gains_at_hand(k):
            pair = [*(key for key in self.keys if key != "model"), "item"]
            rows = rows.drop("gain", strict=False)
            rows = rows.join(gains(), on=pair, how="left", nulls_equal=True)
        order = [(pl.col(key), False) for key in self.keys] + [
            (SCORE, True),
            *order_of_ties(self.ties, self.rows.collect_schema()),
        ]
        # asked of all keys, it costs three times the sort in memory
        nulls_last = [key is SCORE for key, _ in order]
        rows = rows.sort(
            [key for key, _ in order],
            descending=[turned for _, turned in order],
            nulls_last=nulls_last,
        )
        return self._placed(rows)

    def _may_be_first(self, k: int) -> pl.Expr:
        """Return whether fewer than k scores of its list are better than a row's; rows without a score may come after few."""
        if not self.by_score:
            return (SCORE.rank("min", descending=True).over(self.keys) <= k) | SCORE.is_null()
        user = pl.col("user")
        inside = user.ne_missing(user.shift(k))
        last = pl.when((user == user.shift(k - 1)) & inside).then(SCORE).forward_fill()
        return inside if self.cut_clear else inside | (last == SCORE)

    def gains_at_hand(self, k: int | None) -> bool:
        """Return whether the items ranked up to k have the gains that count for their pairs."""
        return self.gained and self.depth == k

    def _at_hand(self, k: int | None) -> pl.LazyFrame | None:
        return self.best if self.depth == k else None

    def _first_items(self, k: int) -> pl.LazyFrame:
        """Return the first rows, and all rows of the lists in which one of them repeats an item, each item once.

        NOTE: a repeated item takes a place from one behind the first rows; seldom, so that few lists are read whole.
        """
        found = self._each_item_once(self.rows.filter(self._may_be_first(k)), counted=True).cache()
        repeating = found.filter(pl.col("times") > 1).select(self.keys).unique()
        whole = self.rows.join(repeating, on=self.keys, how="semi", nulls_equal=True)
        others = found.drop("times").join(repeating, on=self.keys, how="anti", nulls_equal=True)
        return pl.concat([others, self._each_item_once(whole)])

    def _each_item_once(self, rows: pl.LazyFrame, *, counted: bool = False) -> pl.LazyFrame:
        """Return each list item at its best score, and if requested its number of rows in `times`.

        The rows are some of the lists', and have their columns.
        """
        pair, times = [*self.keys, "item"], pl.len()
        others = [name for name in self.rows.collect_schema() if name not in {*pair, "score"}]
        kept = [pl.col(name).min() if name == "row" else pl.col(name).first() for name in others]
        if "row" in others:  # an item's place is that of its best row
            if counted:
                rows, times = rows.with_columns(times=pl.len().over(pair)), pl.col("times").first()
            rows = rows.filter(SCORE.eq_missing(SCORE.max().over(pair)))
        return rows.group_by(pair).agg(
            SCORE.max(), *kept, *([times.alias("times")] if counted else [])
        )

    def _placed(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows, sorted by rank, with their ranks."""
        rows = with_places(rows, self.keys).rename({"place": "rank"})
        tied = [pl.lit(1, dtype=pl.Int64).alias("tied")] * (self.ties == "expected")
        return rows.drop("score", "start").with_columns(tied)

    def _sharing(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the ranks that tied ones share, and where these are the first ones of ties, the number of those."""
        better = SCORE.rank("min", descending=True).over(self.keys).cast(pl.Int64)
        rank = better.fill_null(SCORE.count().over(self.keys).cast(pl.Int64) + 1)
        rows = rows.with_columns(
            rank=rank, tied=pl.len().over(*self.keys, "score").cast(pl.Int64)
        ).drop("score")
        return (
            rows
            if self.ties == "expected"
            else rows.with_columns(pl.col("rank") + pl.col("tied") - 1).drop("tied")
        )

    def settled(self, ask: Ask, k: int | None, *, distinct: bool) -> Scored:
        """Return the lists with precomputed properties for ranks up to k (large eager frames).

        `distinct` says that no relevant pair of a user and an item stands twice.
        """
        found, gained = self, distinct and "gain" in self.rows.collect_schema()
        if self.keys == ("user",):
            found = replace(self, **ask([self._question(k)])[0].row(0, named=True))
            if found.by_score and not found.cut_clear:
                (stands,) = ask([self._standing(self.rows)])
                found = replace(found, cut_clear=stands.item())
        reach = found._reach(k, ask)  # noqa: SLF001  it is of this class
        # With the gains, the relevant rows too: a first row that is not relevant may repeat an item that another says is.
        kept = pl.col("first") | pl.col("gain").is_not_null() if gained else pl.col("first")
        rows = self.rows.with_columns(first=reach.first).filter(kept)
        best = marked_sorted(ask([rows])[0], "user")
        ranked = best.filter(pl.col("first")).drop("first")
        questions = [are_distinct(best, list(self.keys)), self._standing(ranked.lazy())]
        once, standing = (answer.item() for answer in ask(questions))
        if not once:
            return found
        if not standing and reach.place is not None:
            # one number sorts in less than half the time of three columns
            ranked = marked_sorted(ranked.sort(reach.place), "user")
            standing = ask([self._standing(ranked.lazy())])[0].item()
        return replace(found, best=ranked.lazy(), depth=k, gained=gained, standing=standing)

    def _reach(self, k: int | None, ask: Ask) -> Reach:
        """Return the candidate rows for the top k."""
        if k is None:
            return Reach(pl.lit(value=True))
        tie = self._tie()
        near = self.by_score and (self.cut_clear or tie is None)
        found = None if near or self.keys != ("user",) else within_reach(self.rows, tie, k, ask)
        return found or Reach(self._may_be_first(k))

    def _question(self, k: int | None) -> pl.LazyFrame:
        """Return whether rows are sorted by user and score, and whether a tie spans the cut."""
        if not self._compares_users:
            return pl.LazyFrame({"by_score": [False], "cut_clear": [False]})
        user = pl.col("user")
        by_score = (user > user.shift()) | ((user == user.shift()) & (SCORE.shift() >= SCORE))
        asked = {
            "by_score": by_score.all() & SCORE.is_not_null().all(),
            "cut_clear": pl.lit(value=True),
        }
        if k is not None:
            crossing = (
                (user == user.shift(k))
                & user.ne_missing(user.shift(k + 1))
                & (SCORE.shift() == SCORE)
            )
            asked["cut_clear"] = ~crossing.any()
        return self.rows.select(**asked)

    def _standing(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return whether some rows are sorted by rank; False if unsure."""
        tie = self._tie()
        if tie is None or self.keys != ("user",) or not self._compares_users:
            return pl.LazyFrame({"standing": [False]})
        user, (last, turned) = pl.col("user"), tie
        follows = last < last.shift() if turned else last > last.shift()
        worse = (SCORE.shift() > SCORE) | (SCORE.is_null() & SCORE.shift().is_not_null())
        behind = worse.fill_null(value=False) | (SCORE.eq_missing(SCORE.shift()) & follows)
        stands = (user > user.shift()) | ((user == user.shift()) & behind)
        return rows.select(standing=stands.all())

    def _tie(self) -> tuple[pl.Expr, bool] | None:
        """Return the sort key of ties and whether it is descending; None if it is composite or not comparable."""
        if self.ties in {"expected", "last", "pessimistic", "optimistic"}:
            return None
        ((key, turned),) = order_of_ties(self.ties, self.rows.collect_schema())
        dtype = self.rows.select(key.alias("key")).collect_schema()["key"]
        return (key, turned) if dtype.is_integer() or dtype == pl.String else None

    @property
    def _compares_users(self) -> bool:
        """Whether ids of users compare in their sort order."""
        dtype = self.rows.collect_schema()["user"]
        return dtype.is_integer() or dtype == pl.String


def order_of_ties(ties: Ties, schema: Mapping[str, pl.DataType]) -> list[tuple[pl.Expr, bool]]:
    """Return the sort keys of ties and whether each is descending; `gain` is null for non-relevant rows."""
    (item,), gain = by_item(schema), pl.col("gain").fill_null(-1)
    text = item if schema["item"] in _TEXT else item.cast(pl.String)
    return {
        "item": [(item, False)],
        "item_reverse": [(item, True)],
        "item_text": [(text, False)],
        "item_text_reverse": [(text, True)],
        "item_desc": [(text, True)],
        "order": [(pl.col("row"), False)],
        "pessimistic": [(gain, False), (item, False)],
        "optimistic": [(gain, True), (item, False)],
    }[ties]


def scored(lists: pl.LazyFrame, keys: Sequence[str], others: Sequence[str], ties: Ties) -> Scored:
    """Return the lists with comparable scores; `others` are kept columns."""
    row = ["row"] * (ties == "order")
    score = _comparable(lists.collect_schema()["score"], ties)
    return Scored(lists.select(*keys, "item", *others, *row, score=score), tuple(keys), ties)


def _comparable(dtype: pl.DataType, ties: Ties) -> pl.Expr:
    """Return the score without NaN; whole numbers and decimals as they are, since Float64 would make some of them equal."""
    if ties == "item_desc":
        return SCORE.cast(pl.Float32).fill_nan(None)
    return (
        SCORE if dtype.is_integer() or dtype.is_decimal() else SCORE.cast(pl.Float64).fill_nan(None)
    )


def in_order_given(lists: pl.LazyFrame, ties: Ties) -> pl.LazyFrame:
    """Return the lists with the numbers of their rows, where these put tied ones in order."""
    return lists.with_row_index("row") if ties == "order" else lists
