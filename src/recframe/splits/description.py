"""Descriptions of a split in numbers, and of its truth by kinds."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from recframe.audit.split_rows import ENDS, HISTORIES, KNOWN, PAIR, is_in
from recframe.frames.rows.joins import beside_one_another, joined
from recframe.splits.labels import Fold, Labels
from recframe.splits.log import FOLD
from recframe.splits.rules import label


def described(labels: Labels) -> pl.LazyFrame:
    """Return one row for each fold, with the times, rows, users and items of train and truth, and shares of truth."""
    facts = dict(ENDS) if "time" in labels.log.names else {}
    for part in ("train", "truth"):
        is_there = is_in(part)
        facts[f"rows_{part}"] = is_there.sum().cast(pl.Int64)
        for role in PAIR:
            facts[f"{role}s_{part}"] = pl.col(role).filter(is_there).n_unique().cast(pl.Int64)
    facts["share"] = is_in("truth").sum() / is_in(*KNOWN, "truth").sum()

    def of_fold(fold: Fold) -> pl.LazyFrame:
        """Return what is told of one fold."""
        truth = fold.by_rule.with_histories(fold.in_parts("truth"))
        return beside_one_another(
            [
                fold.rows.select(**facts),
                truth.select(
                    cold_users=(_OF_USER == 0).mean(),
                    cold_items=(_OF_ITEM == 0).mean(),
                    seen=(_OF_PAIR > 0).mean(),
                ),
            ]
        )

    return labels.of(of_fold).select(FOLD, pl.exclude(FOLD))


KINDS = {
    "user_kind": pl.Enum(["cold", "few", "warm"]),
    "item_kind": pl.Enum(["cold", "tail", "head"]),
    "pair_kind": pl.Enum(["repeat", "discovery"]),
}
COLUMNS = ("user_history", "item_history", *KINDS)
"""The columns that `Split.truth` has beside those of the log."""
FEW = 5
"""The rows from which a user is warm."""
_OF_USER, _OF_ITEM, _OF_PAIR = map(pl.col, HISTORIES)
USER_KIND = label({"cold": _OF_USER == 0, "few": _OF_USER < FEW}, "warm", KINDS["user_kind"])
PAIR_KIND = label({"repeat": _OF_PAIR > 0}, "discovery", KINDS["pair_kind"])


def with_kinds(fold: Fold) -> pl.LazyFrame:
    """Return the rows of truth with `COLUMNS`, in the order of the log."""
    truth = fold.by_rule.with_histories(fold.in_parts("truth"))
    truth = truth.with_columns(user_kind=USER_KIND, pair_kind=PAIR_KIND)
    return fold.log.held(with_item_kinds(truth, item_kinds(fold)))


def of_users(fold: Fold, users: pl.LazyFrame) -> pl.LazyFrame:
    """Return users with `user_history`, their rows that a model may read, and `user_kind`."""
    rows = replace(fold.by_rule, users=users).with_histories(users, ["user_history"])
    return rows.with_columns(user_kind=USER_KIND)


def item_kinds(fold: Fold) -> pl.LazyFrame:
    """Return the items of train with `item_kind`: head if those of more rows make up less than 80 % of the rows.

    So items of as many rows are alike.
    """
    items = fold.by_rule.item_history.sort("item_history", descending=True)
    items = items.with_columns(above=_OF_ITEM.cum_sum() - _OF_ITEM)
    above = pl.col("above").min().over("item_history")
    is_head = above * 5 < _OF_ITEM.sum() * 4
    return items.select("item", item_kind=label({"head": is_head}, "tail", KINDS["item_kind"]))


def with_item_kinds(frame: pl.LazyFrame, kinds: pl.LazyFrame, *keys: str) -> pl.LazyFrame:
    """Return rows with the columns of `item_kinds`, cold of items that train does not have."""
    cold = label({}, "cold", KINDS["item_kind"])
    rows = joined(frame, kinds, [*keys, "item"], in_order=True)
    return rows.with_columns(pl.col("item_kind").fill_null(cold))
