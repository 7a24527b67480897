"""The README says what the software does: its tables are the registry's and the benchmark's."""

from __future__ import annotations

import re

import readme
import recframe as rf
from recframe.metrics.language import registry

TEXT = readme.README.read_text(encoding="utf-8")


def test_the_generated_parts_are_up_to_date():
    assert readme.written(TEXT) == TEXT, "run: python tests/surface/readme.py"
    assert readme.methods() == readme.METHODS.read_text(encoding="utf-8"), (
        "run: python tests/surface/readme.py"
    )
    assert readme.stubs() == readme.METHODS.with_suffix(".pyi").read_text(encoding="utf-8"), (
        "run: python tests/surface/readme.py"
    )


def test_the_table_of_libraries_apart_has_ratios_and_says_which_metrics_they_have():
    six = ["hit_rate", "precision", "recall", "map", "mrr", "ndcg"]
    contenders = [
        {
            "name": "recframe",
            "metrics": six,
            "seconds": [0.1, 0.2, 0.3],
            "median": 0.2,
            "ratio": 1.0,
        },
        {
            "name": "Other",
            "metrics": ["precision", "map(normalizer=min)"],
            "seconds": [9] * 3,
            "median": 9.0,
            "ratio": 45.0,
        },
    ]
    case = {
        "ids": "int",
        "frame": "polars",
        "rows": [2000, 300],
        "versions": {"other": {"Python": "3.11"}},
    }
    result = {"settings": {"k": 10, "users": 20, "metrics": six}, "machine": {"threads": "2"}}
    text = readme.table_of({**result, "cases": [{**case, "contenders": contenders}]})

    assert "2,000 and 300 rows" in text
    assert "| | int ids, polars | metrics |" in text
    assert "| recframe | 0.200 s | all six |" in text
    assert "| Other | 45.0 | `map(normalizer=min)`; no hit_rate, recall, mrr, ndcg |" in text


def test_every_metric_of_the_text_is_in_the_registry():
    table = TEXT.partition("<!-- metrics")[2].partition("<!-- end")[0]

    assert re.findall(r"^\| `(\w+)`", table, re.MULTILINE) == [
        m.name for m in registry.registered().values() if m.definition.builtin
    ]
    assert all(hasattr(rf, name) for name in re.findall(r"`rf\.(\w+)", TEXT))
