"""The frames that checks read, and what several checks ask of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from recframe.audit.even_lists import even_lists
from recframe.frames.at_hand import is_complete
from recframe.frames.context import Context
from recframe.frames.dtypes import as_text
from recframe.frames.inputs import Inputs
from recframe.frames.kinds.tables import MODELS, POPULARITY
from recframe.frames.roles import Segment
from recframe.frames.rows.packing import (
    SMALL_INTEGERS,
    fits_31_bits,
    joined_as_numbers,
    key_hash,
    repeated,
)
from recframe.judging.judged_frame import PAIR
from recframe.judging.relevance import is_rank, is_relevant

SOME = 1_000
"""So many users tell as much of how items were chosen as all do, in a fraction of the time."""
EVEN, TURNED, ALONE = "lists of one length", "lists upside down", "lists without truth"
NONE = pl.DataFrame(schema={"number": pl.Int64})
"""No suspects."""
COUNTS = [
    pl.len().cast(pl.Int64).alias("rows"),
    pl.col("is_relevant").sum().alias("relevant"),
    pl.col("is_beyond").sum().alias("beyond"),
]
"""What is counted of a judged user's rows."""
TEXT = (pl.String, pl.Categorical, pl.Enum)  # a tuple: an Enum's hash is not that of pl.Enum


@dataclass(frozen=True)
class Audited:
    """The frames that checks read, and what several checks ask of them."""

    inputs: Inputs
    k: int | None = None
    clashes: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    """The suspects of a large eager frame, by their name, worked out before; most often there are none."""
    consecutive: bool = False
    """Whether the lists are known to stand one behind the other, each with the ranks 1, 2, 3 and so on."""

    @property
    def context(self) -> Context:
        """What `rec(...)` bound."""
        return self.inputs.context

    @property
    def is_judged(self) -> bool:
        """Whether a judged frame was given."""
        return self.inputs.truth is None

    @property
    def same_truth(self) -> str:
        """The suspects among which a pair is that is judged twice."""
        return "pair" if self.is_judged and not self.inputs.model else "truth"

    @property
    def main(self) -> str:
        """What the frame is called that has the lists."""
        return "judged" if self.is_judged else "recommendations"

    @property
    def keys(self) -> list[str]:
        """What tells one list from another."""
        return [*self.parts, *self.inputs.model, "user"]

    @property
    def parts(self) -> list[str]:
        """The segments that lists and truth both have, or a judged frame: each part has lists of its own."""
        return self.inputs.inside("row")

    @property
    def judged_keys(self) -> list[str]:
        """What tells the judged users of the parts apart, of those too that the truth alone has."""
        return [*self.inputs.inside("row", "truth"), "user"]

    @property
    def judged_pair(self) -> list[str]:
        """What tells one judged pair from another."""
        return [*self.judged_keys, "item"]

    # The frames

    @property
    def pairs(self) -> dict[str, pl.LazyFrame]:
        """The frames of users and items, by their names."""
        found = {
            self.main: self.inputs.lists,
            "truth": self.inputs.truth,
            "train": self.inputs.train,
        }
        return {name: frame for name, frame in found.items() if frame is not None}

    def having(self, role: str) -> dict[str, pl.LazyFrame]:
        """Return the frames that have the column of a role, by their names."""
        side = self.inputs.users if role == "user" else self.inputs.items
        return {**self.pairs, **({} if side is None else {f"{role}s": side})}

    @property
    def judging(self) -> tuple[str, pl.LazyFrame]:
        """The frame that has the relevance, and its name."""
        return (
            (self.main, self.inputs.lists)
            if self.inputs.truth is None
            else ("truth", self.inputs.truth)
        )

    @cached_property
    def lists(self) -> pl.LazyFrame:
        """The rows of the lists: with a user, an item, and a rank or a score."""
        return (
            self.pairs_of_lists if self.inputs.scored else self.pairs_of_lists.filter(self.ranked)
        )

    @property
    def ranked(self) -> pl.Expr:
        """Whether a row is one of a list."""
        if self.inputs.scored:
            return pl.lit(value=True)
        return is_rank(pl.col("rank"), self.inputs.lists.collect_schema()["rank"])

    @property
    def relevant(self) -> pl.Expr:
        """Whether a row counts as relevant."""
        dtype = self.judging[1].collect_schema()["relevance"]
        return is_relevant(pl.col("relevance"), self.context.min_relevance, dtype)

    @cached_property
    def truth(self) -> pl.LazyFrame:
        """The judged rows."""
        rows = self.judged_pairs
        return rows if self.all_judged else rows.filter(pl.col("relevance").is_not_null())

    @property
    def all_judged(self) -> bool:
        """Whether each row of a truth is known to have a user, an item and a relevance."""
        truth = self.inputs.given.get("truth")
        names = [] if truth is None else [name for name in truth.columns if name == "relevance"]
        is_whole = "truth" in self.inputs.complete
        return truth is not None and is_whole and is_complete(truth, names)

    @property
    def judged_pairs(self) -> pl.LazyFrame:
        """The rows of the frame of the relevance that have a user and an item."""
        return self.inputs.identified("truth")

    @property
    def rows_with_ranks(self) -> pl.LazyFrame:
        """The rows of the frame of the lists; those that are none of a list have no rank."""
        rank = pl.when(self.ranked).then("rank")
        is_float = self.inputs.schema["rank"].is_float()
        return self.pairs_of_lists.with_columns(rank) if is_float else self.pairs_of_lists

    @cached_property
    def scores_beside_ranks(self) -> pl.LazyFrame | None:
        """The lists' keys, ranks and scores, where ranks are given and a column of scores stands beside them."""
        side = self.inputs.sides["recommendations"]
        is_beside = not self.inputs.scored and self.context.name_of("score") in side.kind.numbers()
        if not is_beside or TURNED in self.known:
            return None
        parts = [one for one in self.inputs.segments if one.inside in self.parts]
        names = [*self.inputs.model, "user", "rank", "score"]
        rows = side.take(names, parts).lazy().drop_nulls(names)
        return rows if rows.collect_schema()["score"].is_numeric() else None

    def items_of_train(self) -> pl.LazyFrame:
        """Return the items that anybody has in train, each once."""
        if self.inputs.tables is not None:
            dtypes = {"item": self.inputs.schema["item"]}
            return self.inputs.tables.get(POPULARITY, dtypes)
        train = self.inputs.train
        return self.lists.clear() if train is None else train.select("item").drop_nulls().unique()

    def models(self) -> pl.LazyFrame:
        """Return the models that have a list, without the null of ranked rows that name none."""
        if self.inputs.tables is not None:
            found = self.inputs.tables.get(MODELS, {"model": self.inputs.schema["model"]})
            return found.drop_nulls()
        return self.lengths.select("model").unique().drop_nulls()

    @property
    def features(self) -> dict[str, pl.LazyFrame]:
        """The columns of items that may be categories or embeddings, by their names: item, value; arrays as lists."""
        side = self.inputs.sides.get("items")
        if side is None:
            return {}
        found, item = {}, side.context.name_of("item")
        for name in side.columns:
            rows = side.take(["item"], [Segment("value", name, "items")]).lazy().drop_nulls("item")
            dtype = rows.collect_schema()["value"]
            if isinstance(dtype, pl.Array):
                rows = rows.with_columns(pl.col("value").arr.to_list())
            is_category = dtype in {*TEXT, pl.Boolean} or dtype.is_integer()
            if name != item and (isinstance(dtype, pl.List | pl.Array) or is_category):
                found[name] = rows
        return found

    # What several checks ask: a row for each list and each judged user, and suspects, mostly none, to find rows from

    @cached_property
    def lengths(self) -> pl.LazyFrame:
        """The lists: their keys, their number of rows as `rows`, and without scores their last rank as `last`."""
        return self._shared("lengths")

    @cached_property
    def judged_users(self) -> pl.LazyFrame:
        """The judged users: their judged rows as `rows`, how many are relevant, and how many of those stand in no list."""
        return self._shared("judged users")

    def ids_of_lists(self, role: str) -> pl.LazyFrame:
        """Return the users or the items of the frame of the lists, each once."""
        return self._shared(ids_of(self.main, role))

    def ids(self, name: str, role: str) -> pl.LazyFrame:
        """Return the users or the items of a frame, each once."""
        known = self.known.get(ids_of(name, role))
        if known is not None:
            return known.lazy()
        return self.having(role)[name].select(role).drop_nulls().unique()

    def suspected(self, name: str) -> pl.LazyFrame | None:
        """Return some suspects, unless there are known to be none or the question does not arise."""
        if name not in self.questions or (name in self.known and self.known[name].is_empty()):
            return None
        return self._shared(name)

    def lists_have_only_items_of(self, name: str) -> bool:
        """Return whether all items of the lists are known to stand in another frame, as they mostly do."""
        others = self.known.get(absent(name))
        return others is not None and others.is_empty()

    def lists_without_truth(self) -> pl.LazyFrame:
        """Return the lists of users without a judged row."""
        known = self.known.get(ALONE)
        if known is not None:
            return known.lazy()
        on = [*self.parts, "user"]
        return self.lengths.join(self.judged_users, on=on, how="anti", nulls_equal=True)

    @property
    def n_in_common(self) -> int | None:
        """How many users have a list and a judged row, where that is known and no model is bound."""
        if ALONE not in self.known or self.inputs.model:
            return None
        return len(self.known["lengths"]) - len(self.known[ALONE])

    def shares_users(self, least: float) -> bool:
        """Return whether lists and truth are known to have so many users in common: a share of the fewer of theirs."""
        ids = [self.known.get(ids_of(name, "user")) for name in (self.main, "truth")]
        n_users = [len(one) for one in ids if one is not None]
        return self.n_in_common is not None and self.n_in_common >= least * min(
            n_users, default=math.inf
        )

    def all_judged_have_lists(self) -> bool:
        """Return whether all judged users are known to have a list, as they mostly do."""
        return self.n_in_common is not None and self.n_in_common == len(self.known["judged users"])

    def even_lists(self) -> pl.LazyFrame | None:
        """Return the models nearly all of whose lists have one length, and that length; None where none is known to."""
        known = self.known.get(EVEN)
        if known is None:
            return even_lists(self.lengths, [*self.parts, *self.inputs.model])
        return None if known.is_empty() else known.lazy()

    def first_users(self) -> pl.LazyFrame:
        """Return the first users who have a list, a thousand of them."""
        return self.lengths.select("user").unique().sort("user").head(SOME)

    def of_first_users(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows of the first users who have a list.

        NOTE: a comparison, where the users are known, takes a fifth of the time of a join, and leaves few rows for it.
        """
        known, dtype = self.known.get("first users"), rows.collect_schema()["user"]
        if known is None:
            return rows.join(self.first_users(), on="user", how="semi")
        if len(known) and (dtype.is_integer() or dtype == pl.String):
            rows = rows.filter(pl.col("user") <= known["user"][-1])
        return rows.join(known.lazy(), on="user", how="semi")

    def in_train(self, rows: pl.LazyFrame, train: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows whose user has the item in train.

        NOTE: two keys as one number leave few rows, most often none, for a join on the keys themselves.
        """
        schemas = [frame.collect_schema() for frame in (rows, train)]
        small = all(schema[name] in SMALL_INTEGERS for schema in schemas for name in PAIR)
        given = self.inputs.given.get("train") if self.known else None
        if given is not None and small and fits_31_bits(given, PAIR):
            return joined_as_numbers(rows, train.select(PAIR), PAIR, "semi")
        if given is not None and all(
            schema[name] == pl.String for schema in schemas for name in PAIR
        ):
            number = key_hash([pl.col(name) for name in PAIR], schemas[0])
            rows = rows.join(
                train.select(number=number), left_on=number, right_on="number", how="semi"
            )
        return rows.join(train, on=PAIR, how="semi")

    def _shared(self, name: str) -> pl.LazyFrame:
        return self.known[name].lazy() if name in self.known else self._cached[name]

    @cached_property
    def _cached(self) -> dict[str, pl.LazyFrame]:
        return {name: plan.cache() for name, plan in self.questions.items()}

    @cached_property
    def questions(self) -> dict[str, pl.LazyFrame]:
        """What several checks ask, by its name."""
        plans = {"lengths": self.counted_lists(), "judged users": self.counted_users()}
        plans |= {name: numbers_of_several(*rows) for name, rows in self.repeatable.items()}
        plans |= {role: self._spellings(role) for role in PAIR if self.is_text(role)}
        for role in PAIR:
            if len(self.having(role)) > 1:
                plans[ids_of(self.main, role)] = self.ids(self.main, role)
        return plans

    @property
    def repeatable(self) -> Mapping[str, tuple[pl.LazyFrame, Sequence[str]]]:
        """The rows that may share keys with others of them, and the keys, by the name of the suspects."""
        found = {"pair": (self.pairs_of_lists, [*self.keys, "item"])}
        if self.same_truth == "truth":
            grades = (
                self.truth.select(*self.judged_pair, "relevance").unique()
                if self.is_judged
                else self.truth
            )
            found["truth"] = (grades, self.judged_pair)
        if self.inputs.scored or not self.consecutive:
            order = "score" if self.inputs.scored else "rank"
            found[order] = (self.lists, [*self.keys, order])
        return found

    def absent_items(self) -> dict[str, pl.LazyFrame]:
        """Return the items of the lists that the catalogue or train does not have; there are few items, and many rows."""
        frames = {"items": self.inputs.items, "train": self.inputs.train}
        return {
            absent(name): self.ids_of_lists("item").join(frame, on="item", how="anti")
            for name, frame in frames.items()
            if frame is not None
        }

    def counted_lists(self) -> pl.LazyFrame:
        """Return the plan of `lengths`."""
        last = [] if self.inputs.scored else [pl.col("rank").max().alias("last")]
        return self.lists.group_by(self.keys).agg(pl.len().cast(pl.Int64).alias("rows"), *last)

    def counted_users(self) -> pl.LazyFrame:
        """Return the plan of `judged_users`."""
        return self._rows_of_users.group_by(self.judged_keys).agg(COUNTS)

    def counted_runs(self) -> pl.LazyFrame:
        """Return the same in less time where rows of a user stand together: these are counted first."""
        runs = self._rows_of_users.group_by(run=pl.col("user").rle_id().set_sorted())
        counted = runs.agg(pl.col("user").first(), *COUNTS).drop("run")
        return counted.group_by("user").sum()

    @property
    def _rows_of_users(self) -> pl.LazyFrame:
        beyond = self.relevant & ~self.ranked if self.is_judged else pl.lit(value=False)
        return self.truth.select(*self.judged_keys, is_relevant=self.relevant, is_beyond=beyond)

    @property
    def pairs_of_lists(self) -> pl.LazyFrame:
        """The rows of the frame of the lists that have a user and an item."""
        return self.inputs.identified("recommendations")

    def repeated(self, name: str, rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame | None:
        """Return the rows that may share their keys with another one, or None where no row does."""
        numbers = self.suspected(name)
        if numbers is None:
            return None
        number = key_hash([pl.col(key) for key in keys], rows.collect_schema())
        return rows.join(numbers, left_on=number, right_on="number", how="semi")

    def is_text(self, role: str) -> bool:
        """Return whether the ids of a role are text in all frames that have them."""
        dtypes = [frame.collect_schema()[role] for frame in self.having(role).values()]
        return all(dtype in TEXT for dtype in dtypes)

    def _spellings(self, role: str) -> pl.LazyFrame:
        """Return ids that are another one's but for blanks around them or a point and noughts behind them."""
        ids = [self.ids(name, role).select(spelling=role) for name in self.having(role)]
        texts = pl.concat(one.select(pl.col("spelling").cast(pl.String)) for one in ids)
        spelling, plain = pl.col("spelling"), pl.col("plain")
        stripped = spelling.str.strip_chars()
        # NOTE: a pattern takes ten times as long as these, and few ids are left for it
        pointed = stripped.str.ends_with("0") & stripped.str.contains(".", literal=True)
        some = texts.filter((spelling != stripped) | pointed).unique()
        odd = some.with_columns(plain=stripped.str.replace(r"^([+-]?\d+)\.0+$", "$1"))
        odd = odd.filter(spelling != plain)
        # all others are plain
        same = texts.join(odd, left_on="spelling", right_on="plain", how="semi").unique()
        spellings = pl.concat([odd.select("plain"), same.select(plain="spelling")])
        several = spellings.group_by("plain").len().filter(pl.col("len") > 1)
        return odd.join(several, on="plain", how="semi")


def ids_of(name: str, role: str) -> str:
    """Return the name of the question which ids a frame has."""
    return f"{role}s of {name}"


def absent(name: str) -> str:
    """Return the name of the question which items of the lists a frame does not have."""
    return f"items not in {name}"


def numbers_of_several(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the numbers that stand for the keys of two rows or more; now and then other keys have the same number."""
    number = key_hash([pl.col(key) for key in keys], rows.collect_schema())
    return repeated(rows, number).unique()


def example(shown: Sequence[str], schema: pl.Schema) -> pl.Expr:
    """Return the first row as text, such as `user 1, item 'a', rank 0`."""
    if isinstance(shown, str):
        return pl.lit(shown)
    is_text = {name: schema[name] in TEXT for name in shown}
    # NOTE: Polars 1.35 streams no structs that hold categories.
    columns = [pl.col(name).cast(pl.String) if is_text[name] else pl.col(name) for name in shown]
    first = pl.struct(columns).first().struct
    parts = []
    for name in shown:
        text = first.field(name) if is_text[name] else as_text(first.field(name), schema[name])
        if is_text[name]:
            text = pl.concat_str(pl.lit("'"), text, pl.lit("'"))
        parts.append(pl.concat_str(pl.lit(f"{name} "), text.fill_null("null")))
    return pl.concat_str(parts, separator=", ")
