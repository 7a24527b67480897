"""Answers about a split: its audit, description and card."""

from __future__ import annotations

from typing import Generic

from recframe.api import reprs
from recframe.api.argument_errors import F
from recframe.audit.split_rows import in_folds
from recframe.splits.description import described
from recframe.splits.labels import Labels


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
        from recframe.audit.report import audit_split  # noqa: PLC0415  importing recframe should take no time

        labels = self._labels
        kind = labels.log.kind
        rows = {fold.number: fold.rows for fold in labels.folds}
        folds = in_folds(rows, labels.rule.parted_by, size=kind.size)
        result: F = kind.give(audit_split(folds), {})
        return result

    def describe(self) -> F:
        """Return what the split looks like: one row for each fold.

        Columns, those of times where a time is bound:
            fold; train_from, train_to, truth_from, truth_to: the first and last times; gap: from train_to to truth_from.
            rows_train, users_train, items_train; rows_truth, users_truth, items_truth.
            rows_fold_in, rows_gap, ...: the rows of each other part.
            share: rows of truth, of those of truth, train and fold_in.
            cold_users: the share of truth whose user is not in train or fold_in.
            cold_items: the share of truth whose item is not in train; such rows
                no model that learns from train alone can recommend.
            seen: the share of truth whose pair is in train or fold_in.
            median_rows_train, median_rows_truth: rows of a user there, of the users who have any.

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
        plan = described(labels)
        result: F = labels.log.kind.give(plan, {})
        return result

    def __repr__(self) -> str:
        """Return the rule, the log and the rows of each part; nothing of a LazyFrame is collected."""
        labels = self._labels
        n_folds = len(labels.folds)
        words = f"split by {labels.rule.words} of {reprs.of_frame(labels.log.kind.frame)}"
        if n_folds > 1:
            words = f"{words} in {n_folds} folds"
        if labels.log.is_lazy:
            return words
        rows = labels.of(lambda fold: fold.rows)
        counts = rows.group_by("part").len().sort("part")
        found = labels.log.kind.run(counts).rows()
        parts = [f"{n:,} {part}" for part, n in found]
        return f"{words}: {', '.join(parts)}"
