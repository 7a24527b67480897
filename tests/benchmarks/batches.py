"""The benchmark of validation loops: two metrics over batches of users, by recframe and by what training libraries offer.

    python tests/benchmarks/batches.py --json tests/benchmarks/batches.json
    python tests/benchmarks/batches.py recframe --repeats 2

It makes the environments that are missing, as `tests/agreement/recorded/record.py` does. Each library runs in a process of its
own, which holds the batches in the form that the library takes: frames, scores beside targets, or the ids of the first items
beside padded ids of the relevant ones. Processes take turns; a time is that of all batches and of the result, over the number
of batches. It is CPU time of all threads, which other work on the machine changes least. All numbers are checked to be
recframe's before any is timed.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
METRICS = ("ndcg@10", "recall@20")
DISTRIBUTIONS = {
    "recframe": ["recframe", "polars", "numpy"],
    "torchmetrics": ["torchmetrics", "torch"],
    "replay": ["replay-rec", "torch"],
}
USERS, LISTED, ITEMS, RELEVANT = 1_024, 100, 5_000, 8
Batch = Mapping[str, Any]
Roads = dict[str, Callable[[], Sequence[float]]]


def batches(n: int) -> list[dict[str, Any]]:
    """Return batches: the ids and scores of each user's candidates, best first, and which of them are relevant."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(n):
        ids = random.permuted(np.tile(np.arange(ITEMS), (USERS, 1)), axis=1)[:, :LISTED]
        scores = -np.sort(-random.random((USERS, LISTED)), axis=1)
        places = random.permuted(np.tile(np.arange(LISTED), (USERS, 1)), axis=1)[:, :RELEVANT]
        relevant = np.zeros((USERS, LISTED), dtype=bool)
        np.put_along_axis(relevant, places, values=True, axis=1)
        found.append({"ids": ids, "scores": scores, "relevant": relevant})
    return found


def of_recframe(given: Sequence[Batch]) -> Roads:
    """Return recframe's ways, and `evaluate` on the same frames, batch by batch."""
    pl, rf = importlib.import_module("polars"), importlib.import_module("recframe")
    frames = []
    for number, one in enumerate(given):
        user = np.repeat(np.arange(USERS) + number * USERS, LISTED)
        rows = {"user": user, "item": one["ids"].reshape(-1), "score": one["scores"].reshape(-1)}
        lists = pl.DataFrame({**rows, "rank": np.tile(np.arange(1, LISTED + 1), USERS)})
        frames.append((lists, lists.filter(one["relevant"].reshape(-1)).select("user", "item")))
    form = {"ranks": ["user", "item", "rank"], "scores": ["user", "item", "score"]}

    def added(of_batch: Sequence[tuple[Any, Any]], **options: Any) -> Sequence[float]:
        made = rf.accumulator(*METRICS, **options)
        for lists, truth in of_batch:
            made.update(lists, truth)
        return made.result().select(METRICS).row(0)

    def each(columns: Sequence[str]) -> Sequence[float]:
        found = [lists.select(columns).rec(truth).evaluate(*METRICS) for lists, truth in frames]
        return pl.concat(found).select(METRICS).mean().row(0)

    cut = {name: [(a.select(columns), b) for a, b in frames] for name, columns in form.items()}
    tensors = [(one["scores"], one["relevant"]) for one in given]
    padded = [(one["ids"][:, :20], _padded(one)) for one in given]
    roads: Roads = {}
    for name, columns in form.items():
        roads[f"recframe, {name}"] = lambda name=name: added(cut[name])  # type: ignore[misc]
        roads[f"evaluate, {name}"] = lambda columns=columns: each(columns)  # type: ignore[misc]
    roads["recframe, arrays of scores"] = lambda: added(tensors)
    roads["recframe, arrays of ids"] = lambda: added(padded, pad=-1)
    return roads


def _padded(one: Batch) -> Any:
    """Return the ids of the relevant items, padded by -1."""
    found = [ids[relevant] for ids, relevant in zip(one["ids"], one["relevant"], strict=True)]
    return np.array([np.pad(ids, (0, RELEVANT - len(ids)), constant_values=-1) for ids in found])


def of_torchmetrics(given: Sequence[Batch]) -> Roads:
    """Return torchmetrics' retrieval metrics, whose state are all scores."""
    torch = importlib.import_module("torch")
    metrics = importlib.import_module("torchmetrics.retrieval")
    tensors = []
    for number, one in enumerate(given):
        user = np.repeat(np.arange(USERS) + number * USERS, LISTED)
        flat = [one["scores"].reshape(-1), one["relevant"].reshape(-1), user]
        tensors.append([torch.tensor(part) for part in flat])

    def run() -> Sequence[float]:
        made = [metrics.RetrievalNormalizedDCG(top_k=10), metrics.RetrievalRecall(top_k=20)]
        for scores, relevant, user in tensors:
            for one in made:
                one.update(scores, relevant, indexes=user)
        return [float(one.compute()) for one in made]

    return {"torchmetrics": run}


def of_replay(given: Sequence[Batch]) -> Roads:
    """Return RePlay's builder, which adds up means of the first ids."""
    torch = importlib.import_module("torch")
    # it asks for Lightning, which the builder does not need
    vars(importlib.import_module("replay.utils"))["TORCH_AVAILABLE"] = True
    builder = importlib.import_module("replay.metrics.torch_metrics_builder").TorchMetricsBuilder
    tensors = [[torch.tensor(one["ids"][:, :20]), torch.tensor(_padded(one))] for one in given]

    def run() -> Sequence[float]:
        made = builder(metrics=["ndcg", "recall"], top_k=[10, 20], item_count=ITEMS)
        made.reset()
        for ids, relevant in tensors:
            made.add_prediction(ids, relevant)
        found = made.get_metrics()
        return [found["ndcg@10"], found["recall@20"]]

    return {"RePlay, builder": run}


ROADS = {"recframe": of_recframe, "torchmetrics": of_torchmetrics, "replay": of_replay}


def serve(peer: str, n: int) -> None:
    """Answer in lines of JSON: versions and roads, then for each name that is read its seconds and numbers."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    roads = ROADS[peer](batches(n))
    versions = {name: version(name) for name in DISTRIBUTIONS[peer]}
    found = {"Python": platform.python_version(), **versions}
    print(json.dumps({"versions": found, "roads": [*roads]}), file=answers, flush=True)
    for line in sys.stdin:
        gc.collect()
        start = time.process_time()
        numbers = [float(one) for one in roads[line.strip()]()]
        seconds = (time.process_time() - start) / n
        print(json.dumps({"seconds": seconds, "numbers": numbers}), file=answers, flush=True)


def measured(asked_for: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of everybody, whose processes take turns."""
    import apart  # noqa: PLC0415  which the workers' environments do not have
    import machine  # noqa: PLC0415  likewise

    with ExitStack() as stack, tempfile.TemporaryDirectory():
        versions, contenders = {}, []
        for peer in asked_for.peers or ROADS:
            is_ours = peer == "recframe"
            python = (
                sys.executable
                if is_ours
                else apart.record.environment(peer, asked_for.environments)
            )
            command = [str(python), str(Path(__file__)), "--serve", peer, "-n", str(asked_for.n)]
            process = subprocess.Popen(  # noqa: S603  ours
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            stack.callback(process.communicate)
            told = apart.asked(process)
            versions[peer] = told["versions"]
            contenders += [
                apart.Contender(name, peer, process, [*METRICS], 1e-6) for name in told["roads"]
            ]
        expected = contenders[0].run()["numbers"]
        for one in contenders:
            found = one.run()["numbers"]
            if max(abs(a - b) for a, b in zip(found, expected, strict=True)) > one.tolerance:
                raise SystemExit(f"{one.name}: {found}, not {expected}")
        apart.interleave(contenders, asked_for.repeats)
    medians = {one.name: statistics.median(one.seconds) for one in contenders}
    return {
        "users": USERS,
        "listed": LISTED,
        "batches": asked_for.n,
        "repeats": asked_for.repeats,
        "machine": machine.describe(),
        "versions": versions,
        "contenders": [
            {"name": one.name, "seconds": one.seconds, "median": medians[one.name]}
            for one in contenders
        ],
    }


def main() -> None:
    """Read the command line, and serve or measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("peers", nargs="*", metavar="peer", help=f"some of {', '.join(ROADS)}")
    parser.add_argument("-n", type=int, default=10, help="batches (%(default)s)")
    parser.add_argument("--repeats", type=int, default=15, help="interleaved rounds (%(default)s)")
    parser.add_argument("--environments", type=Path, default=HERE.parents[1] / "build" / "peers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything to a JSON file")
    parser.add_argument("--serve", metavar="PEER", help=argparse.SUPPRESS)
    asked_for = parser.parse_args()
    if asked_for.serve:
        serve(asked_for.serve, asked_for.n)
        return
    result = measured(asked_for)
    for one in result["contenders"]:
        print(f"{one['name']:<30}{one['median'] * 1000:>10.2f} ms")  # noqa: T201
    if asked_for.json:
        asked_for.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
