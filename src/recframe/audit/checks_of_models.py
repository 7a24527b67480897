"""Checks of several models: arms of an experiment, and missing lists."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import polars as pl

from recframe.audit.checks import Finding, Findings, check
from recframe.audit.data import MANY_USERS, ROWS, SAMPLED, Data, n_rows
from recframe.errors import shown_in_plan, worded
from recframe.evaluation.required_columns import needs_of
from recframe.frames.collecting import stream
from recframe.frames.dtypes import as_text
from recframe.frames.hints import Either, bind, text
from recframe.ranking.judged_frame import judge
from recframe.ranking.relevance import rows_of_models
from recframe.statistics.summary import joined_notes

IN_COMMON = 0.1
"""Share of the users of the smaller model below which two models are arms of an experiment."""
APART = 0.05
"""Difference between the shares of users with a list of two models from which it is said."""
FEWEST = 30
"""Fewest users who count; of fewer a few without a list make shares that differ."""
OF_ARMS = "hardly a user has lists of both, and counts 0 for the other: arms of an experiment are no models"
A_COLUMN = Either("by=...", "--by ...")
INSTEAD = text(
    "leave ", bind(model="..."), " out, and write ", A_COLUMN, ", and gaps() for the difference"
)
ARMS = pl.col("lack") > 1
"""Whether a note is on arms of an experiment; else `lack` is the difference between the shares."""


@check(
    "warning",
    "the others count 0",
    "give all lists, or keep the users of the truth whom every model serves",
    needs=("models", "all users"),
    warns="always",
)
def models_of_other_users(data: Data) -> Findings:
    """Models with lists of fewer or other users than another model, such as arms of an experiment; `rows` counts the models."""
    notes = notes_on_models(data)
    if notes is not None:
        of_models = _of_models(notes).filter(pl.col("share") > 0)
        found = Finding(data.main, of_models.filter(~ARMS), pl.col("found"), "model")
        arms = of_models.filter(ARMS)
        yield replace(found, rows=arms, treatment=OF_ARMS, remedy=INSTEAD)
        yield found


def notes_on_models(data: Data) -> pl.LazyFrame | None:
    """Return the notes on pairs of models, the first to be told first; None where a call needs none.

    NOTE: a call counts of more than ten thousand users those of one hash in 64, as the look at eager lists does.
    """
    call = data.of_call
    of_lists = call is not None and all(needs_of(one).over == "lists" for one in call.metrics)
    if of_lists or data.looks_well("recommendations", partial(_serve_alike, data)):
        return None
    crowd = judge(data.inputs).members().select("user").unique()
    if call is not None:
        crowd = crowd.filter((pl.col("user").hash() % SAMPLED == 0) | (pl.len() <= MANY_USERS))
    lists = data.lists.select("model", "user").drop_nulls().join(crowd, on="user", how="semi")
    lists, models = lists.unique(), rows_of_models(data.inputs).unique()
    both = lists.join(lists, on="user", suffix=" 2").group_by("model", "model 2").agg(both=pl.len())
    pairs = models.join(models, how="cross", suffix=" 2")
    pairs = pairs.join(both, on=["model", "model 2"], how="left").fill_null(0)
    n_users = crowd.select(users=pl.len()).filter(pl.col("users") >= FEWEST)
    return _worded(pairs.join(n_users, how="cross"), data)


def _serve_alike(data: Data, rows: pl.DataFrame) -> bool:
    """Return whether eager lists have one of each model for each of their users."""
    lists = rows.filter(data.ranked)
    n_lists = lists.n_unique(["model", "user"])
    return n_lists == rows["model"].n_unique() * lists["user"].n_unique()


def _worded(pairs: pl.LazyFrame, data: Data) -> pl.LazyFrame:
    """Return the notes on pairs of models by their numbers of users."""
    (one, share), (other, of_other) = (
        (
            shown_in_plan(as_text(pl.col(key), data.inputs.schema["model"])),
            pl.col("both").max().over(key) / pl.col("users"),
        )
        for key in ("model", "model 2")
    )
    # NaN without a list
    in_common = pl.col("both") / pl.col("users") / pl.min_horizontal(share, of_other)
    here, there = ((100 * part).round().cast(pl.Int64) for part in (share, of_other))
    notes = pairs.select(
        "model",
        share=share,
        baseline="model 2",
        lack=pl.when(in_common < IN_COMMON).then(2.0).otherwise(of_other - share),
        found=worded(
            here, " % of the users have a list of '", one, "', ", there, " % of '", other, "'"
        ),
    ).filter(pl.col("lack").abs() > APART)
    of_arms = pl.lit(f"; {OF_ARMS}; {INSTEAD}")
    told = pl.when(ARMS).then(of_arms).otherwise(pl.lit(f"; {models_of_other_users.treatment}"))
    notes = notes.with_columns(about=pl.col("found") + told)
    return notes.sort(-pl.col("lack"), "model", "baseline")


def _of_models(notes: pl.LazyFrame) -> pl.LazyFrame:
    """Return the first note on each model that lacks lists or is an arm."""
    return notes.filter(pl.col("lack") > 0).unique("model", keep="first", maintain_order=True)


def with_notes(result: pl.LazyFrame, notes: pl.LazyFrame | None) -> pl.LazyFrame:
    """Return a result with the notes on its models or pairs; what arms of an experiment show is open."""
    if notes is None:
        return result
    columns = result.collect_schema().names()
    keys = ["model", "baseline"] if "baseline" in columns else ["model"]
    notes = notes if "baseline" in columns else _of_models(notes)
    notes = notes.select(*keys, "lack", "about")
    note = joined_notes(["note", "about"])
    judged = pl.col("^(verdict|state)$")
    is_other = pl.col("lack").fill_null(0) <= 1
    return (
        result.join(notes, on=keys, how="left", maintain_order="left")
        .with_columns(pl.when(is_other).then(judged).otherwise(pl.lit("open")), note=note)
        .select(columns)
    )


def sentences(notes: pl.LazyFrame | None) -> list[str]:
    """Return the notes on each model as sentences."""
    return [] if notes is None else [f"{about}." for about in stream(_of_models(notes))["about"]]


@check(
    "warning",
    "items that a model does not list are misses, so models with longer lists have more hits",
    text(
        "give all models lists of k items, or compare them up to the shortest: ",
        Either("k=...", "-k ..."),
    ),
    needs=("models",),
    warns="always",
)
def models_of_unequal_depth(data: Data) -> Findings:
    """Lists of models whose longest list ends before k and before another model's."""
    if data.k is None or data.looks_well("recommendations", partial(_end_alike, data)):
        return
    depths = _depths(data.lengths, data)
    depth = pl.col("depth")
    short = depths.filter((depth < data.k) & (depth.min() < ALIKE * depth.max()))
    lists = data.lengths.filter(pl.col("model").is_not_null())
    found = lists.join(short, on="model", how="inner").select("model", "user", "depth")
    yield Finding(data.main, found, ("model", "depth"))


Lists = TypeVar("Lists", pl.LazyFrame, pl.DataFrame)
LEAST_LISTS = 10
"""Fewest lists of a model whose depth is compared."""
ALIKE = 0.95
"""Ratio of the lowest to the highest depth from which depths count as equal: a few items were only filtered out."""


def _depths(lists: Lists, data: Data) -> Lists:
    """Return each model with the length of its longest list up to k, `depth`.

    Ranks with gaps are those of a few items among others, which say nothing of the lists' length.
    """
    last = n_rows if data.inputs.scored else pl.col("last")
    depths = lists.group_by("model").agg(
        last.max().cast(pl.Int64).alias("depth"), longest=n_rows.max(), n_lists=pl.len()
    )
    is_known = pl.col("model").is_not_null() & (pl.col("n_lists") >= LEAST_LISTS)
    depths = depths.filter(is_known & (pl.col("longest") >= pl.col("depth")))
    return depths.select("model", pl.col("depth").clip(upper_bound=data.k))


def _end_alike(data: Data, rows: pl.DataFrame) -> bool:
    """Return whether the longest eager lists of all models end at about one depth, up to k."""
    ends = [] if data.inputs.scored else [pl.col("rank").max().alias("last")]
    lists = rows.filter(data.ranked).group_by(data.keys_of(rows)).agg(ROWS, *ends)
    depths = _depths(lists, data)["depth"]
    lowest: Any = depths.min()
    highest: Any = depths.max()
    return len(depths) < 2 or lowest >= ALIKE * highest  # noqa: PLR2004
