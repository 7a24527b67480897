"""Accumulators: equal to evaluate on the whole, to the bit, in any order of batches."""

from __future__ import annotations

import itertools
import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from compared_lists import LISTS_ARE_MISSING

N_USERS, N_ITEMS = 90, 60
METRICS = ("ndcg@10", "recall@5", "map", "mrr", "bpref@10", "f_score(beta=2)@5")


def frames(seed: int = 0, models: tuple[str, ...] = ()) -> dict[str, pl.DataFrame]:
    """Return lists with scores and ranks, a truth with grades, and side frames of some users and items."""
    draw = random.Random(seed)  # noqa: S311  no secret
    lists, truth, train = [], [], []
    for user in range(N_USERS):
        for model in models or ("one",):
            listed = draw.sample(range(N_ITEMS), draw.choice([0, 3, 12]) if user else 5)
            scores = sorted((draw.random() for _ in listed), reverse=True)
            lists += [
                (model, user, item, place, score, ["a", "b", None][(user + item) % 3])
                for place, (item, score) in enumerate(zip(listed, scores, strict=True), 1)
            ]
        for item in draw.sample(range(N_ITEMS), draw.choice([0, 1, 6])):
            grade = draw.choice([0, 1, 2, 3])
            truth += [(user, item, grade, ["a", "b", None][(user + item) % 3])]
        train += [(user, item) for item in draw.sample(range(N_ITEMS), 4)]
    columns = ["model", "user", "item", "rank", "score", "slot"]
    return {
        "lists": pl.DataFrame(lists, schema=columns, orient="row"),
        "truth": pl.DataFrame(truth, schema=["user", "item", "relevance", "slot"], orient="row"),
        "train": pl.DataFrame(train, schema=["user", "item"], orient="row"),
        "users": pl.DataFrame(
            {
                "user": range(N_USERS - 9),
                "country": [["x", "y", None][u % 3] for u in range(N_USERS - 9)],
            }
        ),
        "items": pl.DataFrame(
            {
                "item": range(N_ITEMS),
                "genre": [["p", "q", None][i % 3] for i in range(N_ITEMS)],
                "price": [float(i % 7) for i in range(N_ITEMS)],
            }
        ),
    }


def batches(n: int, seed: int) -> list[list[int]]:
    """Return the users in batches, shuffled; some of many have none."""
    users = list(range(N_USERS))
    random.Random(seed).shuffle(users)  # noqa: S311  no secret
    return [users[place::n] for place in range(n)]


def added(
    made: rf.Accumulator, lists: pl.DataFrame, truth: pl.DataFrame, n: int, seed: int = 1
) -> rf.Accumulator:
    """Return an accumulator after the batches of two frames."""
    for users in batches(n, seed):
        mine = pl.col("user").is_in(users)
        made.update(lists.filter(mine), truth.filter(mine))
    return made


CALLS: dict[str, tuple[tuple[str, ...], dict[str, Any], tuple[str, ...]]] = {
    "of users": (METRICS, {}, ()),
    "by country": (METRICS, {"by": "country"}, ("users",)),
    "by genre": (METRICS, {"by": "genre"}, ("items",)),
    "by slot": (("ndcg@5", "recall@5"), {"by": ["slot", "country"]}, ("users",)),
    "by the item": (("recall@5", "exposure_share@5"), {"by": "item"}, ("items",)),
    "of sets": (("coverage@5", "gini@5", "entropy@5", "ndcg@5", "tail_coverage@5"), {}, ("items", "train")),
    "sets by country": (("coverage@5", "gini@5", "recall@5"), {"by": "country"}, ("items", "users")),
    "of lists": (("novelty@5", "popularity@5", "ndcg@5"), {}, ("train", "items")),
    "skipping": (METRICS, {"no_relevant": "skip"}, ()),
    "null": (METRICS, {"no_relevant": "null", "min_relevance": 2}, ()),
    "recs": (METRICS, {"universe": "recs"}, ()),
    "all": (METRICS, {"universe": "all"}, ()),
    "rounded": (METRICS, {"decimals": 3}, ()),
    "a profile": (("ndcg@10", "map@10"), {"profile": "trec_eval"}, ()),
    "scores": (METRICS, {"score": "score"}, ()),
    "expected ties": (("ndcg@10", "recall@5"), {"score": "score", "ties": "expected"}, ()),
    "models": (("ndcg@10", "recall@5", "coverage@5"), {"model": "model"}, ("items",)),
    "models by country": (("ndcg@10",), {"model": "model", "by": "country"}, ("users",)),
}  # fmt: skip


@LISTS_ARE_MISSING
@pytest.mark.parametrize("name", CALLS)
def test_batches_in_any_order_are_evaluate_on_the_whole_to_the_bit(name: str) -> None:
    metrics, options, sides = CALLS[name]
    given = frames(models=("one", "two") if "model" in options else ())
    bound = {side: given[side] for side in sides}
    policies = {one: value for one, value in options.items() if one != "by"}
    rec = given["lists"].rec(truth=given["truth"], **bound, **policies)
    whole = rec.evaluate(*metrics, by=options.get("by"))
    of_models = given["lists"].group_by("model", "user").len().group_by("model").len()
    few = 3 if "model" in options else (30 if name == "of users" else 7)
    assert len(of_models) == (2 if "model" in options else 1)
    for n, seed in ((1, 0), (few, 1), (few, 5)):
        made = rf.accumulator(*metrics, **options, **bound)
        added(made, given["lists"], given["truth"], n, seed)
        assert_frame_equal(made.result(), whole, check_exact=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::recframe.RecframeWarning")
@pytest.mark.parametrize("by", [None, "country", "genre"])
def test_every_metric_is_its_value_on_the_whole_but_for_the_last_bit_of_a_users(
    by: str | None,
) -> None:
    given = frames()
    truth = given["truth"].with_columns(propensity=0.1 + pl.col("item") / N_ITEMS / 2)
    sides = {name: given[name] for name in ("users", "items", "train")}
    sides |= {"reference": frames(seed=1)["lists"], "propensity": "propensity"}
    rec, n_compared = given["lists"].rec(truth=truth, **sides), 0
    for name in rf.list_metrics()["name"]:
        for metric in (f"{name}@5", f"{name}(of=genre)@5", f"{name}(of=price)@5"):
            try:
                whole = rec.evaluate(metric, by=by)
            except rf.RecframeError:
                continue
            made = added(rf.accumulator(metric, by=by, **sides), given["lists"], truth, 3)
            # a user's own value, a sum over their list, may differ in its last bit from one plan to another
            assert_frame_equal(made.result(), whole, rel_tol=1e-15, abs_tol=0)
            n_compared += 1
            break
    assert n_compared > len(rf.list_metrics()) / 2


def test_a_judged_frame_and_other_kinds_of_frames_are_batches_too() -> None:
    given = frames()
    whole = given["lists"].rec(truth=given["truth"]).evaluate("ndcg@10", "recall@5")
    judged = given["lists"].rec(truth=given["truth"]).judge()
    of_judged = judged.rec.evaluate("ndcg@10", "recall@5")
    kinds = {
        "judged": (judged, None, of_judged),
        "lazy": (given["lists"].lazy(), given["truth"].lazy(), whole),
        "arrow": (given["lists"].to_arrow(), given["truth"].to_arrow(), whole),
        "pandas": (given["lists"].to_pandas(), given["truth"].to_pandas(), whole),
        "models": ({"one": given["lists"].drop("model")}, given["truth"], whole),
    }
    for name, (lists, truth, expected) in kinds.items():
        found = rf.accumulator("ndcg@10", "recall@5").update(lists, truth).result()
        assert type(found) is {"arrow": type(lists), "pandas": type(lists)}.get(name, pl.DataFrame)
        found = pl.from_arrow(found) if name == "arrow" else found
        found = pl.from_pandas(found) if name == "pandas" else found
        columns = expected.columns
        assert_frame_equal(found.select(columns), expected, check_exact=True)


@LISTS_ARE_MISSING
@pytest.mark.parametrize("models", [(), ("a", "b")])
def test_states_merge_in_any_order_through_pickle(models: tuple[str, ...]) -> None:
    given = frames(models=models)
    bound: dict[str, Any] = {"items": given["items"], "users": given["users"]}
    bound |= {"model": "model"} if models else {}
    options = {"by": "country", **bound}
    metrics = ("ndcg@10", "coverage@5", "gini@5")
    whole = given["lists"].rec(truth=given["truth"], **bound).evaluate(*metrics, by="country")
    parts = []
    for users in batches(3, 2):
        mine = pl.col("user").is_in(users)
        made = rf.accumulator(*metrics, **options)
        added(made, given["lists"].filter(mine), given["truth"].filter(mine), 4)
        parts.append(pickle.dumps(made.state()))
    for order in itertools.permutations(parts):
        states = [pickle.loads(one) for one in order]  # noqa: S301  our own
        fresh = rf.accumulator(*metrics, **options)
        found = reduce(lambda one, other: one.merge(other), states, fresh)
        assert_frame_equal(found.result(), whole, check_exact=True)
    again = rf.accumulator(*metrics, **options).merge(found)
    assert_frame_equal(again.result(), found.result(), check_exact=True)
    assert again.update(given["lists"], given["truth"]).n_batches == found.n_batches + 1


def test_the_state_does_not_grow_with_batches() -> None:
    given = frames()
    metrics = ("ndcg@10", "coverage@5")

    def size(n: int) -> int:
        made = rf.accumulator(*metrics, items=given["items"])
        for _ in range(n):
            made.update(given["lists"], given["truth"])
        return len(pickle.dumps(made.state()))

    assert size(200) - size(1) < 1_000 * len(metrics) + 16 * N_ITEMS
    few, many = (rf.accumulator("coverage@5", items=given["items"]) for _ in range(2))
    one = given["lists"].filter(pl.col("user") == 0)
    few.update(one, given["truth"])
    many.update(given["lists"], given["truth"])
    seen = [sum(map(len, accumulated.state()["sums"])) for accumulated in (few, many)]
    assert 0 < seen[1] - seen[0] <= N_ITEMS


def test_threads_lose_no_batch_and_a_batch_that_fails_leaves_nothing() -> None:
    given = frames()
    lists, truth, items = given["lists"], given["truth"], given["items"]
    metrics = ("ndcg@10", "recall@5", "coverage@5")
    made = rf.accumulator(*metrics, by="slot", items=items)
    with pytest.raises(rf.DataError, match="rank"):
        made.update(lists.with_columns(rank=0, slot=1), truth.with_columns(slot=1))
    mine = [pl.col("user").is_in(users) for users in batches(30, 3)]
    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(made.update, map(lists.filter, mine), map(truth.filter, mine))} == {made}
    whole = lists.rec(truth=truth, items=items).evaluate(*metrics, by="slot")
    assert_frame_equal(made.result(), whole, check_exact=True)
    assert made.n_batches == len(mine)


def test_other_calls_are_not_merged_and_the_error_says_what_differs() -> None:
    made = rf.accumulator("ndcg@10", by="slot")
    others = {
        "metrics": rf.accumulator("ndcg@5", by="slot"),
        "by": rf.accumulator("ndcg@10"),
        "policies": rf.accumulator("ndcg@10", by="slot", universe="recs"),
    }
    for name, other in others.items():
        with pytest.raises(rf.RecframeError, match=f"different {name}"):
            made.merge(other)
    for state in (None, 3, {}):
        with pytest.raises(rf.RecframeError, match="another accumulator or its state"):
            made.merge(state)  # type: ignore[arg-type]
    here, there = (
        rf.accumulator("coverage@2", items=pl.DataFrame({"item": range(first, first + 4)}))
        for first in (0, 1)
    )
    with pytest.raises(rf.RecframeError, match="different ids of frames"):
        here.merge(there)
    given = frames()
    of_items = rf.accumulator("gini@5", items=given["items"]).update(given["lists"], given["truth"])
    narrow = {
        name: given[name].with_columns(pl.col("item").cast(pl.Int16))
        for name in given
        if "item" in given[name]
    }
    other = rf.accumulator("gini@5", items=narrow["items"])
    with pytest.raises(rf.RecframeError, match="different"):
        of_items.merge(other.update(narrow["lists"], narrow["truth"]))


def test_a_user_of_two_batches_is_an_error_where_ids_are_kept() -> None:
    given = frames()
    made = rf.accumulator("ndcg@10", check_users=True)
    first, last = batches(2, 0)
    made.update(given["lists"].filter(pl.col("user").is_in(first)), given["truth"])
    with pytest.raises(rf.DataError, match="in two batches"):
        made.update(given["lists"].filter(pl.col("user").is_in([*last, first[0]])), given["truth"])
    other = rf.accumulator("ndcg@10", check_users=True).update(given["lists"], given["truth"])
    with pytest.raises(rf.DataError, match="in two batches"):
        other.merge(made.state())
    assert other.n_batches == 1
    other.reset()
    assert other.update(given["lists"], given["truth"]).n_batches == 1


def test_a_model_that_comes_late_is_an_error() -> None:
    given = frames(models=("one", "two"))
    made = rf.accumulator("ndcg@10", model="model")
    made.update(given["lists"].filter(pl.col("model") == "one"), given["truth"])
    with pytest.raises(rf.DataError, match="than 'one'"):
        made.update(given["lists"], given["truth"])


def test_arrays_become_batches_by_readers_and_say_so() -> None:
    numpy = pytest.importorskip("numpy")
    made = rf.accumulator("recall@2", "precision@2", "mrr@2")
    scores = numpy.array([[0.1, 0.9, 0.5, float("-inf")], [0.3, 0.2, 0.1, 0.0]])
    relevant = numpy.array([[0, 1, 0, 1], [1, 0, 0, 0]])
    for user in (0, 1):
        made.update(
            rf.from_scores(scores[[user]], users=[user]),
            rf.from_scores(relevant[[user]], users=[user], truth=True),
        )
    # the first user finds item 1 of 1 and 3, the second item 0
    assert made.result().row(0) == (2, (1 / 2 + 1) / 2, (1 / 2 + 1 / 2) / 2, 1.0)
    with pytest.raises(rf.RecframeError, match=r"rf\.from_(scores|lists)"):
        made.update(scores, relevant)


def test_later_batches_have_the_columns_of_the_first_and_values_that_these_hold() -> None:
    lists, truth, *_ = frames().values()
    made = rf.accumulator("ndcg@10", by="slot")
    with pytest.raises(rf.RecframeError, match="no batch"):
        made.result()
    first, last = (pl.col("user") % 2 == place for place in (0, 1))
    made.update(lists.filter(first), truth.filter(first))
    others = {
        "other columns": truth.drop("relevance"),
        "'relevance' of this batch is Float64": truth.with_columns(pl.col("relevance") / 2),
        "'user' of this batch is String": truth.with_columns(user=pl.lit("u")),
    }
    for words, other in others.items():
        with pytest.raises(rf.ColumnError, match=words):
            made.update(lists.filter(last), other.filter(last) if "user" not in words else other)
    numbers = [pl.col("user", "item").cast(pl.Int32), pl.col("rank").cast(pl.Float64)]
    made.update(lists.filter(last).with_columns(numbers), truth.filter(last))
    whole = lists.rec(truth=truth).evaluate("ndcg@10", by="slot")
    assert_frame_equal(made.result(), whole, check_exact=True)
    with pytest.raises(rf.RecframeError, match="was given itself"):
        made.merge(made)
