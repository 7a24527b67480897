"""The segments of items as small whole numbers, found by the place of an item in a table where items are numbers too."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from recframe.frames.collecting import Ask
from recframe.frames.rows.lookups import lookup
from recframe.judging.judged_frame import Judged


@dataclass(frozen=True)
class CodesOfItems:
    """A number for each combination of segments that items have; 0 is that of items of which nothing is known."""

    segments: pl.DataFrame
    """Each `code` with what it stands for."""
    of_items: pl.DataFrame
    """The items of which something is known, each with its code."""

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def names(self) -> list[str]:
        """The names of the segments."""
        return [name for name in self.segments.columns if name != "code"]

    def beside(self, rows: pl.DataFrame, ask: Ask) -> pl.DataFrame:
        """Return rows of items with their codes, in the order that they have."""
        told, code = self.of(rows, ask)
        return rows.with_columns(told.select(code).to_series())

    def of(self, rows: pl.DataFrame, ask: Ask) -> tuple[pl.DataFrame, pl.Expr]:
        """Return rows of items, in their order, with what tells their codes; and `code` as an expression of each row."""
        key, items, own = "item", rows["item"], self.of_items
        if items.dtype == own.schema["item"] == pl.String:
            # numbered in half of the time of a join; together, since categories that no column has are forgotten
            together = pl.concat([own["item"], items]).cast(pl.Categorical(pl.Categories.random()))
            numbers, key = together.to_physical().alias("number of the item"), "number of the item"
            own, items = own.with_columns(numbers.head(len(own))), numbers.slice(len(own))
            rows = rows.with_columns(items)
        table = lookup(own.select(key, "code"), key, items.dtype)
        if table is not None:
            return rows, table.value("code", 0, items)
        joined = rows.lazy().join(
            self.of_items.lazy(), on="item", how="left", maintain_order="left"
        )
        return ask([joined.with_columns(pl.col("code").fill_null(0))])[0], pl.col("code")


def codes_of_items(judged: Judged, ask: Ask) -> CodesOfItems | None:
    """Return the codes of a judgement's items; None where no segment, or not every one that cuts lists, is theirs."""
    names = judged.inputs.inside("items")
    if not names or names != judged.rows or judged.inputs.items is None:
        return None
    (items,) = ask([judged.inputs.items.select("item", *names)])
    unknown = items.select(names).clear(1)
    others = items.select(names).unique().filter(~pl.all_horizontal(pl.col(names).is_null()))
    segments = pl.concat([unknown, others]).with_row_index("code")
    of_items = items.drop_nulls("item").join(segments, on=names, nulls_equal=True)
    return CodesOfItems(segments, of_items.select("item", "code"))
