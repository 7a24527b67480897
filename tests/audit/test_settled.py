"""A large eager frame, which is asked beforehand what checks share, has the findings of a plan that asks nothing."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from recframe.audit.audited import Audited, numbers_of_several
from recframe.audit.numbers_of_rows import numbered
from recframe.audit.settled import settled
from recframe.frames.rows.packing import key_hash
from recframe.frames.rows.questions import distinct_ids
from recframe.judging.judged_frame import PAIR
from strategies import examples

IDS: dict[Any, list[Any]] = {
    pl.Int64: [-(2**63), -1, 0, 1, 2, 2**31, 2**63 - 1],
    pl.Int8: [-128, -1, 0, 1, 2, 3, 127],
    pl.UInt64: [0, 1, 2, 3, 4, 2**63, 2**64 - 1],
    pl.String: ["", "1", "1.0", " 1", "a", "a ", "é"],
    pl.Categorical: ["", "1", "1.0", " 1", "a", "a ", "é"],
    pl.Binary: [b"", b"1", b"1.0", b" 1", b"a", b"a ", b"b"],
}
RANKS: dict[Any, list[Any]] = {
    pl.Int64: [None, -(2**63), 0, 1, 2, 3, 9, 2**63 - 1],
    pl.UInt8: [None, 0, 1, 2, 3, 255],
    pl.Float64: [None, 0.0, 1.0, 1.5, 2.0, 3.0, float("nan"), float("inf"), 2.0**60],
}
RELEVANCES = [None, -1.0, 0.0, 0.5, 1.0, 2.0, float("inf"), float("nan")]
SCORES = [None, 0.25, 0.5, 0.75, float("nan"), float("-inf")]
MODELS = [None, "", "a", "b"]
OF_A_ROW = {"null_ids", "rank_below_1", "missing_ranks", "fractional_ranks", "negative_relevance"}
"""Checks whose example is the first row; that of others is any."""


@st.composite
def dirty(draw: st.DrawFn) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Lists with a defect or more or none, in order or not, and what is bound to them."""
    dtype, ranks = draw(st.sampled_from([*IDS])), draw(st.sampled_from([*RANKS]))
    schema = {"model": pl.String, "user": dtype, "item": dtype, "rank": ranks}
    schema |= {"relevance": pl.Float64}
    some = st.none() if draw(st.booleans()) else st.sampled_from(RELEVANCES)
    n_users, length, n_items = (draw(st.integers(*ends)) for ends in [(0, 7), (0, 5), (4, 7)])
    clean = [
        (model, user, IDS[dtype][place % n_items], place + 1, draw(some))
        for model in ("a", "b")
        for user in IDS[dtype][:n_users]
        for place in range(length)
    ]
    maybe = st.sampled_from([*IDS[dtype], None])
    row = st.tuples(
        st.sampled_from(MODELS),
        maybe,
        maybe,
        st.sampled_from(RANKS[ranks]),
        st.sampled_from(RELEVANCES),
    )
    rows = clean + draw(st.lists(row, max_size=draw(st.sampled_from([0, 1, 8]))))
    frame = pl.DataFrame(rows, schema, orient="row", strict=False)
    scored = draw(st.sampled_from(["ranks", "scores beside ranks", "scores"]))
    if scored != "ranks":
        some = st.lists(st.sampled_from(SCORES), min_size=len(frame), max_size=len(frame))
        rank = pl.col("rank").cast(pl.Float64)
        falls = draw(st.sampled_from([-rank, rank, (rank - 2).abs(), None]))
        falls = pl.Series(draw(some), dtype=pl.Float64) if falls is None else falls
        frame = frame.with_columns(score=falls)
    if scored == "scores":
        frame = frame.drop("rank")
    if draw(st.booleans()):
        frame = frame.sample(fraction=1, shuffle=True, seed=1)
    others = st.lists(st.tuples(maybe, maybe), max_size=8).map(
        lambda pairs: pl.DataFrame(pairs, {"user": dtype, "item": dtype}, orient="row")
    )
    bound = {"truth": draw(others)} if draw(st.booleans()) else {}
    bound |= {"train": draw(others)} if draw(st.booleans()) else {}
    bound |= {"items": draw(others).select("item")} if draw(st.booleans()) else {}
    if draw(st.booleans()):
        return frame, bound | {"model": "model"}
    return frame.filter(pl.col("model").fill_null("a") == "a").drop("model"), bound


def audited(frame: Any, bound: dict[str, Any], *, large: bool) -> pl.DataFrame:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("recframe.frames.kinds.kind.LARGE", -1 if large else 10**9)
        found = pl.DataFrame(frame.rec(**bound).audit(2))
    shown = pl.when(pl.col("check").is_in(OF_A_ROW)).then("example")
    return found.with_columns(shown)


@examples(150)
@given(case=dirty(), as_pandas=st.booleans())
def test_what_is_asked_beforehand_changes_no_finding(
    case: tuple[pl.DataFrame, dict[str, Any]], *, as_pandas: bool
):
    frame, bound = case
    if as_pandas and frame.schema["user"] in {pl.String, pl.Int8}:
        frame, bound = (
            frame.to_pandas(),
            {
                name: one.to_pandas() if isinstance(one, pl.DataFrame) else one
                for name, one in bound.items()
            },
        )

    assert_frame_equal(audited(frame, bound, large=True), audited(frame, bound, large=False))


SPELLINGS = ["a", " a", "a ", "1", "1.0", "+1.0", "+1", " 1.00 ", "1.", ".0", "1.0.0", "10", "x1.0"]


def plain(text: str) -> str:
    """An id without blanks around it, and a whole number without its point and noughts."""
    text = text.strip()
    whole, point, noughts = text.rpartition(".")
    is_whole = whole.removeprefix("+").isdecimal() and point and noughts and not noughts.strip("0")
    return whole if is_whole else text


@pytest.mark.parametrize("large", [False, True])
@examples(60)
@given(
    listed=st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=6),
    judged=st.lists(st.sampled_from(SPELLINGS), min_size=1, max_size=6),
)
def test_spellings_of_one_id_are_those_that_are_plain_the_same(
    large: bool,  # noqa: FBT001
    listed: list[str],
    judged: list[str],
):
    recs, truth = (
        pl.DataFrame({"user": users, "item": range(len(users)), "rank": 1})
        for users in (listed, judged)
    )

    found = audited(recs, {"truth": truth.drop("rank")}, large=large).filter(check="id_spellings")

    spelled: dict[str, set[str]] = {}
    for user in listed + judged:
        spelled.setdefault(plain(user), set()).add(user)
    odd = {one for text, ones in spelled.items() if len(ones) > 1 for one in ones - {text}}
    frames = {"recommendations": listed, "truth": judged}
    expected = {name: sum(user in odd for user in users) for name, users in frames.items()}
    assert dict(found.select("frame", "rows").rows()) == {
        name: rows for name, rows in expected.items() if rows
    }


@pytest.mark.parametrize("turned", [[], [2], [0], [0, 1, 2]])
def test_lists_upside_down_are_found_among_those_that_are_not(turned: list[int]):
    rows = [
        (user, 1 + place, place if user in turned else -place)
        for user in range(3)
        for place in range(4)
    ]
    frame = pl.DataFrame(rows, ["user", "item", "score"], orient="row")
    frame = frame.with_columns(rank=pl.col("item"), relevance=1)

    found = audited(frame, {}, large=True).filter(check="ranks_against_scores")

    assert found["users"].to_list() == [len(turned)] * bool(turned)


@pytest.mark.parametrize("dtype", [pl.Int64, pl.String, pl.Categorical, pl.Binary])
def test_two_lists_of_a_user_one_far_behind_the_other_are_one(dtype: Any):
    # each of three users has items 0 and 1 at the ranks 1 and 2, and then items 1 and 2
    rows = [
        (user, item + more, item + 1) for more in (0, 1) for user in range(3) for item in (0, 1)
    ]
    frame = pl.DataFrame(rows, ["user", "item", "rank"], orient="row").with_columns(relevance=1)
    frame = frame.with_columns(pl.col("user").cast(pl.String).cast(dtype, strict=False))

    found = audited(frame, {}, large=True)

    assert_frame_equal(found, audited(frame, {}, large=False))
    counts = found.select("check", "rows").rows()
    assert {("duplicate_items", 6), ("repeated_ranks", 12)} <= {*counts}


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.String, pl.Categorical])
def test_the_first_thousand_users_are_the_same_with_what_is_known(dtype: Any):
    user = (pl.int_range(1_500) * 7 % 1_500).cast(pl.String).cast(dtype)
    frame = pl.select(user=user, item=1, rank=1, relevance=1)
    inputs, _ = frame.rec._labelled(None)
    data = Audited(inputs)

    known = settled(data, pl.collect_all, pl.LazyFrame.collect)

    found = [one.of_first_users(data.lists).collect() for one in (data, known)]
    assert_frame_equal(*found, check_row_order=False)
    assert found[0].height == 1_000


@pytest.mark.parametrize("dtype", [*IDS])
@examples(10)
@given(data=st.data())
def test_numbers_stand_for_ids_and_each_id_is_there_once(dtype: Any, data: st.DataObject):
    values = data.draw(st.lists(st.none() | st.sampled_from(IDS[dtype]), max_size=20))
    ids = pl.Series("user", values, dtype=dtype)
    present = [one for one in values if one is not None]

    rows, named = numbered(ids.drop_nulls().to_frame(), "user")

    assert sorted(distinct_ids(ids).to_list()) == sorted(set(present))
    if named is not None:
        rows = rows.rename({"user": "number"}).join(named, on="number")
    assert sorted(rows["user"].to_list()) == sorted(present)


@given(
    pairs=st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), max_size=20),
    dtype=st.sampled_from([pl.Int64, pl.String]),
)
def test_pairs_that_repeat_are_those_that_are_counted_twice(
    pairs: list[tuple[int, int]], dtype: Any
):
    rows = pl.DataFrame(
        pairs, PAIR, orient="row", schema_overrides={"user": pl.Int64, "item": pl.Int64}
    )
    rows = rows.cast(dtype)

    numbers = numbers_of_several(rows.lazy(), PAIR).collect().to_series()

    number = key_hash([pl.col("user"), pl.col("item")], rows.schema)
    again = rows.filter(number.is_in(numbers.implode())).unique().cast(pl.Int64)
    assert sorted(again.rows()) == sorted({one for one in pairs if pairs.count(one) > 1})
    assert numbers.n_unique() == len(numbers)
