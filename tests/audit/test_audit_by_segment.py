"""An audit by a column of lists and truth is that of the filtered frames."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import recframe as rf

# week 2 has the lists of week 1 once more; in week 3 user 1 has item 1 twice and two items of rank 2, and user 2 no list
WEEK = pl.DataFrame({"user": [1, 1, 2, 2], "item": [1, 2, 3, 4], "rank": [1, 2, 1, 2]})
ODD = pl.DataFrame({"user": [1, 1, 1], "item": [1, 1, 2], "rank": [1, 2, 2]})
RECS = pl.concat(
    one.with_columns(week=pl.lit(week, pl.Int64))
    for week, one in ((1, WEEK), (2, WEEK), (3, ODD), (None, WEEK))
)
# week 3 judges a pair twice
LIKED = pl.DataFrame({"user": [1, 2], "item": [2, 9], "relevance": [1, 2]})
TWICE = pl.DataFrame({"user": [1, 1, 2], "item": [2, 2, 9], "relevance": [1, 2, 1]})
TRUTH = pl.concat(
    one.with_columns(week=pl.lit(week, pl.Int64))
    for week, one in ((1, LIKED), (2, LIKED), (3, TWICE), (None, LIKED))
)
COUNTED = ("check", "severity", "frame")


def audited(recs: Any, truth: Any, **by: Any) -> dict[tuple[str, ...], int]:
    found = rf.rec(recs, truth=truth).audit(2, **by)
    found = found.collect() if isinstance(found, pl.LazyFrame) else found
    return {row[:3]: row[3] for row in found.select(*COUNTED, "rows").rows()}


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("times", [1, 300])
@pytest.mark.parametrize("order", ["rank", "score"])
def test_findings_by_week_are_those_of_each_week_added_up(order: str, times: int, *, lazy: bool):
    ranks = RECS.with_columns(score=-pl.col("rank"))
    recs = RECS if order == "rank" else ranks.drop("rank")
    many = pl.DataFrame({"copy": range(times)})

    def made(frame: pl.DataFrame) -> pl.DataFrame:
        copied = frame.join(many, how="cross")
        return copied.with_columns(pl.col("user") + 10 * pl.col("copy")).drop("copy")

    recs, truth = made(recs), made(TRUTH)
    whole: dict[tuple[str, ...], int] = {}
    for week in (1, 2, 3, None):
        parts = [frame.filter(pl.col("week").eq_missing(week)) for frame in (recs, truth)]
        for name, rows in audited(*parts).items():
            whole[name] = whole.get(name, 0) + rows
    kind = pl.DataFrame.lazy if lazy else pl.DataFrame.clone

    assert audited(kind(recs), kind(truth), by="week") == whole
    assert ("duplicate_items", "error", "recommendations") in whole
    assert ("conflicting_truth", "error", "truth") in whole


def test_a_judged_frame_of_weeks_is_audited_week_by_week():
    one = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [1, 0]})
    frame = pl.concat(
        [one.with_columns(week=1), one.with_columns(pl.col("rank").reverse(), week=2)]
    )

    checks = set(frame.rec.audit()["check"])
    assert {"duplicate_items", "repeated_ranks"} <= checks
    assert not {"duplicate_items", "repeated_ranks"} & set(frame.rec.audit(by="week")["check"])


def test_strict_takes_two_weeks_of_one_item_for_no_duplicates():
    recs, truth = (one.filter(pl.col("week") < 3) for one in (RECS, TRUTH))
    strict = rf.rec(recs, truth=truth, strict=True)

    assert strict.ndcg(k=2, by="week").height == 2


def test_events_of_the_truth_alone_are_audited_event_by_event():
    truth = pl.concat(
        LIKED.with_columns(relevance=grade, event=pl.lit(event))
        for event, grade in (("click", 1), ("order", 3))
    )
    assert ("conflicting_truth", "error", "truth") in audited(WEEK, truth)
    assert ("conflicting_truth", "error", "truth") not in audited(WEEK, truth, by="event")
