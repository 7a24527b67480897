"""Rows of one fold by part, and small tables of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from recframe.audit.split_rows import KNOWN
from recframe.frames.collecting import ask
from recframe.frames.rows.joins import joined
from recframe.frames.rows.positions import by_item
from recframe.splits.labelling import Labels
from recframe.splits.log_rows import PAIR, ROLES
from recframe.splits.rules import Part, is_in


@dataclass(frozen=True)
class FoldRows:
    """Rows of one fold of a split."""

    labels: Labels
    fold: int

    def rows(self, *parts: Part) -> pl.LazyFrame:
        """Return the rows of some parts, with the columns of the roles alone."""
        roles = [role for role in ROLES if role in self.labels.log.names]
        return self.labels.by_fold[self.fold].filter(is_in(*parts)).select(roles)

    @property
    def train(self) -> pl.LazyFrame:
        """The rows of train."""
        return self.rows("train")

    @property
    def known(self) -> pl.LazyFrame:
        """The rows that a model may read: train, and what is given of test users."""
        return self.rows(*KNOWN)

    @property
    def truth(self) -> pl.LazyFrame:
        """The rows of truth."""
        return self.rows("truth")

    def held(self, table: pl.LazyFrame) -> pl.LazyFrame:
        """Return a small table that is made once: at once of a log in memory, else when a plan runs."""
        return table.cache() if self.labels.log.is_lazy else ask([table])[0].lazy()

    def may_have_rows(self, table: pl.LazyFrame) -> bool:
        """Whether a table of `held` has rows, as far as is known before a plan runs."""
        return self.labels.log.is_lazy or len(ask([table])[0]) > 0

    def known_of_truth(self, *keys: str) -> pl.LazyFrame:
        """Return the known rows whose user, or item, is in truth.

        NOTE: of a log in memory this looks values up in a set, which takes a fifth of the time of a join.
        """
        known = self.known
        for key in keys:
            values = self.held(self.truth.select(key).unique())
            if self.labels.log.is_lazy:
                known = known.join(values, on=key, how="semi")
            else:
                known = known.filter(pl.col(key).is_in(ask([values])[0][key].implode()))
        return known

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The users of truth, ascending: each `user` and his number, `u`."""
        users = self.truth.select("user").unique().sort("user")
        return self.held(users.with_row_index("u").with_columns(pl.col("u").cast(pl.UInt32)))

    @property
    def own(self) -> pl.LazyFrame:
        """The known rows of the users of truth, with the user's number."""
        return joined(self.known, self.users, ["user"], "inner")

    @cached_property
    def histories(self) -> pl.LazyFrame:
        """The users that a model knows, with their number of known rows, `n`."""
        return self.held(counts_of(self.known))

    @cached_property
    def items(self) -> pl.LazyFrame:
        """The items of train, with their number of rows in it, `n`."""
        return self.held(self.train.group_by("item").agg(n=pl.len().cast(pl.Int64)))

    @cached_property
    def popular(self) -> pl.LazyFrame:
        """The items of train by the number of their users, most first, equal ones by item: `item` and `place`, from 0."""
        return self.held(self.in_order(counted(self.train), "n"))

    def in_lists(self, pairs: pl.LazyFrame, *order: str) -> pl.LazyFrame:
        """Return pairs by users, then by an order, the highest first, then by item."""
        items = by_item(self.labels.log.schema)
        falls = [False, *[True] * len(order), *[False] * len(items)]
        return pairs.sort([*map(pl.col, ["u", *order]), *items], descending=falls, nulls_last=True)

    def in_order(self, items: pl.LazyFrame, *order: str) -> pl.LazyFrame:
        """Return items by an order, the highest first, equal ones by item, with `place` from 0."""
        last = by_item(self.labels.log.schema)
        falls = [*[True] * len(order), *[False] * len(last)]
        sorted_ = items.sort([*map(pl.col, order), *last], descending=falls)
        return sorted_.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))


def counts_of(known: pl.LazyFrame) -> pl.LazyFrame:
    """Return users with their number of known rows, `n`."""
    return known.group_by("user").agg(n=pl.len().cast(pl.Int64))


def counted(rows: pl.LazyFrame) -> pl.LazyFrame:
    """Return the number of users of each item, `n`."""
    return rows.select(PAIR).unique().group_by("item").agg(n=pl.len())
