"""Roads of one library in its environment: `python worker.py rectools polars FOLDER 10` runs those that it is told to.

Nothing read from the files is converted before the clock starts.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import served
from given import Given

CUT = ", cut"
ALL_AT_ONCE = "recframe"
"""Who takes one frame of all models; the others take one model after the other."""


def main(peer: str, kind: str, folder: str, k: str) -> None:
    answer, depth = served.channel(), int(k)
    sys.path.append(str(Path(__file__).parent / "roads"))
    module = importlib.import_module(f"{peer}_road")
    roads = {road.name: road for road in module.ROADS}
    roads |= {f"{name}{CUT}": road for name, road in roads.items() if road.can_cut}
    given = Given.read(Path(folder), kind)
    givens = [given] if peer == ALL_AT_ONCE else given.of_models()

    def run(name: str) -> dict[str, object]:
        road, is_cut = roads[name].run, name.endswith(CUT)
        taken = served.timed(
            lambda: [x for one in givens for x in road(one.cut(depth) if is_cut else one, depth)]
        )
        return {"seconds": taken["seconds"], "numbers": taken["found"]}

    told = {
        name: {"metrics": road.metrics, "tolerance": road.tolerance} for name, road in roads.items()
    }
    versions = served.versions(module.DISTRIBUTIONS)
    served.serve(answer, {"versions": versions, "roads": told}, run)


if __name__ == "__main__":
    main(*sys.argv[1:])
