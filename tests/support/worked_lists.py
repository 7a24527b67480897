"""Three small lists and what every metric beyond accuracy is of them, worked by hand."""

from __future__ import annotations

import math
from typing import Any

from plain_scene import Scene

PLAIN = 1e-6  # what the worked numbers are rounded to


def letters(**lists: str) -> dict[str, list[tuple[str, float]]]:
    return {
        user: [(item, float(rank)) for rank, item in enumerate(items, start=1)]
        for user, items in lists.items()
    }


def pairs(**items: str) -> frozenset[tuple[str, str]]:
    return frozenset((user, item) for user, own in items.items() for item in own)


def categorised(**categories: str) -> dict[str, dict[str, Any]]:
    """{item: its category}; items named in several are in a list of them."""
    found = {item: {"genre": name} for name, own in categories.items() for item in own}
    return found | {item: {"genre": None} for item in "abcdefxy" if item not in found}


WORKED = Scene(
    letters(u1="abc", u2="ab", u3="dae"),
    train=pairs(u1="ax", u2="bcd", u3="ab", u4="a"),
    items=categorised(A="ab", B="cd", C="e"),
)
# a, b, c and d are the head: 7 of 8 interactions
BY_TAIL = Scene(WORKED.lists, train=WORKED.train, items=categorised(head="abcd", tail="efxy"))

# The fixture at k = 3: c = a3 b2 c1 d1 e1, pop = a3 b2 c1 d1 x1, four users in train, eight items.
FIXTURE = [
    ("coverage", {}, 5 / 8),
    # exposures 0 0 0 1 1 1 2 3 times 2j - 9: -1 + 1 + 3 + 10 + 21 = 34, over 7 x 8
    ("gini", {}, 34 / 56),
    ("gini", {"normalizer": "n"}, 34 / 64),
    # 3/8 log2(8/3) + 2/8 x 2 + 3 x 3/8
    ("entropy", {}, 3 / 8 * math.log2(8 / 3) + 2 / 8 * 2 + 3 / 8 * 3),
    ("entropy", {"normalized": True}, 0.718546),
    ("novelty", {}, 1.105848),
    # means 6/3, 5/2, 4/3
    ("popularity", {}, 1.944444),
    ("popularity", {"normalizer": "users"}, 1.944444 / 4),
    ("popularity", {"normalizer": "max"}, 1.944444 / 3),
    ("popularity", {"normalizer": "interactions"}, 1.944444 / 8),
    # pop 1 1 1 2 3 of x c d b a: places 2 2 2 4 5 of 5; 11/15, 9/10, (2 + 5 + 0)/15
    ("popularity", {"normalizer": "quantile"}, (11 / 15 + 9 / 10 + 7 / 15) / 3),
    # 1.138346, 0.707519 x 2/3, 1.471679
    ("novelty", {"denominator": "k"}, (1.138346 + 0.707519 * 2 / 3 + 1.471679) / 3),
    # of 8 pairs: a 3 times log2(8/3), b twice 2, c and d 3, e of none 3 or nothing; eight rows
    ("efd", {"average": "rows"}, (3 * math.log2(8 / 3) + 4 + 9) / 8),
    ("efd", {"average": "rows", "cold": "zero"}, (3 * math.log2(8 / 3) + 4 + 6) / 8),
    ("long_tail_share", {}, 1 / 9),
    ("long_tail_count", {}, 1 / 3),
    ("tail_coverage", {}, 1 / 4),
    # history means 2, 4/3, 5/2: the same mean
    ("popularity_lift", {}, 0.0),
    ("popularity_lift", {"average": "users"}, 0.136111),
    ("repeat_rate", {}, (1 / 3 + 1 / 2 + 1 / 3) / 3),
    # 2/3, 0, 1
    ("diversity", {}, 5 / 9),
    # cosines 2/sqrt(6), 1/3, 1/sqrt(6)
    ("personalization", {}, 0.480641),
    ("personalization", {"against": "all"}, 0.480641),
    # 2 of 3, 1 of 3 and 3 of 3 categories
    ("category_coverage", {}, 2 / 3),
    ("exposure_share", {}, 1.0),
]
