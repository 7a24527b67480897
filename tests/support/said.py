"""What calls of a room say: `said.txt` has calls, each with the class and the words of its error or warning.

`python tests/support/said.py` writes what is said now, for a reader of the diff to judge. Statements that only prepare
say nothing. Beside Polars, recframe and NumPy, a file's code has the names of `asking`.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import polars as pl

import asking
import recframe as rf
from recframe.metrics.language import registry

FILES = sorted(Path(__file__).parents[1].glob("*/said.txt"))
CLASSES = (
    rf.RecframeError,
    rf.RecframeWarning,
    AttributeError,
    click.ClickException,
    pl.exceptions.PolarsError,
)
"""Of what errors and warnings are: the first is a ValueError too."""
SILENT = "nothing"


def said_now(text: str) -> str:
    """Return a file with what its calls say now."""
    names = {"np": np, "pd": pd, "pl": pl, "rf": rf, **vars(asking)}
    before = registry.registered()
    parts = []
    try:
        for code in calls(text):
            words = [*_words(code, names)]
            is_call = isinstance(ast.parse(code).body[-1], ast.Expr)
            shown = textwrap.indent(code, "... ").replace("... ", ">>> ", 1)
            parts.append("\n".join([shown, *(words or [SILENT] * is_call)]))
    finally:
        registry._registry.clear()
        registry._registry.update(before)
    return "\n".join(parts) + "\n"


def calls(text: str) -> Iterator[str]:
    """Yield the code of each call."""
    code: list[str] = []
    for line in text.splitlines():
        if line.startswith(">>> ") and code:
            yield "\n".join(code)
            code = []
        if line.startswith((">>> ", "... ")):
            code.append(line[4:])
    yield "\n".join(code)


def _words(code: str, names: dict[str, Any]) -> Iterator[str]:
    """Run a call and yield the class and the words of each warning, and of its error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        error = None
        try:
            exec(code, names)  # noqa: S102  the calls of our own files
        except CLASSES as raised:
            error = raised
    for one in [*(warning.message for warning in told), *[error] * (error is not None)]:
        assert isinstance(one, CLASSES), one
        # Polars shows the plan beside what recframe says in it
        of_plan = re.search(r"for recframe: (.*?) \(end of message\)", str(one), re.DOTALL)
        text = of_plan[1] if of_plan and isinstance(one, pl.exceptions.PolarsError) else str(one)
        yield f"{type(one).__name__}: {text}".replace("\n", "\n    ")


if __name__ == "__main__":
    for path in FILES:
        if path.parent.name in sys.argv[1:] or not sys.argv[1:]:
            path.write_text(said_now(path.read_text(encoding="utf-8")), encoding="utf-8")
