"""The house stays as small as it was made, and each file of it keeps its rules."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import house
from house import SOURCES, WRITTEN, Source
from recframe.metrics.language.registry import registered

TOP = Path(__file__).parents[2]
ARCHITECTURE = (TOP / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="3.12 counts no comprehensions as functions"
)
def test_no_count_is_above_its_bound():
    found = house.counts()

    assert found.keys() == house.BOUNDS.keys()
    assert {name: count for name, count in found.items() if count > house.BOUNDS[name]} == {}


# Rules: each is given the name of a file and the file, and returns what it has that it may not have

Rule = Callable[[str, Source], Any]
RULES: dict[str, Rule] = {}


def rule(finds: Rule) -> Rule:
    RULES[finds.__name__] = finds
    return finds


# openings of a first line that do not name the thing
RIDDLE = re.compile(
    r"(What|So many|How (far|many|much|often|sure)|Held|Which .*\b(are|may|is)\b|Whose|Where|The one)\b"
)


@rule
def a_first_line_names_the_thing_and_that_of_a_module_has_few_words(path, source):
    if path not in WRITTEN:
        return []
    lines = []
    for node in source.of(ast.Module, ast.ClassDef, ast.FunctionDef):
        line = (ast.get_docstring(node) or "").partition("\n")[0]
        is_long = isinstance(node, ast.Module) and len(line.split()) > 12
        # the docstring of a metric says what it is about in its users' words
        is_riddle = RIDDLE.match(line) and getattr(node, "name", "") != "popularity_lift"
        lines += [line] * bool(is_long or is_riddle)
    return lines


@rule
def a_file_is_short(_, source):
    return source.text.count("\n") >= 600


@rule
def a_function_is_short(_, source):
    lines, long = source.text.splitlines(), {}
    for one in source.of(ast.FunctionDef, ast.AsyncFunctionDef):
        body = one.body[ast.get_docstring(one) is not None :]
        code = lines[body[0].lineno - 1 : one.end_lineno] if body else []
        n_lines = sum(bool(line.strip()) and not line.strip().startswith("#") for line in code)
        long |= {one.name: n_lines} if n_lines > 40 else {}
    return long


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@rule
def a_comprehension_holds_no_other(_, source):
    return [
        one.lineno
        for one in source.of(*COMPREHENSIONS)
        if sum(isinstance(inner, COMPREHENSIONS) for inner in ast.walk(one)) > 1
    ]


OF_HINTS = ("frames/", "ranking/", "side_info/", "evaluation/", "audit/")


@rule
def what_a_message_tells_to_bind_is_a_hint(path, source):
    # frames/hints.py has other words for a shell
    if not path.startswith(OF_HINTS) or path == "frames/hints.py":
        return []
    calls = [one for one in source.of(ast.Call) if ast.unparse(one.func) == "Either"]
    in_python = {inner for node in [*source.of(ast.Expr), *calls] for inner in ast.walk(node)}
    written = {*source.of(ast.Constant)} - in_python
    return [node.value for node in written if "rec(" in str(node.value)]


# the command line, which collects and prints
EDGE = ("cli/", "demo.py")
VISITS = {
    "iter_rows", "iter_slices", "iterrows", "itertuples", "map_batches", "map_elements",
    "map_groups", "map_rows", "partition_by", "rows_by_key",
}  # fmt: skip
MAY_VISIT = {
    "cli/": {"iter_rows"},  # it prints results
    "demo.py": {"iter_rows"},
    "frames/kinds/kind.py": {"map_batches"},  # the result of a plan, a row for each segment
    "evaluation/plan.py": {"map_batches"},  # the whole frame of a call
    "engines/sent_rows.py": {"partition_by"},  # buckets of users, of many rows at a time
}
COLLECTS = {"collect", "collect_all", "collect_async", "collect_batches", "fetch", "profile"}


def called(source: Source) -> set[str]:
    """Return the names of the methods that a file calls."""
    calls = [node.func for node in source.of(ast.Call)]
    return {call.attr for call in calls if isinstance(call, ast.Attribute)}


@rule
def no_row_user_or_group_is_visited_by_python(path, source):
    allowed = {one for start, some in MAY_VISIT.items() if path.startswith(start) for one in some}
    return called(source) & VISITS - allowed


@rule
def plans_are_collected_at_the_edge_alone(path, source):
    return not path.startswith(("frames/kinds/kind.py", *EDGE)) and called(source) & COLLECTS


@rule
def the_kind_of_frame_is_asked_for_in_its_own_file(path, source):
    if path.startswith(("frames/kinds/", "engines/")):
        return set()
    calls = [one for one in source.of(ast.Call) if ast.unparse(one.func) == "isinstance"]
    within = [inner for one in calls for inner in ast.walk(one)]
    asked = {one.attr for one in within if isinstance(one, ast.Attribute)}
    turned = {one.attr for one in source.of(ast.Attribute)} if not path.startswith(EDGE) else set()
    return asked & {"DataFrame", "LazyFrame", "Series"} | turned & {
        "to_pandas", "from_pandas", "to_arrow", "from_arrow",
    }  # fmt: skip


# also words of Python and of this package, a model of the demo, and a column of many frames
AMBIGUOUS = {"map", "judged", "popularity", "value"}


@rule
def no_branch_is_on_the_name_of_a_metric(path, source):
    if path.startswith("metrics/"):
        return set()
    builtin = {name for name, one in registered().items() if one.definition.builtin}
    compared = source.of(ast.Compare, ast.match_case)
    constants = [
        one for node in compared for one in ast.walk(node) if isinstance(one, ast.Constant)
    ]
    return (builtin - AMBIGUOUS) & {one.value for one in constants}


@pytest.mark.parametrize("name", RULES)
def test_each_file_keeps_a_rule(name):
    found = {path: RULES[name](path, source) for path, source in SOURCES.items()}

    assert {path: one for path, one in found.items() if one} == {}


# Rooms: imports run from the left to the right alone; a room knows nothing of those before it

ROOMS = (
    "cli", "api", "reports", "charts", "tracking", "statistics", "splits", "audit", "profiles",
    "evaluation", "metrics", "language", "side_info", "ranking", "readers", "engines", "frames",
    "atomic_write", "errors",
)  # fmt: skip
FOLDERS = {*ROOMS} - {"language", "atomic_write", "errors"}
MODULES = {
    ".".join(["recframe", *path.removesuffix(".py").removesuffix("/__init__").split("/")]): path
    for path in SOURCES
    if path != "__init__.py"
}


def room(module: str) -> str:
    """Return the room that a module stands in."""
    parts = module.split(".")[1:]
    return "language" if parts[:2] == ["metrics", "language"] else parts[0] if parts else ""


def imported(path: str) -> set[str]:
    """Return the modules of recframe that a file imports, at whatever place."""
    froms = SOURCES[path].of(ast.ImportFrom)
    taken = {(node.module, f"{node.module}.{name.name}") for node in froms for name in node.names}
    return {inner if inner in MODULES else outer for outer, inner in taken} & MODULES.keys()


def test_imports_run_one_way_between_rooms_and_never_in_a_circle():
    after = {module: imported(path) - {module} for module, path in MODULES.items()}
    for module, needs in after.items():
        if room(module) in ROOMS:
            below = {*ROOMS[ROOMS.index(room(module)) :], "", "demo"}
            assert {room(one) for one in needs} <= below, module
    while free := [module for module, needs in after.items() if not needs & after.keys()]:
        for module in free:
            del after[module]

    assert not after


OTHER_TESTS = {"agreement", "benchmarks", "laws", "mutants", "recorders", "support", "surface"}


def test_rooms_are_those_of_the_architecture_and_each_has_its_tests():
    table = ARCHITECTURE.partition("| room | what it knows |")[2].partition("\n\n")[0]
    named = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    places = [path.relative_to(house.TESTS).parts for path in house.TESTS.rglob("test_*.py")]
    with_tests = {folder for folder, *inside in places if inside}

    assert {path.partition("/")[0] for path in SOURCES if "/" in path} == FOLDERS
    assert named == [room for room in ROOMS if room != "language"]
    assert FOLDERS <= with_tests <= FOLDERS | OTHER_TESTS


def test_files_of_tests_are_short():
    lengths = {path.name: path.read_text("utf-8").count("\n") for path in house.tests()}

    assert {name: length for name, length in lengths.items() if length >= 650} == {}


def test_the_architecture_names_files_that_there_are_and_has_no_long_paragraph():
    named = set(re.findall(r"`((?:\w+/)*\w+\.py)`", ARCHITECTURE))
    folders = [house.PACKAGE, TOP]

    assert len(named) > 50
    assert {name for name in named if not any((one / name).exists() for one in folders)} == set()
    for paragraph in ARCHITECTURE.split("\n\n"):
        assert paragraph.startswith(("|", "-")) or paragraph.count("\n") < 5, paragraph
