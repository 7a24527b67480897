"""The house stays as small as it was made, and its docstrings name the thing."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import house
from test_surface import ROOMS, SOURCES

BANNED = re.compile(
    r"(What|So many|How (far|many|much|often|sure)|Held|Which .*\b(are|may|is)\b|Whose|Where|The one)\b"
)
"""Openings of a first line that do not name the thing."""
# the public docstrings of two metrics, which say what they are about in their users' words
OF_METRICS = {"popularity_lift"}


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="3.12 counts no comprehensions as functions"
)
def test_no_count_is_above_its_bound():
    found = house.counts()

    assert found.keys() == house.BOUNDS.keys()
    assert {name: count for name, count in found.items() if count > house.BOUNDS[name]} == {}


def test_a_first_line_names_the_thing_and_that_of_a_module_has_few_words():
    written = SOURCES.keys() - house.GENERATED
    first_lines = [
        (path, node, (ast.get_docstring(node) or "").partition("\n")[0])
        for path in written
        for node in ast.walk(SOURCES[path])
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
    ]

    riddles = [
        (path, line)
        for path, node, line in first_lines
        if BANNED.match(line) and getattr(node, "name", "") not in OF_METRICS
    ]
    assert riddles == []
    long = [
        line
        for _, node, line in first_lines
        if isinstance(node, ast.Module) and len(line.split()) > 12
    ]
    assert long == []


TOP = Path(__file__).parents[2]
ARCHITECTURE = (TOP / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_architecture_names_files_that_there_are():
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", ARCHITECTURE))
    folders = [house.PACKAGE, TOP]

    assert len(named) > 50
    assert {name for name in named if not any((one / name).exists() for one in folders)} == set()


def test_the_architecture_has_the_rooms_in_the_order_of_their_imports():
    table = ARCHITECTURE.partition("| room | what it knows |")[2].partition("\n\n")[0]

    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == [
        room for room in ROOMS if room != "language"
    ]


def test_the_architecture_has_no_long_paragraph():
    long = [
        paragraph
        for paragraph in ARCHITECTURE.split("\n\n")
        if not paragraph.startswith(("|", "-")) and paragraph.count("\n") >= 5
    ]

    assert long == []
