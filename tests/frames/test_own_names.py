"""A side frame may have column names of its own: the numbers are those of the frame renamed, and messages name its columns."""

from __future__ import annotations

import re

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


@on_kinds
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


def test_a_name_of_users_here_and_of_items_there_is_none_of_both():
    bound = {"truth": rf.frame(TRUTH.rename({"user": "id"}), user="id")}
    bound["items"] = rf.frame(ITEMS.rename({"item": "id"}), item="id")

    text = "by='id' names the users of one frame and the items of another; write 'user' or 'item'"
    with pytest.raises(rf.ColumnError, match=re.escape(text)):
        RECS.rec(**bound).mrr(by="id")


def test_the_audit_follows():
    found = RECS.rec(**sides(KINDS[0])).audit()
    expected = RECS.rec(**PLAIN, propensity="seen").audit()
    assert found.equals(expected)
    none = own(KINDS[0], TRUTH.with_columns(seen=0.0), **ISBN)
    odd = rf.frame(none.frame, **ISBN, propensity="seen")
    assert "missing_propensity" in RECS.rec(odd).audit()["check"]


@on_kinds
def test_a_missing_column_is_named_as_the_frame_names_it(kind):
    sales = kind(TRUTH.rename({"user": "customer"}))

    text = (
        "the frame truth= has no column 'customers'; did you mean 'customer'? It has 'customer', 'item', "
        "'relevance', 'seen'. Name the column: rf.frame(..., user='...')"
    )
    with pytest.raises(rf.ColumnError, match=re.escape(text)):
        rf.rec(kind(RECS), rf.frame(sales, user="customers")).mrr()
    with pytest.raises(rf.ColumnError, match=re.escape("the frame truth= has no column 'stars'")):
        rf.rec(kind(RECS), rf.frame(sales, user="customer", relevance="stars")).mrr()


def test_messages_name_the_frames_own_columns():
    sales = TRUTH.rename({"user": "customer", "item": "isbn"})
    text = "column 'isbn' of the frame truth= is List(Int64)"
    with pytest.raises(rf.ColumnError, match=re.escape(text)):
        RECS.rec(rf.frame(sales.with_columns(isbn=[1]), **ISBN)).mrr()
    twice = pl.concat([USERS, USERS]).rename({"user": "login"})
    with pytest.raises(rf.DataError, match=r"users= has a user twice; .*unique\('login'\)"):
        RECS.rec(TRUTH, users=rf.frame(twice, user="login")).mrr()
    other = rf.frame(sales.with_columns(isbn=pl.lit("z")), **ISBN)
    with pytest.warns(
        rf.RecframeWarning, match=r"no_common_items: .* of the frame truth=, column 'isbn'"
    ):
        RECS.rec(other).mrr()


def test_grades_that_nothing_is_bound_to_are_told_apart_from_those_that_are():
    sales = pl.DataFrame({"customer": ["u"] * 3, "isbn": ["a", "b", "z"], "stars": [1, 3, 5]})
    recs = recommended(u="abc")

    with pytest.warns(
        rf.RecframeWarning, match=r"column 'stars'\); .* write rec\(relevance='stars'\)"
    ):
        recs.rec(rf.frame(sales, **ISBN)).ndcg(k=2)
    assert recs.rec(rf.frame(sales, **ISBN, relevance="stars")).recall(k=2) == pytest.approx(2 / 3)


def test_two_roles_of_one_column():
    with pytest.raises(rf.RecframeError, match="column 'customer' has two roles, user= and item="):
        RECS.rec(
            rf.frame(TRUTH.rename({"user": "customer"}), user="customer", item="customer")
        ).mrr()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: rf.frame(TRUTH, user=1), "user= takes the name of a column as text; found 1"),
        (lambda: rf.frame([1]), "the first argument of rf.frame() is a list; give a polars.DataFrame"),
        (lambda: rf.frame(rf.frame(TRUTH)), "the first argument of rf.frame() is a rf.frame; give a"),
        (lambda: RECS.rec.ndcg(rf.frame(TRUTH)), "rec.ndcg() takes no frame, but found a rf.frame; bind it"),
    ],
)  # fmt: skip
def test_what_a_frame_with_names_is_not(call, text):
    with pytest.raises(rf.RecframeError, match=re.escape(text)):
        call()


def test_pairs_that_are_excluded_may_have_names_of_their_own():
    seen = rf.frame(pl.DataFrame({"customer": ["u"], "isbn": ["b"]}), **ISBN)

    found = rf.from_scores([[1, 2]], users=["u"], items=["a", "b"], k=1, exclude=seen)
    assert found["item"].to_list() == ["a"]
