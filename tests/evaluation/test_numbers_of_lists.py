"""Ids and categories as numbers, which plans of large eager frames rely on where they fit: no number changes by them."""

from __future__ import annotations

import random

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from lanes import in_turn

N_USERS, N_ITEMS, LENGTH = 210, 300, 10
OF_CATEGORIES = [
    "miscalibration@10", "miscalibration(weight=log)@5", "miscalibration(divergence=hellinger)",
    "diversity@3", "category_coverage@10", "category_coverage(relevance=true)@5", "serendipity@10",
    "alpha_ndcg@10", "err_ia@5", "nrbp(normalizer=best)@5", "exposure_disparity@5",
    "exposure_disparity(target=relevant)@10",
]  # fmt: skip
OF_TRAIN = [
    "coverage", "gini@10", "entropy@3", "personalization@10", "user_coverage", "fall_out@10",
    "novelty@10", "popularity", "epc@10", "efd@3", "repeat_rate@10", "popularity_lift@10",
    "long_tail_share@4", "long_tail_count", "tail_coverage@10", "tail_coverage(tail=items)",
    "personalization(similarity=overlap)@10",
]  # fmt: skip
OF_RELEVANT = [
    "serendipity@4", "serendipity(against=popularity)@10", "serendipity(against=reference)@5",
    "epc(relevance=true)@10", "mcc@10", "fall_out@3", "alpha_ndcg(alpha=0.3)@4",
]  # fmt: skip
OF_REFERENCE = ["rbo@10", "rbo(form=min)@4", "rbo(form=truncated)", "overlap@10", "unexpectedness"]
N = pl.col("number")
IDS: dict[str, pl.Expr] = {
    "small": N.cast(pl.UInt16),
    "below 0": N - 150,
    "at 2^31": N + 2**31 - 200,
    "ends of Int64": N % 150 + pl.when(N < 150).then(-(2**63)).otherwise(2**63 - 2_000),
    "apart": N * 1_003,
    "far apart": N * 7_000_003,
    "UInt64": N.cast(pl.UInt64) + 2**63,
    "text": pl.format("{}", N),
}
"""Ids made of numbers from 0 up."""


def renamed(frame: pl.DataFrame, ids: pl.Expr) -> pl.DataFrame:
    for name in {"user", "item"} & {*frame.columns}:
        made = frame.select(number=name).select(ids).to_series()
        frame = frame.with_columns(made.alias(name))
    return frame


def frames(ids: pl.Expr = N, *, in_order: bool) -> dict[str, pl.DataFrame]:
    """Lists that repeat items, in part unknown ones; a train frame with repeats, and with users who have no list."""
    choose = random.Random(3)  # noqa: S311  test data
    users = [user for user in range(N_USERS) for _ in range(LENGTH)]
    lists = [
        (user, min(int(choose.expovariate(0.02)), N_ITEMS - 1), number % LENGTH + 1)
        for number, user in enumerate(users)
    ]
    pairs = [(choose.randrange(N_USERS + 50), choose.randrange(N_ITEMS)) for _ in range(900)]
    liked = [(user, item) for user, item, _ in lists if choose.random() < 0.1] + pairs[:300]
    # in some frames a user likes more items than a best order is followed up to
    liked += [(3, item) for item in range(40)] * in_order
    if not in_order:
        choose.shuffle(lists)
    other = [(user, (item * 7 + user) % 60, 11 - rank) for user, item, rank in lists[::2]]
    pair = {"user": pl.Int64, "item": pl.Int64}
    made = {
        "recs": pl.DataFrame(lists, schema=pair | {"rank": pl.Int64}, orient="row"),
        "train": pl.DataFrame(pairs + pairs[:99], schema=pair, orient="row"),
        "truth": pl.DataFrame(liked, schema=pair, orient="row"),
        "reference": pl.DataFrame(other, schema=pair | {"rank": pl.Int32}, orient="row"),
    }
    return {name: renamed(frame, ids) for name, frame in made.items()}


def items(ids: pl.Expr) -> pl.DataFrame:
    """Items with a column of lists of categories, of which some are empty."""
    choose = random.Random(5)  # noqa: S311  test data
    known = [number for number in range(N_ITEMS) if number % 11]
    values = [choose.choices([f"g{part}" for part in range(7)], k=one % 4) for one in known]
    return renamed(pl.DataFrame({"item": known, "genre": values}), ids)


def assert_same(given: dict[str, pl.DataFrame], metrics: list[str], by: str | None) -> None:
    found, expected = (
        rf.rec(made["recs"])(**{name: made[name] for name in made if name != "recs"})
        for made in (given, {name: frame.lazy() for name, frame in given.items()})
    )
    expected = expected.evaluate(*metrics, by=by).collect()

    assert_frame_equal(found.evaluate(*metrics, by=by), expected, rel_tol=1e-12, abs_tol=1e-12)


def judged(recs: pl.DataFrame, truth: pl.DataFrame, order: str) -> pl.DataFrame:
    """Lists that say which rows are relevant; unless `once`, items repeat behind the cut-off or without a rank."""
    number, rank = pl.int_range(pl.len()), pl.col("rank")
    rows = recs.with_columns(relevance=pl.when(number % 5 > 0).then(number % 5 - 2))
    behind = rows[::3].with_columns(rank + 9, relevance=number % 4 - 1)
    unranked = truth.with_columns(rank=pl.lit(None, dtype=pl.Int64), relevance=number % 2 + 1)
    unranked = unranked.select(rows.columns)
    if order == "once":
        both = pl.concat([rows, unranked]).unique(["user", "item"], keep="first")
        return both.sort("user", "rank", nulls_last=True)
    both = pl.concat([rows, behind, unranked, rows.clear(40)])
    return (
        both.sort("user", "rank")
        if order == "sorted"
        else both.sample(fraction=1, shuffle=True, seed=1)
    )


FORMS = ["in order", "in no order", "once", "sorted", "shuffled"]


@pytest.mark.parametrize(("ids", "form"), in_turn([*IDS], FORMS))
def test_any_ids_have_the_numbers_of_the_lazy_plan(ids: str, form: str):
    given = frames(IDS[ids], in_order=form != "in no order")
    lengths = pl.col("rank") <= 3 + pl.col("user").cast(pl.String).hash(0) % 9
    given["recs"] = given["recs"].filter(lengths)
    if form in {"once", "sorted", "shuffled"}:
        given["recs"] = judged(given["recs"], given.pop("truth"), form)
    given["items"] = items(IDS[ids])

    assert_same(given, [*OF_TRAIN, *OF_CATEGORIES, *OF_RELEVANT, *OF_REFERENCE], None)


def test_an_item_is_relevant_if_any_row_of_it_is():
    # up to 3 each user has items 0, 1 and 2: item 0 is relevant behind that, 1 without a rank, 2 in a first row that is not
    rows = [(0, 1, None), (1, 2, 0), (2, 3, 1), (2, 5, None), (0, 4, 1), (1, None, 2), (3, 6, 1)]
    columns = {"item": pl.Int64, "rank": pl.Int64, "relevance": pl.Int64}
    users = pl.DataFrame({"user": range(400)})
    recs = users.join(pl.DataFrame(rows, schema=columns, orient="row"), how="cross")
    reference = pl.DataFrame({"user": [0], "item": [0], "rank": [1]})

    found = rf.rec(recs)(reference=reference).evaluate(
        "serendipity(against=reference)", k=[1, 3], by="user"
    )

    # all are relevant, and one item of one user is in the reference
    assert found.rows()[:2] == [(0, 0.0, pytest.approx(2 / 3)), (1, 1.0, 1.0)]
    none = rf.rec(recs)(reference=reference, min_relevance=2)
    found = none.evaluate("serendipity(against=reference)", k=[1, 3], by="user")
    # item 1 alone is
    assert found.rows()[:2] == [(0, 0.0, pytest.approx(1 / 3)), (1, 0.0, pytest.approx(1 / 3))]


def test_users_of_any_number_have_references_of_any_ranks():
    given = frames(in_order=False)
    rank = pl.col("rank")
    ranks = [rank.cast(pl.UInt8), rank / 3, rank // 2 + 1, rank * 2**40]

    for one in ranks:
        given["reference"] = given["reference"].with_columns(rank=one + 1)
        assert_same({name: given[name] for name in ("recs", "reference")}, OF_REFERENCE, "user")
