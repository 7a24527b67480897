"""Functions that make lists, called once a fold."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import polars as pl

from recframe.api import progress
from recframe.api.baseline_arguments import like_the_log
from recframe.errors import CallError, ColumnError, DataError, RecframeError, kind_of, shown, warn
from recframe.frames.collecting import stream
from recframe.frames.kinds.lookup import in_memory, is_frame
from recframe.frames.options import Context
from recframe.frames.roles import Side, listed
from recframe.frames.rows.positions import by_item, with_places
from recframe.splits.labels import Labels
from recframe.splits.log import FOLD

Makes = Callable[..., Any]
"""Type of functions of train, users, and if it takes it fold_in, that return lists."""


def check_models(models: object) -> dict[str, Makes]:
    """Return the functions by name, or say what is to be given."""
    named = dict(models) if isinstance(models, Mapping) else {}
    if not named or not all(isinstance(name, str) and callable(one) for name, one in named.items()):
        msg = (
            f"run() takes functions by the names of their models, and found {shown(models)}: run({{'mine': function}}), where "
            "function(train, users) returns lists"
        )
        raise CallError(msg)
    return named


def run(folds: Sequence[Any], models: Mapping[str, Makes], k: int) -> pl.LazyFrame:
    """Return the lists of functions over folds: fold, model, user, item, rank."""
    found = []
    with progress.over(len(folds) * len(models)) as moved:
        for split in folds:
            labels = split._labels  # noqa: SLF001  of this room
            users = users_of(labels)
            for name, function in models.items():
                lists = _Lists(labels, name, users)
                found.append(lists.of(_called(function, split, lists), k))
                moved()
    return pl.concat(found).lazy()


def users_of(labels: Labels) -> pl.DataFrame:
    """Return the users of a fold's truth."""
    return stream(labels.folds[0].users.select("user"))


def _called(function: Makes, split: Any, lists: _Lists) -> Any:
    """Return what a function gives, or say of which model and fold its error is."""
    labels, name = split._labels, split._labels.log.names["user"]  # noqa: SLF001
    kind = labels.log.kind
    users = kind.give(lists.users.lazy().select(pl.first().alias(name)), {name: kind.source(name)})
    more = {"fold_in": split.fold_in} if _takes_fold_in(function) else {}
    try:
        return function(split.train, users, **more)
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
        msg = f"the function of model {lists.model!r} failed in fold {lists.fold}: {found}"
        raise RecframeError(msg) from error


def _takes_fold_in(function: Makes) -> bool:
    with suppress(TypeError, ValueError):
        return "fold_in" in inspect.signature(function).parameters
    return False


class _Lists:
    """Lists of one model and fold."""

    def __init__(self, labels: Labels, model: str, users: pl.DataFrame) -> None:
        self.labels, self.model, self.users = labels, model, users
        self.fold = labels.folds[0].number
        self.title = f"what the function of model {model!r} returned in fold {self.fold}"

    def of(self, frame: Any, k: int) -> pl.DataFrame:
        """Return what a function gave as lists of up to k places."""
        rows = self._ranked(self._taken(frame))
        longer = rows.filter(pl.col("place") > k)["user"].n_unique()
        if longer:
            warn(
                f"the lists of model {self.model!r} in fold {self.fold} have more than k={k} places for {longer} of the users; "
                "they are cut"
            )
        return rows.filter(pl.col("place") <= k).select(
            pl.lit(self.fold, pl.Int64).alias(FOLD),
            pl.lit(self.model).alias("model"),
            "user",
            "item",
            pl.col("place").alias("rank"),
        )

    def _taken(self, frame: Any) -> pl.LazyFrame:
        """Return the columns of lists, after a check of what they are."""
        frame = in_memory(frame, self.title)
        names = self.labels.log.names
        if not is_frame(frame):
            needs = f"{names['user']!r}, {names['item']!r} and 'rank' or 'score'"
            msg = f"{self.title} is {kind_of(frame)}; return a frame with the columns {needs}"
            raise CallError(msg)
        side = Side(self.title, frame, Context(user=names["user"], item=names["item"]))
        order = next((one for one in ("rank", "score") if side.has(one)), None)
        if order is None:
            msg = f"{self.title} has neither a column 'rank' nor 'score'. It has {listed(side.columns)}"
            raise ColumnError(msg)
        roles = ["user", "item", order]
        taken = side.kind.take({role: side.require(role) for role in roles}, ["user", "item"])
        is_number = taken.collect_schema()[order].is_numeric()
        if not is_number:
            msg = f"{self.title} has a column {order!r} that is no number"
            raise ColumnError(msg)
        rows = like_the_log(self.labels, taken.lazy(), dict.fromkeys(["user", "item"], self.title))
        height = pl.col(order).cast(pl.Float64).fill_nan(None)
        return rows.select("user", "item", height=height if order == "rank" else -height)

    def _ranked(self, rows: pl.LazyFrame) -> pl.DataFrame:
        """Return rows in the order of their places, each item of a list once, after a check of the users."""
        ids = pl.col("user", "item").is_not_null()
        best = (
            rows.filter(pl.all_horizontal(ids)).group_by("user", "item").agg(pl.col("height").min())
        )
        order = ["user", "height", *by_item(self.labels.log.schema)]
        found = stream(with_places(best.sort(order, nulls_last=True), ["user"]))
        unknown = found.join(self.users, on="user", how="anti")
        if len(unknown):
            msg = (
                f"{self.title} has users that are not in the truth of the fold, such as {shown(unknown['user'][0])} "
                f"({unknown['user'].n_unique():,} in all); make lists for the users that it gets"
            )
            raise DataError(msg)
        return found
