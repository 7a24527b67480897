"""What each library computes, in plain Python: written from their sources' definitions, not from the profiles."""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

Lists = dict[str, list[str]]
Truth = dict[str, dict[str, float]]


@functools.cache
def a_crowd(*, n_users: int = 150) -> tuple[Lists, Truth]:
    """Ragged lists, users without list, without truth, without anything relevant."""
    rng = random.Random("recframe profiles")  # noqa: S311  no secret
    lists, truth = {}, {}
    for number in range(n_users):
        items = [f"i{item}" for item in rng.sample(range(60), 60)]
        length = rng.choice([0, 1, 2, 4, 10, 20])
        judged = rng.sample(items[: 2 * length + 8], rng.choice([0, 1, 2, 5, 8]))
        grades = rng.choice([[0.0], [1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 2.0, 3.0, 4.0]])
        lists |= {f"u{number}": items[:length]} if length else {}
        truth |= {f"u{number}": {item: rng.choice(grades) for item in judged}} if judged else {}
    return lists, truth


@dataclass(frozen=True)
class One:
    """One user: the list, the grades of the truth, and which of them are relevant."""

    items: list[str]
    grades: Mapping[str, float]
    relevant: set[str]
    cut: int | None

    @property
    def k(self) -> int:
        return len(self.items) if self.cut is None else self.cut

    @property
    def n(self) -> int:
        return min(self.k, len(self.items))

    @property
    def r(self) -> int:
        return len(self.relevant)

    @property
    def capped(self) -> int:
        return self.r if self.cut is None else min(self.cut, self.r)

    @property
    def hits(self) -> list[int]:
        """The ranks of the hits."""
        return [rank for rank, item in enumerate(self.items[: self.k], 1) if item in self.relevant]

    @property
    def gains(self) -> list[tuple[int, float]]:
        """The rank and the grade of each item up to k that the truth has."""
        return [
            (rank, self.grades[item])
            for rank, item in enumerate(self.items[: self.k], 1)
            if item in self.grades
        ]


Value = Callable[[One], float | None]
UNDEFINED = None


def over(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def precisions(one: One) -> float:
    return math.fsum(place / rank for place, rank in enumerate(one.hits, 1))


def log2(rank: int) -> float:
    return math.log2(rank + 1)


def normalized(gain: Callable[[float], float], order: Callable[[One], list[float]]) -> Value:
    """An nDCG of graded gains, whose best order is that of the grades that `order` gives."""

    def value(one: One) -> float:
        best = sorted(order(one), reverse=True)[: one.cut]
        found = math.fsum(gain(g) / log2(rank) for rank, g in one.gains)
        return over(found, math.fsum(gain(g) / log2(rank) for rank, g in enumerate(best, 1)))

    return value


def positive(grade: float) -> float:
    return max(grade, 0.0)


def whole_truth(one: One) -> list[float]:
    return [positive(grade) for grade in one.grades.values()]


# The formulas by their usual names


def hit(one: One) -> float:
    return float(bool(one.hits))


def p_k(one: One) -> float:
    return over(len(one.hits), one.k)


def recall(one: One) -> float:
    return over(len(one.hits), one.r)


def ap_r(one: One) -> float:
    return over(precisions(one), one.r)


def mean_of_precisions(one: One) -> float:
    return over(
        math.fsum(sum(rank <= place for rank in one.hits) / place for place in range(1, one.k + 1)),
        one.k,
    )


def rr(one: One) -> float:
    return 1 / one.hits[0] if one.hits else 0.0


def f1(one: One) -> float:
    return over(2 * p_k(one) * recall(one), p_k(one) + recall(one))


def r_precision(one: One) -> float:
    return over(sum(rank <= one.r for rank in one.hits), one.r)


def dcg(one: One) -> float:
    return math.fsum(positive(g) / log2(rank) for rank, g in one.gains)


def judged_share(one: One) -> float:
    listed = one.items[: one.k]
    return over(sum(item in one.grades for item in listed), len(listed))


def err(one: One) -> float:
    total, reading = 0.0, 1.0
    for rank, g in one.gains:
        stop = (2 ** positive(g) - 1) / 16
        total, reading = total + reading * stop / rank, reading * (1 - stop)
    return total


def rbp(p: float) -> Value:
    return lambda one: (1 - p) * math.fsum(p ** (rank - 1) for rank in one.hits)


def bpref(one: One) -> float:
    misses = [
        rank
        for rank, item in enumerate(one.items[: one.k], 1)
        if item in one.grades and item not in one.relevant
    ]
    most = min(one.r, len(one.grades) - one.r)
    lost = [min(sum(miss < rank for miss in misses), one.r) for rank in one.hits]
    return over(math.fsum(1 - (above / most if above else 0) for above in lost), one.r)


def interpolated(one: One, tenths: int = 5) -> float:
    """The precision from half of the relevant items on, or another share, at its highest; m_iprec_at_recall.c of 9."""
    fewest = int(tenths / 10 * one.r + 0.9)
    return max(
        (place / rank for place, rank in enumerate(one.hits, 1) if place >= fewest), default=0.0
    )


def eleven_points(one: One) -> float:
    return math.fsum(interpolated(one, tenths) for tenths in range(11)) / 11


def if_tested(value: Value) -> Value:
    """The value of a user whom the truth has a row of."""
    return lambda one: value(one) if one.relevant else UNDEFINED


# The libraries: which users, what is relevant, and each metric


def positive_grade(grade: float) -> bool:
    return grade > 0


def every_row(_grade: float) -> bool:
    return True


@dataclass(frozen=True)
class Library:
    """A library's metrics, the users they are averaged over, and what it takes for relevant."""

    users: str
    values: Mapping[str, Value]
    relevant: Callable[[float], bool] = positive_grade
    from_list: bool = False
    without_relevant: str = "counted"


def n_hits(one: One) -> float:
    return float(len(one.hits))


def list_length(one: One) -> float:
    return float(one.n)


def late_dcg(one: One) -> float:
    return math.fsum(1 / math.log2(max(rank, 2)) for rank in one.hits)


TREC: dict[str, Value] = {
    "n_hits": n_hits,
    "list_length": list_length,
    "interpolated_precision": interpolated,
    "eleven_point_precision": eleven_points,
}
DEFINED: dict[str, Library] = {
    "trec_eval": Library("truth", {**TREC, "err": err, "rbp": rbp(0.8), "judged": judged_share}),
    "ir_measures": Library("truth", {**TREC, "f_score": f1}),
    "pytrec_eval": Library("both", TREC),
    "ranx": Library("truth", {"bpref": bpref}),
    "elliot": Library(
        "both",
        {"hit_rate": hit, "precision": p_k, "recall": recall, "mrr": rr, "f_score": f1}
        | {
            "map": mean_of_precisions,
            "ndcg": normalized(lambda g: 2 ** (g + 1) - 1, whole_truth),
        },
        relevant=every_row,
    ),
    "lenskit": Library("recs", {"dcg": if_tested(late_dcg)}, relevant=every_row),
    "evidently": Library("recs", {"map": ap_r}, from_list=True, without_relevant="dropped"),
}
"""Metrics of profiles that no recorded answer has: of libraries that are not run, or that have no form of it there."""
OF_TREC = {"f_score", "r_precision", "bpref", "n_hits", "list_length"}
OF_TREC |= {"interpolated_precision", "eleven_point_precision"}
OF_THE_WHOLE_LIST = {
    "trec_eval": OF_TREC,
    "ir_measures": OF_TREC,
    "pytrec_eval": OF_TREC,
    "ranx": {"bpref"},
}


def expected(profile: str, k: int | None) -> dict[str, float]:
    """The means of every metric that the library has at this k."""
    library = DEFINED[profile]
    names = set(library.values) - (
        OF_THE_WHOLE_LIST.get(profile, set()) if k is not None else set()
    )
    ones = counted(library, k)
    return {name: mean(map(library.values[name], ones)) for name in sorted(names)}


def counted(library: Library, k: int | None) -> list[One]:
    lists, truth = a_crowd()
    users = {"truth": set(truth), "recs": set(lists), "both": set(truth) & set(lists)}
    result = []
    for user in sorted(users[library.users]):
        items, grades = lists.get(user, []), truth.get(user, {})
        if library.from_list:
            grades = {item: grade for item, grade in grades.items() if item in items}
        relevant = {item for item, grade in grades.items() if library.relevant(grade)}
        if relevant or library.without_relevant == "counted":
            result.append(One(items, grades, relevant, k))
    return result


def mean(values: Iterable[float | None]) -> float:
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present)
