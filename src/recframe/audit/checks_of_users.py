"""Checks of users, segments, models and side frames."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from recframe.audit.data import EMPTY, LISTED_AND_JUDGED, ROWS, Audited, Found, check, item
from recframe.audit.model_depths import ALIKE, LEAST_IDS, LEAST_LISTS, depths_of
from recframe.audit.warnings_of_truth import MOST_NULL, apart
from recframe.frames.hints import A_FRAME, Either, bind, text
from recframe.frames.roles import Segment
from recframe.frames.rows.joins import beside_one_another
from recframe.ranking.judged_frame import PAIR
from recframe.side_info.features import are_bits, may_be_bits


@check(
    "warning",
    "precision divides by k all the same",
    "recommend k items, or ask precision(denominator='list')",
)
def short_lists(data: Audited) -> Iterator[Found]:
    """Lists with fewer than k rows."""
    if data.k is not None:
        yield Found(data.main, data.lengths.filter(pl.col("rows") < data.k), ("user", "rows"))


@check(
    "info",
    "without a cut-off precision divides by each list's own length",
    "ask with a k that all lists reach",
    of_all=True,
)
def uneven_lists(data: Audited) -> Iterator[Found]:
    """Lists that are shorter than the longest one."""
    if data.k is None:
        longest = pl.col("rows").max()
        lists = data.lengths.with_columns(
            longest=longest.over(data.parts) if data.parts else longest
        )
        shorter = lists.filter(pl.col("rows") < pl.col("longest"))
        yield Found(data.main, shorter, ("user", "rows", "longest"))


@check(
    "info",
    "the user is left out",
    text("nothing, if the truth is meant to say who counts; else ", bind(universe="'all'")),
)
def users_without_truth(data: Audited) -> Iterator[Found]:
    """Users who have a list and no judged row."""
    on = [*data.parts, "user"]
    rows = data.lengths.join(data.judged_users, on=on, how="anti", nulls_equal=True)
    counts = (data.context.universe or ("rows" if data.is_judged else "truth")) in {
        "rows",
        "recs",
        "all",
    }
    if counts:
        said = EMPTY[data.context.no_relevant]
        yield Found(data.main, rows, ("user",), "warning", said, LISTED_AND_JUDGED)
    else:
        yield Found(data.main, rows, ("user",))


@check("warning", "the user counts, with 0", text("recommend to all, or ", LISTED_AND_JUDGED))
def users_without_lists(data: Audited) -> Iterator[Found]:
    """Users, of each model, who have a judged row and no list."""
    users = data.judged_users
    if data.inputs.model:
        users = users.join(data.models(), how="cross")
    rows = users.join(data.lengths, on=data.keys, how="anti", nulls_equal=bool(data.parts))
    shown = [*data.inputs.model, "user"]
    if data.context.universe in {"recs", "both"}:
        yield Found(
            data.judging[0],
            rows,
            shown,
            "info",
            "the user is left out",
            "nothing, if that is meant",
        )
    else:
        yield Found(data.judging[0], rows, shown)


@check("info", "the user counts, with 0", text("leave the user out: ", bind(no_relevant="'skip'")))
def users_without_relevant(data: Audited) -> Iterator[Found]:
    """Users with judged rows, none of which is relevant."""
    said = EMPTY[data.context.no_relevant]
    without = data.judged_users.filter(pl.col("relevant") == 0)
    yield Found(data.judging[0], without, ("user", "rows"), treatment=said)


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
def users_in_two_segments(data: Audited) -> Iterator[Found]:
    """Users with two values of a column of `by`."""
    # ranks from scores are made within a part
    nothing = f"nothing, if {'rows have parts, such as weeks' if data.inputs.scored else 'the column describes items'}"
    for segment in data.inputs.segments:
        if segment.owner not in {"recommendations", "row"}:
            continue
        frame = data.inputs.counted("recommendations")
        values = frame.select("user", segment.inside).drop_nulls()
        values = values.group_by("user", segment.inside).agg(ROWS)
        users = values.group_by("user").agg(pl.col("rows").sum(), values=pl.len())
        users = users.filter(pl.col("values") > 1)
        found = Found(
            data.main if segment.owner == "row" else segment.owner, users, ("user", "values")
        )
        if segment.owner == "row":
            said = f"the user counts for each value of {segment.name!r}, with its own rows"
            found = replace(
                found,
                severity="info",
                treatment=said,
                remedy=nothing,
            )
        yield found


@check(
    "error",
    "the user counts in two segments, the value's and that of null, each with its own rows",
    text(
        "fill the column in on all rows of the user, or give it as a column of ", bind(users="...")
    ),
    of_all=True,
)
def users_in_two_halves(data: Audited) -> Iterator[Found]:
    """Users with a value of a column of `by` on some rows of a judged frame and null on others, where nobody has two values."""
    for segment in data.inputs.segments:
        if data.is_judged and segment.owner == "row":
            rows = data.pairs_of_lists.filter(pl.col(segment.inside).is_null())
            rows = rows.join(data.inputs.in_two_halves(segment), on="user", how="semi")
            users = rows.group_by("user").agg(ROWS).with_columns(column=pl.lit(segment.name))
            yield Found(data.main, users, ("user", "column", "rows"))


LEAST_REPEATED = 2
"""Least mean number of rows per item for a property of items."""


def _of_rows(data: Audited) -> Iterator[Segment]:
    """Give the segments that cut rows into parts."""
    yield from (one for one in data.inputs.segments if one.inside in data.parts)


@check(
    "error",
    "the rows are in the null segment, and meet none of the other frame's rows there",
    text(
        "look whether the keys of the join match, or give the column once, in ", bind(users="users")
    ),
    of_all=True,
)
def by_null_in_one_frame(data: Audited) -> Iterator[Found]:
    """Rows whose value of a column of `by` is null, as most of their frame's are, and few of the other frame's."""
    frames = {name: rows for name, rows in data.pairs.items() if name in {data.main, "truth"}}
    for segment in _of_rows(data) if len(frames) > 1 else ():
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
            yield Found(name, named, ("user", "item", "column"))


@check(
    "error",
    "no segment has rows of both frames, so nothing is found",
    text(
        "write the values alike in both frames, or give the column once, in ", bind(users="users")
    ),
    of_all=True,
)
def by_without_common_values(data: Audited) -> Iterator[Found]:
    """Values of a column of `by`, `rows` of them, none of which lists and truth have in common."""
    truth = data.inputs.truth
    if truth is None:
        return
    for segment in _of_rows(data):
        found = apart(data.inputs.lists, truth, segment.inside)
        n_values = pl.col("there").cast(pl.Int64).alias("rows")
        named = found.select(n_values, lists="such_here", truth="such_there")
        yield Found("truth", named, ("lists", "truth"))


@check(
    "warning",
    "each part is a list of its own, with ranks made from the scores within it",
    text(
        "give a property of items as a column of ",
        bind(items="items"),
        ": ranks are then those of whole lists",
    ),
    of_all=True,
)
def by_of_items_on_rows(data: Audited) -> Iterator[Found]:
    """Lists with scores that a column of `by` on the rows cuts, though it says the same of an item in all rows."""
    for segment in _of_rows(data) if data.inputs.scored else ():
        value = pl.col(segment.inside)
        frames = [rows for name, rows in data.pairs.items() if name in {data.main, "truth"}]
        rows = pl.concat([one.select("user", "item", value).drop_nulls() for one in frames])
        items = rows.group_by("item").agg(values=value.n_unique(), rows=pl.len())
        of_items = items.select(
            of_items=(pl.col("values").max() == 1)
            & (pl.col("rows").sum() >= LEAST_REPEATED * pl.len())
        )
        lists = data.lists.group_by(*data.inputs.model, "user")
        cut = lists.agg(values=value.drop_nulls().n_unique(), rows=pl.len())
        cut = cut.filter(pl.col("values") > 1).select("user", "rows")
        found = cut.join(of_items.filter("of_items"), how="cross")
        named = found.select("user", pl.col("rows").cast(pl.Int64), column=pl.lit(segment.name))
        yield Found(data.main, named, ("user", "column"))


@check(
    "error",
    "the model has no hit",
    "give the rows of the model the ids that the other models have",
    of_all=True,
)
def model_without_common_ids(data: Audited) -> Iterator[Found]:
    """Models whose user or item ids, `rows` of them, are none of the truth's, though those of other models are."""
    for role in PAIR if data.inputs.model else ():
        ids = data.lists.select("model", role).drop_nulls().unique()
        judged = data.truth.select(role).drop_nulls()
        common = ids.join(judged, on=role, how="semi").select("model").unique()
        models = ids.group_by("model").agg(
            pl.len().cast(pl.Int64).alias("rows"), pl.col(role).first().alias("lists")
        )
        there = judged.select(pl.col(role).first().alias("truth"), n_judged=pl.col(role).n_unique())
        others = common.select(n_others=pl.len())
        found = models.join(common, on="model", how="anti").join(there, how="cross")
        found = found.join(others, how="cross").filter(
            (pl.col("rows") >= LEAST_IDS)
            & (pl.col("n_judged") >= LEAST_IDS)
            & (pl.col("n_others") > 0)
        )
        yield Found(data.main, found.sort("model"), ("model", "lists", "truth"))


@check(
    "warning",
    "what a model does not list is a miss, so models with longer lists have more hits",
    text(
        "give all models lists of k items, or compare them up to the shortest: ", Either("k=", "-k")
    ),
)
def models_of_unequal_depth(data: Audited) -> Iterator[Found]:
    """Lists of models whose longest list ends before k, where that of another model ends later."""
    if data.k is None or not data.inputs.model:
        return
    lists = data.lengths.filter(pl.col("model").is_not_null())
    models = depths_of(lists).filter(pl.col("n_lists") >= LEAST_LISTS)
    depth = pl.col("depth").clip(upper_bound=data.k)
    short = models.filter((pl.col("depth") < data.k) & (depth.min() < ALIKE * depth.max()))
    found = lists.join(short, on="model", how="inner").select("model", "user", "depth")
    yield Found(data.main, found.sort("model", "user"), ("model", "depth"))


WEIGHT = pl.col("weight").cast(pl.Float64).fill_nan(None)


@check(
    "warning",
    "the item counts as any other",
    "leave out what the user already had, unless it is meant to come again",
)
def recommended_in_train(data: Audited) -> Iterator[Found]:
    """Items recommended to users who have them in train."""
    if data.inputs.train is not None:
        yield Found(data.main, data.lists.join(data.inputs.train, on=PAIR, how="semi"))


@check(
    "warning",
    "the pair counts as any other",
    "split the truth from train, so that no pair is in both",
)
def truth_in_train(data: Audited) -> Iterator[Found]:
    """Relevant pairs that stand in train."""
    if data.inputs.train is not None:
        rows = data.truth.filter(data.relevant)
        yield Found(data.judging[0], rows.join(data.inputs.train, on=PAIR, how="semi"))


@check(
    "warning",
    "the item counts as any other; by= finds it in the null segment",
    text("add the item to ", Either("items=", "the file of --items"), ", or drop the row"),
)
def unknown_items(data: Audited) -> Iterator[Found]:
    """Items that the catalogue, `items=`, does not have."""
    if data.inputs.items is not None:
        for name, rows in data.pairs.items():
            listed = rows.filter(item.is_not_null())
            yield Found(name, listed.join(data.inputs.items, on="item", how="anti"))


@check(
    "info",
    "it counts as an item that nobody knows: popularity 0, novelty and propensity as if one user had it",
    "nothing, if it is new",
)
def cold_items(data: Audited) -> Iterator[Found]:
    """Recommended items that nobody has in train."""
    if data.inputs.train is not None:
        known = data.items_of_train()
        yield Found(data.main, data.lists.join(known, on="item", how="anti"))


@check(
    "info",
    "repeat_rate is 0, and what compares with the history leaves the user out",
    "nothing, if the user is new; else look for the user's rows in train",
)
def users_without_history(data: Audited) -> Iterator[Found]:
    """Users who have a list and no item in train."""
    if data.inputs.train is not None:
        known = data.inputs.train.drop_nulls(PAIR).select("user").unique()
        yield Found(data.main, data.lengths.join(known, on="user", how="anti"), ("user",))


@check(
    "info",
    "metrics of this column leave the item out",
    "describe the item, or ask for another column: of=...",
)
def items_without_features(data: Audited) -> Iterator[Found]:
    """Items of the catalogue, `items=`, for which a column of categories or of an embedding is empty."""
    for name, rows in data.features.items():
        value = pl.col("value")
        if rows.collect_schema()["value"].is_nested():
            value = pl.when(value.list.drop_nulls().list.len() > 0).then(value)
        found = rows.filter(value.is_null()).select("item", column=pl.lit(name))
        yield Found("items", found, ("item", "column"))


@check(
    "warning",
    "a metric of the column raises; in a LazyFrame each list counts as the categories 0 and 1",
    "cast it to a vector, pl.col('...').cast(pl.Array(pl.Float64, n)), or give the names of each item's categories",
)
def multi_hot_lists(data: Audited) -> Iterator[Found]:
    """Columns of items with lists of 0 and 1, all of one length, which look like vectors and are no categories."""
    for name, rows in data.features.items():
        if may_be_bits(rows.collect_schema()["value"]):
            found = rows.filter(are_bits(pl.col("value")) & (pl.col("value").list.len() > 0))
            yield Found("items", found.select("item", column=pl.lit(name)), ("item", "column"))


@check(
    "warning",
    "n_users counts the user, and weighted means leave the user out",
    "give each user a weight, such as 1 or 0",
)
def users_without_weight(data: Audited) -> Iterator[Found]:
    """Users with judged rows who have no weight."""
    if data.context.weight is not None and data.inputs.users is not None:
        known = data.inputs.users.filter(WEIGHT.is_not_null()).select("user")
        rows = data.judged_users.join(known, on="user", how="anti")
        yield Found(data.judging[0], rows, ("user",))


@check(
    "error",
    "weighted means are 0 or NaN",
    "divide all weights by the largest one, which changes no mean",
    of_all=True,
)
def weights_overflow(data: Audited) -> Iterator[Found]:
    """Weights whose sum is infinite, or the sum of their fourth powers, which intervals are made of."""
    if data.context.weight is not None and data.inputs.users is not None:
        users = data.inputs.users.filter(WEIGHT.is_finite()).with_columns(weight=WEIGHT)
        total, powers = WEIGHT.sum().is_infinite(), (WEIGHT**4).sum().is_infinite()
        yield Found("users", users.filter(total), ("user", "weight"))
        said = "weighted means have no interval"
        yield Found("users", users.filter(~total & powers), ("user", "weight"), "warning", said)


@check(
    "error",
    "the pair counts as observed with the probability min_propensity",
    "give each relevant pair a number above 0",
)
def missing_propensity(data: Audited) -> Iterator[Found]:
    """Relevant pairs whose propensity is null, NaN, 0 or below."""
    if data.inputs.has_propensity:
        given = pl.col("propensity").cast(pl.Float64).fill_nan(None)
        rows = data.truth.filter(data.relevant).filter((given > 0).fill_null(value=False).not_())
        yield Found(data.judging[0], rows, ("user", "item", "propensity"))


@check(
    "error",
    "a metric raises",
    text(
        "name a model that there is, or give a ",
        A_FRAME,
        " of lists: ",
        bind(reference="reference"),
    ),
    of_all=True,
)
def unknown_reference(data: Audited) -> Iterator[Found]:
    """Lists of models none of which is the one that `reference=` names."""
    if isinstance(data.inputs.reference, str):
        others = data.inputs.lists.filter(~data.inputs.is_reference.any())
        yield Found(data.main, others, ("user", "model"))
