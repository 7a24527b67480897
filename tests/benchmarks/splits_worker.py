"""Works of one library in its environment: `python splits_worker.py rectools pandas FILE 3` times those it is told to on a log.

An answer has the seconds of each run, rows of train and truth of each fold, and by how many bytes the first run raised the peak
of resident memory. What a library wants to start from is made of the frame before the clock starts.
"""

from __future__ import annotations

import gc
import importlib
import sys
from datetime import timedelta
from pathlib import Path

import served

HORIZON, FOLDS, SHARE, K = 7, 4, 0.2, 20
RESET_PEAK = Path("/proc/self/clear_refs")
WARM_UP_ROWS = 50_000


def recframe(frame):
    importlib.import_module("recframe")
    split = frame.rec(user="user", item="item", time="time").split
    week = {"align": "day"}

    def parts(made):
        return [(one.train, one.truth) for one in made.folds]

    def labels(made):
        return [(one.labels, ()) for one in made.folds]

    def by_time():
        return split.by_time(last=f"{HORIZON}d", **week)

    def rolling():
        return split.rolling(folds=FOLDS, horizon=f"{HORIZON}d", **week)

    def lists():
        made = by_time()
        return [(made.baselines("popular", k=K), made.truth)]

    return {
        "by_time": lambda: parts(by_time()),
        "by_time, labels": lambda: labels(by_time()),
        "rolling": lambda: parts(rolling()),
        "rolling, labels": lambda: labels(rolling()),
        "last_per_user": lambda: parts(split.last_per_user(n=1)),
        "random per user": lambda: parts(split.random(share=SHARE, per="user", seed=0)),
        "random per log": lambda: parts(split.random(share=SHARE, per="log", seed=0)),
        "popular": lists,
    }


def rectools(frame):
    """Return RecTools' works: rows by number, taken from the frame."""
    from rectools import Columns  # noqa: PLC0415  in its environment alone
    from rectools import dataset as sets  # noqa: PLC0415
    from rectools import model_selection as peer  # noqa: PLC0415
    from rectools.models import PopularModel  # noqa: PLC0415

    names = {"user": Columns.User, "item": Columns.Item, "time": Columns.Datetime}
    log = sets.Interactions(frame.rename(columns=names).assign(**{Columns.Weight: 1.0}))
    all_rows, warm = (False, False, False), (True, False, False)

    def parts(splitter):
        return [(log.df.iloc[train], log.df.iloc[truth]) for train, truth, _ in splitter.split(log)]

    def lists():
        ((train, truth),) = parts(peer.TimeRangeSplitter(f"{HORIZON}D", 1, *warm))
        data = sets.Dataset.construct(train)
        users = truth[Columns.User].unique()
        return [(PopularModel().fit(data).recommend(users, data, K, filter_viewed=False), truth)]

    return {
        "by_time": lambda: parts(peer.TimeRangeSplitter(f"{HORIZON}D", 1, *all_rows)),
        "rolling": lambda: parts(peer.TimeRangeSplitter(f"{HORIZON}D", FOLDS, *all_rows)),
        "last_per_user": lambda: parts(peer.LastNSplitter(1, 1, *all_rows)),
        "random per log": lambda: parts(peer.RandomSplitter(SHARE, 1, 0, *all_rows)),
        "popular": lists,
    }


def replay(frame):
    """Return RePlay's works, on pandas or on Polars; its random split is of the log alone."""
    from replay import splitters as peer  # noqa: PLC0415

    names = {"query_column": "user", "item_column": "item"}
    timed = names | {"timestamp_column": "time"}
    last = frame["time"].max()
    of_pandas = {"nanosecond": 0} if hasattr(last, "nanosecond") else {}
    day = last.replace(hour=0, minute=0, second=0, microsecond=0, **of_pandas)
    made = {
        "by_time": peer.TimeSplitter(day + timedelta(days=1 - HORIZON), **timed),
        "last_per_user": peer.LastNSplitter(1, divide_column="user", **timed),
        "random per log": peer.RandomSplitter(SHARE, seed=0, **names),
    }
    return {name: lambda one=one: [one.split(frame)] for name, one in made.items()}


def microsoft(frame):
    """Return Microsoft's works; its chronological split takes a share of a user's rows, not their number."""
    from recommenders.datasets import python_splitters as peer  # noqa: PLC0415

    names = {"col_user": "user", "col_item": "item"}
    timed = names | {"col_timestamp": "time"}
    return {
        "last_per_user": lambda: [peer.python_chrono_split(frame, 0.9, **timed)],
        "random per user": lambda: [peer.python_stratified_split(frame, 1 - SHARE, **names)],
        "random per log": lambda: [peer.python_random_split(frame, 1 - SHARE, seed=0)],
    }


LIBRARIES = {
    "recframe": (recframe, ("polars", "pandas", "pyarrow")),
    "rectools": (rectools, ("rectools", "pandas", "numpy")),
    "replay": (replay, ("replay-rec", "pandas", "polars")),
    "microsoft": (microsoft, ("recommenders", "pandas", "numpy")),
}


def main(library: str, kind: str, file: str, repeats: str) -> None:
    answer = served.channel()
    frame = importlib.import_module(kind).read_parquet(file)
    works, distributions = LIBRARIES[library]

    def run(work):
        works(frame[-WARM_UP_ROWS:])[work]()
        call = works(frame)[work]
        gc.collect()
        RESET_PEAK.write_text("5", encoding="ascii")
        before = served.status("VmRSS")
        made = call()
        peak = served.status("VmHWM") - before
        rows = [[len(train), len(truth)] for train, truth in made]
        del made
        seconds = [served.timed(call)["seconds"] for _ in range(int(repeats))]
        return {"seconds": seconds, "rows": rows, "peak_bytes": peak}

    served.serve(answer, {"versions": served.versions(distributions)}, run)


if __name__ == "__main__":
    main(*sys.argv[1:])
