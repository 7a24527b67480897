"""Small tables of what is known of all users, for plans that have those of a bucket."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

MODELS, POPULARITY, TRAIN_USERS, CATALOGUE = "models", "popularity", "train users", "catalogue"


class Tables:
    """Tables by their names; without any it writes down which are asked for, and gives tables without rows."""

    def __init__(self, found: Mapping[str, pl.DataFrame] | None = None) -> None:
        self.found = found
        self.asked: set[str] = set()

    def get(self, name: str, schema: Mapping[str, pl.DataType]) -> pl.LazyFrame:
        """Return a table in some dtypes."""
        self.asked.add(name)
        if self.found is None:
            return pl.LazyFrame(schema=dict(schema))
        return self.found[name].lazy().select(pl.col(one).cast(schema[one]) for one in schema)
