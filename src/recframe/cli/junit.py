"""What is required as a test report in JUnit's XML, which servers that build and test show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl

from recframe.uncertainty.requirements import FAILS, OPEN
from recframe.uncertainty.rounded import rounded, with_interval

NAME = "recframe require"
# XML 1.0 has no way to write them
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: pl.DataFrame, keys: Sequence[str], unmet: pl.Series) -> str:
    """Return a test case for each row, by its keys; `unmet` are failures, others that are open are skipped."""
    failures, skipped = int(unmet.sum()), int(((result["state"] == OPEN) & ~unmet).sum())
    counts = {
        "tests": result.height,
        "failures": failures,
        "errors": 0,
        "skipped": skipped,
    }
    about = {"name": NAME, **{name: str(n) for name, n in counts.items()}}
    suites = ET.Element("testsuites", about)
    suite = ET.SubElement(suites, "testsuite", about)
    for row, fails in zip(result.iter_rows(named=True), unmet, strict=True):
        _add_case(suite, row, keys, fails=fails)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _add_case(suite: ET.Element, row: dict[str, Any], keys: Sequence[str], *, fails: bool) -> None:
    place = ", ".join(f"{key}={'null' if row[key] is None else row[key]}" for key in keys)
    # dots make folders of a class name
    about = {"classname": _text(place or NAME), "name": _text(row["requirement"]), "time": "0"}
    case = ET.SubElement(suite, "testcase", about)
    said = _text(_words(row))
    if fails:
        kind = "open" if row["state"] == OPEN else "fails"
        ET.SubElement(case, "failure", {"message": said, "type": kind}).text = said
    elif row["state"] == OPEN:
        ET.SubElement(case, "skipped", {"message": said})
    elif row["state"] != FAILS:
        ET.SubElement(case, "system-out").text = said


def _words(row: dict[str, Any]) -> str:
    """Return what was found, as a sentence."""
    value = with_interval(row["value"], row["value_low"], row["value_high"])
    distance = with_interval(row["difference"], row["difference_low"], row["difference_high"])
    words = f"{row['state']}: {value} against {rounded(row['bound'])}, apart by {distance}"
    words += f"; {row['n_users'] or 0} users detect {rounded(row['detectable'])}"
    return f"{words}; {row['note']}" if row["note"] else words


def _text(text: str) -> str:
    return _CONTROL.sub("?", text)
