"""What `rec` answers beside its metrics, a file for each kind of answer."""

from __future__ import annotations

from recframe.namespace.best_of_many import BestOfMany
from recframe.namespace.bound_metric import F
from recframe.namespace.charted import Charted
from recframe.namespace.findings_shown import FindingsShown
from recframe.namespace.gates import Gates
from recframe.namespace.lists_shown import ListsShown
from recframe.namespace.reported import Reported
from recframe.namespace.segments_compared import SegmentsCompared
from recframe.namespace.tables import Tables
from recframe.namespace.tracked import Tracked
from recframe.namespace.uncertain import Uncertain


class Answers(
    Uncertain[F],
    BestOfMany[F],
    SegmentsCompared[F],
    Gates[F],
    ListsShown[F],
    FindingsShown[F],
    Tracked[F],
    Tables[F],
    Charted[F],
    Reported[F],
):
    """How sure numbers are, segments, gates, the lists and findings behind them, histories, tables and charts."""
