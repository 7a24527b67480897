"""Arguments of `Split.baselines`, and the form of its lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from recframe.errors import ColumnError
from recframe.frames.dtypes import common, in_frames
from recframe.splits.baselines import BASELINES, Asked
from recframe.splits.hashing import check_ids
from recframe.splits.labels import CHOICES, Labels
from recframe.splits.log import FOLD
from recframe.splits.times import length_of
from recframe.statistics.options import one_of, whole

DEFAULT = ("oracle", "popular")
"""The baselines that stand beside every model: what cannot be beaten, and what has to be."""
NEW = (FOLD, "model", "rank")
"""The columns that lists have beside the log's own of users and items."""


def asked_of(
    labels: Labels, names: Sequence[str], k: object, *, window: Any, seed: object, seen: Any
) -> Asked:
    """Return the arguments of baselines, after checks."""
    log = labels.log
    for name in names:
        one_of("baseline", name, BASELINES)
    one_of("seen", seen, (None, *CHOICES["seen"]))
    if window is not None:
        window = length_of("window", window, log.require_time("baselines"))
    if "random" in names:
        check_ids(log.schema, {"user": log.names["user"]})
    drops = labels.filters.seen if seen is None else seen
    return Asked(whole("k", k, 1), window, whole("seed", seed, 0), drops_seen=drops == "drop")


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
