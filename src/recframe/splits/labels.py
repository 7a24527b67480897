"""Labels of a log: the fold and part of each row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import polars as pl

from recframe.audit.split_rows import KNOWN
from recframe.errors import ColumnError, fails_if, warn, worded
from recframe.frames.kinds.kind import ask
from recframe.frames.rows.joins import by_item, joined
from recframe.splits.log import FOLD, PAIR, ROW, Log
from recframe.splits.rules import IS_WHOLE, Part, Rule, is_in, label

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

    def judged(self, log: Log, rows: pl.LazyFrame) -> pl.LazyFrame | None:
        """Return the rows of truth with the part that is left of it: the first reason that holds; None without filters.

        Reasons are looked for among the rows of truth alone, which are few.
        """
        if self == Filters():
            return None
        cases: dict[Part, pl.Expr] = {}
        if self.target != "all":
            end = pl.Expr.first if self.target == "first" else pl.Expr.last
            order = ["time", *by_item(log.schema)]
            cases["not_target"] = pl.any_horizontal(
                pl.col(name).ne_missing(end(pl.col(name).sort_by(order)).over("user"))
                for name in ("time", "item")
            )
        if self.min_relevance is not None:
            is_relevant = pl.col("relevance") >= self.min_relevance
            cases["not_relevant"] = ~is_relevant.fill_null(value=False)
        if self.seen == "drop":
            cases["seen"] = pl.col("pair_history") > 0
        if least := max(self.min_train, int(self.cold in {"drop", "drop_users"})):
            cases["cold_user"] = pl.col("user_history") < least
        if self.cold in {"drop", "drop_items"}:
            cases["cold_item"] = pl.col("item_history") == 0
        truth = log.held(rows.filter(is_in("truth")))
        read = {name for case in cases.values() for name in case.meta.root_names()}
        histories = with_histories(truth, rows, [name for name in HISTORIES if name in read])
        names = rows.drop("part").collect_schema()
        return log.held(histories.select(*names, part=label(cases, "truth")))


HISTORIES: Mapping[str, tuple[Sequence[str], Sequence[Part]]] = {
    "user_history": (["user"], KNOWN),
    "item_history": (["item"], ["train"]),
    "pair_history": (PAIR, KNOWN),
}
"""Counts of rows that a model may read, each with the ids and parts that it is of."""


def with_histories(
    truth: pl.LazyFrame, rows: pl.LazyFrame, names: Sequence[str] = tuple(HISTORIES)
) -> pl.LazyFrame:
    """Return rows of truth, in their order, with their histories among rows with parts."""
    found = truth
    for name in names:
        ids, parts = HISTORIES[name]
        known = rows.filter(is_in(*parts)).select(ids).join(truth, on=ids, how="semi")
        counts = known.group_by(ids).agg(pl.len().cast(pl.Int64).alias(name))
        found = joined(found, counts, ids, in_order=True)
    return found.with_columns(pl.col(name).fill_null(0) for name in names)


NEAR = 0.1
"""By so much of itself the share of truth may differ from the one that is written, without a warning."""


@dataclass(frozen=True)
class Fold:
    """The rows of one fold, and small tables of them."""

    log: Log
    rule: Rule
    number: int
    by_rule: pl.LazyFrame
    """The columns of `Log.rows`, and `part` by the rule alone."""
    judged: pl.LazyFrame | None
    """The rows of truth by the rule, with the part that filters leave; None without filters."""

    @cached_property
    def rows(self) -> pl.LazyFrame:
        """The columns of `Log.rows`, and `part`, in the order of the log."""
        if self.judged is None:
            return self.by_rule
        names = self.by_rule.drop("part").collect_schema()
        rows = joined(self.by_rule, self.judged.select(ROW, left="part"), [ROW], in_order=True)
        return self.log.held(rows.select(*names, part=pl.coalesce("left", "part")))

    def in_parts(self, *parts: Part) -> pl.LazyFrame:
        """Return the rows of truth, or of train and fold_in, of which filters change none."""
        judged = self.judged if parts == ("truth",) else None
        return (self.by_rule if judged is None else judged).filter(is_in(*parts))

    @property
    def known(self) -> pl.LazyFrame:
        """The rows that a model may read: train, and what is given of test users."""
        return self.in_parts(*KNOWN)

    @cached_property
    def users(self) -> pl.LazyFrame:
        """The users of truth, ascending: each `user` and their number, `u`."""
        users = self.in_parts("truth").select("user").unique().sort("user").with_row_index("u")
        return self.log.held(users.with_columns(pl.col("u").cast(pl.UInt32)))

    @cached_property
    def histories(self) -> pl.LazyFrame:
        """The users that a model knows, with their number of known rows, `n`."""
        return self.log.held(self.known.group_by("user").agg(n=pl.len().cast(pl.Int64)))

    @cached_property
    def items(self) -> pl.LazyFrame:
        """The items of train, with their number of rows in it, `n`."""
        return self.log.held(self.in_parts("train").group_by("item").agg(n=pl.len().cast(pl.Int64)))


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

    def in_parts(self, *parts: Part) -> pl.LazyFrame:
        """Return the rows of some parts."""
        return self.of(lambda fold: fold.in_parts(*parts))

    def given(self, rows: pl.LazyFrame, beside: Mapping[str, str]) -> Any:
        """Return rows as a frame of the log's kind: the log's own columns, and others by their names inside the plan."""
        if taken := [name for name in beside.values() if name in self.log.kind.columns]:
            name = taken[0]
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

    NOTE: labels are made once, but for those of each row alone without filters: each branch makes these again, so that files
    are read in a stream.
    """
    if log.is_lazy and rule.streams and filters == Filters():
        by_rule = _by_rule(log, rule, log.rows, held=False)
        again = _by_rule(log, rule, log.roles, held=False)
    else:
        by_rule = again = _by_rule(log, rule, log.rows.with_row_index(ROW), held=True)
    is_truth = is_in("truth")
    share = is_truth.sum() / (~is_in("null")).sum()
    facts = pl.concat(
        rows.select(train=is_in("train").any(), truth=is_truth.any(), share=share) for rows in again
    )
    facts = log.held(facts.with_row_index(FOLD))
    if rule.share is not None and not log.is_lazy:
        _warn_of_share(rule, ask([facts.select(pl.col("share").mean())])[0].item())
    folds = [
        Fold(log, rule, number, rows, filters.judged(log, rows))
        for number, rows in enumerate(by_rule)
    ]
    return Labels(log, rule, filters, folds, log.held(_check(rule, facts)))


def _by_rule(log: Log, rule: Rule, rows: pl.LazyFrame, *, held: bool) -> list[pl.LazyFrame]:
    """Return rows with their parts by the rule alone, fold by fold; with `held` they are made once."""
    names = rows.collect_schema().names()
    rows = rule.added(log, rows)
    rows = log.held(rows) if held else rows
    if rule.borders is not None and log.is_lazy:
        rows = rows.join(rule.borders, how="cross", maintain_order="left")
    elif rule.borders is not None:
        points = ask([rule.borders])[0]
        rows = rows.with_columns(
            pl.lit(point.to_physical().item()).cast(point.dtype).alias(point.name)
            for point in points
        )
    null = label({}, "null")
    parts = [pl.when(IS_WHOLE).then(part).otherwise(null) for part in rule.parts]
    folds = [rows.select(*names, part=part) for part in parts]
    return [log.held(fold) for fold in folds] if held else folds


def _check(rule: Rule, facts: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row that fails where a fold has no row in train, or none has truth."""
    no_train = f"the split {rule.words} has no row in train: {rule.no_train}"
    of_fold = pl.lit(no_train)
    if len(rule.parts) > 1:
        of_fold = worded("fold ", pl.col(FOLD), f" of {no_train}")
    no_truth = f"the split {rule.words} has no row of truth; {rule.no_truth}"
    has_none = fails_if(~pl.col("train"), of_fold) + fails_if(~pl.col("truth").any(), no_truth)
    return facts.select(check=has_none).sum()


def _warn_of_share(rule: Rule, share: float) -> None:
    """Warn where the folds' truth has clearly more or less of the rows than the share that was written."""
    if rule.share is not None and abs(share - rule.share) > NEAR * rule.share:
        warn(
            f"truth has {share:.3g} of the rows, where the split {rule.words} asks for {rule.share:.3g}: shares of few pairs "
            "are rounded, rows repeat, or keep= holds some back; see s.describe()"
        )
