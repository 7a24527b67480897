"""Filters of the truth: targets, relevance, and what train does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from recframe.errors import ColumnError, RecframeError, shown
from recframe.frames.hints import NAMED, bind
from recframe.frames.options import plain_number
from recframe.frames.rows.joins import joined
from recframe.splits.log_rows import Log
from recframe.splits.rules import KNOWN, Part, first_that_holds, is_in

Target = Literal["all", "first", "last"]
Cold = Literal["keep", "drop", "drop_users", "drop_items"]
Seen = Literal["keep", "drop"]
CHOICES = {"target": get_args(Target), "cold": get_args(Cold), "seen": get_args(Seen)}


@dataclass(frozen=True)
class Filters:
    """What leaves the truth after the rule, each judged against the train of the rule."""

    target: Target = "all"
    cold: Cold = "keep"
    seen: Seen = "keep"
    min_train: int = 0
    min_relevance: float | None = None

    def check(self, log: Log, call: str) -> None:
        """Reject values that are not known, and targets of a log without times."""
        for name, known in CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in known:
                msg = f"{name}={shown(value)} is not known. Write one of {', '.join(map(repr, known))}"
                raise RecframeError(msg)
        number = plain_number(self.min_train)
        if not isinstance(number, int) or number < 0:
            msg = f"min_train={shown(self.min_train)}: write a whole number from 0 up, of rows in train"
            raise RecframeError(msg)
        if self.min_relevance is not None and plain_number(self.min_relevance) is None:
            msg = f"min_relevance={shown(self.min_relevance)}: write a number; rows below it are never truth"
            raise RecframeError(msg)
        if self.target != "all" and not log.has_time:
            msg = (
                f"target={self.target!r} of rec.split.{call}() goes by time, and no column of times is bound: "
                f"{bind(time=NAMED)}"
            )
            raise ColumnError(msg)

    @property
    def least(self) -> int:
        """The rows of train that a user of the truth needs."""
        return max(self.min_train, int(self.cold in {"drop", "drop_users"}))

    @property
    def words(self) -> dict[str, object]:
        """The filters that differ from their defaults."""
        default = Filters()
        return {
            name: value for name, value in vars(self).items() if value != getattr(default, name)
        }

    def applied(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return rows whose truth is filtered: `part` says why a row is no truth; the first reason that holds."""
        reasons: list[tuple[pl.Expr, Part]] = []
        labelled = rows
        if self.target != "all":
            rows = _beside(rows, _targets(labelled, self.target), ["user", "time", "item"], "aimed")
            reasons.append((pl.col("aimed").is_null(), "not_target"))
        if self.min_relevance is not None:
            enough = (pl.col("relevance") >= self.min_relevance).fill_null(value=False)
            reasons.append((~enough, "not_relevant"))
        known = labelled.filter(is_in(*KNOWN))
        if self.seen == "drop":
            rows = _beside(rows, known.select("user", "item").unique(), ["user", "item"], "met")
            reasons.append((pl.col("met").is_not_null(), "seen"))
        if self.least:
            counts = known.group_by("user").agg(pl.len().alias("of_user"))
            counts = counts.filter(pl.col("of_user") >= self.least).select("user")
            rows = _beside(rows, counts, ["user"], "warm")
            reasons.append((pl.col("warm").is_null(), "cold_user"))
        if self.cold in {"drop", "drop_items"}:
            items = labelled.filter(is_in("train")).select("item").unique()
            rows = _beside(rows, items, ["item"], "sold")
            reasons.append((pl.col("sold").is_null(), "cold_item"))
        if not reasons:
            return rows
        of_truth = first_that_holds(reasons, pl.col("part"))
        part = pl.when(is_in("truth")).then(of_truth).otherwise("part")
        return rows.with_columns(part=part).select(labelled.collect_schema().names())


def _beside(rows: pl.LazyFrame, table: pl.LazyFrame, keys: list[str], name: str) -> pl.LazyFrame:
    """Return rows with a column that is not null where the table has their keys."""
    found = table.with_columns(pl.lit(value=True).alias(name))
    return joined(rows, found, keys, in_order=True)


def _targets(labelled: pl.LazyFrame, target: Target) -> pl.LazyFrame:
    """Return the first or last event (time, item) of each user's truth."""
    truth = labelled.filter(is_in("truth")).select("user", "time", "item")
    order = pl.col("time", "item")
    events = order.sort_by("time", "item")
    return truth.group_by("user").agg(events.first() if target == "first" else events.last())
