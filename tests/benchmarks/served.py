"""A process that is measured: it reads the names of roads and answers in lines of JSON. It needs nothing but Python."""

from __future__ import annotations

import gc
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

SIX = ("hit_rate", "precision", "recall", "map", "mrr", "ndcg")
"""The metrics that everybody is asked for."""


def channel() -> Callable[[object], None]:
    """Return what writes a line to whoever started this process; what libraries print is no answer."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def answer(line: object) -> None:
        answers.write(f"{json.dumps(line)}\n")
        answers.flush()

    return answer


def serve(
    answer: Callable[[object], None], about: dict[str, Any], run: Callable[[str], object]
) -> None:
    """Say what there is, then answer for each line what a run of that name gives."""
    answer(about)
    for line in sys.stdin:
        answer(run(line.strip()))


def versions(names: Iterable[str]) -> dict[str, str]:
    return {"Python": platform.python_version(), **{name: version(name) for name in names}}


def timed(run: Callable[[], Any]) -> dict[str, Any]:
    """Return what a run gives, its seconds and CPU seconds; no garbage is collected meanwhile."""
    gc.collect()
    gc.disable()
    start, cpu = time.perf_counter(), time.process_time()
    found = run()
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    gc.enable()
    return {"found": found, "seconds": seconds, "cpu_seconds": cpu_seconds}


def status(name: str, process: int | str = "self") -> int:
    """Return bytes that Linux counts for a process, such as VmHWM, the peak of resident memory."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next((int(one.split()[1]) * 1024 for one in lines if one.startswith(f"{name}:")), 0)
