"""Calls within a bound on memory: the same results from files of rows that do not fit, and no file left."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from recframe.engines import bucket_store, memory_bound
from recframe.engines.local_buckets import Local

SIX = ["hit_rate@10", "precision@10", "recall@10", "map@10", "mrr@10", "ndcg@10"]
SEGMENTS = ["country", "device"]
N_USERS, LENGTH, N_ITEMS = 600, 20, 20_011


def text(number: pl.Expr) -> pl.Expr:
    """Return ids of 36 characters."""
    return pl.format(
        "{}-{}", number.hash(1).cast(pl.String).str.zfill(20), number.cast(pl.String).str.zfill(15)
    )


def frames(n_rows: int = N_USERS * LENGTH, share: float = 0.01) -> dict[str, pl.DataFrame]:
    """Return lists, of which one user has a share of the rows, a truth that finds every third hit, and users."""
    row = pl.int_range(n_rows)
    is_bot = row < share * n_rows
    user = pl.when(is_bot).then(0).otherwise(row // LENGTH)
    rank = pl.when(is_bot).then(row).otherwise(row % LENGTH) + 1
    item = (row * 7919) % N_ITEMS
    recs = pl.select(user=user, item=item, rank=rank.cast(pl.Int32), number=item)
    recs = recs.sample(fraction=1, shuffle=True, seed=1)
    ids = pl.select(text(pl.int_range(max(n_rows // LENGTH + 1, N_ITEMS)))).to_series()
    recs = recs.with_columns(user=ids.gather(recs["user"]), item=ids.gather(recs["item"]))
    hits = recs.filter(pl.col("number") % 30 == 0).select("user", "item")
    misses = recs.filter(pl.col("number") % 15 == 7).select("user", item=pl.lit("another item"))
    users = recs.select("user").unique()
    users = users.with_columns(
        country=(pl.col("user").hash(2) % 5).cast(pl.String), device=pl.col("user").hash(3) % 3
    )
    return {"recs": recs.drop("number"), "truth": pl.concat([hits, misses]), "users": users}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Return a folder of temporary files that is the user's own choice."""
    folder = tmp_path / "room"
    folder.mkdir()
    monkeypatch.setenv("POLARS_TEMP_DIR", str(folder))
    return folder


@pytest.fixture
def modes(place, monkeypatch):
    """Return the modes of the folders that rows are written to."""
    found: list[int] = []
    spill = bucket_store.Store._spill

    def watched(store: bucket_store.Store) -> None:
        spill(store)
        found.extend(stat.S_IMODE(one.stat().st_mode) for one in place.iterdir())

    monkeypatch.setattr(bucket_store.Store, "_spill", watched)
    return found


def is_private(modes: list[int]) -> bool:
    return bool(modes) and {*modes} <= ({0o700} if os.name == "posix" else {*modes})


@pytest.mark.parametrize("share", [0.01, 0.2], ids=["even", "a user with a fifth of all rows"])
@pytest.mark.parametrize("is_lazy", [False, True], ids=["frames", "files"])
def test_rows_that_do_not_fit_give_the_same_numbers_and_leave_no_file(
    is_lazy, share, place, modes, tmp_path
):
    given = frames(share=share)
    recs, truth, users = given.values()
    one = recs.rec(truth=truth, users=users).evaluate(*SIX, by=SEGMENTS)
    if is_lazy:
        for name, frame in given.items():
            frame.write_parquet(tmp_path / f"{name}.parquet", row_group_size=1000)
        recs, truth, users = (pl.scan_parquet(tmp_path / f"{name}.parquet") for name in given)

    found = recs.rec(truth=truth, users=users, memory="2MB").evaluate(*SIX, by=SEGMENTS)

    assert_frame_equal(found, one, check_exact=True)
    assert is_private(modes)
    assert not [*place.iterdir()]


def test_rows_that_fit_are_written_to_no_file(place, modes):
    recs, truth, users = frames().values()

    recs.rec(truth=truth, users=users, memory="1GB").evaluate(*SIX, by=SEGMENTS)

    assert not modes
    assert not [*place.iterdir()]


def test_popularity_of_a_train_that_does_not_fit_is_that_of_one_plan(place, modes):
    recs, truth, _ = frames().values()
    train = recs.select("user", "item")
    items = recs.select("item").unique()
    sides = {"truth": truth, "train": pl.concat([train, train]), "items": items}
    asked = ["novelty@10", "popularity@10", "coverage@10"]

    found = recs.rec(**sides, memory="2MB").evaluate(*asked)

    assert_frame_equal(found, recs.rec(**sides).evaluate(*asked), check_exact=True)
    assert is_private(modes)
    assert not [*place.iterdir()]


def test_users_without_an_id_are_one_bucket_of_an_audit(modes):
    recs, truth, users = frames().values()
    lost = pl.int_range(pl.len()) % 5 == 0
    recs = recs.with_columns(user=pl.when(~lost).then("user"))
    one = recs.rec(truth=truth, users=users).audit(k=10)

    found = recs.rec(truth=truth, users=users, memory="22MB").audit(k=10)

    columns = ["check", "severity", "frame", "rows", "users"]
    assert_frame_equal(found.select(columns), one.select(columns))
    assert modes


def test_rows_of_a_user_stay_in_their_order_whatever_thread_is_first(monkeypatch):
    monkeypatch.setattr(memory_bound, "MOST_ROWS", 2_000)
    monkeypatch.setattr(memory_bound.Bound, "n_threads", 3)
    row = pl.int_range(20_000)
    recs = pl.select(user=row % 500, item=row * 7919 % 10_007, score=1.0)
    truth = recs[::9].select("user", item=pl.col("item") // 2 * 2)
    by_bucket, n_calls = pl.DataFrame.partition_by, itertools.count()

    def slow(frame: pl.DataFrame, *arguments: object, **given: object) -> object:
        time.sleep(0.02 * (next(n_calls) % 3 == 0))
        return by_bucket(frame, *arguments, **given)

    monkeypatch.setattr(pl.DataFrame, "partition_by", slow)
    one = recs.rec(truth=truth, ties="order").evaluate("ndcg", "mrr")

    found = recs.rec(truth=truth, ties="order", memory="1GB").evaluate("ndcg", "mrr")

    assert_frame_equal(found, one, check_exact=True)


def test_a_user_beyond_the_bound_is_an_error_with_a_bound_that_does(place):
    recs, truth, users = frames(share=0.5).values()
    n_rows = len(recs.filter(pl.col("user") == recs["user"].mode()[0]))
    judged = len(truth.filter(pl.col("user") == recs["user"].mode()[0]))

    with pytest.raises(rf.RecframeError, match=r"memory='1MB' is too little") as error:
        recs.rec(truth=truth, users=users, memory="1MB").evaluate("ndcg")

    assert f"the user with the most rows has {n_rows + judged + 1:,} rows" in str(error.value)
    enough = str(error.value).rpartition("write memory='")[2].partition("'")[0]
    found = recs.rec(truth=truth, users=users, memory=enough).evaluate("ndcg")
    assert_frame_equal(found, recs.rec(truth=truth, users=users).evaluate("ndcg"), check_exact=True)
    assert not [*place.iterdir()]


def test_an_error_in_a_bucket_leaves_no_file(place, modes):
    recs, truth, _ = frames().values()
    recs = recs.with_columns(pl.col("rank") - 1)

    with pytest.raises(rf.DataError, match="a rank is below 1"):
        recs.rec(truth=truth, memory="2MB").evaluate("ndcg@10")

    assert modes
    assert not [*place.iterdir()]


def test_a_full_disk_is_a_sentence(place, monkeypatch):
    recs, truth, _ = frames().values()

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pl.DataFrame, "write_ipc_stream", full)
    with pytest.raises(
        rf.RecframeError, match=r"the disk is full; set .* POLARS_TEMP_DIR"
    ) as error:
        recs.rec(truth=truth, memory="2MB").evaluate("ndcg@10")

    assert str(place) in str(error.value)
    assert not [*place.iterdir()]


def test_a_folder_that_is_not_there_is_a_sentence(place, monkeypatch):
    recs, truth, _ = frames().values()
    monkeypatch.setenv("POLARS_TEMP_DIR", str(place / "none"))

    with pytest.raises(rf.RecframeError, match=r"none: No such file or directory; set"):
        recs.rec(truth=truth, memory="2MB").evaluate("ndcg@10")


STOPPED = """
import sys, time
sys.path.insert(0, {tests!r})
from test_memory_bound import frames
from recframe.engines.bucket_store import Store
recs, truth, _ = frames().values()
def take(*_):
    print("running", flush=True)
    time.sleep(2)
Store.take = take
recs.lazy().rec(truth=truth.lazy(), memory="2MB").evaluate("ndcg@10")
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signal for one process")
def test_a_call_that_is_stopped_leaves_no_file(place):
    code = STOPPED.format(tests=str(Path(__file__).parent))
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdout=pipe, stderr=pipe) as process:  # noqa: S603  our own
        assert process.stdout is not None
        assert process.stdout.readline() == b"running\n"
        (folder,) = place.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)

    assert errors.rstrip().endswith(b"KeyboardInterrupt")
    assert not [*place.iterdir()]


def test_a_call_runs_in_one_plan_where_the_bound_holds_all_of_its_rows(monkeypatch):
    # as it says: frames tell how many rows they have, a row takes 150 bytes and 2.5 times those of its columns, and all rows
    # may take six tenths of what 20 MB leave
    recs, truth = (one.lazy() for one in list(frames().values())[:2])
    monkeypatch.setattr(memory_bound, "MOST_IN_ONE_PLAN", 30_000_000)
    run_in_buckets = []
    run = Local.run
    monkeypatch.setattr(Local, "run", lambda *given: [run(*given), run_in_buckets.append(1)][0])
    n_rows = [len(one.collect()) for one in (recs, truth)]
    need = n_rows[0] * (150 + 2.5 * (2 * 52 + 8)) + n_rows[1] * (150 + 2.5 * 2 * 52)
    expected = recs.rec(truth=truth).evaluate("mrr@9").collect()

    def is_one_plan(memory: float, lists: pl.LazyFrame = recs) -> bool:
        run_in_buckets.clear()
        found = lists.rec(truth=truth, memory=int(memory)).evaluate("mrr@9")
        assert_frame_equal(found, expected)
        return not run_in_buckets

    assert is_one_plan(2e7 + need / 0.6 + 1)
    assert not is_one_plan(2e7 + need / 0.6 - 100)
    # whose rows nobody knows before they are read
    assert not is_one_plan(1e9, recs.filter(pl.col("rank") > 0))
    monkeypatch.setattr(memory_bound, "MOST_IN_ONE_PLAN", sum(n_rows) - 1)
    assert not is_one_plan(1e9)


def test_the_default_is_half_of_the_least_limit_else_of_what_is_free(tmp_path, monkeypatch):
    inside = tmp_path / "cgroups" / "pod" / "container"
    inside.mkdir(parents=True)
    own, free = tmp_path / "cgroup", tmp_path / "meminfo"
    own.write_text("0::/pod/container\n")
    free.write_text("MemTotal: 9 kB\nMemAvailable:    6000 kB\n")
    monkeypatch.setattr(memory_bound, "_CGROUPS", tmp_path / "cgroups")
    monkeypatch.setattr(memory_bound, "_OWN_GROUPS", own)
    monkeypatch.setattr(memory_bound, "_FREE", free)

    assert memory_bound.default_memory() == 3000 * 1024  # no limit is written anywhere
    (inside / "memory.max").write_text("max\n")
    assert memory_bound.default_memory() == 3000 * 1024
    (inside.parent / "memory.max").write_text("5000000\n")
    assert memory_bound.default_memory() == 2_500_000
    (inside / "memory.max").write_text("4000000\n")
    assert memory_bound.default_memory() == 2_000_000


def test_a_limit_of_the_first_version_counts_and_none_is_a_number_beyond_the_machine(
    tmp_path, monkeypatch
):
    inside = tmp_path / "cgroups" / "memory" / "job"
    inside.mkdir(parents=True)
    own = tmp_path / "cgroup"
    own.write_text("3:cpu,cpuacct:/job\n2:memory:/job\n0::/\n")
    monkeypatch.setattr(memory_bound, "_CGROUPS", tmp_path / "cgroups")
    monkeypatch.setattr(memory_bound, "_OWN_GROUPS", own)
    (inside / "memory.limit_in_bytes").write_text("8000000\n")
    (inside.parent / "memory.limit_in_bytes").write_text("9223372036854771712\n")

    assert memory_bound.default_memory() == 4_000_000


MEASURED = """
import sys
from pathlib import Path
import polars as pl
import recframe

def call(folder):
    recs, truth, users = (pl.scan_parquet(Path(folder) / f"{{name}}.parquet") for name in ("recs", "truth", "users"))
    rec = recs.rec(truth=truth, users=users, memory="50MB")
    return rec.evaluate(*{metrics!r}, by={by!r})

def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

call({small!r})  # which loads the library's code
start = kilobytes("VmRSS")
call({large!r}).write_parquet(sys.argv[1])
print(1024 * (kilobytes("VmHWM") - start))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_three_million_rows_take_no_more_than_50_megabytes(tmp_path):
    paths = {}
    for size, n_rows in (("small", 2_000), ("large", 3_000_000)):
        folder = tmp_path / size
        folder.mkdir()
        given = frames(n_rows)
        for name, frame in given.items():
            frame.write_parquet(
                folder / f"{name}.parquet", row_group_size=50_000, compression="lz4"
            )
        paths[size] = str(folder)
    code = MEASURED.format(metrics=SIX, by=SEGMENTS, **paths)
    found = tmp_path / "result.parquet"

    took = subprocess.run(  # noqa: S603  our own
        [sys.executable, "-c", code, str(found)], capture_output=True, text=True, check=True
    )

    assert int(took.stdout) <= 50_000_000
    one = given["recs"].rec(truth=given["truth"], users=given["users"]).evaluate(*SIX, by=SEGMENTS)
    assert_frame_equal(pl.read_parquet(found), one, check_exact=True)


def test_a_source_that_fails_after_some_rows_fails_the_call():
    rows = pl.DataFrame({"user": [str(n) for n in range(50_000)] + ["nobody"]})
    number = pl.col("user").cast(pl.Int64)
    recs = rows.lazy().select(user=number, item=1, rank=1)

    with pytest.raises(pl.exceptions.PolarsError, match="nobody"):
        recs.rec(truth=recs.select("user", "item"), memory="30MB").evaluate("recall@1")
