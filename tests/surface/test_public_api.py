"""What is public is listed in one file: whoever changes it sees it in a diff."""

from __future__ import annotations

import public_api
import recframe as rf


def test_the_list_has_what_is_public_and_nothing_else():
    listed = public_api.LISTED.read_text(encoding="utf-8")

    assert listed == public_api.listed(), (
        "run: python tests/surface/public_api.py; what is taken away warns first: docs/releasing.md"
    )


def test_the_list_holds_names_arguments_and_options():
    lines = {line.strip() for line in public_api.listed().splitlines()}

    assert {f"rf.{name}" for name in rf.__all__ if name.endswith("Error")} <= lines
    assert "rec.evaluate(*metrics, k=None, by=None, support=False, tidy=False)" in lines
    assert "rec.plot.hits_by_rank(*, k=20, level=0.95, cluster=None)" in lines
    assert "err(max_grade=4)" in lines
    assert "recframe metrics --format -o/--output" in lines
    assert "recframe[pandas]" in lines
