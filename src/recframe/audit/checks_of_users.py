"""Checks of users, segments, models and side frames."""

from __future__ import annotations

from typing import Any

import polars as pl

from recframe.audit.checks import Finding, Findings, check
from recframe.audit.data import A_FEW, EMPTY, HARDLY, LISTED_AND_JUDGED, Data, item, n_rows
from recframe.frames.hints import A_FRAME, Either, bind, text
from recframe.frames.kinds.kind import run_as_it_is
from recframe.frames.segments import Segment
from recframe.ranking.judged_frame import PAIR, rows_of_models


@check(
    "info",
    "the user is left out",
    text("nothing, if only users of the truth are to count; else ", bind(universe="'all'")),
)
def users_without_truth(data: Data) -> Findings:
    """Users with a list and no judged row."""
    on = [*data.parts, "user"]
    rows = data.lengths.join(data.judged_users, on=on, how="anti", nulls_equal=True)
    universe = data.context.universe or ("rows" if data.is_judged else "truth")
    treatment = EMPTY[data.context.no_relevant]
    words: Any = {"severity": "warning", "treatment": treatment, "remedy": LISTED_AND_JUDGED}
    yield Finding(
        data.main, rows, ("user",), **words if universe in {"rows", "recs", "all"} else {}
    )


@check(
    "warning",
    "the user counts, with 0",
    text("recommend to all, give all lists where these are of one segment, or ", LISTED_AND_JUDGED),
    needs=("truth of a call",),
    warns="always",
)
def users_without_lists(data: Data) -> Findings:
    """Users with a judged row and no list, for each model."""
    call = data.of_call
    # where no metric reads relevance, users without a list are in no value
    if call and (data.context.universe or not call.reads_relevance or _have_lists(data)):
        return
    users = data.judged_users
    if data.inputs.model:
        users = users.join(_models(data), how="cross")
    rows = users.join(data.lengths, on=data.keys, how="anti", nulls_equal=bool(data.parts))
    words: Any = {
        "severity": "info",
        "treatment": "the user is left out",
        "remedy": "nothing, if this is meant",
    }
    is_left_out = data.context.universe in {"recs", "both"}
    shown = [*data.inputs.model, "user"]
    yield Finding(data.judging, rows, shown, **words if is_left_out else {})


MOST = 0.5
"""The share of users without a list, or a weight, above which calls warn."""


def _have_lists(data: Data) -> bool:
    """Return whether most users of the truth of a call have a list, or none has."""
    if data.of_a_few and data.of_a_few[0]["user"].n_unique() == A_FEW:
        return True
    lists, truth = data.look("recommendations"), data.look("truth")
    if lists is None or truth is None:
        return False
    return not HARDLY <= _share(data, truth["user"], lists["user"]) < 1 - MOST


def _share(data: Data, users: pl.Series, known: pl.Series) -> float:
    """Return the share of users who are known, 1 without users."""
    dtype = data.inputs.schema["user"]
    share: Any = users.cast(dtype).drop_nulls().unique().is_in(known.cast(dtype).implode()).mean()
    return 1.0 if share is None else share


def _models(data: Data) -> pl.LazyFrame:
    """Return the models that have a list, without the null of ranked rows that name none."""
    if data.inputs.all_users is None:
        return data.lengths.select("model").unique().drop_nulls()
    return rows_of_models(data.inputs).unique().drop_nulls()


@check("info", "the user counts, with 0", text("leave the user out: ", bind(no_relevant="'skip'")))
def users_without_relevant(data: Data) -> Findings:
    """Users with judged rows but no relevant one."""
    said = EMPTY[data.context.no_relevant]
    without = data.judged_users.filter(pl.col("relevant") == 0)
    yield Finding(data.judging, without, ("user", "rows"), treatment=said)


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
    looks = data.lists_of_look()
    if data.k is None or (looks is not None and not len(run_as_it_is(_short(looks.lazy(), data)))):
        return
    lists = data.lengths.filter(pl.col("model").is_not_null())
    found = lists.join(_short(data.lengths, data), on="model", how="inner")
    yield Finding(data.main, found.select("model", "user", "depth"), ("model", "depth"))


LEAST_LISTS = 10
"""Fewest lists of a model whose depth is compared."""
ALIKE = 0.95
"""Ratio of the lowest to the highest depth from which depths count as equal: a few items were only filtered out."""


def _short(lists: pl.LazyFrame, data: Data) -> pl.LazyFrame:
    """Return the models whose longest list ends before k and before another model's, with its length, `depth`.

    Ranks with gaps are those of a few items among others, which say nothing of the lists' length.
    """
    last = n_rows if data.inputs.scored else pl.col("last")
    depth = pl.col("depth")
    depths = lists.group_by("model").agg(
        last.max().cast(pl.Int64).alias("depth"), longest=n_rows.max(), n_lists=pl.len()
    )
    is_known = pl.col("model").is_not_null() & (pl.col("n_lists") >= LEAST_LISTS)
    depths = depths.filter(is_known & (pl.col("longest") >= depth))
    depths = depths.select("model", depth.clip(upper_bound=data.k))
    return depths.filter((depth < data.k) & (depth.min() < ALIKE * depth.max()))


@check(
    "error",
    "the metric has no value, since it is of lists of one relevant item and n_negatives others",
    "say in n_negatives= how many were drawn, and give the whole lists as they were ranked",
    warns="low",
)
def lists_of_other_samples(data: Data) -> Findings:
    """Lists with another number of items than a metric of sampled lists is given."""
    call = data.of_call
    for metric, rows in () if call is None else zip(call.metrics, call.numbers, strict=False):
        n = metric.parameters.get("n_negatives")
        if isinstance(n, int) and rows and len(rows["value"]) and not rows["value"].max():
            others = data.lengths.with_columns(as_many=(n_rows == n + 1).any())
            yield Finding(data.main, others.filter(~pl.col("as_many")), ("user", "rows"))


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
    "warning",
    "each text counts as a category of its own",
    "make lists of them: pl.col('genres').str.split('|'), with the column's own name",
    needs=("items",),
    warns="always",
)
def categories_in_one_text(data: Data) -> Findings:
    """Columns of items whose texts have several categories each, such as 'Action|Comedy'."""
    side = data.inputs.sides["items"]
    texts = {name for name in side.kind.labels() if name not in side.kind.numbers()}
    if data.of_call is not None:
        of = {metric.parameters.get("of", "item") for metric in data.of_call.metrics}
        texts = texts if None in of or "" in of else texts & {*map(str, of)}
    for name in sorted(texts - {side.context.names["item"]}):
        taken = data.inputs.feature_rows(Segment("category", name, "items"))
        rows = taken.lazy().with_columns(pl.col("category").cast(pl.String)).drop_nulls("category")
        several = pl.col("category").str.contains("|", literal=True)
        rows = rows.with_columns(share=several.mean()).filter(several & (pl.col("share") >= MOST))
        split = f"make lists of them: pl.col({name!r}).str.split('|')"
        yield Finding("items", rows, ("item", "category"), column=name, remedy=split)


@check(
    "info",
    "its popularity is 0; its novelty and propensity are as if one user had it",
    "nothing, if it is new",
    needs=("train",),
)
def cold_items(data: Data) -> Findings:
    """Recommended items that nobody has in train."""
    rows = data.pairs["train"].select("item").drop_nulls().unique()
    known = data.inputs.added("items of train", lambda: rows, ["item"])
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
    warns="always",
)
def users_without_weight(data: Data) -> Findings:
    """Users with judged rows and no weight."""
    call = data.of_call
    if call and _have_weights(data, call.given.get("users")):
        return
    known = data.having("user")["users"].filter(WEIGHT.is_not_null()).select("user")
    rows = data.judged_users.join(known, on="user", how="anti")
    yield Finding(data.judging, rows, ("user",))


def _have_weights(data: Data, users: pl.DataFrame | None) -> bool:
    """Return whether most users of a call have a weight."""
    judging = data.look("recommendations" if data.is_judged else "truth")
    if judging is None or users is None:
        return False
    weighted = users.filter(WEIGHT.is_not_null())["user"]
    return _share(data, judging["user"], weighted) >= 1 - MOST


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
