"""Metrics bound to a frame, such as `df.rec.ndcg`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from inspect import Parameter
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import polars as pl

from recframe.api import reprs
from recframe.api.argument_errors import names, understood
from recframe.errors import CallError, shown
from recframe.frames.kinds.kind import kind_for
from recframe.metrics.language.definition import Metric, OfEach, is_many
from recframe.metrics.language.registry import Asked, By, Cutoffs

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Asked", "BoundMetric", "By", "Cutoffs", "F"]

F = TypeVar("F", bound="pl.DataFrame | pl.LazyFrame | pd.DataFrame")


def _signature(bound: BoundMetric[Any]) -> inspect.Signature:
    """Return the parameters of a call: the metric's own behind those of every metric."""
    way = Parameter.POSITIONAL_OR_KEYWORD
    types = {"k": Cutoffs, "by": By}
    of_each = [Parameter(name, way, default=None, annotation=kind) for name, kind in types.items()]
    return inspect.Signature([*of_each, *bound.metric.typed_parameters.values()])


@dataclass(frozen=True, repr=False)
class BoundMetric(Generic[F]):
    """A metric of a frame: call it with `k`, `by` and the metric's own parameters."""

    rec: Any
    """The `Rec[F]` of the frame."""
    metric: Metric[...]

    __signature__ = OfEach(_signature)
    __wrapped__ = OfEach(lambda bound: bound.metric.definition.function)

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.metric.__doc__)

    @overload
    def __call__(
        self: BoundMetric[pl.DataFrame] | BoundMetric[pd.DataFrame],
        k: int | None = None,
        by: None = None,
        **parameters: Any,
    ) -> float: ...
    @overload
    def __call__(self, k: Cutoffs = None, by: By = None, **parameters: Any) -> F: ...
    @understood
    def __call__(self, k: Any = None, by: Any = None, **parameters: Any) -> Any:
        """Return the metric: a float for one cut-off of an eager frame without segments, otherwise a frame as `evaluate`."""
        asked = self.metric(**parameters)
        result: Any = self.rec.evaluate(asked, k=k, by=by)
        context = self.rec._context  # noqa: SLF001  the two classes are one object to the user
        by_segment = context.by or context.model is not None or (by is not None and names(by))
        rows = None if by_segment or is_many(k) else kind_for(result).rows(result)
        if rows is None:
            return result
        *_, value = rows[0].values()
        return float("nan") if value is None else float(value)

    def __repr__(self) -> str:
        return f"<{self.metric} of {reprs.of_frame(self.rec._frame)}>"  # noqa: SLF001  as below

    if not TYPE_CHECKING:

        def __matmul__(self, k: object) -> None:
            """Say how a metric of a frame gets its cut-off."""
            name, cut = self.metric.name, shown(k)
            calls_of_it = f"frame.rec.{name}(k={cut}), or frame.rec.evaluate(rf.{name} @ {cut})"
            msg = f"rec.{name} takes its cut-off when it is called: write {calls_of_it}"
            raise CallError(msg)
