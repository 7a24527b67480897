"""Labels of a log: the fold and part of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import polars as pl

from recframe.audit.split_rows import HISTORIES, SplitRows, is_in
from recframe.errors import ColumnError, fails_if
from recframe.frames.rows.joins import IS_POLARS_1, by_item
from recframe.splits.log import FOLD, ROW, Log
from recframe.splits.rules import Part, Rule, label

Target = Literal["all", "first", "last"]
Cold = Literal["keep", "drop", "drop_users", "drop_items"]
Seen = Literal["keep", "drop"]
CHOICES = {"target": get_args(Target), "cold": get_args(Cold), "seen": get_args(Seen)}


@dataclass(frozen=True)
class Filters:
    """Filters of the truth after the rule, each judged by the train of the rule."""

    target: Target = "all"
    cold: Cold = "keep"
    seen: Seen = "keep"
    min_train: int = 0
    min_relevance: float | None = None

    def cases(self, schema: pl.Schema) -> Mapping[Part, pl.Expr]:
        """Return the parts that rows of truth may get, each with its reason: an expression over such rows and `HISTORIES`."""
        cases: dict[Part, pl.Expr] = {}
        if self.target != "all":
            # events without a time are ahead of those with it
            order = [pl.col("time").is_not_null().alias("has time"), "time", *by_item(schema)]
            event = pl.struct(order).rank("dense")
            end = event.min() if self.target == "first" else event.max()
            cases["not_target"] = (event != end).over("user")
        if self.min_relevance is not None:
            is_relevant = pl.col("relevance") >= self.min_relevance
            cases["not_relevant"] = ~is_relevant.fill_null(value=False)
        if self.seen == "drop":
            cases["seen"] = pl.col("pair_history") > 0
        if least := max(self.min_train, int(self.cold in {"drop", "drop_users"})):
            cases["cold_user"] = pl.col("user_history") < least
        if self.cold in {"drop", "drop_items"}:
            cases["cold_item"] = pl.col("item_history") == 0
        return cases


@dataclass(frozen=True)
class Fold:
    """The rows of one fold, and small tables of them."""

    log: Log
    rule: Rule
    number: int
    by_rule: SplitRows
    """The columns of `Log.rows`, and `part` by the rule alone."""
    cases: Mapping[Part, pl.Expr]
    """The parts that filters give to rows of truth."""

    @cached_property
    def judged(self) -> pl.LazyFrame:
        """The rows of truth by the rule, with the part that filters leave: the first reason that holds."""
        read = {name for case in self.cases.values() for name in case.meta.root_names()}
        names = [name for name in HISTORIES if name in read]
        # one sort takes less than joins that keep an order
        rows = self.by_rule.with_histories(self.by_rule.truth, names, in_order=False).sort(ROW)
        return self.log.held(rows.with_columns(part=label(self.cases, "truth")).drop(names))

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The columns of `Log.rows`, and `part`, in the order of the log."""
        rows = self.by_rule.rows
        if not self.cases:
            return rows
        if IS_POLARS_1:  # which mixes up the columns of merged rows
            rows = rows.update(self.judged.select(ROW, "part"), on=ROW)
        else:
            rows = rows.filter(~is_in("truth")).merge_sorted(self.judged, ROW)
        return self.log.held(rows)

    def in_parts(self, *parts: Part) -> pl.LazyFrame:
        """Return the rows of truth, or of train and fold_in, of which filters change none."""
        is_judged = self.cases and parts == ("truth",)
        return (self.judged if is_judged else self.by_rule.rows).filter(is_in(*parts))

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The users of truth, ascending."""
        return self.log.held(self.in_parts("truth").select("user").unique().sort("user"))


@dataclass(frozen=True)
class Labels:
    """A log with a label on every row; train, truth, audit and description are read off it."""

    log: Log
    rule: Rule
    filters: Filters
    folds: Sequence[Fold]
    check: pl.LazyFrame
    """One row that fails when the plan of a lazy log runs, where train or truth is empty."""

    @property
    def fold_beside(self) -> dict[str, str]:
        """The column of folds, where there are several."""
        return {FOLD: FOLD} if len(self.folds) > 1 else {}

    def of(self, rows: Callable[[Fold], pl.LazyFrame]) -> pl.LazyFrame:
        """Return rows of each fold as one frame with `fold`, in the order of folds."""
        return pl.concat(
            rows(fold).with_columns(pl.lit(fold.number, pl.Int64).alias(FOLD))
            for fold in self.folds
        )

    def given(self, rows: pl.LazyFrame, beside: Mapping[str, str]) -> Any:
        """Return rows as a frame of the log's kind: the log's own columns, and others by their names inside the plan."""
        for name in beside.values():
            if name in self.log.kind.columns:
                raise ColumnError(
                    f"the log has a column {name!r}, which is the name of one that the split adds; rename it first"
                )
        if self.log.is_lazy:
            rows = rows.join(self.check, how="cross", maintain_order="left")
            rows = rows.filter(pl.col("check") == 0)
        return self.log.kind.give_held(rows, beside)


def labelled(log: Log, rule: Rule, filters: Filters) -> Labels:
    """Return a log with the labels of a rule and its filters.

    Of an eager log a fold without a row in train, and a split without truth, is a DataError at once; of a lazy one it is
    raised when a plan runs.

    NOTE: labels are made once, but for those of each row alone without filters: each branch makes these again, so that files
    are read in a stream.
    """
    cases = filters.cases(log.schema)
    if rule.borders is not None:
        rule = replace(rule, borders=log.held(rule.borders))
    if log.is_lazy and not rule.order and not cases:
        rows, again = rule.parted(log, log.rows), rule.parted(log, log.roles)
    else:
        rows = again = log.held(rule.parted(log, log.rows.with_row_index(ROW)))
    parts = [f"part {number}" for number, _ in enumerate(rule.parts)]
    folds = []
    for number, part in enumerate(parts):
        own = SplitRows(rows.select(pl.exclude(parts), part=part), rule.parted_by, log.held)
        folds.append(Fold(log, rule, number, own, cases))
    return Labels(log, rule, filters, folds, log.held(_check(rule, again.select(parts))))


def _check(rule: Rule, parts: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row that fails where a fold has no row in train, or none has truth."""
    no_train = fails_if(
        ~pl.all_horizontal((pl.all() == "train").any()),
        f"in the split {rule.words} a fold has no row in train: every row is in its truth or behind it, or lacks what the rule "
        "reads; write a later point, or less truth",
    )
    no_truth = fails_if(
        ~pl.any_horizontal((pl.all() == "truth").any()),
        f"the split {rule.words} has no row of truth; write an earlier point, a larger share, or a smaller n, keep or fold_in",
    )
    return parts.select(check=no_train + no_truth)
