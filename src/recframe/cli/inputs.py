"""Files of a command as tables, bound with its options."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from rich.console import Console

import recframe as rf
from recframe.cli import files
from recframe.cli.output import Options, note, noted
from recframe.cli.readers import in_plan, table_of
from recframe.cli.text_dtypes import ROWS, Role, typed
from recframe.cli.text_files import Form, Table, no_header
from recframe.errors import RecframeError, short
from recframe.frames import hints
from recframe.frames.hints import InShell
from recframe.frames.options import DEFAULTS
from recframe.frames.roles import listed

Paths: TypeAlias = Mapping[str, str]
Frames: TypeAlias = dict[str, pl.LazyFrame]
"""The files of a command, and their tables, by their names."""
SIDES = ("users", "items", "train", "reference")
LIKED = {"truth", "train", "log"}
"""Files with the items that users liked, in no order."""
RANKED = {"recs", "reference"}
"""Files with recommendations."""
OF_FORM = ("separator", "header", "encoding", "decimal", "quotes")
"""Options on the form of text files."""
IN_BRACKETS = r"(?s)^(\[.*\]|[({].*,.*[)}])$"
"""Pattern of a list as Python, JSON or NumPy prints it, as in CSV files of pandas."""
NEEDED = {"users": ("user",), "items": ("item",), "train": ("item",)}
"""The roles whose columns a file has, where these are not those of users and items."""
OF_ALL: Mapping[str, Role] = {
    "user": "id",
    "item": "id",
    "model": "id",
    "training": "id",
    "time": "time",
}
"""What the columns of roles are for that any file may have."""
ONLY_NAMED = {"model", "training", "weight", "time"}
"""Roles whose columns are read only where they are named."""


@contextmanager
def reading(paths: Paths) -> Iterator[None]:
    """Read a command's files: say errors in words of the shell and in one line, and warnings as notes at the end."""
    # NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe
    console = Console(stderr=True, force_terminal=sys.stderr.isatty())
    with hints.in_words(InShell(paths)), noted(), console.status("reading"), files.reading_of():
        yield


def paths_of(recs: str, truth: str | None, options: Options) -> dict[str, str]:
    """Return a command's files by name."""
    paths: dict[str, str | None] = {"recs": recs, "truth": truth}
    for name in SIDES:
        paths[name] = options[name]
    reference = options["reference"]
    if reference is not None and options["model"] and not is_file(reference):
        paths["reference"] = None  # the name of a model
    return {name: path for name, path in paths.items() if path is not None}


def is_file(path: str) -> bool:
    """Return whether a word is a file, by its ending or since it is there."""
    return files.ending_of(path) in files.KNOWN or "*" in path or Path(path).exists()


def scan(path: str) -> pl.LazyFrame:
    """Return the table of a path, whose columns have the dtypes of their values."""
    sources = files.sources(path)
    with files.reading_of(path):
        table = table_of(path, sources)
    return typed({path: table}, {path: {}})[path]


def scanned(paths: Paths, options: Options) -> Frames:
    """Return the tables of all files, with dtypes that match; a file that was given twice is one table."""
    is_twice = paths.get("truth") == paths.get("recs")
    is_judged = is_twice or len(paths) == 1
    # a pipe can be read once
    sources = {path: files.sources(path) for path in dict.fromkeys(paths.values())}
    tables: dict[str, Table] = {}
    roles: dict[str, dict[str, Role]] = {}
    for name, path in paths.items():
        if is_twice and name == "truth":
            continue
        asked = Asked(name, path, options, is_judged=is_judged)
        with files.reading_of(path):
            tables[name], roles[name] = asked.table(sources[path]), asked.roles()
    frames = typed(tables, roles)
    if is_twice and "truth" in paths:
        frames["truth"] = frames["recs"]
    elif "truth" in tables and columns_of(options).get("rank", "rank") in tables["truth"].schema:
        note(
            "TRUTH has ranks, as lists have; if it comes from a pattern, quote it: 'recs/*.parquet'"
        )
    return frames


def bound(frames: Mapping[str, Any], options: Options) -> Any:
    """Return the recommendations with all side frames and options bound."""
    names = (*DEFAULTS, "profile", "reference", "memory")
    given = {name: options[name] for name in names if options.get(name) is not None}
    given |= columns_of(options)
    given |= frames
    if options.get("all_relevant"):
        named = given.get("relevance")
        if named is not None:
            msg = (
                f"--all-relevant says that no column tells what is relevant, and --columns relevance={named} names one; leave "
                "one of them out"
            )
            raise RecframeError(msg)
        given["relevance"] = False
    return rf.rec(given.pop("recs"), **given)


def columns_of(options: Options) -> dict[str, str]:
    """Return the names of columns by their roles, in all files."""
    by_file: dict[str, dict[str, str]] = options["columns"]
    found = dict[str, str]()
    for named in by_file.values():
        found |= {role: role for role in ONLY_NAMED if role in named}
    found |= by_file.get("", {})
    for role in ("model", "training"):
        if options.get(role):
            found[role] = options[role]
    return found


class Asked:
    """A file of a command, and what its options say of it."""

    def __init__(self, name: str, path: str, options: Options, *, is_judged: bool) -> None:
        self.name, self.path, self.options = name, path, options
        self.is_ranked, self.has_lists = name in RANKED, name in RANKED | LIKED
        self.has_relevance = is_judged or name in LIKED
        """Whether its rows may have the relevance of their items."""
        self.columns = columns_of(options)
        """The names of columns by their roles, in all files."""
        self.own: dict[str, str] = options["columns"].get(name, {})
        """The names that are of this file alone."""

    def column(self, role: str) -> str:
        """Return the name of a role's column in all files."""
        return self.columns.get(role, role)

    def option(self, name: str) -> Any:
        """Return the value of an option for this file, which is that for all files where there is no other."""
        of_files = self.options.get(name) or {}
        return of_files.get(self.name, of_files.get(""))

    def roles(self) -> dict[str, Role]:
        """Return what the columns are for that the call reads."""
        numbers = [
            *("rank", "score") * self.is_ranked,
            *("relevance", "propensity") * self.has_relevance,
            *("weight",) * (self.name == "users"),
        ]
        of_numbers: dict[str, Role] = dict.fromkeys(numbers, "number")
        segments = [*(self.options.get("by") or []), self.options.get("cluster")]
        roles: dict[str, Role] = dict.fromkeys(filter(None, segments), "id")
        for role, kind in {**OF_ALL, **of_numbers}.items():
            if role in self.columns or role not in ONLY_NAMED:
                roles[self.column(role)] = kind
        return roles

    def table(self, sources: Sequence[files.Source]) -> Table:
        """Return the table under the names of all files, with a row for each item."""
        given = {name: self.option(name) for name in OF_FORM}
        names = {column: self.column(role) for role, column in self.own.items()}
        said = {name: value for name, value in given.items() if value is not None}
        of_users = rf.from_truth if self.name in LIKED else rf.from_lists
        table = table_of(self.path, sources, Form(names=names, **said), self.columns, of_users)
        for column in self.roles():
            lacking = [part.name for part in table.files if column not in part.schema]
            if 0 < len(lacking) < len(table.files):
                msg = (
                    f"{lacking[0]!r} has no column {column!r}, which other files of {self.path!r} have; give files of the "
                    "same columns"
                )
                raise RecframeError(msg)
        for role in (*NEEDED.get(self.name, ("user", "item")), *self.own):
            column = self.column(role)
            if not {column, f"{column}s"} & {*table.schema}:
                raise RecframeError(self._lacks(role, table))
        return self._in_long_form(table) if self.has_lists else table

    def _lacks(self, role: str, table: Table) -> str:
        """Return what to write where a file lacks the column of a role."""
        schema, is_text = table.schema, table.kind not in files.TABLES
        column = self.own.get(role, self.column(role))
        words = (
            f"{self.path!r} has no column {column!r}. It has {listed(schema)}. Name the column of the {role}: --columns "
            f"{role}=NAME, or in this file alone --columns {self.name}={role}=NAME"
        )
        if is_text and len(schema) == 1:
            words += "; or say what separates its columns: --separator ';'"
        return (is_text and no_header(self.path, schema)) or words

    def _in_long_form(self, table: Table) -> Table:
        """Return a table of lists with a row for each item, or one that has a row for each as it is."""
        item, schema = self.column("item"), table.schema
        lists = item if item in schema else f"{item}s"
        is_nested = isinstance(schema[lists], pl.List | pl.Array)
        mark = None if is_nested else self._mark(table, lists)
        if not is_nested and mark is None:
            self._check_order(schema, lists)
            return table
        number = "score" if self.is_ranked else "relevance"
        name = self.column(number) if self.is_ranked else self.columns.get(number)
        names: dict[str, Any] = {"user": self.column("user"), "item": item, number: name}
        read: Any = rf.from_lists if self.is_ranked else rf.from_truth
        numbers = (self.column(number), f"{self.column(number)}s")
        rows = table.rows if mark is None else _cut(table, (lists, *numbers), mark)
        with noted():
            # the first rows show what a LazyFrame does not, such as a user with two lists
            read(rows.head(ROWS).collect(), **names)
        is_written = mark is not None or table.kind not in files.TABLES
        written = {*table.written, *[item] * is_written}
        return in_plan(self.path, table.kind, read(rows, **names), written=written)

    def _check_order(self, schema: pl.Schema, lists: str) -> None:
        """Reject recommendations whose items are text without ranks or scores, which may be lists."""
        rank, score = self.column("rank"), self.column("score")
        has_order = rank in schema or score in schema
        if self.name == "recs" and schema[lists] == pl.String and not has_order:
            msg = (
                f"{self.path!r} has no column {rank!r}. It has {listed(schema)}. Name the column of the ranks or of "
                f"the scores: --columns rank=NAME or --columns score=NAME; where each text of {lists!r} is a list, such as "
                "'a b c', say what separates its ids: --lists-separator ' '"
            )
            raise RecframeError(msg)

    def _mark(self, table: Table, lists: str) -> str | None:
        """Return the text between the ids of lists in text, None for a table with a row for each item."""
        mark: str | None = self.option("lists_separator")
        if mark is None:
            return None
        rank = self.column("rank")
        if self.is_ranked and rank in table.schema:
            msg = (
                f"{self.path!r} has a rank {rank!r} in each row, so that it has no lists in text; say which file has: "
                "--lists-separator truth=' '"
            )
            raise RecframeError(msg)
        texts = table.rows.select(pl.col(lists).cast(pl.String)).head(ROWS).collect()[lists]
        in_brackets = texts.filter(texts.str.contains(IN_BRACKETS))
        if len(in_brackets):
            msg = (
                f"column {lists!r} of {self.path!r} holds {short(in_brackets[0])}, a list in brackets, where text with "
                f"{mark!r} between ids is expected; write list columns to Parquet or NDJSON"
            )
            raise RecframeError(msg)
        has_mark = texts.str.contains(mark, literal=True).any() or not texts.count()
        if self.is_ranked and not has_mark:
            note(
                f"no text of the column {lists!r} has {mark!r} in it, so each list has one item, such as "
                f"{short(texts.drop_nulls()[0])!r}; --lists-separator takes the text between two ids"
            )
        # users often like a single item, in a list or in a row
        is_row = not self.is_ranked and not has_mark and lists == self.column("item")
        return None if is_row else mark


def _cut(table: Table, names: Iterable[str], mark: str) -> pl.LazyFrame:
    """Return a table whose lists in text are list columns, of the items and of numbers of theirs.

    White space separates once; of another mark, nothing between two is a missing item, which keeps its place.
    """
    value = pl.element().str.strip_chars()
    values = pl.when(value != "").then(value) if mark.strip() else value.filter(value != "")
    lists, *numbers = names
    text = pl.col(lists, *(name for name in numbers if table.schema.get(name) == pl.String))
    bare = text.cast(pl.String).str.strip_chars().replace("", None)
    return table.rows.with_columns(bare.str.split(mark).list.eval(values))
