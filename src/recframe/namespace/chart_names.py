"""Names of models and segments on charts: text in their own order, none of which is lost in another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

import polars as pl

from recframe.frames.dtypes import as_text
from recframe.judging.relevance import rows_of_models
from recframe.look.themes import ALL

NOBODY = "(none)"
"""What a null is called, where nothing else has that name."""


@dataclass(frozen=True)
class Names:
    """The names of some values, each once, in their own order, nulls last."""

    order: list[str]
    none: str = NOBODY
    """What a null is called among them."""
    dtype: pl.DataType = field(default_factory=pl.String)
    """That of the values."""

    @classmethod
    def of(cls, columns: Iterable[pl.Series]) -> Names:
        """Return the names of the values of some columns."""
        every = pl.concat([one.alias("name") for one in columns]).unique().sort(nulls_last=True)
        text = every.to_frame().select(as_text(pl.col("name"), every.dtype)).to_series()
        taken = set(text.drop_nulls().to_list())
        others = chain([NOBODY, "(null)"], (f"(null {n})" for n in count(2)))
        none = next(name for name in others if name not in taken)
        return cls(text.fill_null(none).to_list(), none, every.dtype)

    @property
    def given(self) -> list[str]:
        """Those that are not of a null."""
        return [one for one in self.order if one != self.none]

    def text(self, values: pl.Expr) -> pl.Expr:
        """Return values as their names."""
        return as_text(values, self.dtype).fill_null(self.none)

    @property
    def place(self) -> pl.Expr:
        """The place of a model among the names."""
        places = dict(zip(self.order, range(len(self.order)), strict=True))
        # NOTE: without a name to replace, Polars gives the names themselves
        none = pl.lit(None, pl.Int64)
        model = pl.col("model")
        return model.replace_strict(places, return_dtype=pl.Int64) if places else none


WITHOUT_MODELS = Names([ALL])


def of_models(rec: Any) -> Names:
    """Return the names of all models that are bound, whether or not a chart has numbers of each of them.

    NOTE: the colour of a model is by its place among these, so that it is the same in all charts of a `rec`.
    """
    inputs = rec._inputs(None, None, [])  # noqa: SLF001  the methods of this room are those of a Rec
    if not inputs.model:
        return WITHOUT_MODELS
    # those that are held are trainings, where these are bound
    models = None if inputs.training else rec._run().models(inputs)  # noqa: SLF001
    if models is None:
        models = rows_of_models(inputs).unique()
    return Names.of([rec._kind.give(models, {})["model"]])  # noqa: SLF001


def named_in(rec: Any, *results: pl.DataFrame) -> Names:
    """Return the names of the models of some results in long form."""
    model = rec._context.model  # noqa: SLF001
    if model is None:
        return WITHOUT_MODELS
    columns = [
        one[name] for one in results for name in (model, "baseline") if name in keys_of_result(one)
    ]
    return Names.of(columns)


def keys_of_result(result: pl.DataFrame) -> list[str]:
    """Return the columns that stand before the numbers of a result in long form."""
    n = result.columns.index("metric") if "metric" in result.columns else result.width
    return result.columns[:n]


def segments_of(result: pl.DataFrame, places: Sequence[int]) -> pl.DataFrame:
    """Return of each row its segment in words, the segment's place in their own order, and whether none of it is null.

    The columns at `places` make the segments. Two segments that read alike, "a" with "b · c" and "a · b" with "c", are told
    apart by a number.
    """
    if not places:
        return _of_one_segment(len(result))
    keys = result.select(pl.nth(one).alias(f"key {one}") for one in places)
    parts = {name: Names.of([keys[name]]) for name in keys.columns}
    words = pl.concat_str([one.text(pl.col(name)) for name, one in parts.items()], separator=" · ")
    each = keys.unique(maintain_order=True).with_columns(
        segment=words,
        known=pl.all_horizontal(pl.all().is_not_null()),
        place=pl.int_range(pl.len(), dtype=pl.Int64),
    )
    again = pl.int_range(pl.len()).over("segment")
    numbered = pl.format("{} ({})", "segment", again + 1)
    each = each.with_columns(segment=pl.when(again > 0).then(numbered).otherwise("segment"))
    found = keys.join(each, on=keys.columns, how="left", nulls_equal=True, maintain_order="left")
    return found.select("segment", "place", "known")


def _of_one_segment(n: int) -> pl.DataFrame:
    columns = {"segment": [""] * n, "place": [0] * n, "known": [True] * n}
    return pl.DataFrame(
        columns, schema={"segment": pl.String, "place": pl.Int64, "known": pl.Boolean}
    )
