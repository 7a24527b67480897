"""The frames that checks read, and what several checks ask of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import polars as pl

from recframe.audit.lists_by_number import lists_by_number
from recframe.frames.collecting import Collect
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
)
from recframe.frames.rows.questions import heads
from recframe.judging.judged_frame import PAIR
from recframe.judging.relevance import is_rank, is_relevant

SOME = 1_000
"""So many first rows tell of most frames that their lists do not stand in order."""
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
        return [*self.inputs.model, "user"]

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
        return self.judged_pairs.filter(pl.col("relevance").is_not_null())

    @property
    def judged_pairs(self) -> pl.LazyFrame:
        """The rows of the frame of the relevance that have a user and an item."""
        return self.inputs.identified("truth")

    @cached_property
    def scores_beside_ranks(self) -> pl.LazyFrame | None:
        """The lists' keys, ranks and scores, where ranks are given and a column of scores stands beside them."""
        side = self.inputs.sides["recommendations"]
        if self.inputs.scored or self.context.name_of("score") not in side.kind.numbers():
            return None
        return side.take([*self.keys, "rank", "score"]).lazy().drop_nulls()

    def items_of_train(self) -> pl.LazyFrame:
        """Return the items that anybody has in train, each once."""
        if self.inputs.tables is not None:
            dtypes = {"item": self.inputs.schema["item"]}
            return self.inputs.tables.get(POPULARITY, dtypes)
        train = self.inputs.train
        return self.lists.clear() if train is None else train.select("item").drop_nulls().unique()

    def models(self) -> pl.LazyFrame:
        """Return the models that have a list."""
        if self.inputs.tables is not None:
            return self.inputs.tables.get(MODELS, {"model": self.inputs.schema["model"]})
        return self.lengths.select("model").unique()

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
        return self._shared(_ids(role))

    def suspected(self, name: str) -> pl.LazyFrame | None:
        """Return some suspects, unless there are known to be none or the question does not arise."""
        if name not in self._questions or (name in self.known and self.known[name].is_empty()):
            return None
        return self._shared(name)

    def lists_have_only_items_of(self, name: str) -> bool:
        """Return whether all items of the lists are known to stand in another frame, as they mostly do."""
        absent = self.known.get(_absent(name))
        return absent is not None and absent.is_empty()

    def in_train(self, rows: pl.LazyFrame, train: pl.LazyFrame) -> pl.LazyFrame:
        """Return the rows whose user has the item in train."""
        schemas = [frame.collect_schema() for frame in (rows, train)]
        small = all(schema[name] in SMALL_INTEGERS for schema in schemas for name in PAIR)
        given = self.inputs.given.get("train") if self.known and small else None
        if given is not None and fits_31_bits(given, PAIR):
            return joined_as_numbers(rows, train.select(PAIR), PAIR, "semi")
        return rows.join(train, on=PAIR, how="semi")

    def settled(self, run: Collect, group: Collect) -> Audited:
        """Return the same for a large eager frame, asked once what checks share; the answers change no finding.

        `group` collects plans that group sorted rows, `run` all others.
        """
        found = replace(self, consecutive=self._is_consecutive(run))
        in_order, by_number = found._answers_of_blocks, found._answers_of_numbers  # noqa: SLF001
        known = in_order(group) if found.consecutive else by_number(run)
        plans = {name: plan for name, plan in found._questions.items() if name not in known}  # noqa: SLF001
        known |= {name: run(plan) for name, plan in plans.items()}
        plans = replace(found, known=known)._absent_items()  # noqa: SLF001
        return replace(found, known=known | {name: run(plan) for name, plan in plans.items()})

    def _shared(self, name: str) -> pl.LazyFrame:
        return self.known[name].lazy() if name in self.known else self._cached[name]

    @cached_property
    def _cached(self) -> dict[str, pl.LazyFrame]:
        return {name: plan.cache() for name, plan in self._questions.items()}

    @cached_property
    def _questions(self) -> dict[str, pl.LazyFrame]:
        plans = {"lengths": self._lengths(), "judged users": self._judged_users()}
        plans["pair"] = _repeated(self.pairs_of_lists, [*self.inputs.model, *PAIR])
        if self.same_truth == "truth":
            grades = (
                self.truth.select(*PAIR, "relevance").unique() if self.is_judged else self.truth
            )
            plans["truth"] = _repeated(grades, PAIR)
        if self.inputs.scored or not self.consecutive:
            order = "score" if self.inputs.scored else "rank"
            plans[order] = _repeated(self.lists, [*self.keys, order])
        plans |= {role: self._spellings(role) for role in PAIR if self._is_text(role)}
        for role in PAIR:
            if len(self.having(role)) > 1:
                plans[_ids(role)] = self._each_once(self.inputs.lists, role).drop_nulls().unique()
        return plans

    def _absent_items(self) -> dict[str, pl.LazyFrame]:
        """Return the items of the lists that the catalogue or train does not have; there are few items, and many rows."""
        frames = {"items": self.inputs.items, "train": self.inputs.train}
        return {
            _absent(name): self.ids_of_lists("item").join(frame, on="item", how="anti")
            for name, frame in frames.items()
            if frame is not None
        }

    def _answers_of_blocks(self, run: Collect) -> dict[str, pl.DataFrame]:
        """Return what one pass over rows that stand user by user answers."""
        keys, user = self.keys, pl.col("user")
        distinct = pl.col("item").n_unique() == pl.len()
        sums = {"rows": self.ranked.sum(), "last": pl.col("rank").max(), "distinct": distinct}
        if self.is_judged:
            judged = pl.col("relevance").is_not_null()
            beyond = self.relevant & ~self.ranked
            sums |= {
                "judged": judged.sum(),
                "relevant": self.relevant.sum(),
                "beyond": beyond.sum(),
            }
        # NOTE: groups of a column that is marked as sorted are not hashed.
        is_number = keys == ["user"] and self.inputs.schema["user"].is_integer()
        block = (user if is_number else _starts(keys).cum_sum()).set_sorted()
        rows = self.pairs_of_lists.with_columns(block=block)
        blocks = run(rows.group_by("block").agg(pl.col(keys).first(), **sums))
        lists = blocks.filter(pl.col("rows") > 0).select(
            *keys, pl.col("rows").cast(pl.Int64), "last"
        )
        known = {"lengths": lists}
        if blocks["distinct"].all():
            known["pair"] = pl.DataFrame(schema={"number": pl.Int64})
        if self.is_judged:
            users = blocks.filter(pl.col("judged") > 0)
            n_rows = pl.col("judged").cast(pl.Int64).alias("rows")
            users = users.select("user", n_rows, "relevant", "beyond")
            # a user has a block for each model
            known["judged users"] = users.group_by("user").sum() if len(keys) > 1 else users
        return known

    def _answers_of_numbers(self, run: Collect) -> dict[str, pl.DataFrame]:
        """Return what one sort of rows in any order answers."""
        answer = None if self.inputs.scored else lists_by_number(self.lists, self.keys, run)
        if answer is None:
            return {}
        lists, has_ties = answer
        none = pl.DataFrame(schema={"number": pl.Int64})
        return {"lengths": lists} | ({} if has_ties else {"rank": none})

    def _lengths(self) -> pl.LazyFrame:
        last = [] if self.inputs.scored else [pl.col("rank").max().alias("last")]
        return self.lists.group_by(self.keys).agg(pl.len().cast(pl.Int64).alias("rows"), *last)

    def _judged_users(self) -> pl.LazyFrame:
        beyond = self.relevant & ~self.ranked if self.is_judged else pl.lit(value=False)
        rows = self.truth.select("user", is_relevant=self.relevant, is_beyond=beyond)
        return rows.group_by("user").agg(
            pl.len().cast(pl.Int64).alias("rows"),
            relevant=pl.col("is_relevant").sum(),
            beyond=pl.col("is_beyond").sum(),
        )

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

    def _is_text(self, role: str) -> bool:
        dtypes = [frame.collect_schema()[role] for frame in self.having(role).values()]
        return all(dtype in TEXT for dtype in dtypes)

    def _spellings(self, role: str) -> pl.LazyFrame:
        """Return ids that are another one's but for blanks around them or a point and noughts behind them."""
        having = self.having(role)
        having[self.main] = self._each_once(having[self.main], role)
        ids = [frame.select(spelling=role).unique() for frame in having.values()]
        texts = [one.select(pl.col("spelling").cast(pl.String)) for one in ids]
        text = pl.concat(texts).unique().drop_nulls()
        plain = pl.col("spelling").str.strip_chars().str.replace(r"^([+-]?\d+)\.0+$", "$1")
        text = text.with_columns(plain=plain)
        several = text.group_by("plain").agg(spellings=pl.len()).filter(pl.col("spellings") > 1)
        return text.join(several, on="plain", how="semi").filter(
            pl.col("spelling") != pl.col("plain")
        )

    def _each_once(self, rows: pl.LazyFrame, role: str) -> pl.LazyFrame:
        """Return the ids of rows of the lists, with fewer repeats where the lists stand one behind the other."""
        is_sorted = role == "user" and self.consecutive
        return heads(rows) if is_sorted else rows.select(role)

    def _is_consecutive(self, run: Collect) -> bool:
        """Return whether the rows stand list by list, and their ranks are 1, 2, 3 and so on, with those without one last."""
        schema = self.inputs.schema
        if self.inputs.scored or not schema["rank"].is_integer():
            return False
        user, rank, other = pl.col("user"), pl.col("rank"), _starts(self.keys)
        follows = (rank - rank.shift() == 1).fill_null(value=False)
        right = {"right": (follows & ~other | (other & (rank == 1)) | rank.is_null()).all()}
        rows = self.pairs_of_lists
        if not run(rows.head(SOME).select(**right)).item():  # most others are told by a few rows
            return False
        if self.keys == ["user"] and schema["user"].is_integer():
            in_order = (user >= user.shift()).all()
            is_right, ascending = run(rows.select(**right, ascending=in_order)).row(0)
            return bool(is_right and ascending)
        if not run(rows.select(**right)).item():
            return False
        blocks = run(rows.select(self.keys).filter(other))
        return len(blocks) == len(run(blocks.lazy().unique()))


def _starts(keys: Sequence[str]) -> pl.Expr:
    """Return whether a row has other keys than the one before it."""
    return pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)


def _ids(role: str) -> str:
    """Return the name of the question which ids the lists have."""
    return f"ids of {role}s"


def _absent(name: str) -> str:
    """Return the name of the question which items of the lists a frame does not have."""
    return f"items not in {name}"


def _repeated(rows: pl.LazyFrame, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the numbers that stand for the keys of two rows or more; now and then other keys have the same number."""
    number = key_hash([pl.col(key) for key in keys], rows.collect_schema())
    numbers = rows.select(number=number).select(pl.col("number").sort())
    return numbers.filter(pl.col("number") == pl.col("number").shift()).unique()


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
