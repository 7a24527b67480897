"""One work of one library in its environment: `python splits_worker.py rectools pandas by_time FILE 3` times it on a log.

It prints JSON: versions, seconds of each run, rows of train and truth of each fold, and by how many bytes the first run raised
the peak of resident memory. What a library wants to start from is made of the frame before the clock starts.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import platform
import sys
import time
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

HORIZON, FOLDS, SHARE, K = 7, 4, 0.2, 20
STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")
WARM_UP_ROWS = 50_000


def recframe(frame, work):
    """Return recframe's road for a work."""
    importlib.import_module("recframe")
    split = frame.rec(user="user", item="item", time="time").split

    def parts(made):
        return [(one.train, one.truth) for one in made.folds]

    def labels(made):
        return [(one.labels, ()) for one in made.folds]

    def lists():
        made = split.by_time(last=f"{HORIZON}d", align="day")
        return [(made.baselines("popular", k=K), made.truth)]

    works = {
        "by_time": lambda: parts(split.by_time(last=f"{HORIZON}d", align="day")),
        "by_time, labels": lambda: labels(split.by_time(last=f"{HORIZON}d", align="day")),
        "rolling, labels": lambda: labels(
            split.rolling(folds=FOLDS, horizon=f"{HORIZON}d", align="day")
        ),
        "rolling": lambda: parts(split.rolling(folds=FOLDS, horizon=f"{HORIZON}d", align="day")),
        "last_per_user": lambda: parts(split.last_per_user(n=1)),
        "random per user": lambda: parts(split.random(share=SHARE, per="user", seed=0)),
        "random per log": lambda: parts(split.random(share=SHARE, per="log", seed=0)),
        "popular": lists,
    }
    return works.get(work), ("polars", "pandas", "pyarrow")


def rectools(frame, work):
    """Return RecTools' road: rows by number, taken from the frame."""
    from rectools import Columns  # noqa: PLC0415  in its environment alone
    from rectools.dataset import Dataset, Interactions  # noqa: PLC0415
    from rectools.model_selection import (  # noqa: PLC0415
        LastNSplitter,
        RandomSplitter,
        TimeRangeSplitter,
    )
    from rectools.models import PopularModel  # noqa: PLC0415

    names = {"user": Columns.User, "item": Columns.Item, "time": Columns.Datetime}
    renamed = frame.rename(columns=names).assign(**{Columns.Weight: 1.0})
    log = Interactions(renamed)
    all_rows, warm = (False, False, False), (True, False, False)

    def parts(splitter):
        return [(log.df.iloc[train], log.df.iloc[truth]) for train, truth, _ in splitter.split(log)]

    def lists():
        ((train, truth),) = parts(TimeRangeSplitter(f"{HORIZON}D", 1, *warm))
        data = Dataset.construct(train)
        users = truth[Columns.User].unique()
        return [(PopularModel().fit(data).recommend(users, data, K, filter_viewed=False), truth)]

    works = {
        "by_time": lambda: parts(TimeRangeSplitter(f"{HORIZON}D", 1, *all_rows)),
        "rolling": lambda: parts(TimeRangeSplitter(f"{HORIZON}D", FOLDS, *all_rows)),
        "last_per_user": lambda: parts(LastNSplitter(1, 1, *all_rows)),
        "random per log": lambda: parts(RandomSplitter(SHARE, 1, 0, *all_rows)),
        "popular": lists,
    }
    return works.get(work), ("rectools", "pandas", "numpy")


def replay(frame, work):
    """Return RePlay's road, on pandas or on Polars; its random split is of the log alone."""
    from replay.splitters import LastNSplitter, RandomSplitter, TimeSplitter  # noqa: PLC0415

    names = {"query_column": "user", "item_column": "item"}
    time = {"timestamp_column": "time"}
    last = frame["time"].max()
    day = last.replace(hour=0, minute=0, second=0, microsecond=0, **_nanoseconds(last))
    at = day + timedelta(days=1 - HORIZON)
    works = {
        "by_time": TimeSplitter(at, **names, **time),
        "last_per_user": LastNSplitter(1, divide_column="user", **names, **time),
        "random per log": RandomSplitter(SHARE, seed=0, **names),
    }
    splitter = works.get(work)
    return splitter and (lambda: [splitter.split(frame)]), ("replay-rec", "pandas", "polars")


def microsoft(frame, work):
    """Return Microsoft's road; its chronological split takes a share of a user's rows, not their number."""
    from recommenders.datasets import python_splitters as peer  # noqa: PLC0415

    names = {"col_user": "user", "col_item": "item"}
    works = {
        "last_per_user": lambda: peer.python_chrono_split(
            frame, 0.9, **names, col_timestamp="time"
        ),
        "random per user": lambda: peer.python_stratified_split(frame, 1 - SHARE, **names),
        "random per log": lambda: peer.python_random_split(frame, 1 - SHARE, seed=0),
    }
    run = works.get(work)
    return run and (lambda: [run()]), ("recommenders", "pandas", "numpy")


LIBRARIES = {one.__name__: one for one in (recframe, rectools, replay, microsoft)}


def _nanoseconds(last):
    return {"nanosecond": 0} if hasattr(last, "nanosecond") else {}


def peak_of(run):
    """Return what a run gives, and by how many bytes it raised the peak of resident memory."""
    gc.collect()
    RESET_PEAK.write_text("5", encoding="ascii")
    before = _status("VmRSS")
    found = run()
    return found, _status("VmHWM") - before


def _status(name):
    lines = STATUS.read_text(encoding="ascii").splitlines()
    (line,) = [line for line in lines if line.startswith(f"{name}:")]
    return int(line.split()[1]) * 1024


def main(library: str, kind: str, work: str, file: str, repeats: str) -> None:
    """Warm up on a few rows, run, and print."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    frame = importlib.import_module(kind).read_parquet(file)
    road = LIBRARIES[library]
    road(frame[-WARM_UP_ROWS:], work)[0]()
    run, distributions = road(frame, work)
    made, peak = peak_of(run)
    rows = [[len(train), len(truth)] for train, truth in made]
    del made
    seconds = []
    for _ in range(int(repeats)):
        gc.collect()
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    versions = {name: version(name) for name in distributions}
    answers.write(
        json.dumps(
            {
                "versions": {"Python": platform.python_version(), **versions},
                "seconds": seconds,
                "rows": rows,
                "peak_bytes": peak,
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
