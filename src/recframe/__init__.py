"""Recommender metrics as dataframe expressions: importing recframe registers `.rec` on frames."""

import builtins as _builtins
from importlib import import_module
from typing import TYPE_CHECKING, Any

from recframe import metrics as _metrics
from recframe.api.argument_errors import no_attribute as _no_attribute
from recframe.api.engine_call import rec as rec
from recframe.api.rec_class import METHODS as _METHODS
from recframe.api.rec_class import Rec as Rec
from recframe.api.rec_class import register as _register
from recframe.errors import ColumnError as ColumnError
from recframe.errors import DataError as DataError
from recframe.errors import RecframeError as RecframeError
from recframe.errors import RecframeWarning as RecframeWarning
from recframe.errors import RequirementError as RequirementError
from recframe.errors import UnknownMetricError as UnknownMetricError
from recframe.frames.options import frame as frame
from recframe.metrics import *
from recframe.metrics.language.at import At as At
from recframe.metrics.language.at import ratio as ratio
from recframe.metrics.language.at_lists import AtLists as AtLists
from recframe.metrics.language.definition import Bounds as Bounds
from recframe.metrics.language.definition import Metric as Metric
from recframe.metrics.language.registry import metric as metric
from recframe.metrics.language.registry import parse as parse
from recframe.profiles.library_profiles import list_profiles as list_profiles

if TYPE_CHECKING:
    from recframe.api.added_batches import Accumulator as Accumulator
    from recframe.api.added_batches import accumulator as accumulator
    from recframe.api.engine_call import register as register
    from recframe.api.fused_lists import fuse as fuse
    from recframe.profiles.explanation import explain as explain
    from recframe.profiles.explanation import list_metrics as list_metrics
    from recframe.readers.nested_lists import from_lists as from_lists
    from recframe.readers.nested_lists import from_truth as from_truth
    from recframe.readers.score_matrix import from_scores as from_scores
    from recframe.readers.trec_files import read_trec_qrels as read_trec_qrels
    from recframe.readers.trec_files import read_trec_run as read_trec_run
    from recframe.reports.dashboards import dashboard as dashboard
    from recframe.statistics.requirements import Requirement as Requirement
    from recframe.tracking.changed_runs import changes as changes
    from recframe.tracking.histories import flat as flat
    from recframe.tracking.histories import history as history

__version__ = "0.1.0"

_register()

if not TYPE_CHECKING:
    # Checkers read the names off the imports above, which a list that is made here would hide from them.
    _LATER = {
        **dict.fromkeys(["Accumulator", "accumulator"], "api.added_batches"),
        "fuse": "api.fused_lists",
        **dict.fromkeys(["explain", "list_metrics"], "profiles.explanation"),
        "Requirement": "statistics.requirements",
        "register": "api.engine_call",
        **dict.fromkeys(["from_lists", "from_truth"], "readers.nested_lists"),
        "from_scores": "readers.score_matrix",
        "dashboard": "reports.dashboards",
        "changes": "tracking.changed_runs",
        **dict.fromkeys(["flat", "history"], "tracking.histories"),
        **dict.fromkeys(["read_trec_qrels", "read_trec_run"], "readers.trec_files"),
    }
    _own = [
        "At",
        "AtLists",
        "Bounds",
        "Metric",
        "Rec",
        "frame",
        "list_profiles",
        "metric",
        "parse",
        "ratio",
        "rec",
    ]
    _errors = [
        "ColumnError",
        "DataError",
        "RecframeError",
        "RecframeWarning",
        "RequirementError",
        "UnknownMetricError",
    ]
    _names = sorted([*_metrics.__all__, *_own, *_errors, *_LATER])
    # NOTE: without `map`, which `from recframe import *` would take Python's place of; `rf.map` is there all the same.
    __all__ = [name for name in _names if not hasattr(_builtins, name)]

    def __dir__() -> list[str]:
        """List what users may use, and nothing else."""
        return [*_names, "__all__", "__doc__", "__version__"]

    def __getattr__(name: str) -> Any:
        """Give what is imported when it is asked for, since importing recframe should take no time."""
        if name in _LATER:
            return getattr(import_module(f"recframe.{_LATER[name]}"), name)
        # NOTE: how a module's own names are looked for is Python's affair: it asks for __path__ and such.
        msg = f"module 'recframe' has no attribute {name!r}"
        raise AttributeError(msg if name.startswith("_") else _no_attribute(name, _names, _METHODS))
