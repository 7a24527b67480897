"""Lists of a split: those of baselines, and those of functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import polars as pl

from recframe.errors import CallError, ColumnError, DataError, RecframeError, shown, warn
from recframe.frames.dtypes import common, in_frames
from recframe.frames.kinds.kind import in_memory, stream
from recframe.frames.options import Context
from recframe.frames.roles import Side, check_dtypes, listed
from recframe.frames.rows.joins import by_item, with_places
from recframe.splits.labels import Labels
from recframe.splits.log import FOLD, PAIR

Makes = Callable[..., Any]
"""Type of functions of train, users, and if it takes it fold_in, that return lists."""
LISTS = "recommendations"
NEW = (FOLD, "model", "rank")
"""The columns that lists have beside the log's own of users and items."""


def like_the_log(labels: Labels, rows: pl.LazyFrame, title: str, *roles: str) -> pl.LazyFrame:
    """Return rows of a frame with ids in the dtypes of the log, or say that they cannot match."""
    own, others = labels.log.schema, rows.collect_schema()
    for role in roles:
        dtypes = {"the log": own[role], title: others[role]}
        if common(dtypes) is None:
            raise ColumnError(
                f"the {role} ids have different dtypes: {in_frames(dtypes)}; cast them to one dtype"
            )
    # a value that the log's dtype cannot hold is none of the log's ids
    unlike = [role for role in roles if own[role] != others[role]]
    return rows.with_columns(pl.col(role).cast(own[role], strict=False) for role in unlike)


def given(labels: Labels, lists: pl.LazyFrame) -> Any:
    """Return lists (fold, model, user, item, rank) as a frame of the log's kind, with its names of users and items."""
    log = labels.log
    ids = {role: log.names[role] for role in PAIR}
    for name in ids.values():
        if name in NEW:
            raise ColumnError(
                f"the log has users or items in a column {name!r}, which is the name of a column of lists; rename it first"
            )
    plan = lists.select(FOLD, "model", *PAIR, "rank").rename(ids)
    return log.kind.give(plan, {name: log.kind.source(name) for name in ids.values()})


def run(folds: Sequence[Any], models: object, k: int) -> pl.LazyFrame:
    """Return the lists of functions over folds: fold, model, user, item, rank."""
    named = dict(models) if isinstance(models, Mapping) else {}
    if not named or not all(map(callable, named.values())):
        raise CallError(
            f"run() takes functions by the names of their models, and found {shown(models)}: run({{'mine': function}}), where "
            "function(train, users) returns lists"
        )
    found = []
    for split in folds:
        users = stream(split._labels.folds[0].users.select("user"))  # noqa: SLF001  of this room
        for model, function in named.items():
            found.append(_lists(split, str(model), function, users, k))
    return pl.concat(found).lazy()


def _lists(split: Any, model: str, function: Makes, users: pl.DataFrame, k: int) -> pl.DataFrame:
    """Return the lists of a model in one fold: each item of a list once, up to k places."""
    labels = split._labels  # noqa: SLF001
    fold = labels.folds[0].number
    title = f"what the function of model {model!r} returned in fold {fold}"
    try:
        made = _called(function, split, users)
    except Exception as error:
        raise RecframeError(
            f"the function of model {model!r} failed in fold {fold}: {type(error).__name__}: {error}"
        ) from error
    best = _rows(labels, made, title).group_by(PAIR).agg(pl.col("height").min())
    order = ["user", "height", *by_item(labels.log.schema)]
    ranked = stream(with_places(best.sort(order, nulls_last=True), ["user"]))
    unknown = ranked.join(users, on="user", how="anti")["user"]
    if len(unknown):
        raise DataError(
            f"{title} has users that are not in the truth of the fold, such as {shown(unknown[0])} ({unknown.n_unique():,} in "
            "all); make lists for the users that it gets"
        )
    fits = pl.col("place") <= k
    longer = ranked.filter(~fits)["user"].n_unique()
    if longer:
        warn(
            f"the lists of model {model!r} in fold {fold} have more than k={k} places for {longer} of the users; they are cut"
        )
    names = {FOLD: pl.lit(fold, pl.Int64), "model": pl.lit(model)}
    return ranked.filter(fits).select(**names, user="user", item="item", rank="place")


def _called(function: Makes, split: Any, users: pl.DataFrame) -> Any:
    """Return what a function gives of train and users in the kind of the log."""
    log = split._labels.log  # noqa: SLF001
    name = log.names["user"]
    given = log.kind.give(
        users.lazy().select(pl.first().alias(name)), {name: log.kind.source(name)}
    )
    takes: Mapping[str, Any] = {}
    with suppress(TypeError, ValueError):  # which functions of C have no signature
        takes = inspect.signature(function).parameters
    more = {"fold_in": split.fold_in} if "fold_in" in takes else {}
    return function(split.train, given, **more)


def _rows(labels: Labels, made: Any, title: str) -> pl.LazyFrame:
    """Return the users, the items and what orders them, lowest first, after a check of what a function gave."""
    names = labels.log.names
    side = Side(title, in_memory(made, title), Context(user=names["user"], item=names["item"]))
    order = next(filter(side.has, ("rank", "score")), None)
    if order is None:
        raise ColumnError(
            f"{title} has neither a column 'rank' nor 'score'. It has {listed(side.columns)}"
        )
    taken = side.take([*PAIR, order]).lazy()
    check_dtypes({LISTS: taken.collect_schema()}, {LISTS: side})
    height = pl.col(order).cast(pl.Float64).fill_nan(None)
    rows = like_the_log(labels, taken, title, *PAIR).drop_nulls(PAIR)
    return rows.select(*PAIR, height=height if order == "rank" else -height)
