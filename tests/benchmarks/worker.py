"""A process in one environment: `python worker.py rectools polars FOLDER 10` runs the roads it is told to, and times them.

It answers in lines of JSON: first its versions and roads; then, for each line it reads (the name of a road), the seconds from
the frames to the numbers, and the numbers. Nothing read from the files is converted before the clock starts.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

from given import Given

CUT = ", cut"
ALL_AT_ONCE = "recframe"
"""Who takes one frame of all models; the others take one model after the other."""


def main(peer: str, kind: str, folder: str, k: int) -> None:
    """Serve until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    sys.path.append(str(Path(__file__).parent / "roads"))
    module = importlib.import_module(f"{peer}_road")
    roads = {road.name: road for road in module.ROADS}
    versions = {
        "Python": platform.python_version(),
        **{name: version(name) for name in module.DISTRIBUTIONS},
    }
    given = Given.read(Path(folder), kind)
    givens = [given] if peer == ALL_AT_ONCE else given.of_models()

    def answer(line: object) -> None:
        answers.write(f"{json.dumps(line)}\n")
        answers.flush()

    told = {
        name: {"metrics": road.metrics, "tolerance": road.tolerance}
        for name, road in _all(roads).items()
    }
    answer({"versions": versions, "roads": told})
    for line in sys.stdin:
        name = line.strip()
        answer(timed(roads[name.removesuffix(CUT)].run, givens, k, cut=name.endswith(CUT)))


def _all(roads):
    return roads | {f"{name}{CUT}": road for name, road in roads.items() if road.can_cut}


def timed(run, givens: list[Given], k: int, *, cut: bool) -> dict[str, object]:
    """Return the seconds of one run over the lists of all models, and its numbers."""
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    numbers = [number for one in givens for number in run(one.cut(k) if cut else one, k)]
    seconds = time.perf_counter() - start
    gc.enable()
    return {"seconds": seconds, "numbers": numbers}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
