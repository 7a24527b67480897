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
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import recframe as rf
from house import PACKAGE
from recframe.frames.options import Context
from recframe.metrics.language.definition import Definition, Metric
from recframe.metrics.language.registry import registered

BUILTIN = {name: metric for name, metric in registered().items() if metric.definition.builtin}
# DESIGN.md, section 3: counts and ranks, nobody's invention
COUNTS = {"n_hits", "first_rank", "list_length"}
TWO_HITS = '''

@metric(range=(0.0, 1.0), direction="higher", formula="1 if there are two hits, else 0")
def two_hits(at: At) -> pl.Expr:
    """Share of the users with at least two hits.

    1 with so many hits, else 0.

    Source: nobody.
    """
    return (at.n_hits >= 2).cast(pl.Float64)
'''
"""What is written on a page to add a metric."""


def test_every_metric_is_exported_and_a_method_in_the_body_of_rec():
    of_package = {name: one for name, one in vars(rf).items() if isinstance(one, Metric)}
    of_rec = {
        name: one
        for owner in rf.Rec.__mro__
        for name, one in vars(owner).items()
        if isinstance(one, Metric)
    }

    assert {name for name in dir(rf) if isinstance(getattr(rf, name), Metric)} == {*BUILTIN}
    for found in (of_package, of_rec):
        assert {name: id(one) for name, one in found.items()} == {
            name: id(one) for name, one in BUILTIN.items()
        }


def test_a_metric_is_written_on_its_page_alone(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "recframe", ignore=shutil.ignore_patterns("__pycache__"))
    page = tmp_path / "recframe" / "metrics" / "accuracy.py"
    page.write_text(page.read_text().replace("__all__ = [", '__all__ = ["two_hits", ') + TWO_HITS)
    asks = """
        import metrics, polars as pl, recframe as rf, readme
        frame = pl.DataFrame({"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [1, 1]})
        assert frame.rec.two_hits(k=2) == rf.rec(frame).evaluate("two_hits")["two_hits"].item() == 1
        assert "two_hits" in {*rf.__all__, *dir(frame.rec)}
        assert "two_hits" in {*rf.list_metrics()["name"]}
        assert "    two_hits = metrics.two_hits\\n" in readme.methods()
        assert "1 if there are two hits, else 0" in metrics.page(rf.two_hits)
    """
    here = Path(__file__).parent
    paths = os.pathsep.join(map(str, [tmp_path, here, here.parents[1] / "docs" / "_build"]))
    command = [sys.executable, "-c", inspect.cleandoc(asks)]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths})  # noqa: S603


def test_a_page_of_metrics_names_them_and_says_of_each_what_it_is():
    for page in sorted((PACKAGE / "metrics").glob("[a-z]*[a-z].py")):
        module = importlib.import_module(f"recframe.metrics.{page.stem}")
        for one in ast.parse(page.read_text(encoding="utf-8")).body:
            if getattr(one, "decorator_list", None):
                assert one.name in module.__all__
                stated = {keyword.arg for keyword in one.decorator_list[-1].keywords}
                assert stated >= {"range", "direction", "formula"}, one.name


def test_the_names_that_are_exported_are_sorted_and_exist():
    assert rf.__all__ == sorted({*rf.__all__})
    assert all(getattr(rf, name) is not None for name in rf.__all__)


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
        assert [float(end) for end in row["range"].strip("[]").split(",")] == list(definition.range)
        for parameter in definition.parameters:
            assert f"{parameter}=" in row["parameters"]


def test_every_alias_of_the_table_parses_to_its_metric():
    for row in rf.list_metrics().iter_rows(named=True):
        for alias in [row["name"], *filter(None, row["aliases"].split(", "))]:
            assert rf.parse(alias) == rf.parse(alias.upper()) == registered()[row["name"]]


def test_the_table_says_what_a_metric_needs():
    needs = dict(rf.list_metrics().select("name", "needs").iter_rows())

    assert needs["ndcg"] == needs["bpm"] == ""
    assert needs["novelty"] == "train"
    assert needs["serendipity"] == "items, relevance, train"
    for name, metric in BUILTIN.items():
        assert metric.definition.over == "lists" or metric.definition.shape == "user", name


def test_a_metric_says_what_it_is_its_use_empty_case_parameters_and_source():
    for name, metric in BUILTIN.items():
        about, text = metric.definition, metric.__doc__
        first, use = text.split("\n\n")[:2]

        assert about.formula, name
        assert about.range[0] < about.range[1], name
        assert first.endswith("."), name
        assert len(first) < 130, name
        assert re.match(r"Use it (.|\n)*(Not|Otherwise) ", use), name
        for parameter in about.parameters:
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


def test_a_public_function_takes_all_but_two_arguments_by_name():
    public = {name: getattr(rf, name) for name in rf.__all__}
    for name, of in [(name, one) for name, one in public.items() if inspect.isclass(one)]:
        public |= {f"{name}.{own}": one for own, one in vars(of).items() if own[0] != "_"}
    for name, function in public.items():
        if inspect.isfunction(function):
            kinds = [
                one.kind
                for one in inspect.signature(function).parameters.values()
                if one.name != "self"
            ]
            by_position = {
                inspect.Parameter.POSITIONAL_ONLY,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
            }
            assert sum(kind in by_position for kind in kinds) <= 2, name


def words(of: type) -> dict[str, Any]:
    """Return the words of a class, each with what defines it."""
    return {
        name: value
        for name, value in vars(of).items()
        if not name.startswith("_") and (isinstance(value, property) or inspect.isfunction(value))
    }


WORDS = words(rf.At)


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

    # not registered: the definition alone
    Metric(Definition("asks", function)).expr(k=3)

    assert all(word in seen[0] for word in WORDS)


UNBOUND = {"by", "folds", "bounds", "split", "without", "given"}


def test_rec_binds_what_a_context_holds_and_says_so():
    first, *options = [*inspect.signature(rf.Rec.__call__).parameters.values()][1:]
    bound = [one.name for one in fields(Context) if one.init and one.name not in UNBOUND]

    assert {one.kind for one in options} == {inspect.Parameter.KEYWORD_ONLY}
    assert [one.name for one in (first, *options)] == bound
    assert bound[0] == "truth"
    for name in bound:
        assert re.search(rf"\b{name}(:|,)", rf.Rec.__call__.__doc__), name


def test_no_module_is_named_like_a_public_object_or_for_nothing():
    modules = {
        one.name.rpartition(".")[2] for one in pkgutil.walk_packages(rf.__path__, "recframe.")
    }

    assert modules >= {"registry", "at", "metrics_of_lists", "accuracy"}
    assert not modules & set(rf.__all__)
    assert not modules & {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}


def test_the_version_is_the_one_that_is_installed():
    assert importlib.metadata.version("recframe") == rf.__version__


def test_the_package_is_typed():
    assert (PACKAGE / "py.typed").is_file()
