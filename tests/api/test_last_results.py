"""What `rec.require` makes of an earlier result: users that are paired, models and segments that are missing."""

from __future__ import annotations

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from frame_kinds import KINDS
from hits_of_models import first, hits, rec, truth
from lanes import in_turn


def states(found: object) -> dict[tuple[object, ...], str]:
    keys = found.columns[: found.columns.index("requirement")]
    return dict(zip(found.select(keys).rows(), found["state"], strict=True))


@pytest.mark.parametrize("form", ["summarize", "require", "users", "both", "csv"])
def test_a_model_and_a_segment_that_the_earlier_result_had_are_missing(kind, form, tmp_path):
    # 40 users of A, 30 of B, 20 of C and 10 of null; today only A is left, and of the models svd
    users = pl.DataFrame(
        {"user": range(100), "country": [*"A" * 40, *"B" * 30, *"C" * 20, *[None] * 10]}
    )
    then = rec(hits(svd=first(1.0), pop=first(1.0)), users=users)
    asked = ("hit_rate@1",) if form != "require" else ("hit_rate@1 >= 0.1",)
    made = then.require if form == "require" else then.summarize
    summary, values = (
        made(*asked, by="country"),
        then.evaluate("hit_rate@1", by=["country", "user"]),
    )
    last = {"users": values, "both": [summary, values]}.get(form, summary)
    if form == "csv":
        summary.write_csv(tmp_path / "last.csv")
        last = pl.read_csv(tmp_path / "last.csv")
    now = kind(hits(svd=first(1.0))).rec(
        truth=kind(truth(40)), model="model", users=kind(users.head(40))
    )
    text = "hit_rate@1 >= 0.9 * last"

    found = pl.DataFrame(
        kind.read(now.require(text, by="country", last=last, min_users=20, raises=False, wide=True))
    )

    # C and B of both models, and A of pop; null had 10 users, fewer than 20
    lost = {("pop", "A"), ("pop", "B"), ("pop", "C"), ("svd", "B"), ("svd", "C")}
    # of users who all hit then and now nothing says how far others would be apart
    state = "open" if form in {"users", "both"} else "holds"
    assert states(found) == {("svd", "A"): state} | dict.fromkeys(lost, "missing")
    row = found.filter(pl.col("country") == "B").row(0, named=True)
    assert row["note"] == "in the earlier result, of 30 users, but not in today's"
    assert (row["value"], row["n_users"], row["baseline_value"], row["bound"]) == (
        None,
        0,
        1.0,
        0.9,
    )
    with pytest.raises(rf.RequirementError, match="of 6 rows, 5 are missing"):
        now.require(text, by="country", last=last, min_users=20, wide=True)
    now.require(text, by="country", last=last, min_users=20, missing="open", wide=True)
    with pytest.raises(rf.RequirementError, match="of 6 rows, 5 are missing"):
        now.require(
            text, by="country", last=last, min_users=20, missing="open", strict=True, wide=True
        )
    one = now.require(
        text, by="country", last=last, models="svd", min_users=25, raises=False, wide=True
    )
    assert states(pl.DataFrame(kind.read(one))) == {("svd", "A"): state, ("svd", "B"): "missing"}
    gone = now.require(
        text, last=last, by="country", models="pop", min_users=40, raises=False, wide=True
    )
    assert states(pl.DataFrame(kind.read(gone))) == {("pop", "A"): "missing"}


def test_a_summary_tells_of_segments_that_values_of_users_do_not_name():
    users = pl.DataFrame({"user": range(100), "country": ["A", "B"] * 50})
    then = rec(hits(svd=first(1.0)), users=users)
    last = [
        then.summarize("hit_rate@1", by="country"),
        then.evaluate("hit_rate@1", by="user"),
    ]
    of_a = users.filter(country="A")
    now = hits(svd=first(1.0)).rec(truth=truth(100)[::2], model="model", users=of_a)

    found = now.require(
        "hit_rate@1 >= 0.9 * last", by="country", last=last, raises=False, wide=True
    )
    assert states(found) == {("svd", "A"): "open", ("svd", "B"): "missing"}


def test_a_segment_of_new_users_is_not_missing():
    users = pl.DataFrame({"user": range(200), "country": "A"})
    then = hits(svd=first(1.0)).rec(truth=truth(100), model="model", users=users)
    later = pl.col("user") + 100
    now = (
        hits(svd=first(1.0))
        .with_columns(later)
        .rec(truth=truth(100).with_columns(later), model="model", users=users)
    )
    last = [
        then.summarize("hit_rate@1", by="country"),
        then.evaluate("hit_rate@1", by=["country", "user"]),
    ]

    found = now.require(
        "hit_rate@1 >= 0.9 * last", by="country", last=last, raises=False, wide=True
    )
    assert states(found) == {("svd", "A"): "open"}


def test_a_renamed_model_is_missing_and_open():
    then, now = rec(hits(old=first(0.5))), rec(hits(new=first(0.5)))

    found = now.require(
        "hit_rate@1 >= last", last=then.summarize("hit_rate@1"), raises=False, wide=True
    )
    assert states(found) == {("new",): "open", ("old",): "missing"}
    # of a gate with nothing else nothing was judged, whatever is said of what is missing
    empty = hits(old=[1])[:0].rec(truth=truth(100), model="model")
    with pytest.raises(rf.RequirementError, match="1 is missing"):
        empty.require(
            "hit_rate@1 >= last",
            last=then.summarize("hit_rate@1"),
            missing="open",
            wide=True,
        )


@pytest.mark.parametrize(
    "keys",
    [
        pl.Series([1, 2]),
        pl.Series([1.0, 2.5]),
        pl.Series([True, False]),
        pl.Series(["2026-11-01", "2026-11-02"]).str.to_date(),
        pl.Series(["2026-11-01 10:00", "2026-11-02 11:30"]).str.to_datetime("%Y-%m-%d %H:%M"),
        pl.Series(["a", "b"], dtype=pl.Categorical),
        pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"])),
        pl.Series(["a", None]),
    ],
    ids=lambda keys: str(keys.dtype),
)
@pytest.mark.parametrize("as_text", [False, True])
def test_a_segment_that_is_missing_has_its_own_value(keys, as_text, tmp_path):
    users = pl.DataFrame({"user": range(100), "part": pl.concat([keys] * 50)})
    last = rec(hits(svd=first(1.0)), users=users).summarize("hit_rate@1", by="part")
    if as_text:
        last.write_csv(tmp_path / "last.csv")
        last = pl.read_csv(tmp_path / "last.csv", infer_schema=False)
    of_first = users.filter(pl.col("user") % 2 == 0)
    now = hits(svd=first(1.0)).rec(
        truth=truth(100).join(of_first, on="user", how="semi"), model="model", users=of_first
    )

    found = now.require("hit_rate@1 >= 0.5 * last", last=last, by="part", raises=False, wide=True)

    assert states(found) == {("svd", keys[0]): "holds", ("svd", keys[1]): "missing"}
    assert found.schema["part"] == keys.dtype


def test_a_category_that_is_gone_is_named_in_the_note():
    kinds = pl.Enum(["a"])
    users = pl.DataFrame({"user": range(100), "part": ["a", "b"] * 50})
    last = rec(hits(svd=first(1.0)), users=users).summarize("hit_rate@1", by="part")
    of_a = users.filter(part="a").cast({"part": kinds})
    now = hits(svd=first(1.0)).rec(truth=truth(100)[::2], model="model", users=of_a)

    found = now.require("hit_rate@1 >= 0.5 * last", last=last, by="part", raises=False, wide=True)
    assert found["note"][1] == ("in the earlier result, of 50 users, but not in today's: svd, b")


@pytest.mark.parametrize(("kind", "n"), in_turn(KINDS, [100, 20_100], fast=3))
def test_users_of_then_are_paired_and_intervals_of_then_are_not(n, kind):
    before, after = first(0.7, n), first(0.72, n)
    then = kind(hits(svd=before)).rec(truth=kind(truth(n)), model="model")
    now = kind(hits(svd=after)).rec(truth=kind(truth(n)), model="model")
    both = rec(hits(svd=after, last=before), n)
    expected = both.require("hit_rate@1 >= 0.99 * last", raises=False, wide=True)

    def asked(last: object) -> pl.DataFrame:
        found = now.require("hit_rate@1 >= 0.99 * last", last=last, raises=False, wide=True)
        return kind.read(found)

    paired = asked(then.evaluate("hit_rate@1", by="user"))
    assert_frame_equal(paired, expected)
    summary = asked(then.summarize("hit_rate@1"))
    assert summary["difference"].to_list() == pytest.approx(paired["difference"].to_list())
    assert summary["detectable"][0] > 2 * paired["detectable"][0]
    assert summary["note"][0] == "compared with an interval as if of other users, so hard to show"
    in_both = asked([then.summarize("hit_rate@1"), then.evaluate("hit_rate@1", by="user")])
    assert_frame_equal(in_both, expected)
    assert_frame_equal(asked(then.require("hit_rate@1 >= 0.1", wide=True)), summary)


def test_an_earlier_result_of_other_segments_is_not_taken():
    users = pl.DataFrame({"user": range(100), "country": ["A", "B"] * 50})
    asked = rec(hits(svd=first(0.5)), users=users)
    overall, split = (
        asked.summarize("hit_rate@1"),
        asked.summarize("hit_rate@1", by="country"),
    )
    text = "hit_rate@1 >= 0.9 * last"

    with pytest.raises(rf.RecframeError, match="is split by 'country', this one is not"):
        asked.require(text, last=split, wide=True)
    with pytest.raises(rf.ColumnError, match="has no column 'country'; use the same"):
        asked.require(text, last=overall, by="country", wide=True)
    with pytest.raises(rf.ColumnError, match="nothing of 'mrr'; request that metric by user"):
        asked.require("mrr >= last", last=asked.evaluate("hit_rate@1", by="user"), wide=True)
    with pytest.raises(rf.ColumnError, match="last= takes the result of summarize"):
        asked.require(text, last=asked.evaluate("hit_rate@1"), wide=True)
    with pytest.raises(rf.ColumnError, match="has no column 'value_low'; it comes from summarize"):
        asked.require(text, last=asked.evaluate("hit_rate@1", tidy=True), wide=True)
    twice = pl.concat([asked.evaluate("hit_rate@1", by="user")] * 2)
    with pytest.raises(rf.DataError, match="the earlier result has a user twice in one segment"):
        asked.require(text, last=twice, wide=True)
    # a user stands in one segment of a property of users, so that values by user alone will do
    by_user = asked.evaluate("hit_rate@1", by="user")
    text = "hit_rate@1 >= 0.8 * last"
    assert (
        asked.require(text, last=by_user, by="country", wide=True)["state"].to_list()
        == ["holds"] * 2
    )
    judged = asked.require(
        text, last=overall.with_columns(model=pl.lit("knn")), raises=False, wide=True
    )
    assert judged.select("model", "state", "note").rows() == [
        (
            "knn",
            "missing",
            "in the earlier result, of 100 users, but not in today's",
        ),
        ("svd", "open", "the earlier result has no such row"),
    ]
