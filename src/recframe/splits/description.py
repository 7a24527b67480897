"""Descriptions of a split in numbers, and of its truth by kinds."""

from __future__ import annotations

import polars as pl

from recframe.audit.split_rows import ENDS, KNOWN
from recframe.frames.rows.joins import beside_one_another, joined
from recframe.splits.labels import Fold, Labels, with_histories
from recframe.splits.log import FOLD, PAIR
from recframe.splits.rules import PARTS, Part, is_in, label

MAIN: tuple[Part, ...] = ("train", "truth")


def described(labels: Labels) -> pl.LazyFrame:
    """Return one row for each fold, with the times, rows, users and items of its parts, and shares of truth."""
    facts = dict(ENDS) if "time" in labels.log.names else {}
    if facts:
        facts["gap"] = ENDS["truth_from"] - ENDS["train_to"]
    medians = {}
    for part in sorted(PARTS, key=lambda part: part not in MAIN):
        facts[f"rows_{part}"] = is_in(part).sum().cast(pl.Int64)
        for role in PAIR if part in MAIN else ():
            ids = pl.col(role).filter(is_in(part))
            facts[f"{role}s_{part}"] = ids.n_unique().cast(pl.Int64)
            if role == "user":
                medians[f"median_rows_{part}"] = ids.unique_counts().median()
    facts["share"] = is_in("truth").sum() / is_in(*KNOWN, "truth").sum()
    kinds = {
        "cold_users": pl.col("user_kind") == "cold",
        "cold_items": pl.col("item_kind") == "cold",
        "seen": pl.col("pair_kind") == "repeat",
    }
    shares = {name: is_so.mean() for name, is_so in kinds.items()}

    def of_fold(fold: Fold) -> pl.LazyFrame:
        tables = [fold.rows.select(**facts), with_kinds(fold).select(**shares)]
        return beside_one_another([*tables, fold.rows.select(**medians)])

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
HEAD = (4, 5)
"""The share of the rows of train that the items of its head make up, as a fraction."""
_OF_USER, _OF_ITEM = pl.col("user_history"), pl.col("item_history")
USER_KIND = label({"cold": _OF_USER == 0, "few": _OF_USER < FEW}, "warm", KINDS["user_kind"])
ITEM_KIND = label(
    {"cold": _OF_ITEM == 0, "head": pl.col("lowest") <= _OF_ITEM}, "tail", KINDS["item_kind"]
)


def with_kinds(fold: Fold) -> pl.LazyFrame:
    """Return the rows of truth with `COLUMNS`, in the order of the log."""
    truth = with_histories(fold.in_parts("truth"), fold.by_rule)
    truth = truth.join(_head(fold), how="cross", maintain_order="left")
    repeats = {"repeat": pl.col("pair_history") > 0}
    pair_kind = label(repeats, "discovery", KINDS["pair_kind"])
    return fold.log.held(
        truth.with_columns(user_kind=USER_KIND, item_kind=ITEM_KIND, pair_kind=pair_kind)
    )


def of_users(counts: pl.LazyFrame, users: pl.LazyFrame) -> pl.LazyFrame:
    """Return users with `user_history`, their rows that a model may read (`n` of counts), and `user_kind`."""
    rows = joined(users, counts.rename({"n": "user_history"}), ["user"])
    rows = rows.with_columns(pl.col("user_history").fill_null(0))
    return rows.with_columns(user_kind=USER_KIND)


def _head(fold: Fold) -> pl.LazyFrame:
    """Return one row with `lowest`, the rows from which an item is in the head.

    Those of more rows make up less than 80 % of the rows; so items of as many rows are alike.
    """
    n, rows = pl.col("n"), pl.col("rows")
    share, whole = HEAD
    alike = fold.items.group_by("n").agg(rows=n.sum()).sort("n", descending=True)
    in_head = (rows.cum_sum() - rows) * whole < rows.sum() * share
    return alike.filter(in_head).select(lowest=n.min())


def item_kinds(fold: Fold) -> pl.LazyFrame:
    """Return the items of train with `item_kind`."""
    items = fold.items.join(_head(fold), how="cross").rename({"n": "item_history"})
    return items.select("item", item_kind=ITEM_KIND)


def with_item_kinds(frame: pl.LazyFrame, kinds: pl.LazyFrame, *keys: str) -> pl.LazyFrame:
    """Return rows with the columns of `item_kinds`, cold of items that train does not have."""
    cold = label({}, "cold", KINDS["item_kind"])
    rows = joined(frame, kinds, [*keys, "item"], in_order=True)
    return rows.with_columns(pl.col("item_kind").fill_null(cold))
