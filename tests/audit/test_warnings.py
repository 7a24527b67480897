"""What a call warns of: once, at the user's line, on every kind of frame that is collected, and never of what is right."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import recframe as rf
from audited_frames import told
from frame_kinds import KINDS, Kind
from recframe.frames.kinds import kind as kinds

# u1 likes a, which is listed, and b, which is not; u2 likes c, which is not listed.
JUDGED = pl.DataFrame(
    {
        "user": ["u1", "u1", "u2", "u2", "u3"],
        "item": ["a", "b", "a", "c", "a"],
        "rank": [1, None, 1, None, 1],
        "relevance": [1, 1, 0, 1, 1],
        "country": ["DE", None, "FR", None, "FR"],
    }
)
EAGER = pytest.mark.parametrize(
    "kind", [one for one in KINDS if one.name not in {"lazy", "streaming"}], ids=repr
)


def large(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame behind rows of so many others that recframe takes the plan of large ones."""
    n = kinds.LARGE
    others = pl.DataFrame({"user": [f"v{number}" for number in range(n)], "item": ["a"] * n})
    rest = frame[-1:].select(pl.exclude("user", "item"))
    return pl.concat([frame, others.join(rest, how="cross").select(frame.columns)])


@EAGER
def test_one_rank_is_no_reason_to_warn(kind: Kind):
    late = large(JUDGED).with_columns(
        rank=pl.when(pl.int_range(pl.len()) == pl.len() - 1).then(1.0)
    )

    assert told(lambda: kind(late).rec.recall(k=1)) == []


def test_the_filters_of_python_hold():
    rec = JUDGED.with_columns(rank=pl.lit(None, dtype=pl.Int64)).rec

    with warnings.catch_warnings():
        warnings.simplefilter("error", rf.RecframeWarning)
        with pytest.raises(rf.RecframeWarning, match="no_lists"):
            rec.recall(k=1)
        warnings.simplefilter("ignore", rf.RecframeWarning)
        assert rec.recall(k=1) == 0


def test_a_history_without_the_lists_items_is_a_warning_of_the_audit_alone():
    truth = pl.DataFrame({"user": ["u1", "u3"], "item": ["a", "a"]})
    rec = JUDGED.rec(truth, train=truth.with_columns(pl.col("item") + "0"))

    assert told(lambda: rec.recall(k=1)) == []
    found = rec.audit().filter(check="no_common_items", frame="train")
    assert found.select("severity", "rows").rows() == [("warning", 1)]


def test_an_expression_takes_ties_as_in_sports_and_a_gap_for_one_list():
    one = pl.DataFrame(
        {"user": 1, "item": range(4), "rank": [1, 1, 3, 9], "relevance": [1, 0, 1, 1]}
    )
    assert one.select(rf.recall.expr(k=3)).item() == pytest.approx(2 / 3)
