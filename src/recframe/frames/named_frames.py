"""`rf.frame`: a side frame with column names of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

from recframe.errors import CallError, sentence, suggestion
from recframe.frames.hints import ROLES
from recframe.frames.kinds.lookup import in_memory, is_frame, kind_for
from recframe.frames.options import Context, Relevance

NAMES = tuple(role for role in ROLES if role not in {"model", "training"})  # side frames have none
C = TypeVar("C", bound=Callable[..., Any])


@dataclass(frozen=True)
class NamedFrame:
    """Side frame with column names by role; False: no relevance is read."""

    frame: Any
    names: Mapping[str, Any]


def size_of(frame: Any) -> int:
    """Return the number of rows of a side frame if known; 0 for other objects."""
    given = frame.frame if isinstance(frame, NamedFrame) else frame
    return kind_for(given).size if is_frame(given) else 0


def _known_alone(function: C) -> C:
    """Suggest the closest role for an unknown one; the signature stays."""

    @wraps(function)
    def called(frame: Any, **names: Any) -> Any:
        for name in names:
            if name not in NAMES:
                found = sentence(f"rf.frame() has no role {name!r}", suggestion(name, NAMES))
                msg = f"{found} It names the columns {', '.join(NAMES)} of a side frame"
                raise CallError(msg)
        return function(frame, **names)

    return cast("C", called)


@_known_alone
def frame(  # noqa: PLR0913  a name for each role
    frame: Any,
    *,
    user: str | None = None,
    item: str | None = None,
    rank: str | None = None,
    score: str | None = None,
    relevance: Relevance | None = None,
    propensity: str | None = None,
) -> NamedFrame:
    """Return a frame to bind as `truth=`, `users=`, `items=`, `train=` or `reference=`, with column names of its own.

    They hold for this frame alone and win over those of `rec(...)`, which hold for all frames. Results have the names of
    the call.

    Raises a CallError for an unknown role; a ColumnError for a missing column, where a metric is asked for.

    >>> import polars as pl, recframe as rf
    >>> recs = pl.DataFrame({"user": [1, 1], "item": [10, 11], "rank": [1, 2]})
    >>> sales = pl.DataFrame({"customer": [1], "isbn": [11], "stars": [5]})
    >>> recs.rec(truth=rf.frame(sales, user="customer", item="isbn", relevance="stars")).mrr(k=2)
    0.5
    """
    title = "the first argument of rf.frame()"
    frame = in_memory(frame, title)
    kind_for(frame, title)
    given = {"user": user, "item": item, "rank": rank, "score": score, "relevance": relevance}
    given["propensity"] = propensity
    names = {role: name for role, name in given.items() if name is not None}
    Context().check(names)
    return NamedFrame(frame, names)


def is_side(thing: object) -> bool:
    """Whether an object can be bound as a side frame."""
    return isinstance(thing, NamedFrame) or is_frame(thing)
