"""Run inside a peer's environment: `python ask.py accuracy rectools` prints its answers on every scene as JSON."""

from __future__ import annotations

import contextlib
import importlib
import json
import platform
import sys
import warnings
from importlib.metadata import version

MODULES = {
    "accuracy": ("scenes", "ask_{}"),
    "beyond": ("scenes_beyond", "ask_{}_beyond"),
    "splits": ("scenes_splits", "ask_{}_splits"),
    "cases": ("scenes_cases", "ask_{}_cases"),
}


def main(about, peer, distributions):
    """Print the versions and the answers."""
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        scenes, asked = MODULES[about]
        module = importlib.import_module(asked.format(peer))
        made = importlib.import_module(scenes).SCENES
        rows = [row for name, make in made.items() for row in module.answers(name, make())]
    versions = {
        "Python": platform.python_version(),
        **{name: version(name) for name in distributions},
    }
    sys.stdout.write(json.dumps({"versions": versions, "rows": rows}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
