"""Checks of lists: ranks, scores, lengths."""

from __future__ import annotations

import re
from typing import Any

import polars as pl

from recframe.audit.checks import Finding, Findings, check
from recframe.audit.data import BEHIND_FIRST, ROWS, TIES, Data, item, n_rows, rank, user
from recframe.frames.hints import NAMED, Either, Given, bind, text
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import run_by_size
from recframe.frames.roles import names_trainings
from recframe.frames.rows.joins import aggregate
from recframe.ranking.data_checks import pooled, told_apart

FEWEST_LISTS = 5
"""Minimum lists; of fewer none may begin up to the cut-off by chance."""
OWN_RANKS = text("rank each list from 1, or name a column of scores: ", bind(score=NAMED))


@check(
    "error",
    "every list is empty, so that each user counts with nothing",
    OWN_RANKS,
    needs=("no place", "all users"),
    warns="always",
)
def no_lists(data: Data) -> Findings:
    """Lists without a row, or with a rank that is null, NaN or infinite in all rows."""
    judging = "recommendations" if data.is_judged else "truth"
    if data.looks_well(judging, pl.DataFrame.is_empty):
        return
    counts = data.inputs.lists.select(rows=pl.len(), against=data.ranked.sum())
    yield Finding(data.main, counts, ("rows",), column="rank", without_rows=True)
    if data.inputs.model and data.of_call is None:
        models = data.inputs.lists.group_by("model").agg(ROWS, ranked=data.ranked.sum())
        ranked, is_named = pl.col("ranked"), pl.col("model").is_not_null()
        none = models.filter(is_named & (ranked == 0) & (ranked.max() > 0))
        yield Finding(data.main, none, ("model",))


@check(
    "error",
    "a metric raises",
    text(
        "ranks start at 1: if they count from 0, add 1; shares between 0 and 1 are scores: ",
        bind(score=NAMED),
    ),
    needs=("ranks",),
)
def rank_below_1(data: Data) -> Findings:
    """Ranks below 1."""
    yield Finding(data.main, data.lists.filter(rank < 1), ("user", "item", "rank"))


@check(
    "warning",
    "the item counts as not recommended",
    "drop the row, or give it a rank",
    needs=("ranks",),
)
def missing_ranks(data: Data) -> Findings:
    """Null, NaN or infinite ranks; in a judged frame null means not recommended."""
    missing = ~data.ranked & (rank.is_not_null() if data.is_judged else pl.lit(value=True))
    yield Finding(data.main, data.pairs_of_lists.filter(missing), ("user", "item", "rank"))


# the fraction of a mean over a tie of an even number of ranks
HALF = 0.5


@check(
    "warning",
    "ranks count as given: an item of rank 1.5 is not a hit at 1; ranks less than 1 apart are spread",
    text(
        "rank each list without ties",
        Either(": .rank('ordinal') in Polars, .rank(method='first') in pandas"),
        ", or name the column of scores: ",
        bind(score=NAMED),
    ),
    needs=("fractions",),
    warns="always",
)
def fractional_ranks(data: Data) -> Findings:
    """Ranks such as 1.5, the mean over a tie of two items."""
    are_means = rank - rank.floor() == HALF
    given = None if data.of_call is None else data.of_call.given.get("recommendations")
    if given is not None:
        are_any = run_by_size(given.lazy().select(are_means.any()), len(given))
        if not are_any.item():
            return
    ties = data.repeats(data.lists.filter(are_means), data.keys, "rank")
    yield Finding(data.main, ties, ("user", "rank"), column="rank")


@check(
    "warning",
    "all of them count at this rank, which favours the list; relevant ones are ordered by item",
    text(
        "name a column of scores, whose ties ",
        TIES,
        " breaks: ",
        bind(score=NAMED),
        "; or rank each list from 1 without ties",
    ),
    needs=("ranks",),
)
def repeated_ranks(data: Data) -> Findings:
    """Ranks shared by several items of a list."""
    yield _shared(data, data.lists, "rank")


def _shared(data: Data, rows: pl.LazyFrame, place: str) -> Finding:
    """Return the ranks or scores that several items of a list have."""
    places = data.repeats(rows, data.keys, place, items=item.n_unique()).filter(pl.col("items") > 1)
    return Finding(data.main, places, ("user", place, "items"))


@check(
    "error",
    "most lists have no item up to k",
    text(
        "rank each list from 1",
        Either(": .rank('ordinal').over('user')"),
        ", or name a column of scores: ",
        bind(score=NAMED),
    ),
    needs=("ranks", "no repeats"),
    warns="always",
)
def ranks_over_all_lists(data: Data) -> Findings:
    """Lists whose first rank is above k, or above their length, as where the whole frame was ranked at once."""
    late = pl.col("first") > (n_rows if data.k is None else data.k)
    n_lists, n_ranked, groups = pl.len(), n_rows.sum(), data.keys[:-1]
    # ranks leave few numbers out where lists have one item, which are distinct by chance too
    is_whole = (n_ranked >= 2 * n_lists) | (pl.col("last").max() <= 2 * n_ranked)
    are_most = (2 * late.sum() > n_lists) & (n_lists >= FEWEST_LISTS) & is_whole
    places = pl.struct(*groups, "rank") if groups else rank  # a struct takes ten times as long
    distinct = data.lists.select(distinct=places.n_unique())
    # no rank is there twice
    at_once = are_most & (pl.col("distinct").first() == n_ranked)
    lists = data.lengths.join(distinct, how="cross")
    rows = lists.select("user", rank="first", is_so=late & at_once).filter("is_so")
    yield Finding(data.main, rows, ("user", "rank"), column="rank")


@check(
    "warning",
    "ranks count as they are, so that no list has a first item",
    OWN_RANKS,
    needs=("ranks", "late starts"),
    warns="always",
)
def no_first_rank(data: Data) -> Findings:
    """Lists none of which has a rank from 1 to below 2."""
    # of one item among many the rank alone may be known
    are_lists = (pl.len() >= FEWEST_LISTS) & (n_rows.sum() >= 2 * pl.len())
    are_late = are_lists & (pl.col("first").min() >= BEHIND_FIRST)
    late = data.lengths.select("user", rank="first", are_late=are_late).filter("are_late")
    yield Finding(data.main, late, ("user", "rank"), column="rank")


_SYSTEMS = re.compile(
    r"(models?|algo|algorithm|system|variant|run|method|experiment|recommender|approach)([-_ ](id|name))*"
)
"""Names of columns that identify systems, such as `model`, `algo_name`, `run_id`."""


@check("error", "a metric raises", "tell the lists apart", needs=("ranks", "all users"))
def pooled_lists(data: Data) -> Findings:
    """Lists with far more rows than ranks, in most lists, as where several lists of a user stand in one."""
    if data.context.folds is not None:  # the lists of one fold
        return
    several = pl.col("several")
    most = (2 * several.sum() > pl.len()).over(data.inputs.model or pl.lit(0, pl.Int64))
    rows = pooled(data.inputs).filter(most & several)
    remedy = text("tell them apart with ", told_apart(data.inputs), ", or rank ties one by one")
    yield Finding(data.main, rows, ("user", "rows"), remedy=remedy)


@check(
    "error",
    "all rows of a user count as one list",
    "tell the systems apart",
    needs=("labels", "all users"),
    warns="always",
)
def pooled_models(data: Data) -> Findings:
    """Most users have ranks or scored items several times, once per value of a column, as with several models."""
    place = "item" if data.inputs.scored else "rank"
    if data.looks_well("recommendations", lambda rows: not _repeats(data, rows, place)):
        return
    places = data.labelled.drop_nulls(["user", place]).group_by(*data.keys, place)
    n_users = data.lengths.select(n_users=user.n_unique())
    for one in data.labels:
        names = pl.col(one.inside).n_unique().alias("names")
        groups = places.agg(ROWS, names).filter(n_rows > 1).join(n_users, how="cross")
        explains = (pl.col("names") == n_rows).all()
        are_trainings = names_trainings(one.name)
        # systems may have few items in common
        if not (are_trainings or _SYSTEMS.fullmatch(str(one.name).casefold())):
            explains &= 2 * user.n_unique() >= pl.col("n_users")
        bound = {"training" if are_trainings else "model": repr(one.name)}
        of = "trainings of one model" if are_trainings else "systems"
        remedy = text(f"if column {one.name!r} names {of}, write ", bind(**bound))
        yield Finding(data.main, groups.filter(explains), ("user", place, "rows"), remedy=remedy)


def _repeats(data: Data, rows: pl.DataFrame, place: str) -> bool:
    """Return whether eager lists have the same places again and again: systems have all ranks and some items in common."""
    keys = [key for key in data.keys if key in rows.columns]
    places = rows.select(*keys, place).drop_nulls()
    return len(places) > (1.5 if place == "rank" else 1) * places.n_unique()


@check(
    "warning",
    "all rows of the truth count for each model",
    "make it a segment if it cuts both into parts, else drop it from the truth",
    needs=("models", "truth"),
    warns="always",
)
def models_of_the_truth(data: Data) -> Findings:
    """A column of models that the truth has too, where it is not read."""
    name, truth = data.context.names["model"], data.inputs.sides["truth"]
    if name in truth.columns:
        remedy = text(
            "write ",
            Given("by", name),
            " if it cuts lists and truth into parts, else drop it there",
        )
        yield Finding("truth", data.judged_pairs, f"column {name!r}", remedy=remedy)


@check(
    "warning",
    "ranks count as given, and a missing rank is a miss",
    "rank each list again from 1, if rows were dropped after ranking",
    needs=("ranks",),
)
def rank_gaps(data: Data) -> Findings:
    """Lists whose last rank is above their number of rows."""
    rows = data.lengths.filter(pl.col("last") > n_rows)
    yield Finding(data.main, rows, ("user", "rows", "last"))


def is_missing(data: Data) -> pl.Expr:
    """Return whether a score is null or NaN."""
    score = pl.col("score")
    is_float = data.inputs.schema["score"].is_float()
    return score.is_null() | score.is_nan() if is_float else score.is_null()


@check("warning", "the item ranks last", "drop the row, or give it a score", needs=("scores",))
def missing_scores(data: Data) -> Findings:
    """Null or NaN scores."""
    yield Finding(data.main, data.lists.filter(is_missing(data)))


@check(
    "warning",
    "the items of its lists are in the order of their ids",
    text(
        "give the model's own scores or a rank; equal scores can be meant with ", bind(ties="...")
    ),
    needs=("scores", "all users"),
    warns="always",
)
def scores_without_order(data: Data) -> Findings:
    """Scores of a model that are all missing or all equal."""
    if data.looks_well("recommendations", lambda rows: _differ(rows, data.inputs)):
        return
    missing, model = is_missing(data), data.inputs.model
    score = pl.col("score").filter(~missing)
    is_odd = missing.all()
    if "ties" not in data.context.given or data.context.ties == "item":  # else equal ones are meant
        are_equal = (score.min() == score.max()) & ~missing.any()
        is_odd |= are_equal & (pl.len() >= LEAST_EQUAL)
    is_odd &= pl.len() > pl.struct(*data.parts, "user").n_unique()
    counts = [score.min(), is_odd.alias("is odd"), ROWS]
    models = aggregate(data.lists, model, counts).filter("is odd")
    yield Finding(data.main, models, [*model, "score"], column="score")


LEAST_EQUAL = 10
"""Fewest scores: fewer may be equal by chance."""


def _differ(rows: pl.DataFrame, inputs: Frames) -> bool:
    """Return whether the scores of eager lists differ, those of each model."""
    differ = pl.col("score").max() > pl.col("score").min()
    ends = rows.group_by("model").agg(differ) if inputs.model else rows.select(differ)
    return bool(ends["score"].fill_null(value=False).all())


@check("warning", "the item ranks first or last", "give a finite score", needs=("scores",))
def infinite_scores(data: Data) -> Findings:
    """Infinite scores."""
    if data.inputs.schema["score"].is_float():
        rows = data.lists.filter(pl.col("score").is_infinite())
        yield Finding(data.main, rows, ("user", "item", "score"))


@check(
    "warning",
    "ties are broken by ties=, by default by item",
    "give scores in full precision, or ranks",
    needs=("scores",),
)
def tied_scores(data: Data) -> Findings:
    """Scores shared by several items of a list."""
    yield _shared(data, data.lists.filter(~is_missing(data)), "score")


@check(
    "warning",
    "precision still divides by k",
    "recommend k items, choose a lower k, or use precision(denominator='list')",
    needs=("all below k",),
    warns="always",
)
def short_lists(data: Data) -> Findings:
    """Lists with fewer than k rows."""
    lists = data.lists_of_look()
    if data.k is None or (lists is not None and _reach(data.k, lists["rows"])):
        return
    meaning = f"Lists with fewer rows than k={data.k}."
    short = data.lengths.filter(n_rows < data.k)
    yield Finding(data.main, short, ("user", "rows"), meaning=meaning)


MANY_LISTS = 100
"""Lists of which all end at one length below k where models were cut there."""


def _reach(k: int, lengths: pl.Series) -> bool:
    """Return whether some lists reach k, or their lengths differ, or they are few."""
    longest: Any = lengths.max()
    is_cut = len(lengths) >= MANY_LISTS and longest == lengths.min() and longest < k
    return not is_cut
