"""The audit: each check finds its own defect, with its counts, and nothing else; it changes no number."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal
from test_data_not_meant import MISTAKES, ODD

from asking import rows
from audited_frames import (
    INF,
    ITEMS,
    JUDGED,
    NAN,
    POOLED,
    RECS,
    SCORED,
    TRAIN,
    TRUTH,
    USERS,
    audit,
    floats,
    found,
    raises,
    with_row,
)
from frame_kinds import KINDS
from lanes import in_turn
from recframe.audit.checks import SEVERITIES
from recframe.audit.report import CHECKS, COLUMNS
from strategies import examples


@pytest.mark.parametrize("frame", [RECS, SCORED], ids=["ranked", "scored"])
def test_nothing_is_found_in_two_frames_without_defect(kind, frame):
    sides = {
        "truth": TRUTH,
        "users": USERS,
        "items": pl.concat([ITEMS, ITEMS[:1].with_columns(item=pl.lit("f"))]),
    }
    result = audit(kind, frame, k=2, by=["country", "genre"], train=TRAIN, **sides)

    assert result.columns == list(COLUMNS)
    assert result.is_empty()


def test_nothing_is_found_in_a_judged_frame_without_defect(kind):
    assert audit(kind, JUDGED, k=2, train=TRAIN, users=USERS, by="country").is_empty()
    assert audit(kind, JUDGED).is_empty()


def test_nothing_is_found_of_two_models_that_are_told_apart(kind):
    models = pl.concat([RECS.with_columns(model=pl.lit(name)) for name in ("x", "y")])

    assert audit(kind, models, truth=TRUTH, model="model", k=2).is_empty()
    judged = models.rec(truth=TRUTH, model="model").judge()
    assert audit(kind, judged, model="model").is_empty()


LONG = rows(
    *(("u", item, rank) for rank, item in enumerate("abcde", 1)), schema=("user", "item", "rank")
)
TWO_MODELS = pl.concat(
    [
        JUDGED.with_columns(model=pl.lit("x")),
        JUDGED.with_columns(pl.col("relevance") * 2, model=pl.lit("y")),
    ]
)
NO_LIST_OF_Y = [("u", "a", 1, "x"), ("v", "a", 1, "x"), ("v", "b", 1, "y")]

Case = tuple[pl.DataFrame, dict[str, Any], list[tuple[Any, ...]]]
FRAMES = {"recs": "recommendations"}


def case(frame: pl.DataFrame, *findings: str, **options: Any) -> Case:
    """A frame with its truth and other options, and what is to be found: check, severity, frame, rows and users."""
    expected = []
    for words in findings:
        check, severity, name, *counts = words.split()
        expected.append((check, severity, FRAMES.get(name, name), *map(int, counts)))
    return frame, {"truth": TRUTH, **options}, expected


def judged(frame: pl.DataFrame, *findings: str, **options: Any) -> Case:
    return case(frame, *findings, **options, truth=None)


IN_NUMBERS = pl.col("user").replace({"u": "1", "v": "2"})
WITH_POINT = pl.col("user").replace({"u": "1.0", "v": "2"})
OF_X = RECS.with_columns(model=pl.lit("x"))
CASES: dict[str, Case] = {
    # of the two rows one has no user
    "null ids": case(with_row(RECS, (None, "a", 3), ("u", None, 3)), "null_ids error recs 2 1"),
    "null ids in the truth": case(RECS, "null_ids error truth 1 1", truth=with_row(TRUTH, ("u", None, 1))),
    "null ids in train": case(RECS, "null_ids error train 1 0", train=with_row(TRAIN, (None, "b"))),
    "null ids of a judged frame": judged(with_row(JUDGED, ("u", None, 3, 1)), "null_ids error judged 1 1"),
    "ranked rows without a model": case(
        RECS.with_columns(model=pl.lit(None, pl.String)),
        "null_models error recs 4 2",
        model="model",
    ),
    # the item 'a ' of u does not match the truth's 'a', nor does it stand in the catalogue
    "ids with blanks": case(RECS.with_columns(item=pl.Series(["a ", "b", "c", "a"])), "id_spellings error recs 1 1"),
    "ids that were floats": case(
        RECS.with_columns(IN_NUMBERS),
        "id_spellings error truth 2 1",
        "users_without_lists warning truth 2 1",
        "users_without_truth info recs 2 1",
        truth=TRUTH.with_columns(WITH_POINT),
    ),
    "users of another space": case(
        RECS.with_columns(pl.col("user") + "1"),
        "no_common_users error truth 2 0",
        "no_common_users error users 2 0",
        "users_without_lists warning truth 4 2",
        "users_without_truth info recs 4 2",
        users=USERS,
    ),
    "items of another space": case(RECS.with_columns(pl.col("item") + "1"), "no_common_items error truth 3 0"),
    "a user described twice": case(RECS, "repeated_keys error users 2 1", users=pl.concat([USERS, USERS[:1]])),
    "an item described twice": case(RECS, "repeated_keys error items 2 0", items=pl.concat([ITEMS, ITEMS[:1]])),
    "ranks from 0": case(RECS.with_columns(pl.col("rank") - 1), "rank_below_1 error recs 2 2"),
    # lists of 3 rows that rank 2, as the third has no rank
    "null ranks": case(with_row(RECS, ("u", "z", None)), "missing_ranks warning recs 1 1"),
    "NaN ranks": case(
        floats(with_row(RECS, ("u", "z", None)), rank=[1, 2, 1, 2, NAN]),
        "missing_ranks warning recs 1 1",
    ),
    "infinite ranks": judged(floats(JUDGED, rank=[1, 2, None, 2, 1, INF]), "missing_ranks warning judged 1 1"),
    "mean ranks": case(
        floats(RECS, rank=[1.5, 1.5, 1, 2]),
        "fractional_ranks warning recs 2 1",
        "repeated_ranks warning recs 2 1",
    ),
    "a repeated rank": case(RECS.with_columns(rank=pl.Series([1, 1, 1, 2])), "repeated_ranks warning recs 2 1"),
    "systems that are not told apart": case(
        POOLED,
        "pooled_lists error recs 8 2",
        "pooled_models error recs 8 2",
        "repeated_ranks warning recs 8 2",
    ),
    # 1 and 3: the last rank is beyond the two rows
    "a gap": case(RECS.with_columns(rank=pl.Series([1, 3, 1, 2])), "rank_gaps warning recs 2 1"),
    "scores that are missing": case(floats(SCORED, score=[2, None, 2, NAN]), "missing_scores warning recs 2 2"),
    "infinite scores": case(floats(SCORED, score=[INF, 1, 1, -INF]), "infinite_scores warning recs 2 2"),
    "tied scores": case(floats(SCORED, score=[0.5, 0.5, 0.5, 0.25]), "tied_scores warning recs 2 1"),
    "truth without a relevance": case(
        RECS, "null_relevance warning truth 1 1", truth=with_row(TRUTH, ("u", "b", None))
    ),
    "an infinite relevance": case(RECS, "infinite_relevance error truth 1 1", truth=with_row(TRUTH, ("u", "b", INF))),
    "a dislike": case(RECS, "negative_relevance info truth 1 1", truth=with_row(TRUTH, ("u", "b", -1))),
    # of the four rows two have 0
    "two values that nobody bound": case(
        RECS,
        "unbound_two_values warning truth 2 2",
        truth=TRUTH.drop("relevance").with_columns(clicked=pl.Series([1, 0, 1, 0])),
    ),
    "grades that nobody bound": case(
        RECS,
        "unbound_grades warning truth 3 2",
        truth=TRUTH.drop("relevance").with_columns(stars=pl.Series([1, 5, 3, None])),
    ),
    "a level above all grades": case(
        RECS,
        "unreached_min_relevance warning truth 4 2",
        "users_without_relevant info truth 4 2",
        min_relevance=3,
    ),
    "nothing relevant beyond the lists": judged(
        JUDGED.filter(pl.col("rank").is_not_null()), "no_relevant_beyond_lists warning judged 2 2"
    ),
    "an item twice in a list": case(with_row(RECS, ("u", "a", 3)), "duplicate_items error recs 2 1", k=2),
    "an item twice in a list of a judged frame": judged(
        with_row(JUDGED, ("u", "b", 3, None)), "duplicate_items error judged 2 1", k=2
    ),
    "an item twice in a list of scores": case(
        with_row(SCORED, ("u", "a", 3.0)), "duplicate_items error recs 2 1", k=2
    ),
    "a pair judged twice": case(RECS, "duplicate_truth warning truth 2 1", truth=pl.concat([TRUTH, TRUTH[:1]])),
    "a pair of a judged frame judged twice": judged(
        with_row(JUDGED, ("u", "d", None, 2)), "duplicate_truth warning judged 2 1"
    ),
    "a pair judged in two ways": case(
        RECS, "conflicting_truth error truth 2 1", truth=with_row(TRUTH, ("u", "a", 2))
    ),
    # the judged rows of y, 4, are twice as relevant as those of x
    "models judged in two ways": judged(TWO_MODELS, "conflicting_truth error judged 8 2", model="model"),
    "a list shorter than k": case(RECS[:3], "short_lists warning recs 1 1", k=2),
    "a user without truth": case(RECS, "users_without_truth info recs 2 1", truth=TRUTH[:2]),
    "a user without truth who counts": case(
        RECS, "users_without_truth warning recs 2 1", truth=TRUTH[:2], universe="all"
    ),
    "a user of a judged frame without truth": judged(
        JUDGED.with_columns(relevance=pl.when(pl.col("user") == "u").then("relevance")),
        "users_without_truth warning judged 2 1",
    ),
    "a user without recommendations": case(RECS[:2], "users_without_lists warning truth 2 1"),
    "a user without recommendations who is left out": case(
        RECS[:2], "users_without_lists info truth 2 1", universe="recs"
    ),
    "a user to whom one model recommends nothing": case(
        rows(*NO_LIST_OF_Y, schema=("user", "item", "rank", "model")),
        "users_without_lists warning truth 2 1",
        model="model",
    ),
    "a user who likes nothing": case(
        RECS,
        "users_without_relevant info truth 2 1",
        truth=TRUTH.with_columns(relevance=pl.Series([1, 2, 0, 0])),
    ),
    "recommended again": case(RECS, "recommended_in_train warning recs 1 1", train=with_row(TRAIN, ("u", "b"))),
    "truth that was trained on": case(RECS, "truth_in_train warning truth 1 1", train=with_row(TRAIN, ("u", "d"))),
    # c of v's list and e of v's truth
    "items that nobody knows": case(
        RECS,
        "unknown_items warning recs 1 1",
        "unknown_items warning truth 1 1",
        items=pl.DataFrame({"item": list("abd")}),
    ),
    # a stands in both lists, and nobody has it in train
    "items that are new": case(RECS, "cold_items info recs 2 2", train=TRAIN.filter(pl.col("item") != "a")),
    "items that are new to a judged frame": judged(
        JUDGED, "cold_items info judged 1 1", train=TRAIN.filter(pl.col("item") != "c")
    ),
    # the two rows of u's list
    "a user who is new": case(
        RECS,
        "users_without_history info recs 2 1",
        train=with_row(TRAIN, ("w", "b"), ("u", None)).filter(pl.col("user") != "u"),
    ),
    # of the relevant pairs two have no chance to be seen and one none that is known; the fourth is not relevant
    "propensities that are none": case(
        RECS,
        "missing_propensity error truth 3 2",
        truth=floats(TRUTH, seen=[0, -0.5, None, None]).with_columns(relevance=pl.Series([1, 2, 1, 0])),
        propensity="seen",
    ),
    # those of u's d and v's a; the items without a relevance need none
    "propensities of a judged frame that are none": judged(
        floats(JUDGED, seen=[0.5, None, 0.0, None, 0.5, 0.5]),
        "missing_propensity error judged 2 2",
        propensity="seen",
    ),
    "a reference that is no model": case(OF_X, "unknown_reference error recs 4 2", model="model", reference="y"),
}  # fmt: skip
# the other kinds are made of these
PLAIN = [kind for kind in KINDS if kind.name in {"polars", "lazy", "pandas"}]


@pytest.mark.parametrize(
    ("case", "kind"), [*in_turn(CASES, KINDS[:1]), *in_turn(CASES, KINDS[1:], fast=0)]
)
def test_a_check_finds_its_defect_and_no_other_and_fills_in_every_word(case, kind):
    frame, options, findings = case
    result = audit(kind, frame, **options)

    assert result.select("check", "severity", "frame", "rows", "users").rows() == findings
    assert not any(result.null_count().row(0))
    assert result.schema == {
        name: pl.Int64 if name in {"rows", "users"} else pl.String for name in COLUMNS
    }
    assert set(result["severity"]) <= set(SEVERITIES)


def test_nan_as_relevance_is_found_as_the_null_that_it_is_taken_for(kind):
    truth = with_row(TRUTH, ("u", "b", NAN))

    assert found(kind, RECS, truth=truth) == [("null_relevance", "warning", "truth", 1, 1)]


def test_ids_that_would_match_after_a_cast_are_a_finding(kind):
    numbers = {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}
    recs, truth = (frame.with_columns(pl.col("item").replace(numbers)) for frame in (RECS, TRUTH))
    recs = recs.with_columns(pl.col("item").cast(pl.Int64))

    result = audit(kind, recs, truth=truth)

    assert result.select("check", "severity", "frame", "rows", "users").rows() == [
        ("id_dtypes", "error", "recommendations", 4, 2)
    ]
    said = "the item ids have different dtypes: Int64 in the frame of recommendations, String in the frame truth="
    assert result["example"].item().startswith(said)


def test_ids_of_a_pandas_column_with_a_hole_are_compared_as_whole_numbers():
    recs = RECS.with_columns(user=pl.Series([1, 1, 2, 2])).to_pandas()
    truth = TRUTH.with_columns(user=pl.Series([1.0, 1.0, 2.0, None])).to_pandas()

    # users 1 and 2 are known to both; a user is missing in one row of the truth
    assert recs.rec(truth=truth).audit()["check"].tolist() == ["null_ids", "id_dtypes"]


@pytest.mark.parametrize(
    "ids",
    [
        [b"a", b"b", b"c", b"d"],
        [{"x": 1}, {"x": 2}, {"x": 3}, {"x": 4}],
        [True, False, True, False],
        [0.5, 1.0, 2.0, 4.0],
        pl.Series([1, 2, 3, 4]).cast(pl.Date),
        pl.Series([1, 2, 3, 4]).cast(pl.Duration("us")),
        pl.Series(["a", "b", "c", "d"]).cast(pl.Categorical),
        pl.Series(["a", "b", "c", "d"]).cast(pl.Enum(list("abcd"))),
    ],
    ids=lambda ids: str(pl.Series(ids).dtype),
)
def test_ids_of_any_dtype_can_be_shown_and_compared(ids):
    users = RECS.with_columns(user=pl.Series(ids))
    frame = users.with_columns(rank=pl.Series([1, 1, 1, 0]))

    shown = frame.rec(truth=users.select("user", "item")).audit().filter(check="rank_below_1")
    clash = users.rec(truth=TRUTH.with_columns(user=pl.lit(7, dtype=pl.Int64))).audit()

    assert shown["example"].item().startswith("user ")
    assert shown["example"].item().endswith(", item 'a', rank 0")
    assert clash["check"][0] == "id_dtypes"


def test_every_check_has_a_case():
    cases = {name for _, _, findings in CASES.values() for name, *_ in findings}
    # those that are warned of too have theirs beside the warnings
    cases |= {check for check, _ in (MISTAKES | ODD).values()}

    # a column of another dtype and models have their own tests, a metric of sampled lists is one of calls
    others = {"id_dtypes", "models_of_the_truth", "models_of_other_users", "lists_of_other_samples"}
    assert cases | others == {check.name for check in CHECKS}


# some of what the audit finds is warned of by the call, too
@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize(("case", "kind"), in_turn(CASES, PLAIN))
def test_strict_raises_what_the_audit_finds_as_an_error_and_no_number_changes(case, kind):
    frame, options, findings = case
    given = {
        name: kind(value) if isinstance(value, pl.DataFrame) else value
        for name, value in options.items()
        if name != "k"
    }
    rec = kind(frame).rec(**given)
    strict = rec(strict=True)
    words = [f"{name}: " for name, severity, *_ in findings if severity == "error"]

    if "pooled_lists: " in words:  # an error without strict=True too
        words = ["several lists of a user"]
    if words:
        raises(kind, lambda: strict.evaluate("ndcg@2"), *words)
    else:
        usual = kind.read(rec.evaluate("ndcg@2"))
        assert_frame_equal(kind.read(strict.evaluate("ndcg@2")), usual)
        kind.read(rec.audit())
        assert_frame_equal(kind.read(rec.evaluate("ndcg@2")), usual)


SPELLINGS = ["a", " a", "a ", "1", "1.0", "+1.0", "+1", " 1.00 ", "1.", ".0", "1.0.0", "10", "x1.0"]


def plain(text: str) -> str:
    """An id without blanks around it, and a whole number without its point and noughts."""
    text = text.strip()
    whole, point, noughts = text.rpartition(".")
    is_whole = whole.removeprefix("+").isdecimal() and point and noughts and not noughts.strip("0")
    return whole if is_whole else text


@examples(25)
@given(
    listed=st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=6),
    judged=st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=6),
)
def test_spellings_of_one_id_are_those_that_are_plain_the_same(
    listed: list[str], judged: list[str]
):
    recs, truth = (
        pl.DataFrame({"user": users, "item": range(len(users)), "rank": 1})
        for users in (listed, judged)
    )

    found = recs.rec(truth=truth.drop("rank")).audit(2).filter(check="id_spellings")

    spelled: dict[str, set[str]] = {}
    for user in listed + judged:
        spelled.setdefault(plain(user), set()).add(user)
    odd = {one for text, ones in spelled.items() if len(ones) > 1 for one in ones - {text}}
    frames = {"recommendations": listed, "truth": judged}
    expected = {name: sum(user in odd for user in users) for name, users in frames.items()}
    assert dict(found.select("frame", "rows").rows()) == {
        name: rows for name, rows in expected.items() if rows
    }
