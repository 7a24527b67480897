"""What a call warns of: once, at the user's line, on every kind of frame that is collected, and never of what is right."""

from __future__ import annotations

import math
import warnings
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

import recframe as rf
from audited_frames import told
from frame_kinds import KINDS, Kind
from recframe.cli import commands
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
NO_RANK = (
    "no_lists: Lists without a row, or with a rank that is null, NaN or infinite in all rows ("
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
@pytest.mark.parametrize("rank", [None, math.nan, math.inf])
@pytest.mark.parametrize("dtype", [pl.Float64, pl.Int32, pl.Null])
def test_lists_without_a_single_rank_are_warned_of(kind: Kind, rank: Any, dtype: Any):
    if rank is not None and dtype != pl.Float64:
        return
    frame = JUDGED.drop("rank").with_columns(place=pl.lit(rank, dtype=dtype))
    rec = kind(frame).rec(rank="place")

    for ask in (lambda: rec.ndcg(k=9), lambda: rec.evaluate("user_coverage", "recall", by="user")):
        (words,) = told(ask)
        assert words.startswith(f"{NO_RANK}5 rows of the ")


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


def test_the_command_line_prints_a_warning_as_a_note(tmp_path):
    path = tmp_path / "judged.parquet"
    JUDGED.with_columns(rank=pl.lit(math.nan)).write_parquet(path)

    result = CliRunner().invoke(commands.main, ["evaluate", str(path), "-m", "recall"])

    assert result.exit_code == 0
    assert f"note: {NO_RANK}5 rows of {str(path)!r}" in result.stderr
    assert "or name a column of scores: --columns score=NAME" in result.stderr


def test_a_history_without_the_lists_items_is_a_warning_of_the_audit_alone():
    truth = pl.DataFrame({"user": ["u1", "u3"], "item": ["a", "a"]})
    rec = JUDGED.rec(truth, train=truth.with_columns(pl.col("item") + "0"))

    assert told(lambda: rec.recall(k=1)) == []
    found = rec.audit().filter(check="no_common_items", frame="train")
    assert found.select("severity", "rows").rows() == [("warning", 1)]


def test_an_expression_over_several_lists_raises():
    judged = pl.DataFrame({"user": range(400), "item": range(400), "relevance": 1, "week": 1})
    judged = judged.with_columns(pl.col("user") // 10, rank=pl.col("item") % 10 + 1)

    with pytest.raises(pl.exceptions.InvalidOperationError, match="rows of several lists"):
        judged.group_by("week").agg(rf.ndcg.expr(k=10))
    # ties as in sports, and a gap
    one = pl.DataFrame(
        {"user": 1, "item": range(4), "rank": [1, 1, 3, 9], "relevance": [1, 0, 1, 1]}
    )
    assert one.select(rf.recall.expr(k=3)).item() == pytest.approx(2 / 3)
