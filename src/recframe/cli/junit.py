"""What is required as a test report in JUnit's XML, which servers that build and test show."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl

from recframe.uncertainty import unmet
from recframe.uncertainty.requirements import MISSING, OPEN, Gate
from recframe.uncertainty.rounded import rounded, with_interval

NAME = "recframe require"
# XML 1.0 has no way to write them
_CONTROL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(result: pl.DataFrame, gate: Gate) -> str:
    """Return a test case for each row, by its keys, and for each requirement without a row.

    What is not met is a failure, and other rows that are open or missing are skipped.
    """
    unmet_rows = result.select(unmet.is_unmet(gate).alias("unmet")).to_series()
    absent, keys = unmet.without_rows(result, gate), unmet.keys_of(result)
    undecided = result["state"].is_in([OPEN, MISSING])
    counts = {
        "tests": result.height + len(absent),
        "failures": int(unmet_rows.sum()) + len(absent),
        "errors": 0,
        "skipped": int((undecided & ~unmet_rows).sum()),
    }
    about = {"name": NAME, **{name: str(n) for name, n in counts.items()}}
    suites = ET.Element("testsuites", about)
    suite = ET.SubElement(suites, "testsuite", about)
    for row, fails in zip(result.iter_rows(named=True), unmet_rows, strict=True):
        _add_row(suite, row, keys, fails=fails)
    for requirement in absent:
        said = f"nothing was judged: {unmet.NO_ROW}"
        _add_failure(_case(suite, NAME, requirement), said, "missing")
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _add_row(suite: ET.Element, row: dict[str, Any], keys: Sequence[str], *, fails: bool) -> None:
    place = ", ".join(f"{key}={'null' if row[key] is None else row[key]}" for key in keys)
    case, said = _case(suite, place or NAME, row["requirement"]), _text(_words(row))
    if fails:
        _add_failure(case, said, row["state"])
    elif row["state"] in {OPEN, MISSING}:
        ET.SubElement(case, "skipped", {"message": said})
    else:
        ET.SubElement(case, "system-out").text = said


def _case(suite: ET.Element, place: str, requirement: str) -> ET.Element:
    # dots make folders of a class name
    about = {"classname": _text(place), "name": _text(requirement), "time": "0"}
    return ET.SubElement(suite, "testcase", about)


def _add_failure(case: ET.Element, said: str, kind: str) -> None:
    ET.SubElement(case, "failure", {"message": said, "type": kind}).text = said


def _words(row: dict[str, Any]) -> str:
    """Return what was found, as a sentence."""
    value = with_interval(row["value"], row["value_low"], row["value_high"])
    distance = with_interval(row["difference"], row["difference_low"], row["difference_high"])
    words = f"{row['state']}: {value} against {rounded(row['bound'])}, apart by {distance}"
    words += f"; {row['n_users'] or 0} users detect {rounded(row['detectable'])}"
    return f"{words}; {row['note']}" if row["note"] else words


def _text(text: str) -> str:
    return _CONTROL.sub("?", text)
