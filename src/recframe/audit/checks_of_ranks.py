"""Checks of ids, ranks and scores."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from recframe.audit.call_warnings import (
    names_systems,
    ranked_at_once,
    scores_of_one_value,
    told_apart_by,
)
from recframe.audit.checks import Finding, Findings, check
from recframe.audit.data import ROWS, TEXT, TIES, Data, item, n_rows, rank, user
from recframe.audit.warnings_of_truth import HARDLY, apart
from recframe.frames.hints import NAMED, Either, bind, text
from recframe.frames.roles import names_trainings
from recframe.frames.rows.joins import beside_one_another
from recframe.ranking.judged_frame import PAIR
from recframe.ranking.relevance import lacks_model, may_lack_models


@check("error", "the row is ignored", "drop the row, or find out why its id is missing")
def null_ids(data: Data) -> Findings:
    """Rows without a user or an item."""
    for name, rows in data.pairs.items():
        yield Finding(name, rows.filter(user.is_null() | item.is_null()))


@check(
    "error",
    "a metric raises",
    "give each ranked row the name of its model, or drop the row; a judged row without a rank needs no model",
)
def null_models(data: Data) -> Findings:
    """Ranked rows without a model, where one is bound."""
    if may_lack_models(data.inputs):
        yield Finding(data.main, data.pairs_of_lists.filter(lacks_model(data.inputs)))


@check("error", "a metric raises", "cast the column to one dtype in all frames")
def id_dtypes(data: Data) -> Findings:
    """Ids of a dtype that cannot match the lists' ids, such as 1 and '1'."""
    for inside, message in data.clashes.items():
        rows = data.inputs.lists.filter(pl.col(inside).is_not_null())
        yield Finding(data.main, rows, message, always=True)


@check(
    "error",
    "they count as different ids, which do not match",
    "strip the ids, and cast floats to integers before they become text",
    needs=("all users",),
)
def id_spellings(data: Data) -> Findings:
    """Ids that differ only by spaces or a trailing `.0`: ' a' and 'a', '1.0' and '1'."""
    for role in PAIR:
        frames = data.having(role)
        if all(rows.collect_schema()[role] in TEXT for rows in frames.values()):
            text = pl.col(role).cast(pl.String)
            texts = [rows.select(spelling=text).drop_nulls().unique() for rows in frames.values()]
            spellings = _spellings(pl.concat(texts).cache())
            for name, rows in frames.items():
                odd = rows.join(spellings, left_on=text, right_on="spelling", how="semi")
                yield Finding(name, odd, (role,))


def _spellings(texts: pl.LazyFrame) -> pl.LazyFrame:
    """Return ids that differ from another id only by spaces or a trailing `.0`."""
    spelling, plain = pl.col("spelling"), pl.col("plain")
    stripped = spelling.str.strip_chars()
    # NOTE: a pattern takes ten times as long as these, and few ids are left for it
    pointed = stripped.str.ends_with("0") & stripped.str.contains(".", literal=True)
    some = texts.filter((spelling != stripped) | pointed).unique()
    odd = some.with_columns(plain=stripped.str.replace(r"^([+-]?\d+)\.0+$", "$1"))
    odd = odd.filter(spelling != plain)
    # all others are plain
    same = texts.join(odd, left_on="spelling", right_on="plain", how="semi").unique()
    spellings = pl.concat([odd.select("plain"), same.select(plain="spelling")])
    several = spellings.group_by("plain").len().filter(pl.col("len") > 1)
    return odd.join(several, on="plain", how="semi")


def _apart(data: Data, role: str) -> Findings:
    """Find frames with hardly an id in common with the lists: fewer than one in a hundred of the fewer ones."""
    frames = {} if role in data.clashes else data.having(role)
    for name, rows in frames.items():
        if name == data.main:
            continue
        ids = apart(data.inputs.lists, rows, role, HARDLY)
        counts = ids.select(
            pl.col("there").cast(pl.Int64).alias("rows"), lists="such_here", **{name: "such_there"}
        )
        finding = Finding(name, counts, ("lists", name))
        if name == "train":  # new users and new items have no history
            meant = "nothing, if users and items are meant to be new"
            finding = replace(finding, severity="warning", remedy=meant)
        yield finding


SAME_IDS = "give both frames the same ids, or name the column that has them: "


@check(
    "error",
    "nothing or hardly anything is found",
    text(SAME_IDS, bind(user=NAMED)),
    needs=("all users",),
)
def no_common_users(data: Data) -> Findings:
    """Frames with hardly any user id in common with the lists; `rows` counts their ids."""
    yield from _apart(data, "user")


@check(
    "error",
    "nothing or hardly anything is found",
    text(SAME_IDS, bind(item=NAMED)),
    needs=("all users",),
)
def no_common_items(data: Data) -> Findings:
    """Frames with hardly any item id in common with the lists; `rows` counts their ids."""
    yield from _apart(data, "item")


@check("error", "a metric raises", text("keep one row for each", Either(": frame.unique(...)")))
def repeated_keys(data: Data) -> Findings:
    """Users or items with two rows in the frame that describes them."""
    frames = {"user": data.inputs.users, "item": data.inputs.items}
    for role, frame in frames.items():
        if frame is not None:
            counts = frame.filter(pl.col(role).is_not_null()).group_by(role).agg(ROWS)
            yield Finding(f"{role}s", counts.filter(n_rows > 1), (role, "rows"))


@check(
    "error",
    "a metric raises",
    "ranks start at 1; if they count from 0, add 1 to them",
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


@check(
    "warning",
    "ranks count as given; ranks less than 1 apart are spread",
    "give whole ranks: break ties, or name a column of scores",
    needs=("fractions",),
)
def fractional_ranks(data: Data) -> Findings:
    """Ranks that are not whole numbers."""
    yield Finding(data.main, data.lists.filter(rank != rank.floor()), ("user", "item", "rank"))


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
    ranks = data.same_places.group_by(*data.keys, "rank").agg(ROWS, items=item.n_unique())
    yield Finding(data.main, ranks.filter(pl.col("items") > 1), ("user", "rank", "items"))


@check(
    "error",
    "most lists have no item up to k",
    text("rank each list from 1, or name a column of scores: ", bind(score=NAMED)),
    needs=("ranks",),
)
def ranks_over_all_lists(data: Data) -> Findings:
    """Lists whose first rank is above k, or above their length, as where the whole frame was ranked at once."""
    limit = n_rows if data.k is None else data.k
    late = data.lengths.filter(pl.col("first") > limit).rename({"first": "rank"})
    at_once = ranked_at_once(data.inputs, data.k)
    yield Finding(data.main, late.join(at_once, how="cross"), ("user", "rank"))


@check(
    "error", "all rows of a user count as one list", "tell the systems apart", needs=("all users",)
)
def pooled_models(data: Data) -> Findings:
    """Most users have every rank or scored item several times, once per value of a column, as with several models."""
    scored = data.inputs.scored
    rows, place = (data.same_pairs, "item") if scored else (data.same_places, "rank")
    often = "rows" if scored else "items"
    n_users = data.lengths.select(n_users=user.n_unique())
    for inside, name in data.inputs.labels.items():
        label = pl.col(inside).n_unique()
        groups = rows.group_by(*data.keys, place).agg(ROWS, items=item.n_unique(), names=label)
        sizes = beside_one_another([n_users, data.lists.select(n_names=label)])
        groups = groups.filter(pl.col(often) > 1).join(sizes, how="cross")
        explains = (pl.col("names") == n_rows).all()
        # a column of such a name may have more values than an item has rows, and few users such items
        if not (names_trainings(name) or names_systems(name)):
            explains &= (pl.col("n_names") == n_rows.max()) & (
                2 * user.n_unique() >= pl.col("n_users")
            )
        remedy = f"column {name!r} distinguishes the rows; {told_apart_by(name)}"
        shown = ("user", place, often)
        yield Finding(data.main, groups.filter(explains), shown, remedy=remedy)


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
)
def scores_without_order(data: Data) -> Findings:
    """Scores of a model that are all missing or all equal."""
    found = scores_of_one_value(data.lists, data.inputs).with_columns(n_rows.cast(pl.Int64))
    found = found.select(*data.inputs.model, "rows", score="lowest")
    yield Finding(data.main, found, [*data.inputs.model, "score"])


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
    rows = data.same_places
    groups = rows.filter(~is_missing(data)).group_by(*data.keys, "score")
    ties = groups.agg(ROWS, items=item.n_unique()).filter(pl.col("items") > 1)
    yield Finding(data.main, ties, ("user", "score", "items"))
