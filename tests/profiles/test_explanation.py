"""Explanations: words for every switch, and contributions in turn that sum to the difference."""

from __future__ import annotations

import itertools
from typing import Any, Literal, get_args

import polars as pl
import pytest

import recframe as rf
from asking import liked, recommended, rows
from frame_kinds import KINDS, Kind
from recframe.frames.options import DEFAULTS, NoRelevant, RelevantFrom, Ties, Universe
from recframe.metrics.language.registry import registered
from recframe.profiles.library_profiles import PROFILES
from recframe.profiles.switches import PARAMETERS, POLICIES, RULES, words_of

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
CHOICES = {"universe": Universe, "no_relevant": NoRelevant}
CHOICES |= {"relevant_from": RelevantFrom, "ties": Ties}


def test_every_policy_and_parameter_has_words_for_each_of_its_values():
    assert {*POLICIES, "min_relevance_for"} == {*DEFAULTS}
    for name, choices in CHOICES.items():
        assert set(get_args(choices)) <= set(POLICIES[name]), name
    for metric in BUILTIN.values():
        for name, about in metric.definition.parameters.items():
            kind, choices = metric.definition.kinds[name]
            words = set(choices) if kind is Literal else set()
            assert words <= set(PARAMETERS.get(name, ())), (metric.name, name)
            assert words_of(name, about.default, "accuracy")


@pytest.mark.parametrize("metric", BUILTIN.values(), ids=str)
def test_a_metric_is_explained_by_what_it_says_of_itself_and_by_its_switches(metric: Any):
    text = " ".join(rf.explain(metric @ 10).text.split())
    doc = " ".join(metric.__doc__.split())
    assert text.startswith(f"{metric}@10, by recframe's own conventions {doc.partition('. ')[0]}")
    assert metric.definition.formula in text
    assert ">>>" not in text
    assert ("Source: " in text) == ("Source: " in doc)
    assert all(rule in text for rule in RULES["users"])
    said = ("every user of the truth counts", "without a relevant item counts 0")
    assert all(phrase in text for phrase in (*said, "equal scores are ordered", "up to 10"))
    of_truth = "relevant items come from the truth" in text
    assert of_truth == (metric.name not in {"list_length", "judged"})
    for name, value in metric.parameters.items():
        assert str(words_of(name, value, "accuracy")) in text


@pytest.mark.parametrize("metric", OF_LISTS, ids=str)
def test_a_metric_over_lists_is_explained_by_which_lists_count(metric: Any):
    text = " ".join(rf.explain(metric @ 10).text.split())
    doc = " ".join(metric.__doc__.split())
    assert doc.partition(". ")[0] in text
    assert all(rule in text for rule in RULES["lists"])
    follows = metric.name == "serendipity"
    assert ("in the truth or not" in text) != follows
    assert ("only lists of users who count in the accuracy metrics have a value" in text) == follows
    is_mean = "has no value (null, not 0), and the mean runs over the lists with one."
    assert (is_mean in text) == (metric.shape == "user")
    assert ("values of segments do not average to that of all" in text) == (metric.shape == "set")
    assert all(f"{name} is {value}." in text for name, value in metric.parameters.items())
    for policy in ("universe=", "no_relevant="):
        assert (policy in text) == follows
    assert "relevant_from=" not in text


def test_a_policy_is_told_where_it_concerns_a_metric_over_lists():
    for metric, policy, is_told in (
        *(
            ("novelty@10", "ties", True),
            ("gini(weight=log)", "ties", True),
            ("gini", "ties", False),
        ),
        *(("epc", "ties", False), ("epc(relevance=True)", "min_relevance", True)),
        *(("epc", "min_relevance", False), ("user_coverage@5", "relevant_from", False)),
        ("mcc@5", "relevant_from", True),
    ):
        assert (f"{policy}=" in rf.explain(metric).text) == is_told, metric


def test_the_number_of_a_metric_over_lists_comes_with_the_number_of_lists():
    # items a and b are known to 1 and 2 of 2 train users: the lists' means of -log2(pop / 2) are 1/2 and 1; u9 has no list
    train = liked(u1="ab", u2="b")
    found = recommended(u1="ab", u2="a").rec(train=train, truth=liked(u9="a")).explain("novelty")
    assert found.text.endswith("Here it is 0.750000; n_lists is 2.")


def test_a_metric_is_explained_by_the_conventions_of_a_profile():
    found = rf.explain("map@5", "recbole")
    assert repr(found) == found.text
    assert found.text.startswith("map@5, by the conventions of recbole\n")
    said = (
        "divided by min(k, the user's relevant items)",
        "rounded to 4 decimals",
        "RecBole 1.2.1",
    )
    assert all(phrase in found.text for phrase in said)
    table = dict(found.frame.select("switch", "value").rows())
    assert table["normalizer"] == "min"
    assert table["decimals"] == "4"
    assert rf.explain("map", "recbole", k=5).text == found.text
    assert max(map(len, found.text.splitlines())) <= 100


def test_the_users_without_a_relevant_item_are_those_without_one_in_the_list_where_it_alone_counts():
    # evidently and torchmetrics take the relevant rows of the list; of its users evidently leaves out those without
    said = "a user without a relevant item in the list is left out"
    assert said in rf.explain("recall@10", "evidently").text
    assert said.replace(" in the list", "") in rf.explain("recall@10", "recpack").text
    between = rf.explain("recall@10", "torchmetrics", "evidently").text
    assert "a counted user without a relevant item in the list counts 0" in between
    assert "{" not in between + rf.explain("recall@10", "recpack", "evidently").text


def switches_of(profile: str, metric: str) -> dict[str, Any]:
    """The switches of a profile, by its table."""
    found = {**DEFAULTS, **BUILTIN[metric].parameters}
    if about := PROFILES.get(profile):
        found |= {**about.policies, **about.metrics[metric], **about.cut.get(metric, {})}
    return found


def test_the_switches_in_which_two_profiles_differ_are_those_of_their_tables():
    for old, new in itertools.product(PROFILES, ["recframe", "rectools", "evidently"]):
        there = PROFILES[new].metrics if new in PROFILES else BUILTIN
        for name in {*PROFILES[old].metrics} & {*there} & {*BUILTIN}:
            if "k" in PROFILES[old].metrics[name]:
                continue
            found = rf.explain(f"{name}@10", old, new).frame
            # what is relevant is nothing to the number of items
            are_counts = name in {"list_length", "judged"}
            still = ["min_relevance_for", *["relevant_from", "min_relevance"] * are_counts]
            before, after = switches_of(old, name), switches_of(new, name)
            differ = {key for key in before if before[key] != after[key]} - {*still}
            expected = {key: (str(before[key]), str(after[key])) for key in differ}
            assert {row[0]: row[1:] for row in found.rows()} == expected, (old, new, name)
    found = rf.explain("diversity@10", "rectools", "jurity").frame
    assert found.select("switch", "from", "to").rows() == [("single", "zero", "null")]


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_contributions_worked_by_hand(kind: Kind):
    """precision@4 of ranx and jurity: 4 users of the truth with 2, 0, 0, 2 hits; 3 of them with lists of 4, 3 and 2 up to 4.

    ranx: (2/4 + 0 + 0 + 2/4) / 4 = 1/4. Over both: 1/3. Divided by the list: (2/4 + 0 + 2/2) / 3 = 1/2.
    """
    found = kind(LISTS).rec(truth=kind(TRUTH)).explain("precision@4", "ranx", "jurity")
    table = kind.read(found.frame)
    assert table.columns == ["switch", "from", "to", "contribution", "value"]
    assert table["switch"].to_list() == ["start", "universe", "no_relevant", "denominator"]
    assert table["from"].to_list() == ["", "truth", "zero", "k"]
    assert table["to"].to_list() == ["ranx", "both", "skip", "list"]
    assert table["contribution"].to_list() == pytest.approx([0, 1 / 12, 0, 1 / 6])
    assert table["value"].to_list() == pytest.approx([1 / 4, 1 / 3, 1 / 3, 1 / 2])
    inside = "0.250000 and 0.500000; one switch after the other:\n\n"
    inside += "1. universe: truth -> both, adds +0.083333\n"
    assert (inside in found.text) == (kind.name not in {"lazy", "streaming"})
    assert "1. universe: truth -> both" in found.text


PAIRS = [
    ("map@3", "trec_eval", "recbole"), ("map@3", "evidently", "recbole"), ("ndcg@3", "elliot", "lenskit"),
    ("ndcg@3", "recframe", "elliot"), ("precision@3", "microsoft", "jurity"), ("f_score@3", "evidently", "elliot"),
    ("ndcg@3", "torchmetrics", "rectools"), ("dcg@2", "recpack", "lenskit"), ("mrr@3", "ranx", "trec_eval"),
]  # fmt: skip


@pytest.mark.parametrize(("metric", "old", "new"), PAIRS)
def test_contributions_sum_to_the_whole_difference(metric: str, old: str, new: str):
    truth = TRUTH.with_columns(relevance=pl.Series([1.0, 2, 0, 0, 3, 1, 2, 2, 0, 1, 1, 4]))
    rec = LISTS.rec(truth=truth)
    table = rec.explain(metric, old, new).frame
    first, last = (rec(profile=profile).evaluate(metric)[metric].item() for profile in (old, new))
    assert table["value"][0] == pytest.approx(first, abs=1e-12)
    assert table["value"][-1] == pytest.approx(last, abs=1e-12)
    assert table["contribution"].sum() == pytest.approx(last - first, abs=1e-12)
    steps = table["contribution"][1:].to_list()
    assert table["value"].diff()[1:].to_list() == pytest.approx(steps, abs=1e-12)
    differ = rf.explain(metric, old, new).frame["switch"]
    assert table["switch"].to_list()[1:] == [name for name in differ if name != "ties"]


def test_ties_are_a_switch_where_ranks_come_from_scores():
    scored = LISTS.with_columns(score=-pl.col("rank")).drop("rank")
    for lists, is_switch in ((scored, True), (LISTS, False)):
        found = lists.rec(truth=TRUTH).explain("mrr", "ranx", "replay").frame
        assert ("ties" in found["switch"].to_list()) == is_switch


def test_segments_and_models_come_first(kind: Kind):
    users = pl.DataFrame({"user": ["u1", "u2", "u4", "u5"], "*": ["b", "b", None, "a"]})
    rec = kind(LISTS.with_columns(model=pl.lit("m"))).rec(model="model", truth=kind(TRUTH))
    found = rec(users=kind(users)).explain("precision@4", "ranx", "jurity", by="*")
    table = kind.read(found.frame)
    assert table.columns[:3] == ["model", "*", "switch"]
    switches = ["start", "universe", "no_relevant", "denominator"]
    values = {"a": [0.5, 0.5, 0.5, 1], "b": [0.25] * 4, None: [0, None, None, None]}
    keys = [(segment, switch) for segment in values for switch in switches]
    assert table.select(pl.nth(1), "switch").rows() == keys
    assert table["value"].to_list() == [value for own in values.values() for value in own]
    assert "adds" not in found.text


def test_one_convention_comes_with_its_number(kind: Kind):
    found = kind(LISTS).rec(truth=kind(TRUTH), profile="jurity").explain("precision@3")
    assert kind.read(found.frame).rows() == [(3, pytest.approx(5 / 9))]
    assert found.text.startswith("precision@3, by the conventions of jurity\n")
    is_eager = kind.name not in {"lazy", "streaming"}
    assert ("Here it is 0.555556; n_users is 3." in found.text) == is_eager
    again = kind(LISTS).rec(truth=kind(TRUTH)).explain("precision", "jurity", k=3)
    assert again.text == found.text


def test_what_is_bound_holds_on_both_sides():
    rec = LISTS.rec(truth=TRUTH, universe="both", no_relevant="zero")
    found = rec.explain("precision@4", "ranx", "jurity")
    assert found.frame["switch"].to_list() == ["start", "denominator"]


def test_a_judged_frame_counts_all_of_its_users_by_recframes_own_conventions():
    judged = rows(("u1", "a", 1, 1), ("u2", "a", 1, None))
    found = judged.rec.explain("mrr", "recframe", "trec_eval")
    assert found.frame.select("switch", "from", "value").rows() == [
        ("start", "", 0.5), ("universe", "None", 1.0),
    ]  # fmt: skip
    assert "every user of the judged frame counts" in found.text


def test_nobody_at_all_is_explained_too():
    nobody = LISTS.clear().rec(truth=TRUTH.clear())
    assert "null and null" in nobody.explain("recall", "ranx", "jurity").text
    assert "No switch differs." in LISTS.rec(truth=TRUTH).explain("mrr", "ranx", "ir_measures").text
