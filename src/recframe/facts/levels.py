"""What words over lists ask for, level by level: columns of rows, lists, items, groups and segments, and facts in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import polars as pl

from recframe.facts.sides import Fact, FromSides, Kind, Setting
from recframe.frames.rows.exact_sums import ExactSums


class Level(str, Enum):
    """What one value of a column speaks of; its words begin the names of the level's columns."""

    # a row of a list
    BESIDE = "beside"
    """A value of the list, beside each of its rows."""
    ALONG = "along"
    """What the list shares with those before it that have the item."""
    ALONG_ALL = "along all"
    """The same, in all segments of users, with those before and after it."""

    # a category of a list
    IN_CATEGORY = "in category"
    BESIDE_CATEGORIES = "beside categories"
    """A value of the list, beside each of its categories."""

    # a list
    OF_LIST = "of list"
    VALUE = "value"
    """The value of a metric that has one for each list."""

    # an item in a segment
    OF_ITEM = "of item"
    PLACE = "place"
    EVERYWHERE = "everywhere"
    """A sum over all segments of users, in place of its own."""

    # a segment
    OVER_LISTS = "over lists"
    OVER_ITEMS = "over items"
    OVER_GROUPS = "over groups"
    IN_ALL = "in all"
    """A sum over all segments of users, in place of its own."""
    ACROSS = "across"
    """A sum over all segments of items, in place of its own."""

    def __str__(self) -> str:
        return self.value

    def of(self, *settings: Setting) -> str:
        """Return the name of a level that has columns for each of some settings."""
        return " ".join(map(str, (self.value, *settings)))


@dataclass
class Levels:
    """The columns that words have asked for, level by level, each once, and what they ask of the side frames."""

    columns: dict[str, list[pl.Expr]] = field(default_factory=dict)
    """By the level, or its name with settings."""
    facts: dict[str, Fact] = field(default_factory=dict)
    sums_of_lists: dict[str, FromSides] = field(default_factory=dict)
    """What is summed up over each list by a feature of its items: see `sums_by_feature`."""
    sums_of_groups: dict[str, FromSides] = field(default_factory=dict)
    """What is summed up over the groups of items of each segment: see `groups_of_items`."""
    speaks_of: dict[str, Level | Kind] = field(default_factory=dict)
    """The level of a column, or what it is a property of, by its name."""
    terms: dict[str, pl.Expr] = field(default_factory=dict)
    """What a column sums up, row by row, list by list, item by item or category by category, by the column's name."""
    exact: dict[str, bool] = field(default_factory=dict)
    """The columns that are sums of numbers with something behind the point, and whether these are never above 1 or below -1."""

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
        known = self.columns.setdefault(Level(level).of(*settings), [])
        number = next(
            (place for place, other in enumerate(known) if other.meta.eq(expression)), len(known)
        )
        if number == len(known):
            known.append(expression)
        name = f"{Level(level).of(*settings)} {number}"
        self.speaks_of[name] = Level(level)
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
        """Return the facts that stand in the expressions of some levels."""
        roots = {
            name
            for level in levels
            for one in self.columns.get(level, [])
            for name in one.meta.root_names()
        }
        return [fact for name, fact in self.facts.items() if name in roots]

    @property
    def of_sides(self) -> list[FromSides]:
        """All that is asked of the side frames."""
        return [*self.facts.values(), *self.sums_of_lists.values(), *self.sums_of_groups.values()]
