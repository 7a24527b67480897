"""History methods of `rec`: `track` and `fingerprint`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, cast

import polars as pl

from recframe.api import argument_errors
from recframe.api.bound_metric import Asked, By, Cutoffs, F
from recframe.api.request import Question, question, values_of_users
from recframe.errors import RecframeError
from recframe.evaluation.required_columns import is_of_segment
from recframe.frames.kinds.lookup import kind_for
from recframe.statistics.options import Method

if TYPE_CHECKING:
    from recframe.tracking.histories import History


class Tracked(Generic[F]):
    """`rec.track` and `rec.fingerprint`: results kept in a history."""

    @argument_errors.understood
    def track(  # noqa: PLR0913  those of summarize, and what is known of the run
        self,
        *metrics: Asked,
        history: History,
        as_of: date | str,
        name: str | None = None,
        tags: Mapping[str, object] | None = None,
        per_user: bool = False,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        method: Method = "auto",
        cluster: str | None = None,
        n_resamples: int = 2000,
        seed: int = 0,
        profile: str | None = None,
    ) -> F:
        """Return `summarize(...)`, and append it to a history, with what it was made of.

        Behind each number stand the fingerprint of the data (see `fingerprint`), its metric with every parameter and the
        policies, and the versions of recframe and Polars. `history`, `as_of`, `name` and `tags` are those of `rf.track`,
        which says how runs replace themselves; `rf.history(...)` has all runs as a frame.

        `per_user=True` keeps the users' values of the metrics too, so that `require("ndcg@10 >= 0.98 * trailing", history=...)`
        holds each user against their own mean of the last runs. A user takes 8 bytes and a metric up to 8 more, before they are
        packed; the note of the result says how many bytes they are. Ids are hashed with a salt of the history's own.

        Of a LazyFrame the plan runs, and the result comes back as a LazyFrame of it.

        Raises what `summarize` and `rf.track` raise, and a RecframeError where no metric has values of users.

        >>> import polars as pl, recframe as rf, tempfile
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     for day in ("2026-11-21", "2026-11-22"):
        ...         tracked = df.rec.track("mrr", history=folder, as_of=day)
        ...     rf.history(folder).select("as_of", "value", "n_users")
        shape: (2, 3)
        ┌─────────────────────┬───────┬─────────┐
        │ as_of               ┆ value ┆ n_users │
        │ ---                 ┆ ---   ┆ ---     │
        │ datetime[μs]        ┆ f64   ┆ i64     │
        ╞═════════════════════╪═══════╪═════════╡
        │ 2026-11-21 00:00:00 ┆ 0.75  ┆ 2       │
        │ 2026-11-22 00:00:00 ┆ 0.75  ┆ 2       │
        └─────────────────────┴───────┴─────────┘
        """
        from recframe.tracking.definitions import definitions, fingerprint  # noqa: PLC0415  importing recframe should take no time
        from recframe.tracking.histories import append, check, rows_of  # noqa: PLC0415
        from recframe.tracking.runs import run_of  # noqa: PLC0415

        rec: Any = self
        # what is wrong with these is said before any work is done
        check(history, as_of)
        drawn = {"method": method, "n_resamples": n_resamples, "seed": seed}
        shown = {"level": level, "profile": profile, "wide": True}
        result = rec.summarize(*metrics, k=k, by=by, cluster=cluster, **shown, **drawn)
        asked = question(self, metrics, k, by, cluster, profile)
        kind = kind_for(result)
        rows = rows_of(kind)
        run = run_of(
            rows,
            as_of=as_of,
            fingerprint=fingerprint(asked.inputs, asked.metrics),
            name=name,
            tags=tags,
            definitions=definitions(asked.stated, asked.inputs),
            tracked_from=kind.library,
        )
        if per_user:
            packed, note = _values_of_users(
                self, asked, argument_errors.names(by), profile, history
            )
            append(history, replace(run, users=packed))
            both = pl.concat_str(pl.lit(note), "note", separator="; ", ignore_nulls=True)
            return cast("F", kind.give(rows.lazy().with_columns(note=both), {}))
        append(history, run)
        back: Any = rows.lazy() if kind.is_lazy else result
        return cast("F", back)

    @argument_errors.understood
    def fingerprint(self, *, by: By = None) -> str:
        """Return a short text that is the same for the same data, and another for other data.

        It goes by the rows of all frames that are bound, in the columns that a call reads: the roles, and `by`. In whatever
        order, kind of frame and dtype they stand, rows that say the same have the same one; it is promised for one version
        of Polars, whose hashes it is made of. Columns that no call reads change nothing, nor do policies.

        Of LazyFrames the plan runs, in a streaming pass.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> df.rec.fingerprint() == df.reverse().rec.fingerprint()
        True
        >>> df.rec.fingerprint() == df.head(1).rec.fingerprint()
        False
        """
        from recframe.tracking.definitions import fingerprint  # noqa: PLC0415  importing recframe should take no time

        rec: Any = self
        return fingerprint(rec._inputs(by))  # noqa: SLF001  the methods of this room are those of a Rec


def _values_of_users(
    rec: Any, asked: Question, by: Sequence[Any], profile: str | None, history: History
) -> tuple[bytes, str]:
    """Return users' values as a history keeps them, and what is to be known of them; or say that no metric has any."""
    from recframe.tracking.histories import salt_of  # noqa: PLC0415  importing recframe should take no time
    from recframe.tracking.user_values import packed_users, table  # noqa: PLC0415

    conventions = [one for one in asked.conventions if not is_of_segment(one.metric)]
    if not conventions:
        msg = f"per_user=True: {asked.metrics[0]} is one number of all lists, and no user has a value of it; leave it out"
        raise RecframeError(msg)
    here = rec._in_polars()  # noqa: SLF001
    plan = values_of_users(replace(asked, rec=here, cluster=None), by, profile, conventions)
    values = here._kind.give(plan, {})  # noqa: SLF001
    named = {f"value {at}": str(one.metric) for at, one in enumerate(conventions)}
    salt = salt_of(history, make=True)
    kept = table(values.rename(named), asked.by, salt)
    packed = packed_users(kept, salt)
    n = kept["user"].n_unique()
    return packed, f"values of {n:,} users kept, {len(packed):,} bytes"
