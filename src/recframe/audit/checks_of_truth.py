"""Checks of the truth, and of samples of items."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import polars as pl

from recframe.audit.checks import Finding, Findings, check
from recframe.audit.data import NEARLY_ALL, ROWS, Data, item, n_rows, rank, relevance, user, value
from recframe.frames.hints import Either, bind, text
from recframe.frames.inputs import Frames
from recframe.frames.kinds.kind import at_hand, run_as_it_is
from recframe.frames.roles import Side, has_relevance
from recframe.frames.rows.joins import beside_one_another, joined
from recframe.frames.segments import Segment
from recframe.ranking.judged_frame import PAIR

EACH_ROW = bind(relevance="False")

SOME = 1_000
"""Rows at the start of a column that mostly show values that are no relevance."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_GRADES = re.compile(
    r"(.*_)?(y_true|(ratings?|stars?|grades?|labels?|q?rel|relevanc(e|es|y)|scores?|targets?|gains?"
    r"|judge?ments?|feedback|preferences?|overall)(_values?|_given|_raw|_x|_y|_\d+)*)"
)
"""Names of grades, also before words without meaning, such as the suffixes of pandas' merge."""
_NO_GRADES = re.compile(
    r"(^|_)(n|num|number|count|total|sum|avg|average|mean|median|min|max|std|age|credit|popularity"
    r"|pred|predicted)(_|$)"
)
"""Words that make it another quantity, such as a count or a mean of ratings."""
FURTHEST = 100
"""Largest absolute value of a grade: stars, tenths and per cents are within it."""


def is_called_as_grades(name: str) -> bool:
    """Return whether a column's name is one of grades: `rating`, `Book-Rating`, but not `n_ratings`."""
    words = "_".join(_WORD.findall(name)).casefold()
    return bool(_GRADES.fullmatch(words)) and not _NO_GRADES.search(words)


def unbound_columns(inputs: Frames, truth: Side) -> list[str]:
    """Return the columns of a truth that may be a relevance, which no role and no segment has."""
    context = truth.context
    named = ("model", "propensity", "weight")
    roles = ["user", "item", *(one for one in named if getattr(context, one) is not None)]
    used = {context.names[role] for role in roles} | {segment.name for segment in inputs.segments}
    made = [segment.made for segment in inputs.segments if segment.made is not None]
    used |= {truth.root(root) or root for one in made for root in one.roots}
    others = [name for name in truth.columns if name not in used]
    if not others:
        return []
    numbers, texts = {*truth.kind.numbers()}, {*truth.kind.labels()}
    # any text may be an answer, so that its name must say so, or nothing else stand beside the ids
    texts = texts if len(others) == 1 else {*filter(is_called_as_grades, texts)}
    found = [name for name in others if name in numbers | texts]
    return sorted(found, key=lambda name: (not is_called_as_grades(name), name not in numbers))


ANSWERS = {"true": "1", "yes": "1", "y": "1", "t": "1", "false": "0", "no": "0", "n": "0", "f": "0"}
"""Texts that answer whether a row counts."""


def as_number(dtype: pl.DataType) -> pl.Expr:
    """Return the values of a column as numbers: those of text where it is an answer or a number, null otherwise."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return value.cast(pl.Float64)
    words = value.cast(pl.String).str.strip_chars().str.to_lowercase()
    return words.replace(ANSWERS).cast(pl.Float64, strict=False)


@check("warning", "the row is ignored", "drop the row, or give it a relevance", needs=("truth",))
def null_relevance(data: Data) -> Findings:
    """Rows of the truth whose relevance is null or NaN."""
    yield Finding("truth", data.pairs["truth"].filter(relevance.is_null()))


@check("error", "a metric raises", "replace it with the highest grade")
def infinite_relevance(data: Data) -> Findings:
    """Infinite relevances."""
    if data.inputs.relevance_dtype.is_float():
        yield Finding(data.judging, data.judged_pairs.filter(relevance == math.inf))


@check(
    "info",
    "the item is judged, and not relevant",
    "nothing, if negative means disliked; else shift the grades above 0",
)
def negative_relevance(data: Data) -> Findings:
    """Relevances below 0."""
    if data.inputs.relevance_dtype.is_numeric():
        rows = data.judged_pairs.filter(relevance < 0)
        yield Finding(data.judging, rows, ("user", "item", "relevance"))


def _unbound(data: Data, least: float) -> Iterator[tuple[str, pl.LazyFrame]]:
    """Give the columns that nothing is bound to, of a truth whose rows all count: user and value, null of text that is none.

    Eager columns whose first values are below a number, or none, are left out.
    """
    inputs, call, context = data.inputs, data.of_call, data.context
    truth = inputs.sides["truth"]
    is_read = call is None or call.reads_relevance or context.no_relevant == "skip"
    was_said = truth.context.relevance is False or context.min_relevance == "any"
    is_the_lists = truth.kind.frame is inputs.sides["recommendations"].kind.frame
    if is_the_lists or was_said or not is_read or has_relevance(truth):
        return
    for name in unbound_columns(inputs, truth):
        taken = truth.take(["user"], [Segment("value", name, "truth")])
        number = as_number(taken.collect_schema()["value"])
        here = at_hand(taken) if inputs.all_users is None else None
        if here is not None:
            first = here.head(SOME).drop_nulls("value").select(number)["value"]
            if first.null_count() or not first.is_between(least, -least or 1).all():
                continue
        yield name, taken.lazy().drop_nulls("value").select("user", value=number)


def _of_column(
    name: str, rows: pl.LazyFrame, meant: pl.Expr, needed: pl.Expr, against: pl.Expr
) -> Finding:
    """Return the finding of a column some of whose rows may be meant to count for less."""
    users = user.filter(meant).drop_nulls().n_unique()
    against = (against | value.is_null()).sum()
    counts = rows.select(rows=meant.sum(), concerned_users=users, needed=needed, against=against)
    return Finding(
        "truth",
        counts,
        f"column {name!r}",
        remedy=text("write ", bind(relevance=repr(name)), ", or ", EACH_ROW, " if each row counts"),
    )


unbound = check(
    "warning",
    "each row of the truth counts as relevant",
    text("write ", bind(relevance="..."), ", or ", EACH_ROW, " if each row counts"),
    needs=("truth",),
    warns="always",
)


@unbound
def unbound_two_values(data: Data) -> Findings:
    """Columns of 0 and 1, yes and no, or Booleans, in a truth without a bound relevance; `rows` counts the zeros."""
    for name, rows in _unbound(data, 0):
        zero, one = value == 0, value == 1
        yield _of_column(name, rows, zero, needed=one.sum(), against=~(zero | one))


@unbound
def unbound_grades(data: Data) -> Findings:
    """Columns with a name and numbers of grades, in a truth without a bound relevance."""
    for name, rows in _unbound(data, -FURTHEST):
        if is_called_as_grades(name):
            several = (value.max() > value.min()) & ~value.is_in([0.0, 1.0]).all()
            far = value.abs() > FURTHEST
            yield _of_column(name, rows, ~far, needed=several, against=far)


@check(
    "warning",
    "no row is relevant",
    text("give a level that some rows reach: ", bind(min_relevance="...")),
    needs=("level",),
    warns="low",
)
def unreached_min_relevance(data: Data) -> Findings:
    """A truth in which no relevance reaches `min_relevance=`; the example is the highest."""
    against = data.relevant.sum()
    counts = data.truth.select(
        relevance.max(), ROWS, concerned_users=user.n_unique(), against=against
    )
    yield Finding(data.judging, counts, ("relevance",))


@check(
    "error",
    "the item counts once, at its best rank",
    text(
        "keep one row for each user and item; ", bind(model="..."), ", if several systems have it"
    ),
)
def duplicate_items(data: Data) -> Findings:
    """Items that are twice in one list."""
    twice = data.repeats(data.lists, data.keys, "item")
    yield Finding(data.main, twice, ("user", "item", "rows"))


ONE_ROW = text("keep one row for each user and item", Either(": truth.unique(['user', 'item'])"))


@check("warning", "the pair counts once", ONE_ROW)
def duplicate_truth(data: Data) -> Findings:
    """Pairs judged twice with the same relevance."""
    pairs = data.same_judged_pairs
    if data.is_judged:  # of two ranked rows the item is twice in the list
        pairs = data.same_pairs(data.keys, ranked=data.ranked.sum()).filter(pl.col("ranked") <= 1)
    same = pairs.filter(pl.col("lowest") == pl.col("highest"))
    yield Finding(data.judging, same, ("user", "item", "rows"))


@check(
    "error",
    "the pair counts once, at its highest relevance",
    "keep the row with the right relevance",
)
def conflicting_truth(data: Data) -> Findings:
    """Pairs judged twice with different relevances."""
    found = data.same_judged_pairs.filter(pl.col("lowest") != pl.col("highest"))
    yield Finding(data.judging, found, ("user", "item", "lowest", "highest"))


LEAST_USERS = 10
"""Minimum users; of fewer all relevant items may be listed by chance."""
OF_ALL_ITEMS = 0.8
"""A list with so large a share of the truth's items is one of all items but those of the user's history."""


@check(
    "warning",
    "relevant items that were not recommended are missing, so recall, map and ndcg describe the lists alone",
    text(
        "give the whole truth, or say that only listed items are known: ",
        bind(relevant_from="'list'"),
    ),
    needs=("truth of a call", "all users"),
    warns="always",
)
def no_relevant_beyond_lists(data: Data) -> Findings:
    """A truth whose relevant items are all listed, though the lists are neither nearly complete nor sampled."""
    if data.context.relevant_from == "list" or data.inputs.inside("truth"):
        return
    call = data.of_call
    if call and (call.highest == 0 or _misses_some(data)):
        return
    users = data.judged_users.filter(pl.col("relevant") > 0)
    if data.is_judged:
        users = users.filter((pl.col("beyond").sum() == 0).over(data.parts or pl.lit(0, pl.Int64)))
    else:
        users = users.join(_listed_truth(data), how="cross")
    yield Finding(data.judging, users.select("user", rows="relevant"), ("user", "rows"))


def _misses_some(data: Data) -> bool:
    """Return whether the lists of a call miss a relevant item, as far as a look shows."""
    if any(data.inputs.schema[role].is_nested() for role in PAIR):
        return False
    if data.of_a_few and _miss_some(data, *data.of_a_few):
        return True
    truth, lists = data.look("truth"), data.look("recommendations")
    return truth is not None and lists is not None and _miss_some(data, lists, truth)


def _miss_some(data: Data, lists: pl.DataFrame, truth: pl.DataFrame) -> bool:
    """Return whether lists miss an item that the truth has as relevant."""
    schema = data.inputs.schema
    if "relevance" in truth:
        truth = truth.filter(data.relevant)
    pairs = [pl.col(role).cast(schema[role]) for role in PAIR]
    truth = truth.select(pairs).drop_nulls()
    return len(truth.join(lists.select(pairs), on=PAIR, how="anti")) > 0


def _listed_truth(data: Data) -> pl.LazyFrame:
    """Return a row where lists have every relevant row of a truth; none where that may be meant.

    It is meant of lists of nearly all items, and of sampled ones: all of one length, with one number of relevant items.
    """
    keys, n = [*data.parts, "user"], pl.len()
    truth, lists = data.relevant_rows.select(*keys, "item").unique(), data.lists
    shares = lists.join(truth, on="item", how="semi").group_by(data.keys)
    of_lists = joined(data.lengths, truth.group_by(keys).agg(relevant=n), keys)
    same = [(column == column.median()).mean() for column in (n_rows, pl.col("relevant"))]
    drawn = pl.min_horizontal(*same, pl.col("relevant").is_not_null().mean())
    missing = truth.join(lists, on=[*keys, "item"], how="anti", nulls_equal=True)
    counts = [
        truth.select(users=user.n_unique(), items=OF_ALL_ITEMS * item.n_unique()),
        missing.select(missing=n),
        shares.agg(known=item.n_unique()).select(pl.col("known").median()),
        of_lists.select(drawn=drawn.fill_null(0)),
    ]
    return beside_one_another(counts).filter(
        pl.col("missing") == 0,
        pl.col("users") >= LEAST_USERS,
        pl.col("known") < pl.col("items"),
        pl.col("drawn") < NEARLY_ALL,
    )


ENOUGH_USERS = 100
"""Users of whom nearly all relevant items come first by no chance."""


@check(
    "warning",
    "the metrics are those of a bound, which no model reaches",
    text(
        "leave what is in the truth out of what the model knows; of a bound say so: ",
        Either("rec(bounds=['oracle'])", "--bounds oracle"),
    ),
    needs=("truth", "all users"),
    warns="always",
)
def lists_of_the_truth(data: Data) -> Findings:
    """Lists that begin with nearly all relevant items, too good for a model: as where it returns the truth."""
    call = data.of_call
    if data.inputs.inside("truth") or (call and call.highest < NEARLY_ALL):
        return
    some = data.of_some_users
    if some is not None and run_as_it_is(_ideal(some, 1)).is_empty():
        return
    yield Finding(data.main, _ideal(data), [*data.inputs.model, "user", "recall"])


def _ideal(data: Data, least: int = ENOUGH_USERS) -> pl.LazyFrame:
    """Return the lists of models that begin with nearly all relevant items, of a least number of users."""
    part, place = [*data.parts, "user"], rank
    if data.inputs.scored:
        place = pl.col("score").rank("ordinal", descending=True).over(data.keys)
    truth = data.relevant_rows.select(*part, "item").unique()
    n_relevant, n = truth.group_by(part).agg(n=pl.len()), pl.col("n")
    hits = joined(data.lists.with_columns(place=place), truth, [*part, "item"], how="inner")
    hits = joined(hits, n_relevant, part)
    of_hits = hits.group_by(data.keys).agg(hits=pl.len(), early=(pl.col("place") <= n).sum())
    lists = joined(data.lengths, n_relevant, part, how="inner")
    lists = joined(lists, of_hits, data.keys).with_columns(pl.col("hits", "early").fill_null(0))
    lists = lists.with_columns(recall=pl.col("early") / n)
    # of truth that was made of the lists all items are hits
    lists = lists.filter(n_rows >= 2 * pl.col("hits"))
    of_model = [*data.parts, *data.inputs.model] or pl.lit(0, pl.Int64)
    mean = pl.col("recall").mean()
    is_known = (mean > NEARLY_ALL) & (pl.len() >= least)
    return lists.filter(is_known.over(of_model))


@check(
    "error",
    "every recommended item counts as relevant",
    "give the rows that users liked, or no truth if the lists have a relevance",
    needs=("truth",),
    warns="always",
)
def truth_is_the_lists(data: Data) -> Findings:
    """The frame of recommendations, which was given as the truth too."""
    frames = (data.inputs.sides[name].kind.frame for name in ("recommendations", "truth"))
    if next(frames) is next(frames):
        yield Finding("truth", data.inputs.lists)


COUNT_REPEATS = {"rectools", "microsoft", "replay"}
"""Profiles of libraries that count each row of a repeated pair."""


@check(
    "warning",
    "the pair counts once, and the profile's library counts each of its rows",
    ONE_ROW,
    needs=("truth",),
    warns="always",
)
def repeats_under_a_profile(data: Data) -> Findings:
    """Pairs that the truth repeats, under the profile of a library that counts repeats."""
    keys = [*data.parts, *PAIR]
    if data.context.profile not in COUNT_REPEATS or data.looks_well(
        "truth", lambda rows: not rows.select(keys).is_duplicated().any()
    ):
        return
    yield Finding("truth", data.same_judged_pairs, ("user", "item", "rows"))
