"""What `rec.require` makes of an earlier result: intervals as of other users, and models and segments that are missing."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from hits_of_models import first, hits, rec, truth

TEXT = "hit_rate@1 >= 0.9 * last"


def states(found: object) -> dict[tuple[object, ...], str]:
    found = pl.DataFrame(found)
    keys = found.columns[: found.columns.index("requirement")]
    return dict(zip(found.select(keys).rows(), found["state"], strict=True))


def countries(*counts: tuple[str | None, int]) -> pl.DataFrame:
    named = [country for country, n in counts for _ in range(n)]
    return pl.DataFrame(
        {"user": range(len(named)), "country": named}, schema_overrides={"country": pl.String}
    )


def stored(then: rf.Rec[pl.DataFrame], form: str, by: str, folder: Path) -> pl.DataFrame:
    """Return an earlier result as a frame, or read again from a file of text or a history."""
    last = then.summarize("hit_rate@1", by=by)
    if form == "history":
        then.track("hit_rate@1", by=by, history=folder, as_of="2026-11-22")
        return rf.history(folder)
    if form == "text":
        last.write_csv(folder / "last.csv")
    return pl.read_csv(folder / "last.csv", infer_schema=False) if form == "text" else last


@pytest.mark.parametrize("form", ["frame", "text", "history"])
def test_a_model_and_a_segment_that_the_earlier_result_had_are_missing(kind, form, tmp_path):
    # today only A is left, and of the models svd
    users = countries(("A", 40), ("B", 30), ("C", 20), (None, 10))
    then = rec(hits(svd=first(1.0), pop=first(1.0)), users=users)
    last = stored(then, form, "country", tmp_path)
    now = kind(hits(svd=first(1.0))).rec(
        truth=kind(truth(40)), model="model", users=kind(users.head(40))
    )
    asked = {"by": "country", "last": last, "min_users": 20}

    found = pl.DataFrame(kind.read(now.require(TEXT, **asked, raises=False)))

    # C and B of both models, and A of pop; null had 10 users, fewer than 20
    lost = {("pop", "A"), ("pop", "B"), ("pop", "C"), ("svd", "B"), ("svd", "C")}
    assert states(found) == {("svd", "A"): "holds"} | dict.fromkeys(lost, "missing")
    row = found.filter(pl.col("country") == "B").row(0, named=True)
    assert row["note"] == "in the earlier result, of 30 users, but not in today's"
    assert (row["value"], row["n_users"], row["bound"]) == (None, 0, 0.9)
    with pytest.raises(rf.RequirementError, match="missing 5"):
        now.require(TEXT, **asked)
    one = now.require(TEXT, models="svd", raises=False, **asked | {"min_users": 25})
    assert states(kind.read(one)) == {("svd", "A"): "holds", ("svd", "B"): "missing"}
    gone = now.require(TEXT, models="pop", raises=False, **asked | {"min_users": 40})
    assert states(kind.read(gone)) == {("pop", "A"): "missing"}


def test_what_is_missing_is_so_of_every_requirement_but_of_a_baseline():
    last = rec(hits(pop=first(1.0), svd=first(1.0), knn=first(1.0))).summarize("hit_rate@1")
    now = rec(hits(pop=first(1.0), svd=first(1.0)))
    asked = ("hit_rate@1 >= 0.5", "hit_rate@1 >= 0.9 * pop")

    found = now.require(*asked, last=last, raises=False)

    # of pop nothing is required by the second; of a hundred users with the same value, two more change nothing
    assert found.select("model", "requirement", "state").rows() == [
        *(("knn", one, "missing") for one in asked),
        ("pop", asked[0], "holds"),
        *(("svd", one, "holds") for one in asked),
    ]
    for one in asked:
        with pytest.raises(rf.RequirementError, match="missing 1"):
            now.require(one, last=last)
        now.require(one, last=last, models="svd")
    with pytest.raises(rf.DataError, match="'pop' is not a model: the column 'model' has knn, svd"):
        rec(hits(svd=first(1.0), knn=first(1.0))).require(asked[1], last=last)
    # a metric that the earlier result lacks misses nothing
    assert now.require("mrr >= 0.5", last=last)["state"].to_list() == ["holds"] * 2


def test_a_renamed_model_is_missing_and_open():
    last = rec(hits(old=first(0.5))).summarize("hit_rate@1")

    found = rec(hits(new=first(0.5))).require("hit_rate@1 >= last", last=last, raises=False)

    assert states(found) == {("new",): "open", ("old",): "missing"}
    assert found["note"][0] == "the earlier result has no such row"
    empty = hits(old=[1])[:0].rec(truth=truth(100), model="model")
    with (
        pytest.raises(rf.RequirementError, match="missing 1"),
        pytest.warns(rf.RecframeWarning, match="no_lists"),
    ):
        empty.require("hit_rate@1 >= last", last=last)


KEYS = [
    *(pl.Series(keys) for keys in ([1, 2], [1.0, 2.5], [True, False], ["a", None])),
    pl.Series([dt.date(2026, 11, 1), dt.date(2026, 11, 2)]),
    pl.Series([dt.datetime(2026, 11, 1, 10), dt.datetime(2026, 11, 2, 11, 30)]),  # noqa: DTZ001
    *(pl.Series(["a", "b"], dtype=dtype) for dtype in (pl.Categorical, pl.Enum(["a", "b"]))),
]


@pytest.mark.parametrize("keys", KEYS, ids=lambda keys: str(keys.dtype))
@pytest.mark.parametrize("form", ["frame", "text", "history"])
def test_a_segment_that_is_missing_has_its_own_value(keys, form, tmp_path):
    users = pl.DataFrame({"user": range(100), "part": pl.concat([keys] * 50)})
    then = rec(hits(svd=first(1.0)), users=users)
    last = stored(then, form, "part", tmp_path)
    of_first = users.filter(pl.col("user") % 2 == 0)
    liked = truth(100).join(of_first, on="user", how="semi")
    now = hits(svd=first(1.0)).rec(truth=liked, model="model", users=of_first)

    found = now.require("hit_rate@1 >= 0.5 * last", last=last, by="part", raises=False)

    assert states(found) == {("svd", keys[0]): "holds", ("svd", keys[1]): "missing"}
    assert found.schema["part"] == keys.dtype


def test_of_a_history_the_latest_run_of_the_same_split_counts(tmp_path):
    users = countries(("A", 50), ("B", 50))
    tracked = {"history": tmp_path, "as_of": "2026-11-24"}
    for day, share in ((22, 0.3), (23, 0.9), (21, 0.6)):
        made = rec(hits(svd=first(share)), users=users)
        made.track("hit_rate@1", **tracked | {"as_of": dt.date(2026, 11, day)})
    rec(hits(svd=first(0.5)), users=users).track("hit_rate@1", by="country", **tracked)
    now, runs = rec(hits(svd=first(0.4)), users=users), rf.history(tmp_path)

    def asked(last: Any, by: str | None = None) -> pl.DataFrame:
        return now.require("hit_rate@1 >= last", by=by, last=last, raises=False)

    assert asked(runs).select("state", "bound").rows() == [("fails", 0.9)]
    earlier = runs.filter(pl.col("as_of") < dt.date(2026, 11, 23))
    assert asked(earlier)["bound"].to_list() == [0.3]
    parts = asked(runs, by="country")
    assert dict(parts.select("country", "bound").rows()) == {"A": 1.0, "B": 0.0}
    assert_frame_equal(parts, asked(runs.to_pandas(), by="country"))
    assert asked(runs.clear())["note"].to_list() == ["the earlier result has no such row"]


def test_of_runs_of_several_names_and_data_one_is_chosen(tmp_path):
    now = rec(hits(svd=first(0.5)))
    for name, share in ((None, 0.2), ("canary", 0.3), ("canary", 0.4)):
        made = rec(hits(svd=first(share)))
        made.track("hit_rate@1", history=tmp_path, as_of="2026-11-22", name=name)
    runs = rf.history(tmp_path)

    said = r"several names, None, 'canary'; choose one: last=rf.history\(...\).filter\(name="
    with pytest.raises(rf.RecframeError, match=said):
        now.require("hit_rate@1 >= last", last=runs)
    # of one time the run that was written last
    canary = runs.filter(name="canary")
    assert now.require("hit_rate@1 >= last", last=canary)["bound"].to_list() == [0.4]
    with pytest.raises(rf.ColumnError, match="has no column 'value_low'; it comes from summarize"):
        now.require("hit_rate@1 >= last", last=canary.drop("name"))


@pytest.mark.parametrize("by", [None, "country"])
def test_a_run_of_todays_data_is_no_earlier_one(kind, tmp_path, by):
    users = countries(("A", 50), ("B", 50))
    lists = [kind(hits(svd=first(share), pop=first(0.9))) for share in (0.3, 0.8)]
    sides = {"truth": kind(truth(100)), "users": kind(users)}
    before, today = (one.rec(model="model", **sides) for one in lists)
    for day, made in (("2026-11-21", before), ("2026-11-22", today), ("2026-11-23", today)):
        made.track("hit_rate@1", "mrr", by=by, history=tmp_path, as_of=day)
    # the same data tracked under another time is no run before today's either
    asked = {"by": by, "last": rf.history(tmp_path), "models": "svd", "raises": False}
    found = pl.DataFrame(kind.read(today.require("hit_rate@1 >= last", **asked)))

    assert found["bound"].to_list() == ([0.3] if by is None else [0.6, 0.0])
    assert found["state"].to_list()[0] == "holds"


def test_an_earlier_result_of_other_segments_is_not_taken(tmp_path):
    asked = rec(hits(svd=first(0.5)), users=countries(("A", 50), ("B", 50)))
    overall, split = (asked.summarize("hit_rate@1", by=by) for by in (None, "country"))
    asked.track("hit_rate@1", history=tmp_path, as_of="2026-11-22")
    text = "hit_rate@1 >= 0.9 * last"

    for last, by in ((split, None), (overall, "country"), (rf.history(tmp_path), "country")):
        with pytest.raises(rf.ColumnError, match="are not both split by 'country'; use the same"):
            asked.require(text, last=last, by=by)
