"""Labels of a log: the fold and part of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import polars as pl

from recframe.audit.split_rows import KNOWN
from recframe.errors import ColumnError, fails_if, warn, worded
from recframe.frames.collecting import ask
from recframe.frames.rows.joins import joined
from recframe.frames.rows.positions import by_item
from recframe.splits.log import FOLD, PAIR, ROW, Log
from recframe.splits.rules import PARTS, Part, Rule, is_in, label

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
        """Return the known rows whose user, or pair, is in truth."""
        return self.known.join(self.truth, on=keys, how="semi")

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
    facts_of = {"train": is_in("train").any(), "truth": is_in("truth").any()}
    if rule.share is not None:
        facts_of["share"] = is_in("truth").sum() / (~is_in("null")).sum()
    has_train, no_train = pl.col("train"), f"the split {rule.words} has no row in train"
    facts = pl.concat(rows.select(**facts_of) for rows in again)
    facts = log.held(facts.with_row_index(FOLD))
    of_fold = pl.lit(f"{no_train}: {rule.no_train}")
    if len(by_rule) > 1:
        of_fold = worded("fold ", pl.col(FOLD), f" of {no_train}: {rule.no_train}")
    no_truth = f"the split {rule.words} has no row of truth; {rule.no_truth}"
    has_truth = pl.col("truth").any()
    check = facts.select(check=fails_if(~has_train, of_fold) + fails_if(~has_truth, no_truth))
    check = log.held(check.select(pl.col("check").sum()))
    if rule.share is not None and not log.is_lazy:
        _warn_of_share(rule, ask([facts.select(pl.col("share").mean())])[0].item())
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
    if rule.borders is not None and log.is_lazy:
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


def _warn_of_share(rule: Rule, share: float) -> None:
    """Warn where the folds' truth has clearly more or less of the rows than the share that was written."""
    if rule.share is not None and abs(share - rule.share) > NEAR * rule.share:
        warn(
            f"truth has {share:.3g} of the rows, where the split {rule.words} asks for {rule.share:.3g}: shares of few pairs "
            "are rounded, rows repeat, or keep= holds some back; see s.describe()"
        )
