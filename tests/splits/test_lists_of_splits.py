"""Lists bound to a split: what is known of its truth, segments, functions called once a fold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from polars.testing import assert_frame_equal

from split_logs import LOG, log_of, rows_of_logs, split_of, users

pytestmark = pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")


def kinds_of(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """What is known of each row of truth, by the definitions."""
    known = [row for row in rows if row["part"] == "train"]
    of_user, of_item = (Counter(row[name] for row in known) for name in ("user", "item"))
    pairs = {(row["user"], row["item"]) for row in known}
    found = []
    for row in rows:
        if row["part"] != "truth":
            continue
        n_user, n_item = of_user[row["user"]], of_item[row["item"]]
        more = sum(n for n in of_item.values() if n > n_item)
        of_known = "head" if more < 0.8 * len(known) else "tail"
        found.append(
            (
                n_user,
                n_item,
                "cold" if not n_user else "few" if n_user < 5 else "warm",
                of_known if n_item else "cold",
                "repeat" if (row["user"], row["item"]) in pairs else "discovery",
            )
        )
    return found


@given(rows_of_logs)
def test_the_truth_says_what_a_model_may_know(rows):
    split = split_of(log_of(rows))

    found = split.truth

    names = ["user_history", "item_history", "user_kind", "item_kind", "pair_kind"]
    assert found.select(names).rows() == kinds_of(split.labels.to_dicts())
    assert found.drop(names).equals(
        split.labels.filter(pl.col("part") == "truth").drop("fold", "part")
    )


def rolled(log: Any, **names: str) -> Any:
    return log.rec(time="t", **names).split.rolling(folds=3, horizon=3)


def mine_of(split: Any) -> Any:
    """The items of the most rows, to everybody."""

    def best(train, users):
        top = train.group_by("item").len().top_k(4, by="len").select("item", score="len")
        return users.join(top, how="cross")

    return split.run({"mine": best}, k=4)


def test_lists_of_folds_are_held_against_their_own_truth_and_kinds_are_filters():
    split = rolled(LOG)
    lists = pl.concat([mine_of(split), split.baselines("popular", "oracle", k=4)])
    rec = split.rec(lists)

    by_fold = rec.evaluate("recall@4", "ndcg@4", by="fold")

    alone = [one.rec(lists).evaluate("recall@4", "ndcg@4", by="fold") for one in split]
    assert_frame_equal(by_fold, pl.concat(alone).sort("model", "fold"))
    truth = split.truth
    for name in ("user_kind", "item_kind", "pair_kind"):
        found = rec.evaluate("recall@4", by=["fold", name])
        for key in truth.select("fold", name).unique().to_dicts():
            wanted = lists.filter(fold=key["fold"]).rec(truth=truth.filter(**key), model="model")
            got = found.filter(**key).drop(*key)
            assert_frame_equal(got, wanted.evaluate("recall@4"))


def test_columns_of_users_go_with_their_kind():
    split = rolled(LOG)
    lists = split.baselines("popular", k=4)

    found = split.rec(lists, users=users).evaluate("recall@4", by=["land", "fold"])

    for number, one in enumerate(split):
        of_fold, truth = found.filter(fold=number), one.truth.select("user", "item", "relevance")
        alone = one.rec(lists, users=users).evaluate("recall@4", by=["land", "fold"])
        assert_frame_equal(of_fold, alone)
        wanted = lists.filter(fold=number).rec(truth=truth, users=users, model="model")
        assert_frame_equal(of_fold.drop("fold"), wanted.evaluate("recall@4", by="land"))


def test_lists_of_any_kind_are_bound():
    split = rolled(LOG)
    lists = split.baselines("popular", "random", k=4)
    found = split.rec(lists).evaluate("recall@4", by="item_kind")

    lazy = rolled(LOG.lazy()).rec(lists.lazy()).evaluate("recall@4", by="item_kind")
    pandas = rolled(LOG.to_pandas()).rec(lists.to_pandas()).evaluate("recall@4", by="item_kind")
    by_model = {name: lists.filter(model=name).drop("model") for name in ("popular", "random")}

    assert isinstance(lazy, pl.LazyFrame)
    assert "python" not in lazy.explain().lower()
    assert_frame_equal(lazy.collect(), found)
    assert isinstance(pandas, pd.DataFrame)
    assert pandas["recall@4"].to_list() == pytest.approx(found["recall@4"].to_list())
    assert_frame_equal(split.rec(by_model).evaluate("recall@4", by="item_kind"), found)


def test_names_of_the_log_are_those_of_lists():
    log = LOG.rename({"user": "customer", "item": "sku", "relevance": "stars"})
    options = {"user": "customer", "item": "sku"}
    split = rolled(log, relevance="stars", **options)

    found = split.rec(split.baselines(k=4)).evaluate("ndcg@4")

    assert_frame_equal(found, rolled(LOG).rec(rolled(LOG).baselines(k=4)).evaluate("ndcg@4"))


def test_a_bound_is_no_candidate():
    split = rolled(LOG)
    rec = split.rec(split.baselines("oracle", "popular", "random", "repeat", k=4))

    assert "oracle" in rec.evaluate("recall@4")["model"]
    compared = rec.compare("recall@4", baseline="popular")
    assert compared["model"].to_list() == ["random", "repeat"]
    without = split.rec(split.baselines("popular", "random", "repeat", k=4))
    assert_frame_equal(compared, without.compare("recall@4", baseline="popular"))
    assert "oracle" not in rec.compare("recall@4").select("model", "baseline").unpivot()["value"]
    assert "oracle" not in rec.table("recall@4", baseline="popular").markdown()
    for call in (rec.gaps, rec.slices):
        assert "oracle" not in call("recall@4", by="user_kind", min_users=1)["model"]
    one = split.folds[0]
    alone = one.rec(one.baselines("oracle", "popular", k=4))
    gate = alone.require("recall@4 >= 0.0", raises=False)
    assert gate["model"].to_list() == ["popular"]
    # a bound that is named is what it is compared with
    assert alone.compare("recall@4", baseline="oracle")["model"].to_list() == ["popular"]


@pytest.mark.parametrize("log", [LOG, LOG.lazy()], ids=["eager", "lazy"])
def test_the_audit_of_lists_finds_in_each_fold_what_that_of_the_split_finds(log):
    split = rolled(log)

    of_lists, of_split = split.rec(split.baselines("popular", k=4)).audit(), split.audit()

    columns = ["check", "severity", "rows", "users"]
    found, wanted = (frame.lazy().select(columns).collect() for frame in (of_lists, of_split))
    known = wanted["check"].implode()
    assert_frame_equal(found.filter(pl.col("check").is_in(known)), wanted)
    assert "future_in_train" not in found["check"]


def test_functions_get_train_and_users_of_each_fold():
    split = rolled(LOG)
    seen = []

    def keep(train, users):
        seen.append((train, users))
        return users.with_columns(item=0, rank=0)

    lists = split.run({"mine": keep})

    for one, (train, of_truth) in zip(split, seen, strict=True):
        assert train.equals(one.train)
        assert of_truth.equals(one.truth.select("user").unique().sort("user"))
    assert lists.columns == ["fold", "model", "user", "item", "rank"]
    assert lists.select("item", "rank").unique().row(0) == (0, 1)
    assert lists["fold"].unique().to_list() == [0, 1, 2]


def test_a_function_that_takes_fold_in_gets_it():
    split = LOG.rec(time="t").split.by_user(folds=2, fold_in=3)

    def last(train, users, fold_in):
        assert not set(train["user"]) & set(users["user"])
        return fold_in.group_by("user").agg(pl.col("item").last(), rank=1)

    lists = split.run({"mine": last})

    repeated = split.baselines("repeat", k=1)
    assert lists.drop("model").sort("fold", "user").equals(repeated.drop("model"))
    assert split.truth.filter(pl.col("pair_kind") == "repeat").height
    assert split.truth["user_history"].unique().to_list() == [3]


def test_places_are_in_the_order_of_scores_and_an_item_counts_once():
    split = split_of(LOG)
    user = split.truth["user"][0]
    rows = {"user": user, "item": [3, 1, 2, 3, 4], "score": [0.5, 2.0, 0.5, 0.1, None]}

    lists = split.run({"mine": lambda *_: pl.DataFrame(rows)})

    assert lists["item"].to_list() == [1, 2, 3, 4]
    assert lists["rank"].to_list() == [1, 2, 3, 4]


def test_long_lists_are_cut():
    three = pl.DataFrame({"item": [1, 2, 3], "rank": [1, 2, 3]})

    lists = split_of(LOG).run({"mine": lambda *frames: frames[1].join(three, how="cross")}, k=2)

    assert lists["rank"].max() == 2


def test_functions_of_pandas_and_of_lazy_frames_get_their_kind():
    def of_pandas(train, users):
        assert isinstance(train, pd.DataFrame)
        return users.assign(item=train["item"].iloc[0], rank=1)

    def of_lazy(train, users):
        return users.join(train.head(1).select("item", rank=1), how="cross")

    found = split_of(LOG.to_pandas()).run({"mine": of_pandas})
    lazy = split_of(LOG.lazy()).run({"mine": of_lazy})

    assert isinstance(found, pd.DataFrame)
    assert isinstance(lazy, pl.LazyFrame)
    assert_frame_equal(lazy.collect(), pl.from_pandas(found))


@pytest.mark.parametrize(
    "index", [None, pd.Index([7, 2, 7], name="row"), pd.MultiIndex.from_product([["a"], [3, 1, 2]])]
)
def test_parts_of_pandas_have_the_columns_of_the_log_and_rows_from_0(index):
    log = pd.DataFrame({"user": [1, 1, 2], "item": [8, 9, 8], "day": [1, 2, 3]}, index=index)
    split = log.rec(time="day").split.by_time(at=2)

    same, late = pd.testing.assert_frame_equal, {"user": [1, 2], "item": [9, 8], "day": [2, 3]}
    same(split.train, pd.DataFrame({"user": [1], "item": [8], "day": [1]}))
    same(split.truth.iloc[:, :4], pd.DataFrame({**late, "user_history": [1, 0]}))
    same(split.labels.drop(columns="part"), log.reset_index(drop=True).assign(fold=0))
    core = log.rec().core(1, 2, after_split=True)
    same(core, pd.DataFrame({"user": [1, 2], "item": 8, "day": [1, 3]}))


def test_lists_of_other_folds_are_none_of_one_fold():
    one = rolled(LOG).folds[1]
    lists = one.baselines("popular", k=2)

    assert (
        one.rec(lists).evaluate("recall@2").equals(one.rec(lists.drop("fold")).evaluate("recall@2"))
    )
