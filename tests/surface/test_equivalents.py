"""The page Equivalents has a cell for each metric that a library's source has: a name that is read, a call, or why not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import recframe as rf

HERE = Path(__file__).parents[1]
NAMES: dict[str, list[str]] = json.loads(
    (HERE / "recorders" / "names.json").read_text(encoding="utf-8")
)
PAGE = (HERE.parent / "docs" / "equivalents.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")
NONE = "–"  # noqa: RUF001  the dash that the page has
ROW = re.compile(r"\| (.+?) \| (.+?) \| ?(.*?) ?\|")


def rows(library: str) -> list[tuple[list[str], str, str]]:
    """The rows of a library's table: its names, the cell of ours, and what is noted."""
    section = PAGE.partition(f"\n## {library}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    cells = [ROW.fullmatch(line) for line in lines]
    assert all(cells), lines
    return [(CODE.findall(one[1]), one[2], one[3]) for one in cells if one]


def test_each_metric_of_a_library_has_a_cell_with_a_name_that_is_read_or_a_call_or_a_reason():
    for library, named in NAMES.items():
        table = rows(library)
        assert sorted(name for names, _, _ in table for name in names) == sorted(named), library
        for names, cell, note in table:
            codes = CODE.findall(cell)
            if cell == NONE:
                assert note, names
            else:
                assert cell == ", ".join(f"`{code}`" for code in codes), names
            for code in codes:
                place, _, name = code.partition(".")
                if place in {"rec", "rf"}:
                    assert hasattr({"rec": rf.Rec, "rf": rf}[place], name), code
                else:
                    assert rf.parse(code).as_stated == code
