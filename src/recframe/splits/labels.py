"""Labels of a log: the fold and part of each row, by a rule and the filters of its truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from recframe.audit.split_rows import KNOWN
from recframe.errors import ColumnError, fails_whole_if, warn, worded
from recframe.frames.collecting import ask
from recframe.frames.rows.joins import joined
from recframe.frames.rows.positions import by_item
from recframe.splits.filters import Filters
from recframe.splits.log import FOLD, ROW, Log
from recframe.splits.rules import Part, Rule, is_in, label

NEAR = 0.1
"""By so much of itself the share of truth may differ from the one that is written, without a warning."""


@dataclass(frozen=True)
class Fold:
    """The rows of one fold, and small tables of them."""

    log: Log
    rule: Rule
    number: int
    rows: pl.LazyFrame
    """The columns of `Log.rows`, and `part`."""

    def of_parts(self, *parts: Part) -> pl.LazyFrame:
        """Return the rows of some parts, with the columns of the roles alone."""
        return self.rows.filter(is_in(*parts)).select(*self.log.names)

    @property
    def train(self) -> pl.LazyFrame:
        """The rows of train."""
        return self.of_parts("train")

    @property
    def known(self) -> pl.LazyFrame:
        """The rows that a model may read: train, and what is given of test users."""
        return self.of_parts(*KNOWN)

    @property
    def truth(self) -> pl.LazyFrame:
        """The rows of truth."""
        return self.of_parts("truth")

    def known_of_truth(self, *keys: str) -> pl.LazyFrame:
        """Return the known rows whose user, or item, is in truth.

        NOTE: of a log in memory this looks values up in a set, which takes a fifth of the time of a join.
        """
        known = self.known
        for key in keys:
            values = self.log.held(self.truth.select(key).unique())
            if self.log.is_lazy:
                known = known.join(values, on=key, how="semi")
            else:
                known = known.filter(pl.col(key).is_in(ask([values])[0][key].implode()))
        return known

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The users of truth, ascending: each `user` and his number, `u`."""
        users = self.truth.select("user").unique().sort("user").with_row_index("u")
        return self.log.held(users.with_columns(pl.col("u").cast(pl.UInt32)))

    @cached_property
    def histories(self) -> pl.LazyFrame:
        """The users that a model knows, with their number of known rows, `n`."""
        return self.log.held(self.known.group_by("user").agg(n=pl.len().cast(pl.Int64)))

    @cached_property
    def items(self) -> pl.LazyFrame:
        """The items of train, with their number of rows in it, `n`."""
        return self.log.held(self.train.group_by("item").agg(n=pl.len().cast(pl.Int64)))

    def in_order(self, rows: pl.LazyFrame, *order: str, users: bool = False) -> pl.LazyFrame:
        """Return rows by an order, the highest first, equal ones by item; before all by their user's number, if told."""
        first, last = ["u"] * users, by_item(self.log.schema)
        falls = [*[False] * len(first), *[True] * len(order), *[False] * len(last)]
        return rows.sort(*first, *order, *last, descending=falls, nulls_last=True)


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

    def of(self, rows: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
        """Return rows of each fold as one frame with `fold`, in the order of folds."""
        return pl.concat(
            one.with_columns(pl.lit(fold.number, pl.Int64).alias(FOLD))
            for fold, one in zip(self.folds, rows, strict=True)
        )

    def in_parts(self, *parts: Part) -> pl.LazyFrame:
        """Return the rows of some parts."""
        return self.of([fold.rows.filter(is_in(*parts)) for fold in self.folds])

    def given(self, rows: pl.LazyFrame, beside: Mapping[str, str]) -> Any:
        """Return rows as a frame of the log's kind: the log's own columns, and others by their names inside the plan."""
        for name in beside.values():
            if name in self.log.kind.columns:
                msg = f"the log has a column {name!r}, which is the name of one that the split adds; rename it first"
                raise ColumnError(msg)
        if self.log.is_lazy:
            rows = rows.join(self.check, how="cross", maintain_order="left")
            rows = rows.filter(pl.col("check") == 0).drop("check")
        return self.log.kind.give_held(rows, beside)


def labelled(log: Log, rule: Rule, filters: Filters) -> Labels:
    """Return a log with the labels of a rule and its filters.

    Of an eager log a fold without a row in train, and a split without truth, is a DataError at once; of a lazy one it is
    raised when a plan runs.

    NOTE: labels by windows are made once; those of each row alone are made again in each branch, which streams.
    """
    streams = log.is_lazy and rule.streams
    by_rule = [rows if streams else log.held(rows) for rows in _by_rule(log, rule, log.rows)]
    again = _by_rule(log, rule, log.roles) if streams else by_rule
    check = log.held(_check(again, rule))
    if not log.is_lazy:
        _warn_of_share(by_rule, rule)
    applied = [filters.applied(log, rows) for rows in by_rule]
    folds = [
        Fold(log, rule, number, rows if streams else log.held(rows))
        for number, rows in enumerate(applied)
    ]
    return Labels(log, rule, filters, folds, check)


def _by_rule(log: Log, rule: Rule, rows: pl.LazyFrame) -> list[pl.LazyFrame]:
    """Return rows with their parts by the rule alone, fold by fold, numbered where they are in memory."""
    rows = rows if log.is_lazy and rule.streams else rows.with_row_index(ROW)
    names = rows.collect_schema().names()
    if rule.adds is not None:
        rows = rule.adds(rows)
        rows = rows if log.is_lazy and rule.streams else log.held(rows)
    if rule.borders is not None and log.is_lazy and rule.of_log:
        rows = rows.join(rule.borders, how="cross", maintain_order="left")
    elif rule.borders is not None:
        points = ask([rule.borders])[0]
        rows = rows.with_columns(
            pl.lit(one.to_physical().item()).cast(one.dtype).alias(one.name) for one in points
        )
    is_whole = pl.all_horizontal(pl.col(rule.reads).is_not_null())
    null = label({}, "null")
    return [
        rows.select(*names, part=pl.when(is_whole).then(part).otherwise(null))
        for part in rule.parts
    ]


def _check(by_rule: Sequence[pl.LazyFrame], rule: Rule) -> pl.LazyFrame:
    """Return one row that fails where a fold has no train, or no fold has a truth."""
    found, checks = pl.LazyFrame({"nothing": [0]}), []
    time = pl.col("time")
    for fold, rows in enumerate(by_rule):
        facts = {"train": is_in("train").any(), "truth": is_in("truth").any()}
        why = (
            f"{f'fold {fold} of ' * (len(by_rule) > 1)}the split {rule.words} has no row in train: "
        )
        words = pl.lit(why + rule.no_train)
        if rule.parted_by == "line":
            facts |= {"timed": time.count(), "tied": (time == time.min()).sum()}
            tied, timed = pl.col(f"tied {fold}"), pl.col(f"timed {fold}")
            why += "no time is before its truth ("
            remedy = (
                " rows share the first time); write a later point, a shorter truth or fewer folds"
            )
            words = worded(why, tied, " of ", timed, remedy)
        one = rows.select(fact.alias(f"{name} {fold}") for name, fact in facts.items())
        found = found.join(one, how="cross")
        checks.append(fails_whole_if(~pl.col(f"train {fold}"), words))
    has_truth = pl.any_horizontal(f"truth {fold}" for fold, _ in enumerate(by_rule))
    words = f"the split {rule.words} has no row of truth; {rule.no_truth}"
    return found.select(check=pl.sum_horizontal(*checks, fails_whole_if(~has_truth, words)))


def _warn_of_share(by_rule: Sequence[pl.LazyFrame], rule: Rule) -> None:
    """Warn where the folds' truth has clearly more or less of the rows than the share that was written."""
    if rule.share is None:
        return
    shares = [rows.select(is_in("truth").sum() / (~is_in("null")).sum()) for rows in by_rule]
    share = sum(one.item() for one in ask(shares)) / len(shares)
    if abs(share - rule.share) > NEAR * rule.share:
        warn(
            f"truth has {share:.3g} of the rows, where the split {rule.words} asks for {rule.share:.3g}: shares of few pairs "
            "are rounded, rows repeat, or keep= holds some back; see s.describe()"
        )
