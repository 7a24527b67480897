"""Checks of ids: rows without one, ids that cannot match or that are spelled otherwise, and keys that repeat."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.notices_of_ids import HARDLY, in_common
from recframe.audit.rule import Found, check
from recframe.audit.words_of_checks import (
    ROWS,
    item,
    user,
)
from recframe.frames.hints import NAMED, Either, bind, text
from recframe.judging.relevance import lacks_model, may_lack_models


@check("error", "the row is ignored", "drop the row, or find out why its id is missing")
def null_ids(data: Audited) -> Iterator[Found]:
    """Rows without a user or an item."""
    for name, rows in data.pairs.items():
        yield Found(name, rows.filter(user.is_null() | item.is_null()))


@check(
    "error",
    "a metric raises",
    "give each ranked row the name of its model, or drop the row; a judged row that nobody lists may name none",
)
def null_models(data: Audited) -> Iterator[Found]:
    """Ranked rows without a model, where one is bound."""
    if may_lack_models(data.inputs):
        yield Found(data.main, data.pairs_of_lists.filter(lacks_model(data.inputs)))


@check("error", "a metric raises", "cast the column to one dtype in all frames")
def id_dtypes(data: Audited) -> Iterator[Found]:
    """Ids of a dtype that cannot match the lists' ids, such as 1 and '1'."""
    for inside, message in data.clashes.items():
        for name, rows in data.pairs.items():
            if name == data.main:
                yield Found(name, rows.filter(pl.col(inside).is_not_null()), message, always=True)


@check(
    "error",
    "the ids are different ones, and nothing matches them",
    "strip the ids and cast them before they become text",
    of_all=True,
)
def id_spellings(data: Audited) -> Iterator[Found]:
    """Ids that are another one's but for blanks around them or a point and noughts behind them: ' a' and 'a', '1.0' and '1'."""
    for role, spellings in data.spellings.items():
        for name, rows in data.having(role).items():
            found = rows.join(
                spellings, left_on=pl.col(role).cast(pl.String), right_on="spelling", how="semi"
            )
            yield Found(name, found, (role,))


def _apart(data: Audited, role: str) -> Iterator[Found]:
    """Find frames with hardly an id in common with the lists: fewer than one in a hundred of the fewer ones."""
    if role in data.clashes:
        return
    for name, rows in data.having(role).items():
        if name != data.main:
            ids = data.ids[data.main, role], data.ids[name, role]
            counts = in_common(data.inputs.lists, rows, role, ids)
            fewer = pl.min_horizontal("here", "there")
            found = counts.filter((fewer > 0) & (pl.col("common") < HARDLY * fewer))
            n_ids = pl.col("there").cast(pl.Int64).alias("rows")
            found = found.select(n_ids, lists="such_here", **{name: "such_there"})
            if name == "train":  # new users and new items have no history
                meant = "nothing, if no history is meant"
                yield Found(name, found, ("lists", name), "warning", remedy=meant)
            else:
                yield Found(name, found, ("lists", name))


SAME_IDS = "give both frames the same ids, or name the column that has them: "


@check(
    "error", "nothing or hardly anything is found", text(SAME_IDS, bind(user=NAMED)), of_all=True
)
def no_common_users(data: Audited) -> Iterator[Found]:
    """Frames whose user ids are hardly any of the lists', `rows` of them."""
    yield from _apart(data, "user")


@check(
    "error", "nothing or hardly anything is found", text(SAME_IDS, bind(item=NAMED)), of_all=True
)
def no_common_items(data: Audited) -> Iterator[Found]:
    """Frames whose item ids are hardly any of the lists', `rows` of them."""
    yield from _apart(data, "item")


@check("error", "a metric raises", text("keep one row for each", Either(": frame.unique(...)")))
def repeated_keys(data: Audited) -> Iterator[Found]:
    """Users or items with two rows in the frame that describes them."""
    for name, role, frame in (
        ("users", "user", data.inputs.users),
        ("items", "item", data.inputs.items),
    ):
        if frame is not None:
            rows = frame.filter(pl.col(role).is_not_null()).group_by(role).agg(ROWS)
            yield Found(name, rows.filter(pl.col("rows") > 1), (role, "rows"))
