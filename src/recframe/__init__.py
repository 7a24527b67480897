"""Recommender metrics as dataframe expressions: importing recframe puts `.rec` on Polars and pandas frames."""

from typing import TYPE_CHECKING, Any

from recframe.conventions.profiles import list_profiles
from recframe.errors import ColumnError, DataError, RecframeError, RecframeWarning, UnknownMetricError
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
from recframe.metrics.accuracy_curves import interpolated_precision, partial_auc
from recframe.metrics.calibration_metrics import miscalibration
from recframe.metrics.catalogue_metrics import coverage, entropy, fall_out, gini, mcc, user_coverage
from recframe.metrics.diversity_metrics import alpha_ndcg, category_coverage, diversity
from recframe.metrics.exposure_metrics import exposure_disparity, exposure_share
from recframe.metrics.language.at import At
from recframe.metrics.language.at_lists import AtLists
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.formulas import ratio
from recframe.metrics.language.parameters import Bounds
from recframe.metrics.language.registry import list_metrics, metric, parse
from recframe.metrics.personalization_metrics import personalization
from recframe.metrics.popularity_metrics import (
    efd,
    epc,
    long_tail_count,
    long_tail_share,
    novelty,
    popularity,
    popularity_lift,
    repeat_rate,
    tail_coverage,
)
from recframe.metrics.reference_metrics import overlap, rbo, unexpectedness
from recframe.metrics.serendipity_metrics import serendipity
from recframe.namespace.accessors import register as _register
from recframe.namespace.bound_frame import Rec, rec

if TYPE_CHECKING:
    from recframe.conventions.explanation import explain

__version__ = "0.1.0"

_register()


def __getattr__(name: str) -> Any:
    """Give what is imported when it is asked for, since importing recframe should take no time."""
    if name == "explain":
        from recframe.conventions.explanation import explain  # noqa: PLC0415

        return explain
    msg = f"module 'recframe' has no attribute {name!r}"
    raise AttributeError(msg)


__all__ = [
    "At",
    "AtLists",
    "Bounds",
    "ColumnError",
    "DataError",
    "Metric",
    "Rec",
    "RecframeError",
    "RecframeWarning",
    "UnknownMetricError",
    "alpha_ndcg",
    "auc",
    "bpref",
    "category_coverage",
    "coverage",
    "dcg",
    "diversity",
    "efd",
    "entropy",
    "epc",
    "err",
    "explain",
    "exposure_disparity",
    "exposure_share",
    "f_score",
    "fall_out",
    "first_rank",
    "gini",
    "hit_rate",
    "interpolated_precision",
    "judged",
    "list_length",
    "list_metrics",
    "list_profiles",
    "long_tail_count",
    "long_tail_share",
    "map",
    "mcc",
    "metric",
    "miscalibration",
    "mrr",
    "n_hits",
    "ndcg",
    "novelty",
    "overlap",
    "parse",
    "partial_auc",
    "personalization",
    "popularity",
    "popularity_lift",
    "precision",
    "r_precision",
    "ratio",
    "rbo",
    "rbp",
    "rec",
    "recall",
    "repeat_rate",
    "serendipity",
    "tail_coverage",
    "unexpectedness",
    "user_coverage",
]
