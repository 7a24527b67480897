"""The files that plans are read from."""

from __future__ import annotations

import polars as pl
import pytest

from plans import UNUSED, Files


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("plan")
    pairs = {"user": [1, 1, 1, 2, 2, 3], "item": [1, 2, 3, 1, 2, 1]}
    recs = pairs | {
        "model": list("xxyxyy"),
        "rank": [1, 2, 1, 1, 1, 1],
        "score": [0.5] * 6,
        "device": list("aaabba"),
    }
    frames = {
        "judged": recs | {"relevance": [0, 1, 2, 0, 1, 1]},
        "recs": recs | {"device": list("aaabbc")},
        "truth": pairs | {"relevance": [0, 1, 2, 0, 1, 1]},
        "graded": pairs | {"relevance": [0, 1, 2, 0, 1, 1], "device": list("ababbc")},
        "users": {"user": [1, 2, 3], "country": ["FR", "DE", "FR"]},
        "items": {"item": [1, 2, 3], "genre": ["drama", "drama", "war"]},
    }
    for name, columns in frames.items():
        height = len(next(iter(columns.values())))
        unused = {column: values[:height] for column, values in UNUSED.items()}
        pl.DataFrame(columns | unused).write_parquet(folder / f"{name}.parquet")
    return Files(**{name: pl.scan_parquet(folder / f"{name}.parquet") for name in frames})
