"""Recommender metrics as dataframe expressions: importing recframe puts `.rec` on Polars and pandas frames."""

from recframe.errors import ColumnError, DataError, RecframeError, UnknownMetricError
from recframe.explanation import explain
from recframe.metrics.accuracy import (
    auc,
    bpref,
    dcg,
    err,
    f_score,
    first_rank,
    hit_rate,
    judged,
    list_length,
    map,  # noqa: A004  the field's own word; it stays rf.map
    mrr,
    n_hits,
    ndcg,
    precision,
    r_precision,
    rbp,
    recall,
)
from recframe.namespace import Rec, rec
from recframe.profiles import list_profiles
from recframe.registration import register as _register
from recframe.registry import Bounds, Metric, list_metrics, metric, parse
from recframe.terms import At, ratio

__version__ = "0.1.0"

_register()

__all__ = [
    "At",
    "Bounds",
    "ColumnError",
    "DataError",
    "Metric",
    "Rec",
    "RecframeError",
    "UnknownMetricError",
    "auc",
    "bpref",
    "dcg",
    "err",
    "explain",
    "f_score",
    "first_rank",
    "hit_rate",
    "judged",
    "list_length",
    "list_metrics",
    "list_profiles",
    "map",
    "metric",
    "mrr",
    "n_hits",
    "ndcg",
    "parse",
    "precision",
    "r_precision",
    "ratio",
    "rbp",
    "rec",
    "recall",
]
