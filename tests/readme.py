"""Writes the generated parts of the README: `python tests/readme.py`. The tests compare them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import recframe as rf
from recframe.checks import CHECKS
from recframe.findings import SEVERITIES

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
RESULT = ROOT / "tests" / "benchmarks" / "result.json"


def metric_table() -> str:
    """Return the registry as a Markdown table."""
    rows = [
        f"| `{row['name']}` | {row['aliases']} | {row['formula']} | {_parameters(row['name'])} |"
        for row in rf.list_metrics().iter_rows(named=True)
        if getattr(rf, row["name"], None) is not None
    ]
    return "\n".join(["| name | aliases | definition | parameters |", "|---|---|---|---|", *rows])


def _parameters(name: str) -> str:
    definition = getattr(rf, name).definition
    shown = []
    for parameter, about in definition.parameters.items():
        _, extras = definition.kind(parameter)
        choices = [one for one in extras if isinstance(one, str)]
        others = [f'`"{choice}"`' for choice in choices if choice != about.default]
        default = f'"{about.default}"' if isinstance(about.default, str) else about.default
        shown.append(", ".join([f"`{parameter}={default}`", *others]))
    return "; ".join(shown)


def check_table() -> str:
    """Return the checks of the audit as a Markdown table, the most severe first."""
    checks = sorted(CHECKS, key=lambda check: SEVERITIES.index(check.severity))
    rows = [f"| `{check.name}` | {check.severity} | {check.meaning.rstrip('.')} | {check.treatment} |" for check in checks]
    return "\n".join(["| check | severity | what it finds | what recframe does |", "|---|---|---|---|", *rows])


def speed_table() -> str:
    """Return the last full run of the benchmark, as it was stored, as text and a Markdown table."""
    result: dict[str, Any] = json.loads(RESULT.read_text(encoding="utf-8"))
    settings, machine, versions = result["settings"], result["machine"], result["versions"]
    said = ", ".join(f"{name} {value}" for name, value in {**machine, **versions}.items())
    head = (
        f"Six metrics ({', '.join(settings['metrics'])}) at k = {settings['k']} of one judged frame of "
        f"{result['rows'][0]:,} rows ({settings['users']:,} users x {settings['length']}), conversion included, all giving "
        f"the same numbers to 1e-9, interleaved in one run ({said}):"
    )
    rows = [
        f"| {one['name']} | {'~' if one['scale'] > 1 else ''}{one['median']:.3f} "
        f"| {one['ratio_to_loop']:.1f} | {one['ratio_to_eager']:.1f} |"
        for one in result["contenders"]
    ]
    tail = (
        "The loop is compiled, reads presorted arrays once on one thread and checks nothing; it is no library, but shows what "
        "the machine can do. *cut*: the lists were cut at k before they were converted. *objects*, *dicts* and *arrays* are "
        "ranx's three ways in. ~: run on some of the users and scaled."
    )
    table = ["| | median seconds | x compiled loop | x recframe, eager |", "|---|---|---|---|", *rows]
    return "\n".join([head, "", *table, "", tail])


def written(text: str) -> str:
    """Return a README with its generated parts made anew."""
    for name, made in (("metrics", metric_table), ("checks", check_table), ("speed", speed_table)):
        pattern = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end -->)"
        text = re.sub(pattern, lambda found, made=made: f"{found[1]}{made()}\n{found[2]}", text, count=1, flags=re.DOTALL)
    return text


if __name__ == "__main__":
    README.write_text(written(README.read_text(encoding="utf-8")), encoding="utf-8")
