"""Models whose lists are of other users: lists that are missing, and arms of an experiment."""

import re
import warnings

import polars as pl
import pytest

import recframe as rf

KINDS = {"eager": lambda frame: frame, "lazy": pl.DataFrame.lazy, "pandas": pl.DataFrame.to_pandas}
USERS = 100
ARMS = r"% of '[AB]'; the others count 0; hardly a user has both, as in arms of an experiment, which are no models"
INSTEAD = r"leave rec\(model=...\) out, and write by=..., and gaps\(\)"


def scene(kind, a, b):
    """Lists of the users in `a` and in `b`, each with its one relevant item, of users 0 to 99 with a truth."""
    users = [("A", user) for user in a] + [("B", user) for user in b]
    lists = pl.DataFrame(users, ["model", "user"], orient="row").with_columns(item=1, rank=1)
    truth = pl.DataFrame({"user": range(USERS), "item": [1] * USERS})
    return KINDS[kind](lists).rec(KINDS[kind](truth), model="model")


def told(call):
    """Return a result as a frame of Polars, with what was warned."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        found = call()
        found = found.collect() if isinstance(found, pl.LazyFrame) else found
    return pl.DataFrame(found), [str(one.message) for one in seen]


# 94 of 100 users is 6 points less than all, 96 is 4; of the ten users of B one is A's too (10 %), or none
SCENES = {
    "lists missing": (range(USERS), range(94), "94 % of the users have a list of 'B', 100 % of 'A'"),
    "four points": (range(USERS), range(96), None),
    "arms": (range(90), range(90, USERS), ARMS),
    "nearly arms": (range(85), range(84, USERS), ARMS),
    "some in common": (range(60), range(54, 94), "40 % of the users have a list of 'B', 60 % of 'A'"),
    "foreign ids": (range(USERS), range(900, 1000), "0 % of the users have a list of 'B', 100 % of 'A'"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("kind", KINDS)
def test_models_of_other_users_are_told(kind, name):
    a, b, words = SCENES[name]
    rec, is_open = scene(kind, a, b), "arms" in name

    compared, of_compare = told(lambda: rec.compare("mrr", baseline="A"))
    required, of_require = told(lambda: rec.require("mrr >= 0.01", "mrr >= 0.1 * A", raises=False))
    _, of_evaluate = told(lambda: rec.evaluate("mrr"))

    notes = [compared["note"][0], *required.filter(model="B")["note"]]
    if words is None:
        assert not any("users have" in (note or "") for note in notes)
        assert not of_compare + of_require + of_evaluate
        return
    assert all(re.search(words, note) for note in notes)
    assert (compared["verdict"][0] == "open") == is_open
    assert (set(required.filter(model="B")["state"]) == {"open"}) == is_open
    if kind != "lazy" and name != "foreign ids":
        for said in (of_compare, of_require, of_evaluate):
            assert [one for one in said if re.search(f"{words}.*{INSTEAD}", one)] == said
    if name == "foreign ids":
        # which another warning tells, of eager frames
        assert all(one.startswith("model_without_common_ids") for one in of_compare + of_evaluate)


@pytest.mark.parametrize("kind", KINDS)
def test_the_number_of_lists_stands_in_the_support(kind):
    rec = scene(kind, range(USERS + 50), range(20))

    found, _ = told(lambda: rec.evaluate("mrr", support=True))

    assert found.columns == ["model", "n_users", "n_lists", "mrr", "n mrr"]
    assert found["n_lists"].to_list() == [100, 20]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_says_whose_lists_are_missing(kind):
    rec = scene(kind, range(100), range(20))

    text, said = told(lambda: pl.DataFrame({"text": [str(rec.table("mrr"))]}))

    words = "20 % of the users have a list of 'B', 100 % of 'A'; the others count 0."
    assert words in text["text"][0]
    assert len(said) == 1


# users of A, of B, and items of a list; of rows that are few, or of few users, all are counted
LARGE = [(60_000, 48_000, 1, "(7[5-9]|8[0-5])"), (1_000, 640, 60, "64"), (1_000, 640, 200, "64")]


@pytest.mark.parametrize(("a", "b", "n_items", "share"), LARGE)
def test_of_many_users_some_are_looked_at(a, b, n_items, share):
    users = [pl.DataFrame({"model": m, "user": range(n)}) for m, n in (("A", a), ("B", b))]
    items = pl.DataFrame({"item": range(1, n_items + 1)}).with_columns(rank="item")
    truth = pl.DataFrame({"user": range(a)}).with_columns(item=min(2, n_items))
    lists = pl.concat(users).join(items, how="cross")

    with pytest.warns(rf.RecframeWarning, match=f"{share} % of the users have a list of 'B'"):
        lists.rec(truth, model="model").evaluate("mrr")
