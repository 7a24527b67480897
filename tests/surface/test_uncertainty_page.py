"""The page on uncertainty: its table of trials is the benchmark's, its verdicts are those of the code."""

from __future__ import annotations

import ast
import inspect
import re

import coverage_tables
import readme
import recframe as rf
from recframe.statistics import comparison

TEXT = readme.UNCERTAINTY.read_text(encoding="utf-8")


def test_the_trials_are_up_to_date():
    assert TEXT.count("<!-- trials: ") == 1
    assert readme.written(TEXT) == TEXT, "run: python tests/surface/readme.py"


def test_trials_are_shown_from_the_fewest_to_the_most_of_the_metrics():
    rows = [
        {"population": "rich", "n": 3000, "t": 0.941},
        {"population": "rich", "n": 3000, "t": 0.958},
        {"population": "1-out", "n": 3000, "t": 0.5},
    ]

    table = coverage_tables.shares(rows, {"t": "by t"})

    assert table.splitlines() == [
        "| relevant items | n | by t |",
        "|---|---|---|",
        "| many | 3,000 | 94 to 96 |",
        "| one | 3,000 | 50 to 50 |",
    ]


def test_a_promise_that_is_missed_is_bold_on_its_scene():
    def row(what, scene, share, promised):
        return {"what": what, "scene": scene, "share": share, "promised": promised} | {
            "error": 0.005,
            "samples": 2000,
        }

    rows = [
        row("errs", "one", 0.0599, 0.05),
        row("errs", "other", 0.0611, 0.05),
        row("covers", "one", 0.9299, 0.95),
        row("lead", "other", 0.5, None),
    ]

    table = coverage_tables.promises(rows).partition("\n\n")[2]

    assert table.splitlines()[2:] == [
        "| errs | at most 5 | 6.0 | **6.1** |",
        "| covers | 95 | **93.0** | - |",
        "| lead | - | - | 50.0 |",
    ]


def test_what_the_page_names_is_public():
    methods = set(re.findall(r"\brec\.(\w+)\(", TEXT))

    assert methods >= {"summarize", "compare", "power", "gaps", "slices", "require"}
    assert all(callable(getattr(rf.Rec, name, None)) for name in methods)


def test_the_table_of_verdicts_has_those_that_there_are():
    table = TEXT.partition("| verdict |")[2].partition("\n\n")[0]
    told = {
        word
        for words in re.findall(r"^\| ([a-z][^|]*) \|", table, re.MULTILINE)
        for word in words.split(", ")
    }
    tree = ast.parse(inspect.getsource(comparison.verdicts))
    texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    lists = [node.elts for node in ast.walk(tree) if isinstance(node, ast.List)]
    chosen = {node.value for nodes in lists for node in nodes if isinstance(node, ast.Constant)}

    assert chosen < told <= texts
    assert told == chosen | {"better", "worse", "higher", "lower", "open"}
