"""The places that histories are kept in."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(params=["history.parquet", "history.duckdb"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a history is kept, in each of its forms."""
    if request.param.endswith("duckdb"):
        pytest.importorskip("duckdb")
    return str(tmp_path / request.param)
