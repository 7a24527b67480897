"""The `.rec` of any frame, also in buckets of users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NoReturn, overload

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import By, F
from recframe.api.divided_calls import GATE, on_engine
from recframe.api.rec_class import Rec
from recframe.errors import RecframeError, shown
from recframe.frames.hints import OF_ENGINES
from recframe.frames.kinds.kind import ArrowStream, in_memory, kind_for, kind_of_class
from recframe.frames.kinds.several_models import Models, held
from recframe.frames.options import NamedFrame
from recframe.metrics.language.definition import Metrics

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recframe.api.rec_class import Segmented
    from recframe.frames.options import Options

BY_BUCKET = ("evaluate", "summarize", "compare", "power", "gaps", "slices", "judge", "audit", GATE)
"""Methods whose plans are sums over users, or users' rows."""
HERE = ("table", "pareto", "track", "fingerprint")
"""Methods that run in buckets of this machine too: they are made of those above, or stream."""
REFUSED = ("explain", "report", "worst", "best", "core")


def rec_for(frame: Any) -> Rec[Any]:
    """Return the `.rec` of a frame of any kind; the frames of several models become one of their engine's."""
    engine = kind_for(frame).engine
    if engine is not None and isinstance(frame, Models):
        frame = engine.stacked(frame.frames, frame.model)
    return Rec(frame) if engine is None else InBuckets(frame)


def _method(name: str) -> Callable[..., Any]:
    """Return a method of frames that are read in buckets: on their plan, as ever, or refused."""

    @wraps(getattr(Rec, name))
    def called(self: Any, *arguments: Any, **options: Any) -> Any:
        if name in BY_BUCKET:
            return on_engine(self, name, arguments, options)
        if name in HERE and kind_for(self._frame).engine is None:
            return getattr(Rec, name)(self, *arguments, **options)
        _refuse(self, name)

    return called


def _refuse(rec: Any, name: str) -> NoReturn:
    """Refuse what is no sum over users."""
    engine = kind_for(rec._frame).engine  # noqa: SLF001  a Rec's own frame
    instead = (
        "leave memory= out"
        if engine is None
        else f"give it a frame of this process, such as pl.scan_parquet(path), in place of one of {engine.name}"
    )
    raise RecframeError(
        f"rec.{name} is not a sum over users, so it does not run in buckets: {instead}, or request "
        "evaluate(..., by='user'), summarize(...) or compare(...)"
    )


class InBuckets(Rec[F]):
    """Recommender metrics of an engine's frame, such as Spark's, or of one that is read in buckets; see `Rec`."""

    for _name in (*BY_BUCKET, *HERE, *REFUSED):
        locals()[_name] = _method(_name)

    plot, split = (property(partial(_refuse, name=name)) for name in ("plot", "split"))

    def _values(self, metrics: Metrics, by: By, **_: bool) -> F:
        """Return metrics by segment, of a metric of the frame."""
        return self.evaluate(*metrics, by=by)


Rec._in_buckets = InBuckets  # noqa: SLF001  which a Rec cannot import


class _Accessor:
    """Descriptor of `rec` on engine frames; a column `rec` takes precedence."""

    def __get__(self, frame: Any, owner: type | None = None) -> Any:
        if frame is None:
            return self
        return frame["rec"] if "rec" in frame.columns else rec_for(frame)


def register(frame_class: type) -> None:
    """Put `.rec` on the frames of an engine: `rf.register(pyspark.sql.DataFrame)`, and then `df.rec.ndcg(k=10)`.

    It holds for the process, and for subclasses, such as those of Spark Connect. A frame with a column `rec` still gives that
    column; `rf.rec(df)` is the same object, for any frame.

    Raises a RecframeError for a class that is not an engine's, or that already has another attribute `rec`.

    >>> import recframe as rf
    >>> rf.register(int)
    Traceback (most recent call last):
    recframe.errors.RecframeError: int is not a class of an engine's frames; give pyspark.sql.DataFrame or
    dask.dataframe.DataFrame
    """
    kind = kind_of_class(frame_class) if isinstance(frame_class, type) else None
    if kind is None or kind.engine is None:
        name = getattr(frame_class, "__name__", shown(frame_class))
        raise RecframeError(
            f"{name} is not a class of an engine's frames; give {' or '.join(OF_ENGINES)}"
        )
    if not isinstance(vars(frame_class).get("rec"), _Accessor):
        if hasattr(frame_class, "rec"):
            raise RecframeError(
                f"{frame_class.__name__} already has another attribute rec; write rf.rec(frame)"
            )
        frame_class.rec = _Accessor()  # type: ignore[attr-defined]  # which is what is put there


# Frames of Polars and pandas are streams too.
@overload
def rec(  # type: ignore[overload-overlap]
    frame: F, truth: Any = ..., *, model: None = None, **options: Unpack[Options]
) -> Rec[F]: ...
@overload
def rec(  # type: ignore[overload-overlap]
    frame: F, truth: Any = ..., *, model: str, **options: Unpack[Options]
) -> Segmented[F]: ...
@overload
def rec(
    frame: Mapping[str, F],
    truth: Any = ...,
    *,
    model: str | None = None,
    **options: Unpack[Options],
) -> Segmented[F]: ...
@overload
def rec(
    frame: ArrowStream, truth: Any = ..., *, model: None = None, **options: Unpack[Options]
) -> Rec[pl.DataFrame]: ...
@overload
def rec(
    frame: ArrowStream, truth: Any = ..., *, model: str, **options: Unpack[Options]
) -> Segmented[pl.DataFrame]: ...
def rec(frame: Any, *truth: Any, **options: Any) -> Rec[Any]:
    """Return `frame.rec`, or with a truth and options `frame.rec(...)`, in a form that type checkers and editors know.

    A dict of frames of one kind, `rf.rec({"svd": svd, "knn": knn}, truth)`, compares models: they are concatenated, with the
    keys in a text column, `model` or the name in `model=`. Columns that a call does not need may differ between them.

    A frame with Arrow's PyCapsule interface (a DuckDB relation, an Ibis or Modin table, a stream) is read into memory once,
    with all its columns, and gives Polars frames; a pyarrow.Table gives tables. Side frames work the same way.

    >>> import polars as pl, recframe as rf
    >>> df = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]})
    >>> rf.rec(df).hit_rate(k=1)
    1.0
    """
    title = "the first argument of rec()"
    if isinstance(frame, NamedFrame):
        frame, options = frame.frame, {**frame.names, **options}
    frame, options = held(in_memory(frame, title), options)
    kind_for(frame, title)
    found = rec_for(frame)
    return found(*truth, **options) if truth or options else found


vars(rec)["__signature__"] = argument_errors.signature_of_rec("frame")
NamedFrame.rec = property(rec)
