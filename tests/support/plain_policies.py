"""The contract said a second time, in plain Python: every policy, from frames as lists of dict rows to means by segment.

Written from the design, not from the library: dicts and loops. Rows have the keys user, item, rank or score, relevance,
model, and segments of their own; a missing key is a null.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from plain_accuracy import (
    METRICS,
    FOfMeans,
    Listed,
    OfGeometricMean,
    OfWeightedMean,
    RankedList,
    Value,
    harmonic_mean,
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


@dataclass(frozen=True)
class Asked:
    """A metric with its parameters and its cut-off."""

    name: str
    k: int | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        settings = ",".join(f"{name}={value}" for name, value in self.parameters.items())
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
        return self.name == "err" or (self.name in {"dcg", "ndcg"} and not binary)


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


def told_apart(
    recs: Rows, list_key: Sequence[str], truth: Rows, policy: Policy, *, own: bool
) -> list[Row]:
    """The rows with effective ranks: max(rank, the one before + 1), equal ranks in the order of the policy's ties.

    `own` says that the rows are a judged frame's, where an item's best rank is that of its relevant rows.
    """
    gains = gains_of(truth, policy)
    result: list[Row] = []
    for rows in grouped(
        [{**row, "place": place} for place, row in enumerate(recs)], *list_key
    ).values():
        once = []
        for same in grouped([row for row in rows if has_rank(row)], "item").values():
            relevant = [row for row in same if own and policy.relevant(row["relevance"])]
            rank = min(row["rank"] for row in relevant or same)
            once.append(
                {
                    **same[0],
                    "rank": rank,
                    "place": min(row["place"] for row in same if row["rank"] == rank),
                }
            )
        order = sorted(in_order_of_ties(once, policy.ties, gains), key=lambda row: row["rank"])
        effective_ranks = [
            rank
            for rank, _ in effective((row["rank"], place, 0.0) for place, row in enumerate(order))
        ]
        ranks = {row["item"]: rank for row, rank in zip(order, effective_ranks, strict=True)}
        if policy.ties == "last":
            as_given = {row["item"]: row["rank"] for row in order}
            ranks = {item: at_the_last_place(item, as_given, ranks) for item in ranks}
        result += [{**row, "rank": ranks[row["item"]]} if has_rank(row) else row for row in rows]
    return result


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
            items.append(Listed(rank, any(is_judged(row) for row in listed), bool(listed_relevant)))
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


@dataclass(frozen=True)
class Judged:
    """The judged rows, each under its model; the models; and the users that count."""

    rows: list[Row]
    models: list[Any]
    universe: set[Any]


def judge(case: Case, row_columns: Sequence[str]) -> Judged:
    """Hold the recommendations against the truth; a judged frame is its own truth, for all of its models."""
    recs, bound = identified(case.recs), case.policy.model
    truth = [
        row for row in identified(recs if case.truth is None else case.truth) if is_judged(row)
    ]
    if any("score" in row for row in recs):
        recs = ranked_by_score(
            recs, ["model", "user"] if bound else ["user"], case.policy.ties, truth, case.policy
        )
    elif case.policy.ties != "item":
        recs = told_apart(
            recs,
            ["model", "user"] if bound else ["user"],
            truth,
            case.policy,
            own=case.truth is None and not bound,
        )
    models = (
        [row["model"] for row in recs if row["model"] is not None or has_rank(row)]
        if bound
        else [None]
    )
    models = list(dict.fromkeys(models))
    if not bound:
        recs = [{**row, "model": None} for row in recs]
    on = ["user", "item"] if case.truth is not None else ["user", "item", *row_columns]
    rows = (
        recs
        if case.truth is None and not bound
        else full_join(recs, truth, models, on, row_columns)
    )
    rows = rows + (
        # a row that says nothing is one of its user
        [row for row in recs if not (has_rank(row) or is_judged(row))]
        if case.truth is None and bound
        else []
    )
    return Judged(rows, models, universe(case, recs, truth))


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


def filled(rows: Rows, others: Rows, on: Sequence[str], name: str) -> list[Row]:
    """Return rows with the segments of their pair in other rows, where they have none."""
    known = grouped([row for row in others if row.get(name) is not None], *on)
    found = []
    for row in rows:
        pairs = known.get(tuple(row.get(one) for one in on), [])
        values = {other[name] for other in pairs} if row.get(name) is None else set()
        found += [{**row, name: value} for value in values or {row.get(name)}]
    return found


def full_join(
    recs: Rows, truth: Rows, models: Sequence[Any], on: Sequence[str], row_columns: Sequence[str]
) -> list[Row]:
    """The ranked rows with the relevance that the truth gives them, and the rows of the truth that a model does not rank.

    In two frames a row whose segment is null stands in those that the other frame has its pair in.
    """
    columns = [*on, *(name for name in row_columns if name not in on)]
    rows: list[Row] = []
    for model in models:
        own = [row for row in recs if has_rank(row) and row.get("model") == model]
        judged_rows = truth
        for name in columns[len(on) :]:
            own, judged_rows = (
                filled(own, judged_rows, on, name),
                filled(judged_rows, own, on, name),
            )
        judged_pairs = grouped(judged_rows, *columns)
        for row in own:
            pairs = judged_pairs.get(tuple(row.get(name) for name in columns))
            rows += [
                {**row, "relevance": one["relevance"]} for one in pairs or [{"relevance": None}]
            ]
        listed = grouped(own, *columns)
        rows += [
            {**row, "model": model, "rank": None}
            for row in judged_rows
            if tuple(row.get(name) for name in columns) not in listed
        ]
    return rows


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
    case = with_items(with_relevance(without_nan(case)))
    of_users = {
        name: values for name in case.by if (values := values_of_users(name, case)) is not None
    }
    row_columns = [
        name for name in case.by if name not in of_users and name not in {"user", "model"}
    ]
    judged_rows = judge(case, row_columns)
    by = ["model", *case.by] if case.policy.model and "model" not in case.by else list(case.by)
    groups: dict[tuple[Any, ...], list[list[Any]]] = {}
    for key, one in lists(judged_rows, row_columns, case.policy):
        key |= {name: values.get(key["user"]) for name, values in of_users.items()}
        counted = groups.setdefault(tuple(key[name] for name in by), [])
        if one.n_relevant or case.policy.no_relevant == "zero":
            counted.append([metric.value(one) for metric in asked])
        elif case.policy.no_relevant == "null":
            counted.append([None] * len(asked))
    for key in (
        [()] if not by else [(model,) for model in judged_rows.models] if by == ["model"] else []
    ):
        groups.setdefault(key, [])
    always = set(by) <= {"model"}
    return [
        means(asked, dict(zip(by, key, strict=True)), values)
        for key, values in groups.items()
        if values or always
    ]


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


def with_items(case: Case) -> Case:
    """The same rows with the `by` columns that describe their items."""
    described = {row["item"]: row for row in case.items or ()}
    names = {
        name for row in described.values() for name in row if name in case.by and name != "item"
    }

    def joined(rows: Rows) -> Rows:
        return [
            {**row, **{name: described.get(row["item"], {}).get(name) for name in names}}
            for row in rows
        ]

    return replace(
        case,
        recs=joined(case.recs),
        truth=None if case.truth is None else joined(case.truth),
        items=None,
    )


def values_of_users(name: str, case: Case) -> dict[Any, Any] | None:
    """Each user's value of a `by` column that is a property of the user: of `users`, or of one of two frames alone."""
    holders = [rows for rows in (case.recs, case.truth, case.users) if rows and name in rows[0]]
    if (
        name in {"user", "item", "model"}
        or len(holders) != 1
        or (case.truth is None and holders[0] is case.recs)
    ):
        return None
    rows = [row for row in holders[0] if is_judged(row)] if holders[0] is case.truth else holders[0]
    rows = rows if holders[0] is case.users else identified(rows)
    return {row["user"]: row[name] for row in rows if row[name] is not None}


def lists(
    found: Judged, row_columns: Sequence[str], policy: Policy
) -> Iterator[tuple[dict[str, Any], RankedList]]:
    """Each list of a user that counts: once, or once in each segment of rows where any model has a row of theirs."""
    names = ["user", *row_columns]
    rows = grouped(found.rows, *(["model"] if policy.model else []), *names)
    members = {(user,) for user in found.universe}
    if row_columns:
        members = {key for key in grouped(found.rows, *names) if key[0] in found.universe}
    for model in found.models:
        for member in members:
            own = rows.get((model, *member) if policy.model else member, [])
            yield (
                {"model": model, **dict(zip(names, member, strict=True))},
                ranked_list(own, policy),
            )


def means(
    asked: Sequence[Asked], key: dict[str, Any], values: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    row = key if "user" in key else {**key, "n_users": len(values)}
    for number, metric in enumerate(asked):
        present = [value[number] for value in values if value[number] is not None]
        row[str(metric)] = mean(present) if present else None
    return row


def mean(present: Sequence[Any]) -> float:
    if isinstance(present[0], FOfMeans):
        return harmonic_mean(
            mean([one.p for one in present]), mean([one.r for one in present]), present[0].beta
        )
    if isinstance(present[0], OfGeometricMean):
        return math.exp(
            math.fsum(math.log(max(one.value, 0.00001)) for one in present) / len(present)
        )
    if isinstance(present[0], OfWeightedMean):
        weighed = math.fsum(one.weight * one.value for one in present)
        return weighed / math.fsum(one.weight for one in present)
    return math.fsum(present) / len(present)
