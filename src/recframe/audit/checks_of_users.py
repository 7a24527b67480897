"""Checks of users, segments, models and side frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from recframe.audit.data import (
    EMPTY,
    LISTED_AND_JUDGED,
    ROWS,
    Audited,
    Finding,
    Findings,
    check,
    item,
    n_rows,
    value,
)
from recframe.audit.model_depths import ALIKE, LEAST_LISTS, depths_of, foreign_ids
from recframe.audit.warnings_of_truth import MOST_NULL, apart
from recframe.frames.hints import A_FRAME, Either, bind, text
from recframe.frames.kinds.engine import POPULARITY
from recframe.frames.roles import Segment
from recframe.frames.rows.joins import beside_one_another
from recframe.ranking.judged_frame import PAIR
from recframe.ranking.relevance import rows_of_models
from recframe.side_info.features import are_bits, may_be_bits


@check(
    "warning",
    "precision still divides by k",
    "recommend k items, or use precision(denominator='list')",
)
def short_lists(data: Audited) -> Findings:
    """Lists with fewer than k rows."""
    if data.k is not None:
        yield Finding(data.main, data.lengths.filter(n_rows < data.k), ("user", "rows"))


@check(
    "info",
    "without a cut-off precision divides by each list's own length",
    "choose a k that all lists reach",
    of_all=True,
)
def uneven_lists(data: Audited) -> Findings:
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
def users_without_truth(data: Audited) -> Findings:
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
def users_without_lists(data: Audited) -> Findings:
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


def _models(data: Audited) -> pl.LazyFrame:
    """Return the models that have a list, without the null of ranked rows that name none."""
    if data.inputs.tables is None:
        return data.lengths.select("model").unique().drop_nulls()
    return rows_of_models(data.inputs).unique().drop_nulls()


@check("info", "the user counts, with 0", text("leave the user out: ", bind(no_relevant="'skip'")))
def users_without_relevant(data: Audited) -> Findings:
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
def users_in_two_segments(data: Audited) -> Findings:
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


@check(
    "error",
    "the user counts in two segments, the value's and null's, each with its own rows",
    text(
        "fill the column in on all rows of the user, or give it as a column of ", bind(users="...")
    ),
    "judged",
    of_all=True,
)
def users_in_two_halves(data: Audited) -> Findings:
    """Users whose value of a column of `by` is null on some rows of a judged frame, though nobody has two values."""
    for segment in data.inputs.segments:
        if segment.owner == "row":
            rows = data.pairs_of_lists.filter(pl.col(segment.inside).is_null())
            rows = rows.join(data.inputs.in_two_halves(segment), on="user", how="semi")
            users = rows.group_by("user").agg(ROWS).with_columns(column=pl.lit(segment.name))
            yield Finding(data.main, users, ("user", "column", "rows"))


LEAST_REPEATED = 2
"""Least mean number of rows per item for a property of items."""


def _of_rows(data: Audited) -> Iterator[Segment]:
    """Give the segments that cut rows into parts."""
    yield from (segment for segment in data.inputs.segments if segment.inside in data.parts)


@check(
    "error",
    "the rows are in the null segment, where they match no row of the other frame",
    text("check the keys of the join, or give the column once, in ", bind(users="users")),
    "truth",
    of_all=True,
)
def by_null_in_one_frame(data: Audited) -> Findings:
    """Rows with null in a column of `by` that is null on most rows of one frame and on few of the other."""
    frames = {name: rows for name, rows in data.pairs.items() if name != "train"}
    for segment in _of_rows(data):
        null = pl.col(segment.inside).is_null()
        shares = beside_one_another(
            [rows.select(null.mean().alias(f"share in {name}")) for name, rows in frames.items()]
        )
        for name, rows in frames.items():
            here = pl.col(f"share in {name}")
            least = pl.min_horizontal(pl.all())
            failed = shares.filter((here > MOST_NULL) & (least <= here / 2))
            found = rows.filter(null).join(failed, how="cross")
            named = found.select("user", "item", column=pl.lit(segment.name))
            yield Finding(name, named, ("user", "item", "column"))


@check(
    "error",
    "no segment has rows of both frames, so nothing is found",
    text(
        "write the values the same way in both frames, or give the column once, in ",
        bind(users="users"),
    ),
    "truth",
    of_all=True,
)
def by_without_common_values(data: Audited) -> Findings:
    """Columns of `by` without a value that lists and truth have in common; `rows` counts the values."""
    for segment in _of_rows(data):
        values = apart(data.inputs.lists, data.pairs["truth"], segment.inside)
        counts = values.select(
            pl.col("there").cast(pl.Int64).alias("rows"), lists="such_here", truth="such_there"
        )
        yield Finding("truth", counts, ("lists", "truth"))


@check(
    "warning",
    "each part is ranked by its scores as a list of its own",
    text(
        "give a property of items as a column of ",
        bind(items="items"),
        ": ranks are then those of whole lists",
    ),
    "scores",
    of_all=True,
)
def by_of_items_on_rows(data: Audited) -> Findings:
    """Lists with scores that are cut by a column of `by` on the rows, though it describes items."""
    for segment in _of_rows(data):
        value = pl.col(segment.inside)
        frames = [rows for name, rows in data.pairs.items() if name != "train"]
        rows = pl.concat([frame.select("user", "item", value).drop_nulls() for frame in frames])
        items = rows.group_by("item").agg(values=value.n_unique(), rows=pl.len())
        of_items = items.select(
            of_items=(pl.col("values").max() == 1) & (n_rows.sum() >= LEAST_REPEATED * pl.len())
        )
        lists = data.lists.group_by(*data.inputs.model, "user")
        cut = lists.agg(ROWS, values=value.drop_nulls().n_unique()).filter(pl.col("values") > 1)
        cut = cut.join(of_items.filter("of_items"), how="cross")
        named = cut.select("user", "rows", column=pl.lit(segment.name))
        yield Finding(data.main, named, ("user", "column"))


@check(
    "error",
    "the model has no hit",
    "give the model the ids of the other models",
    "models",
    of_all=True,
)
def model_without_common_ids(data: Audited) -> Findings:
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
    "models",
)
def models_of_unequal_depth(data: Audited) -> Findings:
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
    "train",
)
def recommended_in_train(data: Audited) -> Findings:
    """Items recommended to users who have them in train."""
    yield Finding(data.main, data.lists.join(data.pairs["train"], on=PAIR, how="semi"))


@check(
    "warning",
    "the pair counts like any other",
    "split train and truth so that no pair is in both",
    "train",
)
def truth_in_train(data: Audited) -> Findings:
    """Relevant pairs that are also in train."""
    rows = data.relevant_rows
    yield Finding(data.judging, rows.join(data.pairs["train"], on=PAIR, how="semi"))


@check(
    "warning",
    "the item counts like any other; with by= it is in the null segment",
    text("add the item to ", Either("items=", "the file of --items"), ", or drop the row"),
    "items",
)
def unknown_items(data: Audited) -> Findings:
    """Items that are not in the catalogue, `items=`."""
    for name, rows in data.pairs.items():
        listed = rows.filter(item.is_not_null())
        yield Finding(name, listed.join(data.having("item")["items"], on="item", how="anti"))


@check(
    "info",
    "its popularity is 0; its novelty and propensity are as if one user had it",
    "nothing, if it is new",
    "train",
)
def cold_items(data: Audited) -> Findings:
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
    "train",
)
def users_without_history(data: Audited) -> Findings:
    """Users with a list and no item in train."""
    known = data.pairs["train"].drop_nulls(PAIR).select("user").unique()
    yield Finding(data.main, data.lengths.join(known, on="user", how="anti"), ("user",))


@check(
    "info",
    "metrics of this column leave the item out",
    "describe the item, or choose another column: of=...",
)
def items_without_features(data: Audited) -> Findings:
    """Items of the catalogue, `items=`, whose categories or embedding are empty."""
    for name, rows in data.features.items():
        is_empty = value.is_null()
        if rows.collect_schema()["value"].is_nested():
            is_empty = value.list.drop_nulls().list.len().fill_null(0) == 0
        missing = rows.filter(is_empty).select("item", column=pl.lit(name))
        yield Finding("items", missing, ("item", "column"))


@check(
    "warning",
    "a metric of the column raises; in a LazyFrame each list counts as the categories 0 and 1",
    "cast it to a vector, pl.col('...').cast(pl.Array(pl.Float64, n)), or give the names of each item's categories",
)
def multi_hot_lists(data: Audited) -> Findings:
    """Columns of items with lists of 0 and 1, all of one length, which look like vectors, not categories."""
    for name, rows in data.features.items():
        if may_be_bits(rows.collect_schema()["value"]):
            found = rows.filter(are_bits(value) & (value.list.len() > 0))
            yield Finding("items", found.select("item", column=pl.lit(name)), ("item", "column"))


@check(
    "warning",
    "n_users counts the user, weighted means do not",
    "give each user a weight, such as 1 or 0",
    "weights",
    "users",
)
def users_without_weight(data: Audited) -> Findings:
    """Users with judged rows and no weight."""
    known = data.having("user")["users"].filter(WEIGHT.is_not_null()).select("user")
    rows = data.judged_users.join(known, on="user", how="anti")
    yield Finding(data.judging, rows, ("user",))


@check(
    "error",
    "weighted means are 0 or NaN",
    "divide all weights by the largest one, which changes no mean",
    "weights",
    "users",
    of_all=True,
)
def weights_overflow(data: Audited) -> Findings:
    """Weights so large that their sum, or that of their fourth powers (for intervals), is infinite."""
    users = data.having("user")["users"].filter(WEIGHT.is_finite()).with_columns(weight=WEIGHT)
    total, powers = WEIGHT.sum().is_infinite(), (WEIGHT**4).sum().is_infinite()
    yield Finding("users", users.filter(total), ("user", "weight"))
    said = "weighted means have no interval"
    yield Finding("users", users.filter(~total & powers), ("user", "weight"), "warning", said)


@check(
    "error",
    "the pair counts as observed with the probability min_propensity",
    "give each relevant pair a number above 0",
)
def missing_propensity(data: Audited) -> Findings:
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
    of_all=True,
)
def unknown_reference(data: Audited) -> Findings:
    """Lists of models, none with the name that `reference=` gives."""
    if isinstance(data.inputs.reference, str):
        others = data.inputs.lists.filter(~data.inputs.is_reference.any())
        yield Finding(data.main, others, ("user", "model"))
