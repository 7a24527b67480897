"""One fact in one place: what the registry, the namespace, the package and its own rules say of one another."""

from __future__ import annotations

import ast
import doctest
import importlib
import importlib.metadata
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import recframe as rf
from recframe.evaluation.required_columns import needs_of
from recframe.frames.options import Context
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import registered

BUILTIN = {name: metric for name, metric in registered().items() if metric.definition.builtin}
FOLDER = Path(rf.__file__).parent
SOURCES = {
    path.relative_to(FOLDER).as_posix(): ast.parse(path.read_text())
    for path in sorted(FOLDER.rglob("*.py"))
}
LINES = {path: (FOLDER / path).read_text(encoding="utf-8").splitlines() for path in SOURCES}
# the command line, which collects and prints
EDGE = {path for path in SOURCES if path.startswith("cli/")} | {"demo.py"}
MODULES = {
    ".".join(["recframe", *path.removesuffix(".py").removesuffix("/__init__").split("/")]): path
    for path in SOURCES
    if path != "__init__.py"
}

# what knows the kinds of frame apart, and which columns are at hand
KINDS = {path for path in SOURCES if path.startswith(("frames/kinds/", "engines/"))}
# Imports run from the left to the right alone; a room knows nothing of those before it.
ROOMS = (
    "cli", "api", "reports", "charts", "tracking", "statistics", "splits", "audit", "profiles",
    "evaluation", "metrics", "language", "side_info", "ranking", "readers", "engines", "frames",
    "atomic_write", "errors",
)  # fmt: skip
NO_FOLDERS = {"language", "atomic_write", "errors"}

# DESIGN.md, section 3: counts and ranks, nobody's invention
COUNTS = {"n_hits", "first_rank", "list_length"}
PAGES = {
    path: tree for path, tree in SOURCES.items() if re.fullmatch(r"metrics/[a-z_]+[a-z]\.py", path)
}
TWO_HITS = '''

@metric(range=(0.0, 1.0), direction="higher", formula="1 if there are two hits, else 0")
def two_hits(at: At) -> pl.Expr:
    """Share of the users with at least two hits."""
    return (at.n_hits >= 2).cast(pl.Float64)
'''
"""What is written on a page to add a metric."""


def nodes(path: str, *kinds: type[ast.AST]) -> list[Any]:
    """Return the nodes of some kinds in a source."""
    return [node for node in ast.walk(SOURCES[path]) if isinstance(node, kinds)]


def offenders(finds: Callable[[str], Any], paths: Iterable[str] = SOURCES) -> dict[str, Any]:
    """Return what is found against a rule of the house, by file."""
    return {path: found for path in paths if (found := finds(path))}


def test_the_package_exports_every_metric_and_no_other():
    exported = {name for name in dir(rf) if isinstance(getattr(rf, name), Metric)}
    attributes = {name for name, value in vars(rf).items() if isinstance(value, Metric)}

    assert exported == attributes == BUILTIN.keys()
    for name, metric in BUILTIN.items():
        assert getattr(rf, name) is metric


def test_every_metric_is_a_method_in_the_body_of_rec():
    methods = {
        name: value
        for one in rf.Rec.__mro__
        for name, value in vars(one).items()
        if isinstance(value, Metric)
    }

    assert methods == BUILTIN
    for name, metric in BUILTIN.items():
        assert methods[name] is metric


def test_a_metric_is_written_on_its_page_alone(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "recframe", ignore=shutil.ignore_patterns("__pycache__"))
    page = tmp_path / "recframe" / "metrics" / "accuracy.py"
    page.write_text(page.read_text().replace("__all__ = [", '__all__ = ["two_hits", ') + TWO_HITS)
    asks = """
        import polars as pl, recframe as rf, readme
        frame = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
        assert frame.rec.two_hits(k=2) == rf.rec(frame).evaluate("two_hits")["two_hits"].item() == 1
        assert "two_hits" in {*rf.__all__, *dir(frame.rec)}
        assert "two_hits" in {*rf.list_metrics()["name"]}
        assert "    two_hits = metrics.two_hits\\n" in readme.methods()
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path(__file__).parent)]),
    }
    subprocess.run([sys.executable, "-c", inspect.cleandoc(asks)], check=True, env=environment)  # noqa: S603


def test_a_page_of_metrics_names_them_and_says_of_each_what_it_is():
    for page, tree in PAGES.items():
        module = importlib.import_module(f"recframe.{page[:-3].replace('/', '.')}")
        defined = {
            one.name: one.decorator_list[-1]
            for one in tree.body
            if getattr(one, "decorator_list", None)
        }

        assert sorted(defined) == module.__all__, page
        for name, about in defined.items():
            stated = {keyword.arg for keyword in about.keywords}
            assert stated >= {"range", "direction", "formula"}, name


def test_the_names_that_are_exported_are_sorted_and_exist():
    assert rf.__all__ == sorted(rf.__all__)
    assert len(set(rf.__all__)) == len(rf.__all__)
    for name in rf.__all__:
        assert getattr(rf, name) is not None


def test_the_table_of_metrics_is_the_registry():
    table = rf.list_metrics()

    assert table.columns == (
        [
            "name", "aliases", "parameters", "range", "direction", "family", "shape", "over",
            "formula", "needs",
        ]
    )  # fmt: skip
    assert table["name"].to_list() == list(registered())
    for row in table.iter_rows(named=True):
        definition = registered()[row["name"]].definition
        assert row["aliases"] == ", ".join(definition.aliases)
        for name in ("formula", "direction", "family", "shape", "over"):
            assert row[name] == getattr(definition, name)
        assert row["needs"] == ", ".join(definition.needs)
        assert [float(end) for end in row["range"].strip("[]").split(",")] == list(definition.range)
        for parameter in definition.parameters:
            assert f"{parameter}=" in row["parameters"]


def test_every_alias_of_the_table_parses_to_its_metric():
    for row in rf.list_metrics().iter_rows(named=True):
        for alias in [row["name"], *filter(None, row["aliases"].split(", "))]:
            assert rf.parse(alias) == rf.parse(alias.upper()) == registered()[row["name"]]


def test_a_metric_says_what_it_is():
    for name, metric in BUILTIN.items():
        about = metric.definition

        assert about.formula, name
        assert about.range[0] < about.range[1], name
        assert about.shape in {"user", "set"}, name
        assert about.direction in {"higher", "lower", ""}, name


def test_a_metric_needs_what_its_words_ask_for():
    for name, metric in BUILTIN.items():
        about = metric.definition
        asked = {need for fact in needs_of(metric @ 10).facts for need in fact.builder.needs}

        assert about.over == "lists" or about.shape == "user", name
        assert asked == set(about.needs), name


def test_a_metric_has_a_docstring_with_its_use_empty_case_parameters_and_source():
    for name, metric in BUILTIN.items():
        text = metric.__doc__
        first, use = text.split("\n\n")[:2]

        assert first.endswith("."), name
        assert len(first) < 130, name
        assert re.match(r"Use it (.|\n)*(Not|Otherwise) ", use), name
        for parameter in metric.definition.parameters:
            said = rf"`{parameter}\b|\b{parameter} cancels|base of the logarithm"
            assert re.search(said, text), (name, parameter)
        assert bool(re.search(r"\nSource: \w.*\.$", text)) == (name not in COUNTS), name
        assert ("Source:" in text) == (name not in COUNTS), name


def test_the_example_of_a_metric_runs():
    # pytest looks for doctests in functions and classes, and a metric is an object
    for name, metric in BUILTIN.items():
        example = doctest.DocTestParser().get_doctest(metric.__doc__, {}, name, None, None)
        report: list[str] = []
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)

        failed, attempted = runner.run(example, out=report.append)

        assert attempted, name
        assert not failed, "".join(report)
        call = rf"df\.rec(\(.*\))?\.{name}\("
        assert any(re.search(call, one.source) for one in example.examples), name


def public_functions() -> Iterator[tuple[str, Any]]:
    """Walk the public functions and the public methods of public classes, under their names."""
    for name in rf.__all__:
        value = getattr(rf, name)
        if inspect.isclass(value):
            members = {
                f"{name}.{member}": found
                for member, found in vars(value).items()
                if not member.startswith("_")
            }
            yield from (
                (member, found) for member, found in members.items() if inspect.isfunction(found)
            )
        elif inspect.isfunction(value):
            yield name, value


def test_a_public_function_takes_all_but_two_arguments_by_name():
    positional = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}
    for name, function in public_functions():
        parameters = [
            one for one in inspect.signature(function).parameters.values() if one.name != "self"
        ]

        assert sum(one.kind in positional for one in parameters) <= 2, name


def words(of: type) -> dict[str, Any]:
    """Return the words of a class, each with what defines it."""
    return {
        name: value
        for name, value in vars(of).items()
        if not name.startswith("_") and (isinstance(value, property) or inspect.isfunction(value))
    }


WORDS = words(rf.At)


def test_there_are_words_to_write_metrics_in():
    # DESIGN.md, section 4: the words by which it describes the glossary
    assert set(WORDS) >= {
        "rank", "gain", "hit", "hits_so_far", "discount", "n_relevant", "list_length",
    }  # fmt: skip


def test_a_word_is_documented_and_named_in_the_overview():
    for of in (rf.At, rf.AtLists):
        for word, value in words(of).items():
            text = (value.fget if isinstance(value, property) else value).__doc__

            assert text.strip().partition("\n")[0].endswith((".", ";", ",")), word
            assert re.search(rf"`{word}\b", of.__doc__), word


def test_an_unknown_word_says_which_there_are():
    seen = []

    def function(at: rf.At):
        with pytest.raises(
            AttributeError, match=r"'hits_sofar' is not a word .*; did you mean 'hits_so_far'"
        ) as error:
            at.hits_sofar  # noqa: B018
        seen.append(str(error.value))
        return at.hit.sum()

    from recframe.metrics.language.definition import Definition  # noqa: PLC0415  not registered: the definition alone

    Metric(Definition("asks", function)).expr(k=3)

    assert all(word in seen[0] for word in WORDS)


UNBOUND = {"by", "folds", "bounds", "split", "without", "given"}


def test_rec_binds_what_a_context_holds():
    options = [
        one for one in inspect.signature(rf.Rec.__call__).parameters.values() if one.name != "self"
    ]

    by_position = [one.name for one in options if one.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert by_position == ["truth"]
    assert [one.name for one in options] == [
        field.name for field in fields(Context) if field.init and field.name not in UNBOUND
    ]


def test_every_option_of_rec_is_in_its_docstring():
    for field in fields(Context):
        if field.init and field.name not in UNBOUND:
            assert re.search(rf"\b{field.name}(:|,)", rf.Rec.__call__.__doc__), field.name


def test_no_module_is_named_like_a_public_object_or_for_nothing():
    modules = {
        one.name.rpartition(".")[2] for one in pkgutil.walk_packages(rf.__path__, "recframe.")
    }

    assert modules >= {"registry", "at", "metrics_of_lists", "accuracy"}
    assert not modules & set(rf.__all__)
    assert not modules & {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}


def room(module: str) -> str:
    """Return the room that a module stands in."""
    parts = module.split(".")[1:]
    return "language" if parts[:2] == ["metrics", "language"] else parts[0] if parts else ""


def imported(path: str) -> set[str]:
    """Return the modules of recframe that a file imports, at whatever place."""
    nodes = [
        node for node in ast.walk(SOURCES[path]) if isinstance(node, ast.ImportFrom) and node.module
    ]
    taken = {(node.module, f"{node.module}.{name.name}") for node in nodes for name in node.names}
    return {inner if inner in MODULES else outer for outer, inner in taken} & MODULES.keys()


def test_imports_run_one_way_between_rooms():
    for module, path in MODULES.items():
        own = room(module)
        if own in ROOMS:
            below = ROOMS[ROOMS.index(own) :]
            assert {room(one) for one in imported(path)} - {"", "demo"} <= {*below}, path


def test_no_files_import_one_another_in_a_circle():
    after = {module: imported(path) - {module} for module, path in MODULES.items()}
    while free := [module for module, needs in after.items() if not needs & after.keys()]:
        for module in free:
            del after[module]

    assert not after


def test_rooms_are_those_whose_imports_have_an_order():
    rooms = {path.partition("/")[0] for path in SOURCES}

    assert {one for one in rooms if not one.endswith(".py")} == {*ROOMS} - NO_FOLDERS


TESTS = Path(__file__).parents[1]
BESIDE_ROOMS = {"agreement", "benchmarks", "laws", "mutants", "recorders", "support", "surface"}


def test_each_room_has_its_folder_of_tests():
    folders = {path.name for path in TESTS.iterdir() if path.is_dir() and path.name[0] not in "._"}

    assert folders == {*ROOMS} - NO_FOLDERS | BESIDE_ROOMS
    assert all(
        [*(TESTS / folder).rglob("test_*.py")]
        for folder in folders - {"benchmarks", "mutants", "recorders", "support"}
    )


def test_files_of_tests_are_short_and_have_names_of_their_own():
    paths = [
        path
        for path in TESTS.rglob("*.py")
        if {"benchmarks", "recorded", "recorders"}.isdisjoint(path.parts)
    ]
    names = [path.name for path in paths if path.name != "conftest.py"]

    assert len(set(names)) == len(names)
    assert not [
        path.name for path in paths if len(path.read_text(encoding="utf-8").splitlines()) >= 650
    ]


def test_a_file_is_short():
    assert not offenders(lambda path: len(LINES[path]) >= 600)


def functions(path: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return nodes(path, ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(path: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return the number of lines of a function's body that hold code."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    if not body:
        return 0
    lines = LINES[path][body[0].lineno - 1 : function.end_lineno]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


def test_functions_are_short():
    def long(path: str) -> dict[str, int]:
        lengths = {one.name: code_lines(path, one) for one in functions(path)}
        return {name: length for name, length in lengths.items() if length > 40}

    assert not offenders(long)


OF_HINTS = [
    path
    for path in SOURCES
    if path.partition("/")[0] in {"frames", "ranking", "side_info", "evaluation", "audit"}
    and path != "frames/hints.py"
]


def test_what_a_message_tells_to_bind_is_a_hint():
    def written_out(path: str) -> list[Any]:
        # frames/hints.py has other words for a shell
        in_python = [
            *nodes(path, ast.Expr),
            *(call for call in nodes(path, ast.Call) if ast.unparse(call.func) == "Either"),
        ]
        allowed = {inner for node in in_python for inner in ast.walk(node)}
        written = {*nodes(path, ast.Constant)} - allowed
        return [node.value for node in written if "rec(" in str(node.value)]

    assert not offenders(written_out, OF_HINTS)


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def test_a_comprehension_holds_no_other():
    def holding(path: str) -> list[int]:
        return [
            one.lineno
            for one in nodes(path, *COMPREHENSIONS)
            for inner in ast.walk(one)
            if inner is not one and isinstance(inner, COMPREHENSIONS)
        ]

    assert not offenders(holding)


def test_a_comment_is_no_banner():
    def banners(path: str) -> list[str]:
        return [line for line in LINES[path] if re.match(r" *# *[-=#*]{2,}", line)]

    assert not offenders(banners)


def called(path: str) -> set[str]:
    """Return the names of the methods that a file calls."""
    calls = [node.func for node in nodes(path, ast.Call)]
    return {call.attr for call in calls if isinstance(call, ast.Attribute)}


VISITS = {
    "iter_rows", "iter_slices", "iterrows", "itertuples", "map_batches", "map_elements",
    "map_groups", "map_rows", "partition_by", "rows_by_key",
}  # fmt: skip


def test_no_row_user_or_group_is_visited_by_python():
    def visits(path: str) -> set[str]:
        allowed = {"iter_rows"} if path in EDGE else set()  # which prints results
        # a seam that finishes the result of a plan, a row for each segment, with NumPy
        allowed |= {"map_batches"} if path == "frames/kinds/kind.py" else set()
        # the whole frame of a call, in place of one that stands in for it
        allowed |= {"map_batches"} if path == "evaluation/plan.py" else set()
        # buckets of users, of many rows at a time
        of_buckets = {"engines/sent_rows.py"}
        allowed |= {"partition_by"} if path in of_buckets else set()
        return called(path) & VISITS - allowed

    assert not offenders(visits)


COLLECTS = {"collect", "collect_all", "collect_async", "collect_batches", "fetch", "profile"}


def test_plans_are_collected_at_the_edge_alone():
    collecting = offenders(lambda path: called(path) & COLLECTS)

    assert collecting.keys() <= {"frames/kinds/kind.py", *EDGE}


def test_the_kind_of_frame_is_asked_for_in_its_own_file():
    def asked(path: str) -> set[str]:
        names = {
            name.attr
            for call in nodes(path, ast.Call)
            if isinstance(call.func, ast.Name) and call.func.id == "isinstance"
            for name in ast.walk(call)
            if isinstance(name, ast.Attribute)
        }
        return names & {"DataFrame", "LazyFrame", "Series"}

    def turned(path: str) -> set[str]:
        names = {node.attr for node in nodes(path, ast.Attribute)}
        return names & {"to_pandas", "from_pandas", "to_arrow", "from_arrow"}

    assert not offenders(asked, SOURCES.keys() - KINDS)
    assert not offenders(turned, SOURCES.keys() - KINDS - EDGE)


def test_no_branch_is_on_the_name_of_a_metric():
    # also words of Python and of this package, a model of the demo, and a column of many frames
    names = BUILTIN.keys() - {"map", "judged", "popularity", "value"}

    def compared(path: str) -> set[Any]:
        return names & {
            constant.value
            for node in nodes(path, ast.Compare, ast.match_case)
            for constant in ast.walk(node)
            if isinstance(constant, ast.Constant)
        }

    assert not offenders(compared, [path for path in SOURCES if not path.startswith("metrics/")])


def test_the_version_is_the_one_that_is_installed():
    assert importlib.metadata.version("recframe") == rf.__version__


def test_the_package_is_typed():
    assert (FOLDER / "py.typed").is_file()
