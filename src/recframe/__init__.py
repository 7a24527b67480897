"""Recommender metrics as dataframe expressions: importing recframe puts `.rec` on Polars and pandas frames."""

from typing import TYPE_CHECKING, Any

from recframe import metrics as _metrics
from recframe.conventions.profiles import list_profiles as list_profiles
from recframe.errors import ColumnError as ColumnError
from recframe.errors import DataError as DataError
from recframe.errors import RecframeError as RecframeError
from recframe.errors import RecframeWarning as RecframeWarning
from recframe.errors import UnknownMetricError as UnknownMetricError
from recframe.metrics import *
from recframe.metrics.language.at import At as At
from recframe.metrics.language.at_lists import AtLists as AtLists
from recframe.metrics.language.definition import Metric as Metric
from recframe.metrics.language.formulas import ratio as ratio
from recframe.metrics.language.parameters import Bounds as Bounds
from recframe.metrics.language.registry import list_metrics as list_metrics
from recframe.metrics.language.registry import metric as metric
from recframe.metrics.language.registry import parse as parse
from recframe.namespace.accessors import register as _register
from recframe.namespace.bound_frame import Rec as Rec
from recframe.namespace.bound_frame import rec as rec

if TYPE_CHECKING:
    from recframe.conventions.explanation import explain as explain

__version__ = "0.1.0"

_register()

if not TYPE_CHECKING:
    # Checkers read the names off the imports above, which a list that is made here would hide from them.
    _own = [
        "At",
        "AtLists",
        "Bounds",
        "Metric",
        "Rec",
        "explain",
        "list_metrics",
        "list_profiles",
        "metric",
        "parse",
        "ratio",
    ]
    _errors = ["ColumnError", "DataError", "RecframeError", "RecframeWarning", "UnknownMetricError"]
    __all__ = sorted([*_metrics.__all__, *_own, *_errors, "rec"])  # noqa: PLE0605  a list all the same

    def __getattr__(name: str) -> Any:
        """Give what is imported when it is asked for, since importing recframe should take no time."""
        if name == "explain":
            from recframe.conventions.explanation import explain  # noqa: PLC0415

            return explain
        msg = f"module 'recframe' has no attribute {name!r}"
        raise AttributeError(msg)
