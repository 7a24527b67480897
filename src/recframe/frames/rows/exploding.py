"""`explode` options for empty lists, by the installed Polars version."""

from __future__ import annotations

from inspect import signature
from typing import Any

import polars as pl

from recframe.frames.collecting import IS_POLARS_1

# NOTE: a null up to Polars 1, and no row from Polars 2 on; the last of Polars 1 warn where nothing is said. So whoever explodes
# lists leaves empty ones out ahead of it, or nulls behind it.
_IS_WARNED_OF = IS_POLARS_1 and "empty_as_null" in signature(pl.Expr.explode).parameters
AS_EVER: dict[str, Any] = {"empty_as_null": True} if _IS_WARNED_OF else {}
