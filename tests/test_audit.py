"""The audit: each check finds its own defect, with its counts, and nothing else; it changes no number."""

from __future__ import annotations

import math
import re
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asking import rows
from conftest import KINDS, Kind, slow_after_the_first
from recframe.audit.checks import CHECKS
from recframe.audit.report import COLUMNS
from recframe.audit.rule import SEVERITIES

# Two users with lists of two items; each likes one item of the list and one beyond it.
RECS = rows(("u", "a", 1), ("u", "b", 2), ("v", "c", 1), ("v", "a", 2), schema=("user", "item", "rank"))
TRUTH = rows(("u", "a", 1), ("u", "d", 2), ("v", "a", 1), ("v", "e", 1), schema=("user", "item", "relevance"))
JUDGED = RECS.rec(truth=TRUTH).judge().sort("user", "item")
ITEMS = pl.DataFrame({"item": list("abcde"), "genre": list("xxyyx")})
USERS = pl.DataFrame({"user": ["u", "v"], "country": ["FR", "DE"]})
TRAIN = rows(("u", "f"), ("v", "b"), ("w", "a"), ("w", "c"), schema=("user", "item"))
SCORED = RECS.select("user", "item", score=10.0 - pl.col("rank"))
NAN, INF = math.nan, math.inf


def audit(kind: Kind, frame: pl.DataFrame, *, k: int | None = None, by: Any = None, **options: Any) -> pl.DataFrame:
    options = {name: kind(value) if isinstance(value, pl.DataFrame) else value for name, value in options.items()}
    return kind.read(kind(frame).rec(**options).audit(k, by=by))


def found(kind: Kind, frame: pl.DataFrame, **options: Any) -> list[tuple[Any, ...]]:
    """Return check, severity, frame, rows and users of every finding."""
    return audit(kind, frame, **options).select("check", "severity", "frame", "rows", "users").rows()


def with_row(frame: pl.DataFrame, *more: tuple[Any, ...]) -> pl.DataFrame:
    return pl.concat([frame, rows(*more, schema=frame.columns, **frame.schema)])


def floats(frame: pl.DataFrame, **values: list[Any]) -> pl.DataFrame:
    return frame.with_columns(pl.Series(name, column, dtype=pl.Float64) for name, column in values.items())


# ---- nothing where all is well


@pytest.mark.parametrize("frame", [RECS, SCORED], ids=["ranked", "scored"])
def test_nothing_is_found_in_two_frames_without_defect(kind, frame):
    sides = {"truth": TRUTH, "users": USERS, "items": pl.concat([ITEMS, ITEMS[:1].with_columns(item=pl.lit("f"))])}
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


# ---- each check, on the smallest frame that breaks it

LONG = rows(*(("u", item, rank) for rank, item in enumerate("abcde", 1)), schema=("user", "item", "rank"))
POOLED = pl.concat(
    [RECS.with_columns(system=pl.lit("old")), RECS.with_columns(item=pl.col("item") + "2", system=pl.lit("new"))]
)
SPLIT = pl.concat([RECS, TRUTH], how="diagonal")
TWO_MODELS = pl.concat(
    [JUDGED.with_columns(model=pl.lit("x")), JUDGED.with_columns(pl.col("relevance") * 2, model=pl.lit("y"))]
)
NO_LIST_OF_Y = [("u", "a", 1, "x"), ("v", "a", 1, "x"), ("v", "b", 1, "y")]

CASES: dict[str, tuple[pl.DataFrame, dict[str, Any], list[tuple[Any, ...]]]] = {
    # of the two rows one has no user
    "null ids": (
        with_row(RECS, (None, "a", 3), ("u", None, 3)),
        {"truth": TRUTH},
        [("null_ids", "error", "recommendations", 2, 1)],
    ),
    "null ids in the truth": (RECS, {"truth": with_row(TRUTH, ("u", None, 1))}, [("null_ids", "error", "truth", 1, 1)]),
    "null ids in train": (
        RECS,
        {"truth": TRUTH, "train": with_row(TRAIN, (None, "b"))},
        [("null_ids", "error", "train", 1, 0)],
    ),
    "null ids of a judged frame": (with_row(JUDGED, ("u", None, 3, 1)), {}, [("null_ids", "error", "judged", 1, 1)]),
    # the item 'a ' of u does not match the truth's 'a', nor does it stand in the catalogue
    "ids with blanks": (
        RECS.with_columns(item=pl.Series(["a ", "b", "c", "a"])),
        {"truth": TRUTH},
        [("id_spellings", "error", "recommendations", 1, 1)],
    ),
    "ids that were floats": (
        RECS.with_columns(user=pl.col("user").replace({"u": "1", "v": "2"})),
        {"truth": TRUTH.with_columns(user=pl.col("user").replace({"u": "1.0", "v": "2"}))},
        [
            ("id_spellings", "error", "truth", 2, 1),
            ("users_without_lists", "warning", "truth", 2, 1),
            ("users_without_truth", "info", "recommendations", 2, 1),
        ],
    ),
    "a user described twice": (
        RECS,
        {"truth": TRUTH, "users": pl.concat([USERS, USERS[:1]])},
        [("repeated_keys", "error", "users", 2, 1)],
    ),
    "an item described twice": (
        RECS,
        {"truth": TRUTH, "items": pl.concat([ITEMS, ITEMS[:1]])},
        [("repeated_keys", "error", "items", 2, 0)],
    ),
    "ranks from 0": (
        RECS.with_columns(pl.col("rank") - 1),
        {"truth": TRUTH},
        [("rank_below_1", "error", "recommendations", 2, 2)],
    ),
    # lists of 3 rows that rank 2, as the third has no rank
    "null ranks": (with_row(RECS, ("u", "z", None)), {"truth": TRUTH}, [("missing_ranks", "warning", "recommendations", 1, 1)]),
    "NaN ranks": (
        floats(with_row(RECS, ("u", "z", None)), rank=[1, 2, 1, 2, NAN]),
        {"truth": TRUTH},
        [("missing_ranks", "warning", "recommendations", 1, 1)],
    ),
    "infinite ranks": (floats(JUDGED, rank=[1, 2, None, 2, 1, INF]), {}, [("missing_ranks", "warning", "judged", 1, 1)]),
    "mean ranks": (
        floats(RECS, rank=[1.5, 1.5, 1, 2]),
        {"truth": TRUTH},
        [
            ("fractional_ranks", "warning", "recommendations", 2, 1),
            ("repeated_ranks", "warning", "recommendations", 2, 1),
        ],
    ),
    "a repeated rank": (
        RECS.with_columns(rank=pl.Series([1, 1, 1, 2])),
        {"truth": TRUTH},
        [("repeated_ranks", "warning", "recommendations", 2, 1)],
    ),
    "systems that are not told apart": (
        POOLED,
        {"truth": TRUTH},
        [("pooled_models", "error", "recommendations", 8, 2), ("repeated_ranks", "warning", "recommendations", 8, 2)],
    ),
    # 1 and 3: the last rank is beyond the two rows
    "a gap": (
        RECS.with_columns(rank=pl.Series([1, 3, 1, 2])),
        {"truth": TRUTH},
        [("rank_gaps", "warning", "recommendations", 2, 1)],
    ),
    "scores that are missing": (
        floats(SCORED, score=[2, None, 2, NAN]),
        {"truth": TRUTH},
        [("missing_scores", "warning", "recommendations", 2, 2)],
    ),
    "infinite scores": (
        floats(SCORED, score=[INF, 1, 1, -INF]),
        {"truth": TRUTH},
        [("infinite_scores", "warning", "recommendations", 2, 2)],
    ),
    "tied scores": (
        floats(SCORED, score=[0.5, 0.5, 0.5, 0.25]),
        {"truth": TRUTH},
        [("tied_scores", "warning", "recommendations", 2, 1)],
    ),
    "truth without a relevance": (
        RECS,
        {"truth": with_row(TRUTH, ("u", "b", None))},
        [("null_relevance", "warning", "truth", 1, 1)],
    ),
    "an infinite relevance": (
        RECS,
        {"truth": with_row(TRUTH, ("u", "b", INF))},
        [("infinite_relevance", "error", "truth", 1, 1)],
    ),
    "a dislike": (RECS, {"truth": with_row(TRUTH, ("u", "b", -1))}, [("negative_relevance", "info", "truth", 1, 1)]),
    "relevance that looks like a score": (
        RECS,
        {"truth": TRUTH.with_columns(relevance=pl.Series([0.9, 0.25, 0.75, 0.5]))},
        [("relevance_like_scores", "warning", "truth", 4, 2)],
    ),
    "nothing relevant beyond the lists": (
        JUDGED.filter(pl.col("rank").is_not_null()),
        {},
        [("no_relevant_beyond_lists", "warning", "judged", 2, 2)],
    ),
    "an item twice in a list": (
        with_row(RECS, ("u", "a", 3)),
        {"truth": TRUTH, "k": 2},
        [("duplicate_items", "error", "recommendations", 2, 1)],
    ),
    "an item twice in a list of a judged frame": (
        with_row(JUDGED, ("u", "b", 3, None)),
        {"k": 2},
        [("duplicate_items", "error", "judged", 2, 1)],
    ),
    "an item twice in a list of scores": (
        with_row(SCORED, ("u", "a", 3.0)),
        {"truth": TRUTH, "k": 2},
        [("duplicate_items", "error", "recommendations", 2, 1)],
    ),
    # a of u and a of v are recommended in one row and judged in another: 4 rows
    "recommendations and truth below one another": (SPLIT, {}, [("split_pairs", "error", "judged", 4, 2)]),
    "a pair judged twice": (RECS, {"truth": pl.concat([TRUTH, TRUTH[:1]])}, [("duplicate_truth", "warning", "truth", 2, 1)]),
    "a pair of a judged frame judged twice": (
        with_row(JUDGED, ("u", "d", None, 2)),
        {},
        [("duplicate_truth", "warning", "judged", 2, 1)],
    ),
    "a pair judged in two ways": (
        RECS,
        {"truth": with_row(TRUTH, ("u", "a", 2))},
        [("conflicting_truth", "error", "truth", 2, 1)],
    ),
    # the judged rows of y, 4, are twice as relevant as those of x
    "models judged in two ways": (TWO_MODELS, {"model": "model"}, [("conflicting_truth", "error", "judged", 8, 2)]),
    "a list shorter than k": (RECS[:3], {"truth": TRUTH, "k": 2}, [("short_lists", "warning", "recommendations", 1, 1)]),
    "a list shorter than another": (RECS[:3], {"truth": TRUTH}, [("uneven_lists", "info", "recommendations", 1, 1)]),
    "a user without truth": (RECS, {"truth": TRUTH[:2]}, [("users_without_truth", "info", "recommendations", 2, 1)]),
    "a user without truth who counts": (
        RECS,
        {"truth": TRUTH[:2], "universe": "all"},
        [("users_without_truth", "warning", "recommendations", 2, 1)],
    ),
    "a user of a judged frame without truth": (
        JUDGED.with_columns(relevance=pl.when(pl.col("user") == "u").then("relevance")),
        {},
        [("users_without_truth", "warning", "judged", 2, 1)],
    ),
    "a user without recommendations": (
        RECS[:2],
        {"truth": TRUTH},
        [("users_without_lists", "warning", "truth", 2, 1)],
    ),
    "a user without recommendations who is left out": (
        RECS[:2],
        {"truth": TRUTH, "universe": "recs"},
        [("users_without_lists", "info", "truth", 2, 1)],
    ),
    "a user to whom one model recommends nothing": (
        rows(*NO_LIST_OF_Y, schema=("user", "item", "rank", "model")),
        {"truth": TRUTH, "model": "model"},
        [("users_without_lists", "warning", "truth", 2, 1)],
    ),
    "a user who likes nothing": (
        RECS,
        {"truth": TRUTH.with_columns(relevance=pl.Series([1, 2, 0, 0]))},
        [("users_without_relevant", "info", "truth", 2, 1)],
    ),
    "a user in two segments of the recommendations": (
        RECS.with_columns(country=pl.Series(["FR", "DE", "DE", "DE"])),
        {"truth": TRUTH, "by": "country"},
        [("users_in_two_segments", "error", "recommendations", 2, 1)],
    ),
    "a user in two segments of a judged frame": (
        JUDGED.with_columns(genre=pl.Series(["x", "y", "x", "x", "x", "x"])),
        {"by": "genre"},
        [("users_in_two_segments", "info", "judged", 3, 1)],
    ),
    "a user in two halves of a judged frame": (
        JUDGED.with_columns(country=pl.when(pl.col("rank").is_not_null()).then(pl.lit("DE"))),
        {"by": "country"},
        [("users_in_two_halves", "error", "judged", JUDGED["rank"].null_count(), JUDGED["user"].n_unique())],
    ),
    "recommended again": (
        RECS,
        {"truth": TRUTH, "train": with_row(TRAIN, ("u", "b"))},
        [("recommended_in_train", "warning", "recommendations", 1, 1)],
    ),
    "truth that was trained on": (
        RECS,
        {"truth": TRUTH, "train": with_row(TRAIN, ("u", "d"))},
        [("truth_in_train", "warning", "truth", 1, 1)],
    ),
    # c of v's list and e of v's truth
    "items that nobody knows": (
        RECS,
        {"truth": TRUTH, "items": pl.DataFrame({"item": list("abd")})},
        [("unknown_items", "warning", "recommendations", 1, 1), ("unknown_items", "warning", "truth", 1, 1)],
    ),
    # a stands in both lists, and nobody has it in train
    "items that are new": (
        RECS,
        {"truth": TRUTH, "train": TRAIN.filter(pl.col("item") != "a")},
        [("cold_items", "info", "recommendations", 2, 2)],
    ),
    "items that are new to a judged frame": (
        JUDGED,
        {"train": TRAIN.filter(pl.col("item") != "c")},
        [("cold_items", "info", "judged", 1, 1)],
    ),
    # the two rows of u's list
    "a user who is new": (
        RECS,
        {"truth": TRUTH, "train": with_row(TRAIN, ("w", "b"), ("u", None)).filter(pl.col("user") != "u")},
        [("users_without_history", "info", "recommendations", 2, 1)],
    ),
    # one item without a genre; three without tags: null, no tag, a tag that is null
    "items without features": (
        RECS,
        {
            "truth": TRUTH,
            "items": ITEMS.with_columns(
                genre=pl.Series(["x", None, "y", "y", "x"]),
                tags=pl.Series([["p"], [], None, [None], ["p", None]], dtype=pl.List(pl.String)),
                price=pl.Series([None, 1.5, 2.5, None, 0.5]),
            ),
        },
        [("items_without_features", "info", "items", 1, 0), ("items_without_features", "info", "items", 3, 0)],
    ),
    # of both categories every item has each once
    "vectors of 0 and 1": (
        RECS,
        {
            "truth": TRUTH,
            "items": ITEMS.with_columns(
                bits=pl.Series([[0, 1, 0]] * 3 + [[1, 1, 1], None], dtype=pl.List(pl.Int8)),
                both=pl.Series([[0, 1], [1, 0]] + [[0, 1]] * 3),
            ),
        },
        [("multi_hot_lists", "warning", "items", 4, 0), ("items_without_features", "info", "items", 1, 0)],
    ),
    # of the relevant pairs two have no chance to be seen and one none that is known; the fourth is not relevant
    "propensities that are none": (
        RECS,
        {
            "truth": floats(TRUTH, seen=[0.0, -0.5, None, None]).with_columns(relevance=pl.Series([1, 2, 1, 0])),
            "propensity": "seen",
        },
        [("missing_propensity", "error", "truth", 3, 2)],
    ),
    # those of u's d and v's a; the items without a relevance need none
    "propensities of a judged frame that are none": (
        floats(JUDGED, seen=[0.5, None, 0.0, None, 0.5, 0.5]),
        {"propensity": "seen"},
        [("missing_propensity", "error", "judged", 2, 2)],
    ),
    "a reference that is no model": (
        RECS.with_columns(model=pl.lit("x")),
        {"truth": TRUTH, "model": "model", "reference": "y"},
        [("unknown_reference", "error", "recommendations", 4, 2)],
    ),
}
PLAIN = [kind for kind in KINDS if kind.name in {"polars", "lazy", "pandas"}]  # the others are made of these
on_plain_kinds = pytest.mark.parametrize("kind", slow_after_the_first(PLAIN), ids=repr)
each_case = pytest.mark.parametrize(("frame", "options", "findings"), CASES.values(), ids=CASES)


@pytest.mark.parametrize("kind", slow_after_the_first(KINDS), ids=repr)
@each_case
def test_a_check_finds_its_defect_and_no_other_and_fills_in_every_word(kind, frame, options, findings):
    result = audit(kind, frame, **options)

    assert result.select("check", "severity", "frame", "rows", "users").rows() == findings
    assert not any(result.null_count().row(0))
    assert result.schema == {name: pl.Int64 if name in {"rows", "users"} else pl.String for name in COLUMNS}
    assert set(result["severity"]) <= set(SEVERITIES)


def test_nan_as_relevance_is_found_as_the_null_that_it_is_taken_for(kind):
    truth = with_row(TRUTH, ("u", "b", NAN))

    assert found(kind, RECS, truth=truth) == [("null_relevance", "warning", "truth", 1, 1)]


def test_ids_that_would_match_after_a_cast_are_a_finding_and_no_error(kind):
    numbers = {"a": "1", "b": "2", "c": "3", "d": "4", "e": "5"}
    recs, truth = (frame.with_columns(pl.col("item").replace(numbers)) for frame in (RECS, TRUTH))
    recs = recs.with_columns(pl.col("item").cast(pl.Int64))

    result = audit(kind, recs, truth=truth)

    assert result.select("check", "severity", "frame", "rows", "users").rows() == [
        ("id_dtypes", "error", "recommendations", 4, 2)
    ]
    said = "the item ids have different dtypes: Int64 in the frame of recommendations, String in the frame truth="
    assert result["example"].item().startswith(said)
    with pytest.raises(rf.ColumnError, match="the item ids have different dtypes"):
        kind(recs).rec(truth=kind(truth)).evaluate("ndcg")


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
        [[1], [2], [3], [4]],
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

    shown = frame.rec(truth=users.select("user", "item")).audit().filter(pl.col("check") == "rank_below_1")
    clash = users.rec(truth=TRUTH.with_columns(user=pl.lit(7, dtype=pl.Int64))).audit()

    assert shown["example"].item().startswith("user ")
    assert shown["example"].item().endswith(", item 'a', rank 0")
    assert clash["check"][0] == "id_dtypes"


def test_every_check_has_a_case():
    cases = {name for _, _, findings in CASES.values() for name, *_ in findings}

    assert cases | {"id_dtypes"} == {check.name for check in CHECKS}


# ---- what a finding says


def test_the_example_is_one_of_the_rows(kind):
    zero = with_row(RECS, ("u", "z", 0))

    assert audit(kind, zero, truth=TRUTH, k=1)["example"].to_list() == ["user 'u', item 'z', rank 0"]


def test_the_remedy_names_the_column_that_seems_to_tell_systems_apart(kind):
    first = audit(kind, POOLED, truth=TRUTH).row(0, named=True)

    assert first["check"] == "pooled_models"
    assert "rec(model='system')" in first["remedy"]
    assert "pooled_models" not in audit(kind, POOLED, truth=TRUTH, model="system", k=1)["check"]


def test_a_column_named_model_that_is_not_bound_is_one_that_seems_to_tell_systems_apart(kind):
    first = audit(kind, POOLED.rename({"system": "model"}), truth=TRUTH).row(0, named=True)

    assert first["check"] == "pooled_models"
    assert "rec(model='model')" in first["remedy"]


def test_a_column_that_does_not_tell_all_rows_of_a_rank_apart_names_no_system(kind):
    labelled = POOLED.with_columns(system=pl.Series(["x", "x", "y", "x", "x", "y", "y", "x"]))

    assert "pooled_models" not in audit(kind, labelled, truth=TRUTH)["check"]


def test_a_column_of_places_names_no_system(kind):
    """Of three rows two are tied in rank, and each has a place of its own."""
    frame = with_row(RECS.with_columns(place=pl.Series([1, 2, 1, 2])), ("u", "x", 2, 3), ("v", "x", 2, 3))

    assert found(kind, frame, truth=TRUTH, k=1) == [("repeated_ranks", "warning", "recommendations", 4, 2)]


def test_errors_come_before_warnings_and_those_before_the_rest(kind):
    frame = with_row(RECS[:3], ("u", "z", 2), ("u", "y", 0))

    severities = audit(kind, frame, truth=TRUTH)["severity"].to_list()
    assert severities == sorted(severities, key=SEVERITIES.index)
    assert set(severities) == set(SEVERITIES)


def test_what_is_done_depends_on_what_is_bound(kind):
    def said(name: str, **options: Any) -> str:
        result = audit(kind, RECS[:2], truth=TRUTH[1:].with_columns(relevance=pl.lit(0)), **options)
        return result.filter(check=name)["treatment"].item()

    assert said("users_without_relevant") == "the user counts, with 0"
    assert said("users_without_relevant", no_relevant="skip") == "the user is left out"
    assert said("users_without_relevant", no_relevant="null") == "the user's values are null"
    assert said("users_without_lists") == "the user counts, with 0"
    assert said("users_without_lists", universe="both") == "the user is left out"


def test_repeated_ranks_say_what_becomes_of_them(kind):
    frame = RECS.with_columns(rank=1)

    treatments = {
        None: "all of them count up to the rank",
        "expected": "ties are broken as ties='expected' says",
        "last": "all of them stand at the last place of their tie, as ties='last' says",
    }
    for ties, said in treatments.items():
        (finding,) = audit(kind, frame, truth=TRUTH, ties=ties).filter(check="repeated_ranks").to_dicts()
        assert finding["treatment"].startswith(said)
        assert "rec(ties='expected')" in finding["remedy"]


def test_columns_are_named_as_in_a_metric(kind):
    names = {"user": "user_id", "item": "*", "rank": "^.*$"}
    options = {name: value for name, value in names.items() if name != "rank"}

    result = audit(kind, with_row(RECS, ("u", "z", 0)).rename(names), truth=TRUTH.rename(options), k=1, **names)

    assert result["check"].to_list() == ["rank_below_1"]


# ---- the call


@pytest.mark.parametrize("k", [0, -1, 1.5, "10", True, [1, 2]])
def test_k_is_one_cut_off(k):
    with pytest.raises(rf.RecframeError, match="k is a positive whole number"):
        RECS.rec(truth=TRUTH).audit(k)


def test_a_column_that_is_missing_is_an_error():
    with pytest.raises(rf.ColumnError, match="has no column 'rank'"):
        RECS.drop("rank").rec(truth=TRUTH).audit()
    with pytest.raises(rf.ColumnError, match=re.escape("the frame train= has no column 'item'")):
        RECS.rec(truth=TRUTH, train=TRAIN.drop("item")).audit()
    with pytest.raises(rf.ColumnError, match="by='country' is not a column"):
        RECS.rec(truth=TRUTH).audit(by="country")


def test_train_is_checked_as_the_truth_is_and_serves_no_segment(kind):
    numbers = TRAIN.with_columns(item=pl.lit(1, dtype=pl.Int64), genre=pl.lit("x"))
    message = "the item ids have different dtypes: String in the frame of recommendations, String in the frame truth=, Int64 in"
    with pytest.raises(rf.ColumnError, match=message):
        kind(RECS).rec(truth=kind(TRUTH), train=kind(numbers)).evaluate("ndcg")

    described = TRAIN.with_columns(genre=pl.lit("x"))
    result = kind.read(kind(RECS).rec(truth=kind(TRUTH), train=kind(described), items=kind(ITEMS)).recall(k=2, by="genre"))
    assert result["genre"].to_list() == ["x", "y"]


def test_bound_segments_are_audited(kind):
    frame = RECS.with_columns(country=pl.Series(["FR", "DE", "DE", "DE"]))
    bound = kind(frame).rec(truth=kind(TRUTH)).group_by("country")

    assert kind.read(bound.audit())["check"].to_list() == ["users_in_two_segments"]


def test_a_lazy_frame_is_audited_by_a_plan_without_python(monkeypatch):
    collected: list[object] = []
    monkeypatch.setattr(pl.LazyFrame, "collect", lambda *_, **__: collected.append(1))
    frame = with_row(RECS, ("u", "z", 0)).lazy()

    plan = frame.rec(truth=TRUTH.lazy(), train=TRAIN, items=ITEMS.lazy()).audit(10)
    text = plan.explain()
    monkeypatch.undo()

    assert isinstance(plan, pl.LazyFrame)
    assert not collected
    assert "python" not in text.lower()
    assert plan.collect()["check"][0] == "rank_below_1"


def test_an_empty_frame_has_nothing_odd_but_the_users_who_get_nothing(kind):
    assert audit(kind, JUDGED.clear(), k=10).is_empty()
    assert found(kind, RECS.clear(), truth=TRUTH, k=10) == [("users_without_lists", "warning", "truth", 4, 2)]


# ---- it changes no number


@on_plain_kinds
@each_case
def test_no_number_changes(kind, frame, options, findings):
    options = {name: value for name, value in options.items() if name not in {"k", "by"}}
    sides = {name: kind(value) for name, value in options.items() if isinstance(value, pl.DataFrame)}
    rec = kind(frame).rec(**options | sides)
    if not any(severity == "error" for _, severity, *_ in findings):
        before = kind.read(rec.evaluate("ndcg@2", "recall@2"))
        kind.read(rec.audit())
        assert_frame_equal(kind.read(rec.evaluate("ndcg@2", "recall@2")), before)


SIZE = 24_000


def large(order: str) -> pl.DataFrame:
    """Return a judged frame that is asked beforehand what its checks can do without; every twelfth item was not recommended."""
    row = pl.int_range(SIZE)
    frame = pl.select(user=row // 12, item=row % 12 + row // 12, rank=row % 12 + 1, relevance=(row % 12 > 9).cast(pl.Int64))
    frame = frame.with_columns(rank=pl.when(pl.col("rank") < 12).then("rank"))
    return frame.sample(fraction=1, shuffle=True, seed=1) if order == "shuffled" else frame


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.UInt8, pl.Decimal(10, 2), pl.Float32])
def test_a_relevance_of_any_dtype_is_audited(kind, dtype):
    if dtype == pl.Decimal(10, 2) and kind.name == "pandas":
        pytest.skip("a Decimal is a Python object there")
    relevance = pl.Series([True, False] if dtype == pl.Boolean else [1, 0], dtype=dtype)
    truth = pl.DataFrame({"user": ["u", "u"], "item": ["a", "a"], "relevance": relevance})

    assert found(kind, RECS[:2], truth=truth) == [("conflicting_truth", "error", "truth", 2, 1)]
    assert found(kind, RECS[:2], truth=pl.concat([truth[:1], truth[:1]])) == [("duplicate_truth", "warning", "truth", 2, 1)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if "pandas" not in kind.name], ids=repr)
def test_columns_without_a_value_or_a_dtype_are_audited(kind):
    nothing = pl.Series([None, None], dtype=pl.Null)
    judged = JUDGED[:2].with_columns(rank=nothing, relevance=nothing)

    assert audit(kind, judged).is_empty()
    assert found(kind, RECS[:2], truth=TRUTH[:2].with_columns(relevance=nothing))[0][0] == "null_relevance"


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.String, pl.Categorical, pl.Binary])
@pytest.mark.parametrize("order", ["sorted", "shuffled"])
@pytest.mark.parametrize("defects", [0, 3])
def test_a_large_eager_frame_has_the_findings_of_the_lazy_one(order, dtype, defects):
    frame = large(order)
    again = frame.filter(pl.col("rank") == 1).sort("user")[:defects]
    again = pl.concat([again, again.with_columns(pl.col("item") + 100, relevance=pl.lit(None, dtype=pl.Int64))])
    frame = pl.concat([frame, again]).with_columns(
        pl.col("user", "item").cast(pl.String).cast(dtype) if dtype != pl.Int64 else "user"
    )

    counts = ["check", "severity", "frame", "rows", "users"]
    result = frame.rec.audit(11).select(counts)

    for engine in ("in-memory", "streaming"):
        assert_frame_equal(result, frame.lazy().rec.audit(11).select(counts).collect(engine=engine))
    # of three users the first row stands there twice, and an item more has the rank 1
    repeated = [("duplicate_items", "error", "judged", 6, 3), ("repeated_ranks", "warning", "judged", 9, 3)]
    assert result.rows() == (repeated if defects else [])


# ---- strict


def raises(kind: Kind, call: Any, *words: str) -> None:
    """Expect an error with some words, which a LazyFrame raises when it is collected."""
    error: Any = pl.exceptions.PolarsError if kind.name in {"lazy", "streaming"} else rf.DataError
    with pytest.raises(error) as caught:
        kind.read(call())
    assert all(word in str(caught.value) for word in words)


@on_plain_kinds
@each_case
def test_strict_raises_what_the_audit_finds_as_an_error_and_nothing_else(kind, frame, options, findings):
    by, options = options.get("by"), {name: value for name, value in options.items() if name not in {"k", "by"}}
    options = {name: kind(value) if isinstance(value, pl.DataFrame) else value for name, value in options.items()}
    strict = kind(frame).rec(**options, strict=True)
    errors = [name for name, severity, *_ in findings if severity == "error"]

    if errors:
        raises(kind, lambda: strict.evaluate("ndcg@2", by=by), "strict=True", *(f"{name}: " for name in errors))
    else:
        usual = kind(frame).rec(**options).evaluate("ndcg@2", by=by)
        assert_frame_equal(kind.read(strict.evaluate("ndcg@2", by=by)), kind.read(usual))


def test_strict_lists_every_error_with_its_counts_and_an_example(kind):
    frame = with_row(RECS, ("u", "z", 0), ("u", None, 3))

    raises(
        kind,
        lambda: kind(frame).rec(truth=kind(TRUTH), strict=True).evaluate("ndcg"),
        "null_ids: 1 row of recommendations (user 'u', item null)",
        "rank_below_1: 1 row of recommendations (user 'u', item 'z', rank 0)",
        "rec.audit()",
    )


def test_strict_holds_for_the_judged_frame_and_for_a_metric_alone(kind):
    strict = kind(with_row(RECS, ("u", "a", 3))).rec(truth=kind(TRUTH), strict=True)

    raises(kind, strict.judge, "duplicate_items: ")
    with pytest.raises((rf.RecframeError, pl.exceptions.PolarsError)):
        kind.read(strict.ndcg(k=[1, 2]))
    assert "duplicate_items" in kind.read(strict.audit())["check"]
    assert kind.read(strict(strict=False).evaluate("recall@3"))["n_users"].item() == 2


def test_strict_is_true_or_false():
    with pytest.raises(rf.RecframeError, match=re.escape("strict='yes': write True")):
        RECS.rec(strict="yes")


def test_a_kind_is_given_back(kind):
    result = kind(RECS).rec(truth=kind(TRUTH)).audit()

    assert type(result) is type(kind(RECS))
