"""pytrec_eval, ranx, ir_measures and scikit-learn, which install beside recframe's own tests.

Each starts from the long frames by the fastest conversion known. pytrec_eval wants dicts of dicts of Python strings and
numbers: one sort by user, whole columns as Python lists, and one `dict(islice(pairs, length))` for each user was the fastest or
level with group_by to lists and zip, and with a table of shared strings. trec_eval has no reciprocal rank at k: with whole
lists a reciprocal rank below 1 / k counts 0. ranx is timed in two ways:
* objects: `Qrels` and `Run`, as its documentation says, made from dicts as above; `from_df` was slower.
* arrays: `evaluate` also takes numba lists of arrays (id, score), sorted by score. They are what its own classes turn into
  at last, so no conversion can be shorter; ids are floats below 2**53, and Polars numbers string ids first.
ranx wants the same users on both sides: users without a list or without truth are left out, and count 0 in the mean.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import Any

import ir_measures
import numba
import numpy as np
import polars as pl
import pytrec_eval
import ranx
from given import Given, Road
from ir_measures import AP, RR, P, R, Success, nDCG
from numba.core.errors import NumbaTypeSafetyWarning
from served import SIX
from sklearn import metrics

DISTRIBUTIONS = [
    *("pytrec-eval-terrier", "ranx", "ir-measures", "scikit-learn"),
    *("polars", "pandas", "numpy", "pyarrow", "numba"),
]


def scored(given: Given) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return lists and relevant rows as user, item and score."""
    recs, truth = given.polars()
    lists = recs.select("user", "item", score=-pl.col("rank").cast(pl.Float64))
    return lists, truth.select("user", "item", score=pl.lit(1))


def nested(frame: pl.DataFrame) -> Mapping[str, Mapping[str, float]]:
    """Return a frame as {user: {item: score}}, ids as strings."""
    frame = frame.sort("user")
    users = frame["user"].rle().struct.unnest()
    pairs = zip(frame["item"].cast(pl.String).to_list(), frame["score"].to_list(), strict=True)
    names = users["value"].cast(pl.String).to_list()
    return {
        user: dict(islice(pairs, length))
        for user, length in zip(names, users["len"].to_list(), strict=True)
    }


def with_pytrec(given: Given, k: int) -> list[float]:
    """pytrec_eval; users without a list count 0."""
    run, qrels = map(nested, scored(given))
    measures = [f"success.{k}", f"P.{k}", f"recall.{k}", f"map_cut.{k}", "recip_rank"]
    measures.append(f"ndcg_cut.{k}")
    rows = [*pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run).values()]
    names = [one.replace(".", "_") for one in measures]
    sums = [
        sum(row[name] for row in rows if name != "recip_rank" or row[name] >= 1 / k)
        for name in names
    ]
    return [one / len(qrels) for one in sums]


def with_ranx(
    given: Given, k: int, *, convert: Callable[[Any, Any], tuple[Any, Any]]
) -> list[float]:
    lists, truth = scored(given)
    lists = lists.join(truth, on="user", how="semi")
    relevant = truth.join(lists, on="user", how="semi")
    run, qrels = convert(lists, relevant)
    names = [f"{name}@{k}" for name in SIX]
    with warnings.catch_warnings():
        # of ranx's own, where it is compiled
        warnings.simplefilter("ignore", NumbaTypeSafetyWarning)
        means = ranx.evaluate(qrels, run, names, save_results_in_run=False)
    share = relevant["user"].n_unique() / truth["user"].n_unique()
    return [float(means[name]) * share for name in names]


def objects(lists: pl.DataFrame, relevant: pl.DataFrame) -> tuple[Any, Any]:
    return ranx.Run(nested(lists)), ranx.Qrels(nested(relevant))


def arrays(lists: pl.DataFrame, relevant: pl.DataFrame) -> tuple[Any, Any]:
    if lists["item"].dtype == pl.String:
        numbers = pl.concat([lists["item"], relevant["item"]]).cast(pl.Categorical).to_physical()
        lists = lists.with_columns(numbers[: len(lists)])
        relevant = relevant.with_columns(numbers[len(lists) :])
    return _typed(lists), _typed(relevant)


def _typed(frame: pl.DataFrame) -> Any:
    frame = frame.sort("user", "score", descending=[False, True])
    columns = (frame[name].to_numpy().astype(float) for name in ("item", "score"))
    return _pieces(np.column_stack([*columns]), frame["user"].rle().struct.field("len").to_numpy())


@numba.njit(cache=True)
def _pieces(table, lengths):
    pieces = numba.typed.List()
    start = 0
    for length in lengths:
        pieces.append(table[start : start + length])
        start += length
    return pieces


def measures(given: Given, k: int) -> list[float]:
    """ir_measures, from dicts made as for pytrec_eval; users without a list count 0."""
    run, qrels = map(nested, scored(given))
    wanted = [Success @ k, P @ k, R @ k, AP @ k, RR @ k, nDCG @ k]
    found = ir_measures.calc_aggregate(wanted, qrels, run)
    return [float(found[measure]) for measure in wanted]


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
    Road("pytrec_eval", with_pytrec),
    Road("ir_measures", measures),
    Road("ranx, objects", partial(with_ranx, convert=objects)),
    Road("ranx, arrays", partial(with_ranx, convert=arrays)),
    Road("scikit-learn", dense, ("precision", "recall", "ndcg")),
]
