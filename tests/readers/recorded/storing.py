"""What a library gave, stored in `outputs.json` under its name, with the versions that gave it.

    path/to/environment/bin/python tests/readers/recorded/give_lenskit.py

The environments are those of `tests/recorders/record.py`; implicit is in that of RecTools, Surprise in that of Microsoft's.
"""

from __future__ import annotations

import importlib.metadata
import json
from pathlib import Path

OUTPUTS = Path(__file__).with_name("outputs.json")
# What every library is fitted on.
PAIRS = [
    *(("ann", "dune"), ("ann", "emma"), ("bob", "emma"), ("bob", "ilium")),
    *(("cid", "dune"), ("cid", "ilium"), ("cid", "ulysses")),
]
USERS = ["ann", "bob", "cid"]
ITEMS = ["dune", "emma", "ilium", "ulysses"]


def store(library, distributions, **outputs):
    """Write the outputs of a library; those of the others stay."""
    found = json.loads(OUTPUTS.read_text(encoding="utf-8")) if OUTPUTS.exists() else {}
    versions = {name: importlib.metadata.version(name) for name in distributions}
    found[library] = {"versions": versions} | {
        name: _plain(value) for name, value in outputs.items()
    }
    OUTPUTS.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")


def _plain(value):
    """Return a frame as its columns, an array or tensor as its values, each with its dtypes."""
    if hasattr(value, "columns"):
        dtypes = {name: str(dtype) for name, dtype in value.dtypes.items()}
        return {"frame": {name: value[name].tolist() for name in value.columns}, "dtypes": dtypes}
    if hasattr(value, "dtype"):
        return {"array": value.tolist(), "dtype": str(value.dtype)}
    return value
