"""Counts of the house: syntax, files, rooms, and the walk of two first calls; `python tests/surface/house.py` prints them.

BOUNDS holds what was reached. The bounds only fall, in the commit that earns it; what needs more takes something else away.
"""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import recframe

PACKAGE = Path(recframe.__file__).parent
TESTS = Path(__file__).parents[1]
GENERATED = {"api/methods.py"}
WALKS = {
    "ndcg": "judged.rec.ndcg(k=10)",
    "compare": 'models.rec(model="model").compare("ndcg@10")',
}
"""First calls, each made in a fresh process, on 60 judged rows or on those of two models."""
BOUNDS = {
    "nodes": 240_656,
    "lines": 34_480,
    "files": 171,
    "files_out_of_size": 23,
    "nodes_a_line": 6.98,
    "rooms": 19,
    "ndcg_files": 17,
    "ndcg_functions": 191,
    "ndcg_calls": 242,
    "ndcg_changes": 118,
    "compare_files": 29,
    "compare_functions": 274,
    "compare_calls": 704,
    "compare_changes": 208,
    "lines_of_tests": 34_930,
}
"""The largest value that each count may have."""


class Source(NamedTuple):
    """A file of the package, which is read and parsed once for all that is asked of it."""

    text: str
    nodes: list[ast.AST]

    def of(self, *kinds: type[ast.AST]) -> list[Any]:
        return [node for node in self.nodes if isinstance(node, kinds)]


SOURCES: dict[str, Source] = {}
for _path in sorted(PACKAGE.rglob("*.py")):
    _text = _path.read_text("utf-8")
    SOURCES[_path.relative_to(PACKAGE).as_posix()] = Source(_text, [*ast.walk(ast.parse(_text))])
WRITTEN = {name: source for name, source in SOURCES.items() if name not in GENERATED}
"""The files that are written by hand."""


def counts() -> dict[str, float]:
    """Return each count by its name."""
    nodes = sum(len(source.nodes) for source in WRITTEN.values())
    lengths = {name: source.text.count("\n") for name, source in WRITTEN.items()}
    sized = [
        length
        for name, length in lengths.items()
        if not name.endswith(("__init__.py", "__main__.py"))
    ]
    found = {
        "nodes": nodes,
        "lines": sum(lengths.values()),
        "files": len(WRITTEN),
        "files_out_of_size": sum(not 100 <= length <= 600 for length in sized),
        "nodes_a_line": round(nodes / sum(lengths.values()), 2),
        "rooms": len({name.rpartition("/")[0] for name in WRITTEN} - {""}),
    }
    for name, call in WALKS.items():
        found |= {f"{name}_{what}": count for what, count in walk(call).items()}
    return found | {"lines_of_tests": sum(path.read_text("utf-8").count("\n") for path in tests())}


def tests() -> list[Path]:
    """Return the files of tests that are written by hand."""
    apart = {"recorded", "recorders"}
    return [path for path in TESTS.rglob("*.py") if apart.isdisjoint(path.parts)]


def walk(call: str) -> dict[str, int]:
    """Return how many of the package's files and functions a call meets, how often it calls, and how often the file changes."""
    follow = """
        import json, sys, polars as pl, recframe
        judged = pl.select(row=pl.int_range(60)).select(
            user=pl.col("row") // 10,
            item=pl.col("row") % 10,
            rank=pl.col("row") % 10 + 1,
            relevance=pl.col("row") // 10 * pl.col("row") % 3,
        )
        models = pl.concat([judged.with_columns(model=pl.lit(name)) for name in "ab"])
        steps = []

        def step(frame, event, _):
            if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
                steps.append(frame.f_code)

        sys.setprofile(step)
        CALL
        sys.setprofile(None)
        files = [code.co_filename for code in steps]
        changes = sum(one != other for one, other in zip(files, files[1:]))
        counts = [len(set(files)), len(set(steps)), len(steps), changes]
        print(json.dumps(dict(zip(["files", "functions", "calls", "changes"], counts))))
    """
    script = inspect.cleandoc(follow).replace("PACKAGE", repr(str(PACKAGE))).replace("CALL", call)
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    steps: dict[str, int] = json.loads(done.stdout)
    return steps


if __name__ == "__main__":
    for name, count in counts().items():
        print(f"{name:>18} {count:>10,} of {BOUNDS[name]:,}")  # noqa: T201
