"""Ranks from scores: the higher the better, null and NaN behind all, each item of a list once, at its best score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import polars as pl

from recframe.order import one_number, with_places

SCORE = pl.col("score")


@dataclass(frozen=True)
class Scored:
    """Lists whose ranks come from their scores, and what is known of their rows.

    NOTE: no more than the first k of a list are sorted. They are all that a metric cut at k asks for, and counting the
    better scores of each row costs a fifth of sorting all of them, let alone of grouping all of them by their items.
    """

    rows: pl.LazyFrame
    """The lists' keys, item, score and segments."""
    keys: tuple[str, ...]
    """What tells one list from another."""
    standing: bool = False
    """Whether the rows are known to stand list by list, in the order of their ranks."""
    best: pl.LazyFrame | None = None
    """The rows that `first` returns for `depth`, where they are at hand, and no item is among them twice."""
    depth: int | None = None

    def ranked(self, k: int | None = None) -> pl.LazyFrame:
        """Return each item of the lists once, with its rank; with k at least those whose rank is up to k."""
        rows = self.at_hand(k)
        if rows is None:
            rows = self._each_item_once(self.rows) if k is None else self._first_items(k)
        if not self.standing or self.at_hand(k) is None:
            order = {**dict.fromkeys(self.keys, False), "score": True, "item": False}
            rows = rows.sort(*order, descending=list(order.values()), nulls_last=True)
        return with_places(rows, self.keys).drop("score", "start").rename({"place": "rank"})

    def at_hand(self, k: int | None) -> pl.LazyFrame | None:
        """Return the first rows, where they are at hand and no item is among them twice."""
        return self.best if self.depth == k else None

    def first(self, k: int | None) -> pl.LazyFrame:
        """Return the rows with fewer than k better scores in their list, and those without a score."""
        if k is None:
            return self.rows
        if self.standing:
            return self.rows.filter(pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift(k)) for key in self.keys))
        return self.rows.filter((SCORE.rank("min", descending=True).over(self.keys) <= k) | SCORE.is_null())

    def _first_items(self, k: int) -> pl.LazyFrame:
        """Return the first rows, and all rows of the lists in which one of them repeats an item, each item once.

        NOTE: a repeated item takes a place from one behind the first rows; seldom, so that few lists are read whole.
        """
        found = self._each_item_once(self.first(k), times=pl.len()).cache()
        repeating = found.filter(pl.col("times") > 1).select(self.keys).unique()
        whole = self.rows.join(repeating, on=self.keys, how="semi", nulls_equal=True)
        others = found.drop("times").join(repeating, on=self.keys, how="anti", nulls_equal=True)
        return pl.concat([others, self._each_item_once(whole)])

    def _each_item_once(self, rows: pl.LazyFrame, **counted: pl.Expr) -> pl.LazyFrame:
        others = [name for name in rows.collect_schema() if name not in {*self.keys, "item", "score"}]
        return rows.group_by(*self.keys, "item").agg(SCORE.max(), *(pl.col(name).first() for name in others), **counted)

    def settled(self, run: Callable[[pl.LazyFrame], pl.DataFrame], k: int | None) -> Scored:
        """Return the same for a large eager frame, asked once what the ranks up to k can rely on."""
        found = self
        if self.keys == ("user",) and run(self._question()).item():
            found = replace(self, standing=True)
        best = run(found.first(k))
        pair = one_number([pl.col(key) for key in (*self.keys, "item")], best.schema)
        pairs = best.lazy().select(pair=pair.sort())
        distinct = run(pairs.select((pl.col("pair") != pl.col("pair").shift()).all())).item()
        return replace(found, best=best.lazy(), depth=k) if distinct else found

    def _question(self) -> pl.LazyFrame:
        """Return whether the rows stand in the order of their ranks, users ascending."""
        schema = self.rows.collect_schema()
        if not all(schema[name].is_integer() or schema[name] == pl.String for name in ("user", "item")):
            return pl.LazyFrame({"standing": [False]})
        user, item, score = pl.col("user"), pl.col("item"), pl.col("score")
        later = (score < score.shift()) | ((score == score.shift()) & (item > item.shift()))
        standing = (user > user.shift()) | ((user == user.shift()) & later)
        return self.rows.select(standing.all() & score.is_not_null().all())


def scored(lists: pl.LazyFrame, keys: list[str], others: list[str]) -> Scored:
    """Return the lists with scores to compare; `others` are the columns that stay beside them."""
    score = SCORE.cast(pl.Float64).fill_nan(None)
    return Scored(lists.select(*keys, "item", *others, score=score), tuple(keys))
