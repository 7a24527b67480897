"""What words over lists ask for, level by level: columns of the rows, of lists, of items and of segments, and facts in them."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from recframe.facts.sides import Fact

Level = str
"""of list, value, beside, along, along all, of item, place, everywhere, over lists, in all, across, over items, over groups,
and those of tables."""


@dataclass
class Levels:
    """The columns that words have asked for, level by level, each once, and the facts of the side frames in them."""

    columns: dict[Level, list[pl.Expr]] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)

    def column(self, level: Level, expression: pl.Expr) -> pl.Expr:
        """Return the column of an expression on a level."""
        known = self.columns.setdefault(level, [])
        number = next((place for place, other in enumerate(known) if other.meta.eq(expression)), len(known))
        if number == len(known):
            known.append(expression)
        return pl.col(f"{level} {number}")

    def named(self, level: Level) -> list[pl.Expr]:
        """Return the expressions of a level under the names of their columns."""
        return [one.alias(f"{level} {number}") for number, one in enumerate(self.columns.get(level, []))]

    def facts_in(self, *levels: Level) -> list[Fact]:
        """Return the facts that stand in the expressions of some levels."""
        roots = {name for level in levels for one in self.columns.get(level, []) for name in one.meta.root_names()}
        return [fact for name, fact in self.facts.items() if name in roots]


BESIDE = "beside categories"
"""The level of the values of a list that stand beside each of its categories."""


def level_of(word: str, *settings: object) -> str:
    """Return the level of the sums over each list that a word asks for."""
    return " ".join(map(str, ("of list", word, *settings)))


def within_category(of: str) -> str:
    """Return the level of the sums over the items that a list has of each category."""
    return f"in category {of}"
