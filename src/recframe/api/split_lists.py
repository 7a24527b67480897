"""Lists bound to the truth, train and folds of a split."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from recframe.api.fold_runs import like_the_log
from recframe.errors import CallError, ColumnError, RecframeError, dtype_shown, fails_if
from recframe.frames.kinds.kind import ask, in_memory
from recframe.frames.options import Context, NamedFrame
from recframe.frames.roles import Side
from recframe.frames.rows.joins import joined
from recframe.splits import description
from recframe.splits.labels import Fold, Labels
from recframe.splits.log import FOLD, PAIR

LISTS = "the frame of lists"
OF_USERS = ("user", FOLD, "user_history", "user_kind")
"""The columns of users that a split has."""


def bound(labels: Labels, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `rec(...)` with what the split has: truth, train, users and names of columns."""
    for name in ("truth", "train"):
        if options.get(name) is not None:
            raise CallError(
                f"rec() of a split takes no {name}=, which it has itself; lists.rec(truth=truth, train=train) takes others"
            )
    found = {**{role: labels.log.names[role] for role in PAIR}, **options}
    train = labels.given(labels.in_parts("train"), labels.fold_beside)
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
