"""The method of `rec` that makes a table which people publish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic

import polars as pl

from recframe.errors import RecframeError, shown
from recframe.frames.collecting import stream
from recframe.frames.context import MOST_DECIMALS
from recframe.frames.dtypes import text_of
from recframe.frames.hints import bind
from recframe.frames.kinds.lookup import kind_for
from recframe.frames.plain_numbers import plain_number
from recframe.namespace import calls
from recframe.namespace.bound_metric import Asked, By, Cutoffs, F
from recframe.namespace.question import question
from recframe.plan.leave_one_out import reason_without
from recframe.plan.needs import is_of_segment
from recframe.uncertainty.pairs import MODEL

if TYPE_CHECKING:
    from recframe.look.table import Table


class Tables(Generic[F]):
    """The method of `rec` that makes a table which people publish."""

    @calls.understood
    def table(  # noqa: PLR0913  those of summarize and compare, and how the table looks
        self,
        *metrics: Asked,
        baseline: object = None,
        k: Cutoffs = None,
        by: By = None,
        level: float = 0.95,
        decimals: int = 3,
        intervals: bool = True,
        title: str = "",
        profile: str | None = None,
    ) -> Table:
        r"""Return a table to publish: models as rows, metrics as columns, the best in bold, with intervals and marks.

        `.html()`, `.latex()` and `.markdown()` return it as text, `.save("table.tex")` writes it by the ending, a notebook
        shows it, and `.gt` is an object of Great Tables, to be styled further. HTML and LaTeX need recframe[table].

            baseline: the name of a model: others are marked * where they are shown to be better, † where worse, by the paired
                t test of `compare` after Holm's correction for the whole table. It needs recframe[stats].
            level: that of the intervals, which are those of `summarize`; p values are held against 1 - level.
            decimals: how many each number has. Models whose numbers look alike are equally good, and all of them bold; where
                all models do, none is.
            intervals: False leaves them out.
            title: what stands above the table.

        Below the table stand the number of users, and what the signs say. By segment, models stand in a group for each; without
        a model, the rows are the segments. Of a LazyFrame the plan runs.

        Raises what `summarize` and `compare` raise.

        >>> import polars as pl, recframe as rf
        >>> truth = pl.DataFrame({"user": [1, 2, 3, 4], "item": [9, 2, 9, 9]})
        >>> a = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 3, 4], "rank": 1})
        >>> b = pl.DataFrame({"user": [1, 2, 3, 4], "item": [1, 2, 9, 9], "rank": 1})
        >>> print(rf.rec({"a": a, "b": b}, truth).table("hit_rate@1", "mrr@1", decimals=2))
        | model | hit_rate@1 | mrr@1 |
        | :--- | ---: | ---: |
        | a | 0.25 [0.02, 0.87] | 0.25 [0.02, 0.87] |
        | b | **0.75** [0.13, 0.98] | **0.75** [0.13, 0.98] |
        <BLANKLINE>
        Users: 4.
        In brackets: the interval at 0.95 of each value.
        Bold: the best model.
        <BLANKLINE>
        """
        from recframe.look.published import Publication  # noqa: PLC0415  importing recframe should take no time

        _check(decimals, title)
        rec: Any = self
        asked = question(self, metrics, k, by, None, profile)
        given = {"by": by, "level": level, "profile": profile, "wide": True}
        numbers = ["metric", "value", "value_low", "value_high", "n_users"]
        names = list(asked.by.values())
        summary = _collected(rec.summarize(*metrics, k=k, **given), names, numbers)
        untested = [one for one in asked.metrics if is_of_segment(one) and reason_without(one)]
        model, verdicts = asked.by.get(MODEL), {}
        if baseline is not None and model is None:
            msg = (
                f"baseline={baseline!r} needs a column that tells models apart: {bind(model=repr('model'))}, "
                "or a frame for each: rf.rec({'a': a, 'b': b}, truth=truth)"
            )
            raise RecframeError(msg)
        tested = [one for one in asked.metrics if one not in untested]
        if baseline is not None and tested:
            found = asked.rec.compare(*tested, baseline=baseline, **given)
            ordered = sorted(names, key=lambda name: name == model)
            found = _collected(found, ordered, ["metric", "verdict"])
            verdicts = {row[:-1]: row[-1] for row in found.rows()}
        publication = Publication(
            asked.metrics,
            verdicts,
            [str(one) for one in untested],
            None if baseline is None else text_of(baseline),
            decimals,
            intervals,
            level,
            title,
        )
        keys = {f"key {place}": name for place, name in enumerate(names)}
        of_model = next((key for key, name in keys.items() if name == model), None)
        return publication.table(summary, keys, of_model)


def _check(decimals: object, title: object) -> None:
    """Say what is wrong with how a table is to look."""
    number = plain_number(decimals)
    if not isinstance(number, int) or not 0 <= number <= MOST_DECIMALS:
        msg = f"decimals={shown(decimals)}: table takes a whole number of decimals from 0 to {MOST_DECIMALS}"
        raise RecframeError(msg)
    if not isinstance(title, str):
        msg = f"title={shown(title)}: title takes text"
        raise RecframeError(msg)


def _collected(result: Any, names: Sequence[str], columns: Sequence[str]) -> pl.DataFrame:
    """Return a result of whatever kind as a frame of Polars in memory, its keys under names of our own.

    NOTE: some names, such as "^.*$", are patterns to Polars.
    """
    keys = {f"key {place}": name for place, name in enumerate(names)}
    return stream(kind_for(result).take({**keys, **{one: one for one in columns}}).lazy())
