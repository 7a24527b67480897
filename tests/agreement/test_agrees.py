"""recframe against the plain definitions: every two choices of a call meet in a row, and a row asks some of all metrics."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import random_cases
import recframe as rf
from covering import Row, pairwise
from forms import (
    BEYOND,
    BUILTIN,
    CHOICES,
    EVERYTHING,
    FEATURELESS,
    OF_PROPENSITIES,
    VARIANTS,
    forms_of,
    stops_at_k,
)
from plain_accuracy import METRICS
from plain_calls import COUNTED, evaluate
from plain_policies import Asked, Case, Policy, grouped, identified, is_one_list, judged_pairs
from random_cases import CASES, NOBODY, SEGMENTS, seeded, with_segments_of_rows
from strategies import examples
from tied_lists import is_certain_of_ties
from ways_to_run import EAGER, LARGE, OTHERS, WAYS, Way

# random frames may have no rank at all, or a `by` column on some rows of a user alone
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
# they have definitions of their own: plain_propensity.py, test_auc_of_catalogue.py
OF_OTHER_FRAMES = {"weights", "exponent", "min_propensity", "over"}
PLAIN_KINDS = {"polars", "lazy", "streaming", "pandas", "pandas-arrow", "arrow", "precomputed"}
CALLS = {
    "way": WAYS,
    "order": ["rank", *random_cases.TIES, "last"],
    "by": SEGMENTS,
    "universe": [None, "truth", "recs", "both", "all"],
    "shape": [*CASES],
    "segments of": ["ids", "rows"],
    "no_relevant": ["zero", "skip", "null"],
    "min_relevance": [None, 0.5, 2, "any"],
    "min_relevance_for": ["all", "binary"],
    "relevant_from": ["truth", "list"],
    "model": [False, True],
    "weight": [False, True],
    "ids": ["text", "integers"],
    "beside": ["all", "nothing", "no items", "no features", *(f"nobody's {one}" for one in NOBODY)],
    "propensity": [None, "popularity", "given"],
}
"""What stands beside the lists: all side frames, or nothing, where metrics of one list alone are asked."""


def is_call(row: Row) -> bool:
    """Whether a row, or a part of it, is a call that its way can make."""
    way, by = getattr(row.get("way"), "name", ""), row.get("by", ())
    order, beside = row.get("order"), row.get("beside", "nothing")
    of_rows, is_judged = row.get("segments of") == "rows", row.get("shape") == "judged"
    of_all = row.get("universe") == "all"
    of_some = row.get("min_relevance_for") == "binary" and row.get("min_relevance") is not None
    is_cut = {"shelf", "item"} & {*by} or (by and of_rows)
    refused = [
        of_rows and "by" in row and not {"country", "shelf"} & {*by},
        # the order of rows is another
        way in {"buckets", "shuffled", "batches"} and order == "order",
        # rows of users are no sums, and no batch shows the catalogue of all
        way == "batches" and ("user" in by or of_all or beside == "no items"),
        # NumPy has no null integer, and trec_eval compares digits
        row.get("ids") == "integers" and (way == "pandas" or order == "item_desc"),
        # no bucket shows the segments to users of other buckets
        way == "buckets" and of_all and is_cut,
        # a level of some metrics alone, and whole ties, are of one list
        beside != "nothing" and (of_some or order == "last"),
        beside == "no items" and "shelf" in by and not of_rows,
        beside in {"nobody's recs", "nobody's truth"} and is_judged,
        # propensities are of a truth, and weighted metrics take ranks that differ
        row.get("propensity") and (is_judged or beside == "nothing" or order not in {None, "rank"}),
    ]
    return not any(refused)


def a_call(row: Row, place: int, size: random_cases.Size = (60, 9)) -> Case:
    choose, beside = seeded(f"call {place}").choice, row["beside"]
    order = "rank" if row["order"] == "rank" else "score"
    policy = Policy(**{name: row[name] for name in vars(Policy()) if name in row})
    policy = replace(policy, ties=row["order"]) if order == "score" else policy
    # a metric of whole lists has no value of a truth that is cut alone
    how = {"by": row["by"], "cuts_truth": beside == "nothing"}
    case = CASES[row["shape"]](choose, size, order, policy, **how)
    if row["segments of"] == "rows":
        users = case.users if policy.weight else None
        bare = [{name: one[name] for name in ("user", "weight")} for one in users or ()] or None
        case = with_segments_of_rows(choose, replace(case, users=bare, items=None))
    if beside != "nothing":
        case = random_cases.with_sides(choose, case, size)
        case = random_cases.agreeing(choose, case) if row["shape"] == "judged" else case
        if row["propensity"]:
            is_given = row["propensity"] == "given"
            case = random_cases.with_propensity(choose, case, is_given=is_given)
        case = random_cases.without(case, beside.rpartition(" ")[2])
    return random_cases.with_integers(case) if row["ids"] == "integers" else case


def dtypes_of(row: Row) -> dict[str, Any]:
    return random_cases.INTEGERS if row["ids"] == "integers" else {}


class Turn:
    """Forms of metrics in turn: each row of a table asks those that were asked least."""

    def __init__(self, name: str, forms: Sequence[Any]) -> None:
        self.forms = seeded(f"turn {name}").sample([*forms], len(forms))
        self.times = dict.fromkeys(map(repr, self.forms), 0)

    def take(self, number: int, holds: Callable[[Any], bool]) -> list[Any]:
        """Return the next forms that hold."""
        self.forms.sort(key=lambda one: self.times[repr(one)])
        found = [*itertools.islice(filter(holds, self.forms), number)]
        for one in found:
            self.times[repr(one)] += 1
        return found


def holds(row: Row) -> Callable[[Asked], bool]:
    """Whether a metric has a value in a row, and needs no list of another bucket, part or batch."""
    way, featureless = row["way"].name, row["beside"] in {"no items", "no features"}

    def one(asked: Asked) -> bool:
        parameters = asked.parameters
        refused = [
            row["order"] == "last" and not is_certain_of_ties(asked),
            featureless and "of" in parameters,
            asked.name == "exposure_disparity" and "of" not in parameters and not featureless,
            row["weight"] and asked.name not in METRICS.keys() | COUNTED.keys(),
        ]
        if asked.name == "personalization":
            against_all = parameters.get("similarity") == "overlap" or "user" in row["by"]
            refused += [
                way in {"buckets", "parts", "batches"} and against_all,
                way == "batches" and parameters.get("against") == "all",
            ]
        return not any(refused)

    return one


SEVERAL_PLANS = {"buckets", "parts", "batches", "cached"}
"""Ways that make several plans of a call, of which a row asks fewer metrics."""
TURNS = {
    "accuracy": Turn("accuracy", EVERYTHING),
    "beyond": Turn("beyond", [*BEYOND, *FEATURELESS]),
    "propensity": Turn("propensity", OF_PROPENSITIES),
}


def forms_in_turn(row: Row) -> list[Asked]:
    few, beside = row["way"].name in SEVERAL_PLANS, row["beside"] != "nothing"
    numbers = {"accuracy": 10 if few else 18, "propensity": 18}
    numbers["beyond"] = 8 if row["weight"] else 12 if few else 28
    names = ["accuracy", *["beyond"] * beside, *["propensity"] * bool(row["propensity"])]
    return [form for name in names for form in TURNS[name].take(numbers[name], holds(row))]


ROWS = [(row, forms_in_turn(row)) for row in pairwise(CALLS, is_call)]


def named(row: Row) -> str:
    return "-".join(str(one) for one in row.values())


@pytest.mark.parametrize("place", range(len(ROWS)), ids=[named(row) for row, _ in ROWS])
def test_a_call_agrees(place: int):
    row, asked = ROWS[place]
    random_cases.check(a_call(row, place), asked, row["way"], dtypes_of(row))


def test_each_form_is_asked_twice():
    for turn in TURNS.values():
        assert {name for name, number in turn.times.items() if number < 2} == set()


def test_each_metric_and_each_choice_of_its_parameters_is_tried():
    tried = {name: [own for one, own in VARIANTS if one == name] for name in METRICS}
    tried |= {name: [*own] for name, own in CHOICES.items()}
    assert tried.keys() == BUILTIN.keys()
    for name, metric in BUILTIN.items():
        for parameter, about in metric.definition.parameters.items():
            if parameter in OF_OTHER_FRAMES:
                continue
            values = {one.get(parameter, about.default) for one in tried[name]}
            kind, choices = metric.definition.kinds[parameter]
            assert values >= (set(choices) if kind is Literal else set())
            assert len(values) > 1, (name, parameter)


def drawn(rng: random.Random) -> Row:
    row = {name: rng.choice(values) for name, values in CALLS.items()}
    return row if is_call(row) else drawn(rng)


@settings(examples(30), phases=[Phase.generate])
@given(seed=st.integers(0, 2**32))
def test_small_cases_agree(seed: int):
    """Of one to eight rows, where one id or rank is all that stands in a segment."""
    rng = seeded(f"small {seed}")
    row = drawn(rng)
    forms = [EVERYTHING, *[BEYOND] * (row["beside"] != "nothing")]
    asked = [one for some in forms for one in rng.sample([*filter(holds(row), some)], 4)]
    case = a_call(row, seed, (rng.randint(1, 8), rng.randint(1, 3)))
    random_cases.check(case, asked, row["way"], dtypes_of(row))


UNBOUND = [place for place, (row, _) in enumerate(ROWS) if not row["by"] and row["order"] != "last"]


@pytest.mark.parametrize("place", UNBOUND, ids=[named(ROWS[place][0]) for place in UNBOUND])
def test_the_judged_frame_has_each_pair_of_a_user_who_counts_once(place: int):
    row = ROWS[place][0]
    case, way = a_call(row, place), row["way"] if row["way"].name in PLAIN_KINDS else EAGER
    found = way.read(random_cases.bound(case, way, dtypes=dtypes_of(row)).judge())
    expected = judged_pairs(case)
    assert found.columns == ["model"] * row["model"] + ["user", "item", "rank", "relevance"]
    assert len(found) == len(expected)
    for *key, rank, relevance in found.rows():
        assert (rank, relevance) == expected[tuple(key)]


LISTS = random_cases.judged_case(
    seeded("expressions").choice, (150, 20), policy=Policy(), by=("user",)
)
FORMS = [
    Asked(name, 3 if place % 2 or stops_at_k(name, own) else None, own)
    for place, (name, own) in enumerate(VARIANTS)
    if name != "inst" or not own  # whose steps take a second to plan
]


@pytest.mark.parametrize("place", range(8))
def test_expressions_agree(place: int):
    """Those of a group are the values of its list; nothing is shared in one aggregation, so that some are asked at a time."""
    names, asked = ("user", "item", "rank", "relevance"), FORMS[place::8]
    own = [{name: row[name] for name in names} for row in identified(LISTS.recs)]
    lists = [rows for rows in grouped(own, "user").values() if is_one_list(rows)]
    case = Case([*itertools.chain(*lists)], by=("user",))
    frame, made = random_cases.frame(case.recs, {}), [rf.parse(str(one)).expr() for one in asked]
    expected = evaluate(asked, case)
    assert len(lists) > 5
    random_cases.compare(
        frame.group_by("user").agg(made).sort("user").to_dicts(), expected, ["user"]
    )
    one = frame.filter(user=lists[place][0]["user"]).select("user", *made[::3]).unique()
    own = [row for row in expected if row["user"] == lists[place][0]["user"]]
    few = [{name: row[name] for name in one.columns} for row in own]
    random_cases.compare(one.to_dicts(), few, ["user"])


def rows(names: str, text: str) -> list[dict[str, Any]]:
    """Read rows of which each value is a word, `-` being null; what names ids and segments is text."""
    texts = {"user", "item", "shelf", "model", "country"}
    read = [
        [None if one == "-" else one if name in texts else float(one) for name, one in pairs]
        for pairs in (zip(names.split(), row.split(), strict=True) for row in text.split(", "))
    ]
    return [dict(zip(names.split(), row, strict=True)) for row in read]


ITEMS = rows("item shelf", "A x, B y, C -, Z z")
LISTS_OF_TWO = rows("user item rank model", "u000 A 1 m1, u000 B 2 m2, u001 C 1 m1")
SCORED, JUDGED = "user item score relevance", "user item rank relevance"
OF_MODELS = f"{JUDGED} model"
PAST: dict[str, tuple[Case, str]] = {
    "a relevant item without a gain is tied with one that is not relevant": (
        Case(
            rows(SCORED, "u A - -1, u B - -"),
            policy=Policy(min_relevance="any", ties="pessimistic"),
        ),
        "hit_rate@1 recall precision@1",
    ),
    "zeros of two signs are one score": (
        Case(rows(SCORED, "u A 0 0, u B -0.0 1, u C -1 1"), policy=Policy(ties="last")),
        "recall@1 recall@2 mrr list_length@1 ndcg@2",
    ),
    "a relevance without a rank stands beside the ranked row of its item": (
        Case(rows(JUDGED, "u A 1 -, u A - 1, u B 2 0, u C 3 1, u C 4 -, u D 5 -1")),
        "judged judged@1 bpref infap auc recall@3 list_length@2 r_precision",
    ),
    "a user without a rank is in no segment of items where lists make the universe": (
        Case(
            rows(OF_MODELS, "u000 A 1 1 m1, u001 A - 1 m1, u001 B 1 0 m2"),
            items=ITEMS,
            by=("shelf",),
            policy=Policy(universe="recs", model=True),
        ),
        "recall ndcg@1 list_length hit_rate@1",
    ),
    "a user without a relevant item counts 1 beside lists without a hit": (
        Case(
            LISTS_OF_TWO,
            rows("user item relevance", "u000 A 1, u001 B 1"),
            items=ITEMS,
            by=("shelf",),
            policy=Policy(model=True),
        ),
        "ndcg(without_relevant=one)@2 map(without_relevant=one) first_rank auc recall",
    ),
    "everybody counts in each part of a row, and in no other": (
        Case(
            rows(OF_MODELS, "u000 A - - m1"),
            users=rows("user", "u000, zz, -"),
            items=ITEMS,
            by=("shelf",),
            policy=Policy(universe="all", model=True),
        ),
        "hit_rate recall@1",
    ),
    "a row without a model stands first": (
        Case(
            rows(OF_MODELS, "u000 A - 1 -, u000 B 1 0 m1, u001 A 1 1 m2, u001 A 2 1 m1"),
            policy=Policy(model=True),
        ),
        "recall mrr bpref judged",
    ),
    "a row that says nothing makes its user count in its segment of rows": (
        Case(
            rows(f"{JUDGED} country", "u000 A - - AT, u000 B 1 1 BE, u001 B 1 0 AT"),
            by=("country",),
        ),
        "recall mrr list_length",
    ),
    "users without a relevant item are skipped in each of two models": (
        Case(
            LISTS_OF_TWO,
            rows("user item relevance", "u000 B 1, u001 C 0"),
            policy=Policy(no_relevant="skip", model=True),
        ),
        "recall precision(average=pooled)@1 f_score(average=means) gauc map(average=geometric)",
    ),
}
"""Calls of which three choices together once had a wrong number."""


@pytest.mark.parametrize("way", [EAGER, LARGE, *OTHERS[:2]], ids=str)
@pytest.mark.parametrize("name", PAST)
def test_past_faults_stay_mended(name: str, way: Way):
    case, metrics = PAST[name]
    parsed = map(rf.parse, metrics.split())
    asked = [Asked(one.name, one.k, dict(one.settings)) for one in parsed]
    assert [*map(str, asked)] == metrics.split()
    random_cases.check(case, asked, way)


def test_an_item_that_only_the_reference_has_is_among_those_without_a_shelf():
    case = Case(
        recs=rows("user item rank", "u A 1"),
        truth=rows("user item relevance", "u A 1"),
        items=ITEMS[:2],
        reference=rows("user item rank", "u J 1"),
        by=("shelf",),
    )
    random_cases.check(case, forms_of("unexpectedness"))
