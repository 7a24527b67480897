"""Switches of conventions in words, and the direction of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

Direction = Literal["up", "down", "same", "either"]
Chains = tuple[tuple[Any, ...], ...]
OTHER = object()
"""Key for all values without words of their own."""

# Columns that a metric asks for where it counts hits, and where it places them by the number of relevant items.
OF_HITS = {"rank", "gain", "discount", "hits_so_far", "relevant_rank"}
PLACED_BY_RELEVANT = {"each_n_relevant"}


@dataclass(frozen=True)
class Switch:
    """Policy or parameter in words, with the effect of its values.

    A chain has values in an order in which none gives a lower number than the next; two values that no chain puts in order
    can differ either way. A policy's chains hold of metrics that count hits and are better when higher.
    """

    says: Mapping[Any, str]
    chains: Chains = ()
    up: str = ""
    down: str = ""
    either: str = ""
    unless: AbstractSet[str] = frozenset()
    """Columns of metrics of which the chains do not hold."""
    of_cut: Chains = ()
    """Chains that hold only with a cut-off, not for whole lists."""
    of_binary_gains: Chains = ()
    """Chains that hold where there is a cut-off and every gain is 1 on both sides."""

    def words(self, value: Any, where: str = "") -> str:
        """Return the meaning of a value; `where` names the relevant items concerned."""
        found = self.says.get(value, self.says.get(OTHER, "{value}"))
        return found.format(value=value, where=where)

    def direction(
        self, old: Any, new: Any, *, chained: bool = True, cut: bool = True, binary: bool = False
    ) -> tuple[Direction, str]:
        """Return the direction of a number's change between two values, and the reason."""
        chains = (
            self.chains
            + (self.of_cut if cut else ())
            + (self.of_binary_gains if binary and cut else ())
        )
        rises, falls = (
            chained and _in_order(new, old, chains),
            chained and _in_order(old, new, chains),
        )
        if rises and falls:
            return "same", ""
        if rises or falls:
            return ("up", self.up) if rises else ("down", self.down)
        return "either", self.either


def _in_order(high: Any, low: Any, chains: Chains) -> bool:
    """Return whether some chains lead from one value down to another."""
    found = {high}
    for _ in chains:
        for chain in chains:
            places = [place for place, value in enumerate(chain) if value in found]
            found.update(chain[min(places) :] if places else ())
    return low in found


_ORDERS = ("item", "item_reverse", "item_text", "item_text_reverse", "order")

POLICIES: dict[str, Switch] = {
    "universe": Switch(
        {
            "truth": "every user of the truth counts, one without a list as an empty list",
            "recs": "every user with a list counts, whether in the truth or not",
            "both": "only users with a list and a truth count",
            "all": "every user of the lists, of the truth and of users= counts",
            None: "every user of the judged frame counts",
        },
        (("both", "truth", None, "all"), ("both", "recs", None, "all")),
        up="users who can only count 0 are left out",
        down="users who can only count 0 are added",
        either="some users are added and others left out",
    ),
    "no_relevant": Switch(
        {
            "zero": "a counted user without a relevant item{where} counts 0 in metrics of hits",
            "skip": "a user without a relevant item{where} is left out",
            "null": "a user without a relevant item{where} has no value, and the mean runs over the others",
        },
        (("skip", "null", "zero"), ("null", "skip", "zero")),
        up="users without relevant items{where} no longer count 0",
        down="users without relevant items{where} count 0",
        either="users without relevant items{where} are added or left out",
    ),
    "relevant_from": Switch(
        {
            "truth": "relevant items come from the truth, listed or not",
            "list": "only relevant items of the whole list count; others do not exist",
        },
        (("list", "truth"),),
        up="relevant items that were not listed no longer count as missed",
        down="relevant items that were not listed count as missed",
        either="other relevant items count",
        unless=PLACED_BY_RELEVANT,
    ),
    "min_relevance": Switch(
        {
            None: "a relevance above 0 is relevant",
            "any": "every judged row is relevant, whatever its relevance",
            OTHER: "a relevance of at least {value} is relevant",
        },
        either="with more relevant items there are more hits, and more to find",
    ),
    "ties": Switch(
        {
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
        tuple(("optimistic", one, "pessimistic") for one in (*_ORDERS, "expected")),
        up="relevant items rank higher among equal scores",
        down="relevant items rank lower among equal scores",
        either="equal scores have another order; a profile changes nothing if ranks are given",
    ),
    "decimals": Switch(
        {None: "nothing is rounded", OTHER: "the mean is rounded to {value} decimals"},
        either="the mean is rounded, or not",
    ),
}

_SMALLER, _LARGER = (
    "the denominator is smaller for some users and never larger",
    "the denominator is larger for some users",
)
_OTHER = "neither denominator is the smaller one for every user"

PARAMETERS: dict[str, Switch] = {
    "denominator": Switch(
        {
            "k": "hits are divided by k, by lists shorter than k too",
            "list": "hits are divided by the length of the list up to k",
            "achievable": "hits are divided by min(k, the user's relevant items)",
            "relevant": "hits are divided by the user's relevant items",
            "capped": "hits are divided by min(k, the user's relevant items)",
        },
        (("list", "k"), ("capped", "relevant")),
        up=_SMALLER,
        down=_LARGER,
        either=_OTHER,
        of_cut=(("achievable", "k"),),
    ),
    "normalizer": Switch(
        {
            "relevant": "the sum of precisions is divided by the user's relevant items",
            "min": "the sum of precisions is divided by min(k, the user's relevant items)",
            "list": "the sum of precisions is divided by min(k, the user's relevant items, the length of the list)",
            "hits": "the sum of precisions is divided by the hits",
            "k": "the sum of precisions is divided by k",
            "ranks": "precision is averaged over every rank up to k, hit or not",
        },
        (("hits", "list", "min", "relevant"), ("list", "k")),
        up=_SMALLER,
        down=_LARGER,
        either="neither sum over its denominator is the smaller one for every user",
        of_cut=(("min", "k"), ("ranks", "k")),
    ),
    "average": Switch(
        {
            "users": "each user has a value of their own, and the mean runs over them",
            "means": "it is the F of mean precision and mean recall",
            "pooled": "the sum of all users' hits is divided by the sum of their denominators",
            "arithmetic": "the mean over the users is their sum over their number",
            "geometric": "the mean over the users is geometric, of at least 0.00001 each",
        },
        either="users weigh differently in a mean of ratios, a ratio of sums, and a geometric mean",
    ),
    "beta": Switch(
        {OTHER: "recall weighs {value} times as much as precision"},
        either="precision and recall weigh differently",
    ),
    "gain": Switch(
        {
            "linear": "a hit gains its relevance g",
            "exp": "a hit gains 2^g - 1 of its relevance g",
            "binary": "a hit gains 1, whatever its relevance",
        },
        either="high grades weigh more or less in both orders",
    ),
    "log_base": Switch(
        {OTHER: "discounts are logarithms to the base {value}"},
        either="ranks are discounted by another base",
    ),
    "discount": Switch(
        {
            "shifted": "rank r is discounted by log(r + 1)",
            "unshifted": "rank r is discounted by log(r), and the first ranks not at all",
        },
        either="lower ranks weigh more or less in both orders",
    ),
    "offset": Switch(
        {OTHER: "{value} is added to the relevance"},
        either="low grades weigh more or less in both orders",
    ),
    "ideal": Switch(
        {
            "relevant": "the best order has all relevant items, listed or not, cut at k",
            "all": "the best order has all relevant items and is not cut at k",
            "list": "the best order has the list's own hits alone",
            "k": "the best order has k relevant items of gain 1, however few there are",
        },
        (("list", "relevant", "all"),),
        up="the best order gains less",
        down="the best order gains more",
        either="the best order gains something else",
        of_binary_gains=(("relevant", "k"),),
    ),
    "without_hit": Switch(
        {
            "zero": "a list without a hit counts 0",
            "null": "a list without a hit has no value, and the mean runs over the others",
        },
        (("null", "zero"),),
        up="lists without a hit no longer count 0",
        down="lists without a hit count 0",
    ),
    "without_relevant": Switch(
        {
            "zero": "a counted user without a relevant item{where} counts 0",
            "one": "a counted user without a relevant item{where} counts 1",
        },
        (("one", "zero"),),
        up="users without relevant items count 1",
        down="users without relevant items no longer count 1",
    ),
    "over": Switch(
        {
            "list": "pairs are those of the list's items up to k",
            "catalogue": "pairs are those of all items of the catalogue, where items after k share the last place",
        },
        either="pairs of items after k are added, each as a half, or left out",
    ),
    "without_pair": Switch(
        {
            "null": "a list without a pair has no value, and the mean runs over the others",
            "hit": "a list without a pair counts 1 with a hit, else 0",
        },
        either="lists of hits or of misses alone are added or left out",
    ),
    "weight": Switch(
        {
            "impressions": "a user weighs as many as the items of the list",
            "relevant": "a user weighs as many as the relevant items of the list",
            "pairs": "a user weighs as many as the pairs of the list",
        },
        either="users with longer lists, or with more relevant items, count more or less",
    ),
    "recall": Switch(
        {OTHER: "precision is the highest one at a recall of {value} or more"},
        either="the higher the recall, the fewer ranks count",
    ),
    "precision": Switch(
        {OTHER: "recall is the highest one at a mean precision of {value} or more"},
        either="the higher the precision, the fewer cut-offs count",
    ),
    "normalize": Switch(
        {
            True: "the agreement is divided by that of the ideal list with itself",
            False: "the agreement is not divided by that of the ideal list with itself",
        },
        ((False, True),),
        up="the ideal list has 1",
        down="the ideal list may have less than 1",
    ),
    "rounding": Switch(
        {
            "up": "a recall is rounded up to whole relevant items",
            "tenth": "a recall takes the whole part of its number of relevant items + 0.9",
            "nearest": "a recall is rounded to the nearest whole number of relevant items, halves up",
        },
        (("nearest", "tenth", "up"),),
        up="for some users a recall needs fewer items",
        down="for some users a recall needs more items",
    ),
    "misses": Switch(
        {OTHER: "only the first {value} misses count"}, either="more or fewer misses count"
    ),
    "hits": Switch(
        {
            "all": "all relevant items are compared with them",
            "first": "as many relevant items as misses count",
        },
        (("first", "all"),),
        up="relevant items further down no longer count",
        down="relevant items further down count",
    ),
    "p": Switch(
        {OTHER: "the reader goes on to the next rank with a probability of {value}"},
        either="lower ranks get other weights",
    ),
    "weights": Switch(
        {
            "none": "every relevant item counts once",
            "snips": "a relevant item counts 1 / its propensity times, and so does what it is divided by",
            "ips": "a hit counts 1 / its propensity times, and what it is divided by stays",
        },
        either="relevant items that are seldom observed weigh more",
    ),
    "exponent": Switch(
        {
            OTHER: "with weights, a propensity that is not given is (popularity / the highest)^(({value} + 1) / 2)"
        },
        either="seldom items weigh more or less",
    ),
    "min_propensity": Switch(
        {OTHER: "with weights, a propensity is at least {value}"},
        either="the most seldom items weigh more or less",
    ),
    "max_grade": Switch(
        {OTHER: "the highest grade is {value}"},
        either="grades count more or less beside the highest",
    ),
    "min_grade": Switch(
        {OTHER: "a grade up to {value} is no gain"}, either="low grades count more or less"
    ),
    "target": Switch(
        {OTHER: "the reader wants a gain of {value} in all"}, either="readers stop sooner or later"
    ),
    "form": Switch(
        {
            "patience": "the reader goes on with the same probability p from each rank",
            "target": "the reader goes on more and more surely, the lower the rank",
            "discount": "the reader goes on from rank r with probability r / (r + 1), up to k",
            "gain": "the reader goes on to k",
        },
        either="lower ranks get other weights",
    ),
}

WHERE = {"truth": "", "list": " in the list"}
"""Place in words, by `relevant_from`, in which a user lacks relevant items."""

WORDS: dict[str, Mapping[str, Switch]] = {"accuracy": PARAMETERS, "": PARAMETERS}
"""Words of parameters by family of metric; other families explain theirs in each metric's text."""

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
    "user": (
        "every user with a list counts, whether in the truth or not; n_lists is their number.",
        "a list without an item{cut} has no value (null, not 0), and the mean runs over the lists with one.",
    ),
    "relevance": (
        "only lists of users who count in the accuracy metrics have a value; n_lists counts every user with a list.",
        "a list without an item{cut}, or none at all, has no value (null, not 0), and the mean runs over the lists with one.",
    ),
    "set of relevance": (
        "only lists of users who count in the accuracy metrics have a value, one together; n_lists counts all with a list.",
        "a list without an item{cut} adds nothing. It is not a mean: values of segments do not average to that of all.",
    ),
    "set": (
        "the lists of all users of a segment, whether in the truth or not, have one value together; n_lists is their number.",
        "a list without an item{cut} adds nothing. It is not a mean: values of segments do not average to that of all.",
    ),
}
"""Rules on which lists count, by shape of metric, and whether it reads relevance."""


BY_ITEMS = {
    "users": (
        "{by} is a property of items: a row is what the same call gives on lists and truth with only the segment's items, "
        "at the ranks of the whole lists. So by default a user counts in the segments of their truth's items; leave out "
        "users without a relevant item of the segment: rec(no_relevant='skip')."
    ),
    "lists": (
        "{by} is a property of items: n_lists counts lists with an item of the segment at whatever rank, and the value "
        "describes those that have one up to k; evaluate(..., support=True) says how many these are."
    ),
}
"""Explanation of segments of items, for metrics over users and over lists."""


def switch_of(name: str, family: str = "") -> Switch | None:
    """Return a policy or the parameter of a family in words, if it has some."""
    return POLICIES.get(name) or WORDS.get(family, {}).get(name)
