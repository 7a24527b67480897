"""Histories lose no run and let nothing in: keys, names of columns, damage, full disks and clocks that are set back."""

from __future__ import annotations

import datetime as dt
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import recframe as rf
from recframe.tracking import runs
from recframe.tracking.runs import ABOUT

DF = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
# the first user's item is at rank 1, the second's at rank 2
VALUES = [1.0, 0.5]
DAY = "2026-11-22"


def by(name: str, values: list | pl.Series = ["x", "y"]) -> pl.DataFrame:  # noqa: B006  which nobody changes
    """Return a result split by a column of some name."""
    frame = pl.DataFrame({**DF.to_dict(), name: pl.Series(name, values)})
    return frame.rec.summarize("mrr", by=name)


# ---- keys


def test_no_run_replaces_one_whose_parts_spell_the_same(place):
    result = DF.rec.summarize("mrr")
    runs = [
        {"name": None},
        {"name": "None"},
        {"fingerprint": "x", "name": "a\nb"},
        {"fingerprint": "x\na", "name": "b"},
        {"fingerprint": "None"},
    ]
    for more in runs * 2:
        rf.track(result, place, as_of=DAY, **more)

    found = rf.history(place).select("name", "fingerprint").rows()
    assert sorted(found, key=str) == sorted(
        ((one.get("name"), one.get("fingerprint")) for one in runs), key=str
    )


# ---- names


OWN = [*ABOUT, "metric", "k", "value", "value_low", "n_users", "tag_a"]
NAMES = [
    *(case(one) for one in OWN for case in (str.upper, str.title, str.capitalize)),
    *(
        "country",
        "Country",
        "COUNTRY",
        "a",
        "A",
        "a_1",
        "É",
        "é",
        "by_country",
        "By_country",
        "by_",
        "%41",
    ),
    *("", " ", '"', "'", '"a"', "a\0b", "a, b", "\n", "^.*$", "*", "literal", "gap"),
]


def test_users_columns_meet_none_of_the_historys_own(place):
    names = list(dict.fromkeys(NAMES))
    runs = {"even": names[::2], "odd": names[1::2], "all": names}
    for day, (run, some) in itertools.product((21, 22), runs.items()):
        frame = pl.DataFrame({**DF.to_dict(), **{one: [f"{one} x", f"{one} y"] for one in some}})
        result = frame.rec.summarize("mrr", by=some)
        rf.track(result, place, as_of=f"2026-11-{day}", name=run, tags={"a": 1, "A": 2})
    found = rf.history(place)

    own = [one for one in ABOUT if one not in {"columns", "tracked_from"}]
    last = DF.rec.summarize("mrr").columns
    assert found.columns[: len(own)] == own
    assert sorted(found.columns) == sorted([*own, "tag_a", "tag_A", *names, *last, "k"])
    for run, some in runs.items():
        rows = found.filter(pl.col("name") == run)
        for one in names:
            here = [f"{one} x", f"{one} y"] if one in some else [None, None]
            assert rows[one].to_list() == here * 2, one
        assert rows["value"].to_list() == VALUES * 2
        assert rows.select("metric", "tag_a", "tag_A", "split_by").unique().rows() == [
            ("mrr", "1", "2", ", ".join(some))
        ]


def test_a_number_of_one_result_and_a_column_of_another_are_stored_apart(place):
    at_hand = pl.DataFrame(
        {"metric": ["mrr"], "k": [1], "value": [0.5], "by_x": [2.5], "Value": [3.5]}
    )
    rf.track(at_hand, place, as_of="2026-11-21")
    rf.track(by("x"), place, as_of=DAY)
    found = rf.history(place)

    assert found.select("x", "value", "by_x", "Value").rows() == [
        (None, 0.5, 2.5, 3.5),
        ("x", 1.0, None, None),
        ("y", 0.5, None, None),
    ]


@pytest.mark.slow
def test_an_empty_name_is_not_none(place):
    frame = pl.DataFrame({**DF.to_dict(), "": ["x", "y"]})
    for day in range(1, 10):
        for asked in (None, ""):
            frame.rec.track("mrr", by=asked, history=place, as_of=dt.date(2026, 11, day))
    found = rf.changes(place)

    last = found.filter(pl.col("as_of").dt.day() == 9)["value"]
    assert sorted(last) == [0.5, 0.75, 1.0]
    assert frame.rec.evaluate("mrr", by="").columns == ["", "n_users", "mrr"]
    gate = frame.rec.require(
        "mrr >= 0.9 * trailing", by="", history=place, window=5, raises=False, wide=True
    )
    assert gate[""].to_list() == ["x", "y"]


# ---- what is another's


@pytest.mark.parametrize(
    "made",
    [
        "TABLE history AS SELECT 1 AS a",
        "TABLE History AS SELECT 'x' AS run",
        "VIEW history AS SELECT 1 AS k",
    ],
)
def test_a_table_of_somebody_else_is_left_as_it_is(tmp_path, made):
    duckdb = pytest.importorskip("duckdb")
    place = tmp_path / "h.duckdb"
    with duckdb.connect(place) as connection:
        connection.execute(f"CREATE {made}")
        before = connection.execute("FROM history").fetchall()
    said = r"h.duckdb' has a table 'history' that is not a history of recframe; name another file, such as history="
    for call in (
        lambda: rf.history(place),
        lambda: DF.rec.track("mrr", history=place, as_of=DAY),
    ):
        with pytest.raises(rf.RecframeError, match=said):
            call()

    with duckdb.connect(place, read_only=True) as connection:
        assert connection.execute("FROM history").fetchall() == before


def test_other_tables_of_a_file_are_left_as_they_are(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    place = tmp_path / "h.duckdb"
    with duckdb.connect(place) as connection:
        connection.execute("CREATE TABLE sales AS SELECT 1 AS run")
    assert rf.history(place).is_empty()

    DF.rec.track("mrr", history=place, as_of=DAY)

    with duckdb.connect(place, read_only=True) as connection:
        assert connection.execute("FROM sales").fetchall() == [(1,)]


def test_rows_that_somebody_added_by_hand_are_told(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    place = tmp_path / "h.duckdb"
    DF.rec.track("mrr", history=place, as_of=DAY)
    for columns in (None, "x"):
        with duckdb.connect(place) as connection:
            connection.execute("INSERT INTO history (run, columns) VALUES ('x', ?)", [columns])
        with pytest.raises(rf.DataError, match="has rows of no run, without 'columns'"):
            rf.history(place)


# ---- dtypes


SECOND = dt.timedelta(seconds=1)
OF_DTYPES = {
    "text": ["x", "y"],
    "durations": [SECOND, 90 * SECOND],
    "numbers": [1, 2],
    "times": [dt.time(1), dt.time(2)],
    "dates": [dt.date(2026, 1, 1), dt.date(2026, 1, 2)],
    "bytes": [b"\xff", b"\xfe"],
    "lists": [[1], [2]],
    "truths": [True, False],
}


PAIRS = [(one, other) for one in OF_DTYPES for other in ("text", "durations") if one != other]


@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_values_of_two_dtypes_are_text(place, pair):
    for day, one in enumerate(pair, 1):
        rf.track(by("c", OF_DTYPES[one]), place, as_of=dt.date(2026, 11, day))
    found = rf.history(place)

    assert found["c"].dtype == pl.String
    assert found["c"].n_unique() == 4
    assert {"x", "y"} <= {*found["c"]} or "text" not in pair
    assert {"PT1S", "PT1M30S"} <= {*found["c"]} or "durations" not in pair


# ---- damage


def runs_in(place: Path) -> dict[str, Path]:
    """Return the files of runs by the names of the runs."""
    return {pl.read_parquet(one)["name"][0]: one for one in place.glob("run-*.parquet")}


def tracked(place: Path) -> dict[str, Path]:
    for name in ("a", "b"):
        rf.track(by("c"), place, as_of=DAY, name=name, tags={"team": "search"})
    return runs_in(place)


def test_a_damaged_run_is_named_and_the_others_are_read(tmp_path):
    path = tracked(tmp_path)["a"]
    whole, sound = path.read_bytes(), rf.history(tmp_path)
    others = sound.filter(name="b")
    # NOTE: some bytes of a Parquet file end the process in Polars, where they are others
    for at in range(0, len(whole), 31):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            assert rf.history(tmp_path).equals(sound)
        except rf.DataError as error:
            words = f"{path.name}' cannot be read as a run of a history: it was damaged after it was tracked; move it"
            assert words in str(error)  # noqa: PT017
            assert error.others.equals(others)  # noqa: PT017
        else:
            # the seal alone is harmed, and the rows are as they were
            assert b"recframe: tracked at" in whole[max(at - 40, 0) : at + 40]
    for end in (0, 4, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(rf.DataError, match=f"{path.name}' cannot be read as a run") as caught:
            rf.history(tmp_path)
        assert caught.value.others.equals(others)

    tracked(tmp_path)
    assert rf.history(tmp_path).drop("tracked_at").equals(sound.drop("tracked_at"))


def test_all_damaged_runs_are_named_at_once(tmp_path):
    paths = [*tracked(tmp_path).values()]
    for path in paths:
        path.write_bytes(path.read_bytes()[:-9])

    with pytest.raises(rf.DataError) as caught:
        rf.history(tmp_path)

    assert all(path.name in str(caught.value) for path in paths)
    assert caught.value.others.is_empty()


def test_who_tracked_from_pandas_has_the_others_as_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    for name in ("a", "b"):
        DF.to_pandas().rec.track("mrr", history=tmp_path, as_of=DAY, name=name)
    path = runs_in(tmp_path)["a"]
    path.write_bytes(path.read_bytes()[:-9])

    with pytest.raises(rf.DataError) as caught:
        rf.history(tmp_path)

    assert isinstance(caught.value.others, pd.DataFrame)
    assert list(caught.value.others["name"]) == ["b"]


def test_rows_that_another_tool_wrote_anew_are_held_to_their_checksum(tmp_path):
    path, sound = tracked(tmp_path)["a"], rf.history(tmp_path)
    rows, said = pl.read_parquet(path), pl.read_parquet_metadata(path)
    said = {name: text for name, text in said.items() if name != "ARROW:schema"}

    # the same rows in other pages
    rows.write_parquet(path, compression="gzip", row_group_size=1, metadata=said)
    assert rf.history(tmp_path).equals(sound)
    for other in (rows.with_columns(value=pl.col("value") + 1e-15), rows[:1], rows.reverse()):
        other.write_parquet(path, metadata=said)
        with pytest.raises(
            rf.DataError, match=f"{path.name}' .* its rows are not those that were tracked"
        ):
            rf.history(tmp_path)
    # one without a checksum is read as it is
    rows[:1].write_parquet(path)
    assert rf.history(tmp_path).height == 1 + 2


@pytest.mark.parametrize("dtype", OF_DTYPES)
def test_the_checksum_of_rows_is_the_same_once_they_are_read(tmp_path, dtype):
    rf.track(by("c", OF_DTYPES[dtype]), tmp_path, as_of=DAY)
    (path,) = tmp_path.glob("run-*")
    sound, said = rf.history(tmp_path), pl.read_parquet_metadata(path)
    pl.read_parquet(path).write_parquet(
        path, metadata={"recframe.checksum": said["recframe.checksum"]}
    )

    assert rf.history(tmp_path).equals(sound)


def test_a_panic_is_told(tmp_path, monkeypatch):
    path = tracked(tmp_path)["a"]

    def panic(*_arguments):
        raise pl.exceptions.PanicException("range end index 7 out of range")

    monkeypatch.setattr(pl, "read_parquet", panic)

    with pytest.raises(
        rf.DataError, match=f"{path.name}' .* range end index 7 out of range; move it"
    ):
        rf.history(tmp_path)


# ---- disks and clocks


def test_a_full_disk_is_told_and_what_was_there_stays(place):
    DF.rec.track("mrr", history=place, as_of=DAY)
    code = """
import resource, sys, polars as pl, recframe as rf
rows = pl.DataFrame({"user": range(9000), "item": 1, "rank": 1, "relevance": 1, "c": range(9000)})
result = rows.rec.summarize("mrr", by="c")
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    rf.track(result, sys.argv[1], as_of="2026-11-23")
except rf.RecframeError as error:
    print(error)
"""
    run = [sys.executable, "-c", code, place]
    ended = subprocess.run(run, capture_output=True, text=True, check=False)  # noqa: S603

    assert ended.stdout.startswith(f"cannot write the history '{place}': "), ended.stderr[-500:]
    assert rf.history(place)["value"].to_list() == [0.75]
    if not place.endswith("duckdb"):
        assert len(os.listdir(place)) == 1  # noqa: PTH208


@pytest.mark.parametrize("is_copied", [False, True])
def test_the_last_run_is_the_last_whoever_set_the_clock_back(place, monkeypatch, is_copied):
    if is_copied and place.endswith("duckdb"):
        pytest.skip("a file's own time says nothing of its rows")

    class Clock(dt.datetime):
        times = iter(())

        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:
            return next(cls.times).replace(tzinfo=tz)

    monkeypatch.setattr(runs, "datetime", Clock)
    Clock.times = iter([dt.datetime(2090, 1, hour) for hour in (3, 1, 2)])  # noqa: DTZ001
    for place_in_order, value in enumerate((0.1, 0.2, 0.3)):
        result = DF.rec.summarize("mrr").with_columns(value=value)
        rf.track(result, place, as_of=DAY, fingerprint=f"data {place_in_order}")
        if is_copied:
            # as a checkout does, which knows no times
            shutil.copytree(place, f"{place} {value}")
            place = f"{place} {value}"
            for path in Path(place).iterdir():
                os.utime(path, (0, 0))

    found = rf.history(place)
    assert found["value"].to_list() == [0.1, 0.2, 0.3]
    assert found["tracked_at"].is_sorted()
    assert found["tracked_at"].n_unique() == 3
    assert rf.changes(found.reverse())["value"].to_list() == [0.3]
