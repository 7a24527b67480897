"""The judged frame for users: each pair once, original column names."""

from __future__ import annotations

import polars as pl

from recframe.errors import RecframeError
from recframe.ranking.data_checks import after_checks
from recframe.ranking.judged_frame import Judged


def as_frame(judged: Judged) -> pl.LazyFrame:
    """Return the judged frame under the bound column names, after the same checks as a metric."""
    if judged.sharing is not None:
        of_ties = {
            "expected": "none for tied items",
            "last": "one for all items of a tie together",
        }[judged.sharing]
        msg = f"judge() gives each item one rank, and ties={judged.sharing!r} has {of_ties}; write another ties= for it"
        raise RecframeError(msg)
    names = {
        role: judged.context.names[role]
        for role in [*judged.model, "user", "item", "rank", "relevance"]
    }
    frame = judged.frame()
    frame = after_checks(frame, judged, "rank", frame.collect_schema()["rank"], steep=False)
    return frame.select(pl.col(role).alias(name) for role, name in names.items())
