"""The accuracy metrics said a second time, in plain Python: each for one list cut at k.

Written from the papers and the design, not from the library: loops and math.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import plain_readers


@dataclass(frozen=True)
class Listed:
    """An item of a list: the rank it was given, whether it was judged, and whether it is relevant."""

    rank: float
    judged: bool
    relevant: bool
    graded: bool
    """Whether it was judged, and is not only of the pool, with a relevance below 0."""


@dataclass(frozen=True)
class RankedList:
    """All that a metric may know of one list."""

    items: list[Listed]
    hits: list[tuple[float, float]]
    """(effective rank, gain) of the relevant items of the list, from the best rank down."""
    gains: list[float]
    """The gains of the relevant items, listed or not, from the highest down."""
    n_not_relevant: int
    """The items judged not relevant, listed or not."""

    @property
    def n_relevant(self) -> int:
        return len(self.gains)

    def hits_to(self, k: int | None) -> list[tuple[float, float]]:
        return [hit for hit in self.hits if k is None or hit[0] <= k]

    def items_to(self, k: int | None) -> list[Listed]:
        return [item for item in self.items if k is None or item.rank <= k]

    def places(self, k: int | None) -> int:
        """The k that a formula divides by: without a cut-off the list's length."""
        return len(self.items) if k is None else k


def capped(count: int, k: int | None) -> int:
    return count if k is None else min(k, count)


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def hit_rate(one: RankedList, k: int | None) -> float:
    return 1.0 if one.hits_to(k) else 0.0


@dataclass(frozen=True)
class Added:
    """What one list adds to a number that is made of sums over lists, or of means."""

    parts: tuple[float, ...]
    made: Callable[..., float]
    of_means: bool = False


Value = float | Added | None


def averaged(part: float, whole: float, average: str) -> Value:
    return Added((part, whole), ratio) if average == "pooled" else ratio(part, whole)


def places(one: RankedList, k: int | None, denominator: str) -> int:
    return {
        "k": one.places(k),
        "list": min(one.places(k), len(one.items)),
        "achievable": min(one.places(k), one.n_relevant),
    }[denominator]


def precision(one: RankedList, k: int | None, denominator="k", average="users") -> Value:
    return averaged(len(one.hits_to(k)), places(one, k, denominator), average)


def recall(one: RankedList, k: int | None, denominator="relevant", average="users") -> Value:
    whole = {"relevant": one.n_relevant, "capped": capped(one.n_relevant, k)}
    return averaged(len(one.hits_to(k)), whole[denominator], average)


def harmonic_mean(p: float, r: float, beta: float) -> float:
    return ratio((1 + beta * beta) * p * r, beta * beta * p + r)


def f_score(one: RankedList, k: int | None, beta=1, denominator="k", average="users") -> Value:
    parts = (len(one.hits_to(k)), places(one, k, denominator), one.n_relevant)

    def of_sums(hits: float, whole: float, n_relevant: float) -> float:
        return harmonic_mean(ratio(hits, whole), ratio(hits, n_relevant), beta)

    if average == "pooled":
        return Added(parts, of_sums)
    if average == "means":
        hits, *wholes = parts
        of_user = tuple(ratio(hits, whole) for whole in wholes)
        return Added(of_user, lambda p, r: harmonic_mean(p, r, beta), of_means=True)
    return of_sums(*parts)


def mean_average_precision(
    one: RankedList, k: int | None, normalizer="relevant", average="", without_relevant="zero"
) -> Value:
    value = average_precision(one, k, normalizer)
    if without_relevant == "one" and not one.n_relevant:
        value = 1.0
    is_geometric = average == "geometric"
    return Added((math.log(max(value, 1e-5)),), math.exp, of_means=True) if is_geometric else value


def average_precision(one: RankedList, k: int | None, normalizer: str) -> float:
    if normalizer == "ranks":
        places = one.places(k)
        return ratio(sum(len(one.hits_to(place)) / place for place in range(1, places + 1)), places)
    total = 0.0
    for rank, _ in one.hits_to(k):
        total += len(one.hits_to(rank)) / rank  # hits of one rank are all before its end
    whole = {
        "relevant": one.n_relevant,
        "min": capped(one.n_relevant, k),
        "list": min(capped(one.n_relevant, k), len(one.items)),
        "hits": len(one.hits_to(k)),
        "k": one.places(k),
    }
    return ratio(total, whole[normalizer])


def recall_at_precision(one: RankedList, k: int, precision=0.5, denominator="k") -> Added:
    """Of the curves of the mean precision and the mean recall, from k = 1 on."""
    hits = [len(one.hits_to(j)) for j in range(1, k + 1)]
    precisions = [ratio(n, places(one, j, denominator)) for j, n in enumerate(hits, 1)]

    def highest(*means: float) -> float:
        curve = zip(means[:k], means[k:], strict=True)
        return max([r for p, r in curve if p > precision - 1e-9], default=0.0)

    return Added((*precisions, *(ratio(n, one.n_relevant) for n in hits)), highest, of_means=True)


def interpolated_precision(one: RankedList, k: int | None, recall=0.5, rounding="up") -> float:
    found = [(so_far, so_far / rank) for so_far, (rank, _) in enumerate(one.hits_to(k), start=1)]
    if rounding == "up":
        enough = [p for so_far, p in found if so_far / one.n_relevant > recall - 1e-9]
    else:  # as C has it: (long) (recall * num_rel + .9), and lround(recall * num_rel)
        fewest = int(recall * one.n_relevant + (0.9 if rounding == "tenth" else 0.5))
        enough = [p for so_far, p in found if so_far >= fewest]
    return max(enough, default=0.0)


def eleven_point_precision(one: RankedList, k: int | None, rounding: str = "up") -> float:
    return sum(interpolated_precision(one, k, tenth / 10, rounding) for tenth in range(11)) / 11


def mrr(one: RankedList, k: int | None) -> float:
    hits = one.hits_to(k)
    return 1 / hits[0][0] if hits else 0.0


def ncrr(one: RankedList, k: int | None, denominator: str = "relevant") -> float:
    most = capped(one.n_relevant, k)
    if denominator == "list":
        most = min(most, len(one.items))
    best = math.fsum(1 / place for place in range(1, most + 1))
    return ratio(math.fsum(1 / rank for rank, _ in one.hits_to(k)), best)


def infap(one: RankedList, k: int | None) -> float:
    """Yilmaz and Aslam 2006, of what stands above each relevant item; with e as trec_eval has it."""
    total, e, items = 0.0, 1e-5, one.items_to(k)
    for item in items:
        if item.relevant:
            above = [other for other in items if other.rank < item.rank and other.judged]
            rel = sum(other.relevant for other in above)
            non = sum(other.graded and not other.relevant for other in above)
            place = max(item.rank, len(above) + 1)  # more items than places where ranks repeat
            if place == 1:
                total += 1
                continue
            in_pool = len(above) / (place - 1)
            total += 1 / place
            total += (place - 1) / place * in_pool * (rel + e) / (rel + non + 2 * e)
    return ratio(total, one.n_relevant)


def compatibility(one: RankedList, k: int | None, *, p=0.95, normalize=True) -> float:
    """Clarke et al. 2021, depth by depth: of the list, and of the ideal one that is nearest to it."""
    hits = one.hits_to(k)
    rest = list(one.gains)
    for _, gain in hits:
        rest.remove(gain)
    # (gain, whether it is not listed, rank, name)
    relevant = [(-gain, 0, rank, place) for place, (rank, gain) in enumerate(hits)]
    relevant += [(-gain, 1, 0.0, len(hits) + place) for place, gain in enumerate(rest)]
    ideal = [name for *_, name in sorted(relevant)]
    places = {name: rank for name, (rank, _) in enumerate(hits)}
    depth = max([len(one.items_to(k)), len(ideal), *(math.ceil(rank) for rank in places.values())])
    found = best = whole = 0.0
    for d in range(1, depth + 1):
        common = {name for name, rank in places.items() if rank <= d} & {*ideal[:d]}
        found += p ** (d - 1) * len(common) / d
        best += p ** (d - 1) * min(d, len(ideal)) / d
        whole += p ** (d - 1)
    return ratio(found, best if normalize else whole)


GAINS: dict[str, Callable[[float], float]] = {
    "linear": lambda relevance: relevance,
    "exp": lambda relevance: 2.0**relevance - 1,
    "binary": lambda relevance: 1.0,  # noqa: ARG005
}


@dataclass(frozen=True)
class Weighed:
    """How a hit is weighed: its gain, over the logarithm of its rank."""

    gain: str = "linear"
    log_base: float = 2
    discount: str = "shifted"
    offset: float = 0

    def sum(self, hits: Iterable[tuple[float, float]]) -> float:
        gains = [(max(GAINS[self.gain](g + self.offset), 0.0), rank) for rank, g in hits]
        return math.fsum(gain / self.logarithm(rank) for gain, rank in gains)

    def logarithm(self, rank: float) -> float:
        at = rank + 1 if self.discount == "shifted" else max(rank, self.log_base)
        return math.log(at, self.log_base)


def in_order(gains: Iterable[float]) -> list[tuple[float, float]]:
    """The best order: the highest gain at rank 1."""
    return [(float(rank), gain) for rank, gain in enumerate(sorted(gains, reverse=True), start=1)]


def dcg(one: RankedList, k: int | None, **how: Any) -> float:
    return Weighed(**how).sum(one.hits_to(k))


def ndcg(
    one: RankedList, k: int | None, ideal="relevant", without_relevant="zero", **how: Any
) -> float:
    if without_relevant == "one" and not one.n_relevant:
        return 1.0
    if ideal == "k":
        how["gain"] = "binary"
        best = in_order([1.0] * one.places(k))
    elif ideal == "list":
        best = in_order(relevance for _, relevance in one.hits_to(k))
    else:
        best = in_order(one.gains)[: k if ideal == "relevant" else None]
    return ratio(dcg(one, k, **how), Weighed(**how).sum(best))


def r_precision(one: RankedList, k: int | None, without_hit: str = "zero") -> float | None:
    hits = len([rank for rank, _ in one.hits_to(k) if rank <= one.n_relevant])
    return None if without_hit == "null" and not hits else ratio(hits, one.n_relevant)


def rbp(one: RankedList, k: int | None, p: float = 0.8) -> float:
    """All places weigh 1 together."""
    return (1 - p) * math.fsum(p ** (rank - 1) for rank, _ in one.hits_to(k))


def err(one: RankedList, k: int | None, max_grade: float = 4) -> float:
    total, still_reading = 0.0, 1.0
    for rank, relevance in one.hits_to(k):
        satisfied = (2.0 ** min(relevance, max_grade) - 1) / 2.0**max_grade
        total += still_reading * satisfied / rank
        still_reading *= 1 - satisfied
    return total


def reading(reader: Callable[..., float]) -> Callable[..., float]:
    return lambda one, k, **how: reader(one.hits_to(k), k, **how)


def bpref(one: RankedList, k: int | None) -> float:
    """Buckley and Voorhees 2004 as trec_eval computes it: what was not judged does not exist."""
    total, items = 0.0, one.items_to(k)
    misses = [item.rank for item in items if item.judged and not item.relevant]
    most = min(one.n_relevant, one.n_not_relevant)
    for item in items:
        if item.relevant:
            above = sum(rank < item.rank for rank in misses)
            total += 1 - (above / most if above < most else float(above > 0))
    return ratio(total, one.n_relevant)


def auc(one: RankedList, k: int | None, without_pair: str = "null") -> float | None:
    items = one.items_to(k)
    hits, misses = (
        [one.rank for one in items if one.relevant is is_hit] for is_hit in (True, False)
    )
    if not hits or not misses:
        return float(bool(hits)) if without_pair == "hit" else None
    pairs = [(good < bad) + (good == bad) / 2 for good in hits for bad in misses]
    return sum(pairs) / len(pairs)


def gauc(one: RankedList, k: int | None, weight: str = "impressions") -> Added | None:
    value, items = auc(one, k), one.items_to(k)
    relevant = sum(item.relevant for item in items)
    pairs = relevant * (len(items) - relevant)
    own = {"impressions": len(items), "relevant": relevant, "pairs": pairs}[weight]
    return None if value is None else Added((value * own, own), ratio)


def partial_auc(one: RankedList, k: int | None, misses: float = 10, hits: str = "all") -> float:
    """Of the ranks above a hit, those that are no better hit's are misses."""
    n_relevant, found = one.n_relevant, one.hits_to(k)
    if hits == "first":
        n_relevant, found = min(n_relevant, misses), found[: math.floor(misses)]
    above = [rank - so_far for so_far, (rank, _) in enumerate(found, start=1)]
    return ratio(math.fsum(misses - one for one in above if one < misses), misses * n_relevant)


def n_hits(one: RankedList, k: int | None) -> float:
    return float(len(one.hits_to(k)))


def first_rank(one: RankedList, k: int | None) -> float | None:
    hits = one.hits_to(k)
    return hits[0][0] if hits else None


def list_length(one: RankedList, k: int | None) -> float:
    return float(len(one.items_to(k)))


def judged(one: RankedList, k: int | None) -> float:
    items = one.items_to(k)
    return ratio(sum(item.judged for item in items), len(items))


METRICS: dict[str, Callable[..., Value]] = {
    "hit_rate": hit_rate,
    "precision": precision,
    "recall": recall,
    "f_score": f_score,
    "map": mean_average_precision,
    "interpolated_precision": interpolated_precision,
    "eleven_point_precision": eleven_point_precision,
    "mrr": mrr,
    "ncrr": ncrr,
    "recall_at_precision": recall_at_precision,
    "compatibility": compatibility,
    "infap": infap,
    "dcg": dcg,
    "ndcg": ndcg,
    "r_precision": r_precision,
    "rbp": rbp,
    "err": err,
    "insq": reading(plain_readers.insq),
    "inst": reading(plain_readers.inst),
    "bpm": reading(plain_readers.bpm),
    "nerr": reading(plain_readers.nerr),
    "sdcg": reading(plain_readers.sdcg),
    "bpref": bpref,
    "auc": auc,
    "gauc": gauc,
    "partial_auc": partial_auc,
    "n_hits": n_hits,
    "first_rank": first_rank,
    "list_length": list_length,
    "judged": judged,
}
