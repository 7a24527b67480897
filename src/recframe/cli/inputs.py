"""Files of a command as tables, bound with its options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from rich.console import Console

import recframe as rf
from recframe.cli import files
from recframe.cli.options import OF_FILES
from recframe.cli.output import Options, note, noted
from recframe.cli.readers import in_plan, table_of
from recframe.cli.text_dtypes import ROWS, Role, typed
from recframe.cli.text_files import Form, Table, without_header
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
EVERY = {*OF_FILES}
ROLES: Mapping[str, tuple[Role, AbstractSet[str]]] = {
    "user": ("id", EVERY),
    "item": ("id", EVERY),
    "model": ("id", EVERY),
    "training": ("id", EVERY),
    "time": ("time", EVERY),
    "rank": ("number", RANKED),
    "score": ("number", RANKED),
    "relevance": ("number", LIKED),
    "propensity": ("number", LIKED),
    "weight": ("number", {"users"}),
}
"""Kind of the values of each role, and the files that may have its column."""
ONLY_NAMED = {"model", "training", "weight", "time"}
"""Roles whose columns are read only where they are named."""
NEEDED = {"users": ("user",), "items": ("item",), "train": ("item",)}
"""The roles whose columns a file has, where these are not those of users and items."""
OF_FORM = ("separator", "header", "encoding", "decimal", "quotes")
"""Options on the form of text files."""
IN_BRACKETS = r"(?s)^(\[.*\]|[({].*,.*[)}])$"
"""Pattern of a list as Python, JSON or NumPy prints it, as in CSV files of pandas."""


@contextmanager
def reading(paths: Paths) -> Iterator[None]:
    """Read a command's files: say errors in words of the shell and in one line, and warnings as notes at the end."""
    # NOTE: FORCE_COLOR, which many logs set, makes no terminal of a pipe
    console = Console(stderr=True, force_terminal=sys.stderr.isatty())
    with hints.in_words(InShell(paths)), noted(), console.status("reading"), files.reading_of():
        yield


def paths_of(recs: str, truth: str | None, options: Options) -> dict[str, str]:
    """Return a command's files by name; a reference that is no file is the name of a model."""
    paths = {"recs": recs, "truth": truth, **{name: options[name] for name in SIDES}}
    if options["model"] and not is_file(options["reference"] or ""):
        paths["reference"] = None
    return {name: path for name, path in paths.items() if path is not None}


def is_file(path: str) -> bool:
    """Return whether a word is a file, by its ending or since it is there."""
    return files.ending_of(path) in files.KNOWN or "*" in path or Path(path).exists()


def scan(path: str) -> pl.LazyFrame:
    """Return the table of a path, whose columns have the dtypes of their values."""
    with files.reading_of(path):
        table = table_of(path, files.sources(path))
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
        given = Given(name, path, options, is_judged=is_judged)
        with files.reading_of(path):
            tables[name], roles[name] = given.table(sources[path]), given.roles
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
    given |= columns_of(options) | {**frames}
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
    by_file: dict[str, dict[str, str]] = options["columns"] or {}
    named = (role for of_file in by_file.values() for role in of_file)
    found = {role: role for role in named if role in ONLY_NAMED} | by_file.get("", {})
    return found | {role: options[role] for role in ("model", "training") if options.get(role)}


@dataclass(frozen=True)
class Given:
    """A file of a command, and what its options say of it."""

    name: str
    path: str
    options: Options
    is_judged: bool
    """Whether the recommendations may have the relevance of their items."""

    @cached_property
    def columns(self) -> dict[str, str]:
        """The names of columns by their roles, in all files."""
        return columns_of(self.options)

    def column(self, role: str) -> str:
        """Return the name of a role's column in all files."""
        return self.columns.get(role, role)

    def option(self, name: str) -> Any:
        """Return the value of an option for this file, which is that for all files where there is no other."""
        of_files = self.options.get(name) or {}
        return of_files.get(self.name, of_files.get(""))

    @cached_property
    def roles(self) -> dict[str, Role]:
        """Roles of the columns that the call reads."""
        names = {self.name, "truth"} if self.is_judged else {self.name}
        segments = [*(self.options.get("by") or []), self.options.get("cluster")]
        roles: dict[str, Role] = dict.fromkeys(filter(None, segments), "id")
        for role, (kind, of_files) in ROLES.items():
            is_read = role in self.columns or role not in ONLY_NAMED
            if is_read and names & of_files:
                roles[self.column(role)] = kind
        return roles

    def table(self, sources: Sequence[files.Source]) -> Table:
        """Return the table under the names of all files, with a row for each item."""
        form = {name: self.option(name) for name in OF_FORM}
        said = {name: value for name, value in form.items() if value is not None}
        own: dict[str, str] = (self.options["columns"] or {}).get(self.name, {})
        of_users: Any = rf.from_lists if self.name in RANKED else rf.from_truth
        table = table_of(self.path, sources, Form(**said), of_users)
        if table.kind in (*files.TREC, *files.JSON):
            # of dictionaries and TREC files the columns are named as the roles
            table = table.renamed(
                {role: name for role, name in self.columns.items() if name not in table.schema}
            )
        for role, column in own.items():
            if column not in table.schema:
                raise RecframeError(self._lacks(role, table, own))
            if self.column(role) not in self.roles:
                msg = f"--columns {self.name}={role}={column}: no {role} is read from {self.path!r}; leave it out"
                raise RecframeError(msg)
        table = table.renamed({column: self.column(role) for role, column in own.items()})
        for part in table.parts:
            lacking = [name for name in self.roles if name not in part.schema]
            for column in lacking:
                if any(column in other.schema for other in table.parts):
                    msg = (
                        f"{part.name!r} has no column {column!r}, which other files of {self.path!r} have; give files of the "
                        "same columns"
                    )
                    raise RecframeError(msg)
        for role in NEEDED.get(self.name, ("user", "item")):
            column = self.column(role)
            if not {column, f"{column}s"} & {*table.schema}:
                raise RecframeError(self._lacks(role, table, own))
        return self._in_long_form(table, own) if self.name in RANKED | LIKED else table

    def _lacks(self, role: str, table: Table, own: Mapping[str, str]) -> str:
        """Return what to write where a file lacks the column of a role."""
        schema, is_text = table.schema, table.kind not in files.BINARY
        column = own.get(role, self.column(role))
        words = (
            f"has no column {column!r}. It has {listed(schema)}. Name the column of the {role}: --columns "
            f"{role}=NAME, or in this file alone --columns {self.name}={role}=NAME"
        )
        if is_text and len(schema) == 1:
            words += "; or say what separates its columns: --separator ';'"
        if f"{column}s" in schema:
            words += (
                f"; where each text of {column + 's'!r} is a list, such as 'a b c', say what separates its ids: "
                "--lists-separator ' '"
            )
        return f"{self.path!r} {(is_text and without_header(schema)) or words}"

    def _in_long_form(self, table: Table, own: Mapping[str, str]) -> Table:
        """Return a table of lists with a row for each item, or one that has a row for each as it is."""
        item = self.column("item")
        lists = item if item in table.schema else f"{item}s"
        rows, mark = table.rows, None
        if not isinstance(table.schema[lists], pl.List | pl.Array):
            mark = self._mark(table, lists)
            if mark is None and lists != item:
                raise RecframeError(self._lacks("item", table, own))
            if mark is None:
                return table
            rows = self._cut(table, lists, mark)
        with noted():
            # the first rows show what a LazyFrame does not, such as a user with two lists
            self._in_rows(rows.head(ROWS).collect())
        made = in_plan(self.path, table.kind, self._in_rows(rows))
        is_text = mark is not None or table.kind not in files.BINARY
        return made if is_text else replace(made, written=table.written)

    def _in_rows(self, lists: Any) -> Any:
        """Return lists with a row for each item."""
        read: Any = rf.from_lists if self.name in RANKED else rf.from_truth
        number = "score" if self.name in RANKED else "relevance"
        names = {role: self.column(role) for role in ("user", "item")}
        return read(lists, **names, **{number: self.columns.get(number)})

    def _mark(self, table: Table, lists: str) -> str | None:
        """Return the text between the ids of lists in text, None for a table with a row for each item."""
        mark: str | None = self.option("lists_separator")
        is_ranked = self.name in RANKED
        if mark is None or (is_ranked and self.column("rank") in table.schema):
            return None
        texts = table.rows.select(pl.col(lists).cast(pl.String)).head(ROWS).collect()[lists]
        in_brackets = texts.filter(texts.str.contains(IN_BRACKETS))
        if len(in_brackets):
            msg = (
                f"column {lists!r} of {self.path!r} holds {short(in_brackets[0])}, a list in brackets, where text with "
                f"{mark!r} between ids is expected; write list columns to Parquet or NDJSON"
            )
            raise RecframeError(msg)
        if texts.str.contains(mark, literal=True).any() or not texts.count():
            return mark
        if is_ranked:
            note(
                f"no text of the column {lists!r} has {mark!r} in it, so each list has one item, such as "
                f"{short(texts.drop_nulls()[0])!r}; --lists-separator takes the text between two ids"
            )
        # users often like a single item, in a list or in a row
        return mark if is_ranked or lists != self.column("item") else None

    def _cut(self, table: Table, lists: str, mark: str) -> pl.LazyFrame:
        """Return a table whose lists in text are list columns, of the items and of numbers of theirs.

        White space separates once; of another mark, nothing between two is a missing item, which keeps its place.
        """
        number = self.column("score" if self.name in RANKED else "relevance")
        value = pl.element().str.strip_chars()
        values = pl.when(value != "").then(value) if mark.strip() else value.filter(value != "")
        names = [
            lists,
            *(name for name in (number, f"{number}s") if table.schema.get(name) == pl.String),
        ]
        bare = pl.col(names).cast(pl.String).str.strip_chars().replace("", None)
        return table.rows.with_columns(bare.str.split(mark).list.eval(values))
