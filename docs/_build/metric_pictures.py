"""The picture of a worked example: the lists in the order of their ranks, what the metric reads of each item, and its value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import metric_shop as shop
from metric_drawing import Drawing
from metric_example import Example, number

from recframe.side_info.aggregation_levels import Level

POPULARITY = {
    "popularity",
    "popularity_quantile",
    "popularity_share",
    "place_by_popularity",
    "history_popularity",
    "max_popularity",
    "in_head",
    "n_tail",
}
"""Facts that are made of how many users of train have an item."""
REFERENCE = {"in_reference", "agreement", "has_reference"}


def picture(example: Example) -> Drawing:
    """Return the picture of an example."""
    return Picture(example).draw()


@dataclass(frozen=True)
class Picture:
    """What is drawn of an example, found out from what the metric reads."""

    example: Example

    @property
    def value(self) -> str:
        """The metric's value."""
        return self.example.values([self.example.metric])[0]

    @cached_property
    def popularity(self) -> dict[str, int]:
        """How many users of train have each item."""
        return {
            item: sum(item in owned for owned in shop.TRAIN.values()) for item in shop.CATALOGUE
        }

    @property
    def by_genre(self) -> bool:
        """Whether a feature of items is read, or groups of them."""
        needs = self.example.needs
        if self.example.priced:
            return False
        described = any(getattr(one.builder, "takes", ()) for one in needs.facts)
        categories = any("by category" in column for column in needs.columns)
        return described or categories or self.example.by is not None

    @property
    def marked(self) -> tuple[str, str]:
        """What the ticks mark, and in words."""
        facts = self.example.facts
        if self.example.needs.reads_relevance:
            return "hit", "relevant; up to k it is a hit"
        if facts & REFERENCE:
            return "reference", "in both lists"
        if "in_history" in facts:
            return "history", "the user has it in train"
        if "in_head" in facts:
            return "tail", "long tail; the head has 80 % of train"
        return "", ""

    def marks(self, user: str) -> dict[str, str]:
        """Return the marks of a user's items."""
        what, _ = self.marked
        good = {
            "hit": lambda: {*shop.RELEVANT[user]},
            "reference": lambda: {*shop.LISTS[user][: shop.K]} & {*shop.REFERENCE[user][: shop.K]},
            "history": lambda: {*shop.TRAIN[user]},
            "tail": lambda: self.tail,
            "": set,
        }[what]()
        bad = {*shop.DISLIKED[user]} if self.example.judged else set()
        return dict.fromkeys(bad, "bad") | dict.fromkeys(good, "good")

    @cached_property
    def tail(self) -> set[str]:
        """The items of the long tail, as recframe tells of a list of each one alone."""
        import polars as pl  # noqa: PLC0415  for this alone

        items = shop.frame_of("items", shop.ALL, judged=False)
        lists = items.select(pl.col("item").alias("user"), "item", pl.lit(1).alias("rank"))
        train = shop.frame_of("train", shop.ALL, judged=False)
        found = lists.rec(train=train, items=items).evaluate("long_tail_share", by="user")
        return {*found.filter(pl.col("long_tail_share") == 1)["user"]}

    def draw(self) -> Drawing:
        """Draw the lists, what is read of them, and the value."""
        name = self.example.metric.name
        title = f"{name}@{shop.K} of {'three lists' if self.several else 'one list'}: {self.value}"
        drawing = Drawing(title, self.told)
        drawing.numbers("rank", [str(rank) for rank in range(1, 8)], more='opacity="0.7"')
        drawing.y += 2
        for user in self.example.users:
            self._list(drawing, user)
        if self.example.facts & REFERENCE:
            drawing.y += 6
            drawing.cells("reference", shop.REFERENCE[shop.ME], self.marks(shop.ME), shop.K)
        self._growth(drawing)
        if self.has_catalogue:
            self._catalogue(drawing)
        self._words(drawing)
        return drawing

    @property
    def several(self) -> bool:
        """Whether it is a function of all lists."""
        return len(self.example.users) > 1

    @property
    def has_catalogue(self) -> bool:
        """Whether items are counted over all lists, so that the catalogue is drawn."""
        needs = self.example.needs
        return self.several and Level.OF_ITEM in needs.levels

    def _list(self, drawing: Drawing, user: str) -> None:
        label = user if self.several else f"{user}'s list"
        items = shop.LISTS[user]
        drawing.cells(label, items, self.marks(user), shop.K)
        for row, values in self._rows(user, items[: shop.K]):
            drawing.numbers(row, values)
        drawing.y += 4

    def _rows(self, user: str, items: str) -> list[tuple[str, list[str]]]:
        """Return what the metric reads of each item up to k."""
        needs, relevant = self.example.needs, shop.RELEVANT[user]
        found = []
        if "gain" in needs.columns:
            found.append(("gain g", [str(relevant.get(item, "")) for item in items]))
        if "discount" in needs.columns:
            weights = [1 / math.log2(rank + 1) for rank in range(1, len(items) + 1)]
            found.append(("1/log2(r+1)", [f"{weight:.3f}" for weight in weights]))
        if {"gain", "discount"} <= needs.columns:
            gains = [relevant.get(item, 0) for item in items]
            products = [gain * weight for gain, weight in zip(gains, weights, strict=True)]
            found.append(("product", [f"{one:.3f}" if one else "" for one in products]))
        if "hits_so_far" in needs.columns:
            hits = [
                sum(one in relevant for one in items[:rank]) for rank in range(1, len(items) + 1)
            ]
            told = zip(items, hits, strict=True)
            found.append(
                ("hits(r)", [str(count) if item in relevant else "" for item, count in told])
            )
        if self.example.facts & POPULARITY and not self.has_catalogue:
            found.append(("train users", [str(self.popularity[item]) for item in items]))
        if self.by_genre:
            found.append(("genre", [shop.GENRES[item] for item in items]))
        if self.example.priced:
            found.append(("price", [str(shop.PRICES[item]) for item in items]))
        return found

    def _growth(self, drawing: Drawing) -> None:
        """Write the metric's value at each cut-off."""
        metrics = [self.example.metric @ k for k in range(1, shop.K + 1)]
        if self.example.by is None:
            values = [short(one) for one in self.example.values(metrics)]
            drawing.y += 2
            drawing.numbers("value at r", values, more='font-weight="600"')

    def _catalogue(self, drawing: Drawing) -> None:
        """Draw the items with the number of lists that have each."""
        listed = [shop.LISTS[user][: shop.K] for user in self.example.users]
        rows = [
            ("lists with it", [str(sum(item in one for one in listed)) for item in shop.CATALOGUE])
        ]
        if self.example.facts & POPULARITY:
            rows.append(("train users", [str(self.popularity[item]) for item in shop.CATALOGUE]))
        if self.by_genre:
            rows.append(("genre", [shop.GENRES[item] for item in shop.CATALOGUE]))
        listed_items = {item for one in listed for item in one}
        marks = dict.fromkeys(self.tail if self.marked[0] == "tail" else listed_items, "good")
        drawing.small_cells(shop.CATALOGUE, rows, marks)

    def _words(self, drawing: Drawing) -> None:
        """Say what the marks mean, what is not in the picture, and the value."""
        if self.marked[0] or self.has_catalogue:
            drawing.legend("good", self.marked[1] or "in a list")
        if self.example.judged:
            drawing.legend("bad", "judged, not relevant; others nobody judged")
        for words in self.beside:
            drawing.line(words)
        name = self.example.metric.name
        if self.example.by is None:
            drawing.line(f"{name}@{shop.K} = {self.value}", size=14, more='font-weight="700"')
        else:
            drawing.line(f"{name}@{shop.K}:", size=12, more='font-weight="700"')
            drawing.line(self.value, size=12, more='font-weight="700"')

    @property
    def beside(self) -> list[str]:
        """What the metric reads of the user beside the list."""
        found = []
        if self.example.needs.reads_relevance and not self.several:
            graded = "gain" in self.example.needs.columns
            missed = {
                item: gain
                for item, gain in shop.RELEVANT[shop.ME].items()
                if item not in shop.LISTS[shop.ME]
            }
            told = [f"{item} (g = {gain})" if graded else item for item, gain in missed.items()]
            found.append(f"relevant, and not in the list: {', '.join(told)}")
        if self.reads_history:
            owned = [
                f"{item} ({shop.GENRES[item]})" if self.by_genre else item
                for item in shop.TRAIN[shop.ME]
            ]
            found.append(f"in train of {shop.ME}: {', '.join(owned)}")
        if (
            self.example.facts & {"in_catalogue", "n_catalogue", "n_whole_catalogue"}
            and not self.several
        ):
            found.append(f"the catalogue has {len(shop.CATALOGUE)} items")
        return found

    @property
    def reads_history(self) -> bool:
        """Whether what the user had before counts."""
        return any("history" in one for one in self.example.facts) and not self.several

    @property
    def told(self) -> str:
        """The picture in words."""
        lists = [
            f"{user}'s list is {_in_words(shop.LISTS[user], self.marks(user))}"
            for user in self.example.users
        ]
        what = f" A tick: {self.marked[1].partition(';')[0]}." if self.marked[0] else ""
        beside = "".join(f" {words[0].upper()}{words[1:]}." for words in self.beside)
        return f"{'. '.join(lists)}.{what} The first {shop.K} count.{beside}"


def _in_words(items: str, marks: dict[str, str]) -> str:
    signs = {"good": " (tick)", "bad": " (cross)", "": ""}
    return ", ".join(f"{item}{signs[marks.get(item, '')]}" for item in items)


def short(value: str) -> str:
    """Return a value in the space under a cell."""
    try:
        return number(round(float(value), 3))
    except ValueError:
        return value.replace("null", "-")
