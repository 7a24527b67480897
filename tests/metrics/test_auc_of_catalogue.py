"""AUC over the pairs of the whole catalogue, against its pairs counted one by one."""

from __future__ import annotations

import itertools
import math
import random

import polars as pl
import pytest

import recframe as rf
from asking import liked, recommended
from frame_kinds import KINDS, Kind
from lanes import in_turn

ITEMS = pl.DataFrame({"item": [f"i{place}" for place in range(30)]}).with_columns(
    genre=pl.col("item").str.slice(-1).is_in(["1", "2", "3"])
)


def counted(
    ranks: dict[str, int], relevant: set[str], items: list[str], k: int | None
) -> float | None:
    """The share of the pairs, from the places: of a relevant item and of each miss, those behind k at the last one."""
    k = len(ranks) if k is None else k
    hits = {rank for item, rank in ranks.items() if item in relevant and rank <= k}
    misses = [float(place) for place in range(1, k + 1) if place not in hits]
    misses += [math.inf] * (len(items) - len(relevant) - len(misses))
    found = [*map(float, hits), *[math.inf] * (len(relevant) - len(hits))]
    pairs = [
        1.0 if good < bad else 0.5 if good == bad else 0.0
        for good, bad in itertools.product(found, misses)
    ]
    return sum(pairs) / len(pairs) if pairs else None


def users_at_random() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Lists of up to 12 items and truths of up to 6, some users with one of the two alone."""
    rng = random.Random("pairs of a catalogue")  # noqa: S311  no secret
    names = ITEMS["item"].to_list()
    lists = {f"u{user}": rng.sample(names, rng.choice([0, 1, 3, 8, 12])) for user in range(60)}
    truth = {f"u{user}": rng.sample(names, rng.choice([0, 1, 2, 6])) for user in range(60)}
    return lists, truth


LISTS, TRUTH = users_at_random()


def ranked(lists: dict[str, list[str]]) -> pl.DataFrame:
    rows = [(user, item, rank) for user, own in lists.items() for rank, item in enumerate(own, 1)]
    return pl.DataFrame(rows, schema=["user", "item", "rank"], orient="row")


def judged(truth: dict[str, list[str]]) -> pl.DataFrame:
    rows = [(user, item) for user, own in truth.items() for item in own]
    return pl.DataFrame(rows, schema=["user", "item"], orient="row")


@pytest.mark.parametrize(("kind", "k"), in_turn(KINDS, [1, 3, 10, 20, None]))
def test_its_pairs_are_those_counted_one_by_one(kind: Kind, k: int | None):
    rec = kind(ranked(LISTS)).rec(truth=kind(judged(TRUTH)), items=kind(ITEMS))
    metric = rf.auc(over="catalogue") if k is None else rf.auc(over="catalogue") @ k
    found = kind.read(rec.evaluate(metric, by="user"))
    items = ITEMS["item"].to_list()
    wanted = {
        user: counted({item: rank for rank, item in enumerate(LISTS[user], 1)}, set(own), items, k)
        for user, own in TRUTH.items()
        if own
    }
    assert dict(found.rows()) == pytest.approx(wanted)
    overall = kind.read(rec.evaluate(metric)).row(0)
    assert overall == pytest.approx((len(wanted), math.fsum(wanted.values()) / len(wanted)))  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [1, 3, 12])
def test_a_segment_of_items_has_a_catalogue_of_its_own(k: int):
    rec = ranked(LISTS).rec(truth=judged(TRUTH), items=ITEMS)
    for genre, of_users in rec.evaluate(
        rf.auc(over="catalogue") @ k, by=["genre", "user"]
    ).group_by("genre"):
        items = ITEMS.filter(genre=genre[0])["item"].to_list()
        for _, user, value in of_users.rows():
            ranks = {item: rank for rank, item in enumerate(LISTS[user], 1) if item in items}
            assert value == pytest.approx(counted(ranks, set(TRUTH[user]) & {*items}, items, k))


def test_items_outside_the_catalogue_are_misses_and_never_hits():
    # of a, b and c the catalogue has a: it stands behind z and b, both misses, and no other item of the catalogue is one
    frame, truth = recommended(u="zba"), liked(u="ab")
    rec = frame.rec(truth=truth, items=pl.DataFrame({"item": [*"ac"]}))
    assert rec.auc(k=3, over="catalogue") == 0
    # at 1 c alone is left, whose place z took: a is behind it
    assert rec.auc(k=1, over="catalogue") == 0
    # both relevant items are outside
    assert math.isnan(rec(items=pl.DataFrame({"item": [*"cz"]})).auc(k=3, over="catalogue"))


def test_without_a_catalogue_it_says_what_to_bind():
    with pytest.raises(rf.ColumnError, match=r"auc needs the items frame"):
        recommended(u="ab").rec(truth=liked(u="a")).auc(over="catalogue")
