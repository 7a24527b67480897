"""The `.rec` of a frame that an engine holds on many machines: the same methods, run bucket by bucket of users."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from recframe.errors import RecframeError
from recframe.frames.context import Context
from recframe.frames.kinds.lookup import collected, kind_for
from recframe.frames.kinds.recframe_models import Models
from recframe.namespace import calls
from recframe.namespace.bound_frame import Rec
from recframe.namespace.bound_metric import F
from recframe.namespace.gates import gate_of
from recframe.uncertainty import options, unmet
from recframe.uncertainty.requirements import required

BY_BUCKET = (
    "evaluate",
    "summarize",
    "compare",
    "winner",
    "power",
    "gaps",
    "require",
    "judge",
    "audit",
)
"""The methods whose plans are sums over users, or rows of them."""
INSTEAD = {
    "collect": "evaluate(...), whose result is a frame of {engine}",
    "slices": "summarize(..., by=...), which has the segments' values and intervals",
    "worst": "evaluate(..., by='user'), and sort that frame",
    "best": "evaluate(..., by='user'), and sort that frame",
}
"""What to ask in place of methods that are no sums over users."""
SOME = "it of some users, in frames of Polars or pandas"


def rec_for(frame: Any) -> Rec[Any]:
    """Return the `.rec` of a frame of any kind; the frames of several models become one of their engine's."""
    kind = kind_for(frame)
    several = next(iter(frame.frames.values())) if isinstance(frame, Models) else frame
    engine = kind.engine if several is frame else kind_for(several).engine
    if engine is None:
        return Rec(frame)
    return OnEngine(frame if several is frame else engine.stacked(frame.frames, frame.model))


def _by_bucket(name: str) -> Callable[..., Any]:
    @wraps(getattr(Rec, name))
    def called(self: Any, *arguments: Any, **options: Any) -> Any:
        from recframe.namespace.divided import run  # noqa: PLC0415  pyarrow comes with engines

        return run(self, name, arguments, options)

    return called


def _refused(name: str) -> Callable[..., Any]:
    @wraps(getattr(Rec, name))
    def called(self: Any, *_: Any, **__: Any) -> Any:
        raise _no_sum(self, name)

    return called


def _no_sum(rec: Any, name: str) -> RecframeError:
    engine = kind_for(rec._frame).engine.name  # type: ignore[union-attr]  # noqa: SLF001  a Rec's own frame
    instead = INSTEAD.get(name, SOME).format(engine=engine)
    return RecframeError(
        f"rec.{name} is no sum over users, which {engine} could add up; ask {instead}"
    )


REFUSED = tuple(name for name in calls.METHODS if "." not in name and name not in BY_BUCKET)


class OnEngine(Rec[F]):
    """Recommender metrics of a frame that an engine holds, such as Spark's; see `Rec`."""

    for _name in set(BY_BUCKET) - {"require"}:
        locals()[_name] = _by_bucket(_name)

    @wraps(Rec.require)
    def require(  # type: ignore[override]  # takes what that of a Rec does
        self, *requirements: Any, raises: bool = True, wide: bool = False, **given: Any
    ) -> Any:
        """Raise where a requirement fails; see `Rec.require`."""
        from recframe.namespace.divided import run  # noqa: PLC0415  pyarrow comes with engines

        wide = options.yes_or_no("wide", wide)
        of_result = {"raises": False, "wide": wide or raises}
        result = run(self, "require", requirements, {**given, **of_result})
        if not raises:
            return result
        of_gate = {
            name: given[name] for name in ("strict", "min_users", "missing") if name in given
        }
        gate = gate_of(required(requirements, given.get("k")), **of_gate)
        return unmet.check_collected(collected(result), gate, wide=wide)

    for _name in REFUSED:
        locals()[_name] = _refused(_name)

    @property
    def plot(self) -> Any:
        """Say that charts are drawn of results."""
        raise _no_sum(self, "plot")

    def _with(self, context: Context) -> Rec[F]:
        bound: OnEngine[F] = OnEngine(self._frame)
        bound._context = context
        return bound
