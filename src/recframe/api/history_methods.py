"""Histories in calls of `rec`: `track` and `fingerprint`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, TypedDict, overload

import polars as pl

from recframe.api import argument_errors
from recframe.api.argument_errors import Asked, By, Cutoffs, F
from recframe.metrics.language import registry

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from recframe.tracking.histories import History


class TrackOptions(TypedDict, total=False):
    """The options of `track`, but where and of which time the run is."""

    name: str | None
    tags: Mapping[str, object] | None
    k: Cutoffs
    by: By
    level: float
    cluster: str | None


class Tracked(Generic[F]):
    """`rec.track` and `rec.fingerprint`: results kept in a history."""

    @overload
    def track(
        self: Tracked[pl.LazyFrame],
        *metrics: Asked,
        history: History,
        as_of: date | str,
        **options: Unpack[TrackOptions],
    ) -> pl.DataFrame: ...
    @overload
    def track(
        self,
        *metrics: Asked,
        history: History,
        as_of: date | str,
        **options: Unpack[TrackOptions],
    ) -> F: ...
    @argument_errors.understood
    def track(  # noqa: PLR0913  those of summarize, and what is known of the run
        self,
        *metrics: Asked,
        history: History,
        as_of: date | str,
        name: str | None = None,
        tags: Mapping[str, object] | None = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        cluster: str | None = None,
    ) -> Any:
        """Write `summarize(...)` to a history, with the fingerprint of the data (see `fingerprint`), and return what it wrote.

            history: a folder of Parquet files, one for each run, such as "history.parquet", created if missing.
            as_of: the time of the result, such as "2026-11-22" or "2026-11-22T06:00+01:00": text, a date or a datetime.
                Without a zone it is UTC.
            name: a name of the run, so that several runs of one time and data do not replace each other.
            tags: values by name that are stored with each row: {"commit": "3f2a1c"} in a column `tag_commit`.
            k, by, level, cluster: those of `summarize`.

        A run with the same `as_of`, `name` and data replaces the earlier one, with all of its metrics: compute the metrics of
        a run in one call, or name the runs. A file has a temporary name until it is complete, so that readers see a whole run
        or none, and several processes may write at once.

        The columns of a file are `as_of`, `name`, those of tags, `by` as text ("null" for a segment that is null), `metric`,
        `value`, `low`, `high` (its interval), `std`, `n` (its users), `fingerprint`. `rf.history(...)` has all runs as a
        frame; Polars and DuckDB read the folder too: `read_parquet('folder/*.parquet')`. Of a LazyFrame the plan runs, and
        the result is a DataFrame.

        Raises what `summarize` raises, a RecframeError for an `as_of` that is not a time and a place that cannot be written,
        and a ColumnError if `by` has the name of one of the file's own columns.

        >>> import polars as pl, recframe as rf, tempfile
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for day in ("2026-11-21", "2026-11-22"):
        ...         tracked = df.rec.track("mrr", history=folder, as_of=day)
        ...     rf.history(folder).select("as_of", "value", "n")
        shape: (2, 3)
        ┌─────────────────────┬───────┬─────┐
        │ as_of               ┆ value ┆ n   │
        │ ---                 ┆ ---   ┆ --- │
        │ datetime[μs]        ┆ f64   ┆ i64 │
        ╞═════════════════════╪═══════╪═════╡
        │ 2026-11-21 00:00:00 ┆ 0.75  ┆ 2   │
        │ 2026-11-22 00:00:00 ┆ 0.75  ┆ 2   │
        └─────────────────────┴───────┴─────┘
        """
        from recframe.tracking.fingerprints import fingerprint  # noqa: PLC0415  importing recframe should take no time
        from recframe.tracking.histories import moment, place_of, write  # noqa: PLC0415

        rec: Any = self
        # what is wrong with these is said before any work is done
        place, time = place_of(history), moment(as_of)
        summary = rec.summarize(*metrics, k=k, by=by, cluster=cluster, level=level)
        names = argument_errors.names(cluster, argument_errors.names(by))
        data = fingerprint(rec._inputs(names, registry.asked(metrics, k)))  # noqa: SLF001  the methods of this room are those of a Rec
        return write(summary, place, {"as_of": time, "name": name, "fingerprint": data}, tags)

    @argument_errors.understood
    def fingerprint(self, *, by: By = None) -> str:
        """Return a short text that identifies the data.

        It depends on the rows of all bound frames, in the columns that a call reads: the roles, and `by`. Row order, kind of
        frame and dtype do not matter. It is stable within one version of Polars, whose hashes it uses. Unread columns and
        policies do not change it.

        Of LazyFrames the plan runs, in a streaming pass.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.fingerprint() == df.reverse().rec.fingerprint()
        True
        >>> df.rec.fingerprint() == df.head(1).rec.fingerprint()
        False
        """
        from recframe.tracking.fingerprints import fingerprint  # noqa: PLC0415  importing recframe should take no time

        rec: Any = self
        return fingerprint(rec._inputs(by))  # noqa: SLF001  the methods of this room are those of a Rec
