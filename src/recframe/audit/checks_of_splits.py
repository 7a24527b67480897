"""Checks of splits: leaks from the future, cold rows, few users."""

from __future__ import annotations

import operator
from typing import Any

import polars as pl

from recframe.audit.checks import Finding, Findings, check
from recframe.audit.split_rows import EVENT, PAIR, SplitRows
from recframe.frames.hints import Either, text

LEAST_USERS = 30
"""Fewer users of a fold's truth make rough intervals."""


@check(
    "error",
    "the model has seen rows that come after rows of truth, so metrics are higher than they will be in use",
    "split all users at one point of time, or drop the rows of train from the first truth row on",
    needs=("time",),
)
def future_in_train(data: SplitRows) -> Findings:
    """Rows of train at or after the first row of truth, and rows of truth with train at or after them."""
    late = data.compared("train", "truth_from", operator.ge)
    reached = data.compared("truth", "train_to", operator.le)
    n_train = data.train.select(n_train=pl.len())
    # each with the number of rows of train at its time or after it
    both = pl.concat([reached.with_columns(other=0), late.select("time", other=1)], how="diagonal")
    both = both.sort("time", "other", descending=True).with_columns(later=pl.col("other").cum_sum())
    late, reached = (
        rows.join(n_train, how="cross").with_columns((n / pl.col("n_train")).round(3).alias(name))
        for name, rows, n in (
            ("share", late, pl.len()),
            ("share_of_train_after", both.filter(pl.col("other") == 0), pl.col("later")),
        )
    )
    is_meant = data.order in {"user", "random"}
    remedy = "nothing, if the split is meant so; to know how a model does tomorrow, split at one point of time"
    words: Any = {"severity": "info", "remedy": remedy} if is_meant else {}
    yield Finding("train", late, [*EVENT, "share"], **words)
    yield Finding("truth", reached, [*EVENT, "share_of_train_after"], **words)


@check(
    "error",
    "the model has seen the row that it is asked for",
    "split the log again: each row belongs to train or to truth",
    needs=("time", "frames"),
)
def same_rows(data: SplitRows) -> Findings:
    """Rows of truth that are also in train: the same user, item and time."""
    yield Finding("truth", data.truth.join(data.train, on=EVENT, how="semi"), EVENT)


def _of_pairs(data: SplitRows, concerned: pl.Expr) -> Finding:
    """Return the rows of truth of some pairs, with their share and the ceiling of recall that they leave."""
    pairs = data.pairs.filter(concerned).join(data.shares(concerned), how="cross")
    return Finding("truth", pairs, (*PAIR, "share", "ceiling"))


@check(
    "warning",
    "the pair counts like any other; a model that leaves out what the user had has at most this ceiling of recall",
    text(
        "let models recommend what the user had, or drop these pairs from truth: ",
        Either("seen='drop'", "--seen drop"),
    ),
)
def truth_in_train(data: SplitRows) -> Findings:
    """Pairs of truth that are also in train."""
    yield _of_pairs(data, pl.col("pair_history") > 0)


@check(
    "warning",
    "the user counts; a model that learns from the user's rows has at most this ceiling of recall",
    text(
        "give new users a list of their own, such as what is popular, or drop them: ",
        Either("cold='drop_users'", "--cold drop_users"),
    ),
)
def truth_of_cold_users(data: SplitRows) -> Findings:
    """Rows of truth whose user is not in train."""
    yield _of_pairs(data, pl.col("user_history") == 0)


@check(
    "warning",
    "the row counts; a model that learns from rows of the item has at most this ceiling of recall",
    text(
        "know the ceiling when you read recall, or drop these rows: ",
        Either("cold='drop_items'", "--cold drop_items"),
    ),
)
def truth_of_cold_items(data: SplitRows) -> Findings:
    """Rows of truth whose item is not in train."""
    yield _of_pairs(data, pl.col("item_history") == 0)


@check(
    "warning",
    "the user counts, though no model knows anything of the user",
    text(
        "leave users with so few rows in train, or ask for rows there: ",
        Either("min_train=1", "--min-train 1"),
    ),
)
def users_wholly_in_truth(data: SplitRows) -> Findings:
    """Users with rows in truth and none in train."""
    users = (
        data.pairs.filter(pl.col("user_history") == 0).group_by("user").agg(pl.col("rows").sum())
    )
    yield Finding("truth", users, ("user", "rows"))


@check(
    "warning",
    "means are over few users, so their intervals are wide and rough",
    "take a longer window of truth, or fewer folds",
)
def few_truth_users(data: SplitRows) -> Findings:
    """Folds with fewer than 30 users in truth."""
    users = data.truth.select(n_users=pl.col("user").n_unique(), rows=pl.len())
    few = users.filter(pl.col("n_users") < LEAST_USERS)
    few = few.with_columns(concerned_users="n_users", needed=1)
    # a fold without any row of truth is found too
    yield Finding("truth", few, ("n_users",), without_rows=True)
