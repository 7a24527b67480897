"""Ranks from scores: highest first, each item at its best score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from recframe.frames.kinds.kind import Ask
from recframe.frames.options import Ties
from recframe.frames.rows.joins import are_in_steps, by_item, with_places
from recframe.frames.rows.profiling import are_distinct, marked_sorted

SCORE, USER = pl.col("score"), pl.col("user")
SHARING, BY_GAIN = {"expected", "last"}, {"pessimistic", "optimistic"}
"""Ties under which tied items share a rank, and ties that the truth puts in order."""
# As they were given, other ids have an order of their own.
_TEXT = (pl.Binary, pl.String, pl.Duration, pl.Struct)


@dataclass(frozen=True)
class Scored:
    """Lists ranked by score.

    NOTE: no more than the first k of a list are sorted. They are all that a metric cut at k asks for, and counting the
    better scores of each row costs a fifth of sorting all of them, let alone of grouping all of them by their items.
    """

    rows: pl.LazyFrame
    """Keys, item, score, and `row` where places put tied items in order."""
    keys: tuple[str, ...]
    """Keys of a list."""
    ties: Ties
    first: pl.LazyFrame | None = None
    """Rows that may be among the first `depth` of their lists, each item once, if known."""
    depth: int | None = None
    falls: bool = False
    """Whether the rows of `first` are sorted by user, and their scores fall."""

    def ranked(self, k: int | None, gains: Callable[[], pl.LazyFrame]) -> pl.LazyFrame:
        """Return each item of the lists once, with its rank; with k at least those whose rank is up to k.

        Under ties="expected" tied items share the first rank of theirs, and `tied` is their number; under "last" they share
        the last one. `gains` has each relevant pair of a user and an item once, with its gain.
        """
        if self.first is not None and self.depth == k:
            rows = self.first
        elif k is None:
            rows = self._each_item_once(self.rows)
        else:
            rows = self._first_items(k)
        if self.ties in SHARING:
            return self._sharing(rows)
        if not (self.falls and self.depth == k):
            rows = self._sorted(rows, gains)
        return with_places(rows, self.keys).rename({"place": "rank"}).drop("score", "start")

    def _sorted(self, rows: pl.LazyFrame, gains: Callable[[], pl.LazyFrame]) -> pl.LazyFrame:
        """Return rows list by list, the highest score first, tied items in their order."""
        if self.ties in BY_GAIN:
            pair = [*(key for key in self.keys if key != "model"), "item"]
            rows = rows.join(gains(), on=pair, how="left", nulls_equal=True)
        ties, turned = order_of_ties(self.ties, self.rows.collect_schema())
        ascending = [False] * len(self.keys)
        return rows.sort(
            *self.keys,
            SCORE,
            *ties,
            descending=[*ascending, True, *turned],
            # of all keys, it costs three times the sort in memory
            nulls_last=[*ascending, True, *[False] * len(ties)],
        )

    def _first_items(self, k: int) -> pl.LazyFrame:
        """Return the first rows, and all rows of the lists in which one of them repeats an item, each item once.

        NOTE: a repeated item takes a place from one behind the first rows; seldom, so that few lists are read whole.
        """
        first = self.rows.filter(self._has_few_better(k)).cache()
        items = first.group_by(*self.keys, "item").agg(times=pl.len())
        repeating = items.filter(pl.col("times") > 1).select(self.keys).unique()
        whole = self.rows.join(repeating, on=self.keys, how="semi", nulls_equal=True)
        others = first.join(repeating, on=self.keys, how="anti", nulls_equal=True)
        return pl.concat([others, self._each_item_once(whole)], how="diagonal")

    def _has_few_better(self, k: int) -> pl.Expr:
        """Return whether fewer than k scores of its list are better than a row's; rows without a score may come after few."""
        return (SCORE.rank("min", descending=True).over(self.keys) <= k) | SCORE.is_null()

    def _each_item_once(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return each item of the lists at its best score, and with the place of its best row where places decide."""
        pair = [*self.keys, "item"]
        if self.ties != "order":
            return rows.group_by(pair).agg(SCORE.max())
        best = rows.filter(SCORE.eq_missing(SCORE.max().over(pair)))
        return best.group_by(pair).agg(SCORE.max(), pl.col("row").min())

    def _sharing(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows with the ranks that tied ones share, and where these are the first ones of ties, the number of those."""
        tied: list[pl.Expr] = []
        if self.ties == "last":
            rank = SCORE.rank("max", descending=True).fill_null(pl.len())
        else:
            rank = SCORE.rank("min", descending=True).fill_null(SCORE.count() + 1)
            tied.append(pl.len().over(*self.keys, "score").cast(pl.Int64).alias("tied"))
        rank = rank.over(self.keys).cast(pl.Int64)
        return rows.with_columns(rank.alias("rank"), *tied).drop("score")

    def with_first_rows(self, collect: Ask, k: int | None) -> Scored:
        """Return the lists with their first rows at hand, for ranks up to k (large eager frames)."""
        (rows,) = collect([self.rows])
        scores = rows["score"]
        is_less = scores[1:] < scores[:-1]
        falls = self.keys == ("user",) and are_in_steps(rows["user"], is_less)
        if k is not None:
            is_first = USER.ne_missing(USER.shift(k)) if falls else self._has_few_better(k)
            (rows,) = collect([rows.lazy().filter(is_first)])
        rows = marked_sorted(rows)
        (once,) = collect([are_distinct(rows, self.keys)])
        if not once.item():
            return self
        return replace(self, first=rows.lazy(), depth=k, falls=falls)


def order_of_ties(
    ties: Ties, schema: Mapping[str, pl.DataType]
) -> tuple[list[pl.Expr], list[bool]]:
    """Return the sort keys of ties and whether each is descending; `gain` is null for non-relevant rows."""
    (item,) = by_item(schema)
    if ties == "order":
        return [pl.col("row")], [False]
    if ties in BY_GAIN:
        return [pl.col("gain").fill_null(-1), item], [ties == "optimistic", False]
    is_text = ties.startswith("item_text") or ties == "item_desc"
    text = item if schema["item"] in _TEXT else item.cast(pl.String)
    return [text if is_text else item], [ties.endswith(("_reverse", "_desc"))]


def scored(lists: pl.LazyFrame, keys: Sequence[str], ties: Ties) -> Scored:
    """Return the lists with comparable scores: without NaN, and with the numbers of rows where these put tied ones in order.

    Whole numbers and decimals stay as they are, since Float64 would make some of them equal.
    """
    dtype, score = lists.collect_schema()["score"], SCORE
    if ties == "item_desc":
        score = SCORE.cast(pl.Float32).fill_nan(None)
    elif not (dtype.is_integer() or dtype.is_decimal()):
        score = SCORE.cast(pl.Float64).fill_nan(None)
    lists = lists.select(*keys, "item", score)
    return Scored(lists.with_row_index("row") if ties == "order" else lists, tuple(keys), ties)
