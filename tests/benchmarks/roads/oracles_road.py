"""pytrec_eval, ranx, ir_measures and scikit-learn, which install beside recframe's own tests; see `peers.py`."""

from __future__ import annotations

from types import SimpleNamespace

import ir_measures
import numpy as np
import peers
import polars as pl
from given import SIX, Given, Road
from ir_measures import AP, RR, P, R, Success, nDCG
from sklearn import metrics

DISTRIBUTIONS = [
    "pytrec-eval-terrier",
    "ranx",
    "ir-measures",
    "scikit-learn",
    "polars",
    "pandas",
    "numpy",
    "pyarrow",
    "numba",
]


def as_case(given: Given) -> SimpleNamespace:
    """Return the frames as `peers.py` wants them."""
    recs, truth = given.polars()
    return SimpleNamespace(
        two_frames=True, recs=recs, truth=truth.with_columns(relevance=pl.lit(1))
    )


def measures(given: Given, k: int) -> list[float]:
    """ir_measures, from dicts made as for pytrec_eval; users without a list count 0."""
    case = as_case(given)
    run, qrels = peers._dicts(peers._lists(case, None), peers._relevant(case))
    asked = [Success @ k, P @ k, R @ k, AP @ k, RR @ k, nDCG @ k]
    found = ir_measures.calc_aggregate(asked, qrels, run)
    return [float(found[measure]) for measure in asked]


def dense(given: Given, k: int) -> list[float]:
    """scikit-learn, from dense arrays of a row for each user; all lists must have k items."""
    rows = given.judged()
    size = rows["number"].max() + 1, rows["place"].max() + 1
    at = rows["number"].to_numpy(), rows["place"].to_numpy()
    relevant, listed = np.zeros(size, dtype=np.int8), np.zeros(size, dtype=np.int8)
    relevant[at] = rows["relevant"].to_numpy()
    listed[at] = (rows["rank"] <= k).fill_null(value=False).to_numpy()
    scores = np.broadcast_to(-np.arange(size[1], dtype=np.float32), size)
    return [
        metrics.precision_score(relevant, listed, average="samples", zero_division=0),
        metrics.recall_score(relevant, listed, average="samples", zero_division=0),
        metrics.ndcg_score(relevant, scores, k=k, ignore_ties=True),
    ]


ROADS = [
    Road("pytrec_eval", lambda given, k: peers.pytrec_whole(as_case(given), k)),  # type: ignore[arg-type]
    Road("ir_measures", measures),
    Road("ranx, objects", lambda given, k: peers.ranx_objects_whole(as_case(given), k)),  # type: ignore[arg-type]
    Road("ranx, arrays", lambda given, k: peers.ranx_arrays_whole(as_case(given), k)),  # type: ignore[arg-type]
    Road(
        "scikit-learn",
        dense,
        tuple(name for name in SIX if name in {"precision", "recall", "ndcg"}),
    ),
]
