"""A history of runs in a folder: nothing is lost, nothing is there twice, whoever writes and whoever is killed."""

from __future__ import annotations

import datetime as dt
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import recframe as rf
from recframe.statistics.stored_results import tidy
from recframe.tracking import folder
from recframe.tracking.histories import append, runs
from recframe.tracking.runs import ABOUT, UNSEEN, moment, run_of

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
SHOWN = [name for name in ABOUT if name not in UNSEEN]


def at(*parts: int, **more: object) -> dt.datetime:
    return dt.datetime(*parts, **more)  # noqa: DTZ001  some are without a zone on purpose


def values(history: str, *names: str) -> list[tuple]:
    return rf.history(history).select(*names, "metric", "value").rows()


# ---- what is kept


def test_a_run_is_kept_with_what_it_was_made_of(kind, place):
    frame = kind(DF)
    result = frame.rec.track(
        "mrr", "recall", k=1, by="country", history=place, as_of=DAY, name="n", tags={"a": 1}
    )
    asked = frame.rec.summarize("mrr", "recall", k=1, by="country")
    found = runs(place)

    assert type(result) is type(asked)
    assert kind.read(result).equals(kind.read(asked))
    assert found.columns[: len(SHOWN) + 1] == [*SHOWN, "tag_a"]
    assert found.select(kind.read(asked).columns).equals(kind.read(asked))
    assert found["as_of"].to_list() == [at(2026, 11, 22)] * 6
    assert set(found["name"]) == {"n"}
    assert set(found["tag_a"]) == {"1"}
    assert set(found["fingerprint"]) == {DF.rec.fingerprint(by="country")}
    assert set(found["recframe"]) == {rf.__version__}
    assert set(found["polars"]) == {pl.__version__}


def test_a_definition_has_all_that_decides_a_number(tmp_path):
    rec = DF.rec(no_relevant="skip", min_relevance=1)
    rec.track("map", "ndcg(gain=exp)@5", history=tmp_path, as_of=DAY)
    DF.select("user", "item", "rank").rec(DF.select("user", "item"), profile="trec_eval").track(
        "map", history=tmp_path, as_of="2026-11-23"
    )

    policies = (
        "no_relevant=skip, relevant_from=truth, min_relevance=1, min_relevance_for=all, ties=item"
    )
    first, second, third = rf.history(tmp_path)["definition"]
    assert first == f"map(normalizer=relevant,average=arithmetic,without_relevant=zero); {policies}"
    assert second.startswith("ndcg(gain=exp,log_base=2,")
    assert second.endswith(f")@5; {policies}")
    assert third.startswith("map(")
    assert "universe=" in third
    assert third.endswith("profile=trec_eval")


def test_a_result_at_hand_is_kept(kind, place):
    result = kind(DF).rec.evaluate("mrr", "ndcg@1", by="country", tidy=True)

    back = rf.track(result, place, as_of=DAY)

    assert type(back) is type(result)
    assert kind.read(back).equals(kind.read(result))
    columns = ["country", "metric", "k", "value", "n"]
    assert runs(place).select(columns).equals(kind.read(result))


# ---- what replaces what


def test_a_run_replaces_itself(place):
    for tag in ("first", "second"):
        DF.rec.track("mrr", history=place, as_of=DAY, tags={"try": tag})

    assert values(place, "tag_try") == [("second", "mrr", 0.375)]


@pytest.mark.parametrize("other", [{"as_of": "2026-11-23"}, {"name": "canary"}])
def test_another_time_or_name_is_another_run(place, other):
    for more in ({}, other):
        DF.rec.track("mrr", **{"history": place, "as_of": DAY, **more})

    assert len(values(place)) == 2


def test_other_data_are_another_run(place):
    for frame in (DF, DF[:2]):
        frame.rec.track("mrr", history=place, as_of=DAY)

    assert values(place) == [("mrr", 0.375), ("mrr", 0.75)]


def test_metrics_and_segments_that_are_tracked_apart_are_all_there_once(place):
    for asked in (["mrr"], ["recall@1"], ["mrr", "recall@1"], ["mrr"]):
        DF.rec.track(*asked, history=place, as_of=DAY)
    DF.rec.track("mrr", by="age", history=place, as_of=DAY)

    assert sorted(values(place, "age"), key=str) == [
        (20, "mrr", 0.5),
        (30, "mrr", 0.25),
        (None, "mrr", 0.375),
        (None, "recall@1", 0.25),
    ]


def test_results_at_hand_replace_those_of_their_time_and_kind(place):
    rec = rf.rec({"a": DF, "b": DF.with_columns(rank=1)})
    other = rf.rec({"a": DF, "b": DF.with_columns(rank=2)})
    for one in (rec, other):
        rf.track(one.summarize("mrr"), place, as_of=DAY)
        rf.track(one.power("mrr", baseline="a"), place, as_of=DAY)
    found = rf.history(place)

    of_summary = found.filter(pl.col("baseline").is_null(), model="b")
    assert of_summary["value"].to_list() == [0.375]
    assert found["detectable"].drop_nulls().len() == 1

    rf.track(rec.summarize("mrr"), place, as_of=DAY, fingerprint="of other data")
    assert rf.history(place).height == 5


def test_a_number_stands_as_it_was_tracked_last(tmp_path):
    rows = tidy(DF.rec.summarize("mrr"))
    for n, value in enumerate([0.1, 0.3, 0.2]):
        metric = rows.with_columns(value=value)
        more = pl.concat([metric, rows.with_columns(metric=pl.lit(f"other{n}"))])
        append(tmp_path, run_of(more, as_of=DAY, fingerprint="x", name=None, tags=None))

    assert [value for metric, value in values(tmp_path) if metric == "mrr"] == [0.2]
    assert len(values(tmp_path)) == 4


# ---- runs of several schemas


def test_runs_by_other_columns_stand_side_by_side(place):
    DF.rec.track("mrr", by="country", history=place, as_of="2026-11-21")
    DF.rec.track("mrr", by="age", history=place, as_of="2026-11-22")
    rf.rec({"a": DF, "b": DF}).track("mrr", history=place, as_of="2026-11-23")
    found = rf.history(place)

    assert found.filter(country="FR")["value"].to_list() == [0.5]
    assert found.filter(age=30)["value"].to_list() == [0.25]
    assert found.filter(model="b")["value"].to_list() == [0.375]
    assert found["as_of"].is_sorted()
    assert found.columns[len(SHOWN) :][:5] == ["country", "age", "model", "metric", "k"]


def test_a_column_of_two_dtypes_is_text(place):
    DF.rec.track("mrr", by="age", history=place, as_of="2026-11-21")
    DF.with_columns(pl.col("age").cast(pl.String) + "s").rec.track(
        "mrr", by="age", history=place, as_of="2026-11-22"
    )
    DF.rec.track("mrr", by="age", history=place, as_of="2026-11-23")

    assert rf.history(place)["age"].to_list() == ["20", "30", "20s", "30s", "20", "30"]


def test_widths_of_numbers_are_one_number(place):
    for day, dtype in (
        ("2026-11-21", pl.Int8),
        ("2026-11-22", pl.Int64),
        ("2026-11-23", pl.Float32),
    ):
        DF.with_columns(pl.col("age").cast(dtype)).rec.track(
            "mrr", by="age", history=place, as_of=day
        )

    assert rf.history(place)["age"].to_list() == [20, 30, 20, 30, 20, 30]


def test_categories_and_dates_and_nulls_come_back(place):
    frame = DF.with_columns(
        pl.col("country").cast(pl.Enum(["FR", "DE"])), born=pl.date(2000, 1, "age")
    )
    frame.rec.track("mrr", by=["country", "born"], history=place, as_of=DAY)
    found = rf.history(place)

    assert found["country"].to_list() == ["FR", "DE", None]
    assert found["born"].dtype == pl.Date


def test_comparisons_gaps_and_slices_can_be_kept(place):
    rec = rf.rec({"a": pl.concat([DF] * 1), "b": DF.with_columns(rank=1)})
    rf.track(rec.compare("mrr", baseline="a"), place, as_of=DAY)
    rf.track(rec.gaps("mrr", by="age", min_users=2, wide=True), place, as_of=DAY)
    rf.track(rec.slices("mrr", by="age", min_users=2, wide=True), place, as_of=DAY)

    found = rf.history(place)
    assert found["verdict"].drop_nulls().len() == 1
    assert found["gap"].drop_nulls().len() == 2
    assert set(found["segment"].drop_nulls()) == {"age=20", "age=30"}


@pytest.mark.parametrize("column", ["*", "^.*$", "literal", "a b", '"q"', "k ", "^age"])
def test_a_column_may_have_any_name(place, column):
    rec = DF.lazy().rename({"age": column}).rec
    rec.track("mrr", by=column, history=place, as_of=DAY)
    rec.track("mrr", by=[column, "country"], history=place, as_of=DAY)
    found = rf.history(place)

    assert found[column].to_list() == [20, 30, 20, 30, 30]
    assert len(rf.flat(found.select(pl.exclude(SHOWN)).head(2))) == 6
    assert rec.table("mrr", by=column).titles == ("", column)


# ---- times


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


def test_one_moment_in_two_zones_is_one_run(place):
    for as_of in ("2026-11-22T06:00Z", "2026-11-22T07:00+01:00"):
        DF.rec.track("mrr", history=place, as_of=as_of)

    assert len(values(place)) == 1


@pytest.mark.parametrize("as_of", [None, 20261122, "yesterday", "", "2026-13-01", pd.NaT, 1.5])
def test_what_is_no_time_is_told_before_any_work(tmp_path, as_of):
    said = r"as_of=.* is not a time; write as_of=datetime.date\(2026, 11, 22\), a datetime, or text"
    with pytest.raises(rf.RecframeError, match=said):
        DF.rec.track("no such metric", history=tmp_path / "h", as_of=as_of)
    with pytest.raises(rf.RecframeError, match=said):
        rf.track(DF.rec.summarize("mrr"), tmp_path / "h", as_of=as_of)
    assert not (tmp_path / "h").exists()


# ---- what is said


def test_a_place_that_is_none_is_told(tmp_path):
    (tmp_path / "file.parquet").write_text("x")
    result = DF.rec.summarize("mrr")
    for place, said in (
        (
            tmp_path / "file.parquet",
            "file.parquet' is a file; a history is a folder, with a file for each run",
        ),
        (
            "s3://bucket/history",
            "is an address; a history is a folder on a disk, or a .duckdb file",
        ),
        ("", "history takes the path of a folder, such as history='history.parquet'"),
        (7, "history=7: history takes the path of a folder"),
        (tmp_path / "file.parquet" / "below", "cannot write the history .*: Not a directory"),
    ):
        with pytest.raises(rf.RecframeError, match=said):
            rf.track(result, place, as_of=DAY)


def test_a_history_that_is_not_there_is_told(tmp_path):
    with pytest.raises(
        rf.RecframeError,
        match=r"there is no history at '.*none'; rec.track\(\.\.\., history='.*none'\) starts one",
    ):
        rf.history(tmp_path / "none")


def test_a_folder_that_may_not_be_written_is_told(tmp_path, monkeypatch):
    def refuse(*_arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)

    with pytest.raises(
        rf.RecframeError, match=rf"cannot write the history '{tmp_path}': Permission denied"
    ):
        DF.rec.track("mrr", history=tmp_path, as_of=DAY)
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_is_not_tidy_is_told(tmp_path):
    said = r"track takes a tidy result, .*evaluate\(\.\.\., tidy=True\); found a frame without 'metric', .* n_users, mrr"
    with pytest.raises(rf.RecframeError, match=said):
        rf.track(DF.rec.evaluate("mrr"), tmp_path, as_of=DAY)
    with pytest.raises(rf.RecframeError, match=r"the first argument of track"):
        rf.track(0.5, tmp_path, as_of=DAY)


@pytest.mark.parametrize("column", ["as_of", "run", "tag_team"])
def test_a_column_of_the_name_of_one_of_the_history_is_told(tmp_path, column):
    frame = DF.rename({"country": column})
    with pytest.raises(
        rf.ColumnError, match=f"column '{column}' has the name of a history's own column"
    ):
        frame.rec.track("mrr", by=column, history=tmp_path, as_of=DAY)


def test_names_and_tags_that_are_none_are_told(tmp_path):
    for more, said in (
        ({"name": 3}, "name=3: name takes a word for the run"),
        ({"tags": ["a"]}, r"tags=\['a'\]: tags takes words by their names"),
        ({"tags": {"a b": 1}}, "'a b' cannot name a tag; write letters, digits and _"),
    ):
        with pytest.raises(rf.RecframeError, match=said):
            DF.rec.track("mrr", history=tmp_path, as_of=DAY, **more)


# ---- folders


def test_a_folder_is_made_with_those_above_it(tmp_path):
    DF.rec.track("mrr", history=tmp_path / "a" / "b" / "history", as_of=DAY)

    assert values(tmp_path / "a" / "b" / "history") == [("mrr", 0.375)]


def test_a_folder_without_runs_is_a_frame_without_rows(tmp_path):
    found = rf.history(tmp_path)

    assert found.is_empty()
    assert found.columns == [*SHOWN, "metric", "k", "value"]


def test_files_of_others_are_left_aside(tmp_path):
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "run-folder").mkdir()
    DF.rec.track("mrr", history=tmp_path, as_of="2026-11-21")
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    DF.rec.track("mrr", history=tmp_path, as_of=DAY)

    assert values(tmp_path) == [("mrr", 0.375), ("mrr", 0.375)]


def test_a_folder_of_other_data_is_no_history(tmp_path):
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "part-0.parquet")
    said = "is not a history: it has 'part-0.parquet' and no run; give the history its own folder"
    for call in (
        lambda: rf.history(tmp_path),
        lambda: rf.changes(tmp_path),
        lambda: rf.dashboard(tmp_path),
        lambda: DF.rec.require("mrr >= trailing", history=tmp_path, wide=True),
        lambda: DF.rec.track("mrr", history=tmp_path, as_of=DAY),
    ):
        with pytest.raises(rf.RecframeError, match=said):
            call()
    # what reads the data of the folder still does
    assert pl.read_parquet(tmp_path / "*.parquet").columns == ["a"]


def test_polars_reads_the_folder_itself(tmp_path):
    DF.rec.track("mrr", history=tmp_path, as_of="2026-11-21")
    DF.rec.track("mrr", history=tmp_path, as_of="2026-11-22")

    assert pl.read_parquet(tmp_path / "*.parquet")["value"].to_list() == [0.375, 0.375]


def test_a_broken_file_is_told(tmp_path):
    (tmp_path / "run-0.parquet").write_bytes(b"PAR1 and no more")

    with pytest.raises(
        rf.DataError, match=r"run-0.parquet' cannot be read as a run of a history: .*; move it"
    ):
        rf.history(tmp_path)
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "run-0.parquet")
    with pytest.raises(
        rf.DataError,
        match=r"cannot be read as a run of a history: it has no column 'as_of'; move it elsewhere",
    ):
        rf.history(tmp_path)


def test_what_was_left_unfinished_is_not_read_and_goes_when_nobody_can_be_writing_it(tmp_path):
    young, old = (tmp_path / f".run-0-{name}{folder.UNFINISHED}" for name in ("young", "old"))
    for path in (young, old):
        path.write_bytes(b"half")
    hours_ago = time.time() - 2 * folder.LEFT_AFTER
    os.utime(old, (hours_ago, hours_ago))

    assert rf.history(tmp_path).is_empty()
    DF.rec.track("mrr", history=tmp_path, as_of=DAY)

    assert young.exists()
    assert not old.exists()
    assert len(values(tmp_path)) == 1


def test_importing_recframe_imports_nothing_of_it():
    code = "import recframe, sys; print({'recframe.tracking.histories', 'recframe.charts.table', 'duckdb'} & {*sys.modules})"
    run = [sys.executable, "-c", code]
    found = subprocess.run(run, check=True, capture_output=True, text=True).stdout  # noqa: S603

    assert found == "set()\n"


# ---- several processes


def process(code: str, *arguments: object) -> subprocess.Popen:
    """Start a Python of its own, which has a result at hand."""
    begin = """
import sys, datetime as dt, polars as pl, recframe as rf
result = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]}).rec.summarize("mrr")
place = sys.argv[1]
"""
    run = [sys.executable, "-c", begin + code, *map(str, arguments)]
    return subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603


def ended(one: subprocess.Popen) -> None:
    _, errors = one.communicate(timeout=120)
    assert one.returncode == 0, errors


@pytest.mark.slow
def test_several_processes_append_at_once(place):
    # each writes runs of its own, and all of them the same
    times = 4 if place.endswith("duckdb") else 20
    code = """
for n in range(int(sys.argv[3])):
    rf.track(result, place, as_of=dt.date(2026, 1, n + 1), name=sys.argv[2])
    rf.track(result, place, as_of=dt.date(2026, 1, n + 1), name="all")
"""
    running = [process(code, place, name, times) for name in "abc"]
    for one in running:
        ended(one)

    found = rf.history(place)
    expected = [(name, times) for name in ("a", "all", "b", "c")]
    assert found.group_by("name").len().sort("name").rows() == expected
    assert found.filter(name="all")["as_of"].n_unique() == times
    assert set(found["value"]) == {1.0}


@pytest.mark.slow
def test_whoever_reads_while_two_append_sees_whole_runs_alone(tmp_path):
    place = tmp_path / "history"
    place.mkdir()
    # what somebody who was killed has left
    (place / f".run-0-x{folder.UNFINISHED}").write_bytes(b"PAR1 half")
    code = """
both = pl.concat([result, result.with_columns(metric=pl.lit("other"))])
for n in range(25):
    rf.track(both, place, as_of=dt.date(2026, 1, n + 1), name=sys.argv[2])
    rf.track(both, place, as_of=dt.date(2026, 1, 1), name="all")
"""
    running = [process(code, place, name) for name in "ab"]
    seen = []
    while any(one.poll() is None for one in running):
        found = rf.history(place)
        seen.append(found.height)
        assert found.group_by("as_of", "name").len()["len"].unique().to_list() in ([], [2])
        assert rf.changes(found).height == found.height
    for one in running:
        ended(one)

    assert seen == sorted(seen)
    assert rf.history(place).height == 2 * (25 + 25 + 1)


@pytest.mark.slow
def test_a_process_that_is_killed_in_the_middle_leaves_all_of_a_run_or_nothing(place):
    rf.track(DF.rec.summarize("mrr"), place, as_of="2025-01-01")
    code = """
big = pl.concat([result.with_columns(metric=pl.lit(f"m{n}")) for n in range(200)])
for n in range(100_000):
    rf.track(big, place, as_of=dt.datetime(2026, 1, 1) + dt.timedelta(n % 20), tags={"n": n})
    if n == 0:
        print("ready", flush=True)
"""
    for wait in (0.05, 0.11, 0.17):
        one = process(code, place)
        assert one.stdout.readline() == "ready\n"
        time.sleep(wait)
        one.send_signal(signal.SIGKILL)
        one.communicate()

    found = rf.history(place)
    runs = (
        found.filter(pl.col("as_of").dt.year() == 2026)
        .group_by("as_of")
        .agg(pl.len(), pl.col("metric").n_unique(), tags=pl.col("tag_n").n_unique())
    )
    assert set(runs.select("len", "metric", "tags").rows()) == {(200, 200, 1)}
    assert found.filter(pl.col("as_of").dt.year() == 2025).height == 1
    # and it goes on from there
    rf.track(DF.rec.summarize("mrr"), place, as_of="2027-01-01")
    assert rf.history(place)["as_of"].dt.year().max() == 2027


def test_a_process_that_is_killed_before_a_run_has_its_place_leaves_the_one_that_was_there(
    tmp_path,
):
    code = """
import os, signal, pathlib
def killed(*_): os.kill(os.getpid(), signal.SIGKILL)
rf.track(result, place, as_of="2026-11-22", tags={"try": 1})
pathlib.Path.replace = killed
rf.track(result, place, as_of="2026-11-22", tags={"try": 2})
"""
    one = process(code, tmp_path)
    one.communicate(timeout=60)

    assert one.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob(f".*{folder.UNFINISHED}"))) == 1
    assert values(tmp_path, "tag_try") == [("1", "mrr", 1.0)]


def test_a_duckdb_file_that_another_process_holds_is_told(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    from recframe.tracking import duckdb_file  # noqa: PLC0415

    place = str(tmp_path / "h.duckdb")
    holder = process(
        "import duckdb; c = duckdb.connect(place); print('held', flush=True); import time; time.sleep(60)",
        place,
    )
    assert holder.stdout.readline() == "held\n"
    monkeypatch.setattr(duckdb_file, "PATIENCE", 0.2)

    try:
        with pytest.raises(
            rf.RecframeError, match=r"has been locked by another process .* or track into a folder"
        ):
            DF.rec.track("mrr", history=place, as_of=DAY)
    finally:
        holder.kill()
        holder.communicate()
    DF.rec.track("mrr", history=place, as_of=DAY)
    assert values(place) == [("mrr", 0.375)]


def test_several_threads_append_at_once(place):
    result = DF.rec.summarize("mrr")
    with ThreadPoolExecutor(4) as threads:
        days = [dt.date(2026, 11, n + 1) for n in range(8)]
        list(threads.map(lambda day: rf.track(result, place, as_of=day), days * 2))

    assert rf.history(place)["as_of"].dt.day().to_list() == list(range(1, 9))


def test_a_file_that_is_no_duckdb_file_is_told(tmp_path):
    pytest.importorskip("duckdb")
    (tmp_path / "h.duckdb").write_text("x" * 5000)

    with pytest.raises(rf.RecframeError, match=r"cannot write the history '.*h.duckdb': "):
        DF.rec.track("mrr", history=tmp_path / "h.duckdb", as_of=DAY)
    with pytest.raises(rf.RecframeError, match=r"cannot read the history '.*h.duckdb': "):
        rf.history(tmp_path / "h.duckdb")


def test_without_duckdb_the_extra_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)

    with pytest.raises(
        rf.RecframeError,
        match=r"needs duckdb, which is not installed; write: pip install 'recframe\[duckdb\]'",
    ):
        DF.rec.track("mrr", history=tmp_path / "h.duckdb", as_of=DAY)


def test_a_run_without_values_of_a_column_changes_its_dtype_in_no_history(place):
    first = pl.DataFrame({"metric": ["mrr"], "k": [1], "value": [0.5], "cost": [1.5]})

    for day, cost in ((1, 1.5), (2, None), (3, 2.5)):
        run = first.with_columns(cost=pl.Series([cost]), note=pl.Series([None]))
        rf.track(run, history=place, as_of=dt.date(2026, 11, day))

    assert rf.history(place)["cost"].to_list() == [1.5, None, 2.5]


def test_duckdb_is_sent_no_column_without_a_dtype(tmp_path, monkeypatch):
    # DuckDB 2 refuses one that pyarrow 18 or 19 brings
    pytest.importorskip("duckdb")
    from recframe.tracking import duckdb_file  # noqa: PLC0415

    sent = []

    class Stream(duckdb_file._Stream):
        def __init__(self, rows: pl.DataFrame) -> None:
            sent.extend(rows.dtypes)
            super().__init__(rows)

    monkeypatch.setattr(duckdb_file, "_Stream", Stream)
    run = pl.DataFrame({"metric": ["mrr"], "k": [1], "value": [0.5], "note": [None]})

    rf.track(run.to_pandas(), history=tmp_path / "h.duckdb", as_of=DAY)

    assert pl.Float64 in sent
    assert pl.Null not in sent


def test_teams_ask_a_duckdb_history_in_sql(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    DF.rec.track("mrr", "recall@1", by="country", history=tmp_path / "h.duckdb", as_of=DAY)

    with duckdb.connect(tmp_path / "h.duckdb", read_only=True) as connection:
        asked = "SELECT value FROM history WHERE by_country = 'FR' AND metric = 'mrr'"
        assert connection.execute(asked).fetchall() == [(0.5,)]
