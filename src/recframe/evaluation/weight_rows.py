"""Row source of user weights: one row per list."""

from __future__ import annotations

import polars as pl

from recframe.errors import fails_if
from recframe.frames.hints import FrameOf, Given
from recframe.ranking.judged_frame import Judged

USER_WEIGHT = "user_weight"


def branch(judged: Judged) -> pl.LazyFrame:
    """Return each list with the weight of its user: the keys, and a null for one without a number or a row.

    NOTE: users without any other row have one here, since a mean counts those without a row as one number of users alike.
    """
    inputs = judged.inputs
    weight = pl.col("weight").cast(pl.Float64).fill_nan(None)
    message = (
        f"{Given('weight', inputs.context.weight)} is below 0 or infinite for a user of {FrameOf('users')}; a weight is a "
        "number from 0 up, and null leaves the user out"
    )
    wrong = fails_if((weight < 0) | weight.is_infinite(), message)
    if inputs.users is None:
        users = pl.LazyFrame(schema={"user": inputs.schema["user"], USER_WEIGHT: pl.Float64})
    else:
        users = inputs.users.select("user", (weight + wrong).alias(USER_WEIGHT))
    rows = judged.members().join(users, on="user", how="left")
    rows = rows if judged.models is None else rows.join(judged.models, how="cross")
    return rows.select(*judged.list_keys, USER_WEIGHT)
