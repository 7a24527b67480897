"""Arguments of `Split.baselines`, and the form of its lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from recframe.api.argument_errors import plain
from recframe.errors import CallError, ColumnError, RecframeError, fails_if, shown, suggestion
from recframe.frames.dtypes import common, in_frames
from recframe.frames.options import Context
from recframe.frames.roles import Side, listed
from recframe.splits.baselines import BASELINES, Asked
from recframe.splits.filters import CHOICES
from recframe.splits.hashing import check_ids
from recframe.splits.labelling import Labels
from recframe.splits.log_rows import FOLD
from recframe.splits.times import length_of
from recframe.statistics.options import whole

DEFAULT = ("oracle", "popular")
"""The baselines that stand beside every model: what cannot be beaten, and what has to be."""
NEW = (FOLD, "model", "rank")
"""The columns that lists have beside the log's own of users and items."""


def names_of(given: Sequence[Any]) -> list[str]:
    """Return the names of baselines, each once, or say which there are."""
    flat = [name for one in given for name in ([one] if isinstance(one, str) else _several(one))]
    for name in flat:
        if name not in BASELINES:
            close = suggestion(name, BASELINES) if isinstance(name, str) else ""
            known = ", ".join(map(repr, BASELINES))
            msg = f"there is no baseline {shown(name)}{close or '.'} There are {known}"
            raise RecframeError(msg)
    return list(dict.fromkeys(flat)) or list(DEFAULT)


def _several(given: object) -> list[Any]:
    return list(given) if isinstance(given, list | tuple) else [given]


def asked_of(labels: Labels, names: Sequence[str], options: Mapping[str, Any]) -> Asked:
    """Return what baselines are asked for, after checks."""
    log, seen, within = labels.log, options["seen"], options["within"]
    if seen is not None and seen not in CHOICES["seen"]:
        msg = f"seen={shown(seen)}: write 'drop', or 'keep' so that lists may have what the user has seen"
        raise RecframeError(msg)
    if within not in {None, "train_items"}:
        msg = f"within={shown(within)}: write 'train_items', so that the oracle leaves out items that train does not have"
        raise RecframeError(msg)
    window = options["window"]
    if window is not None:
        window = length_of("window", window, log.require_time(labels.rule.call))
    if "random" in names:
        check_ids(log.schema, {"user": log.names["user"]})
    groups = _groups(labels, options) if "popular_in" in names else pl.LazyFrame()
    drops = labels.filters.seen if seen is None else seen
    return Asked(
        whole("k", options["k"], 1),
        window,
        plain("seed", options["seed"]),
        drops_seen=drops == "drop",
        recent=whole("recent", options["recent"], 1),
        within_train=within is not None,
        groups=groups,
    )


def _groups(labels: Labels, options: Mapping[str, Any]) -> pl.LazyFrame:
    """Return the `group` of each user or item, for popular_in."""
    column = options["column"]
    given = {name: options[name] for name in ("users", "items") if options[name] is not None}
    if not given or not isinstance(column, str):
        msg = "'popular_in' needs a column of users or items: baselines('popular_in', users=users, column='country')"
        raise CallError(msg)
    sides = {
        name: Side(f"the frame {name}=", frame, _names(labels), name)
        for name, frame in given.items()
    }
    having = [name for name, side in sides.items() if column in side.columns]
    if len(having) != 1:
        where = f"both {' and '.join(having)}; give one of them" if having else "none of the frames"
        columns = [name for side in sides.values() for name in side.columns]
        found = f"column={column!r} is in {where}" + ("" if having else suggestion(column, columns))
        msg = f"{found}. There are {listed(columns)}"
        raise ColumnError(msg)
    (name,) = having
    role = name.removesuffix("s")
    side = sides[name]
    taken = side.kind.take({role: side.require(role), "group": column}, [role]).lazy()
    groups = like_the_log(labels, taken, {role: side.title}).filter(pl.col(role).is_not_null())
    twice = f"{side.title} has {'a user' if role == 'user' else 'an item'} twice; it takes one row for each"
    once = groups.group_by(role).agg(pl.col("group").first(), n=pl.len())
    return once.filter(fails_if(pl.col("n") > 1, twice) == 0).drop("n")


def _names(labels: Labels) -> Context:
    """Return a context with the log's own names of ids."""
    names = labels.log.names
    return Context(user=names["user"], item=names["item"])


def like_the_log(labels: Labels, rows: pl.LazyFrame, titles: Mapping[str, str]) -> pl.LazyFrame:
    """Return rows with ids in the dtypes of the log, or say that they cannot match; `titles` name the frame by role."""
    own, others = labels.log.schema, rows.collect_schema()
    casts = []
    for role, title in titles.items():
        dtypes = {"the log": own[role], title: others[role]}
        if common(dtypes) is None:
            msg = (
                f"the {role} ids have different dtypes: {in_frames(dtypes)}; cast them to one dtype"
            )
            raise ColumnError(msg)
        # a value that the log's dtype cannot hold is none of the log's ids
        casts += [pl.col(role).cast(own[role], strict=False)] * (own[role] != others[role])
    return rows.with_columns(casts)


def given(labels: Labels, lists: pl.LazyFrame) -> Any:
    """Return lists (fold, model, user, item, rank) as a frame of the log's kind, with its names of users and items."""
    log = labels.log
    ids = {role: log.names[role] for role in ("user", "item")}
    for name in ids.values():
        if name in NEW:
            msg = f"the log has users or items in a column {name!r}, which is the name of a column of lists; rename it first"
            raise ColumnError(msg)
    named = {FOLD: FOLD, "model": "model", **ids, "rank": "rank"}
    plan = lists.select(pl.col(inside).alias(name) for inside, name in named.items())
    sources = {name: log.kind.source(name) for name in ids.values()}
    return log.kind.give(plan, sources)
