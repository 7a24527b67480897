"""A history of runs in a folder: what a file has, what replaces what, and that nobody reads half of a run."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys

import pandas as pd
import polars as pl
import pytest

import recframe as rf
from own_python import printed
from recframe.tracking.histories import moment

DF = pl.DataFrame(
    {
        "user": [1, 2, 3, 4],
        "item": [1, 1, 1, 1],
        "rank": [1, 2, 1, None],
        "relevance": [1, 1, 0, 1],
        "country": ["FR", "DE", "FR", None],
        "age": [20, 30, 20, 30],
    }
)
DAY = "2026-11-22"
NUMBERS = ["metric", "value", "low", "high", "std", "n", "fingerprint"]
IN_SUMMARY = {"low": "value_low", "high": "value_high", "n": "n_users"}


def at(*parts: int, **more: object) -> dt.datetime:
    return dt.datetime(*parts, **more)  # noqa: DTZ001  some are without a zone on purpose


def values(history: object, *names: str) -> list[tuple]:
    return rf.history(history).select(*names, "metric", "value").rows()


def test_a_run_is_a_file_with_its_numbers_and_what_they_are_of(kind, tmp_path):
    frame = kind(DF)
    result = frame.rec.track(
        "mrr", "recall", k=1, by="country", history=tmp_path, as_of=DAY, name="n", tags={"a": 1}
    )
    expected = kind.read(frame.rec.summarize("mrr", "recall", k=1, by="country"))
    (file,) = tmp_path.iterdir()
    found = pl.read_parquet(file)

    assert found.columns == ["as_of", "name", "tag_a", "country", *NUMBERS]
    assert found.equals(rf.history(tmp_path))
    # what it returns is what it wrote: of a LazyFrame too, at once
    is_lazy = isinstance(frame, pl.LazyFrame)
    assert isinstance(result, pl.DataFrame if is_lazy else type(frame))
    result = result if is_lazy else kind.read(result)
    assert result.drop("as_of").equals(found.drop("as_of"))
    # a segment that is null has a name, since null are the runs that were not split
    assert found["country"].to_list() == ["DE", "DE", "FR", "FR", "null", "null"]
    for name in ("metric", "value", "low", "high", "std", "n"):
        assert found[name].to_list() == expected[IN_SUMMARY.get(name, name)].to_list()
    assert found.select("as_of", "name", "tag_a", "fingerprint").unique().rows() == [
        (at(2026, 11, 22), "n", "1", DF.rec.fingerprint(by="country"))
    ]


def test_a_run_replaces_that_of_its_time_name_and_data_and_no_other(tmp_path):
    for tag in ("first", "second"):
        DF.rec.track("mrr", history=tmp_path, as_of=DAY, tags={"try": tag})
    assert values(tmp_path, "tag_try") == [("second", "mrr", 0.375)]

    DF.rec.track("mrr", history=tmp_path, as_of="2026-11-23")
    DF.rec.track("mrr", history=tmp_path, as_of=DAY, name="canary")
    # their parts spell the same
    for name in (None, "None", "a', 'b", "a") * 2:
        DF.rec.track("mrr", history=tmp_path / "b", as_of=DAY, name=name)
    assert rf.history(tmp_path / "b").height == 4
    DF[:2].rec.track("mrr", history=tmp_path, as_of=DAY)
    DF.rec.track("mrr", by="age", history=tmp_path, as_of=DAY)

    assert sorted(values(tmp_path, "name", "age"), key=str) == [
        ("canary", None, "mrr", 0.375),
        (None, "20", "mrr", 0.5),
        (None, "30", "mrr", 0.25),
        (None, None, "mrr", 0.375),
        (None, None, "mrr", 0.375),
        (None, None, "mrr", 0.75),
    ]


def test_runs_by_other_columns_stand_side_by_side(tmp_path):
    DF.rec.track("mrr", by="country", history=tmp_path, as_of="2026-11-21")
    DF.rec.track("mrr", by="age", history=tmp_path, as_of="2026-11-23", tags={"a": 1})
    rf.rec({"a": DF, "b": DF}).track("mrr", history=tmp_path, as_of="2026-11-22")
    found = rf.history(tmp_path)

    assert found.columns == ["as_of", "name", "tag_a", "country", "age", "model", *NUMBERS]
    assert found.filter(country="FR")["value"].to_list() == [0.5]
    assert found.filter(age="30")["value"].to_list() == [0.25]
    assert found.filter(model="b")["value"].to_list() == [0.375]
    assert found["as_of"].is_sorted()


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ([1, 2], ["1", "2"]),
        ([1.0, 2.5], ["1", "2.5"]),
        ([dt.date(2026, 1, 1), None], ["2026-01-01", "null"]),
        (pl.Series(["FR", "DE"], dtype=pl.Enum(["FR", "DE"])), ["FR", "DE"]),
        ([False, True], ["false", "true"]),
    ],
    ids=str,
)
def test_what_a_run_is_split_by_is_text(tmp_path, keys, text):
    frame = DF.with_columns(part=pl.Series(keys).append(pl.Series(keys)))
    frame.rec.track("mrr", by="part", history=tmp_path, as_of=DAY)

    assert sorted(rf.history(tmp_path)["part"]) == sorted(text)


@pytest.mark.parametrize("column", ["*", "^.*$", "literal", "a b", '"q"', "k ", "^age", "Value"])
def test_a_column_may_have_any_name(tmp_path, column):
    rec = DF.lazy().rename({"age": column}).rec
    rec.track("mrr", by=column, history=tmp_path, as_of=DAY)
    rec.track("mrr", by=[column, "country"], history=tmp_path, as_of=DAY)

    assert rf.history(tmp_path)[column].to_list() == ["20", "30", "20", "30", "30"]
    assert rf.changes(tmp_path).height == 5


UTC = dt.timezone.utc
EAST = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        (dt.date(2026, 11, 22), at(2026, 11, 22)),
        ("2026-11-22", at(2026, 11, 22)),
        ("2026-11-22T06:30", at(2026, 11, 22, 6, 30)),
        ("2026-11-22T06:30:00+02:00", at(2026, 11, 22, 4, 30)),
        ("2026-11-22T06:30:00Z", at(2026, 11, 22, 6, 30)),
        (at(2026, 11, 22, 1), at(2026, 11, 22, 1)),
        (at(2026, 11, 22, 1, tzinfo=UTC), at(2026, 11, 22, 1)),
        (at(2026, 11, 22, 1, tzinfo=EAST), at(2026, 11, 21, 23)),
        (pd.Timestamp("2026-11-22T06:30", tz="Europe/Paris"), at(2026, 11, 22, 5, 30)),
        (pd.Timestamp("2026-11-22T06:30:00.000000001"), at(2026, 11, 22, 6, 30)),
    ],
)
def test_a_time_is_in_utc(as_of, expected):
    assert moment(as_of) == expected
    assert type(moment(as_of)) is dt.datetime


def test_a_folder_below_a_file_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")

    with pytest.raises(rf.RecframeError, match=r"cannot write .*: Not a directory"):
        DF.rec.track("mrr", history=tmp_path / "file" / "below", as_of=DAY)


def test_polars_and_duckdb_read_the_folder_themselves(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    assert rf.history(tmp_path).schema.names() == ["as_of", "name", *NUMBERS]
    DF.rec.track("mrr", history=tmp_path / "a" / "h", as_of="2026-11-21")
    DF.rec.track("mrr", history=tmp_path / "a" / "h", as_of="2026-11-22")
    files = str(tmp_path / "a" / "h" / "*.parquet")

    assert pl.read_parquet(files)["value"].to_list() == [0.375, 0.375]
    DF.rec.track("mrr", by="country", history=tmp_path / "a" / "h", as_of="2026-11-23")
    asked = f"SELECT value FROM read_parquet('{files}', union_by_name=true) WHERE country = 'FR'"  # noqa: S608  a path of our own
    assert duckdb.sql(asked).fetchall() == [(0.5,)]


def test_a_file_that_nobody_wrote_whole_is_named_and_one_of_another_ending_is_left_alone(tmp_path):
    DF.rec.track("mrr", history=tmp_path, as_of=DAY)
    (tmp_path / "notes.txt").write_text("x")
    assert values(tmp_path) == [("mrr", 0.375)]
    (tmp_path / "other.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(rf.DataError, match=r"other.parquet' is no run of a history: .*; move it"):
        rf.history(tmp_path)


def test_importing_recframe_imports_nothing_of_it():
    code = "import recframe, sys; print({'recframe.tracking.histories', 'recframe.charts.table'} & {*sys.modules})"

    assert printed(code) == "set()"


def process(code: str, *arguments: object) -> subprocess.Popen:
    """Start a Python of its own, which has lists at hand."""
    begin = """
import sys, datetime as dt, polars as pl, recframe as rf
rec = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]}).rec
place = sys.argv[1]
"""
    run = [sys.executable, "-c", begin + code, *map(str, arguments)]
    return subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603


@pytest.mark.slow
def test_whoever_reads_while_two_write_sees_whole_runs_alone(tmp_path):
    code = """
for n in range(25):
    rec.track("mrr", "recall", history=place, as_of=dt.date(2026, 1, n + 1), name=sys.argv[2])
    rec.track("mrr", "recall", history=place, as_of=dt.date(2026, 1, 1), name="all")
"""
    running = [process(code, tmp_path, name) for name in "ab"]
    seen = []
    while any(one.poll() is None for one in running):
        found = rf.history(tmp_path)
        seen.append(found.height)
        assert found.group_by("as_of", "name").len()["len"].unique().to_list() in ([], [2])
    for one in running:
        _, errors = one.communicate(timeout=120)
        assert one.returncode == 0, errors

    assert seen == sorted(seen)
    assert rf.history(tmp_path).height == 2 * (25 + 25 + 1)


def test_a_process_that_is_killed_before_a_run_has_its_place_leaves_the_one_that_was_there(
    tmp_path,
):
    code = """
import os, signal, pathlib
def killed(*_): os.kill(os.getpid(), signal.SIGKILL)
rec.track("mrr", history=place, as_of="2026-11-22", tags={"try": 1})
pathlib.Path.replace = killed
rec.track("mrr", history=place, as_of="2026-11-22", tags={"try": 2})
"""
    one = process(code, tmp_path)
    one.communicate(timeout=60)

    assert one.returncode == -signal.SIGKILL
    assert len(os.listdir(tmp_path)) == 2  # noqa: PTH208
    assert values(tmp_path, "tag_try") == [("1", "mrr", 1.0)]
