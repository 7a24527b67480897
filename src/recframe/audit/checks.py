"""The page of checks: what the audit looks for, what a metric does about it, and how to mend it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import polars as pl

from recframe.audit.audited import Audited
from recframe.audit.rule import Check, Found, check
from recframe.facts.features import are_bits, may_be_bits
from recframe.frames.hints import A_FRAME, Either, bind, text
from recframe.judging.judged_frame import PAIR

user, item, rank, relevance = (pl.col(name) for name in ("user", "item", "rank", "relevance"))
ROWS = pl.len().cast(pl.Int64).alias("rows")
TIES = Either("ties=", "--ties")
LISTED_AND_JUDGED = text("leave the user out: ", bind(universe="'both'"))
EMPTY = {"zero": "the user counts, with 0", "skip": "the user is left out", "null": "the user's values are null"}


# Ids


@check("error", "the row is ignored", "drop the row, or find out why its id is missing")
def null_ids(data: Audited) -> Iterator[Found]:
    """Rows without a user or an item."""
    for name, rows in data.pairs.items():
        yield Found(name, rows.filter(user.is_null() | item.is_null()))


@check("error", "a metric raises", "cast the column to one dtype in all frames")
def id_dtypes(data: Audited) -> Iterator[Found]:
    """Ids of a dtype that cannot match the lists' ids, such as 1 and '1'."""
    for inside, message in data.clashes.items():
        for name, rows in data.pairs.items():
            if name == data.main:
                yield Found(name, rows.filter(pl.col(inside).is_not_null()), message, always=True)


@check("error", "the ids are different ones, and nothing matches them", "strip the ids and cast them before they become text")
def id_spellings(data: Audited) -> Iterator[Found]:
    """Ids that are another one's but for blanks around them or a point and noughts behind them: ' a' and 'a', '1.0' and '1'."""
    for role in PAIR:
        spellings = data.suspected(role)
        if spellings is None:
            continue
        for name, rows in data.having(role).items():
            found = rows.join(spellings, left_on=pl.col(role).cast(pl.String), right_on="spelling", how="semi")
            yield Found(name, found, (role,))


@check("error", "a metric raises", text("keep one row for each", Either(": frame.unique(...)")))
def repeated_keys(data: Audited) -> Iterator[Found]:
    """Users or items with two rows in the frame that describes them."""
    for name, role, frame in (("users", "user", data.inputs.users), ("items", "item", data.inputs.items)):
        if frame is not None:
            rows = frame.filter(pl.col(role).is_not_null()).group_by(role).agg(ROWS)
            yield Found(name, rows.filter(pl.col("rows") > 1), (role, "rows"))


# Ranks and scores


@check("error", "a metric raises", "ranks start at 1; if they count from 0, add 1 to them")
def rank_below_1(data: Audited) -> Iterator[Found]:
    """Ranks below 1."""
    if not data.inputs.scored:
        yield Found(data.main, data.lists.filter(rank < 1), ("user", "item", "rank"))


@check("warning", "the item counts as not recommended", "drop the row, or give it a rank")
def missing_ranks(data: Audited) -> Iterator[Found]:
    """Null, NaN or infinite ranks; in a judged frame null says that the item was not recommended."""
    if not data.inputs.scored:
        missing = ~data.ranked & (rank.is_not_null() if data.is_judged else pl.lit(value=True))
        yield Found(data.main, data.pairs_of_lists.filter(missing), ("user", "item", "rank"))


@check("warning", "a rank counts as it is, and ranks closer than 1 are spread", "give whole ranks, without means over ties")
def fractional_ranks(data: Audited) -> Iterator[Found]:
    """Ranks that are no whole numbers."""
    if not data.inputs.scored and data.inputs.lists.collect_schema()["rank"].is_float():
        yield Found(data.main, data.lists.filter(rank != rank.floor()), ("user", "item", "rank"))


def _sharing_a_rank(data: Audited) -> pl.LazyFrame | None:
    """Return the rows of lists that may share their rank with another one."""
    return None if data.inputs.scored else data.repeated("rank", data.lists, [*data.keys, "rank"])


@check(
    "warning",
    "all of them count up to the rank, which favours the list; the relevant ones follow one another by item",
    text("say how they stand: ", bind(ties="'expected'"), " or another ", TIES, "; or rank each list from 1 without ties"),
)
def repeated_ranks(data: Audited) -> Iterator[Found]:
    """Ranks that several items of one list have."""
    rows = _sharing_a_rank(data)
    if rows is not None:
        ranks = rows.group_by(*data.keys, "rank").agg(ROWS, items=item.n_unique())
        apart = f"ties are broken as ties={data.context.ties!r} says, each item on a place of its own"
        if data.context.ties == "last":
            apart = "all of them stand at the last place of their tie, as ties='last' says"
        said = apart if data.inputs.tells_ranks_apart else None
        yield Found(data.main, ranks.filter(pl.col("items") > 1), ("user", "rank", "items"), treatment=said)


@check("error", "all rows of a user count as one list", "tell the systems apart")
def pooled_models(data: Audited) -> Iterator[Found]:
    """Ranks repeated for half of the users or more, as often as a column has values that tell their rows apart."""
    rows = _sharing_a_rank(data)
    if rows is None:
        return
    for inside, name in data.inputs.labels.items():
        label = pl.col(inside)
        ranks = rows.group_by(*data.keys, "rank").agg(ROWS, items=item.n_unique(), names=label.n_unique())
        ranks = ranks.filter(pl.col("items") > 1)
        ranks = ranks.join(data.lengths.select(n_users=user.n_unique()), how="cross")
        ranks = ranks.join(data.lists.select(n_names=label.n_unique()), how="cross")
        explains = (pl.col("names") == pl.col("rows")).all() & (pl.col("n_names") == pl.col("rows").max())
        found = ranks.filter(explains & (2 * user.n_unique() >= pl.col("n_users")))
        remedy = f"column {name!r} tells the rows of one rank apart; if it names systems, write {bind(model=repr(name))}"
        yield Found(data.main, found, ("user", "rank", "items"), remedy=remedy)


@check(
    "warning",
    "ranks count as given, and a missing rank is a miss",
    "rank each list anew from 1, if rows were dropped after ranking",
)
def rank_gaps(data: Audited) -> Iterator[Found]:
    """Lists whose last rank is beyond their number of rows."""
    if not data.inputs.scored and not data.consecutive:
        rows = data.lengths.filter(pl.col("last") > pl.col("rows"))
        yield Found(data.main, rows, ("user", "rows", "last"))


@check("warning", "the item ranks behind every score", "drop the row, or give it a score")
def missing_scores(data: Audited) -> Iterator[Found]:
    """Null or NaN scores."""
    if data.inputs.scored:
        yield Found(data.main, data.lists.filter(_missing(data.lists, "score")))


@check("warning", "the item ranks before or behind every other score", "give a finite score")
def infinite_scores(data: Audited) -> Iterator[Found]:
    """Infinite scores."""
    if data.inputs.scored and _is_float(data.lists, "score"):
        yield Found(data.main, data.lists.filter(pl.col("score").is_infinite()), ("user", "item", "score"))


@check("warning", "ties are broken as ties= says, by default by item", "give scores in full precision, or ranks")
def tied_scores(data: Audited) -> Iterator[Found]:
    """Scores that several items of one list have."""
    rows = data.repeated("score", data.lists, [*data.keys, "score"]) if data.inputs.scored else None
    if rows is not None:
        groups = rows.filter(~_missing(rows, "score")).group_by(*data.keys, "score")
        ties = groups.agg(ROWS, items=item.n_unique()).filter(pl.col("items") > 1)
        yield Found(data.main, ties, ("user", "score", "items"))


# Relevance


@check("warning", "the row is ignored", "drop the row, or give it a relevance")
def null_relevance(data: Audited) -> Iterator[Found]:
    """Truth without a relevance, which is null or NaN; in a judged frame that says that the item was not judged."""
    if not data.is_judged:
        name, rows = data.judging
        yield Found(name, rows.filter(relevance.is_null()))


@check("error", "a metric raises", "replace it with the highest grade")
def infinite_relevance(data: Audited) -> Iterator[Found]:
    """Infinite relevances."""
    name, rows = data.judging
    if _is_float(rows, "relevance"):
        yield Found(name, data.judged_pairs.filter(relevance == math.inf))


@check("info", "the item is judged, and not relevant", "nothing, if the lower the worse; else move the grades above 0")
def negative_relevance(data: Audited) -> Iterator[Found]:
    """Relevances below 0."""
    name, rows = data.judging
    if rows.collect_schema()["relevance"].is_numeric():
        yield Found(name, data.judged_pairs.filter(relevance < 0), ("user", "item", "relevance"))


@check(
    "warning",
    "every value above 0 is relevant, with itself as gain",
    text("give grades, or a threshold: ", bind(min_relevance="...")),
)
def relevance_like_scores(data: Audited) -> Iterator[Found]:
    """Relevances none of which is a whole number, as a model's scores are."""
    name, rows = data.judging
    if _is_float(rows, "relevance"):
        fractions = data.truth.filter((relevance != relevance.floor()).all())
        yield Found(name, fractions, ("user", "item", "relevance"))


@check(
    "warning", "what was not recommended is unknown, so recall, map and ndcg speak of the list alone", "join all of the truth"
)
def no_relevant_beyond_lists(data: Audited) -> Iterator[Found]:
    """A judged frame whose relevant rows all stand in lists."""
    if data.is_judged and data.context.relevant_from == "truth":
        users = data.judged_users.filter(pl.col("beyond").sum() == 0).filter(pl.col("relevant") > 0)
        yield Found(data.main, users.select("user", rows="relevant"), ("user", "rows"))


# The same twice


def _same_pair(data: Audited) -> pl.LazyFrame | None:
    """Return the pairs of the lists' frame that stand there twice, with what their rows say."""
    keys = [*data.inputs.model, *PAIR]
    rows = data.repeated("pair", data.pairs_of_lists, keys)
    if rows is None:
        return None
    judged = relevance.is_not_null() if data.is_judged else pl.lit(value=False)
    rows = rows.with_columns(is_ranked=data.ranked, is_judged=judged)
    grades = [relevance.min().alias("lowest"), relevance.max().alias("highest")] if data.is_judged else []
    both = pl.col("is_ranked") & pl.col("is_judged")
    counts = {"ranked": pl.col("is_ranked").sum(), "judged": pl.col("is_judged").sum(), "both": both.sum()}
    return rows.group_by(keys).agg(ROWS, *(count.alias(name) for name, count in counts.items()), *grades)


@check(
    "error",
    "the item counts once, at its best rank",
    text("keep one row for each user and item; ", bind(model="..."), ", if several systems have it"),
)
def duplicate_items(data: Audited) -> Iterator[Found]:
    """Items that stand twice in one list."""
    pairs = _same_pair(data)
    if pairs is not None:
        yield Found(data.main, pairs.filter(pl.col("ranked") > 1), ("user", "item", "rows"))


@check(
    "error",
    "the ranked row is not relevant, and the relevant row has no rank",
    text("join the two frames, or give ", bind(truth="...")),
)
def split_pairs(data: Audited) -> Iterator[Found]:
    """Pairs of a judged frame whose rank stands in one row and whose relevance in another."""
    pairs = _same_pair(data) if data.is_judged else None
    if pairs is not None:
        split = (pl.col("ranked") > 0) & (pl.col("judged") > 0) & (pl.col("both") == 0)
        yield Found(data.main, pairs.filter(split), ("user", "item", "rows"))


def _judged_twice(data: Audited) -> pl.LazyFrame | None:
    """Return the pairs with several judged rows, whatever model they stand with, and their lowest and highest relevance."""
    rows = data.repeated(data.same_truth, data.truth, PAIR)
    if rows is None:
        return None
    several = rows.group_by(PAIR).agg(ROWS, lowest=relevance.min(), highest=relevance.max())
    return several.filter(pl.col("rows") > 1)


@check(
    "warning",
    "the pair counts once",
    text("keep one row for each user and item", Either(": truth.unique(['user', 'item'])")),
)
def duplicate_truth(data: Audited) -> Iterator[Found]:
    """Pairs that are judged twice, with the same relevance."""
    if data.is_judged:
        pairs = _same_pair(data)
        twice = (pl.col("judged") > 1) & (pl.col("ranked") < 2)  # noqa: PLR2004  two ranked rows are a duplicate item
    else:
        pairs, twice = _judged_twice(data), pl.lit(value=True)
    if pairs is not None:
        same = pairs.filter(twice & (pl.col("lowest") == pl.col("highest")))
        yield Found(data.judging[0], same, ("user", "item", "rows"))


@check("error", "the pair counts once, at its highest relevance", "decide which relevance holds, and keep one row")
def conflicting_truth(data: Audited) -> Iterator[Found]:
    """Pairs that are judged twice, with different relevances."""
    pairs = _judged_twice(data)
    if pairs is not None:
        found = pairs.filter(pl.col("lowest") != pl.col("highest"))
        yield Found(data.judging[0], found, ("user", "item", "lowest", "highest"))


# Lists and users


@check("warning", "precision divides by k all the same", "recommend k items, or ask precision(denominator='list')")
def short_lists(data: Audited) -> Iterator[Found]:
    """Lists with fewer than k rows."""
    if data.k is not None:
        yield Found(data.main, data.lengths.filter(pl.col("rows") < data.k), ("user", "rows"))


@check("info", "without a cut-off precision divides by each list's own length", "ask with a k that all lists reach")
def uneven_lists(data: Audited) -> Iterator[Found]:
    """Lists that are shorter than the longest one."""
    if data.k is None:
        lists = data.lengths.with_columns(longest=pl.col("rows").max())
        shorter = lists.filter(pl.col("rows") < pl.col("longest"))
        yield Found(data.main, shorter, ("user", "rows", "longest"))


@check("info", "the user is left out", text("nothing, if the truth is meant to say who counts; else ", bind(universe="'all'")))
def users_without_truth(data: Audited) -> Iterator[Found]:
    """Users who have a list and no judged row."""
    rows = data.lengths.join(data.judged_users, on="user", how="anti")
    counts = (data.context.universe or ("rows" if data.is_judged else "truth")) in {"rows", "recs", "all"}
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
        users = users.join(data.lists.select("model").unique(), how="cross")
    rows = users.join(data.lengths, on=data.keys, how="anti")
    if data.context.universe in {"recs", "both"}:
        yield Found(data.judging[0], rows, data.keys, "info", "the user is left out", "nothing, if that is meant")
    else:
        yield Found(data.judging[0], rows, data.keys)


@check("info", "the user counts, with 0", text("leave the user out: ", bind(no_relevant="'skip'")))
def users_without_relevant(data: Audited) -> Iterator[Found]:
    """Users with judged rows, none of which is relevant."""
    said = EMPTY[data.context.no_relevant]
    without = data.judged_users.filter(pl.col("relevant") == 0)
    yield Found(data.judging[0], without, ("user", "rows"), treatment=said)


@check(
    "error",
    "a metric raises",
    text(Either("by=", "--by"), " takes properties of the user; ", bind(model="..."), " compares systems"),
)
def users_in_two_segments(data: Audited) -> Iterator[Found]:
    """Users with two values of a column of `by`."""
    for segment in data.inputs.segments:
        if segment.owner not in {"recommendations", "truth", "row"}:
            continue
        frame = data.inputs.counted("truth" if segment.owner == "truth" else "recommendations")
        values = frame.select("user", segment.inside).drop_nulls()
        values = values.group_by("user", segment.inside).agg(ROWS)
        users = values.group_by("user").agg(pl.col("rows").sum(), values=pl.len())
        users = users.filter(pl.col("values") > 1)
        found = Found(data.main if segment.owner == "row" else segment.owner, users, ("user", "values"))
        if segment.owner == "row":
            said = f"the user counts for each value of {segment.name!r}, with its own rows"
            found = replace(found, severity="info", treatment=said, remedy="nothing, if the column describes items")
        yield found


@check(
    "error",
    "the user counts in two segments, the value's and that of null, each with its own rows",
    text("fill the column in on all rows of the user, or give it as a column of ", bind(users="...")),
)
def users_in_two_halves(data: Audited) -> Iterator[Found]:
    """Users with a value of a column of `by` on some rows of a judged frame and null on others, where nobody has two values."""
    for segment in data.inputs.segments:
        if data.is_judged and segment.owner == "row":
            rows = data.pairs_of_lists.filter(pl.col(segment.inside).is_null())
            rows = rows.join(data.inputs.in_two_halves(segment), on="user", how="semi")
            users = rows.group_by("user").agg(ROWS).with_columns(column=pl.lit(segment.name))
            yield Found(data.main, users, ("user", "column", "rows"))


# Other frames


@check("warning", "the item counts as any other", "leave out what the user already had, unless it is meant to come again")
def recommended_in_train(data: Audited) -> Iterator[Found]:
    """Items recommended to users who have them in train."""
    if data.inputs.train is not None:
        yield Found(data.main, data.lists.join(data.inputs.train, on=PAIR, how="semi"))


@check("warning", "the pair counts as any other", "split the truth from train, so that no pair is in both")
def truth_in_train(data: Audited) -> Iterator[Found]:
    """Relevant pairs that stand in train."""
    if data.inputs.train is not None:
        rows = data.truth.filter(data.relevant).join(data.inputs.train, on=PAIR, how="semi")
        yield Found(data.judging[0], rows)


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
        known = data.inputs.train.select("item").drop_nulls().unique()
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


@check("info", "metrics of this column leave the item out", "describe the item, or ask for another column: of=...")
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


@check("error", "the pair counts as observed with the probability min_propensity", "give each relevant pair a number above 0")
def missing_propensity(data: Audited) -> Iterator[Found]:
    """Relevant pairs whose propensity is null, NaN, 0 or below."""
    if data.context.propensity is not None:
        given = pl.col("propensity").cast(pl.Float64).fill_nan(None)
        rows = data.truth.filter(data.relevant).filter((given > 0).fill_null(value=False).not_())
        yield Found(data.judging[0], rows, ("user", "item", "propensity"))


@check(
    "error",
    "a metric raises",
    text("name a model that there is, or give a ", A_FRAME, " of lists: ", bind(reference="reference")),
)
def unknown_reference(data: Audited) -> Iterator[Found]:
    """Lists of models none of which is the one that `reference=` names."""
    if isinstance(data.inputs.reference, str):
        others = data.inputs.lists.filter(~data.inputs.is_reference.any())
        yield Found(data.main, others, ("user", "model"))


def _is_float(frame: pl.LazyFrame, name: str) -> bool:
    return frame.collect_schema()[name].is_float()


def _missing(frame: pl.LazyFrame, name: str) -> pl.Expr:
    column = pl.col(name)
    return column.is_null() | column.is_nan() if _is_float(frame, name) else column.is_null()


CHECKS = [one for one in list(globals().values()) if isinstance(one, Check)]
"""Every check, in the order of this page."""
