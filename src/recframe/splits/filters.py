"""Filters of the truth: targets, relevance, and what train does not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from recframe.audit.split_rows import KNOWN
from recframe.errors import ColumnError, RecframeError, shown
from recframe.frames.hints import NAMED, bind
from recframe.frames.options import plain_number
from recframe.frames.rows.joins import joined
from recframe.splits.log_rows import ROLES, Log, as_ordered
from recframe.splits.rules import Part, first_that_holds, is_in, of_part

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

    def applied(self, rows: pl.LazyFrame, *, in_memory: bool = False) -> pl.LazyFrame:
        """Return rows whose truth is filtered: `part` says why a row is no truth; the first reason that holds.

        Reasons are looked for among the rows of truth alone, which are few, and joined to the rest by row number; where the
        order of rows is not promised, by what they depend on.
        """
        names = rows.collect_schema().names()
        rows = rows.with_row_index("row") if in_memory else rows
        keys = ["row"] if in_memory else [name for name in ROLES if name in names]
        truth, reasons = self._judged(rows)
        if not reasons:
            return rows.select(names)
        why = first_that_holds(reasons, of_part("truth")).alias("why")
        others = truth.select(*keys, why).filter(~is_in("truth", column="why"))
        found = joined(rows, others if in_memory else others.unique(keys), keys, in_order=True)
        part = pl.when(is_in("truth")).then(pl.coalesce("why", "part")).otherwise("part")
        return found.with_columns(part=part).select(names)

    def _judged(self, rows: pl.LazyFrame) -> tuple[pl.LazyFrame, list[tuple[pl.Expr, Part]]]:
        """Return the rows of truth with what the reasons read, and the reasons."""
        truth, known = rows.filter(is_in("truth")), rows.filter(is_in(*KNOWN))
        judged = truth
        reasons: list[tuple[pl.Expr, Part]] = []
        if self.target != "all":
            judged = _beside(
                judged, _targets(truth, self.target), ["user", "time", "item"], "aimed"
            )
            reasons.append((pl.col("aimed").is_null(), "not_target"))
        if self.min_relevance is not None:
            enough = (pl.col("relevance") >= self.min_relevance).fill_null(value=False)
            reasons.append((~enough, "not_relevant"))
        if self.seen == "drop":
            pairs = _of_truth(known, truth, ["user", "item"]).unique()
            judged = _beside(judged, pairs, ["user", "item"], "met")
            reasons.append((pl.col("met").is_not_null(), "seen"))
        if self.least:
            counts = _of_truth(known, truth, ["user"]).group_by("user").agg(pl.len().alias("rows"))
            warm = counts.filter(pl.col("rows") >= self.least).select("user")
            judged = _beside(judged, warm, ["user"], "warm")
            reasons.append((pl.col("warm").is_null(), "cold_user"))
        if self.cold in {"drop", "drop_items"}:
            items = _of_truth(rows.filter(is_in("train")), truth, ["item"]).unique()
            judged = _beside(judged, items, ["item"], "sold")
            reasons.append((pl.col("sold").is_null(), "cold_item"))
        return judged, reasons


def _of_truth(rows: pl.LazyFrame, truth: pl.LazyFrame, keys: list[str]) -> pl.LazyFrame:
    """Return the keys of rows whose keys are in the truth, so that tables of train are no larger than it."""
    found = truth.select(keys).unique()
    return rows.select(keys).join(found, on=keys, how="semi")


def _beside(rows: pl.LazyFrame, table: pl.LazyFrame, keys: list[str], name: str) -> pl.LazyFrame:
    """Return rows with a column that is not null where the table has their keys."""
    return joined(rows, table.with_columns(pl.lit(value=True).alias(name)), keys)


def _targets(truth: pl.LazyFrame, target: Target) -> pl.LazyFrame:
    """Return the first or last event (time, item) of each user's truth."""
    item = as_ordered(truth.collect_schema(), "item")
    events = pl.col("time", "item").sort_by("time", item)
    return truth.group_by("user").agg(events.first() if target == "first" else events.last())
