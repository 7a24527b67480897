"""Calls within a bound on memory: the same results from several scans of the files, and no file left."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import recframe as rf
from recframe.engines import scans

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
    is_bot, item = row < share * n_rows, (row * 7919) % N_ITEMS
    user = pl.when(is_bot).then(0).otherwise(row // LENGTH)
    rank = pl.when(is_bot).then(row).otherwise(row % LENGTH) + 1
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
def n_scans(monkeypatch):
    """Return the number of scans of each step that is run over them."""
    found: list[int] = []
    parts = scans.Scans.parts

    def counted(some: scans.Scans, names: object) -> object:
        found.append(len(some))
        return parts(some, names)

    monkeypatch.setattr(scans.Scans, "parts", counted)
    return found


def scanned(given: dict[str, pl.DataFrame], folder: Path) -> list[pl.LazyFrame]:
    """Return frames as files of several row groups."""
    for name, frame in given.items():
        frame.write_parquet(
            folder / f"{name}.parquet", row_group_size=max(1_000, len(frame) // 100)
        )
    return [pl.scan_parquet(folder / f"{name}.parquet") for name in given]


@pytest.fixture(params=[False, True], ids=["filters", "files of each scan"])
def in_files(request, monkeypatch):
    """Read the rows of each scan from all rows, or from files of its own; return whether from these."""
    monkeypatch.setattr(scans, "_OF_WRITER", 0 if request.param else scans._OF_WRITER)
    monkeypatch.setattr(scans, "_FEW", 1)
    return request.param


@pytest.mark.usefixtures("in_files")
@pytest.mark.parametrize("share", [0.01, 0.2], ids=["even", "a user with a fifth of all rows"])
@pytest.mark.parametrize("is_lazy", [False, True], ids=["frames", "files"])
def test_rows_that_do_not_fit_give_the_same_numbers(is_lazy, share, n_scans, tmp_path):
    given = frames(share=share)
    recs, truth, users = given.values()
    one = recs.rec(truth=truth, users=users).evaluate(*SIX, by=SEGMENTS)
    if is_lazy:
        recs, truth, users = scanned(given, tmp_path)

    found = recs.rec(truth=truth, users=users, memory="3MB").evaluate(*SIX, by=SEGMENTS)

    assert_frame_equal(found, one, check_exact=True)
    assert n_scans[0] > 2


@pytest.mark.usefixtures("in_files")
def test_popularity_and_models_are_those_of_all_users(n_scans, tmp_path):
    recs, truth, _ = (one.rename({"user": "0"}) for one in frames().values())  # a name of any kind
    recs = recs.with_columns(model=pl.col("rank").cast(pl.String))
    # most scans have no rows of it
    sides = {"truth": truth, "train": recs.head(50).select("0", "item")}
    asked = ["novelty@10", "popularity@10", "coverage@10", "ndcg@30"]
    recs, *lazy = scanned({"recs": recs, **sides}, tmp_path)

    rec = recs.rec(**dict(zip(sides, lazy, strict=True)), user="0", model="model")

    expected = rec.evaluate(*asked).collect()
    assert_frame_equal(rec(memory="4MB").evaluate(*asked), expected, check_exact=True)
    assert min(n_scans) > 3


@pytest.mark.usefixtures("in_files")
def test_rows_of_a_user_stay_in_their_order(place, n_scans):
    row = pl.int_range(20_000)
    recs = pl.select(user=row % 500, item=row * 7919 % 10_007, score=1.0)
    truth = recs[::9].select("user", item=pl.col("item") // 2 * 2)
    one = recs.rec(truth=truth, ties="order").evaluate("ndcg", "mrr")

    made = recs.lazy().with_columns(score=pl.col("score") * 2)
    for lists, liked in ((recs, truth), (made, truth.lazy())):
        rec = lists.rec(truth=liked, ties="order", memory="2MB")
        assert_frame_equal(rec.evaluate("ndcg", "mrr"), one, check_exact=True)
    assert min(n_scans) > 3
    assert not [*place.iterdir()]


def test_a_user_beyond_the_bound_is_an_error_with_a_bound_that_does():
    recs, truth, users = frames(share=0.5).values()

    with pytest.raises(rf.RecframeError, match=r"memory='4MB' is too little") as error:
        recs.rec(truth=truth, users=users, memory="4MB").evaluate("ndcg@10000")

    assert "the user with the most rows" in str(error.value)
    enough = str(error.value).rpartition("write memory='")[2].partition("'")[0]
    found = recs.rec(truth=truth, users=users, memory=enough).evaluate("ndcg")
    assert_frame_equal(found, recs.rec(truth=truth, users=users).evaluate("ndcg"), check_exact=True)


@pytest.fixture
def modes(place, monkeypatch):
    """Return the modes of the files that rows are written to."""
    found: list[int] = []
    write = scans.Scans.write_files

    def watched(some: scans.Scans) -> None:
        write(some)
        found.extend(stat.S_IMODE(one.stat().st_mode) for one in place.rglob("*"))

    monkeypatch.setattr(scans.Scans, "write_files", watched)
    return found


@pytest.mark.parametrize("rank", [0, 1], ids=["an error", "no error"])
def test_what_is_no_scan_is_written_to_private_files_that_do_not_stay(rank, place, modes):
    recs, truth, _ = frames().values()
    joined = recs.lazy().join(recs.lazy().select("user").unique(), on="user")
    lists = joined.with_columns(pl.col("rank") - 1 + rank)
    rec = lists.rec(truth=truth.lazy(), memory="4MB")

    if rank:
        one = recs.rec(truth=truth).evaluate("ndcg@10")
        assert_frame_equal(rec.evaluate("ndcg@10"), one, check_exact=True)
    else:
        with pytest.raises(rf.DataError, match="a rank is below 1"):
            rec.evaluate("ndcg@10")
    assert modes == ([0o700, 0o600] if os.name == "posix" else modes)
    assert not [*place.iterdir()]


def test_a_folder_that_cannot_be_written_to_is_a_sentence(place, monkeypatch):
    recs, truth, _ = frames().values()
    monkeypatch.setenv("POLARS_TEMP_DIR", str(place / "none"))
    rec = recs.lazy().sort("user").rec(truth=truth, memory="4MB")

    with pytest.raises(rf.RecframeError, match=r"No such file or directory; set .* POLARS_TEMP"):
        rec.evaluate("ndcg@10")


STOPPED = """
import sys, time
sys.path.insert(0, {tests!r})
from test_memory_bound import frames
from recframe.engines.scans import Scans
recs, truth, _ = frames().values()
def parts(*_):
    print("running", flush=True)
    time.sleep(2)
Scans.parts = parts
recs.lazy().sort("user").rec(truth=truth.lazy(), memory="4MB").evaluate("ndcg@10")
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such signal for one process")
def test_a_call_that_is_stopped_leaves_no_file(place):
    code = STOPPED.format(tests=str(Path(__file__).parent))
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code], stdout=pipe, stderr=pipe) as process:  # noqa: S603  our own
        assert process.stdout is not None
        assert process.stdout.readline() == b"running\n"
        assert len([*place.iterdir()]) == 1
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)

    assert errors.rstrip().endswith(b"KeyboardInterrupt")
    assert not [*place.iterdir()]


def test_a_call_runs_in_one_plan_where_the_bound_holds_all_of_its_rows(n_scans):
    # as it says: a row takes 20 bytes and 2.5 times those of its columns, and all rows a quarter of a small bound
    recs, truth, _ = frames().values()
    recs, truth = (one.with_columns(pl.col("user", "item").hash(1)) for one in (recs, truth))
    need = len(recs.filter(pl.col("rank") < 10)) * (20 + 2.5 * 20) + len(truth) * (20 + 2.5 * 16)
    expected = recs.rec(truth=truth).evaluate("mrr@9")

    for memory, n in ((4 * need + 4, 0), (4 * need - 4, 2)):
        n_scans.clear()
        found = recs.lazy().rec(truth=truth.lazy(), memory=int(memory)).evaluate("mrr@9")
        assert_frame_equal(found, expected)
        assert sum(n_scans) == n


def test_the_default_is_half_of_what_is_free_or_of_a_limit_below_it(tmp_path, monkeypatch):
    inside = tmp_path / "cgroups" / "pod" / "container"
    inside.mkdir(parents=True)
    own, free = tmp_path / "cgroup", tmp_path / "meminfo"
    own.write_text("0::/pod/container\n")
    free.write_text("MemTotal: 9 kB\nMemAvailable:    6000 kB\n")
    monkeypatch.setattr(scans, "_CGROUPS", tmp_path / "cgroups")
    monkeypatch.setattr(scans, "_OWN_GROUPS", own)
    monkeypatch.setattr(scans, "_FREE", free)

    assert scans.default_memory() == 3000 * 1024  # no limit is written anywhere
    (inside / "memory.max").write_text("max\n")
    assert scans.default_memory() == 3000 * 1024
    (inside.parent / "memory.max").write_text("5000000\n")
    assert scans.default_memory() == 2_500_000
    (inside / "memory.max").write_text("4000000\n")
    assert scans.default_memory() == 2_000_000


MEASURED = """
import sys
from pathlib import Path
import polars as pl
import recframe

def call(folder):
    recs, truth, users = (pl.scan_parquet(Path(folder) / f"{{name}}.parquet") for name in ("recs", "truth", "users"))
    rec = recs.rec(truth=truth, users=users, memory="200MB")
    return rec.evaluate(*{metrics!r}, by={by!r})

def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))

call({small!r})  # which loads the library's code
start = kilobytes("VmRSS")
call({large!r}).write_parquet(sys.argv[1])
print(1024 * (kilobytes("VmHWM") - start))
"""


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
def test_five_million_rows_take_no_more_than_200_megabytes(tmp_path):
    paths = {size: str(tmp_path / size) for size in ("small", "large")}
    for size, n_rows in (("small", 2_000), ("large", 5_000_000)):
        (tmp_path / size).mkdir()
        given = frames(n_rows)
        scanned(given, tmp_path / size)
    code = MEASURED.format(metrics=SIX, by=SEGMENTS, **paths)
    found = tmp_path / "result.parquet"

    took = subprocess.run(  # noqa: S603  our own
        [sys.executable, "-c", code, str(found)], capture_output=True, text=True, check=True
    )

    assert int(took.stdout) <= 200_000_000
    one = given["recs"].rec(truth=given["truth"], users=given["users"]).evaluate(*SIX, by=SEGMENTS)
    assert_frame_equal(pl.read_parquet(found), one, check_exact=True)


def test_a_source_that_fails_after_some_rows_fails_the_call():
    rows = pl.DataFrame({"user": [str(n) for n in range(50_000)] + ["nobody"]})
    number = pl.col("user").cast(pl.Int64)
    recs = rows.lazy().select(user=number, item=1, rank=1)

    with pytest.raises(pl.exceptions.PolarsError, match="nobody"):
        recs.rec(truth=recs.select("user", "item"), memory="4MB").evaluate("recall@1")
