"""Filters of the truth: targets, relevance, and what train does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from recframe.audit.split_rows import KNOWN
from recframe.frames.rows.joins import joined
from recframe.frames.rows.positions import by_item
from recframe.splits.log import PAIR, ROW, Log
from recframe.splits.rules import PARTS, Part, is_in, label

Target = Literal["all", "first", "last"]
Cold = Literal["keep", "drop", "drop_users", "drop_items"]
Seen = Literal["keep", "drop"]
CHOICES = {"target": get_args(Target), "cold": get_args(Cold), "seen": get_args(Seen)}


@dataclass(frozen=True)
class Filters:
    """Filters of the truth after the rule, each judged against the train of the rule."""

    target: Target = "all"
    cold: Cold = "keep"
    seen: Seen = "keep"
    min_train: int = 0
    min_relevance: float | None = None

    def applied(self, log: Log, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows whose truth is filtered: `part` says why a row is no truth; the first reason that holds.

        Reasons are looked for among the rows of truth alone, which are few, and joined to the rest by row number; where the
        order of rows is not promised, by what they depend on.
        """
        if self == Filters():
            return rows
        names = rows.collect_schema().names()
        roles = [*log.names]
        keys = [ROW] if ROW in names else roles
        truth = log.held(rows.filter(is_in("truth")).select({*keys, *roles}))
        judged, cases = truth, {}
        for part, table in self._tables(rows, truth).items():
            marked = table.with_columns(pl.lit(value=True).alias(part))
            judged = joined(judged, marked, table.collect_schema().names())
            is_in_it = pl.col(part).is_not_null()
            cases[part] = is_in_it if part == "seen" else ~is_in_it
        if self.min_relevance is not None:
            is_relevant = (pl.col("relevance") >= self.min_relevance).fill_null(value=False)
            cases["not_relevant"] = ~is_relevant
        why = label({part: cases[part] for part in PARTS if part in cases}, "truth")
        found = judged.select(*keys, why=why).filter(pl.col("why") != "truth").unique(keys)
        rows = joined(rows, log.held(found), keys, in_order=True)
        return rows.select(*names[:-1], part=pl.coalesce("why", "part"))

    def _tables(self, rows: pl.LazyFrame, truth: pl.LazyFrame) -> dict[Part, pl.LazyFrame]:
        """Return for a reason the keys that it spares, or of `seen` those that it concerns; tables are no larger than truth."""
        tables: dict[Part, pl.LazyFrame] = {}

        def known(*keys: str, of: tuple[Part, ...] = KNOWN) -> pl.LazyFrame:
            return rows.filter(is_in(*of)).select(keys).join(truth, on=keys, how="semi")

        if self.target != "all":
            events = pl.col("time", "item").sort_by("time", *by_item(truth.collect_schema()))
            one = events.first() if self.target == "first" else events.last()
            tables["not_target"] = truth.group_by("user").agg(one)
        if self.seen == "drop":
            tables["seen"] = known(*PAIR).unique()
        least = max(self.min_train, int(self.cold in {"drop", "drop_users"}))
        if least:
            counts = known("user").group_by("user").agg(n=pl.len())
            tables["cold_user"] = counts.filter(pl.col("n") >= least).select("user")
        if self.cold in {"drop", "drop_items"}:
            tables["cold_item"] = known("item", of=("train",)).unique()
        return tables
