"""A side frame may have column names of its own: the numbers are those of the frame renamed, and messages name its columns."""

from __future__ import annotations

import polars as pl
import pytest

import recframe as rf
from asking import recommended, rows
from frame_kinds import KINDS, sharp_and_thorough

on_kinds = pytest.mark.parametrize("kind", sharp_and_thorough(KINDS), ids=str)
RECS = recommended(u="abc", v="bca").with_columns(score=1 / pl.col("rank"))
TRUTH = rows(
    ("u", "b", 2.0, 0.5), ("v", "a", 1.0, 0.9), ("w", "c", 3.0, 0.1),
    schema=("user", "item", "relevance", "seen"), seen=pl.Float64,
)  # fmt: skip
USERS = pl.DataFrame({"user": ["u", "v"], "country": ["FR", "DE"]})
ITEMS = pl.DataFrame({"item": ["a", "b", "c"], "genre": ["x", "y", "x"]})
ISBN = {"user": "customer", "item": "isbn"}
PLAIN = {"truth": TRUTH, "users": USERS, "items": ITEMS, "train": TRUTH, "reference": RECS}


def own(kind, frame: pl.DataFrame, **names: str) -> object:
    """Rename columns of a frame, and say so."""
    return rf.frame(kind(frame.rename(names)), **names)


def sides(kind) -> dict[str, object]:
    return {
        "truth": rf.frame(
            kind(TRUTH.rename({**ISBN, "relevance": "stars"})), **ISBN, relevance="stars",
            propensity="seen",
        ),
        "users": own(kind, USERS, user="login"),
        "items": own(kind, ITEMS, item="isbn"),
        "train": own(kind, TRUTH, user="u", item="i"),
        "reference": own(kind, RECS, user="who", rank="place"),
    }  # fmt: skip


@on_kinds
@pytest.mark.parametrize("by", [None, "user", "country", "genre", ["country", "genre"], "item"])
def test_names_of_a_frame_change_no_number(kind, by):
    metrics = [
        "ndcg@2", "recall(weights=ips)@2", "coverage@2", "category_coverage(of=genre)@2", "rbo@2",
    ]  # fmt: skip
    metrics = metrics if by != "item" else metrics[:2]

    expected = RECS.rec(**PLAIN, propensity="seen").evaluate(metrics, by=by)
    found = kind.read(rf.rec(kind(RECS), **sides(kind)).evaluate(metrics, by=by))
    assert found.equals(expected)


def test_judge_has_the_names_of_the_call(kind):
    recs = kind(RECS.rename({"user": "user_id"}))

    judged = kind.read(recs.rec(truth=sides(kind)["truth"], user="user_id").judge())
    expected = RECS.rec(truth=TRUTH).judge().rename({"user": "user_id"})
    assert judged.sort(pl.all()).equals(expected.sort(pl.all()))


@on_kinds
@pytest.mark.parametrize(
    ("name", "role"), [("customer", "user"), ("login", "user"), ("isbn", "item")]
)
def test_a_name_of_ids_in_by_is_its_role(kind, name, role):
    rec = rf.rec(kind(RECS), **sides(kind))

    found, expected = (kind.read(rec.evaluate("recall@2", by=by)) for by in (name, role))
    assert found.equals(expected)
    assert found.columns[0] == role


def test_a_column_of_that_name_in_another_frame_is_a_column():
    recs = RECS.with_columns(customer=pl.lit("all"))
    found = recs.rec(truth=sides(KINDS[0])["truth"], universe="recs").recall(k=2, by="customer")

    assert found.rows() == [("all", 2, 0.5)]


def test_the_audit_follows():
    found = RECS.rec(**sides(KINDS[0])).audit()
    expected = RECS.rec(**PLAIN, propensity="seen").audit()
    assert found.equals(expected)
    none = own(KINDS[0], TRUTH.with_columns(seen=0.0), **ISBN)
    odd = rf.frame(none.frame, **ISBN, propensity="seen")
    assert "missing_propensity" in RECS.rec(odd).audit()["check"]


def test_pairs_that_are_excluded_may_have_names_of_their_own():
    seen = rf.frame(pl.DataFrame({"customer": ["u"], "isbn": ["b"]}), **ISBN)

    found = rf.from_scores([[1, 2]], users=["u"], items=["a", "b"], k=1, exclude=seen)
    assert found["item"].to_list() == ["a"]
