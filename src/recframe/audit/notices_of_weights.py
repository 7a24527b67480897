"""Warnings on the weights of users: sums of them that overflow, and most users without one."""

from __future__ import annotations

import math
from typing import Any

import polars as pl

from recframe.audit.notices_of_ids import MANY
from recframe.audit.seen import Seen
from recframe.frames.hints import FrameOf, Given
from recframe.frames.inputs import Inputs
from recframe.frames.rows.joins import beside_one_another

FEW = 0.5
"""Below this share of users with a weight, means speak of a minority."""
LIKELY = 0.7
"""Where so many of some users have a weight, the others are not looked at."""


def weights_overflow(seen: Seen) -> str | None:
    """Warn of weights so large that their sums are infinite, as are those of fourth powers behind intervals."""
    weights = seen.inputs.given["users"]["weight"].cast(pl.Float64)
    power = 4 if seen.with_spread else 1
    if weights.is_empty() or math.isfinite((weights**power).fill_nan(None).sum()):
        return None
    highest: Any = weights.max()
    sums = "sums of their powers, which intervals are made of, are" if power > 1 else "their sum is"
    return (
        f"{Given('weight', seen.inputs.context.weight)} has weights up to {highest:.3g}, so large that {sums} infinite; "
        "divide all weights by the largest one, which changes no mean"
    )


def few_users_with_a_weight(seen: Seen) -> str | None:
    """Warn of weights that most users who count do not have, and are left out for."""
    if _have_mostly_weights(seen, seen.inputs.given["users"]):
        return None
    n_all, n_without = seen.run(users_without_a_weight(seen.inputs)).row(0)
    if n_without <= FEW * n_all:
        return None
    return (
        f"{Given('weight', seen.inputs.context.weight)}: {n_without:,} of the {n_all:,} users who count have no weight in "
        f"{FrameOf('users')}, and weighted means leave them out; give each user a weight, such as 1 or 0, or look whether both "
        "frames have the same user ids"
    )


def _have_mostly_weights(seen: Seen, users: pl.DataFrame) -> bool:
    """Return whether most of some users of an eager truth, or judged frame, have a weight."""
    given = seen.inputs.given
    judging = given.get("recommendations" if seen.inputs.truth is None else "truth")
    if judging is None or judging.schema["user"] != users.schema["user"]:
        return False
    some = judging["user"].gather_every(max(1, len(judging) // MANY)).drop_nulls().unique()
    known = users.filter(pl.col("weight").is_not_null()).join(
        some.to_frame(), on="user", how="semi"
    )
    return len(known) >= LIKELY * len(some)


def users_without_a_weight(inputs: Inputs) -> pl.LazyFrame:
    """Return one row: how many users of the truth or the judged frame there are, and how many of them have no weight."""
    weight = pl.col("weight").cast(pl.Float64).fill_nan(None)
    counted = inputs.counted("truth" if inputs.truth is not None else "recommendations")
    users, weights = counted.select("user").unique(), inputs.users
    known = users.clear() if weights is None else weights.filter(weight.is_not_null())
    without = users.join(known, on="user", how="anti")
    return beside_one_another([users.select(all=pl.len()), without.select(without=pl.len())])
