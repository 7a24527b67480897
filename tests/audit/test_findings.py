"""What `rec.findings` shows: all that the audit says, in full."""

from __future__ import annotations

from html import unescape

import polars as pl
import pytest

from recframe.audit.findings import Findings
from recframe.audit.report import CHECKS

RECS = pl.DataFrame({"user": [1, 1, 2], "item": [1, 1, 2], "rank": [1, 2, 1]})
TRUTH = pl.DataFrame({"user": [1, 1], "item": [1, 3]})


@pytest.mark.parametrize("frame", [RECS, RECS.to_pandas()], ids=["polars", "pandas"])
def test_every_word_of_a_finding_is_shown(frame):
    found = frame.rec(truth=TRUTH).findings(3)

    assert type(found.frame) is type(frame)
    rows = found.frame.to_dicts() if frame is RECS else found.frame.to_dict("records")
    meanings = {check.name: check.meaning for check in CHECKS}
    assert len(rows) == 3
    for shown in (str(found), repr(found), unescape(found._repr_html_())):
        words = " ".join(shown.split())
        for row in rows:
            for said in (row["check"], row["severity"], row["example"], meanings[row["check"]]):
                assert said in words
            assert " ".join(row["treatment"].split()) in words
            assert " ".join(row["remedy"].split()) in words
    assert max(map(len, str(found).splitlines())) <= 100


def test_the_words_of_every_check_fit_a_terminal():
    words = ("frame", "example", "treatment", "remedy")
    rows = [
        {"check": one.name, "severity": one.severity, "rows": 1, "users": 0}
        | dict.fromkeys(words, f"{one.treatment}; {one.remedy}")
        for one in CHECKS
    ]

    lines = str(Findings(None, rows)).splitlines()

    assert max(map(len, lines)) <= 100
    assert lines[0].startswith(f"{len(CHECKS)} findings: ")


def test_nothing_odd_is_said_in_words():
    found = RECS[:1].rec(truth=TRUTH).findings()

    assert str(found) == "Nothing odd was found."
    assert "Nothing odd was found." in found._repr_html_()


def test_nothing_of_a_lazy_frame_is_collected():
    def fails(_frame):
        raise AssertionError

    lazy = RECS.lazy().map_batches(fails, schema=RECS.schema)
    found = lazy.rec(truth=TRUTH).findings()

    assert isinstance(found.frame, pl.LazyFrame)
    assert str(found) == "The findings are in .frame, a LazyFrame: collect it."
