"""Checks of ids, ranks and scores."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from recframe.audit.call_warnings import (
    names_systems,
    ranked_at_once,
    scores_of_one_value,
    told_apart_by,
)
from recframe.audit.data import (
    ROWS,
    TIES,
    Audited,
    Found,
    check,
    is_float,
    is_missing,
    item,
    rank,
    user,
)
from recframe.audit.warnings_of_truth import HARDLY, apart
from recframe.frames.hints import NAMED, Either, bind, text
from recframe.frames.roles import names_trainings
from recframe.ranking.relevance import lacks_model, may_lack_models


@check("error", "the row is ignored", "drop the row, or find out why its id is missing")
def null_ids(data: Audited) -> Iterator[Found]:
    """Rows without a user or an item."""
    for name, rows in data.pairs.items():
        yield Found(name, rows.filter(user.is_null() | item.is_null()))


@check(
    "error",
    "a metric raises",
    "give each ranked row the name of its model, or drop the row; a judged row that nobody lists may name none",
)
def null_models(data: Audited) -> Iterator[Found]:
    """Ranked rows without a model, where one is bound."""
    if may_lack_models(data.inputs):
        yield Found(data.main, data.pairs_of_lists.filter(lacks_model(data.inputs)))


@check("error", "a metric raises", "cast the column to one dtype in all frames")
def id_dtypes(data: Audited) -> Iterator[Found]:
    """Ids of a dtype that cannot match the lists' ids, such as 1 and '1'."""
    for inside, message in data.clashes.items():
        for name, rows in data.pairs.items():
            if name == data.main:
                yield Found(name, rows.filter(pl.col(inside).is_not_null()), message, always=True)


@check(
    "error",
    "the ids are different ones, and nothing matches them",
    "strip the ids and cast them before they become text",
    of_all=True,
)
def id_spellings(data: Audited) -> Iterator[Found]:
    """Ids that are another one's but for blanks around them or a point and noughts behind them: ' a' and 'a', '1.0' and '1'."""
    for role, spellings in data.spellings.items():
        for name, rows in data.having(role).items():
            found = rows.join(
                spellings, left_on=pl.col(role).cast(pl.String), right_on="spelling", how="semi"
            )
            yield Found(name, found, (role,))


def _apart(data: Audited, role: str) -> Iterator[Found]:
    """Find frames with hardly an id in common with the lists: fewer than one in a hundred of the fewer ones."""
    if role in data.clashes:
        return
    for name, rows in data.having(role).items():
        if name != data.main:
            found = apart(data.inputs.lists, rows, role, HARDLY)
            n_ids = pl.col("there").cast(pl.Int64).alias("rows")
            found = found.select(n_ids, lists="such_here", **{name: "such_there"})
            if name == "train":  # new users and new items have no history
                meant = "nothing, if no history is meant"
                yield Found(name, found, ("lists", name), "warning", remedy=meant)
            else:
                yield Found(name, found, ("lists", name))


SAME_IDS = "give both frames the same ids, or name the column that has them: "


@check(
    "error", "nothing or hardly anything is found", text(SAME_IDS, bind(user=NAMED)), of_all=True
)
def no_common_users(data: Audited) -> Iterator[Found]:
    """Frames whose user ids are hardly any of the lists', `rows` of them."""
    yield from _apart(data, "user")


@check(
    "error", "nothing or hardly anything is found", text(SAME_IDS, bind(item=NAMED)), of_all=True
)
def no_common_items(data: Audited) -> Iterator[Found]:
    """Frames whose item ids are hardly any of the lists', `rows` of them."""
    yield from _apart(data, "item")


@check("error", "a metric raises", text("keep one row for each", Either(": frame.unique(...)")))
def repeated_keys(data: Audited) -> Iterator[Found]:
    """Users or items with two rows in the frame that describes them."""
    for name, role, frame in (
        ("users", "user", data.inputs.users),
        ("items", "item", data.inputs.items),
    ):
        if frame is not None:
            rows = frame.filter(pl.col(role).is_not_null()).group_by(role).agg(ROWS)
            yield Found(name, rows.filter(pl.col("rows") > 1), (role, "rows"))


UPSIDE_DOWN = 0.5
"""Rank-score correlation above which ranks count as reversed; re-ranking for variety stays below it."""


@check("error", "a metric raises", "ranks start at 1; if they count from 0, add 1 to them")
def rank_below_1(data: Audited) -> Iterator[Found]:
    """Ranks below 1."""
    if not data.inputs.scored:
        yield Found(data.main, data.lists.filter(rank < 1), ("user", "item", "rank"))


@check(
    "warning",
    "ranks count as given, whatever the scores",
    text(
        "if higher scores are better, rank by them: drop the ranks, or ",
        bind(score=NAMED),
        " alone",
    ),
)
def ranks_against_scores(data: Audited) -> Iterator[Found]:
    """Lists that have both, in which the higher ranks have the higher scores: one of them is upside down."""
    scored = data.scores_beside_ranks
    if scored is not None:
        turned = pl.corr("rank", "score").fill_nan(None) > UPSIDE_DOWN
        lists = scored.group_by(data.keys).agg(turned.alias("turned"), ROWS)
        yield Found(data.main, lists.filter(pl.col("turned")), ("user", "rows"))


@check("warning", "the item counts as not recommended", "drop the row, or give it a rank")
def missing_ranks(data: Audited) -> Iterator[Found]:
    """Null, NaN or infinite ranks; in a judged frame null says that the item was not recommended."""
    if not data.inputs.scored:
        missing = ~data.ranked & (rank.is_not_null() if data.is_judged else pl.lit(value=True))
        yield Found(data.main, data.pairs_of_lists.filter(missing), ("user", "item", "rank"))


@check(
    "warning",
    "a rank counts as it is, and ranks closer than 1 are spread",
    "give whole ranks: rank without means over ties, or name a column of scores",
)
def fractional_ranks(data: Audited) -> Iterator[Found]:
    """Ranks that are no whole numbers."""
    if not data.inputs.scored and data.inputs.lists.collect_schema()["rank"].is_float():
        yield Found(data.main, data.lists.filter(rank != rank.floor()), ("user", "item", "rank"))


@check(
    "warning",
    "all of them count up to the rank, which favours the list; the relevant ones follow one another by item",
    text(
        "say how they stand: ",
        bind(ties="'expected'"),
        " or another ",
        TIES,
        "; or rank each list from 1 without ties",
    ),
)
def repeated_ranks(data: Audited) -> Iterator[Found]:
    """Ranks that several items of one list have."""
    if not data.inputs.scored:
        ranks = data.same_places.group_by(*data.keys, "rank").agg(ROWS, items=item.n_unique())
        apart = (
            f"ties are broken as ties={data.context.ties!r} says, each item on a place of its own"
        )
        if data.context.ties == "last":
            apart = "all of them stand at the last place of their tie, as ties='last' says"
        said = apart if data.inputs.tells_ranks_apart else None
        yield Found(
            data.main, ranks.filter(pl.col("items") > 1), ("user", "rank", "items"), treatment=said
        )


@check(
    "error",
    "most lists have no item up to a cut-off",
    text("rank each list from 1, or name a column of scores: ", bind(score=NAMED)),
)
def ranks_over_all_lists(data: Audited) -> Iterator[Found]:
    """Lists that begin beyond k, or beyond their own length, as most do where no rank is there twice."""
    if not data.inputs.scored:
        limit = pl.col("rows") if data.k is None else data.k
        late = data.lengths.filter(pl.col("first") > limit).rename({"first": "rank"})
        at_once = ranked_at_once(data.inputs, data.k)
        yield Found(data.main, late.join(at_once, how="cross"), ("user", "rank"))


@check("error", "all rows of a user count as one list", "tell the systems apart", of_all=True)
def pooled_models(data: Audited) -> Iterator[Found]:
    """Ranks or scored items repeated in a user's rows, as often as a column has values that tell the rows apart."""
    scored, place = data.inputs.scored, "item" if data.inputs.scored else "rank"
    repeated = pl.col("rows" if scored else "items") > 1
    rows = data.same_pairs if scored else data.same_places
    n_users = data.lengths.select(n_users=user.n_unique())
    for inside, name in data.inputs.labels.items():
        label = pl.col(inside).n_unique()
        counts = [ROWS, item.n_unique().alias("items"), label.alias("names")]
        groups = rows.group_by(*data.keys, place).agg(counts).filter(repeated)
        groups = groups.join(n_users, how="cross")
        groups = groups.join(data.lists.select(n_names=label), how="cross")
        explains = (pl.col("names") == pl.col("rows")).all()
        is_named = names_trainings(name) or (scored and names_systems(name))
        # a column of such a name may have more values than an item has rows, and few users such items
        if not is_named:
            explains &= pl.col("n_names") == pl.col("rows").max()
        if not (scored and is_named):
            explains &= 2 * user.n_unique() >= pl.col("n_users")
        shown = ("user", place, "rows" if scored else "items")
        remedy = f"column {name!r} tells the rows apart; {told_apart_by(name)}"
        yield Found(data.main, groups.filter(explains), shown, remedy=remedy)


@check(
    "warning",
    "ranks count as given, and a missing rank is a miss",
    "rank each list anew from 1, if rows were dropped after ranking",
)
def rank_gaps(data: Audited) -> Iterator[Found]:
    """Lists whose last rank is beyond their number of rows."""
    if not data.inputs.scored:
        rows = data.lengths.filter(pl.col("last") > pl.col("rows"))
        yield Found(data.main, rows, ("user", "rows", "last"))


@check("warning", "the item ranks behind every score", "drop the row, or give it a score")
def missing_scores(data: Audited) -> Iterator[Found]:
    """Null or NaN scores."""
    if data.inputs.scored:
        yield Found(data.main, data.lists.filter(is_missing(data.lists, "score")))


@check(
    "warning",
    "the items of its lists are in the order of their ids",
    text(
        "give the model's own scores or a rank; equal scores can be meant with ", bind(ties="...")
    ),
    of_all=True,
)
def scores_without_order(data: Audited) -> Iterator[Found]:
    """Scores of a model that are all missing or all equal."""
    if data.inputs.scored:
        found = scores_of_one_value(data.lists, data.inputs).with_columns(
            pl.col("rows").cast(pl.Int64)
        )
        found = found.select(*data.inputs.model, "rows", score="lowest")
        yield Found(data.main, found, [*data.inputs.model, "score"])


@check("warning", "the item ranks before or behind every other score", "give a finite score")
def infinite_scores(data: Audited) -> Iterator[Found]:
    """Infinite scores."""
    if data.inputs.scored and is_float(data.lists, "score"):
        yield Found(
            data.main, data.lists.filter(pl.col("score").is_infinite()), ("user", "item", "score")
        )


@check(
    "warning",
    "ties are broken as ties= says, by default by item",
    "give scores in full precision, or ranks",
)
def tied_scores(data: Audited) -> Iterator[Found]:
    """Scores that several items of one list have."""
    if data.inputs.scored:
        rows = data.same_places
        groups = rows.filter(~is_missing(rows, "score")).group_by(*data.keys, "score")
        ties = groups.agg(ROWS, items=item.n_unique()).filter(pl.col("items") > 1)
        yield Found(data.main, ties, ("user", "score", "items"))
