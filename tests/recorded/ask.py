"""Run inside a peer's environment: `python ask.py rectools` prints its answers on every scene as JSON."""

from __future__ import annotations

import contextlib
import importlib
import json
import platform
import sys
import warnings
from importlib.metadata import version

from scenes import SCENES


def main(peer, distributions):
    """Print the versions and the answers."""
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        module = importlib.import_module(f"ask_{peer}")
        rows = [row for name, make in SCENES.items() for row in module.answers(name, make())]
    versions = {"Python": platform.python_version(), **{name: version(name) for name in distributions}}
    sys.stdout.write(json.dumps({"versions": versions, "rows": rows}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
