"""The metrics of exposure by groups on lists that were worked by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest

import recframe as rf
from asking import ask_one

LISTED = pl.DataFrame({"user": ["u"] * 5, "item": [*"axcbd"], "rank": range(1, 6)})
TRUTH = pl.DataFrame({"user": ["u"] * 5, "item": [*"abcdz"], "relevance": [1, 0, 1, 1, 2]})
GROUPS = pl.DataFrame({"item": [*"acdxb"], "side": [*"AAABB"]})
# a, c, d of A at the ranks 1, 3, 5 and x, b of B at 2, 4
EXPOSED = 0.639945


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("awrf", 1 - (EXPOSED - 0.5)),
        # of the five items three are of A
        ("awrf(target=catalogue)", 1 - (EXPOSED - 0.6)),
        # a, c and d are relevant, and z, which is in no group
        ("awrf(target=relevant)", EXPOSED),
        ('awrf(target=\'{"A": 0.75, "B": 0.25}\')', 1 - (0.75 - EXPOSED)),
        # 1 + 1/4 + 1/16 of 31/16
        ("awrf(discount=geometric)", 1 - (21 / 31 - 0.5)),
    ],
)
def test_the_share_of_attention_is_held_against_a_target(kind, metric: str, expected: float):
    found = ask_one(kind, LISTED, metric, truth=kind(TRUTH), items=kind(GROUPS))

    assert found[metric] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("part", "expected"), [("relevance", 0.40625), ("loss", 1.6888020833333333)]
)
def test_the_exposure_of_the_list_worked_by_hand(part: str, expected: float):
    # E of a, x, c is 1, 1/2, 1/4; T of c and z is (1 - 1/4) / 2 / (1/2), of the three others (1/4 - 1/32) / 3 / (1/2)
    judged = pl.DataFrame(
        {"user": ["u"] * 4, "item": [*"axcz"], "rank": [1, 2, 3, None], "relevance": [0, 0, 1, 1]}
    )
    rec = judged.rec(items=pl.DataFrame({"item": [*"abcxz"]}))

    assert rec.expected_exposure(part=part, p=0.5) == pytest.approx(expected, abs=1e-12)


def test_the_exposure_of_single_items_has_no_disparity():
    with pytest.raises(rf.RecframeError, match="where each user has one; name the column"):
        LISTED.rec(truth=TRUTH, items=GROUPS).expected_exposure(part="disparity")


def test_items_of_a_group_bring_what_they_bring_where_they_are_listed():
    listed = pl.DataFrame({"user": [1, 1, 2, 3], "item": [*"abac"], "rank": [1, 2, 3, 1]})
    truth = pl.DataFrame({"user": [1, 2, 2, 3], "item": [*"aabz"], "relevance": [1, 3, 1, 1]})
    items = pl.DataFrame({"item": [*"abc"], "side": [*"ABC"]})

    # a: (1 + 3/2) / 2, b and c: 0; of the three pairs two are apart
    found = listed.rec(truth=truth, items=items).exposure_gap(k=3)

    assert found == pytest.approx(1.25 * 2 / 3, abs=1e-12)


@pytest.mark.parametrize("by", ["user", None])
def test_one_group_has_no_gap(by: str | None):
    rec = LISTED.rec(truth=TRUTH, items=GROUPS.with_columns(side=pl.lit("A")))

    assert rec.evaluate("exposure_gap", by=by).rows()[0][-1] is None


@pytest.mark.parametrize(
    "target",
    [
        *({"A": 0.6}, {"A": 0.6, "B": 0.5}, {"A": 1.5, "B": -0.5}, {"A": math.nan, "B": 1.0}),
        *("catalog", {}, [1], 3),
    ],
)
def test_shares_that_are_none_are_an_error(target: object):
    with pytest.raises(rf.RecframeError, match="shares of all groups that add up to 1"):
        rf.awrf(target=target)


def test_a_group_without_a_share_is_an_error():
    with pytest.raises(rf.DataError, match="no share for the category B, which an item of"):
        LISTED.rec(items=GROUPS).awrf(target={"A": 0.6, "C": 0.4})


@pytest.mark.parametrize(
    "groups",
    [{"A": 0.6, "B": 0.4}, {"it's": 0.5, 'a "b", c)@1': 0.5}, {"C:\\new": 1.0}, {"Ä, é": 1.0}],
)
def test_given_shares_are_read_back_from_the_string_form(groups: dict[str, float]):
    metric = rf.awrf(target=groups) @ 3

    assert rf.parse(str(metric)) == metric == rf.awrf(target=dict(reversed(groups.items()))) @ 3


def test_shares_of_numbers_and_truths_are_given_as_they_are():
    for column in ([1, 1, 1, 2, 2], [True, True, True, False, False]):
        items = GROUPS.with_columns(side=pl.Series(column))
        shares = dict.fromkeys(column, 0.5)

        assert LISTED.rec(items=items).awrf(target=shares) == pytest.approx(1 - (EXPOSED - 0.5))


DRAWS = pl.DataFrame(
    {"user": ["u"] * 6, "draw": [*"112212"], "item": [*"axxcca"], "rank": [1, 2, 1, 2, 3, 3]}
)
FIVE = pl.DataFrame({"item": [*"abcxz"], "side": [*"ABABB"]})


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        # E of a, x, c is (1 + 1/4) / 2, (1/2 + 1) / 2, (1/4 + 1/2) / 2; T as above
        ({"part": "disparity"}, 0.625**2 + 0.75**2 + 0.375**2),
        ({"part": "relevance"}, 0.625 * 7 / 48 + 0.75 * 7 / 48 + 0.375 * 0.75),
        # of A, a and c, E is 1 and T 43/48; of B, x, b and z, 3/4 and 50/48
        ({"part": "loss", "of": "side"}, (1 - 43 / 48) ** 2 + (0.75 - 50 / 48) ** 2),
    ],
)
@pytest.mark.parametrize("by", [None, "user"])
def test_the_exposure_of_several_lists_is_their_mean(kind, parameters, expected, by):
    truth = pl.DataFrame({"user": ["u", "u"], "item": [*"cz"]})
    rec = kind(DRAWS).rec(truth=kind(truth), items=kind(FIVE))

    found = kind.read(rec.evaluate(rf.expected_exposure(sample="draw", p=0.5, **parameters), by=by))

    assert found.rows()[0][-1] == pytest.approx(expected, abs=1e-12)


def test_a_list_that_is_short_or_repeats_an_item_is_a_list_all_the_same():
    truth = pl.DataFrame({"user": ["u", "v"], "item": [*"cz"]})
    again = DRAWS.vstack(DRAWS.head(1).with_columns(rank=pl.lit(3, dtype=pl.Int64)))
    again = again.vstack(DRAWS.head(1).with_columns(draw=pl.lit("3"), item=pl.lit(None, pl.String)))

    found = again.rec(truth=truth, items=FIVE).expected_exposure(
        1, by="user", part="disparity", sample="draw"
    )

    # a and x are each the first of one list of two
    assert found.rows() == [("u", 0.5), ("v", 0.0)]


@pytest.mark.parametrize("lists", [DRAWS.drop("draw"), DRAWS.rename({"rank": "score"})])
def test_several_lists_need_their_column_and_ranks(lists: pl.DataFrame):
    truth = pl.DataFrame({"user": ["u"], "item": ["c"]})

    with pytest.raises(rf.ColumnError, match="tells the lists of a user apart, beside their ranks"):
        lists.rec(truth=truth, items=FIVE).expected_exposure(sample="draw")


@pytest.mark.parametrize("metric", ["expected_exposure", "expected_exposure(sample=draw)", "awrf"])
def test_an_item_is_a_segment_of_lists_truth_and_catalogue(metric: str):
    truth = pl.DataFrame({"user": ["u", "u"], "item": [*"cz"]})
    lists = DRAWS if "sample" in metric else DRAWS.filter(draw="1")

    found = lists.rec(truth=truth, items=FIVE).evaluate(metric, by="item").rows_by_key("item")

    assert "c" in found
    for item, (row,) in found.items():
        own = [frame.filter(item=item) for frame in (lists, truth, FIVE)]
        alone = own[0].rec(truth=own[1], items=own[2]).evaluate(metric).row(0)
        assert row[-1] == alone[-1]
