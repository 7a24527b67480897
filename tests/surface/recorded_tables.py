"""Writes what other libraries gave, and what recframe gives, into pages: `python tests/surface/recorded_tables.py`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import polars as pl

import recframe  # noqa: F401  it puts .rec on frames

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorders"
PAGES = sorted((ROOT / "docs" / "from").glob("*.md"))
PART = re.compile(r"(<!-- recorded (\w+): [^\n]*-->\n).*?(<!-- end -->)", re.DOTALL)
K = 5


def scene() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the recommendations and the truth of the five users that each library was asked about."""
    sys.path.append(str(RECORDED))
    import scenes  # noqa: PLC0415  it lies beside what is recorded

    made = scenes.fixture()
    recs = pl.DataFrame(made.recs, schema=["user", "item", "score"], orient="row")
    truth = pl.DataFrame(made.truth, schema=["user", "item", "relevance"], orient="row")
    return recs, truth


def table(peer: str) -> str:
    """Return a library's metrics on the five users as a Markdown table, with recframe's under its profile and without."""
    recs, truth = scene()
    lines = [
        "| its metric | gave | recframe | under the profile | without it |",
        "|---|---|---|---|---|",
    ]
    items = pl.concat([recs, truth], how="diagonal").select("item").unique()
    for row in _rows(peer):
        k = K if row.get("k", [K]) != [None] else None
        metric = f"{row['metric']}@{k}" if k else row["metric"]
        gave = row["means"][row.get("k", [1, 3, K]).index(k)]
        bound, sides = row.get("bound") or {}, {"items": items} if row.get("catalogue") else {}
        values = [
            gave,
            _value(recs.rec(truth=truth, profile=peer, **sides, **bound), metric),
            _value(recs.rec(truth=truth, **sides), metric),
        ]
        gave, ours, plain = (f"{value:.4f}" for value in values)
        lines.append(f"| `{row['call']}` | {gave} | `{metric}` | {ours} | {plain} |")
    return "\n".join(lines)


def _rows(peer: str) -> list[dict[str, Any]]:
    """Return the answers on the five users that the profile gives too; of trec_eval those that count all topics."""
    rows = [
        row
        for told in _recorded().values()
        for row in told["rows"]
        if row["profile"] == peer and row["scene"] == "fixture" and row["metric"]
    ]
    others = re.compile(r"\(k=(?!5\))")
    kept = [row for row in rows if not others.search(row["call"])]
    return [row for row in kept if peer != "trec_eval" or row["call"].endswith(" -c")]


def _recorded() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RECORDED / "values.json").read_text(encoding="utf-8"))
    return found


def _value(rec: Any, metric: str) -> float:
    return float(rec.evaluate(metric).to_series(-1).item())


def written(text: str) -> str:
    """Return a page with its tables made anew."""
    return PART.sub(lambda found: f"{found[1]}{table(found[2])}\n{found[3]}", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(written(page.read_text(encoding="utf-8")), encoding="utf-8")
