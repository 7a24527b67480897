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

NAMES = "abcdefghijklmnopqrstuvwxyzABCD"
ITEMS = pl.DataFrame({"item": [*NAMES], "genre": [place % 10 in {1, 2, 3} for place in range(30)]})
GENRES = {genre: {*own["item"]} for (genre,), own in ITEMS.group_by("genre")}
CHOOSE = random.Random("pairs of a catalogue")  # noqa: S311  no secret
USERS = [f"u{user}" for user in range(60)]
# of up to 12 items and up to 6, some users with one of the two alone
LISTS = {u: "".join(CHOOSE.sample(NAMES, CHOOSE.choice([0, 1, 3, 8, 12]))) for u in USERS}
TRUTH = {u: "".join(CHOOSE.sample(NAMES, CHOOSE.choice([0, 1, 2, 6]))) for u in USERS}


def counted(user: str, items: set[str], k: int | None) -> float | None:
    """The share of the pairs, from the places: of a relevant item and of each miss, those behind k at the last one."""
    ranks = {item: rank for rank, item in enumerate(LISTS[user], 1) if item in items}
    k, relevant = len(ranks) if k is None else k, items & {*TRUTH[user]}
    hits = {rank for item, rank in ranks.items() if item in relevant and rank <= k}
    misses = [float(place) for place in range(1, k + 1) if place not in hits]
    misses += [math.inf] * (len(items) - len(relevant) - len(misses))
    goods = [*map(float, hits), *[math.inf] * (len(relevant) - len(hits))]
    pairs = [(good < bad) + (good == bad) / 2 for good, bad in itertools.product(goods, misses)]
    return sum(pairs) / len(pairs) if pairs else None


@pytest.mark.parametrize(("kind", "k"), in_turn(KINDS, [1, 3, 10, 20, None]))
def test_its_pairs_are_those_counted_one_by_one(kind: Kind, k: int | None):
    rec = kind(recommended(**LISTS)).rec(truth=kind(liked(**TRUTH)), items=kind(ITEMS))
    metric = rf.auc(over="catalogue") if k is None else rf.auc(over="catalogue") @ k
    wanted = {user: counted(user, {*NAMES}, k) for user in USERS if TRUTH[user]}

    assert dict(kind.read(rec.evaluate(metric, by="user")).rows()) == pytest.approx(wanted)
    mean = math.fsum(wanted.values()) / len(wanted)
    assert kind.read(rec.evaluate(metric)).row(0) == pytest.approx((len(wanted), mean))
    # a segment of items has a catalogue of its own
    for genre, user, value in kind.read(rec.evaluate(metric, by=["genre", "user"])).rows():
        assert k is None or value == pytest.approx(counted(user, GENRES[genre], k))


def test_items_outside_the_catalogue_are_misses_and_never_hits():
    # of a, b and c the catalogue has a: it stands behind z and b, both misses, and no other item of the catalogue is one
    rec = recommended(u="zba").rec(truth=liked(u="ab"), items=pl.DataFrame({"item": [*"ac"]}))
    assert rec.auc(k=3, over="catalogue") == 0
    # at 1 c alone is left, whose place z took: a is behind it
    assert rec.auc(k=1, over="catalogue") == 0
    # both relevant items are outside
    assert math.isnan(rec(items=pl.DataFrame({"item": [*"cz"]})).auc(k=3, over="catalogue"))
