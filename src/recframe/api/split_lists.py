"""Lists of a split: those of baselines, of functions, and bound ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import polars as pl

from recframe.audit.split_rows import PAIR
from recframe.errors import (
    CallError,
    ColumnError,
    DataError,
    RecframeError,
    dtype_shown,
    fails_if,
    shown,
    warn,
)
from recframe.frames.dtypes import common, in_frames
from recframe.frames.kinds.kind import ask, in_memory, stream
from recframe.frames.options import Context, NamedFrame
from recframe.frames.roles import Side, check_dtypes, listed
from recframe.frames.rows.joins import by_item, joined, with_places
from recframe.splits import description
from recframe.splits.labels import Fold, Labels
from recframe.splits.log import FOLD

Makes = Callable[..., Any]
"""Type of functions of train, users, and if it takes it fold_in, that return lists."""
ROWS = "recommendations"
LISTS = "the frame of lists"
NEW = (FOLD, "model", "rank")
"""The columns that lists have beside the log's own of users and items."""
OF_USERS = ("user", FOLD, "user_history", "user_kind")
"""The columns of users that a split has."""


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
    check_dtypes({ROWS: taken.collect_schema()}, {ROWS: side})
    height = pl.col(order).cast(pl.Float64).fill_nan(None)
    rows = like_the_log(labels, taken, title, *PAIR).drop_nulls(PAIR)
    return rows.select(*PAIR, height=height if order == "rank" else -height)


def bound(labels: Labels, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `rec(...)` with what the split has: truth, train, users and names of columns."""
    for name in ("truth", "train"):
        if options.get(name) is not None:
            raise CallError(
                f"rec() of a split takes no {name}=, which it has itself; lists.rec(truth=truth, train=train) takes others"
            )
    found = {**{role: labels.log.names[role] for role in PAIR}, **options}
    train = labels.of(lambda fold: fold.in_parts("train"))
    train = labels.given(train, labels.fold_beside)
    of_train = {role: name for role, name in labels.log.names.items() if role != "relevance"}
    return {
        **found,
        "truth": _truth(labels),
        "train": NamedFrame(train, of_train),
        "users": _users(labels, found["user"], options.get("users")),
    }


def with_items(labels: Labels, lists: Any, options: dict[str, Any]) -> Any:
    """Return lists with `item_kind`; of a split of one fold those of the fold alone, where they say it.

    `options` get the column of models, if none is named and the lists have one of the name.
    """
    if isinstance(lists, Mapping):
        return {name: with_items(labels, one, options) for name, one in lists.items()}
    side = Side(LISTS, in_memory(lists, LISTS), Context(item=options["item"]))
    _check_lists(labels, side)
    if options["model"] is None and "model" in side.columns:
        options["model"] = "model"
    folds = [FOLD] * (FOLD in side.columns)
    named = {"item": side.require("item"), **{fold: fold for fold in folds}}
    plan = like_the_log(labels, side.kind.held_rows(named), LISTS, "item")
    if folds:
        plan = _of_the_folds(labels, plan)
    kinds = labels.of(description.item_kinds)
    plan = description.with_item_kinds(plan, kinds, *folds)
    return side.kind.give_held(plan, {"item_kind": "item_kind"})


def _check_lists(labels: Labels, side: Side) -> None:
    """Reject lists that cannot be held against the split."""
    if side.kind.engine is not None:
        raise RecframeError(
            f"rec() of a split takes lists of Polars, pandas and Arrow, and {side.kind.engine.name} has none"
        )
    if "item_kind" in side.columns:
        raise ColumnError(
            f"{LISTS} has a column 'item_kind' already, which the split adds; drop or rename it"
        )
    if FOLD not in side.columns and len(labels.folds) > 1:
        raise ColumnError(
            f"{LISTS} has no column {FOLD!r}, and the split has {len(labels.folds)} folds, each with its own truth: add it to "
            "the lists, as baselines() and run() do, or bind the lists of each fold: split.folds[0].rec(lists)"
        )


def _of_the_folds(labels: Labels, lists: pl.LazyFrame) -> pl.LazyFrame:
    """Return lists with folds as whole numbers; of a split of one fold its own."""
    dtype, fold = lists.collect_schema()[FOLD], pl.col(FOLD)
    if not dtype.is_integer():
        raise ColumnError(
            f"column {FOLD!r} of {LISTS} is {dtype_shown(dtype)}; folds are whole numbers, as a split's own are"
        )
    lists = lists.with_columns(fold.cast(pl.Int64))
    if len(labels.folds) > 1:
        return lists
    last = len(labels.rule.parts) - 1
    words = (
        f"column {FOLD!r} of {LISTS} has a value that is none of the folds, which are 0 to {last}"
    )
    is_unknown = ~fold.is_between(0, last).fill_null(value=False)
    checked = lists.with_columns(fold + fails_if(is_unknown, words))
    return checked.filter(fold == labels.folds[0].number)


def _truth(labels: Labels) -> NamedFrame:
    """Return the truth, with its fold and the kinds of items and pairs."""
    truth = labels.of(description.with_kinds)
    beside = {name: name for name in (FOLD, "item_kind", "pair_kind")}
    names: dict[str, Any] = dict(labels.log.names)
    if labels.log.context.relevance is False:
        names["relevance"] = False
    return NamedFrame(labels.given(truth, beside), names)


def _users(labels: Labels, user: str, given: Any) -> NamedFrame:
    """Return the users of each fold's truth and those of `users=`, with their history and kind, and the columns of `users=`."""
    more = None if given is None else _more(labels, user, given)

    def of_fold(fold: Fold) -> pl.LazyFrame:
        users = fold.users.select("user")
        if more is not None:
            users = pl.concat([users, more.select("user")]).unique()
        return description.of_users(fold, users)

    found = labels.of(of_fold)
    found = (found if more is None else joined(found, more, ["user"])).rename({"user": user})
    if len(labels.folds) == 1:
        found = found.drop(FOLD)
    return NamedFrame(found if labels.log.is_lazy else ask([found])[0], {"user": user})


def _more(labels: Labels, user: str, given: Any) -> pl.LazyFrame:
    """Return the columns of `users=`, with the user's id as `user` in the dtype of the log."""
    side = Side("the frame users=", in_memory(given), Context(user=user), "users")
    own = side.require("user")
    others = {name: name for name in side.columns if name != own}
    for name in OF_USERS:
        if name in others:
            raise ColumnError(
                f"{side.title} has a column {name!r}, which the split adds; drop or rename it"
            )
    taken = side.kind.take({"user": own} | others, ["user"]).lazy().drop_nulls("user")
    return like_the_log(labels, taken, side.title, "user")
