"""Makes the page of profiles from the registry of other libraries' conventions."""

from __future__ import annotations

import re
from typing import Any

from metric_text import code, table

import recframe as rf

POLICIES = ["universe", "no_relevant", "relevant_from", "min_relevance", "ties", "decimals"]
ABOUT = """\
A profile sets every switch as one library has it: `rec(profile="ranx")`, or `rec.ndcg(k=10, profile="ranx")` for one call.
What is given beside it wins. `rf.list_profiles()` is this page as a frame, and `rf.explain("ndcg@10", "ranx", "recbole")`
says where two of them differ."""


def pages() -> dict[str, str]:
    """Return the page."""
    rows = [*rf.list_profiles().iter_rows(named=True)]
    cells = [[f"[{row['profile']}](#{row['profile']})", *_policies(row)] for row in rows]
    policies = f"## Policies\n\n{table(['profile', *POLICIES], cells)}"
    parts = ["# Profiles", ABOUT, policies, *map(_profile, rows)]
    return {"reference/profiles.md": "\n\n".join(parts) + "\n"}


def _policies(row: dict[str, Any]) -> list[str]:
    return [str(row[one] or "") for one in POLICIES]


def _profile(row: dict[str, Any]) -> str:
    """Return a profile's metrics, notes and source."""
    metrics = re.split(r", (?![^(]*\))", row["metrics"])
    parts = [
        f"## {row['profile']} {{#{row['profile']}}}",
        "\n".join(f"- {code(one)}" for one in metrics),
        f"*Notes:* {_plain(row['notes'])}." if row["notes"] else "",
        f"*Source:* {_plain(row['source'])}.",
    ]
    return "\n\n".join(filter(None, parts))


def _plain(text: str) -> str:
    return text.replace("_", "\\_").replace("*", "\\*").replace("<", "&lt;").rstrip(".")
