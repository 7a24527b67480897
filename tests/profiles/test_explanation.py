"""Explanations: words for every switch, directions that hold on random frames, contributions that sum to the difference."""

from __future__ import annotations

import functools
import math
import re
from itertools import permutations
from typing import Any, Literal, get_args

import polars as pl
import pytest
from hypothesis import given

import recframe as rf
from asking import liked, recommended, rows
from frame_kinds import KINDS, Kind
from random_cases import stops_at_k
from recframe.frames.options import DEFAULTS, Context, NoRelevant, RelevantFrom, Ties, Universe
from recframe.metrics.language.registry import registered
from recframe.profiles import under_profile
from recframe.profiles.explanation import differences
from recframe.profiles.library_profiles import PROFILES
from recframe.profiles.switches import PARAMETERS, POLICIES, RULES
from strategies import examples, frame_pairs

# Random frames may have no rank at all, or a `by` column on some rows of a user alone.
pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")

BUILTIN = {name: one for name, one in registered().items() if one.definition.family == "accuracy"}
OF_LISTS = [
    one for one in registered().values() if one.definition.over_lists and one.definition.builtin
]
OF_LISTS.append(rf.efd(average="rows"))
# u1 finds 2 of 3 relevant items, u2 none of 1; u3 has no truth, u4 no list; u5 has a short list of hits.
LISTS = recommended(u1="axbyc", u2="xyz", u3="abc", u5="ab")
TRUTH = liked(u1="abc", u2="a", u4="ab", u5="abcdef")
CHOICES = {
    "universe": Universe,
    "no_relevant": NoRelevant,
    "relevant_from": RelevantFrom,
    "ties": Ties,
}


def says(text: str) -> Any:
    return pytest.raises(rf.RecframeError, match=f"^{re.escape(text)}$")


def test_every_policy_and_parameter_has_words_for_each_of_its_values():
    assert [*POLICIES, "min_relevance_for"] == sorted(
        DEFAULTS, key=[*POLICIES, "min_relevance_for"].index
    )
    for name, choices in CHOICES.items():
        assert set(get_args(choices)) <= set(POLICIES[name].says), name
    for metric in BUILTIN.values():
        for name, about in metric.definition.parameters.items():
            kind, choices = metric.definition.kinds[name]
            assert kind is not Literal or set(choices) <= set(PARAMETERS[name].says), (
                metric.name,
                name,
            )
            assert PARAMETERS[name].words(about.default)


@pytest.mark.parametrize("name", [*POLICIES, *PARAMETERS])
def test_a_switch_gives_a_reason_for_every_direction_that_it_has(name: str):
    switch = {**POLICIES, **PARAMETERS}[name]
    values = {value for chain in switch.chains for value in chain}
    assert all(value in switch.says for value in values)
    for old, new in permutations([*values, "another"], 2):
        direction, why = switch.direction(old, new)
        assert direction == "same" or why or "another" in (old, new)


@pytest.mark.parametrize("metric", BUILTIN.values(), ids=str)
def test_a_metric_is_explained_by_what_it_says_of_itself_and_by_its_switches(
    metric: rf.Metric[...],
):
    text = " ".join(rf.explain(metric @ 10).text.split())
    doc = " ".join(metric.__doc__.split())
    assert text.startswith(f"{metric}@10, by recframe's own conventions {doc.partition('. ')[0]}")
    assert metric.definition.formula in text
    assert ">>>" not in text
    assert ("Source: " in text) == ("Source: " in doc)
    assert all(rule in text for rule in RULES["users"])
    for phrase in (
        "every user of the truth counts", "without a relevant item counts 0",
        "equal scores are ordered", "up to 10",
    ):  # fmt: skip
        assert phrase in text
    assert ("relevant items come from the truth" in text) == (
        metric.name not in {"list_length", "judged"}
    )
    for name, value in metric.parameters.items():
        assert PARAMETERS[name].words(value) in text


@pytest.mark.parametrize("metric", OF_LISTS, ids=str)
def test_a_metric_over_lists_is_explained_by_which_lists_count_and_by_no_policy_that_does_not_concern_it(
    metric: rf.Metric[...],
):
    text = " ".join(rf.explain(metric @ 10).text.split())
    doc = " ".join(metric.__doc__.split())
    assert doc.partition(". ")[0] in text
    assert all(rule in text for rule in RULES["lists"])
    follows = "relevance" in metric.definition.needs
    assert ("in the truth or not" in text) != follows
    assert ("only lists of users who count in the accuracy metrics have a value" in text) == follows
    is_mean = "has no value (null, not 0), and the mean runs over the lists with one."
    assert (is_mean in text) == (metric.shape == "user")
    assert ("values of segments do not average to that of all" in text) == (metric.shape == "set")
    assert all(f"{name} is {value}." in text for name, value in metric.parameters.items())
    for policy in ("universe=", "no_relevant="):
        assert (policy in text) == follows
    assert "relevant_from=" not in text
    shown = {"catalogue": "items=", "relevance": "truth="}
    assert all(shown.get(need, f"{need}=") in text for need in metric.definition.needs)


def test_a_policy_is_told_where_it_concerns_a_metric_over_lists():
    assert "ties=" in rf.explain("novelty@10").text
    assert "ties=" in rf.explain("gini(weight=log)").text
    assert "ties=" not in rf.explain("gini").text
    assert "ties=" not in rf.explain("epc").text
    assert "min_relevance=" in rf.explain("epc(relevance=True)").text
    assert "min_relevance=" not in rf.explain("epc").text
    assert "relevant_from=" not in rf.explain("user_coverage@5").text
    assert "relevant_from=" in rf.explain("mcc@5").text


def test_the_number_of_a_metric_over_lists_comes_with_the_number_of_lists():
    # items a and b are known to 1 and 2 of 2 train users: the lists' means of -log2(pop / 2) are 1/2 and 1; u9 has no list
    train = liked(u1="ab", u2="b")
    found = recommended(u1="ab", u2="a").rec(train=train, truth=liked(u9="a")).explain("novelty")
    assert found.text.endswith("Here it is 0.750000; n_lists is 2.")


def test_a_metric_is_explained_by_the_conventions_of_a_profile():
    found = rf.explain("map@5", "recbole")
    assert str(found) == found.text
    assert repr(found).startswith("<map@5, by the conventions of recbole: ")
    assert found.text.startswith("map@5, by the conventions of recbole\n")
    for phrase in (
        "divided by min(k, the user's relevant items)",
        "rounded to 4 decimals",
        "RecBole 1.2.1",
    ):
        assert phrase in found.text
    table = dict(found.frame.select("switch", "value").rows())
    assert table["normalizer"] == "min"
    assert table["decimals"] == "4"
    assert rf.explain("map", "recbole", k=5).text == found.text
    assert max(map(len, found.text.splitlines())) <= 100


def test_the_users_without_a_relevant_item_are_those_without_one_in_the_list_where_it_alone_counts():
    # evidently and torchmetrics take the relevant rows of the list; of its users evidently leaves out those without
    assert (
        "a user without a relevant item in the list is left out"
        in rf.explain("recall@10", "evidently").text
    )
    assert "a user without a relevant item is left out" in rf.explain("recall@10", "recpack").text
    between = rf.explain("recall@10", "torchmetrics", "evidently").text
    assert "up: users without relevant items in the list no longer count 0" in between
    assert "{" not in between + rf.explain("recall@10", "recpack", "evidently").text


def test_trec_evals_ties_can_be_better_than_the_best_order_of_equal_scores():
    # 1 + 1e-9 is 1 in 32 bits: the relevant item, which comes later by text, then stands first
    frame = pl.DataFrame(
        {"user": [1, 1], "item": ["a", "b"], "score": [1 + 1e-9, 1.0], "relevance": [0, 1]}
    )
    assert frame.rec(ties="optimistic").mrr() < frame.rec(ties="item_desc").mrr()
    assert POLICIES["ties"].direction("item_desc", "optimistic")[0] == "either"
    assert POLICIES["ties"].direction("item_text", "optimistic")[0] == "up"


def test_the_last_places_of_ties_are_no_order_of_the_items():
    # mrr: a hit at 3, and in the worst order at 2; map behind a miss: (2/3 + 2/3) / 2, and in any order (1/2 + 2/3) / 2
    frame = pl.DataFrame(
        {"user": [1] * 3, "item": [1, 2, 3], "score": [1] * 3, "relevance": [1, 1, 0]}
    )
    below = frame.with_columns(score=pl.Series([1, 1, 2]))
    assert frame.rec(ties="last").mrr() < frame.rec(ties="pessimistic").mrr()
    assert below.rec(ties="last").map() > below.rec(ties="optimistic").map()
    assert {
        POLICIES["ties"].direction(ties, "last")[0]
        for ties in ("optimistic", "pessimistic", "item")
    } == {"either"}


@pytest.mark.parametrize("old", PROFILES)
@pytest.mark.parametrize("new", ["recframe", "rectools", "evidently"])
def test_the_switches_in_which_two_profiles_differ_are_those_of_their_tables(old: str, new: str):
    shared = (
        set(PROFILES[old].metrics)
        & set(PROFILES[new].metrics if new in PROFILES else BUILTIN)
        & set(BUILTIN)
    )
    for name in shared:
        if "k" in PROFILES[old].metrics[name]:
            continue
        found = rf.explain(f"{name}@10", old, new).frame
        sides = []
        for profile in (old, new):
            about = PROFILES.get(profile)
            switches = {**DEFAULTS, **BUILTIN[name].parameters}
            switches |= (
                {**about.policies, **about.metrics[name], **(about.cut or {}).get(name, {})}
                if about
                else {}
            )
            sides.append(
                {key: value for key, value in switches.items() if key != "min_relevance_for"}
            )
        assert set(found["switch"]) == {key for key in sides[0] if sides[0][key] != sides[1][key]}
        assert (
            rf.explain(f"{name}@10", new, old).frame["direction"]
            == found["direction"].replace({"up": "down", "down": "up"})
        ).all()


def test_two_profiles_differ_in_what_they_say_of_lists():
    found = rf.explain("diversity@10", "rectools", "jurity").frame
    assert found.select("switch", "from", "to").rows() == [("single", "zero", "null")]


def test_no_more_than_two_profiles_are_compared(kind: Kind):
    for call in (
        lambda: rf.explain("mrr", "ranx", "recbole", "lenskit"),
        lambda: kind(LISTS).rec(truth=kind(TRUTH)).explain("mrr", "ranx", "recbole", "lenskit"),
    ):
        with says("explain() compares two profiles; found 3: 'ranx', 'recbole', 'lenskit'"):
            call()


def test_what_is_unknown_is_said_to_be():
    with says("unknown profile 'recbol'; did you mean 'recbole'?"):
        rf.explain("mrr", "recbol")
    with says("unknown metric 'mmr'; did you mean 'mrr'?"):
        LISTS.rec(truth=TRUTH).explain("mmr", "recbole")
    with says(
        "the profile 'microsoft' has no mrr. It has precision, recall, map, ndcg, r_precision, coverage, entropy, efd, "
        "diversity, serendipity"
    ):
        rf.explain("mrr", "recbole", "microsoft")


def variants() -> list[tuple[str, Any, Any]]:
    """Each policy with each two of its values."""
    policies = {
        name: get_args(CHOICES[name]) for name in ("universe", "no_relevant", "relevant_from")
    }
    return [
        (name, old, new)
        for name, values in policies.items()
        for old, new in permutations(values, 2)
    ]


BASES: list[dict[str, Any]] = [
    {},
    {"no_relevant": "skip"},
    {"relevant_from": "list"},
    {"universe": "recs", "min_relevance": "any"},
]


@pytest.mark.slow
@pytest.mark.parametrize("k", [1, 3, None])
@given(frames=frame_pairs())
@examples(5)
def test_a_policy_moves_every_metric_in_the_direction_that_is_said(
    k: int | None, frames: tuple[pl.DataFrame, pl.DataFrame]
):
    recs, truth = frames
    asked = [*BUILTIN.values(), rf.ndcg(without_relevant="one")]
    metrics = [one @ (k or 8) if stops(one) else one if k is None else one @ k for one in asked]
    rec = recs.filter(model="x").rec(truth=truth)
    for base in BASES:
        known: dict[Any, dict[str, Any]] = {}
        for name, old, new in variants():
            for value in (old, new):
                options = base | {name: value}
                key = tuple(sorted(options.items()))
                if key not in known:
                    known[key] = rec(**options).evaluate(*metrics).row(0, named=True)
            sides = [known[tuple(sorted((base | {name: value}).items()))] for value in (old, new)]
            for metric in metrics:
                told = direction_of(metric, name, old, new)
                holds(
                    told,
                    *(side[str(metric)] for side in sides),
                    f"{metric} {name} {old} -> {new} {base}",
                )


@functools.cache
def direction_of(metric: rf.Metric[...], name: str, old: Any, new: Any) -> str:
    (one,) = differences(
        *(under_profile.under(Context().bind({name: value}), metric) for value in (old, new))
    )
    return one.direction


def holds(direction: str, old: float | None, new: float | None, told: str) -> None:
    if old is None or new is None:  # nobody counts on one of the sides
        return
    assert direction != "up" or new >= old - 1e-12, told
    assert direction != "down" or new <= old + 1e-12, told
    assert direction != "same" or math.isclose(new, old, rel_tol=1e-12, abs_tol=1e-12), told


def stops(metric: rf.Metric[...]) -> bool:
    """Whether a metric has no value without a cut-off; no list here is longer than 8."""
    return stops_at_k(metric.name, metric.parameters)


def of_parameters() -> list[tuple[rf.Metric[...], rf.Metric[...]]]:
    """Each metric with each two choices of a parameter, the others as they are or, for gains, binary."""
    found = []
    for metric in BUILTIN.values():
        for name in metric.definition.parameters:
            kind, choices = metric.definition.kinds[name]
            for fixed in (
                [{}, {"gain": "binary"}] if "gain" in metric.parameters and name != "gain" else [{}]
            ):
                pairs = permutations(choices if kind is Literal else (), 2)
                found += [
                    (metric(**fixed, **{name: old}), metric(**fixed, **{name: new}))
                    for old, new in pairs
                ]
    return found


@functools.cache
def direction_between(old: rf.Metric[...], new: rf.Metric[...]) -> str:
    (one,) = differences(under_profile.under(Context(), old), under_profile.under(Context(), new))
    return one.direction


@pytest.mark.parametrize(
    "k", [pytest.param(1, marks=pytest.mark.slow), 3, pytest.param(None, marks=pytest.mark.slow)]
)
@given(frames=frame_pairs())
@examples(20)
def test_a_parameter_moves_a_metric_in_the_direction_that_is_said(
    k: int | None, frames: tuple[pl.DataFrame, pl.DataFrame]
):
    recs, truth = frames
    pairs = [
        (old, new)
        if k is None and not (stops(old) or stops(new))
        else (old @ (k or 8), new @ (k or 8))
        for old, new in of_parameters()
    ]
    sides = {"train": recs.select("user", "item"), "items": pl.DataFrame({"item": [*"abcdefgh"]})}
    rec = recs.filter(model="x").rec(truth=truth, **sides)
    found = rec.evaluate(*(one for pair in pairs for one in pair)).row(0, named=True)
    for old, new in pairs:
        holds(direction_between(old, new), found[str(old)], found[str(new)], f"{old} -> {new}")


def test_directions_are_said_where_they_are_known():
    def direction(metric: str, old: str, new: str) -> dict[str, str]:
        table = rf.explain(metric, old, new).frame
        return dict(table.select("switch", "direction").rows())

    assert direction("map@10", "ranx", "recbole")["normalizer"] == "up"
    # users without relevant items count 1 there, so that to leave them out can lower a mean
    assert direction("ndcg@10", "recpack", "lightgbm")["no_relevant"] == "either"
    assert direction("recall@10", "ranx", "torchmetrics") == {
        "universe": "either",
        "relevant_from": "up",
        "ties": "either",
    }
    assert direction("ndcg@10", "recbole", "rectools") == {"ideal": "down", "decimals": "either"}
    assert direction("precision@10", "ir_measures", "pytrec_eval") == {"universe": "up"}
    # empty lists are short, not bad
    assert direction("list_length", "ir_measures", "pytrec_eval") == {"universe": "either"}


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_contributions_worked_by_hand(kind: Kind):
    """precision@4 of ranx and jurity: 4 users of the truth with 2, 0, 0, 2 hits; 3 of them with lists of 4, 3 and 2 up to 4.

    ranx: (2/4 + 0 + 0 + 2/4) / 4 = 1/4. Over both: 1/3. Divided by the list: (2/4 + 0 + 2/2) / 3 = 1/2.
    The two orders of universe and denominator: universe first 1/3 - 1/4 = 1/12, then 1/6; the denominator first
    (2/4 + 0 + 0 + 1) / 4 - 1/4 = 1/8, then the universe 1/8. So Shapley is (1/12 + 1/8) / 2 and (1/6 + 1/8) / 2.
    """
    found = kind(LISTS).rec(truth=kind(TRUTH)).explain("precision@4", "ranx", "jurity")
    table = kind.read(found.frame)
    assert table.columns == [
        "switch", "from", "to", "direction", "contribution", "value", "shapley",
    ]  # fmt: skip
    assert table["switch"].to_list() == ["start", "universe", "no_relevant", "denominator"]
    assert table["from"].to_list() == ["", "truth", "zero", "k"]
    assert table["to"].to_list() == ["ranx", "both", "skip", "list"]
    assert table["direction"].to_list() == ["same", "up", "up", "up"]
    assert table["contribution"].to_list() == pytest.approx([0, 1 / 12, 0, 1 / 6])
    assert table["value"].to_list() == pytest.approx([1 / 4, 1 / 3, 1 / 3, 1 / 2])
    assert table["shapley"].to_list() == pytest.approx([0, 5 / 48, 0, 7 / 48])
    lazy = "The numbers are in .frame, a LazyFrame: collect it."
    inside = "0.250000 and 0.500000; one switch after the other:\n\n1. universe: truth -> both, up"
    assert (lazy if kind.name in {"lazy", "streaming"} else inside) in found.text
    assert ("adds +0.083333; +0.104167 over all orders" in found.text) == (
        kind.name not in {"lazy", "streaming"}
    )


PAIRS = [
    ("map@3", "trec_eval", "recbole"), ("map@3", "evidently", "recbole"), ("ndcg@3", "elliot", "lenskit"),
    ("ndcg@3", "recframe", "elliot"), ("precision@3", "microsoft", "jurity"), ("f_score@3", "evidently", "elliot"),
    ("ndcg@3", "torchmetrics", "rectools"), ("dcg@2", "recpack", "lenskit"), ("mrr@3", "ranx", "trec_eval"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("metric", "old", "new"),
    [*PAIRS[:2], *(pytest.param(*one, marks=pytest.mark.slow) for one in PAIRS[2:])],
)
def test_contributions_sum_to_the_whole_difference(metric: str, old: str, new: str):
    truth = TRUTH.with_columns(relevance=pl.Series([1.0, 2, 0, 0, 3, 1, 2, 2, 0, 1, 1, 4]))
    rec = LISTS.rec(truth=truth)
    table = rec.explain(metric, old, new).frame
    first, last = (rec(profile=profile).evaluate(metric)[metric].item() for profile in (old, new))
    assert table["value"][0] == pytest.approx(first, abs=1e-12)
    assert table["value"][-1] == pytest.approx(last, abs=1e-12)
    assert table["contribution"].sum() == pytest.approx(last - first, abs=1e-12)
    assert table["shapley"].sum() == pytest.approx(last - first, abs=1e-12)
    assert table["value"].diff()[1:].to_list() == pytest.approx(
        table["contribution"][1:].to_list(), abs=1e-12
    )
    assert table["switch"].to_list()[1:] == [
        name for name in rf.explain(metric, old, new).frame["switch"] if name != "ties"
    ]


def test_more_than_six_switches_have_no_mean_over_all_orders():
    metric = rf.ndcg(log_base=3)
    rec = LISTS.rec(truth=TRUTH)
    every = {
        "universe": "recs",
        "no_relevant": "zero",
        "relevant_from": "list",
        "min_relevance": "any",
        "decimals": 3,
    }
    PROFILES["seven"] = type(PROFILES["ranx"])(
        "none", every, {"ndcg": {"gain": "exp", "ideal": "all", "offset": 1}}
    )
    try:
        table = rec.explain(metric, "recpack", "seven").frame
        assert table.columns == ["switch", "from", "to", "direction", "contribution", "value"]
        assert table.height == 1 + 8
        assert table["contribution"].sum() == pytest.approx(
            table["value"][-1] - table["value"][0], abs=1e-12
        )
    finally:
        del PROFILES["seven"]


def test_ties_are_a_switch_where_ranks_come_from_scores():
    scored = LISTS.with_columns(score=-pl.col("rank")).drop("rank")
    assert (
        "ties" in scored.rec(truth=TRUTH).explain("mrr", "ranx", "replay").frame["switch"].to_list()
    )
    assert (
        "ties"
        not in LISTS.rec(truth=TRUTH).explain("mrr", "ranx", "replay").frame["switch"].to_list()
    )


def test_segments_and_models_come_first(kind: Kind):
    users = pl.DataFrame({"user": ["u1", "u2", "u4", "u5"], "*": ["b", "b", None, "a"]})
    two = LISTS.with_columns(model=pl.lit("m"))
    found = (
        kind(two)
        .rec(truth=kind(TRUTH), users=kind(users), model="model")
        .explain("precision@4", "ranx", "jurity", by="*")
    )
    table = kind.read(found.frame)
    assert table.columns[:3] == ["model", "*", "switch"]
    assert table.select(pl.nth(1), "switch", "value").rows() == [
        (segment, switch, None if value is None else pytest.approx(value))
        for segment, values in (
            ("a", [0.5, 0.5, 0.5, 1]),
            ("b", [0.25] * 4),
            (None, [0, None, None, None]),
        )
        for switch, value in zip(
            ["start", "universe", "no_relevant", "denominator"], values, strict=True
        )
    ]
    assert "The numbers are in .frame" in found.text


def test_a_column_by_the_name_of_a_result_is_an_error():
    users = pl.DataFrame({"user": ["u1"], "switch": ["on"]})
    with says("by='switch' is also the name of a result column; rename the column first"):
        LISTS.rec(truth=TRUTH, users=users).explain("recall", "ranx", "jurity", by="switch")


def test_one_convention_comes_with_its_number(kind: Kind):
    found = kind(LISTS).rec(truth=kind(TRUTH), profile="jurity").explain("precision@3")
    assert kind.read(found.frame).rows() == [(3, pytest.approx(5 / 9))]
    assert found.text.startswith("precision@3, by the conventions of jurity\n")
    assert ("Here it is 0.555556; n_users is 3." in found.text) == (
        kind.name not in {"lazy", "streaming"}
    )
    again = kind(LISTS).rec(truth=kind(TRUTH)).explain("precision", "jurity", k=3)
    assert again.text == found.text


def test_what_is_bound_holds_on_both_sides():
    found = LISTS.rec(truth=TRUTH, universe="both", no_relevant="zero").explain(
        "precision@4", "ranx", "jurity"
    )
    assert found.frame["switch"].to_list() == ["start", "denominator"]


def test_a_judged_frame_counts_all_of_its_users_by_recframes_own_conventions():
    judged = rows(("u1", "a", 1, 1), ("u2", "a", 1, None))
    found = judged.rec.explain("mrr", "recframe", "trec_eval")
    assert found.frame.select("switch", "from", "value").rows() == [
        ("start", "", 0.5), ("universe", "none", 1.0),
    ]  # fmt: skip
    assert "every user of the judged frame counts" in found.text


def test_nobody_at_all_is_explained_too():
    assert (
        "null and null"
        in LISTS.clear().rec(truth=TRUTH.clear()).explain("recall", "ranx", "jurity").text
    )
    assert "No switch differs." in LISTS.rec(truth=TRUTH).explain("mrr", "ranx", "ir_measures").text


def test_nothing_of_a_lazy_frame_is_collected(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError

    lazy = LISTS.lazy().rec(truth=TRUTH.lazy())
    with monkeypatch.context() as patched:
        patched.setattr(pl.LazyFrame, "collect", refuse)
        found = lazy.explain("precision@4", "ranx", "jurity")
    assert found.frame.collect()["value"].to_list() == pytest.approx([1 / 4, 1 / 3, 1 / 3, 1 / 2])


def test_a_segment_of_items_is_explained_where_it_decides_who_counts():
    # the truth has nothing of genre q
    recs = pl.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]})
    sides = {
        "truth": pl.DataFrame({"user": [1], "item": ["a"]}),
        "items": pl.DataFrame({"item": ["a", "b"], "genre": ["p", "q"]}),
    }
    rec, users = recs.rec(**sides), pl.DataFrame({"user": [1], "country": ["FR"]})

    assert rec.evaluate("user_coverage@1", by="genre").rows() == [("p", 1, 1.0)]
    listed = rec(universe="all").evaluate("user_coverage@1", by="genre")
    assert listed.rows() == [("p", 1, 1.0), ("q", 1, 0.0)]
    assert rec(no_relevant="skip").evaluate("user_coverage@1", by="genre").rows() == [("p", 1, 1.0)]
    for by, name in (
        ("genre", "'genre'"),
        ("item", "'item'"),
        (["genre", "item"], "'genre' and by='item'"),
    ):
        for explained in (
            rec.explain("recall@1", by=by),
            rec.explain("recall@1", "trec_eval", "jurity", by=by),
        ):
            text = " ".join(explained.text.split())
            assert (
                f"by={name} is a property of items: a row is what the same call gives on lists and truth with only the "
                in text
            )
            assert "the segments of their truth's items" in text
    text = " ".join(rec.explain("coverage@1", by="genre").text.split())
    assert (
        "by='genre' is a property of items: n_lists counts lists with an item of the segment at whatever rank"
        in text
    )
    assert "property of items" not in rec(users=users).explain("recall@1", by="country").text
