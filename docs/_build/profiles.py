"""Makes the page of profiles from the registry of other libraries' conventions."""

from __future__ import annotations

from typing import Any

import recframe as rf

POLICIES = ["universe", "no_relevant", "relevant_from", "min_relevance", "ties", "decimals"]
SOURCE = "source"
ABOUT = """\
A profile sets every switch as one library has it: `rec(profile="ranx")`, or `rec.ndcg(k=10, profile="ranx")` for one call.
What is given beside it wins. `rf.list_profiles()` is this page as a frame, and `rf.explain("ndcg@10", "ranx", "recbole")`
says where two of them differ."""


def pages() -> dict[str, str]:
    """Return the page."""
    table = rf.list_profiles()
    policies = [one for one in POLICIES if one in table.columns]
    rows = [*table.iter_rows(named=True)]
    parts = [
        "# Profiles",
        ABOUT,
        "## Policies",
        _table(rows, policies),
        *(_profile(row) for row in rows),
    ]
    return {"reference/profiles.md": "\n\n".join(parts) + "\n"}


def _table(rows: list[dict[str, Any]], policies: list[str]) -> str:
    titles = ["profile", *(f"`{one}`" for one in policies)]
    lines = [
        _row([f"[{row['profile']}](#{row['profile']})", *(str(row[one] or "") for one in policies)])
        for row in rows
    ]
    return "\n".join([_row(titles), f"|{'---|' * len(titles)}", *lines])


def _profile(row: dict[str, Any]) -> str:
    """Return a profile's metrics, notes and source."""
    metrics = "\n".join(f"- `{one}`" for one in _split(row["metrics"]))
    notes = f"*Notes:* {_plain(row['notes'])}." if row["notes"] else ""
    parts = [
        f"## {row['profile']} {{#{row['profile']}}}",
        metrics,
        notes,
        f"*Source:* {_plain(row[SOURCE])}.",
    ]
    return "\n\n".join(filter(None, parts))


def _split(metrics: str) -> list[str]:
    """Return metrics, which have commas of their own inside brackets."""
    depth, found = 0, [""]
    for sign in metrics:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            found.append("")
        else:
            found[-1] += sign
    return [one.strip() for one in found if one.strip()]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    return text.replace("_", "\\_").replace("*", "\\*").replace("<", "&lt;").rstrip(".")
