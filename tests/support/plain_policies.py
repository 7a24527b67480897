"""The contract said a second time, in plain Python: every policy, from frames as lists of dict rows to lists by segment.

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

from plain_accuracy import METRICS, Listed, RankedList, Value

Row = Mapping[str, Any]
Rows = Sequence[Row]


@dataclass(frozen=True)
class Policy:
    """The switches of `rec(...)`; `model` and `weight` say whether these columns are bound."""

    universe: str | None = None
    no_relevant: str = "zero"
    min_relevance: float | str | None = None
    relevant_from: str = "truth"
    model: bool = False
    min_relevance_for: str = "all"
    ties: str = "item"
    weight: bool = False

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
    def keys(self) -> list[str]:
        """The names of the columns that tell rows of a result apart."""
        return ["model"] * (self.policy.model and "model" not in self.by) + [*self.by]

    @cached_property
    def judged(self) -> Rows:
        """The frame that says what is relevant."""
        return self.recs if self.truth is None else self.truth

    @cached_property
    def models(self) -> list[Any]:
        if not self.policy.model:
            return [None]
        recs = [
            row
            for row in identified(self.recs)
            if row["model"] is not None or has_rank(row) or "score" in row
        ]
        return list(dict.fromkeys(row["model"] for row in recs))

    @cached_property
    def weights(self) -> dict[Any, float] | None:
        """The users' weights, if they weigh; a user without a weight has no part in a mean."""
        rows = self.users or ()
        own = {row["user"]: row["weight"] for row in rows if row.get("weight") is not None}
        return own if self.policy.weight else None

    @cached_property
    def of_users(self) -> dict[str, dict[Any, Any]]:
        """The users' values of the `by` columns of which a user has one."""
        found = {name: values_of_users(name, self) for name in self.by}
        return {name: values for name, values in found.items() if values is not None}

    @cached_property
    def of_items(self) -> list[str]:
        items = self.items or ()
        return [name for name in self.by if name == "item" or any(name in row for row in items)]

    @cached_property
    def of_rows(self) -> list[str]:
        others = {"user", "model", *self.of_users, *self.of_items}
        return [name for name in self.by if name not in others]


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
        cut_off = "" if self.k is None else f"@{self.k}"
        return self.name + (f"({settings})" if settings else "") + cut_off

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
    in_place = [{**row, "place": place} for place, row in enumerate(rows)]
    for own in grouped(in_place, *list_key).values():
        by_item = in_order_of_ties(each_item_once(own), ties, gains)
        # sorts keep the order of what is the same
        order = sorted(by_item, key=lambda row: place_of(row["score"], ties))
        ranks = {row["item"]: float(rank) for rank, row in enumerate(order, start=1)}
        if ties == "last":
            last = {row["score"]: ranks[row["item"]] for row in order}
            ranks = {row["item"]: last[row["score"]] for row in order}
        result += [{**row, "rank": ranks[row["item"]]} for row in own]
    return result


def gains_of(truth: Rows, policy: Policy) -> dict[tuple[Any, Any], float]:
    """The highest relevance of each relevant pair, and 0 at least."""
    relevant = [row for row in truth if policy.relevant(row["relevance"])]
    pairs = grouped(relevant, "user", "item")
    return {pair: max(0, *(row["relevance"] for row in own)) for pair, own in pairs.items()}


def in_order_of_ties(
    own: Iterable[Row], ties: str, gains: Mapping[tuple[Any, Any], float]
) -> list[Row]:
    """The items of a list as tied ones stand."""
    backwards = ties in {"item_reverse", "item_text_reverse", "item_desc"}
    by_item = sorted(own, key=lambda row: row["item"], reverse=backwards)
    if ties == "order":
        return sorted(by_item, key=lambda row: row["place"])
    if ties in {"pessimistic", "optimistic"}:
        # a relevant item may gain 0, and stands on its side of those that are not relevant all the same
        found = [gains.get((row["user"], row["item"]), -1) for row in by_item]
        order = sorted(range(len(found)), key=found.__getitem__, reverse=ties == "optimistic")
        return [by_item[place] for place in order]
    return by_item


def place_of(score: float | None, ties: str) -> tuple[bool, float]:
    """What orders scores; of trec_eval's order they are stored as there, in 32 bits."""
    number = score or 0.0
    if ties == "item_desc":
        (number,) = struct.unpack("f", struct.pack("f", number))
    return score is None, -number


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
    of_ties = [(rank, gain) for rank, _, gain in sorted(hits)]
    placed = of_ties if policy.ties == "last" else effective(hits)
    return RankedList(items, placed, sorted(gains, reverse=True), n_not_relevant)


def ranked(case: Case, recs: Rows, truth: Rows) -> list[Row]:
    """The rows of the lists with the ranks that their scores make, if they have scores."""
    bound, policy = case.policy.model, case.policy
    if any("score" in row for row in recs):
        keys = ["model", "user"] if bound else ["user"]
        recs = ranked_by_score(recs, keys, policy.ties, truth, policy)
    return [row if bound else {**row, "model": None} for row in recs]


def judged_rows(case: Case, recs: Rows, truth: Rows) -> list[Row]:
    """The judged rows, each under its model; a judged frame is its own truth, for all of its models.

    Those of two frames are the ranked rows with the relevance that the truth gives them, and the rows of the truth that a
    model does not rank.
    """
    if case.truth is None and not case.policy.model:
        return [*recs]
    rows: list[Row] = []
    pairs = grouped(truth, "user", "item")
    for model in case.models:
        own = [row for row in recs if has_rank(row) and row.get("model") == model]
        for row in own:
            same = pairs.get((row["user"], row["item"]), [{"relevance": None}])
            rows += [{**row, "relevance": one["relevance"]} for one in same]
        listed = grouped(own, "user", "item")
        left = [row for row in truth if (row["user"], row["item"]) not in listed]
        rows += [{**row, "model": model, "rank": None} for row in left]
    return rows


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
        None: everyone if case.truth is None else judged_users,
    }
    return chosen[case.policy.universe]


def judged_pairs(case: Case) -> dict[tuple[Any, ...], tuple[float | None, float | None]]:
    """The rank and the highest relevance of each pair of a user who counts, as `judge` has them."""
    case = prepared(case)
    truth = [row for row in identified(case.judged) if is_judged(row)]
    recs = ranked(case, identified(case.recs), truth)
    users = universe(case, recs, truth)
    keys = ["model"] * case.policy.model + ["user", "item"]
    found = {}
    of_users = [row for row in judged_rows(case, recs, truth) if row["user"] in users]
    for key, own in grouped(of_users, *keys).items():
        listed = [row for row in own if has_rank(row)]
        relevant = [row for row in listed if case.policy.relevant(row["relevance"])]
        rank = min((row["rank"] for row in relevant or listed), default=None)
        found[key] = (rank, highest(row["relevance"] for row in own))
    return found


def prepared(case: Case) -> Case:
    """The same rows with null for NaN, which pandas cannot tell from it, and 1 for a relevance that no row has."""

    def plain(rows: Rows | None) -> Any:
        return rows and [
            {name: None if value != value else value for name, value in row.items()}  # noqa: PLR0124  NaN is no number
            for row in rows
        ]

    sides = {name: plain(getattr(case, name)) for name in ("recs", "truth", "users", "items")}
    if sides["truth"] and not any("relevance" in row for row in sides["truth"]):
        sides["truth"] = [{**row, "relevance": 1} for row in sides["truth"]]
    return replace(case, **sides)


def values_of_users(name: str, case: Case) -> dict[Any, Any] | None:
    """Each user's value of a `by` column that is a property of the user: of `users`, or of the lists alone."""
    holders = [rows for rows in (case.recs, case.truth, case.users) if rows and name in rows[0]]
    if name in {"user", "item", "model"} or len(holders) != 1 or holders[0] is case.judged:
        return None
    rows = holders[0] if holders[0] is case.users else identified(holders[0])
    return {row["user"]: row[name] for row in rows if row[name] is not None}


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
    names = case.of_rows
    holders = [rows for rows in (case.recs, case.truth) if rows and {*names} <= {*rows[0]}]
    of_rows = grouped([row for rows in holders for row in identified(rows)], *names)
    for values in of_rows or [()]:
        if len(values) != len(names):
            continue
        key = dict(zip(names, values, strict=True))
        recs, truth = (filtered(rows, key) for rows in (case.recs, case.judged))
        truth = [row for row in truth if is_judged(row)]
        known = [row["item"] for row in [*recs, *truth]]
        for part in of_items(case, known, ranked(case, recs, truth), truth):
            yield replace(part, key={**key, **part.key})


def filtered(rows: Rows, key: Row) -> list[Row]:
    """The rows with some values; a frame without one of the columns stays whole."""
    kept = {name: value for name, value in key.items() if rows and name in rows[0]}
    return [row for row in identified(rows) if all(row[name] == kept[name] for name in kept)]


def of_items(case: Case, known: Sequence[Any], recs: Rows, truth: Rows) -> Iterator[Part]:
    """Ranked lists and truth for each value that the known items have of the columns that describe them."""
    names, described = case.of_items, {row["item"]: row for row in case.items or ()}
    if not names:
        yield Part({}, recs, truth, (recs, truth))
        return

    def values_of(item: Any) -> tuple[Any, ...]:
        row = {**described.get(item, {}), "item": item}
        return tuple(row.get(name) for name in names)

    for values in dict.fromkeys(map(values_of, known)):

        def inside(item: Any, values: Any = values) -> bool:
            return values_of(item) == values

        own = [[row for row in rows if inside(row["item"])] for rows in (recs, truth)]
        yield Part(dict(zip(names, values, strict=True)), *own, (recs, truth), inside)
