"""Files of a command as tables, bound with its options."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from rich.console import Console

import recframe as rf
from recframe.cli import files
from recframe.cli.output import Options, note, noted
from recframe.cli.readers import ROWS, Part, Table, reading_of, table_of
from recframe.cli.text_dtypes import Role, typed
from recframe.cli.text_files import Form, no_header
from recframe.errors import RecframeError, plan_errors, short
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
ONLY_NAMED = {"weight", "time"}
"""Roles whose columns are read only where they are named."""


@contextmanager
def reading(paths: Paths) -> Iterator[None]:
    """Read a command's files: say errors in words of the shell and in one line, and warnings as notes at the end."""
    # NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe
    console = Console(stderr=True, force_terminal=sys.stderr.isatty())
    with hints.in_words(InShell(paths)), noted(), console.status("reading"):
        try:
            with plan_errors():
                yield
        except (pl.exceptions.PolarsError, OSError) as error:
            msg = f"the files cannot be read: {files.first_line(error)}"
            raise rf.DataError(msg) from None


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
    files.lay_down(path)
    table = table_of(path, files.places(path))
    return typed({path: table}, {path: {}})[path]


def scanned(paths: Paths, options: Options) -> Frames:
    """Return the tables of all files, with dtypes that match; a file that was given twice is one table."""
    is_twice = paths.get("truth") == paths.get("recs")
    is_judged = is_twice or len(paths) == 1
    tables: dict[str, Table] = {}
    roles: dict[str, dict[str, Role]] = {}
    for name, path in paths.items():
        if is_twice and name == "truth":
            continue
        files.lay_down(path)
        source = Source(name, path, options, is_judged)
        tables[name], roles[name] = source.table(), source.roles()
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


@dataclass(frozen=True)
class Source:
    """A file of a command, and what its options say of it."""

    name: str
    path: str
    options: Options
    is_judged: bool
    """Whether lists have the relevance of their items."""

    def column(self, role: str) -> str:
        """Return the name of a role's column in all files."""
        return columns_of(self.options).get(role, role)

    def option(self, name: str) -> Any:
        """Return the value of an option for this file, which is that for all files where there is no other."""
        of_files = self.options.get(name) or {}
        return of_files.get(self.name, of_files.get(""))

    def roles(self) -> dict[str, Role]:
        """Return the roles of the columns that the call reads."""
        columns = columns_of(self.options)
        ids, numbers = ["user", "item"], list[str]()
        if self.name in RANKED:
            ids += [role for role in ("model", "training") if role in columns]
            numbers += ["rank", "score"]
        if self.is_judged or self.name in LIKED:
            numbers += ["relevance", "propensity"]
        if self.name == "users" and "weight" in columns:
            numbers += ["weight"]
        segments = [*(self.options.get("by") or []), self.options.get("cluster")]
        roles: dict[str, Role] = {self.column(role): "id" for role in ids}
        roles |= {name: "id" for name in segments if name is not None}
        if "time" in columns:
            roles[columns["time"]] = "time"
        return roles | {self.column(role): "number" for role in numbers}

    def table(self) -> Table:
        """Return the table under the names of all files, with a row for each item."""
        given = {name: self.option(name) for name in OF_FORM}
        form = Form(**{name: value for name, value in given.items() if value is not None})
        of_users = rf.from_truth if self.name in LIKED else rf.from_lists
        table = self._renamed(table_of(self.path, files.places(self.path), form, of_users))
        for column in self.roles().keys() & table.lacking:
            msg = (
                f"{table.lacking[column]!r} has no column {column!r}, which other files of {self.path!r} have; give files of "
                "the same columns"
            )
            raise RecframeError(msg)
        return self._in_long_form(table) if self.name in LIKED | RANKED else table

    def _renamed(self, table: Table) -> Table:
        """Return a table under the names that the columns have in all files, or say which it lacks."""
        schema, columns = table.schema, columns_of(self.options)
        own = self.options["columns"].get(self.name, {})
        names = {column: self.column(role) for role, column in own.items()}
        if table.kind in (*files.TREC, ".json"):
            # TREC files and dictionaries of users have no names of their own
            names |= {role: column for role, column in columns.items() if role in schema}
        needed = dict(own)
        if "item" in columns and self.name in LIKED | RANKED:
            needed.setdefault("item", columns["item"])
        if table.parts[0].text is not None:
            # a first line that is no header, or has another separator
            key = "item" if self.name == "items" else "user"
            is_odd = len(schema) == 1 or no_header(self.path, schema)
            needed |= {key: own.get(key, self.column(key))} if is_odd else {}
        for role, column in needed.items():
            if not {column, f"{column}s"} & {*schema, *names.values()}:
                raise RecframeError(no_header(self.path, schema) or self._lacks(role, schema))
        return replace(table, parts=[part.renamed(names) for part in table.parts])

    def _lacks(self, role: str, schema: pl.Schema) -> str:
        """Return what to write where a file lacks the column of a role."""
        column = self.options["columns"].get(self.name, {}).get(role, self.column(role))
        words = (
            f"{self.path!r} has no column {column!r}. It has {listed(schema)}. Name the column of the {role}: --columns "
            f"{role}=NAME, or in this file alone --columns {self.name}={role}=NAME"
        )
        is_single = len(schema) == 1
        return words + "; or say what separates its columns: --separator ';'" * is_single

    def _in_long_form(self, table: Table) -> Table:
        """Return a table of lists with a row for each item, or one that has a row for each as it is."""
        item, schema = self.column("item"), table.schema
        lists = item if item in schema else f"{item}s"
        is_nested = isinstance(schema.get(lists), pl.List | pl.Array)
        mark = None if is_nested else self._mark(table, lists)
        if not is_nested and mark is None:
            self._check_order(schema, lists)
            return table
        names: dict[str, Any] = {"user": self.column("user"), "item": item}
        read: Any = rf.from_lists
        if self.name in LIKED:
            read, number = rf.from_truth, "relevance"
            names[number] = columns_of(self.options).get(number)
        else:
            number = "score"
            names[number] = self.column(number)
        with noted(), reading_of(table.path, table.parts):
            numbers = (self.column(number), f"{self.column(number)}s")
            rows = table.rows if mark is None else _cut(table, (lists, *numbers), mark)
            # the first rows show what a LazyFrame does not, such as a user with two lists
            read(rows.head(ROWS).collect(), **names)
        long = read(rows, **names)
        written = {*table.written}
        if mark is not None or table.kind not in files.TABLES:
            written.add(item)
        dtypes = long.collect_schema()
        texts = [name for name in dtypes if name in written and dtypes[name] == pl.String]
        return replace(table, parts=[Part(table.path, long, texts)])

    def _check_order(self, schema: pl.Schema, lists: str) -> None:
        """Reject recommendations whose items are text without ranks or scores, which may be lists."""
        orders = [self.column(role) for role in ("rank", "score")]
        if self.name == "recs" and schema.get(lists) == pl.String and not {*orders} & {*schema}:
            msg = (
                f"{self.path!r} has no column {orders[0]!r}. It has {listed(schema)}. Name the column of the ranks or of "
                f"the scores: --columns rank=NAME or --columns score=NAME; where each text of {lists!r} is a list, such as "
                "'a b c', say what separates its ids: --lists-separator ' '"
            )
            raise RecframeError(msg)

    def _mark(self, table: Table, lists: str) -> str | None:
        """Return the text between the ids of lists in text, None for a table with a row for each item."""
        mark: str | None = self.option("lists_separator")
        if mark is None or lists not in table.schema:
            return None
        if self.name in RANKED and self.column("rank") in table.schema:
            msg = (
                f"{self.path!r} has a rank {self.column('rank')!r} in each row, so that it has no lists in text; say which "
                "file has: --lists-separator truth=' '"
            )
            raise RecframeError(msg)
        column = pl.col(lists).cast(pl.String)
        first = table.rows.select(column).head(ROWS).collect()[lists].drop_nulls()
        in_brackets = first.filter(first.str.contains(IN_BRACKETS))
        if len(in_brackets):
            msg = (
                f"column {lists!r} of {table.path!r} holds {short(in_brackets[0])}, a list in brackets, where text with "
                f"{mark!r} between ids is expected; write list columns to Parquet or NDJSON"
            )
            raise RecframeError(msg)
        if first.is_empty() or first.str.contains(mark, literal=True).any():
            return mark
        if self.name in RANKED:
            note(
                f"no text of the column {lists!r} has {mark!r} in it, so each list has one item, such as {short(first[0])!r}; "
                "--lists-separator takes the text between two ids"
            )
            return mark
        # users often like a single item, in a list or in a row
        return None if lists == self.column("item") else mark


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
