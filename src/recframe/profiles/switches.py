"""Words for policies, parameters and rules of metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Words = Mapping[Any, str]
"""The meaning of each value of a switch."""
OTHER = object()
"""Key for all values without words of their own."""

POLICIES: dict[str, Words] = {
    "universe": {
        "truth": "every user of the truth counts, one without a list as an empty list",
        "recs": "every user with a list counts, whether in the truth or not",
        "both": "only users with a list and a truth count",
        "all": "every user of the lists, of the truth and of users= counts",
        None: "every user of the judged frame counts",
    },
    "no_relevant": {
        "zero": "a counted user without a relevant item{where} counts 0 in metrics of hits",
        "skip": "a user without a relevant item{where} is left out",
        "null": "a user without a relevant item{where} has no value, and the mean runs over the others",
    },
    "relevant_from": {
        "truth": "relevant items come from the truth, listed or not",
        "list": "only relevant items of the whole list count; others do not exist",
    },
    "min_relevance": {
        None: "a relevance above 0 is relevant",
        "any": "every judged row is relevant, whatever its relevance",
        OTHER: "a relevance of at least {value} is relevant",
    },
    "ties": {
        "item": "where ranks come from scores, equal scores are ordered by item",
        "item_reverse": "equal scores are ordered by item, descending",
        "item_text": "equal scores are ordered by item as text",
        "item_text_reverse": "equal scores are ordered by item as text, descending",
        "item_desc": "equal scores in 32 bits are ordered by item as text, descending",
        "order": "equal scores are in row order",
        "expected": "equal scores are in all orders at once: the value is the expectation",
        "last": "equal scores all take the last place of their tie",
        "pessimistic": "equal scores have the relevant items last",
        "optimistic": "equal scores have the relevant items first",
    },
    "decimals": {None: "nothing is rounded", OTHER: "the mean is rounded to {value} decimals"},
}

PARAMETERS: dict[str, Words] = {
    "denominator": {
        "k": "hits are divided by k, by lists shorter than k too",
        "list": "hits are divided by the length of the list up to k",
        "achievable": "hits are divided by min(k, the user's relevant items)",
        "relevant": "hits are divided by the user's relevant items",
        "capped": "hits are divided by min(k, the user's relevant items)",
    },
    "normalizer": {
        "relevant": "the sum of precisions is divided by the user's relevant items",
        "min": "the sum of precisions is divided by min(k, the user's relevant items)",
        "list": "the sum of precisions is divided by min(k, the user's relevant items, the length of the list)",
        "hits": "the sum of precisions is divided by the hits",
        "k": "the sum of precisions is divided by k",
        "ranks": "precision is averaged over every rank up to k, hit or not",
    },
    "average": {
        "users": "each user has a value of their own, and the mean runs over them",
        "means": "it is the F of mean precision and mean recall",
        "pooled": "the sum of all users' hits is divided by the sum of their denominators",
        "arithmetic": "the mean over the users is their sum over their number",
        "geometric": "the mean over the users is geometric, of at least 0.00001 each",
    },
    "beta": {OTHER: "recall weighs {value} times as much as precision"},
    "gain": {
        "linear": "a hit gains its relevance g",
        "exp": "a hit gains 2^g - 1 of its relevance g",
        "binary": "a hit gains 1, whatever its relevance",
    },
    "log_base": {OTHER: "discounts are logarithms to the base {value}"},
    "discount": {
        "shifted": "rank r is discounted by log(r + 1)",
        "unshifted": "rank r is discounted by log(r), and the first ranks not at all",
    },
    "offset": {OTHER: "{value} is added to the relevance"},
    "ideal": {
        "relevant": "the best order has all relevant items, listed or not, cut at k",
        "all": "the best order has all relevant items and is not cut at k",
        "list": "the best order has the list's own hits alone",
        "k": "the best order has k relevant items of gain 1, however few there are",
    },
    "without_hit": {
        "zero": "a list without a hit counts 0",
        "null": "a list without a hit has no value, and the mean runs over the others",
    },
    "without_relevant": {
        "zero": "a counted user without a relevant item{where} counts 0",
        "one": "a counted user without a relevant item{where} counts 1",
    },
    "over": {
        "list": "pairs are those of the list's items up to k",
        "catalogue": "pairs are those of all items of the catalogue, where items after k share the last place",
    },
    "without_pair": {
        "null": "a list without a pair has no value, and the mean runs over the others",
        "hit": "a list without a pair counts 1 with a hit, else 0",
    },
    "weight": {
        "impressions": "a user weighs as many as the items of the list",
        "relevant": "a user weighs as many as the relevant items of the list",
        "pairs": "a user weighs as many as the pairs of the list",
    },
    "recall": {OTHER: "precision is the highest one at a recall of {value} or more"},
    "precision": {OTHER: "recall is the highest one at a mean precision of {value} or more"},
    "normalize": {
        True: "the agreement is divided by that of the ideal list with itself",
        False: "the agreement is not divided by that of the ideal list with itself",
    },
    "rounding": {
        "up": "a recall is rounded up to whole relevant items",
        "tenth": "a recall takes the whole part of its number of relevant items + 0.9",
        "nearest": "a recall is rounded to the nearest whole number of relevant items, halves up",
    },
    "misses": {OTHER: "only the first {value} misses count"},
    "hits": {
        "all": "all relevant items are compared with them",
        "first": "as many relevant items as misses count",
    },
    "p": {OTHER: "the reader goes on to the next rank with a probability of {value}"},
    "weights": {
        "none": "every relevant item counts once",
        "snips": "a relevant item counts 1 / its propensity times, and so does what it is divided by",
        "ips": "a hit counts 1 / its propensity times, and what it is divided by stays",
    },
    "exponent": {
        OTHER: "with weights, a propensity that is not given is (popularity / the highest)^(({value} + 1) / 2)"
    },
    "min_propensity": {OTHER: "with weights, a propensity is at least {value}"},
    "max_grade": {OTHER: "the highest grade is {value}"},
    "min_grade": {OTHER: "a grade up to {value} is no gain"},
    "target": {OTHER: "the reader wants a gain of {value} in all"},
    "form": {
        "patience": "the reader goes on with the same probability p from each rank",
        "target": "the reader goes on more and more surely, the lower the rank",
        "discount": "the reader goes on from rank r with probability r / (r + 1), up to k",
        "gain": "the reader goes on to k",
    },
}
"""Those of metrics of accuracy; other metrics explain theirs in their own text."""

WHERE = {"truth": "", "list": " in the list"}
"""Place in words, by `relevant_from`, in which a user lacks relevant items."""

IGNORED = "Rows without a user or an item are ignored. A null, NaN or infinite rank means not recommended."
RULES: Mapping[str, Sequence[str]] = {
    "users": (
        "An item counts once in a list, at its best rank; a pair counts once in the truth, at its highest relevance.",
        IGNORED,
        "A missing rank is a miss. Items of equal rank all count at it, relevant ones ordered by item.",
    ),
    "lists": (
        "An item counts once in a list, at its best rank; a pair counts once in train.",
        IGNORED,
        "Ranks count as given: missing ranks leave fewer items up to k, repeated ranks more.",
    ),
}
"""Rules that no switch changes, for metrics over users and over lists."""

OF_LISTS = {
    ("user", False): (
        "every user with a list counts, whether in the truth or not; n_lists is their number.",
        "a list without a counted item has no value (null, not 0), and the mean runs over the lists with one.",
    ),
    ("user", True): (
        "only lists of users who count in the accuracy metrics have a value; n_lists counts every user with a list.",
        "a list without a counted item, or none at all, has no value (null, not 0), and the mean runs over the lists with one.",
    ),
    ("set", True): (
        "only lists of users who count in the accuracy metrics have a value, one together; n_lists counts all with a list.",
        "a list without a counted item adds nothing. It is not a mean: values of segments do not average to that of all.",
    ),
    ("set", False): (
        "the lists of all users of a segment, whether in the truth or not, have one value together; n_lists is their number.",
        "a list without a counted item adds nothing. It is not a mean: values of segments do not average to that of all.",
    ),
}
"""Rules on which lists count, by shape of metric, and whether it runs over the users of the accuracy metrics."""


def words_of(name: str, value: Any, family: str = "", where: str = "") -> str | None:
    """Return the meaning of a value of a policy, or of a parameter of a family of metrics; None without words of it.

    `where` names the place in which a user lacks relevant items.
    """
    words = (POLICIES | PARAMETERS if family in {"accuracy", ""} else POLICIES).get(name)
    if words is None:
        return None
    return words.get(value, words.get(OTHER, "{value}")).format(value=value, where=where)
