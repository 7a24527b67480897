"""A value of a parameter that has two names: either is the same metric, which prints and is tracked under one of them."""

from __future__ import annotations

import pickle

import polars as pl
import pytest

import recframe as rf

# 2 hits at the ranks 1 and 3, of 5 relevant items, of which 3 could stand up to rank 3
FRAME = pl.DataFrame(
    {
        "user": [1] * 6,
        "item": list("axbcde"),
        "rank": [1, 2, 3, None, None, None],
        "relevance": [1, 0, 1, 1, 1, 1],
    }
)
ACHIEVABLE = [
    (rf.precision(denominator="achievable"), "precision(denominator=achievable)", 2 / 3),
    (rf.recall(denominator="achievable"), "recall(denominator=capped)", 2 / 3),
    (rf.map(normalizer="achievable"), "map(normalizer=min)", (1 + 2 / 3) / 3),
    (rf.parse("map(denominator=achievable)"), "map(normalizer=min)", (1 + 2 / 3) / 3),
]


@pytest.mark.parametrize(("metric", "printed", "value"), ACHIEVABLE)
def test_what_could_be_found_up_to_k_is_understood_by_three_metrics(metric, printed, value):
    plain = rf.parse(printed)

    assert str(metric @ 3) == f"{printed}@3"
    assert metric == plain == printed
    assert hash(metric) == hash(plain) == hash(printed)
    assert metric.in_full == plain.in_full
    assert metric.in_python == plain.in_python
    assert metric.stated == plain.stated
    assert pickle.loads(pickle.dumps(metric)) == plain  # noqa: S301  our own bytes
    assert FRAME.rec.evaluate(metric, plain, k=3).rows() == [(1, pytest.approx(value))]


def test_it_is_understood_wherever_a_parameter_is_written():
    assert FRAME.rec.recall(k=3, denominator="achievable") == pytest.approx(2 / 3)
    assert FRAME.rec.map(k=3, normalizer="achievable") == pytest.approx(5 / 9)
    assert FRAME.rec.map(k=3, denominator="achievable") == pytest.approx(5 / 9)
    assert FRAME.rec.evaluate("map(normalizer=achievable)@3").columns[-1] == "map(normalizer=min)@3"
    assert rf.map(normalizer="achievable", average="geometric") == (
        "map(normalizer=min,average=geometric)"
    )


def test_a_profile_leaves_it_as_it_was_stated():
    # trec_eval divides by all 5
    rec = FRAME.rec(profile="trec_eval")

    assert rec.map(k=3) == pytest.approx((1 + 2 / 3) / 5)
    assert rec.map(k=3, normalizer="achievable") == pytest.approx(5 / 9)
    assert rec.map(k=3, denominator="achievable") == pytest.approx(5 / 9)


def test_runs_under_either_name_are_of_one_definition(tmp_path):
    for day, name in [("2026-11-22", "min"), ("2026-11-23", "achievable")]:
        FRAME.rec.track(f"map(normalizer={name})@3", history=tmp_path, as_of=day)
    found = rf.history(tmp_path)

    assert found["metric"].to_list() == ["map(normalizer=min)@3"] * 2
    assert found["definition"].n_unique() == 1


def test_one_thing_said_twice_is_an_error():
    with pytest.raises(rf.RecframeError) as error:
        rf.map(normalizer="hits", denominator="achievable")

    assert str(error.value) == (
        "map(normalizer='hits', denominator='achievable') says normalizer twice; leave one out"
    )
    with pytest.raises(rf.RecframeError, match="map has no parameter 'denominator'"):
        rf.map(denominator="min")
    with pytest.raises(rf.RecframeError, match=r"denominator takes 'relevant' or 'capped'$"):
        rf.recall(denominator="k")
