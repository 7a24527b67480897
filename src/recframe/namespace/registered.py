"""`rf.register`: `.rec` on the frames of an engine, whose library has no way of its own to register a name."""

from __future__ import annotations

from typing import Any

from recframe.errors import RecframeError, shown
from recframe.frames.kinds.lookup import OF_ENGINES, kind_of_class
from recframe.namespace.on_engine import rec_for

CLASSES = f"{', '.join(OF_ENGINES[:-1])} or {OF_ENGINES[-1]}"


class _Accessor:
    """What a class of frames has as `rec`: that of the frame, or its column of this name, which it would be otherwise."""

    def __get__(self, frame: Any, owner: type | None = None) -> Any:
        if frame is None:
            return self
        return frame["rec"] if "rec" in frame.columns else rec_for(frame)


def register(frame_class: type) -> None:
    """Put `.rec` on the frames of an engine: `rf.register(pyspark.sql.DataFrame)`, and then `df.rec.ndcg(k=10)`.

    It holds for the process, and for classes that are made of this one, such as those of Spark Connect. A frame with a column
    `rec` gives that column as before; `rf.rec(df)` is the same object, for any frame.

    Raises a RecframeError for a class of frames that no engine holds, or that has something else of this name.

    >>> import recframe as rf
    >>> rf.register(int)
    Traceback (most recent call last):
    recframe.errors.RecframeError: int is no class of frames that an engine holds; give pyspark.sql.DataFrame,
    dask.dataframe.DataFrame or daft.DataFrame
    """
    kind = kind_of_class(frame_class) if isinstance(frame_class, type) else None
    if kind is None or kind.engine is None:
        name = getattr(frame_class, "__name__", shown(frame_class))
        msg = f"{name} is no class of frames that an engine holds; give {CLASSES}"
        raise RecframeError(msg)
    if not isinstance(vars(frame_class).get("rec"), _Accessor):
        if hasattr(frame_class, "rec"):
            msg = f"{frame_class.__name__} has something else of the name rec; write rf.rec(frame)"
            raise RecframeError(msg)
        frame_class.rec = _Accessor()  # type: ignore[attr-defined]  # which is what is put there
