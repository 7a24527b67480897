"""`rf.rec(frame, truth, ...)`: the `.rec` of a frame for type checkers, and of frames that have no namespace of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from recframe.frames.kinds.lookup import ArrowStream, in_memory, kind_for
from recframe.frames.kinds.recframe_models import held
from recframe.namespace.bound_frame import Rec
from recframe.namespace.bound_metric import F
from recframe.namespace.on_engine import rec_for

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recframe.frames.context import Options
    from recframe.namespace.bound_frame import Segmented


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

    A dict of frames of one kind, `rf.rec({"svd": svd, "knn": knn}, truth)`, compares models: they stand one below the other,
    and a column of text, `model` or what `model=` names, has the keys. What a call does not need may differ between them.

    A frame with Arrow's PyCapsule interface (a DuckDB relation, an Ibis or Modin table, a stream) is read into memory once,
    with all its columns, and answers in frames of Polars; a pyarrow.Table answers in tables. Side frames are taken likewise.

    >>> import polars as pl, recframe as rf
    >>> df = pl.DataFrame({"user": [1], "item": [1], "rank": [1], "relevance": [1]})
    >>> rf.rec(df).hit_rate(k=1)
    1.0
    """
    title = "the first argument of rec()"
    frame, options = held(in_memory(frame, title), options)
    kind_for(frame, title)
    found = rec_for(frame)
    return found(*truth, **options) if truth or options else found
