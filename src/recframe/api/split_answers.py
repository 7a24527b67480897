"""Answers about a split: its audit, description and card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

import polars as pl

from recframe.api import reprs
from recframe.api.bound_metric import F
from recframe.audit.split_rows import SplitRows, in_frames
from recframe.charts.formatting import counted
from recframe.errors import RecframeError
from recframe.frames.collecting import check_threads
from recframe.frames.dtypes import check_dtypes, matched
from recframe.frames.eager_data import at_hand
from recframe.frames.kinds.kind import Kind
from recframe.frames.kinds.lookup import in_memory
from recframe.frames.options import FOLD, Context
from recframe.frames.roles import Segment, Side
from recframe.splits.description import described, rows_of
from recframe.splits.labelling import Labels


class SplitAnswers(Generic[F]):
    """Answers of a split, all of them read off its labels: `audit` and `describe`."""

    _labels: Labels

    def audit(self) -> F:
        """Return what is odd about the split, one row for each finding, as `rec.audit()` does; no row if all is well.

        Columns: `check`, `severity` ("error", "warning" or "info"), `frame` ("train", "truth" or "log"), `rows` and `users`
        concerned, an `example` (with its fold, where there are several), `treatment` (what follows for numbers) and `remedy`.
        `share` in an example is that of the fold's truth, or of its train; `ceiling` the recall, a mean over users, that a
        model has at most without these rows.

        It finds rows of train from after truth began, pairs that are in both, users and items that train does not know, and
        folds that overlap or have few users.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "day": [1, 2, 3]})
        >>> log.rec(time="day").split.by_time(at=3).audit().select("check", "severity", "frame", "rows", "users")
        shape: (3, 5)
        ┌───────────────────────┬──────────┬───────┬──────┬───────┐
        │ check                 ┆ severity ┆ frame ┆ rows ┆ users │
        │ ---                   ┆ ---      ┆ ---   ┆ ---  ┆ ---   │
        │ str                   ┆ str      ┆ str   ┆ i64  ┆ i64   │
        ╞═══════════════════════╪══════════╪═══════╪══════╪═══════╡
        │ truth_of_cold_users   ┆ warning  ┆ truth ┆ 1    ┆ 1     │
        │ users_wholly_in_truth ┆ warning  ┆ truth ┆ 1    ┆ 1     │
        │ few_truth_users       ┆ warning  ┆ truth ┆ 1    ┆ 1     │
        └───────────────────────┴──────────┴───────┴──────┴───────┘
        """
        labels = self._labels
        result: F = _audited(rows_of(labels), labels.log.kind)
        return result

    def describe(self) -> F:
        """Return what the split looks like: one row for each fold.

        Columns, those of times where a time is bound:
            fold; train_from, train_to, truth_from, truth_to: the first and last times; gap: from train_to to truth_from.
            rows_train, users_train, items_train; rows_truth, users_truth, items_truth.
            share: rows of truth, of those of truth, train and fold_in.
            cold_users, cold_items, seen: the shares of truth whose user, whose item, whose pair is (not) in train or fold_in.
            median_rows_train, median_rows_truth: rows of a user there, of the users who have any.
            rows_fold_in, rows_gap, ...: the rows of each other part.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "day": [1, 2, 3]})
        >>> log.rec(time="day").split.by_time(at=3).describe().select("train_to", "truth_from", "rows_train", "cold_users")
        shape: (1, 4)
        ┌──────────┬────────────┬────────────┬────────────┐
        │ train_to ┆ truth_from ┆ rows_train ┆ cold_users │
        │ ---      ┆ ---        ┆ ---        ┆ ---        │
        │ i64      ┆ i64        ┆ i64        ┆ f64        │
        ╞══════════╪════════════╪════════════╪════════════╡
        │ 2        ┆ 3          ┆ 2          ┆ 1.0        │
        └──────────┴────────────┴────────────┴────────────┘
        """
        labels = self._labels
        plan = described(rows_of(labels))
        result: F = labels.log.kind.give(plan, {})
        return result

    def __repr__(self) -> str:
        """Return the rule, the log and the rows of each part; nothing of a LazyFrame is collected."""
        labels = self._labels
        rows, n_folds = {"log": reprs.of_frame(labels.log.kind.frame)}, len(labels.folds)
        if n_folds > 1:
            rows["folds"] = str(n_folds)
        if not labels.log.is_lazy:
            rows |= _parts(labels)
        return reprs.card(f"split by {labels.rule.words}", rows)


def _audited(folds: Mapping[int, SplitRows], kind: Kind) -> Any:
    from recframe.audit import report  # noqa: PLC0415  importing recframe should take no time

    return kind.give(report.audit_split(folds), {})


def _parts(labels: Labels) -> dict[str, str]:
    """Return the rows of each part, over all folds."""
    counts = labels.rows.group_by("part").agg(pl.len().alias("rows")).sort("part")
    found = labels.log.kind.run(counts)
    names = found["part"].cast(pl.String)
    return {part: counted(rows, "row") for part, rows in zip(names, found["rows"], strict=True)}


def audit_split(
    train: Any,
    truth: Any,
    *,
    user: str | None = None,
    item: str | None = None,
    time: str | None = None,
) -> Any:
    """Return what is odd about train and truth that somebody split: the findings of `Split.audit`, as a frame of truth's kind.

    The columns are `user` and `item`, unless named here, or of one frame alone by `rf.frame(train, user="customer")`. With
    `time`, the time of each row, leaks from the future are found too. Where both frames have a column `fold`, as those of a
    split with several folds have, each fold is checked by itself.

    Raises a ColumnError for a missing column, and for ids or times whose dtypes do not match.

    >>> import polars as pl, recframe as rf
    >>> train = pl.DataFrame({"user": [1, 1, 2], "item": [10, 11, 10], "day": [1, 4, 2]})
    >>> truth = pl.DataFrame({"user": [1, 2], "item": [12, 11], "day": [3, 5]})
    >>> rf.audit_split(train, truth, time="day").select("check", "severity", "frame", "rows").head(1)
    shape: (1, 4)
    ┌─────────────────┬──────────┬───────┬──────┐
    │ check           ┆ severity ┆ frame ┆ rows │
    │ ---             ┆ ---      ┆ ---   ┆ ---  │
    │ str             ┆ str      ┆ str   ┆ i64  │
    ╞═════════════════╪══════════╪═══════╪══════╡
    │ future_in_train ┆ error    ┆ train ┆ 1    │
    └─────────────────┴──────────┴───────┴──────┘
    """
    check_threads()
    named = {"user": user, "item": item, "time": time}
    options = {name: value for name, value in named.items() if value is not None}
    context = Context().bind(options)
    frames = {"train": in_memory(train, "train"), "truth": in_memory(truth, "truth")}
    sides = {
        name: Side(f"the {name} frame", frame, context, name) for name, frame in frames.items()
    }
    for side in sides.values():
        if side.kind.engine is not None:
            msg = f"rf.audit_split takes frames of Polars, pandas and Arrow, and {side.kind.engine.name} has none"
            raise RecframeError(msg)
    folds = _folds_of(sides)
    taken = {}
    for name, side in sides.items():
        has_time = side.context.time is not None
        column = [Segment(FOLD, FOLD, "row")] * bool(folds)
        taken[name] = side.take(["user", "item"] + ["time"] * has_time, column).lazy()
    schemas = {name: rows.collect_schema() for name, rows in taken.items()}
    check_dtypes(schemas, sides)
    taken = matched(taken, schemas, sides, [], None)
    kind = sides["truth"].kind
    sizes = [side.kind.size for side in sides.values()]
    size = 0 if any(side.kind.is_lazy for side in sides.values()) else sum(sizes)
    kind.stand_beside(sides["train"].kind.size)
    rows = in_frames(
        taken["train"], taken["truth"], (sides["train"], sides["truth"]), folds, size=size
    )
    return _audited(rows, kind)


def _folds_of(sides: Mapping[str, Side]) -> list[int]:
    """Return the folds that both frames have, where both have a column of them."""
    if not all(FOLD in side.columns for side in sides.values()):
        return []
    numbers: set[int] = set()
    for side in sides.values():
        if side.kind.is_lazy:
            msg = (
                f"both LazyFrames have a column {FOLD!r}, whose values are not known before they are collected; audit each "
                f"fold by itself: rf.audit_split(train.filter(pl.col('{FOLD}') == 0), ...), and drop the column"
            )
            raise RecframeError(msg)
        taken = at_hand(side.kind.take({FOLD: FOLD}))
        numbers |= set() if taken is None else {*taken[FOLD].drop_nulls()}
    return sorted(numbers)
