"""Aggregation levels of list metrics: rows, lists, items, groups, segments."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import polars as pl

from recframe.frames.rows.joins import ExactSums
from recframe.side_info.sources import Fact, Kind, Setting


class Level(str, Enum):
    """Aggregation level of a column; its value prefixes column names."""

    # a row of a list
    BESIDE = "beside"
    """Value of the list, repeated on each of its rows."""
    ALONG = "along"
    """Overlap with the previous lists of the segment that have the item."""
    ALONG_ALL = "along all"
    """Overlap with all other lists that have the item, in all segments of users."""

    # a category of a list
    IN_CATEGORY = "in category"
    BESIDE_CATEGORIES = "beside categories"
    """Value of the list, repeated on each of its categories."""

    # a list
    OF_LIST = "of list"
    VALUE = "value"
    """Value of a metric that has one per list."""

    # an item in a segment
    OF_ITEM = "of item"
    PLACE = "place"
    EVERYWHERE = "everywhere"
    """Sum over all segments of users, in place of the own one."""

    # a segment
    OVER_LISTS = "over lists"
    OVER_ITEMS = "over items"
    OVER_GROUPS = "over groups"
    IN_ALL = "in all"
    """Sum over all segments of users, in place of the own one."""
    ACROSS = "across"
    """Sum over all segments of items."""

    def __str__(self) -> str:
        return self.value

    def of(self, *settings: Setting) -> str:
        """Return the name of a level that has columns for each of some settings."""
        return " ".join(map(str, (self.value, *settings)))


def place_among(known: list[pl.Expr], expression: pl.Expr) -> int:
    """Return the place of an expression among others, behind which it comes where it is new."""
    for place, other in enumerate(known):
        if other.meta.eq(expression):
            return place
    known.append(expression)
    return len(known) - 1


@dataclass
class Levels:
    """Requested columns by aggregation level, and facts from side frames."""

    columns: dict[str, list[pl.Expr]] = field(default_factory=dict)
    """Columns by level, or by its name with settings."""
    facts: dict[str, Fact] = field(default_factory=dict)
    sums_of_lists: dict[str, Fact] = field(default_factory=dict)
    """Requested sums over each list by item feature; see `sums_by_feature`."""
    sums_of_groups: dict[str, Fact] = field(default_factory=dict)
    """Requested sums over the item groups of each segment; see `groups_of_items`."""
    speaks_of: dict[str, Level | Kind] = field(default_factory=dict)
    """Level or kind of each column."""
    terms: dict[str, pl.Expr] = field(default_factory=dict)
    """Summand of each column, per row, list, item or category."""
    exact: dict[str, bool] = field(default_factory=dict)
    """Columns that are exact sums of fractions, and whether these lie within -1 and 1."""

    def summed(
        self,
        level: Level,
        term: pl.Expr,
        *settings: Setting,
        total: pl.Expr | None = None,
        bounded: bool = False,
    ) -> pl.Expr:
        """Return the column of a sum on a level.

        `total` is the sum, where it is a count; `bounded` says that the term is never above 1 or below -1.
        """
        column = self.column(level, term.sum() if total is None else total, *settings)
        name = column.meta.output_name()
        self.terms[name] = term
        if total is None:
            self.exact[name] = bounded
        return column

    def sums(self, level: Level) -> tuple[ExactSums, list[pl.Expr]]:
        """Return the sums of a level under the names of their columns: those of numbers, and those of counts."""
        named = {one.meta.output_name(): one for one in self.named(level)}
        exact = {name: self.terms[name].cast(pl.Float64) for name in named if name in self.exact}
        counts = [one for name, one in named.items() if name not in exact]
        return ExactSums(exact, {name for name in exact if self.exact[name]}), counts

    def column(self, level: Level, expression: pl.Expr, *settings: Setting) -> pl.Expr:
        """Return the column of an expression on a level."""
        column = level.of(*settings)
        name = f"{column} {place_among(self.columns.setdefault(column, []), expression)}"
        self.speaks_of[name] = level
        return pl.col(name)

    def fact(self, fact: Fact) -> pl.Expr:
        """Return the column of a fact."""
        self.facts[fact.name] = fact
        self.speaks_of[fact.name] = fact.kind
        return pl.col(fact.name)

    def named(self, level: str) -> list[pl.Expr]:
        """Return the expressions of a level under the names of their columns."""
        return [
            one.alias(f"{level!s} {number}")
            for number, one in enumerate(self.columns.get(level, []))
        ]

    def facts_in(self, *levels: str) -> list[Fact]:
        """Return the facts that occur in the expressions of some levels."""
        roots = {
            name
            for level in levels
            for one in self.columns.get(level, [])
            for name in one.meta.root_names()
        }
        return [fact for name, fact in self.facts.items() if name in roots]

    @property
    def of_sides(self) -> list[Fact]:
        """All requests to the side frames."""
        return [*self.facts.values(), *self.sums_of_lists.values(), *self.sums_of_groups.values()]
