"""The peers, pytrec_eval and ranx: from the same long frame to the same six numbers, by the fastest conversion known for each.

What is timed starts at the Polars frame and ends at six means over the same users. Filters, sorts and casts run in Polars.
Each road comes twice: with whole lists, and with lists cut at k before they are converted (`cut`), which is much faster,
and which a user has to think of.

pytrec_eval wants dicts of dicts of Python strings and numbers. Four conversions were compared on 20,000 users x 100 rows;
one sort by user, whole columns as Python lists, and one `dict(islice(pairs, length))` for each user was the fastest or level
(0.39 s whole, 0.04 s cut), before group_by to lists and zip (0.41, 0.05) and a table of shared strings (0.39 to 0.47).
trec_eval has no reciprocal rank at k: with whole lists a reciprocal rank below 1 / k counts 0.

ranx has three roads, and all three are timed. On the same 20,000 users:
* objects: `Qrels` and `Run`, as its documentation says (4.1 s whole, 2.2 s cut). They are made from dicts as above;
  `from_df` also makes dicts, in pandas, and was slower.
* dicts: `evaluate` also takes dicts of dicts as they are (1.3 s, 0.5 s).
* arrays: `evaluate` also takes numba lists of arrays (id, score), sorted by score. They are what its own classes turn into
  at last, so no conversion can be shorter: 0.22 s and 0.10 s. It takes a compiled function of one's own to cut the lists,
  and ids as floats below 2**53; string ids are numbered by Polars first.
ranx wants the same users on both sides: users without a list or without truth are left out, and count 0 in the mean.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import numba
import numpy as np
import polars as pl
import pytrec_eval
import ranx
from data import Case
from numba.core.errors import NumbaTypeSafetyWarning

TREC_MEASURES = {
    "hit_rate": "success",
    "precision": "P",
    "recall": "recall",
    "map": "map_cut",
    "mrr": "recip_rank",
    "ndcg": "ndcg_cut",
}
Converted = Callable[[pl.DataFrame, pl.DataFrame], tuple[Any, Any]]


def pytrec_whole(case: Case, k: int) -> list[float]:
    """pytrec_eval on whole lists."""
    return _pytrec(case, k, None)


def pytrec_cut(case: Case, k: int) -> list[float]:
    """pytrec_eval on lists cut at k before they are converted."""
    return _pytrec(case, k, k)


def ranx_objects_whole(case: Case, k: int) -> list[float]:
    """ranx through Qrels and Run, on whole lists."""
    return _ranx(case, k, None, _objects)


def ranx_objects_cut(case: Case, k: int) -> list[float]:
    """ranx through Qrels and Run, on lists cut at k before they are converted."""
    return _ranx(case, k, k, _objects)


def ranx_dicts_whole(case: Case, k: int) -> list[float]:
    """ranx given dicts, on whole lists."""
    return _ranx(case, k, None, _dicts)


def ranx_dicts_cut(case: Case, k: int) -> list[float]:
    """ranx given dicts, on lists cut at k before they are converted."""
    return _ranx(case, k, k, _dicts)


def ranx_arrays_whole(case: Case, k: int) -> list[float]:
    """ranx given numba lists of arrays, on whole lists."""
    return _ranx(case, k, None, _arrays)


def ranx_arrays_cut(case: Case, k: int) -> list[float]:
    """ranx given numba lists of arrays, on lists cut at k before they are converted."""
    return _ranx(case, k, k, _arrays)


def _pytrec(case: Case, k: int, cut: int | None) -> list[float]:
    run, qrels = _dicts(_lists(case, cut), _relevant(case))
    measures = [name if name == "recip_rank" else f"{name}.{k}" for name in TREC_MEASURES.values()]
    rows = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run).values()
    n_users = _n_users(case)
    means = []
    for measure in TREC_MEASURES.values():
        if measure == "recip_rank":
            means.append(sum(row[measure] for row in rows if row[measure] >= 1 / k) / n_users)
        else:
            means.append(sum(row[f"{measure}_{k}"] for row in rows) / n_users)
    return means


def _ranx(case: Case, k: int, cut: int | None, convert: Converted) -> list[float]:
    lists, relevant = _lists(case, cut), _relevant(case)
    lists = lists.join(relevant, on="user", how="semi")
    relevant = relevant.join(lists, on="user", how="semi")
    run, qrels = convert(lists, relevant)
    metrics = [f"{name}@{k}" for name in TREC_MEASURES]
    with warnings.catch_warnings():
        # of ranx's own, where it is compiled
        warnings.simplefilter("ignore", NumbaTypeSafetyWarning)
        means = ranx.evaluate(qrels, run, metrics, save_results_in_run=False)
    share = relevant["user"].n_unique() / _n_users(case)
    return [float(means[metric]) * share for metric in metrics]


def _lists(case: Case, cut: int | None) -> pl.DataFrame:
    """Return user, item and score (the better the rank, the higher) of the rows with a rank, or with one up to the cut."""
    wanted = pl.col("rank").is_not_null() if cut is None else pl.col("rank") <= cut
    frame = case.recs if case.two_frames else case.judged
    return frame.filter(wanted).select("user", "item", score=-pl.col("rank").cast(pl.Float64))


def _relevant(case: Case) -> pl.DataFrame:
    """Return user, item and score of the relevant rows, listed or not."""
    frame = case.truth if case.two_frames else case.judged
    return frame.filter(pl.col("relevance") > 0).select("user", "item", score="relevance")


def _n_users(case: Case) -> int:
    return (case.truth if case.two_frames else case.judged)["user"].n_unique()


def _dicts(*frames: pl.DataFrame) -> Any:
    """Return each frame as {user: {item: score}}, ids as strings."""
    return tuple(_nested(frame) for frame in frames)


def _nested(frame: pl.DataFrame) -> Mapping[str, Mapping[str, float]]:
    frame = frame.sort("user")
    users = frame["user"].rle().struct.unnest()
    pairs = zip(frame["item"].cast(pl.String).to_list(), frame["score"].to_list(), strict=True)
    names = users["value"].cast(pl.String).to_list()
    return {
        user: dict(islice(pairs, length))
        for user, length in zip(names, users["len"].to_list(), strict=True)
    }


def _objects(lists: pl.DataFrame, relevant: pl.DataFrame) -> tuple[Any, Any]:
    return ranx.Run(_nested(lists)), ranx.Qrels(_nested(relevant))


def _arrays(lists: pl.DataFrame, relevant: pl.DataFrame) -> tuple[Any, Any]:
    if lists["item"].dtype == pl.String:
        numbers = pl.concat([lists["item"], relevant["item"]]).cast(pl.Categorical).to_physical()
        lists, relevant = (
            lists.with_columns(numbers[: len(lists)]),
            relevant.with_columns(numbers[len(lists) :]),
        )
    return _typed(lists), _typed(relevant)


def _typed(frame: pl.DataFrame) -> Any:
    frame = frame.sort("user", "score", descending=[False, True])
    table = np.column_stack(
        (frame["item"].to_numpy().astype(float), frame["score"].to_numpy().astype(float))
    )
    return _pieces(table, frame["user"].rle().struct.field("len").to_numpy())


@numba.njit(cache=True)
def _pieces(table, lengths):
    pieces = numba.typed.List()
    start = 0
    for length in lengths:
        pieces.append(table[start : start + length])
        start += length
    return pieces
