"""What checks share, asked of a large eager frame beforehand: mostly nobody is suspected, and no plan has to look for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl
from polars import selectors

from recframe.audit.audited import ALONE, EVEN, NONE, TURNED, Audited, ids_of
from recframe.audit.even_lists import even_lists
from recframe.audit.lists_by_number import lists_by_number
from recframe.audit.numbers_of_rows import numbered
from recframe.frames.collecting import Ask, Collect, together
from recframe.frames.rows.packing import fits_31_bits, in_order
from recframe.frames.rows.questions import distinct_ids, side_by_side, stand_together

SOME = 1_000
"""So many first rows tell of most frames that their lists do not stand in order."""
SIDE_BY_SIDE = side_by_side(selectors.by_dtype(pl.String))
JUDGED = "judged rows"
Known = dict[str, pl.DataFrame]
Plans = dict[str, pl.LazyFrame]


def settled(data: Audited, ask: Ask, stream: Collect) -> Audited:
    """Return the same for a large eager frame, asked once what checks share; the answers change no finding.

    `ask` collects plans in memory, all at once, `stream` those of hash tables of many rows.
    """
    (found, known), items = together(
        lambda: _lists_settled(data, ask, stream), lambda: _ids(data, "item", ask)
    )
    known |= items | _ids_of_users(found, known, ask)
    found = replace(found, known=known)
    known |= {name: stream(plan) for name, plan in found.questions.items() if name not in known}
    found = replace(found, known=known)
    even = even_lists(found.lengths, found.inputs.model)
    plans = found.absent_items() | {"first users": found.first_users(), EVEN: even}
    plans[ALONE] = found.lists_without_truth()
    return replace(found, known=known | {name: stream(plan) for name, plan in plans.items()})


def _lists_settled(data: Audited, ask: Ask, stream: Collect) -> tuple[Audited, Known]:
    """Return whether lists stand one behind the other, and what is known of them, of judged users and of repeated keys."""
    block = _block(data, ask)
    blocks = None if block is None else _blocks(data, block, ask)
    found = replace(data, consecutive=blocks is not None)
    known = _of_numbers(found, ask, stream) if blocks is None else _of_blocks(found, blocks, ask)
    return found, known | _answers(_open(found, known) | _of_truth(found), ask)


def _open(data: Audited, known: Known) -> Plans:
    """Return the plans that look for rows which share their keys, where it is not known yet that none do."""
    return {name: data.questions[name] for name in data.repeatable if name not in known}


def _answers(plans: Plans, ask: Ask) -> Known:
    """Return what plans by their names find, collected together: one sorts while another one reads."""
    return dict(zip(plans, ask([*plans.values()]), strict=True)) if plans else {}


def _ids_of_users(data: Audited, known: Known, ask: Ask) -> Known:
    """Return the ids of users of which checks ask and that are not known yet."""
    found: Known = {}
    if data.inputs.truth is not None and data.all_judged and "judged users" in known:
        found[ids_of("truth", "user")] = known["judged users"].select("user")
    return found | _ids(data, "user", ask, known | found)


def _ids(data: Audited, role: str, ask: Ask, known: Collection[str] = ()) -> Known:
    """Return the ids of a role in the frames that are in memory, of which checks ask; those that are known are left out."""
    having, found = data.having(role), {}
    for name, rows in having.items():
        is_here = ("recommendations" if name == data.main else name) in data.inputs.given
        is_asked = ids_of(name, role) not in known and (len(having) > 1 or data.is_text(role))
        if is_here and is_asked:
            (ids,) = ask([rows.select(role)])
            found[ids_of(name, role)] = distinct_ids(ids.to_series()).to_frame()
    return found


def _blocks(data: Audited, block: pl.Expr, ask: Ask) -> pl.DataFrame | None:
    """Return what one pass over rows that stand list by list answers of each list; None where a list stands in two places."""
    keys, item = data.keys, pl.col("item")
    # a group finds numbers that repeat in half the time of text
    number = item if data.inputs.schema["item"].is_integer() else item.hash()
    distinct = number.n_unique() == pl.len()
    # of consecutive lists the last rank is the number of rows; a count takes half the time of a sum
    rows = pl.col("rank").count()
    last = rows.cast(data.inputs.schema["rank"])
    counts = {"rows": rows.cast(pl.Int64), "last": last, "distinct": distinct}
    if data.is_judged:
        beyond = data.relevant & pl.col("rank").is_null()
        counts |= {
            "judged": pl.col("relevance").count(),
            "relevant": pl.when(data.relevant).then(1).count(),
            "beyond": pl.when(beyond).then(1).count(),
        }
    # NOTE: groups of a column that is marked as sorted are not hashed.
    grouped = data.pairs_of_lists.with_columns(block=block.set_sorted()).group_by("block")
    (blocks,) = ask([grouped.agg(pl.col(keys).first(), **counts).with_columns(SIDE_BY_SIDE)])
    return blocks if blocks.select(keys).n_unique() == len(blocks) else None


def _of_blocks(data: Audited, blocks: pl.DataFrame, ask: Ask) -> Known:
    """Return what is known of lists and users where lists stand one behind the other."""
    keys, lists = data.keys, blocks.filter(pl.col("rows") > 0)
    known = _of_scores(data, ask) | {"lengths": lists.select(*keys, "rows", "last")}
    if blocks["distinct"].all():
        known["pair"] = NONE
    if "recommendations" in data.inputs.complete:
        users = blocks.select("user")
        known[ids_of(data.main, "user")] = users.unique() if len(keys) > 1 else users
    if data.is_judged:
        users = blocks.filter(pl.col("judged") > 0)
        n_rows = pl.col("judged").cast(pl.Int64).alias("rows")
        users = users.select("user", n_rows, "relevant", "beyond")
        # a user has a block for each model
        known["judged users"] = users.group_by("user").sum() if len(keys) > 1 else users
    return known


def _of_scores(data: Audited, ask: Ask) -> Known:
    """Return that no list is upside down, where no score is above the one of the row before."""
    rows = data.scores_beside_ranks
    if rows is None or "recommendations" not in data.inputs.complete:
        return {}
    rises = (pl.col("score") > pl.col("score").shift()) & ~starts(data.keys)
    return {} if ask([rows.select(rises.any())])[0].item() else {TURNED: NONE}


def _of_truth(data: Audited) -> Plans:
    """Return a plan of the judged users where rows of a truth stand together that have the text of one."""
    truth = data.inputs.given.get("truth")
    if truth is None:
        return {}
    users = truth["user"]
    in_runs = users.dtype == pl.String and stand_together(users)
    return {"judged users": data.counted_runs().with_columns(SIDE_BY_SIDE)} if in_runs else {}


def _of_numbers(data: Audited, ask: Ask, stream: Collect) -> Known:
    """Return what rows in any order answer by numbers for their users, lists and ranks, and which pairs repeat."""
    order = "score" if data.inputs.scored else "rank"
    pairs = {name: plan for name, plan in _open(data, {}).items() if name != order}
    # one core sorts the rows by their pairs while the other one reads the lists
    of_lists, of_pairs = together(
        lambda: _numbered_lists(data, order, ask, stream), lambda: _answers(pairs, ask)
    )
    return of_lists | of_pairs


def _numbered_lists(data: Audited, order: str, ask: Ask, stream: Collect) -> Known:
    columns = [*data.keys, order, *["relevance"] * data.is_judged]
    rows, ids = numbered(ask([data.pairs_of_lists.select(columns)])[0], "user")
    inputs = replace(
        data.inputs, lists=rows.lazy(), complete=frozenset({"recommendations", "truth"})
    )
    plain = replace(data, inputs=inputs)
    (ranks,) = [None] if data.inputs.scored else ask([plain.rows_with_ranks])
    answer = None if ranks is None else lists_by_number(ranks, data.keys)
    found = {"lengths": stream(plain.counted_lists()) if answer is None else answer[0]}
    known = {} if answer is None or answer[1] else {"rank": NONE}
    plans = {name: plan for name, plan in _open(data, known).items() if name == order}
    if data.is_judged and fits_31_bits(rows, ["user"]):
        plans[JUDGED] = _judged_rows(plain)
    known |= _answers(plans, ask)
    if JUDGED in known:
        (found["judged users"],) = ask([_judged_users(plain, known.pop(JUDGED))])
    if ids is not None:
        found = _answers({name: _with_ids(one.lazy(), ids) for name, one in found.items()}, ask)
    return known | found


def _judged_rows(data: Audited) -> pl.LazyFrame:
    """Return a number for the user of each judged row and what the row is, sorted."""
    # Polars 1 makes a small number of a Boolean
    beyond = (data.relevant & ~data.ranked).cast(pl.Int64)
    kind = data.relevant.cast(pl.Int64) * 2 + beyond
    return in_order(data.truth.select(number=pl.col("user").cast(pl.Int64) * 4 + kind), "number")


def _judged_users(data: Audited, rows: pl.DataFrame) -> pl.LazyFrame:
    """Return what `judged_users` has from sorted numbers of judged rows: in half the time of a hash table.

    NOTE: these are collected, since Polars leaves a sort out whose order a group by does not show.
    """
    number, n = pl.col("number"), pl.col("rows")
    of_one = rows.lazy().group_by(number.set_sorted())
    users = of_one.agg(rows=pl.len().cast(pl.Int64)).group_by(user=(number // 4).set_sorted())
    relevant, beyond = n.filter(number % 4 > 1).sum(), n.filter(number % 2 == 1).sum()
    counts = users.agg(n.sum(), relevant=relevant, beyond=beyond)
    return counts.with_columns(pl.col("user").cast(data.inputs.schema["user"]))


def _with_ids(rows: pl.LazyFrame, ids: pl.DataFrame) -> pl.LazyFrame:
    """Return rows with the users that stand behind numbers."""
    named = rows.rename({"user": "number"}).join(ids.lazy(), on="number", how="left")
    return named.select(rows.collect_schema().names())


def _block(data: Audited, ask: Ask) -> pl.Expr | None:
    """Return what tells a list from the one before it where the ranks of each are 1, 2, 3 and so on.

    Rows without a rank are the last of a list. None where the lists do not stand so, or users are numbers that fall.
    """
    schema, keys, rows = data.inputs.schema, data.keys, data.pairs_of_lists
    if data.inputs.scored or not schema["rank"].is_numeric():
        return None
    # most others are told by a few rows
    if not ask([rows.head(SOME).select(_rises_by_one(starts(keys)))])[0].item():
        return None
    user = pl.col("user")
    if keys == ["user"] and schema["user"].is_integer():
        ascending = (user >= user.shift()).all()
        (asked,) = ask([rows.select(_rises_by_one(starts(keys)), ascending=ascending)])
        return user if all(asked.row(0)) else None
    # NOTE: texts are compared once, and numbers in their place from then on.
    block = ask([rows.select(pl.struct(keys).rle_id())])[0].to_series()
    is_first = pl.lit(block.ne_missing(block.shift()))
    return pl.lit(block) if ask([rows.select(_rises_by_one(is_first))])[0].item() else None


def _rises_by_one(is_first: pl.Expr) -> pl.Expr:
    """Return whether the ranks of each list, of which a row is the first, are 1, 2, 3 and so on, or missing."""
    rank = pl.col("rank")
    follows = (rank - rank.shift() == 1).fill_null(value=False)
    return (follows & ~is_first | (is_first & (rank == 1)) | rank.is_null()).all()


def starts(keys: Sequence[str]) -> pl.Expr:
    """Return whether a row has other keys than the one before it."""
    return pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)
