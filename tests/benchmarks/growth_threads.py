"""How much of a call one thread more takes away, and which stages are left: a process for each number of threads, in turns.

`python growth_threads.py` is such a process. For each line that it reads, the kind of frames and the number of rows, it makes
the frames; for an empty line it runs the call, and answers with the seconds of its stages.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

Span = tuple[float, float]
KINDS = {"sorted": "one judged frame, sorted", "shuffled": "shuffled", "two": "two frames"}
THREADS = (1, 2)
CORES = (16, 64)
STAGES = ["rows taken", "questions", "values and sums", "between"]
"""The collects of a call, in their order, and what is done outside of them: questions to columns, and the building of plans."""


def measured(
    kinds: Sequence[str], rows: int, repeats: int, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Return the seconds of each kind of frames by the number of threads, stage by stage."""
    found = []
    for kind in kinds:
        with ExitStack() as stack:
            workers = {n: stack.enter_context(worker(n)) for n in THREADS}
            for process in workers.values():
                answered(process, f"{kind} {rows}")
            runs: dict[int, list[dict[str, float]]] = {n: [] for n in THREADS}
            for _ in range(repeats):
                for n, process in workers.items():
                    runs[n].append(answered(process, ""))
        found.append({"kind": kind, "rows": rows, **amdahl(stages(runs))})
        tell(said(found[-1]))
    return found


def stages(runs: dict[int, list[dict[str, float]]]) -> dict[str, list[float]]:
    """Return the fewest seconds of each stage by the number of threads, the whole call first."""
    return {
        stage: [min(run[stage] for run in runs[n]) for n in THREADS]
        for stage in runs[THREADS[0]][0]
    }


def amdahl(taken: dict[str, list[float]]) -> dict[str, Any]:
    """Return the stages, the share of one thread's time that two do not share, and by Amdahl's law what cores would do."""
    one, two = taken["whole"]
    share = min(1.0, max(0.0, 2 * two / one - 1))
    cores = {str(n): 1 / (share + (1 - share) / n) for n in CORES}
    return {"stages": taken, "speed_up": one / two, "serial": share, "predicted": cores}


def said(one: dict[str, Any]) -> str:
    """Return the stages of a kind of frames as text."""
    lines = [f"threads, {KINDS[one['kind']]}, {one['rows']:,} rows"]
    for stage, seconds in one["stages"].items():
        lines.append(
            f"  {stage:16s} {seconds[0]:8.4f} s, 2 threads {seconds[1]:8.4f} s: {seconds[0] / seconds[1]:5.2f} x"
        )
    cores = ", ".join(f"{faster:.1f} x on {n}" for n, faster in one["predicted"].items())
    return "\n".join([*lines, f"  serial {one['serial']:.0%}: {cores} cores"])


@contextmanager
def worker(n_threads: int, command: Sequence[str] = (__file__,)) -> Iterator[subprocess.Popen[str]]:
    """Start a process with so many threads, and end it."""
    process = subprocess.Popen(  # noqa: S603  a file of these
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "POLARS_MAX_THREADS": str(n_threads)},
        cwd=Path(__file__).parent,
    )
    try:
        yield process
    finally:
        process.communicate()


def answered(process: subprocess.Popen[str], line: str) -> Any:
    """Send a line to a process, and return what it answers."""
    if process.stdin is None or process.stdout is None:
        raise SystemExit("a process has no pipes")
    process.stdin.write(f"{line}\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit("a process has ended; what it said is above")
    return json.loads(answer)


def serve() -> None:
    """Make frames and run the call until the input ends."""
    # two questions at a time are asked from two threads of Python, which share the cores of that many threads
    if hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))[: int(os.environ["POLARS_MAX_THREADS"])]
        os.sched_setaffinity(0, cores)
    call: Callable[[], object] = object
    collects: list[Span] = []
    _watch(collects)
    for line in sys.stdin:
        if line.strip():
            kind, rows = line.split()
            call = _call(kind, int(rows))
            call()
        collects.clear()
        gc.collect()
        start = time.perf_counter()
        call()
        told = _staged(collects, time.perf_counter() - start)
        sys.stdout.write(f"{json.dumps(told)}\n")
        sys.stdout.flush()


def _call(kind: str, rows: int) -> Callable[[], object]:
    import growth_data  # noqa: PLC0415  whoever starts this process need not have it

    whole = growth_data.judged(rows)
    if kind == "two":
        recs, truth = growth_data.two_frames(whole)
        return growth_data.asked(recs, truth=truth)
    return growth_data.asked(growth_data.shuffled(whole) if kind == "shuffled" else whole)


def _watch(collects: list[Span]) -> None:
    """Write down from when to when each collect of a call runs."""
    from recframe.frames.kinds import kind  # noqa: PLC0415  likewise

    def timed(collect: Callable[..., object]) -> Callable[..., object]:
        def collecting(*arguments: object) -> object:
            start = time.perf_counter()
            result = collect(*arguments)
            collects.append((start, time.perf_counter()))
            return result

        return collecting

    kind.ask, kind.run_by_size = timed(kind.ask), timed(kind.run_by_size)  # type: ignore[assignment]


def _staged(collects: list[Span], whole: float) -> dict[str, float]:
    """Return the seconds of the stages; a small frame is asked nothing."""
    first, *middle, last = [(0.0, 0.0), *collects] if len(collects) == 1 else sorted(collects)
    found = [_seconds([first]), _seconds(middle), _seconds([last])]
    return {"whole": whole, **dict(zip(STAGES, [*found, whole - sum(found)], strict=True))}


def _seconds(spans: Sequence[Span]) -> float:
    """Return how long at least one of some spans lasts, which stand in the order of their starts."""
    found, until = 0.0, 0.0
    for start, end in spans:
        found += max(0.0, end - max(start, until))
        until = max(until, end)
    return found


if __name__ == "__main__":
    serve()
