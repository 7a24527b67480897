"""Class `Split`, a log with a label on every row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic, cast

import polars as pl

from recframe.api import reprs, split_lists
from recframe.api.argument_errors import F
from recframe.frames.kinds.several_models import held
from recframe.frames.options import Folds, one_of, whole
from recframe.splits import description
from recframe.splits.baselines import BASELINES, BOUNDS, Asked, lists_of
from recframe.splits.labels import CHOICES, Labels, Seen
from recframe.splits.log import FOLD, PART
from recframe.splits.rules import Part
from recframe.splits.times import length_of

DEFAULT = ("oracle", "popular")
"""The baselines that stand beside every model: what cannot be beaten, and what has to be."""


class Split(Generic[F]):
    """A log with a label on every row: its fold and its part, see `labels`.

    Iterate over a split, or take `folds`, for splits of one fold each.
    """

    def __init__(self, labels: Labels) -> None:
        self._labels = labels

    @property
    def labels(self) -> F:
        """The log with the columns `fold` (0 is the earliest) and `part`; a row for each row of the log and fold.

        Parts: `train`, `fold_in` (rows of a test user that a model may read), `truth`; and why a row is neither: `gap`,
        `earlier`, `later`, `not_target`, `not_relevant`, `seen`, `cold_user`, `cold_item`, `null` (no user, item or time). It
        is a frame of the kind of the log, lazy if that is; rows are in the order of folds, and within one in that of the log.
        """
        labels = self._labels
        beside = {FOLD: FOLD, "part": PART}
        return cast("F", labels.given(labels.of(lambda fold: fold.rows), beside))

    @property
    def train(self) -> F:
        """The rows of train, with the columns of the log, and `fold` where there are several."""
        return self._of("train")

    @property
    def fold_in(self) -> F:
        """The rows of test users that a model may read, of `by_user`; with the columns of train."""
        return self._of("fold_in")

    @property
    def truth(self) -> F:
        """The rows of truth, with the columns of train, and with what a model may know of each.

            user_history, item_history: the rows of the user in train (and fold_in), of the item in train.
            user_kind: "cold" without a row, "few" with less than 5, "warm".
            item_kind: "cold" without a row, "head" if the items of more rows make up less than 80 % of train, else "tail".
            pair_kind: "repeat" if the user has the item in train or fold_in, else "discovery".

        `s.rec(lists)` takes them as segments: `by="user_kind"`, `by="item_kind"`, `by="pair_kind"`. They take most of the time:
        `s.labels` has the same rows without them.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2, 1], "item": [10, 11, 10, 10], "day": [1, 2, 3, 3]})
        >>> log.rec(time="day").split.by_time(at=3).truth.select("user", "user_history", "user_kind", "pair_kind")
        shape: (2, 4)
        ┌──────┬──────────────┬───────────┬───────────┐
        │ user ┆ user_history ┆ user_kind ┆ pair_kind │
        │ ---  ┆ ---          ┆ ---       ┆ ---       │
        │ i64  ┆ i64          ┆ enum      ┆ enum      │
        ╞══════╪══════════════╪═══════════╪═══════════╡
        │ 2    ┆ 0            ┆ cold      ┆ discovery │
        │ 1    ┆ 2            ┆ few       ┆ repeat    │
        └──────┴──────────────┴───────────┴───────────┘
        """
        labels = self._labels
        truth = labels.of(description.with_kinds)
        beside = {name: name for name in description.COLUMNS}
        return cast("F", labels.given(truth, labels.fold_beside | beside))

    def _of(self, part: Part) -> F:
        labels = self._labels
        return cast(
            "F", labels.given(labels.of(lambda fold: fold.in_parts(part)), labels.fold_beside)
        )

    @cached_property
    def folds(self) -> list[Split[F]]:
        """The folds, each a split of its own."""
        labels = self._labels
        return [Split(replace(labels, folds=[fold])) for fold in labels.folds]

    def baselines(
        self,
        *names: str,
        k: int = 100,
        window: Any = None,
        seed: int = 0,
        seen: Seen | None = None,
    ) -> F:
        """Return the lists of baselines for the users of each fold's truth, made of the fold's train alone.

        popular: the items of most users in train, equal ones by item, ascending.
        recent: popular among the rows of the last `window` of train, such as "7d"; the split's horizon if left out.
        random: the items of train in the order of hash64(seed, item), which each user enters at place hash64(seed, user) mod
            n of the n items, and follows around.
        repeat: the user's own items, the last one first, then those of most rows, then by item.
        oracle: the truth itself by relevance: what no model can beat, never a candidate; with `seen="drop"` without pairs that
            the user has seen.

        Without names it is `oracle` and `popular`, which belong beside every model. `seen="drop"` leaves out what a user has in
        train or fold_in, and fills lists up to `k`; it is the default of a split that drops them, else they are kept. `repeat`
        never drops them. Other baselines are functions, such as a neighbourhood model, which `run` calls.

        The frame is of the kind of the log, lazy if that is: `fold`, `model`, the log's own columns of users and items, `rank`.
        Put the lists of models beside it, and bind both with `rec`.

        Raises a RecframeError for an unknown name, or a length that is missing.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2, 3], "item": [10, 11, 10, 12], "day": [1, 2, 2, 3]})
        >>> log.rec(time="day").split.by_time(at=3).baselines("popular", k=1)
        shape: (1, 5)
        ┌──────┬─────────┬──────┬──────┬──────┐
        │ fold ┆ model   ┆ user ┆ item ┆ rank │
        │ ---  ┆ ---     ┆ ---  ┆ ---  ┆ ---  │
        │ i64  ┆ str     ┆ i64  ┆ i64  ┆ i64  │
        ╞══════╪═════════╪══════╪══════╪══════╡
        │ 0    ┆ popular ┆ 3    ┆ 10   ┆ 1    │
        └──────┴─────────┴──────┴──────┴──────┘
        """
        labels = self._labels
        known = [*dict.fromkeys(names)] or [*DEFAULT]
        for name in known:
            one_of("baseline", name, BASELINES)
        one_of("seen", seen, (None, *CHOICES["seen"]))
        if window is not None:
            window = length_of("window", window, labels.log.require_time("baselines"))
        drops_seen = (seen or labels.filters.seen) == "drop"
        asked = Asked(whole("k", k, 1), window, whole("seed", seed, 0), drops_seen)
        return cast("F", split_lists.given(labels, lists_of(labels.folds, known, asked)))

    def run(self, models: Mapping[str, split_lists.Makes], *, k: int = 100) -> F:
        """Return the lists that functions make: each is called once a fold, with its train and the users of its truth.

        `function(train, users)` gets frames of the kind of the log, `users` of one column, and returns lists: users and items
        under the log's names, and `rank` or `score`. An argument `fold_in` gets the rows of test users that it may read.
        The result has the columns of `baselines`: rank is the place in the list, of equal ones by item, up to `k`; an item that
        stands twice counts once. Longer lists are cut with a warning.

        Raises a RecframeError that names fold and model where a function fails, or returns no list, and a DataError for users
        that are not in the fold's truth.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2, 1], "item": [10, 11, 10, 12], "day": [1, 2, 2, 3]})
        >>> split = log.rec(time="day").split.by_time(at=3)
        >>> def last_sold(train, users):
        ...     return users.join(train.tail(1).select("item", rank=1), how="cross")
        >>> split.run({"last_sold": last_sold}).row(0)
        (0, 'last_sold', 1, 10, 1)
        """
        lists = split_lists.run(self.folds, models, whole("k", k, 1))
        return cast("F", split_lists.given(self._labels, lists))

    def rec(self, lists: Any, *, model: str | None = None, **options: Any) -> Any:
        """Return the `rec` of lists with the truth and the train of the split: `s.rec(lists).evaluate("ndcg@10")`.

        The lists have the log's names of users and items, and with several folds a column `fold`: each is held against its own
        fold's truth and train, see `rec`. Of a split of one fold, lists without the column belong to it, and of others only
        its rows are read. `model` is the column of models, "model" where the lists have one. Other options are those of
        `rec(...)`: `users`, `items`, policies.

        Segments beside those of your frames, see `truth`: `by="fold"`; `by="user_kind"`; `by="item_kind"` of the items of lists
        and truth, where ranks stay and scores are ranked within the kind; `by="pair_kind"` of the truth alone, so that lists
        stay whole. The model `oracle` of `baselines` is a bound: `compare`, `power` and `require` leave it out.

        Raises a ColumnError for a missing column, and a CallError for `truth=` and `train=`.

        >>> import polars as pl, recframe
        >>> log = pl.DataFrame({"user": [1, 1, 2, 1], "item": [10, 11, 10, 10], "day": [1, 2, 2, 3]})
        >>> split = log.rec(time="day").split.by_time(at=3)
        >>> split.rec(split.baselines("popular", "oracle", k=1)).evaluate("mrr").rows()
        [('oracle', 1, 1.0), ('popular', 1, 1.0)]
        """
        labels = self._labels
        found = split_lists.bound(labels, {"model": model, **options})
        frame, found = held(split_lists.with_items(labels, lists, found), found)
        # the class that is registered on frames, whose file imports this one
        made: Any = pl.DataFrame.rec(frame)(**found)  # type: ignore[attr-defined]
        numbers = tuple(fold.number for fold in labels.folds)
        folds = Folds(numbers, FOLD) if len(self) > 1 else None
        context = replace(made._context, split=labels, folds=folds, bounds=BOUNDS)  # noqa: SLF001  of this room
        return made._with(context)  # noqa: SLF001  as above

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
        folds = {one.number: replace(one.by_rule, rows=one.rows) for one in labels.folds}
        return cast("F", labels.log.kind.give(audit_split(folds), {}))

    def describe(self) -> F:
        """Return what the split looks like: one row for each fold.

        Columns, those of times where a time is bound:
            fold; train_from, train_to, truth_from, truth_to: the first and last times.
            rows_train, users_train, items_train; rows_truth, users_truth, items_truth.
            share: rows of truth, of those of truth, train and fold_in.
            cold_users: the share of truth whose user is not in train or fold_in.
            cold_items: the share of truth whose item is not in train; such rows
                no model that learns from train alone can recommend.
            seen: the share of truth whose pair is in train or fold_in.

        The split's own text, `str(split)`, has the rows of every part.

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
        plan = description.described(labels)
        return cast("F", labels.log.kind.give(plan, {}))

    def __repr__(self) -> str:
        """Return the rule, the log and the rows of each part; nothing of a LazyFrame is collected."""
        labels = self._labels
        words = f"split by {labels.rule.words} of {reprs.of_frame(labels.log.kind.frame)}"
        words += f" in {len(self)} folds" * (len(self) > 1)
        if labels.log.kind.is_lazy:
            return words
        rows = labels.of(lambda fold: fold.rows)
        counts = rows.group_by("part").len().sort("part")
        found = labels.log.kind.run(counts).rows()
        parts = [f"{n:,} {part}" for part, n in found]
        return f"{words}: {', '.join(parts)}"

    def __len__(self) -> int:
        return len(self._labels.folds)

    def __iter__(self) -> Iterator[Split[F]]:
        return iter(self.folds)
