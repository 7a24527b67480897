"""More rows than memory holds: Parquet files of text ids, read within a bound, with the peak of memory.

    python tests/benchmarks/larger_than_memory.py /somewhere/with/space --rows 300000000 --memory 1GB

It writes lists, a truth of a tenth of their rows, and users, unless they are there; the call has a process of its own. The
rows of a user are spread over all files, and one user has a hundredth of all. It takes some 25 bytes of disk for each row,
and the call up to 120 for each row within the cut-off, in the folder of POLARS_TEMP_DIR.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

import bench
import polars as pl
import served
from served import SIX

import recframe as rf

LENGTH, N_ITEMS = 20, 20_011
ROWS_OF_FILE = 5_000_000
STEP = 7_919
"""A prime number, which spreads the users over the files."""
BY = ["country", "device"]
NAMES = ("recs", "truth", "users")


def texts(n: int) -> pl.Series:
    """Return ids of 36 characters."""
    number = pl.int_range(n)
    parts = (number.hash(1).cast(pl.String).str.zfill(20), number.cast(pl.String).str.zfill(15))
    return pl.select(pl.format("{}-{}", *parts)).to_series()


def write(folder: Path, n_rows: int) -> None:
    """Write the frames, the lists and the truth in files of some million rows."""
    n_users = n_rows // LENGTH | 1  # no multiple of 10, so that the truth has all of them
    users, items = texts(n_users), texts(N_ITEMS)
    for name in NAMES:
        (folder / name).mkdir(parents=True)
    for start in range(0, n_rows, ROWS_OF_FILE):
        row = pl.int_range(start, min(n_rows, start + ROWS_OF_FILE))
        is_bot = row % 100 == 0
        user = pl.when(is_bot).then(0).otherwise(row * STEP % n_users)
        rank = pl.when(is_bot).then(row // 100).otherwise(row // n_users) + 1
        numbers = pl.select(row=row, user=user, item=row * STEP % N_ITEMS, rank=rank.cast(pl.Int32))
        recs = numbers.select(
            user=users.gather(numbers["user"]), item=items.gather(numbers["item"]), rank="rank"
        )
        recs.write_parquet(folder / "recs" / f"{start:012}.parquet")
        # every second one of them is a hit
        item = pl.when(numbers["row"] % 20 == 3).then("item").otherwise(pl.lit("another item"))
        truth = recs.select("user", item).filter(numbers["row"] % 10 == 3)
        truth.write_parquet(folder / "truth" / f"{start:012}.parquet")
    number = pl.int_range(n_users)
    country, device = (number % 5).cast(pl.String), (number % 3).cast(pl.String)
    of_users = pl.select(user=users, country=country, device=device)
    of_users.write_parquet(folder / "users" / "all.parquet")


def call(folder: Path, memory: str) -> None:
    recs, truth, users = (pl.scan_parquet(folder / name) for name in NAMES)
    before = served.status("VmRSS")
    rec = recs.rec(truth=truth, users=users, memory=memory)
    took = served.timed(lambda: rec.evaluate(*SIX, k=10, by=BY))
    took["n_users"] = int(took.pop("found")["n_users"].sum())
    took |= {"peak_mb": served.status("VmHWM") // 10**6, "start_mb": before // 10**6}
    bench.say(json.dumps(took | {"version": rf.__version__}))


def main() -> None:
    """Write the files where they are not there, and make the call in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=300_000_000)
    parser.add_argument("--memory", default="1GB")
    given = parser.parse_args()
    folder = given.folder.absolute() / f"{given.rows}"
    if not (folder / "users" / "all.parquet").exists():
        shutil.rmtree(folder, ignore_errors=True)
        write(folder, given.rows)
    code = f"import larger_than_memory as one, pathlib; one.call(pathlib.Path({str(folder)!r}), {given.memory!r})"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=bench.HERE)  # noqa: S603  our own


if __name__ == "__main__":
    main()
