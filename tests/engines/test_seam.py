"""Calls on frames that an engine holds: the numbers of one machine, whatever engine adds up the sums of its buckets."""

from __future__ import annotations

import pickle
import random
from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import many_frames
import random_cases
import recframe as rf
from asked_twice import COLLECTED, asked_twice, assert_same, eager
from many_frames import MANY, ManyFrame, many, read
from plain_accuracy import METRICS
from recframe.audit.report import CHECKS

asked = partial(asked_twice, MANY)


def test_an_interval_of_a_set_metric_is_made_of_sums_of_buckets():
    recs, truth = eager(model=False)

    one, other = asked(
        "summarize", recs, truth, {}, "ndcg@3", "coverage@3", "gini@3", sides=["items"]
    )
    assert_frame_equal(other, one, rel_tol=1e-9)


def twice_the_first(at):
    return (at.rank == 1).sum() * 2


def test_a_metric_of_the_users_own_is_known_where_the_data_is():
    metric = rf.metric(twice_the_first)
    recs, truth = eager(model=False)

    for written in ("twice_the_first@3", metric @ 3):
        one, other = asked("evaluate", recs, truth, {}, written)
        assert_same(one, other, ordered=True)


def test_sides_at_hand_and_columns_of_other_names_travel_too():
    recs, truth = eager(model=False)
    users = COLLECTED["users"].rename({"user": "who"})
    items = COLLECTED["items"].rename({"item": "what"})
    renamed = recs.rename({"user": "who", "item": "what"})
    names = {"user": "who", "item": "what"}
    metrics, by = ("ndcg@3", "coverage@3"), ["country", "kind"]

    home = rf.rec(renamed, truth=rf.frame(truth, user="user", item="item"), **names)
    rec = rf.rec(many(renamed), truth=rf.frame(many(truth), user="user", item="item"), **names)
    expected = home(users=users, items=items).evaluate(*metrics, by=by)
    for users_given in (users, users.to_pandas(), users.lazy()):
        found = rec(users=users_given, items=items.to_pandas()).evaluate(*metrics, by=by)
        assert_same(expected, read(found), ordered=True)
    of_users = home.evaluate("mrr", by="user"), read(rec.evaluate("mrr", by="who"))
    assert_same(*of_users, ordered=False)
    needed = rf.Requirement(rf.metric(twice_the_first) @ 3, ">=", 0.1)
    required = home.require(needed, raises=False), read(rec.require(needed, raises=False))
    assert_same(*required, ordered=True)


COUNTABLE = {one.name for one in CHECKS if "all users" not in one.needs}
FINDINGS = ["check", "severity", "frame", "rows", "users", "treatment", "remedy"]


def odd_frames() -> tuple[pl.DataFrame, pl.DataFrame, dict[str, pl.DataFrame]]:
    """Frames with something for most checks."""
    recs, truth = eager(model=True)
    odd = pl.DataFrame({"model": [*"aabb"], "user": [None, 7, 7, 500]})
    odd = odd.with_columns(item=pl.Series([1, None, 99, 3]), rank=pl.Series([1, 2, None, 0]))
    recs = pl.concat([recs, recs.head(9), odd.with_columns(week=pl.lit(0))], how="vertical_relaxed")
    truth = pl.concat([truth, truth.head(5).with_columns(relevance=-1)], how="vertical_relaxed")
    items = pl.concat([COLLECTED["items"], COLLECTED["items"].head(2)]).with_columns(
        genre=pl.when(pl.col("item") == 3).then(None).otherwise("genre")
    )
    users = pl.concat([COLLECTED["users"], COLLECTED["users"].head(3)])
    return recs, truth, {"items": items, "users": users, "train": COLLECTED["train"].head(60)}


@pytest.mark.parametrize(
    ("two", "arguments"), [(True, {"k": 5}), (False, {"by": "week"}), (False, {})], ids=str
)
def test_findings_are_counted_in_buckets(two, arguments):
    recs, truth, sides = odd_frames()
    options = {"model": "model"}
    if not two:
        recs = recs.join(truth.select("user", "item", "relevance"), on=["user", "item"], how="left")

    one, other = asked("audit", recs, truth if two else None, options, sides=sides, **arguments)

    one = one.filter(pl.col("check").is_in(COUNTABLE))
    assert len(one) > 8
    assert_frame_equal(other.select(FINDINGS), one.select(FINDINGS))
    assert other["example"].null_count() == 0


def test_strict_asks_no_bucket_what_is_asked_of_all_users():
    # each user's items are of their own, so that a bucket's lists and truth have few in common
    recs = pl.DataFrame({"user": range(40), "item": range(40), "rank": [1] * 40})
    truth = pl.DataFrame({"user": range(40), "item": [*range(39, -1, -1)]})

    one, other = asked("evaluate", recs, truth, {"strict": True}, "recall")

    assert_same(one, other, ordered=True)


def test_a_gate_that_is_not_met_raises_where_its_result_is_made():
    recs, truth = eager(model=False)
    rec = rf.rec(many(recs), truth=many(truth))

    with pytest.raises(rf.RequirementError, match="ndcg@3"):
        rec.require("ndcg@3 >= 0.99")
    assert isinstance(rec.require("ndcg@3 >= 0.0001"), pl.DataFrame)
    assert isinstance(rec.require("ndcg@3 >= 0.99", raises=False), ManyFrame)


def test_what_an_earlier_result_had_is_missing_in_buckets_too():
    recs, truth = eager()
    last = rf.rec(recs, truth=truth, model="model").summarize("ndcg@3")
    asked_of = (recs.filter(pl.col("model") == "a"), truth, {"model": "model"})
    gate = {"last": last, "raises": False}

    one, other = asked("require", *asked_of, "ndcg@3 >= 0.1 * last", **gate)
    assert_same(one, other, ordered=True)
    assert dict(other.select("model", "state").rows())["b"] == "missing"


@pytest.mark.parametrize("rank", [2, 20])
def test_a_ranked_row_without_a_model_is_an_error_behind_the_cut_off_too(rank):
    rows = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, rank], "model": ["a", None]})
    rec = rf.rec(many(rows), truth=many(rows.select("user", "item")), model="model")

    for ask in (partial(rec.evaluate, "mrr@10"), partial(rec.require, "mrr@10 >= 0.1")):
        with pytest.raises(rf.DataError, match="a ranked row has no model: the column 'model'"):
            ask()
    assert read(rec.audit())["check"][0] == "null_models"


def test_rec_is_put_on_frames_without_taking_a_column_away():
    class Held(ManyFrame):
        @property
        def columns(self):
            return self.rows.column_names

        def __getitem__(self, name):
            return self.collected[name]

    recs, truth = eager(model=False)
    rf.register(Held)
    rf.register(Held)

    held = Held(recs.to_arrow())
    assert read(held.rec(truth=many(truth)).mrr()).equals(read(rf.rec(held, many(truth)).mrr()))
    assert Held(recs.rename({"week": "rec"}).to_arrow()).rec.equals(recs["week"].alias("rec"))


@pytest.mark.filterwarnings("ignore:models_of_other_users")
def test_a_large_bucket_that_lacks_a_model_counts_its_users_all_the_same(monkeypatch):
    # one user alone has a list of the second model, so that one of two buckets does not show it
    monkeypatch.setattr(many_frames, "N_BUCKETS", 2)
    row = pl.int_range(50_000)
    rows = pl.select(user=row // 20, rank=row % 20 + 1)
    rows = rows.with_columns(item=(pl.col("user") * 7 + pl.col("rank")) % 90)
    first, second = (rows.with_columns(model=pl.lit(name)) for name in "ab")
    recs = pl.concat([first, second.filter(pl.col("user") == 17)])
    truth = rows.filter(pl.col("rank") % 3 == 0).select("user", "item")

    for call in ("evaluate", "compare"):
        one, other = asked(call, recs, truth, {"model": "model"}, "ndcg@5", "recall")
        assert one["n_users"].to_list() == [2_500] * len(one)
        # no bucket knows which users all models serve
        one, other = (found.drop("note", strict=False) for found in (one, other))
        assert_same(one, other, ordered=True)


def test_rows_at_hand_are_sent_once(monkeypatch):
    recs, truth = eager(model=False)
    users = pl.DataFrame({"user": range(50_000)}).with_columns(country=pl.col("user") % 3)
    sizes = []
    sums = many_frames.InProcess.sums

    def measured(engine, frame, routed, summed, added, **options):
        sizes.append(len(pickle.dumps(summed)))
        return sums(engine, frame, routed, summed, added, **options)

    monkeypatch.setattr(many_frames.InProcess, "sums", measured)
    for one in (users.head(10), users):
        rf.rec(many(recs), truth=many(truth), users=one).evaluate("mrr", by="country")

    assert sizes[1] == sizes[0]


OF_CUT_OFFS = [{}, {"no_relevant": "skip"}, {"relevant_from": "list"}, {"universe": "both"}]


@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
def test_what_stands_behind_the_largest_cut_off_changes_nothing():
    choose = random.Random("cut-offs")  # noqa: S311  test data
    for number, name in enumerate(METRICS):
        case = random_cases.two_frames(choose.choice, (40, 4), policy=random_cases.Policy())
        recs = random_cases.frame(case.recs, {}).select("user", "item", "rank")
        truth = random_cases.frame(case.truth, {})
        graded = ["relevance"] * (number % 2 and "relevance" in truth.columns)
        frames = recs, truth.select("user", "item", *graded)
        # alone, since others may read all ranks
        one, other = asked("evaluate", *frames, OF_CUT_OFFS[number % 4], f"{name}@3")
        assert_same(one, other, ordered=True)
