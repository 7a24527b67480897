"""Which kind a frame is of, and what is said of what is no frame."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from recframe.errors import RecframeError, kind_of
from recframe.frames import kinds
from recframe.frames.kinds.kind import Kind


def kind_for(frame: Any, title: str = "the frame") -> Kind:
    """Return a frame as one of its kind, or say which frames are taken, where something else was given."""
    found = _kind_of(frame)
    if found is None:
        msg = f"{title} is {kind_of(frame)}; give a polars.DataFrame, a polars.LazyFrame or a pandas.DataFrame"
        raise RecframeError(msg + _made_a_frame(frame))
    return found(frame)


def is_frame(thing: object) -> bool:
    """Whether something is a frame that is taken."""
    return _kind_of(thing) is not None


def _kind_of(thing: object) -> type[Kind] | None:
    return _kind_of_class(type(thing))  # type: ignore[arg-type]  # a class can be hashed


@cache
def _kind_of_class(frame_class: type) -> type[Kind] | None:
    """Return the kind whose file bears the name of a class or of one that it is made from.

    NOTE: a file is imported for a frame of its own library alone, which is then loaded, so that no kind costs anything
    where it is not used.
    """
    files = {module.name for module in iter_modules(kinds.__path__)}
    for base in frame_class.__mro__:
        name = f"{base.__module__.partition('.')[0]}_{base.__name__}".lower()
        if name in files:
            kind: type[Kind] = import_module(f"{kinds.__name__}.{name}").KIND
            return kind
    return None


def _made_a_frame(thing: Any) -> str:
    """Return how something else becomes a frame, where that is known."""
    library, kind = type(thing).__module__.partition(".")[0], type(thing).__name__
    known = {
        "recframe": ", not what recframe makes of it",
        "pyarrow": ": pl.from_arrow(table)",
        "pyspark": ": spark_frame.toPandas()",
        "Series": ": series.reset_index()" if library == "pandas" else ": series.to_frame()",
        "str": ", not a path: pl.scan_parquet(path), pl.scan_csv(path)",
    }
    columns = (
        ", with a column for each of user, item and what is known of both: pl.DataFrame({...})"
    )
    known |= dict.fromkeys(("list", "dict", "ndarray"), columns)
    if "GroupBy" in kind:
        return ": the one that was grouped, with the groups as by='...'"
    return known.get(library) or known.get(kind, "")
