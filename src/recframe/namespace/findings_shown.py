"""The method of `rec` that shows what the audit finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from recframe.namespace import calls
from recframe.namespace.bound_metric import By, F

if TYPE_CHECKING:
    from recframe.audit.findings import Findings


class FindingsShown(Generic[F]):
    """The method that shows findings."""

    @calls.understood
    def findings(self, k: int | None = None, *, by: By = None) -> Findings[F]:
        """Return what `audit` finds, to read: what each check looks for, where, an example and the remedy, in full.

        Printed it is a text, in a notebook a table; `frame` is what `audit` returns. `k` and `by` are those of `audit`. Nothing
        of a LazyFrame is collected, so that its findings are in `frame` alone.

        >>> import polars as pl, recframe
        >>> recs = pl.DataFrame({"user": [1, 1], "item": [1, 1], "rank": [1, 2]})
        >>> recs.rec(truth=pl.DataFrame({"user": [1], "item": [1]})).findings()
        1 finding: 1 error
        <BLANKLINE>
        1. duplicate_items (error): Items that stand twice in one list.
           in        the recommendations: 2 rows, 1 user
           example   user 1, item 1, rows 2
           recframe  the item counts once, at its best rank
           remedy    keep one row for each user and item; rec(model=...), if several systems have it
        """
        from recframe.audit.findings import Findings  # noqa: PLC0415  importing recframe should take no time

        rec: Any = self
        frame = rec.audit(k, by=by)
        return Findings(frame, rec._kind.rows(frame))  # noqa: SLF001  the method is one of a Rec
