"""Lists against reference lists: frames and models, cut-offs, gaps and ties, segments, and what is said of a wrong one."""

from __future__ import annotations

import math

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from asking import ask, ask_one, liked, recommended, rows
from buckets_of_users import in_buckets
from frame_kinds import KINDS, Kind

THREE = ["overlap", "unexpectedness", "rbo", "rbo(form=truncated)"]


def models(**lists: pl.DataFrame) -> pl.DataFrame:
    return pl.concat([frame.with_columns(model=pl.lit(name)) for name, frame in lists.items()])


@pytest.mark.parametrize(
    ("metric", "one", "other", "value"),
    [
        # lists of 3 that are the same: 1/9 (3 ln 10 - 2 · 0.9 - 1 · 0.9^2 / 2)
        ("rbo(form=min)", "abc", "abc", 0.522528),
        # 1 at depth 1, then 2/2: the mean of ones
        ("rbo(form=truncated)", "ab", "abcd", 1.0),
        # depths 1 to 3: 0, 2/2, 2/3, weighed 1, 1/2, 1/4: (1/2 + 1/6) / (7/4)
        ("rbo(p=0.5,form=truncated)", "abc", "bad", 8 / 21),
        # X = 1 at both depths: 1/2 (1 + 1/2 · 1/2) + 1/2 · 1/4
        ("rbo(p=0.5)", "ab", "ac", 3 / 4),
        # nothing in common is nothing in every form
        ("rbo(form=min)", "ab", "cd", 0.0),
        ("rbo(form=truncated)", "ab", "cd", 0.0),
    ],
)
def test_the_forms_of_rank_biased_overlap(
    kind: Kind, metric: str, one: str, other: str, value: float
):
    for first, second in ((one, other), (other, one)):
        found = ask_one(kind, recommended(u=first), metric, reference=recommended(u=second))
        assert found[metric] == pytest.approx(value, abs=1e-6 if value == 0.522528 else 1e-12)


def test_the_least_overlap_of_a_long_list_with_itself_nears_one():
    # what is left out is the weight of the depths beyond 400: 0.9^400
    length = 400
    recs = pl.DataFrame({"user": [1] * length, "item": range(length), "rank": range(1, length + 1)})

    assert recs.rec(reference=recs).rbo(form="min") == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("p", [0.01, 0.5, 0.9, 0.999, 0.999999])
def test_a_long_list_against_itself_is_one(p: float):
    length = 3_000
    recs = pl.DataFrame({"user": [1] * length, "item": range(length), "rank": range(1, length + 1)})

    assert recs.rec(reference=recs).rbo(p=p) == pytest.approx(1, abs=1e-12)
    assert recs.rec(reference=recs).rbo(p=p, form="truncated") == pytest.approx(1, abs=1e-9)


def test_gaps_in_ranks_close_up_and_repeated_ranks_follow_the_items(kind: Kind):
    gaps = rows(("u", "a", 2), ("u", "b", 5), ("u", "c", 9), schema=("user", "item", "rank"))
    ties = rows(("u", "c", 7), ("u", "b", 3), ("u", "a", 3), schema=("user", "item", "rank"))

    for one, other in ((gaps, ties), (ties, gaps), (gaps, recommended(u="abc"))):
        assert ask_one(kind, one, "rbo", reference=other)["rbo"] == pytest.approx(1, abs=1e-12)
    # the cut-off is of ranks: a, b of one and a, b of the other, c is beyond 5 in both
    assert ask_one(kind, gaps, "overlap@5", reference=ties)["overlap@5"] == 1.0
    assert ask_one(kind, gaps, "overlap@4", reference=ties)["overlap@4"] == 1.0
    assert ask_one(kind, ties, "overlap@4", reference=gaps)["overlap@4"] == 0.5


def test_equal_ranks_of_a_reference_are_in_the_order_of_items(kind: Kind):
    # of a and b up to 3 the reference keeps b, which comes first, and a is at 4
    ties = rows(("u", "c", 7), ("u", "b", 3), ("u", "a", 3), schema=("user", "item", "rank"))

    assert ask_one(kind, recommended(u="abc"), "overlap@3", reference=ties)[
        "overlap@3"
    ] == pytest.approx(2 / 3)


def test_an_item_that_is_listed_twice_has_its_best_place(kind: Kind):
    twice = rows(
        ("u", "a", 1), ("u", "b", 2), ("u", "a", 3), ("u", "c", 4), schema=("user", "item", "rank")
    )

    for one, other in ((twice, recommended(u="abc")), (recommended(u="abc"), twice)):
        found = ask_one(kind, one, *THREE, reference=other)
        assert [found[name] for name in THREE] == pytest.approx([1, 0, 1, 1], abs=1e-12)


def test_the_reference_is_cut_at_k_or_at_its_own(kind: Kind):
    recs, other = recommended(u="abcd"), recommended(u="dcba")
    names = [
        "overlap@2", "overlap(reference_k=3)@2", "overlap(reference_k=4)@2",
        "overlap(reference_k=1)",
    ]  # fmt: skip

    found = ask_one(kind, recs, *names, reference=other)

    # ab against dc, dcb, dcba; abcd against d
    assert [found[name] for name in names] == [0.0, 0.5, 1.0, 0.25]


def test_users_without_a_reference_share_nothing_and_users_without_a_list_do_not_count(kind: Kind):
    found = ask(
        kind, recommended(u="ab", v="ab"), *THREE, by="user", reference=recommended(u="ab", w="ab")
    )

    assert found.rows() == [("u", 1, 0, 1, 1), ("v", 0, 1, 0, 0)]


def test_a_reference_may_have_scores(kind: Kind):
    recs = recommended(u="abc")
    scored = recs.select("user", "item", score=-2.0 * pl.col("rank"))

    found = ask_one(kind, recs, "rbo", "overlap@2", reference=scored)
    assert [found["rbo"], found["overlap@2"]] == pytest.approx([1, 1], abs=1e-12)
    found = ask_one(kind, scored, "rbo", "overlap@2", reference=recs)
    assert [found["rbo"], found["overlap@2"]] == pytest.approx([1, 1], abs=1e-12)
    for ties in ("item_desc", "pessimistic", "optimistic", "order"):
        options = {"reference": scored, "truth": liked(u="a"), "ties": ties}
        assert ask_one(kind, scored, "rbo", **options)["rbo"] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("by", [None, "user", "genre", "item"])
def test_a_model_against_itself_is_one(kind: Kind, by: str | None):
    recs = models(old=recommended(u="abc", v="ab"), new=recommended(u="cad", v="xy", w="a"))
    items = pl.DataFrame({"item": list("abcdxy"), "genre": ["p", "q", "q", None, "p", "p"]})

    found = ask(kind, recs, *THREE, by=by, model="model", reference="old", items=items)
    itself = found.filter(model="old").drop_nulls("rbo")

    assert len(itself)
    for name, value in zip(THREE, [1, 0, 1, 1], strict=True):
        assert itself[name].to_list() == pytest.approx([value] * len(itself), abs=1e-12)
    # u shares a and c of three, v nothing, and w has no list of the old model
    if by is None:
        assert found.filter(model="new")["overlap"].item() == pytest.approx((2 / 3 + 0 + 0) / 3)


def test_a_model_against_itself_is_one_in_segments_of_rows(kind: Kind):
    recs = models(x=recommended(u="abcd")).with_columns(
        slot=pl.Series(["top", "side", "top", "side"])
    )
    judged = recs.with_columns(relevance=pl.lit(1))

    found = ask(kind, judged, "overlap", "rbo", by="slot", model="model", reference="x")

    assert found["overlap"].to_list() == [1, 1]
    assert found["rbo"].to_list() == pytest.approx([1, 1], abs=1e-12)


def test_a_model_may_be_named_by_a_number(kind: Kind):
    recs = pl.concat(
        [recommended(u="ab").with_columns(model=1), recommended(u="bc").with_columns(model=2)]
    )

    assert ask(kind, recs, "overlap", model="model", reference="2")["overlap"].to_list() == [0.5, 1]


def test_parts_of_the_users_change_nothing():
    recs = models(
        x=recommended(u="abc", v="ab", w="d"), y=recommended(u="cad", v="xy", z="a")
    ).lazy()
    for reference in ("y", recommended(u="ca", w="dx").lazy()):
        rec = recs.rec(model="model", reference=reference)
        expected = rec.evaluate(*THREE).collect()
        assert_frame_equal(in_buckets(rec, *THREE), expected, rel_tol=1e-12, abs_tol=1e-12)


@pytest.mark.parametrize("name", THREE[:3])
def test_without_a_reference_the_call_is_shown(name: str):
    with pytest.raises(rf.ColumnError) as raised:
        recommended(u="ab").rec(truth=liked(u="a")).evaluate(f"{name}@5")

    assert str(raised.value) == (
        f"{name} needs a reference, which is a frame of lists or the name of a model: "
        f"recs.rec(truth=truth, reference=reference).{name}(k=5)"
    )


@pytest.mark.parametrize("kind", KINDS[:4:3], ids=repr)
@pytest.mark.parametrize("strict", [False, True])
def test_a_model_that_is_not_there_is_an_error(kind: Kind, strict: bool):  # noqa: FBT001
    recs = models(old=recommended(u="ab"), new=recommended(u="ba"))
    said = "reference='odl' names no model: the column 'model' does not have it; name one of its models"

    with pytest.raises(
        (rf.DataError, pl.exceptions.PolarsError), match="unknown_reference" if strict else said
    ):
        ask(kind, recs, "rbo", model="model", reference="odl", strict=strict, truth=liked(u="a"))


def test_lists_of_nobody_have_no_unknown_model():
    found = models(old=recommended(u="ab"))[:0].rec(model="model", reference="old").evaluate("rbo")

    assert found.is_empty()


@pytest.mark.parametrize("value", [-1, "x", True, math.inf])
def test_a_cut_off_of_the_reference_is_a_number(value: object):
    with pytest.raises(rf.RecframeError, match="reference_k takes a number"):
        rf.overlap(reference_k=value)
