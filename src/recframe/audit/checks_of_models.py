"""Models with lists of other users: missing lists, arms of an experiment."""

from __future__ import annotations

from operator import attrgetter

import polars as pl

from recframe.audit.checks import Finding, Findings, check
from recframe.audit.data import MANY_USERS, Data
from recframe.errors import shown_in_plan, worded
from recframe.evaluation.required_columns import needs_of
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, bind, text
from recframe.ranking.data_checks import OF_SOME_USERS
from recframe.ranking.judged_frame import judge, rows_of_models

IN_COMMON = 0.1
"""Share of the users of the smaller model below which two models are arms of an experiment."""
APART = 0.05
"""Difference between the shares of users with a list of two models from which it is said."""
FEWEST = 30
"""Fewest users who count; of fewer a few without a list make shares that differ."""
OTHERS_COUNT = "the others count 0"
OF_ARMS = "; hardly a user has both, as in arms of an experiment, which are no models"


@check(
    "warning",
    OTHERS_COUNT,
    text(
        "give all lists, or keep the users of the truth whom every model serves; of arms of an experiment leave ",
        bind(model="..."),
        " out, and write ",
        Either("by=...", "--by ..."),
        ", and gaps() for the difference",
    ),
    needs=("models", "all users"),
    warns="always",
)
def models_of_other_users(data: Data) -> Findings:
    """Models with lists of fewer or other users than another model, such as arms of an experiment; `rows` counts the models."""
    notes = notes_on_models(data)
    if notes is not None:
        notes = first_of_each(notes).filter(pl.col("share") > 0)
        yield Finding(data.main, notes.rename({"about": "example"}), (), "model")


def notes_on_models(data: Data) -> pl.LazyFrame | None:
    """Return the notes on pairs of models, the gravest first; None where a call needs none.

    NOTE: a call counts of more than ten thousand users those of one hash in 64, as the look at eager lists does.
    """
    call = data.of_call
    units = [] if call is None else [*map(attrgetter("over"), map(needs_of, call.metrics))]
    if (units and "users" not in units) or data.inputs.all_users is not None:
        return None
    rows, looks = data.look("recommendations"), data.lists_of_look()
    if rows is not None and looks is not None:
        n_models = rows["model"].drop_nulls().n_unique()
        if len(looks) == n_models * looks["user"].n_unique():
            return None
    models, some = rows_of_models(data.inputs).unique(), data.of_some_users
    data = some or data
    crowd = judge(data.inputs).members().select("user").unique()
    if call is not None:
        crowd = crowd.filter(OF_SOME_USERS | (pl.lit(some is None) & (pl.len() <= MANY_USERS)))
    lists = data.lists.select("model", "user").drop_nulls().join(crowd, on="user", how="semi")
    lists = lists.unique()
    both = lists.join(lists, on="user", suffix=" 2").group_by("model", "model 2").agg(both=pl.len())
    pairs = models.join(models, how="cross", suffix=" 2")
    pairs = pairs.join(both, on=["model", "model 2"], how="left").fill_null(0)
    n_users = crowd.select(users=pl.len()).filter(pl.col("users") >= FEWEST)
    return _worded(pairs.join(n_users, how="cross"), data.inputs.schema["model"])


def _worded(pairs: pl.LazyFrame, dtype: pl.DataType) -> pl.LazyFrame:
    """Return what is said about pairs of models by their numbers of users."""
    both = pl.col("both") / pl.col("users")
    share, of_other = (both.max().over(key) for key in ("model", "model 2"))
    # NaN without a list
    are_arms = both / pl.min_horizontal(share, of_other) < IN_COMMON
    here, there = ((100 * part).round().cast(pl.Int64) for part in (share, of_other))
    one, other = (shown_in_plan(as_text(pl.col(key), dtype)) for key in ("model", "model 2"))
    end = pl.when(are_arms).then(pl.lit(OF_ARMS)).otherwise(pl.lit(""))
    notes = pairs.select(
        "model",
        share=share,
        baseline="model 2",
        lack=pl.when(are_arms).then(2.0).otherwise(of_other - share),
        about=worded(
            here,
            " % of the users have a list of '",
            one,
            "', ",
            there,
            " % of '",
            other,
            f"'; {OTHERS_COUNT}",
            end,
        ),
    )
    notes = notes.filter(pl.col("lack").abs() > APART)
    # by columns alone: by an expression, Polars 1.36 and 1.37 panic
    return notes.sort("lack", "model", "baseline", descending=[True, False, False])


def first_of_each(notes: pl.LazyFrame) -> pl.LazyFrame:
    """Return the first note on each model that lacks lists or is an arm."""
    return notes.filter(pl.col("lack") > 0).unique("model", keep="first", maintain_order=True)
