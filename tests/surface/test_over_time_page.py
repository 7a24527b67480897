"""The page on runs over time: its trials are the benchmark's, and what it names is there."""

from __future__ import annotations

import re

import readme
import recframe as rf
from recframe.statistics.prediction import FAR, PARTS

TEXT = readme.OVER_TIME.read_text(encoding="utf-8")


def test_the_trials_are_up_to_date():
    assert TEXT.count("<!-- changes: ") == 1
    assert readme.written(TEXT) == TEXT, "run: python tests/surface/readme.py"


def test_what_the_page_names_is_public():
    assert set(re.findall(r"\brf\.(\w+)\(", TEXT)) <= set(rf.__all__)
    methods = set(re.findall(r"\brec\.(\w+)\(", TEXT)) - {"plot"}
    assert methods
    assert all(callable(getattr(rf.Rec, name, None)) for name in methods)


def test_the_rule_is_told_as_it_is():
    assert all(f"**the {part}**" in TEXT for part in PARTS)
    assert f"{FAR:g}"[1:] in TEXT
