"""Checks of users, segments, models and side frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from recframe.audit.checks import Finding, Findings, check
from recframe.audit.data import EMPTY, LISTED_AND_JUDGED, ROWS, Data, item, n_rows
from recframe.audit.model_depths import ALIKE, LEAST_LISTS, depths_of, foreign_ids
from recframe.audit.warnings_of_truth import apart
from recframe.frames.hints import A_FRAME, Either, bind, text
from recframe.frames.kinds.engine import POPULARITY
from recframe.frames.roles import Segment
from recframe.ranking.judged_frame import PAIR
from recframe.ranking.relevance import rows_of_models


@check(
    "warning",
    "precision still divides by k",
    "recommend k items, or use precision(denominator='list')",
)
def short_lists(data: Data) -> Findings:
    """Lists with fewer than k rows."""
    if data.k is not None:
        yield Finding(data.main, data.lengths.filter(n_rows < data.k), ("user", "rows"))


@check(
    "info",
    "without a cut-off precision divides by each list's own length",
    "choose a k that all lists reach",
    needs=("all users",),
)
def uneven_lists(data: Data) -> Findings:
    """Lists that are shorter than the longest one."""
    if data.k is None:
        longest = n_rows.max()
        lists = data.lengths.with_columns(
            longest=longest.over(data.parts) if data.parts else longest
        )
        shorter = lists.filter(n_rows < pl.col("longest"))
        yield Finding(data.main, shorter, ("user", "rows", "longest"))


@check(
    "info",
    "the user is left out",
    text("nothing, if only users of the truth are to count; else ", bind(universe="'all'")),
)
def users_without_truth(data: Data) -> Findings:
    """Users with a list and no judged row."""
    on = [*data.parts, "user"]
    rows = data.lengths.join(data.judged_users, on=on, how="anti", nulls_equal=True)
    finding = Finding(data.main, rows, ("user",))
    if (data.context.universe or ("rows" if data.is_judged else "truth")) in {
        "rows",
        "recs",
        "all",
    }:
        treatment = EMPTY[data.context.no_relevant]
        finding = replace(
            finding, severity="warning", treatment=treatment, remedy=LISTED_AND_JUDGED
        )
    yield finding


@check("warning", "the user counts, with 0", text("recommend to all, or ", LISTED_AND_JUDGED))
def users_without_lists(data: Data) -> Findings:
    """Users with a judged row and no list, for each model."""
    users = data.judged_users
    if data.inputs.model:
        users = users.join(_models(data), how="cross")
    rows = users.join(data.lengths, on=data.keys, how="anti", nulls_equal=bool(data.parts))
    finding = Finding(data.judging, rows, [*data.inputs.model, "user"])
    if data.context.universe in {"recs", "both"}:
        finding = replace(
            finding,
            severity="info",
            treatment="the user is left out",
            remedy="nothing, if this is meant",
        )
    yield finding


def _models(data: Data) -> pl.LazyFrame:
    """Return the models that have a list, without the null of ranked rows that name none."""
    if data.inputs.tables is None:
        return data.lengths.select("model").unique().drop_nulls()
    return rows_of_models(data.inputs).unique().drop_nulls()


@check("info", "the user counts, with 0", text("leave the user out: ", bind(no_relevant="'skip'")))
def users_without_relevant(data: Data) -> Findings:
    """Users with judged rows but no relevant one."""
    said = EMPTY[data.context.no_relevant]
    without = data.judged_users.filter(pl.col("relevant") == 0)
    yield Finding(data.judging, without, ("user", "rows"), treatment=said)


@check(
    "error",
    "a metric raises",
    text(
        Either("by=", "--by"),
        " takes properties of the user; ",
        bind(model="..."),
        " compares systems",
    ),
)
def users_in_two_segments(data: Data) -> Findings:
    """Users with two values of a column of `by`."""
    # ranks from scores are made within a part
    meant = "rows have parts, such as weeks" if data.inputs.scored else "the column describes items"
    frame = data.inputs.counted("recommendations")
    for segment in data.inputs.segments:
        if segment.owner not in {"recommendations", "row"}:
            continue
        pairs = frame.select("user", segment.inside).drop_nulls()
        pairs = pairs.group_by("user", segment.inside).agg(ROWS)
        users = pairs.group_by("user").agg(n_rows.sum(), values=pl.len())
        finding = Finding(segment.owner, users.filter(pl.col("values") > 1), ("user", "values"))
        if segment.owner == "row":
            finding = replace(
                finding,
                frame=data.main,
                severity="info",
                treatment=f"the user counts for each value of {segment.name!r}, with its own rows",
                remedy=f"nothing, if {meant}",
            )
        yield finding


def _of_rows(data: Data) -> Iterator[Segment]:
    """Give the segments that cut rows into parts."""
    yield from (segment for segment in data.inputs.segments if segment.inside in data.parts)


@check(
    "error",
    "no segment has rows of both frames, so nothing is found",
    text(
        "write the values the same way in both frames, or give the column once, in ",
        bind(users="users"),
    ),
    needs=("truth", "all users"),
)
def by_without_common_values(data: Data) -> Findings:
    """Columns of `by` without a value that lists and truth have in common; `rows` counts the values."""
    for segment in _of_rows(data):
        values = apart(data.inputs.lists, data.pairs["truth"], segment.inside)
        counts = values.select(
            pl.col("there").cast(pl.Int64).alias("rows"), lists="such_here", truth="such_there"
        )
        yield Finding("truth", counts, ("lists", "truth"))


@check(
    "error",
    "the model has no hit",
    "give the model the ids of the other models",
    needs=("models", "all users"),
)
def model_without_common_ids(data: Data) -> Findings:
    """Models without a user or item id in common with the truth, unlike other models; `rows` counts their ids."""
    for role in PAIR:
        models = foreign_ids(data.lists, data.truth, role).sort("model")
        n_ids = pl.col("here").cast(pl.Int64).alias("rows")
        counts = models.select("model", n_ids, lists="such_here", truth="such_there")
        yield Finding(data.main, counts, ("model", "lists", "truth"))


@check(
    "warning",
    "items that a model does not list are misses, so models with longer lists have more hits",
    text(
        "give all models lists of k items, or compare them up to the shortest: ", Either("k=", "-k")
    ),
    needs=("models",),
)
def models_of_unequal_depth(data: Data) -> Findings:
    """Lists of models whose longest list ends before k and before another model's."""
    if data.k is None:
        return
    lists = data.lengths.filter(pl.col("model").is_not_null())
    models = depths_of(lists).filter(pl.col("n_lists") >= LEAST_LISTS)
    depth = pl.col("depth").clip(upper_bound=data.k)
    short = models.filter((pl.col("depth") < data.k) & (depth.min() < ALIKE * depth.max()))
    found = lists.join(short, on="model", how="inner").select("model", "user", "depth")
    yield Finding(data.main, found.sort("model", "user"), ("model", "depth"))


WEIGHT = pl.col("weight").cast(pl.Float64).fill_nan(None)


@check(
    "warning",
    "the item counts like any other",
    "leave out what the user already has, unless repeats are meant",
    needs=("train",),
)
def recommended_in_train(data: Data) -> Findings:
    """Items recommended to users who have them in train."""
    yield Finding(data.main, data.lists.join(data.pairs["train"], on=PAIR, how="semi"))


@check(
    "warning",
    "the pair counts like any other",
    "split train and truth so that no pair is in both",
    needs=("train",),
)
def truth_in_train(data: Data) -> Findings:
    """Relevant pairs that are also in train."""
    rows = data.relevant_rows
    yield Finding(data.judging, rows.join(data.pairs["train"], on=PAIR, how="semi"))


@check(
    "warning",
    "the item counts like any other; with by= it is in the null segment",
    text("add the item to ", Either("items=", "the file of --items"), ", or drop the row"),
    needs=("items",),
)
def unknown_items(data: Data) -> Findings:
    """Items that are not in the catalogue, `items=`."""
    for name, rows in data.pairs.items():
        listed = rows.filter(item.is_not_null())
        yield Finding(name, listed.join(data.having("item")["items"], on="item", how="anti"))


@check(
    "info",
    "its popularity is 0; its novelty and propensity are as if one user had it",
    "nothing, if it is new",
    needs=("train",),
)
def cold_items(data: Data) -> Findings:
    """Recommended items that nobody has in train."""
    known, tables = data.pairs["train"].select("item"), data.inputs.tables
    if tables is not None:
        known = tables.get(POPULARITY, {"item": data.inputs.schema["item"]})
    known = known.drop_nulls().unique()
    yield Finding(data.main, data.lists.join(known, on="item", how="anti"))


@check(
    "info",
    "repeat_rate is 0, and metrics that compare with the history leave the user out",
    "nothing, if the user is new; else look for the user's rows in train",
    needs=("train",),
)
def users_without_history(data: Data) -> Findings:
    """Users with a list and no item in train."""
    known = data.pairs["train"].drop_nulls(PAIR).select("user").unique()
    yield Finding(data.main, data.lengths.join(known, on="user", how="anti"), ("user",))


@check(
    "warning",
    "n_users counts the user, weighted means do not",
    "give each user a weight, such as 1 or 0",
    needs=("weights", "users"),
)
def users_without_weight(data: Data) -> Findings:
    """Users with judged rows and no weight."""
    known = data.having("user")["users"].filter(WEIGHT.is_not_null()).select("user")
    rows = data.judged_users.join(known, on="user", how="anti")
    yield Finding(data.judging, rows, ("user",))


@check(
    "error",
    "the pair counts as observed with the probability min_propensity",
    "give each relevant pair a number above 0",
)
def missing_propensity(data: Data) -> Findings:
    """Relevant pairs whose propensity is null, NaN, 0 or below."""
    if data.inputs.has_propensity:
        given = pl.col("propensity").cast(pl.Float64).fill_nan(None)
        rows = data.relevant_rows.filter((given > 0).fill_null(value=False).not_())
        yield Finding(data.judging, rows, ("user", "item", "propensity"))


@check(
    "error",
    "a metric raises",
    text(
        "name one of the models, or give a ",
        A_FRAME,
        " of lists: ",
        bind(reference="reference"),
    ),
    needs=("all users",),
)
def unknown_reference(data: Data) -> Findings:
    """Lists of models, none with the name that `reference=` gives."""
    if isinstance(data.inputs.reference, str):
        others = data.inputs.lists.filter(~data.inputs.is_reference.any())
        yield Finding(data.main, others, ("user", "model"))
