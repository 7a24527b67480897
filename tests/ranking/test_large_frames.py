"""What once went wrong in eager frames so large that they are asked what the plan can rely on; `laws` has all choices."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from frame_sizes import LARGE, SIZE
from recframe.frames.kinds import kind as kinds

# the truth of these frames is made of their lists
pytestmark = pytest.mark.filterwarnings("ignore:no_relevant_beyond_lists:recframe.RecframeWarning")

METRICS = ["ndcg", "recall", "map", "err", "auc", "list_length"]
NUMBER = pl.col("number")
TEXT = NUMBER.cast(pl.String).str.zfill(5)
ORDERS = {
    "sorted": lambda frame: frame,
    "shuffled": lambda frame: frame.sample(fraction=1, shuffle=True, seed=0),
    "with duplicates": lambda frame: pl.concat(
        [frame, frame[::5].with_columns(pl.col("rank") + 3, pl.col("relevance") + 1)]
    ),
}


@pytest.fixture(autouse=True)
def _streaming(monkeypatch):
    """Let these frames stream, as those of millions of rows do; large ones that do not are among those of other tests."""
    monkeypatch.setattr(kinds, "_STREAMED", LARGE)


def judged(user: pl.Expr, item: pl.Expr) -> pl.DataFrame:
    row = pl.int_range(SIZE)
    users = pl.select(number=row // 12).select(user=user)
    items = pl.select(number=row % 12).select(item=item)
    values = pl.select(rank=row % 12 + 1, relevance=pl.when(row % 7 > 0).then((row * 31) % 5 - 1))
    return pl.DataFrame([*users, *items, *values])


def test_an_item_with_many_rows_counts_once_in_a_list_and_makes_it_no_several_lists():
    frame = ORDERS["with duplicates"](judged(NUMBER % 2 == 0, NUMBER))

    expected = frame.lazy().rec.evaluate(*METRICS, k=[3, 10]).collect(engine="in-memory")
    assert_frame_equal(frame.rec.evaluate(*METRICS, k=[3, 10]), expected, rel_tol=1e-12)
    # two lists of the items 0 to 11, of which a hundred rows each have the ranks 1 to 12
    assert frame.rec.list_length() == 12


def test_a_few_lists_beside_a_large_truth_are_asked_too():
    both = judged(NUMBER, NUMBER)
    recs, truth = both.drop("relevance")[:50], both.filter(pl.col("relevance") > 0).drop("rank")
    rec = pl.concat([recs, recs]).rec(truth=pl.concat([truth] * 3), universe="all")

    assert rec._kind.asks is not None
    lazy = recs.lazy().rec(truth=truth.lazy(), universe="all")
    expected = lazy.evaluate(*METRICS, k=3).collect(engine="in-memory")
    assert_frame_equal(rec.evaluate(*METRICS, k=3), expected, rel_tol=1e-12)


@pytest.mark.parametrize("factor", [1, 0.5, 2**33])
def test_gains_of_any_size_take_their_best_order(factor):
    frame = judged(NUMBER, NUMBER).with_columns(pl.col("relevance") * factor)

    assert_frame_equal(
        frame.rec.evaluate("ndcg@5"), judged(NUMBER, NUMBER).rec.evaluate("ndcg@5"), rel_tol=1e-12
    )


@pytest.mark.parametrize("by", [None, "item"])
def test_an_infinite_relevance_fails_among_many_rows(by):
    frame = judged(NUMBER, NUMBER).with_columns(pl.col("relevance") / (pl.col("item") < 11))

    with pytest.raises(rf.DataError, match="a relevance is infinite"):
        frame.rec.evaluate("ndcg@5", by=by)


@pytest.mark.parametrize("dtype", [pl.Int16, pl.Int32, pl.Int64])
def test_every_user_counts_where_the_lowest_is_negative(dtype):
    # so many that the last one, counted from the lowest, is beyond Int16
    users = pl.select(user=pl.int_range(40_000) - 20_000).with_columns(
        item="user", rank=1, relevance=1
    )
    frame = users.cast({"user": dtype}).sample(fraction=1, shuffle=True, seed=0)

    assert frame.rec.evaluate("recall@1").rows() == [(40_000, 1.0)]


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128, pl.Decimal(38, 2)], ids=str)
def test_scores_that_float64_cannot_tell_apart_are_not_tied(dtype):
    # as times in nanoseconds: the last item, by one the highest, is relevant
    item = pl.int_range(SIZE) % 12
    columns = {"item": item, "score": (2**60 + item).cast(dtype), "relevance": item == 11}
    frame = pl.select(user=pl.int_range(SIZE) // 12, **columns)

    for given in (frame, frame.sample(fraction=1, shuffle=True, seed=0), frame[:12]):
        assert given.rec.mrr() == given.rec.mrr(k=3) == 1
    assert frame.lazy().rec.mrr(k=3).collect().rows() == [(SIZE // 12, 1.0)]


def test_lists_without_a_hit_keep_their_own_value_in_segments_of_items():
    # even users like 8 and odd ones 9, of one genre each, and find neither: 0; the other one has a grade of 0 and counts 1
    users = pl.DataFrame({"user": range(1500)})
    parity = pl.col("user") % 2
    lists = users.join(pl.DataFrame({"item": [1, 2, 3], "rank": [1, 2, 3]}), how="cross")
    grades = [users.select("user", item=8 + parity, relevance=1)]
    grades += [users.select("user", item=9 - parity, relevance=0)]
    items = pl.DataFrame({"item": range(1, 10)}).with_columns(genre=pl.col("item") % 2)
    rec = lists.rec(truth=pl.concat(grades), items=items)
    found = rec.evaluate("ndcg(without_relevant=one)", by="genre")
    assert found.rows() == [(0, 1500, 0.5), (1, 1500, 0.5)]


@pytest.mark.filterwarnings("ignore:no_common_")
def test_ids_that_one_number_cannot_hold_are_not_taken_for_others():
    both = judged(NUMBER, NUMBER)
    recs, truth = both.drop("relevance"), both.filter(pl.col("relevance") > 0).drop("rank")
    item, user = pl.col("item") + 2**32, pl.col("user") - 1  # user · 2^32 + item stays the same
    others = [
        recs.with_columns(user, item),
        recs.with_columns(pl.col("user") + 2**32),
        recs.with_columns(user + 2, item - 2**33),
    ]

    for other in others:
        assert other.rec(truth=truth).hit_rate(k=12) == 0
        mixed = pl.concat([other.with_columns(pl.col("rank") + 12), recs])
        expected = pytest.approx(recs.rec(truth=truth).ndcg(), rel=1e-12)
        assert mixed.rec(truth=truth).ndcg() == expected


def test_an_item_that_repeats_behind_the_cut_off_is_where_its_relevant_row_is():
    # of each list the item 0 is first, as not relevant, and last, as relevant: it takes no place up to 3
    frame = judged(NUMBER, NUMBER).with_columns(relevance=(pl.col("item") == 2).cast(pl.Int64))
    again = frame.filter(pl.col("item") == 0).with_columns(rank=pl.lit(20), relevance=pl.lit(1))
    frame = pl.concat([frame, again.cast(dict(frame.schema))])

    found = frame.rec.evaluate("list_length", "recall", "auc", k=3)

    # items 1 and 2 have the ranks 2 and 3
    assert found.rows() == [(SIZE // 12, 2.0, 0.5, 0.0)]


@pytest.mark.parametrize("rank", ["rank", "1"])
@pytest.mark.parametrize("order", list(ORDERS)[:2])
def test_a_metric_that_reads_whole_lists_does_so_whatever_its_cut_off(order, rank):
    # each list has one relevant item, at rank 6 of 12 or among twelve of rank 1
    frame = judged(NUMBER, NUMBER).with_columns(
        pl.sql_expr(rank).alias("rank"), relevance=(pl.col("rank") == 6).cast(pl.Int64)
    )
    settings = {"k": 2, "n_items": 100, "n_negatives": 11}
    given = ORDERS[order](frame)

    found = given.rec.corrected(**settings)

    plan = given.lazy().rec.corrected(**settings).collect(engine="in-memory")
    assert found == pytest.approx(plan.row(0)[-1], rel=1e-12)
