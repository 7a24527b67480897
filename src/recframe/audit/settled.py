"""What checks share, asked of a large eager frame beforehand: mostly nobody is suspected, and no plan has to look for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from recframe.audit.audited import EVEN, NONE, TURNED, Audited, ids_of
from recframe.audit.even_lists import even_lists
from recframe.audit.lists_by_number import lists_by_number
from recframe.audit.numbers_of_rows import in_order, numbered, repeats
from recframe.frames.collecting import Collect
from recframe.frames.rows.packing import fits_31_bits, key_hash
from recframe.frames.rows.questions import distinct_ids, heads
from recframe.judging.judged_frame import PAIR

SOME = 1_000
"""So many first rows tell of most frames that their lists do not stand in order."""
Known = dict[str, pl.DataFrame]


def settled(data: Audited, run: Collect, stream: Collect) -> Audited:
    """Return the same for a large eager frame, asked once what checks share; the answers change no finding.

    `run` collects plans in memory, `stream` those of hash tables of many rows.
    """
    found = replace(data, consecutive=_is_consecutive(data, run))
    known = _ids(found, run)
    known |= _of_blocks(found, run) if found.consecutive else _of_numbers(found, run, stream)
    known |= _of_scores(found, run) if found.consecutive else {}
    known |= {
        name: repeats(_numbers(rows, keys, run))
        for name, (rows, keys) in found.repeatable.items()
        if name not in known
    }
    found = replace(found, known=known)
    known |= {name: stream(plan) for name, plan in found.questions.items() if name not in known}
    found = replace(found, known=known)
    even = even_lists(found.lengths, found.inputs.model)
    plans = found.absent_items() | {"first users": found.first_users(), EVEN: even}
    return replace(found, known=known | {name: stream(plan) for name, plan in plans.items()})


def _numbers(rows: pl.LazyFrame, keys: Sequence[str], run: Collect) -> pl.Series:
    number = key_hash([pl.col(key) for key in keys], rows.collect_schema())
    return run(rows.select(number=number)).to_series()


def _ids(data: Audited, run: Collect) -> Known:
    """Return the ids of the frames that are in memory, of which checks ask."""
    known = {}
    for role in PAIR:
        having = data.having(role)
        for name, rows in having.items():
            is_here = ("recommendations" if name == data.main else name) in data.inputs.given
            if is_here and (len(having) > 1 or data.is_text(role)):
                ids = run(rows.select(role))
                if role == "user" and name == data.main and data.consecutive:
                    ids = heads(ids)
                known[ids_of(name, role)] = distinct_ids(ids.to_series()).to_frame()
    return known


def _of_blocks(data: Audited, run: Collect) -> Known:
    """Return what one pass over rows that stand user by user answers."""
    keys, user, item = data.keys, pl.col("user"), pl.col("item")
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
    is_number = keys == ["user"] and data.inputs.schema["user"].is_integer()
    block = user if is_number else pl.struct(keys).rle_id()
    grouped = data.pairs_of_lists.with_columns(block=block.set_sorted()).group_by("block")
    blocks = run(grouped.agg(pl.col(keys).first(), **counts))
    lists = blocks.filter(pl.col("rows") > 0)
    known = {"lengths": lists.select(*keys, "rows", "last")}
    if blocks["distinct"].all():
        known["pair"] = NONE
    if data.is_judged:
        users = blocks.filter(pl.col("judged") > 0)
        n_rows = pl.col("judged").cast(pl.Int64).alias("rows")
        users = users.select("user", n_rows, "relevant", "beyond")
        # a user has a block for each model
        known["judged users"] = users.group_by("user").sum() if len(keys) > 1 else users
    return known


def _of_scores(data: Audited, run: Collect) -> Known:
    """Return that no list is upside down, where no score is above the one of the row before."""
    rows = data.scores_beside_ranks
    if rows is None or "recommendations" not in data.inputs.complete:
        return {}
    rises = (pl.col("score") > pl.col("score").shift()) & ~starts(data.keys)
    return {} if run(rows.select(rises.any())).item() else {TURNED: NONE}


def _of_numbers(data: Audited, run: Collect, stream: Collect) -> Known:
    """Return what rows in any order answer by numbers for their users, lists and ranks."""
    order = "score" if data.inputs.scored else "rank"
    columns = [*data.keys, order, *["relevance"] * data.is_judged]
    rows, ids = numbered(run(data.pairs_of_lists.select(columns)), "user")
    inputs = replace(
        data.inputs, lists=rows.lazy(), complete=frozenset({"recommendations", "truth"})
    )
    plain = replace(data, inputs=inputs)
    found = {"judged users": _judged_users(plain, rows, run, stream)} if data.is_judged else {}
    answer = None if data.inputs.scored else lists_by_number(run(plain.rows_with_ranks), data.keys)
    found["lengths"] = stream(plain.counted_lists()) if answer is None else answer[0]
    if ids is not None:
        found = {name: _with_ids(one, ids) for name, one in found.items()}
    return found | ({} if answer is None or answer[1] else {"rank": NONE})


def _judged_users(data: Audited, rows: pl.DataFrame, run: Collect, stream: Collect) -> pl.DataFrame:
    """Return what `judged_users` has: by sorted numbers of users and what their rows are, in half the time of a hash table."""
    if not fits_31_bits(rows, ["user"]):
        return stream(data.counted_users())
    user, number, n = pl.col("user").cast(pl.Int64), pl.col("number"), pl.col("rows")
    beyond = data.relevant & ~data.ranked
    judged = run(data.truth.select(number=user * 4 + data.relevant * 2 + beyond)).to_series()
    of_one = in_order(judged).to_frame().lazy().group_by(number.set_sorted())
    users = of_one.agg(rows=pl.len().cast(pl.Int64)).group_by(user=(number // 4).set_sorted())
    relevant, beyond = n.filter(number % 4 > 1).sum(), n.filter(number % 2 == 1).sum()
    counts = run(users.agg(n.sum(), relevant=relevant, beyond=beyond))
    return counts.with_columns(pl.col("user").cast(rows.schema["user"]))


def _with_ids(rows: pl.DataFrame, ids: pl.DataFrame) -> pl.DataFrame:
    """Return rows with the users that stand behind numbers."""
    named = rows.rename({"user": "number"}).join(ids, on="number", how="left")
    return named.select(rows.columns)


def _is_consecutive(data: Audited, run: Collect) -> bool:
    """Return whether the rows stand list by list, and their ranks are 1, 2, 3 and so on, with those without one last."""
    schema = data.inputs.schema
    if data.inputs.scored or not schema["rank"].is_numeric():
        return False
    user, rank, other = pl.col("user"), pl.col("rank"), starts(data.keys)
    follows = (rank - rank.shift() == 1).fill_null(value=False)
    right = {"right": (follows & ~other | (other & (rank == 1)) | rank.is_null()).all()}
    rows = data.pairs_of_lists
    if not run(rows.head(SOME).select(**right)).item():  # most others are told by a few rows
        return False
    if data.keys == ["user"] and schema["user"].is_integer():
        in_order = (user >= user.shift()).all()
        is_right, ascending = run(rows.select(**right, ascending=in_order)).row(0)
        return bool(is_right and ascending)
    if not run(rows.select(**right)).item():
        return False
    blocks = run(rows.select(data.keys).filter(other))
    return len(blocks) == len(run(blocks.lazy().unique()))


def starts(keys: Sequence[str]) -> pl.Expr:
    """Return whether a row has other keys than the one before it."""
    return pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)
