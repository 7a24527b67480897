"""Labels of a log: the fold and part of each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from recframe.errors import ColumnError, fails_whole_if, warn, worded
from recframe.frames.collecting import ask
from recframe.splits.filters import Filters
from recframe.splits.log_rows import FOLD, Log
from recframe.splits.rules import Rule, Scalar, is_in, of_part

NEAR = 0.1
"""By so much of itself the share of truth may differ from the one asked for without a warning."""


@dataclass(frozen=True)
class Labels:
    """A log with a label on every row; train, truth, audit and description are read off it."""

    log: Log
    rule: Rule
    filters: Filters
    by_fold: Mapping[int, pl.LazyFrame]
    """The rows of the log (`Log.rows`) with `part`, by fold."""
    check: pl.LazyFrame | None = None
    """One row that fails when the plan of a lazy log runs, where train or truth is empty."""

    @property
    def folds(self) -> list[int]:
        """The numbers of the folds."""
        return list(self.by_fold)

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """A row for each row of the log and fold: the columns of `Log.rows`, `fold` and `part`, in the order of folds."""
        each = [
            rows.with_columns(pl.lit(fold, pl.Int64).alias(FOLD))
            for fold, rows in self.by_fold.items()
        ]
        return each[0] if len(each) == 1 else pl.concat(each)

    def of_fold(self, fold: int) -> Labels:
        """Return one fold alone."""
        return replace(self, by_fold={fold: self.by_fold[fold]})

    def in_parts(self, *parts: Any) -> pl.LazyFrame:
        """Return the rows of some parts."""
        return self.rows.filter(is_in(*parts))

    def given(self, rows: pl.LazyFrame, beside: Mapping[str, str]) -> Any:
        """Return rows as a frame of the log's kind: the log's own columns, and others by their names inside the plan."""
        for name in beside.values():
            if name in self.log.kind.columns:
                msg = f"the log has a column {name!r}, which is the name of one that the split adds; rename it first"
                raise ColumnError(msg)
        if self.check is not None:
            names = rows.collect_schema().names()
            rows = rows.join(self.check, how="cross", maintain_order="left")
            rows = rows.filter(pl.col("check") == 0).select(names)
        return self.log.kind.give_held(rows, beside)


def labelled(log: Log, rule: Rule, filters: Filters) -> Labels:
    """Return a log with the labels of a rule and its filters.

    Of an eager log a fold without a row in train, and a split without truth, is a DataError at once; of a lazy one it is
    raised when a plan runs.
    """
    by_rule = _by_rule(log, rule, log.rows)
    if log.is_lazy:
        check = _check(_by_rule(log, rule, log.roles), rule)
        by_fold = {fold: filters.applied(one) for fold, one in by_rule.items()}
        return Labels(log, rule, filters, by_fold, check)
    by_rule = _held(by_rule)
    _run(_check(by_rule, rule))
    _warn_of_share(by_rule, rule)
    by_fold = {fold: filters.applied(one, in_memory=True) for fold, one in by_rule.items()}
    return Labels(log, rule, filters, _held(by_fold))


def _by_rule(log: Log, rule: Rule, rows: pl.LazyFrame) -> dict[int, pl.LazyFrame]:
    """Return rows with their parts by the rule alone, fold by fold."""
    prepared, scalar = _with_scalars(rule.prepared(rows, log), log, rule)
    names = rows.collect_schema().names()
    return {
        fold: prepared.with_columns(_part(rule, fold, scalar).alias("part")).select(*names, "part")
        for fold in range(rule.n_folds)
    }


def _with_scalars(rows: pl.LazyFrame, log: Log, rule: Rule) -> tuple[pl.LazyFrame, Scalar]:
    """Return rows, and what gives the values of the whole log: columns of theirs, or literals where these are at hand."""
    scalars = rule.scalars(log)
    if log.is_lazy and rule.reads_log:
        return rows.join(scalars, how="cross", maintain_order="left"), pl.col
    return rows if log.is_lazy else _run(rows).lazy(), _literals(_run(scalars))


def _held(folds: Mapping[int, pl.LazyFrame]) -> dict[int, pl.LazyFrame]:
    """Return the rows of folds in memory; columns that no fold changes are there once."""
    return {fold: _run(rows).lazy() for fold, rows in folds.items()}


def _run(plan: pl.LazyFrame) -> pl.DataFrame:
    """Collect a plan of a log in memory, whose columns are not copied."""
    return ask([plan])[0]


def _part(rule: Rule, fold: int, scalar: Scalar) -> pl.Expr:
    """Return the part of a row by the rule alone: `null` where the rule reads a null."""
    return pl.when(_is_null(rule)).then(of_part("null")).otherwise(rule.part(fold, scalar))


def _is_null(rule: Rule) -> pl.Expr:
    """Whether a row has no user, no item, or no time where the rule reads it."""
    return pl.any_horizontal(pl.col("user", "item", *["time"] * rule.reads_time).is_null())


def _literals(row: pl.DataFrame) -> Scalar:
    """Return the values of one row as literals of their dtypes."""

    def of(name: str) -> pl.Expr:
        value = row[name]
        return pl.lit(value.to_physical().item()).cast(value.dtype)

    return of


def _check(by_rule: Mapping[int, pl.LazyFrame], rule: Rule) -> pl.LazyFrame:
    """Return one row that fails where a fold has no train, or no fold has a truth."""
    found = pl.LazyFrame({"nothing": [0]})
    for fold, rows in by_rule.items():
        facts = {"train": is_in("train").any(), "truth": is_in("truth").any()} | _ties(rule)
        one = rows.select(fact.alias(f"{name} {fold}") for name, fact in facts.items())
        found = found.join(one, how="cross")
    has_truth = pl.any_horizontal([pl.col(f"truth {fold}") for fold in by_rule])
    checks = [fails_whole_if(~pl.col(f"train {fold}"), _no_train(rule, fold)) for fold in by_rule]
    words = f"the split {rule.words} has no row of truth; {rule.no_truth}"
    checks.append(fails_whole_if(~has_truth, words))
    return found.select(check=pl.sum_horizontal(checks))


def _warn_of_share(by_rule: Mapping[int, pl.LazyFrame], rule: Rule) -> None:
    """Warn where the folds' truth has clearly more or less of the rows than the share that was asked for."""
    if rule.asked_share is None:
        return
    shares = [
        rows.select(is_in("truth").sum() / (~is_in("null")).sum()) for rows in by_rule.values()
    ]
    came_out = sum(one.item() for one in ask(shares)) / len(shares)
    if abs(came_out - rule.asked_share) > NEAR * rule.asked_share:
        found = f"truth has {came_out:.3g} of the rows, where the split {rule.words} asks for {rule.asked_share:.3g}"
        warn(
            f"{found}: shares of few pairs are rounded, rows repeat, or keep= holds some back; see s.describe()"
        )


def _ties(rule: Rule) -> dict[str, pl.Expr]:
    """Return the number of rows with a time, and of those that share the first one."""
    time = pl.col("time")
    counts = {"timed": time.count(), "tied": (time == time.min()).sum()}
    return counts if rule.parted_by == "line" else {}


def _no_train(rule: Rule, fold: int) -> pl.Expr:
    """Return the words on a fold without train."""
    of_fold = f"fold {fold} of " * (rule.n_folds > 1)
    found = f"{of_fold}the split {rule.words} has no row in train"
    if rule.parted_by != "line":
        return pl.lit(f"{found}: {rule.no_train}")
    tied, timed = pl.col(f"tied {fold}"), pl.col(f"timed {fold}")
    remedy = "write a later point, a shorter truth or fewer folds"
    return worded(
        f"{found}: no time is before its truth (",
        tied,
        " of ",
        timed,
        f" rows share the first time); {remedy}",
    )
