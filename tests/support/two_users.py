"""Two users whose numbers fit into the head, as a judged frame and as the two frames that it is made of."""

from __future__ import annotations

import polars as pl

# u1 finds one of two relevant items, at rank 2; u2 finds its only one, at rank 1.
FRAME = pl.DataFrame(
    {
        "user": ["u1", "u1", "u1", "u2", "u2"],
        "item": ["a", "b", "c", "a", "d"],
        "rank": [1, 2, None, 2, 1],
        "relevance": [0, 1, 2, None, 1],
        "country": ["FR", "FR", "FR", "DE", "DE"],
    }
)
RECS = FRAME.filter(pl.col("rank").is_not_null()).select("user", "item", "rank")
TRUTH = FRAME.filter(pl.col("relevance").is_not_null()).select("user", "item", "relevance")


def value(kind, result, name):
    """Return the one number of a result; a float of eager frames, else a column of one row."""
    return result if isinstance(result, float) else kind.read(result)[name].item()
