"""The contract said a second time, in plain Python: every policy, from frames as lists of dict rows to means by segment.

Written from the design, not from the library: dicts and loops. Rows have the keys user, item, rank or score, relevance,
model, and segments of their own; a missing key is a null.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from plain_accuracy import (
    METRICS,
    FOfMeans,
    FOfSums,
    Listed,
    OfCurves,
    OfGeometricMean,
    OfRatio,
    OfWeightedMean,
    RankedList,
    Value,
    harmonic_mean,
    ratio,
)

Row = Mapping[str, Any]
Rows = Sequence[Row]


@dataclass(frozen=True)
class Policy:
    """The switches of `rec(...)`; `model` says whether the rows' model is bound."""

    universe: str | None = None
    no_relevant: str = "zero"
    min_relevance: float | str | None = None
    relevant_from: str = "truth"
    model: bool = False
    min_relevance_for: str = "all"
    ties: str = "item"
    weight: bool = False
    """Whether users weigh what the column `weight` of `users` says."""

    def relevant(self, relevance: float | None) -> bool:
        if relevance is None:
            return False
        if self.min_relevance == "any":
            return True
        return relevance > 0 if self.min_relevance is None else relevance >= self.min_relevance


@dataclass(frozen=True)
class Case:
    """What one call is given: the frames as rows, the `by` columns and the switches; without a truth `recs` are judged rows."""

    recs: Rows
    truth: Rows | None = None
    users: Rows | None = None
    items: Rows | None = None
    by: tuple[str, ...] = ()
    policy: Policy = field(default_factory=Policy)
    train: Rows = ()
    reference: Rows | str = ()
    propensity: bool = False

    @cached_property
    def cut(self) -> list[Part]:
        """The parts of rows and items, each cut once for all metrics."""
        return [*cut(self)]


@dataclass(frozen=True)
class Asked:
    """A metric with its parameters and its cut-off."""

    name: str
    k: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        settings = ",".join(
            f"{name}={str(value).lower() if isinstance(value, bool) else value}"
            for name, value in self.parameters.items()
        )
        return (
            self.name
            + (f"({settings})" if settings else "")
            + (f"@{self.k}" if self.k is not None else "")
        )

    def value(self, one: RankedList) -> Value:
        return METRICS[self.name](one, self.k, **self.parameters)

    @property
    def weighs_gains(self) -> bool:
        binary = self.parameters.get("gain") == "binary" or self.parameters.get("ideal") == "k"
        graded = {"err", "insq", "inst", "bpm", "nerr", "sdcg"}
        return self.name in graded or (self.name in {"dcg", "ndcg"} and not binary)


def has_rank(row: Row) -> bool:
    return row.get("rank") is not None and math.isfinite(row["rank"])


def is_one_list(rows: Rows) -> bool:
    """Whether no more items stand above the last rank than there are places, as in one list, with ties and gaps."""
    ranked = [row for row in rows if has_rank(row)]
    last = max((row["rank"] for row in ranked), default=math.inf)
    above = {row["item"] for row in ranked if row["item"] is not None and row["rank"] < last}
    return len(above) < last


def is_judged(row: Row) -> bool:
    return row.get("relevance") is not None


def identified(rows: Rows) -> list[Row]:
    return [row for row in rows if row["user"] is not None and row["item"] is not None]


def highest(values: Iterable[float | None]) -> float | None:
    """The highest number; null only where there is nothing else."""
    return max((value for value in values if value is not None), default=None)


def grouped(rows: Iterable[Row], *names: str) -> dict[tuple[Any, ...], list[Row]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(name) for name in names), []).append(row)
    return groups


def each_item_once(rows: Rows) -> list[Row]:
    """The rows of one list, each item at its best score (a null where that is no number) and its highest relevance."""
    result = []
    for same in grouped(rows, "item").values():
        score = highest(row["score"] for row in same)
        # where two rows of an item say the same, the first of them
        best = next((row for row in same if score is not None and row["score"] == score), same[0])
        result.append(
            {**best, "score": score, "relevance": highest(row.get("relevance") for row in same)}
        )
    return result


def ranked_by_score(
    rows: Rows, list_key: Sequence[str], ties: str = "item", truth: Rows = (), policy: Any = None
) -> list[Row]:
    """Ranks from scores: each item once at its best score, the highest first, ties by item; what is no number goes last.

    All rows of an item have its rank.
    """
    gains = gains_of(truth, policy) if policy else {}
    result: list[Row] = []
    for own in grouped(
        [{**row, "place": place} for place, row in enumerate(rows)], *list_key
    ).values():
        by_item = in_order_of_ties(each_item_once(own), ties, gains)
        # sorts keep the order of what is the same
        order = sorted(
            by_item, key=lambda row: (row["score"] is None, -as_compared(row["score"] or 0.0, ties))
        )
        ranks = {row["item"]: float(rank) for rank, row in enumerate(order, start=1)}
        if ties == "last":
            scores = {row["item"]: row["score"] for row in order}
            ranks = {item: at_the_last_place(item, scores, ranks) for item in ranks}
        result += [{**row, "rank": ranks[row["item"]]} for row in own]
    return result


def at_the_last_place(item: Any, values: Mapping[Any, Any], ranks: Mapping[Any, float]) -> float:
    """The last rank of the items that have a value in common."""
    return max(rank for other, rank in ranks.items() if values[other] == values[item])


def gains_of(truth: Rows, policy: Policy) -> dict[tuple[Any, Any], float]:
    gains: dict[tuple[Any, Any], float] = {}
    for row in truth:
        if policy.relevant(row["relevance"]):
            gains[row["user"], row["item"]] = max(
                gains.get((row["user"], row["item"]), 0), row["relevance"]
            )
    return gains


def in_order_of_ties(
    own: Iterable[Row], ties: str, gains: Mapping[tuple[Any, Any], float]
) -> list[Row]:
    """The items of a list as tied ones stand."""
    backwards = ties in {"item_reverse", "item_text_reverse", "item_desc"}
    by_item = sorted(own, key=lambda row: row["item"], reverse=backwards)
    if ties == "order":
        by_item.sort(key=lambda row: row["place"])
    elif ties in {"pessimistic", "optimistic"}:
        # a relevant item may gain 0, and stands on its side of those that are not relevant all the same
        by_item.sort(
            key=lambda row: gains.get((row["user"], row["item"]), -1), reverse=ties == "optimistic"
        )
    return by_item


def as_compared(score: float, ties: str) -> float:
    """The score as trec_eval stores it, in 32 bits, where its order is asked for."""
    return struct.unpack("f", struct.pack("f", score))[0] if ties == "item_desc" else score


def effective(hits: Iterable[tuple[float, Any, float]]) -> list[tuple[float, float]]:
    """(rank, gain) in the order (rank, item), no two ranks closer than 1."""
    result: list[tuple[float, float]] = []
    for rank, _, gain in sorted(hits):
        result.append((max(rank, result[-1][0] + 1) if result else rank, gain))
    return result


def ranked_list(rows: Rows, policy: Policy) -> RankedList:
    """One list from its judged rows; an item counts once, a relevant one at the best rank of its relevant rows."""
    items, hits, gains, n_not_relevant = [], [], [], 0
    from_truth = policy.relevant_from == "truth"
    for (item,), same in grouped(rows, "item").items():
        relevant = [row for row in same if policy.relevant(row["relevance"])]
        listed = [row for row in same if has_rank(row)]
        listed_relevant = [row for row in relevant if has_rank(row)]
        gain = highest(row["relevance"] for row in relevant)
        gain = max(gain, 0.0) if gain is not None and policy.min_relevance == "any" else gain
        if listed:
            rank = min(float(row["rank"]) for row in listed_relevant or listed)
            judged = [row["relevance"] for row in listed if is_judged(row)]
            graded = any(not relevance < 0 for relevance in judged)
            items.append(Listed(rank, bool(judged), bool(listed_relevant), graded))
        if listed_relevant:
            hits.append((rank, item, gain))
        if relevant if from_truth else listed_relevant:
            gains.append(gain)
        elif any(is_judged(row) for row in (same if from_truth else listed)):
            n_not_relevant += 1
    placed = (
        [(rank, gain) for rank, _, gain in sorted(hits)]
        if policy.ties == "last"
        else effective(hits)
    )
    return RankedList(items, placed, sorted(gains, reverse=True), n_not_relevant)


def is_in(row: Row, names: Sequence[str], values: Sequence[Any]) -> bool:
    return [row.get(name) for name in names] == [*values]


@dataclass(frozen=True)
class Parts:
    """The `by` columns by the frames that they filter; a user has one value of those `of_users`."""

    of_rows: list[str]
    of_items: list[str]
    of_users: dict[str, dict[Any, Any]]


def parts_of(case: Case) -> Parts:
    of_users = {
        name: values for name in case.by if (values := values_of_users(name, case)) is not None
    }
    items = case.items or ()
    of_items = [name for name in case.by if name == "item" or any(name in row for row in items)]
    others = {"user", "model", *of_users, *of_items}
    return Parts([name for name in case.by if name not in others], of_items, of_users)


def frames_with(names: Sequence[str], *frames: Rows | None) -> list[Row]:
    """The rows of the frames that have the columns."""
    return [row for rows in frames if rows and {*names} <= {*rows[0]} for row in identified(rows)]


def filtered(rows: Rows, names: Sequence[str], values: Sequence[Any]) -> list[Row]:
    """The rows with some values; a frame without one of the columns stays whole."""
    kept = {
        name: value for name, value in zip(names, values, strict=True) if rows and name in rows[0]
    }
    return [row for row in rows if is_in(row, [*kept], [*kept.values()])]


def ranked(case: Case, recs: Rows, truth: Rows) -> list[Row]:
    """The rows of the lists with the ranks that their scores make, if they have scores."""
    bound, policy = case.policy.model, case.policy
    keys = ["model", "user"] if bound else ["user"]
    if any("score" in row for row in recs):
        recs = ranked_by_score(recs, keys, policy.ties, truth, policy)
    return [row if bound else {**row, "model": None} for row in recs]


def models_of(case: Case) -> list[Any]:
    if not case.policy.model:
        return [None]
    recs = [
        row
        for row in identified(case.recs)
        if row["model"] is not None or has_rank(row) or "score" in row
    ]
    return list(dict.fromkeys(row["model"] for row in recs))


def judged_rows(case: Case, recs: Rows, truth: Rows, models: Sequence[Any]) -> list[Row]:
    """The judged rows, each under its model; a judged frame is its own truth, for all of its models."""
    return (
        [*recs] if case.truth is None and not case.policy.model else full_join(recs, truth, models)
    )


def universe(case: Case, recs: Rows, truth: Rows) -> set[Any]:
    recommended = {row["user"] for row in recs if has_rank(row)}
    judged_users = {row["user"] for row in truth}
    everyone = {row["user"] for row in recs} if case.truth is None else recommended | judged_users
    known = {row["user"] for row in case.users or () if row["user"] is not None}
    chosen = {
        "truth": judged_users,
        "recs": recommended,
        "both": judged_users & recommended,
        "all": everyone | known,
    }
    if case.policy.universe is not None:
        return chosen[case.policy.universe]
    return everyone if case.truth is None else judged_users


def full_join(recs: Rows, truth: Rows, models: Sequence[Any]) -> list[Row]:
    """The ranked rows with the relevance that the truth gives them, and the rows of the truth that a model does not rank."""
    rows: list[Row] = []
    judged_pairs = grouped(truth, "user", "item")
    for model in models:
        own = [row for row in recs if has_rank(row) and row.get("model") == model]
        for row in own:
            pairs = judged_pairs.get((row["user"], row["item"]))
            rows += [
                {**row, "relevance": one["relevance"]} for one in pairs or [{"relevance": None}]
            ]
        listed = grouped(own, "user", "item")
        rows += [
            {**row, "model": model, "rank": None}
            for row in truth
            if (row["user"], row["item"]) not in listed
        ]
    return rows


def judged_pairs(case: Case) -> dict[tuple[Any, ...], tuple[float | None, float | None]]:
    """The rank and the highest relevance of each pair of a user who counts, as `judge` has them."""
    case = with_relevance(without_nan(case))
    rows = identified(case.recs if case.truth is None else case.truth)
    truth = [row for row in rows if is_judged(row)]
    recs = ranked(case, identified(case.recs), truth)
    users = universe(case, recs, truth)
    keys = ["model"] * case.policy.model + ["user", "item"]
    of_users = [
        row for row in judged_rows(case, recs, truth, models_of(case)) if row["user"] in users
    ]
    found = {}
    for key, own in grouped(of_users, *keys).items():
        listed = [row for row in own if has_rank(row)]
        relevant = [row for row in listed if case.policy.relevant(row["relevance"])]
        rank = min((row["rank"] for row in relevant or listed), default=None)
        found[key] = (rank, highest(row["relevance"] for row in own))
    return found


def evaluate(asked: Sequence[Asked], case: Case) -> list[dict[str, Any]]:
    """One row for each segment, as `rec(...).evaluate(...)` returns them, in any order."""
    plain = replace(case, policy=replace(case.policy, min_relevance_for="all"))
    if case.policy.min_relevance_for == "all" or case.policy.min_relevance is None:
        return evaluate_all(asked, plain)
    gains = [one for one in asked if one.weighs_gains]
    others = [one for one in asked if not one.weighs_gains]
    if not gains:
        return evaluate_all(others, plain)
    of_gains = evaluate_all(gains, replace(plain, policy=replace(plain.policy, min_relevance=None)))
    return (
        together(evaluate_all(others, plain), of_gains, [*map(str, asked)]) if others else of_gains
    )


def together(
    own: list[dict[str, Any]], others: list[dict[str, Any]], names: list[str]
) -> list[dict[str, Any]]:
    """The rows of two results by their keys, with all `names`; n_users is that of the first, and no one where it has no row."""

    def keyed(rows: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
        return {
            tuple((name, row[name]) for name in row if name not in {"n_users", *names}): row
            for row in rows
        }

    first, second = keyed(own), keyed(others)
    nobody = {"n_users": 0} if any("n_users" in row for row in [*own, *others]) else {}
    return [
        {**dict.fromkeys(names), **second.get(key, {}), **nobody, **first.get(key, {}), **dict(key)}
        for key in {**first, **second}
    ]


def evaluate_all(asked: Sequence[Asked], case: Case) -> list[dict[str, Any]]:
    """One row for each segment: what the filtered frames say. Rows first, then ranks, then items."""
    case = prepared(case)
    parts, models = parts_of(case), models_of(case)
    by = keys_of(case)
    groups: dict[tuple[Any, ...], list[Counted]] = {}
    weights = weights_of(case)
    for part in case.cut:
        for listed, one in lists(case, part.recs, part.truth, models):
            of_user = {name: known.get(listed["user"]) for name, known in parts.of_users.items()}
            found = {**listed, **part.key, **of_user}
            counted = groups.setdefault(tuple(found[name] for name in by), [])
            weight = 1.0 if weights is None else weights.get(listed["user"], 0.0)
            has_value = one.n_relevant or case.policy.no_relevant == "zero"
            if has_value or case.policy.no_relevant == "null":
                added = [metric.value(one) for metric in asked]
                present = added if has_value and weight else [None] * len(asked)
                counted.append(Counted(weight, present))
    for key_of_all in [()] if not by else [(model,) for model in models] if by == ["model"] else []:
        groups.setdefault(key_of_all, [])
    always = set(by) <= {"model"}
    kept = {key for key, values in groups.items() if values or always}
    # a part of one model is one of all models
    of_parts = {tuple(part_of(key, by).items()) for key in kept}
    return [
        means(asked, dict(zip(by, key, strict=True)), values)
        for key, values in groups.items()
        if key in kept or ("user" not in by and tuple(part_of(key, by).items()) in of_parts)
    ]


def prepared(case: Case) -> Case:
    return with_relevance(without_nan(case))


def keys_of(case: Case) -> list[str]:
    """The names of the columns that tell rows of a result apart."""
    return ["model"] * (case.policy.model and "model" not in case.by) + [*case.by]


@dataclass(frozen=True)
class Part:
    """What a segment of rows and items has: its lists with ranks, its judged rows, and the items in it, if it cuts items."""

    key: dict[str, Any]
    recs: Rows
    truth: Rows
    of_rows: tuple[Rows, Rows]
    """Lists and judged rows before items are cut."""
    inside: Callable[[Any], bool] | None = None


def cut(case: Case) -> Iterator[Part]:
    """Cut rows first, then rank, then cut items."""
    parts = parts_of(case)
    of_rows = grouped(frames_with(parts.of_rows, case.recs, case.truth), *parts.of_rows)
    for values in of_rows or {(): ()}:
        if len(values) != len(parts.of_rows):
            continue
        recs, truth = (
            filtered(identified(rows), parts.of_rows, values)
            for rows in (case.recs, case.recs if case.truth is None else case.truth)
        )
        truth = [row for row in truth if is_judged(row)]
        key = dict(zip(parts.of_rows, values, strict=True))
        known = [row["item"] for row in [*recs, *truth]]
        for part in of_items(case, parts, known, ranked(case, recs, truth), truth):
            yield replace(part, key={**key, **part.key})


@dataclass(frozen=True)
class Counted:
    """A user of a segment: their weight, and what their list adds to each metric."""

    weight: float
    values: Sequence[Value]


def weights_of(case: Case) -> dict[Any, float] | None:
    """The users' weights; a user without a weight has no part in a mean."""
    if not case.policy.weight:
        return None
    return {row["user"]: row["weight"] for row in case.users or () if row["weight"] is not None}


def part_of(key: Sequence[Any], by: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in zip(by, key, strict=True) if name != "model"}


def of_items(
    case: Case, parts: Parts, known: Sequence[Any], recs: Rows, truth: Rows
) -> Iterator[Part]:
    """Ranked lists and truth for each value that the known items have of the columns that describe them."""
    if not parts.of_items:
        yield Part({}, recs, truth, (recs, truth))
        return
    described = {row["item"]: row for row in case.items or ()}

    def values_of(item: Any) -> tuple[Any, ...]:
        row = {**described.get(item, {}), "item": item}
        return tuple(row.get(name) for name in parts.of_items)

    for values in dict.fromkeys(map(values_of, known)):

        def inside(item: Any, values: Any = values) -> bool:
            return values_of(item) == values

        own = [[row for row in rows if inside(row["item"])] for rows in (recs, truth)]
        yield Part(dict(zip(parts.of_items, values, strict=True)), *own, (recs, truth), inside)


def without_nan(case: Case) -> Case:
    """The same rows with null for NaN, which pandas cannot tell from it."""

    def plain(rows: Rows | None) -> Any:
        return rows and [
            {name: None if value != value else value for name, value in row.items()}  # noqa: PLR0124  NaN is no number
            for row in rows
        ]

    return replace(
        case, **{name: plain(getattr(case, name)) for name in ("recs", "truth", "users", "items")}
    )


def with_relevance(case: Case) -> Case:
    """Without a relevance every row of the truth counts 1."""
    if case.truth is None or any("relevance" in row for row in case.truth):
        return case
    return replace(case, truth=[{**row, "relevance": 1} for row in case.truth])


def values_of_users(name: str, case: Case) -> dict[Any, Any] | None:
    """Each user's value of a `by` column that is a property of the user: of `users`, or of the lists alone."""
    holders = [rows for rows in (case.recs, case.truth, case.users) if rows and name in rows[0]]
    if (
        name in {"user", "item", "model"}
        or len(holders) != 1
        or holders[0] is case.truth
        or (case.truth is None and holders[0] is case.recs)
    ):
        return None
    rows = holders[0] if holders[0] is case.users else identified(holders[0])
    return {row["user"]: row[name] for row in rows if row[name] is not None}


def lists(
    case: Case, recs: Rows, truth: Rows, models: Sequence[Any]
) -> Iterator[tuple[dict[str, Any], RankedList]]:
    """Each list of a user that counts, of each model."""
    found = judged_rows(case, recs, truth, models)
    rows = grouped(found, *(["model"] if case.policy.model else []), "user")
    for model in models:
        for user in universe(case, recs, truth):
            own = rows.get((model, user) if case.policy.model else (user,), [])
            yield {"model": model, "user": user}, ranked_list(own, case.policy)


def means(
    asked: Sequence[Asked], key: dict[str, Any], counted: Sequence[Counted]
) -> dict[str, Any]:
    row = key if "user" in key else {**key, "n_users": len(counted)}
    for number, metric in enumerate(asked):
        present = [
            (one.weight, one.values[number]) for one in counted if one.values[number] is not None
        ]
        row[str(metric)] = mean(present) if present else None
    return row


def total(weighted: Iterable[tuple[float, float]]) -> float:
    return math.fsum(weight * value for weight, value in weighted)


def average(weighted: Sequence[tuple[float, float]]) -> float:
    return total(weighted) / math.fsum(weight for weight, _ in weighted)


def mean(present: Sequence[tuple[float, Any]]) -> float:  # noqa: PLR0911  one for each kind of mean
    """The mean of weighted values, or what is made of sums over them."""

    def of(name: str) -> list[tuple[float, float]]:
        return [(weight, getattr(value, name)) for weight, value in present]

    first = present[0][1]
    if isinstance(first, FOfMeans):
        return harmonic_mean(average(of("p")), average(of("r")), first.beta)
    if isinstance(first, OfCurves):
        cuts = range(len(first.curve))
        means = [
            [average([(w, one.curve[at][side]) for w, one in present]) for side in (0, 1)]
            for at in cuts
        ]
        return max([r for p, r in means if p > first.precision - 1e-9], default=0.0)
    if isinstance(first, OfRatio):
        return ratio(total(of("part")), total(of("whole")))
    if isinstance(first, FOfSums):
        hits = total(of("hits"))
        p, r = ratio(hits, total(of("places"))), ratio(hits, total(of("n_relevant")))
        return harmonic_mean(p, r, first.beta)
    if isinstance(first, OfGeometricMean):
        return math.exp(average([(w, math.log(max(value, 0.00001))) for w, value in of("value")]))
    if isinstance(first, OfWeightedMean):
        return average([(weight * one.weight, one.value) for weight, one in present])
    return average(present)
