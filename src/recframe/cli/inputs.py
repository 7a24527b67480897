"""Files of a command as tables, bound with its options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from rich.console import Console

import recframe as rf
from recframe.cli import files
from recframe.cli.output import Options, note, noted
from recframe.cli.readers import FramePart, Part, Table, reading_of, table_of
from recframe.cli.text_dtypes import Role, typed
from recframe.cli.text_files import Form, TextPart, check_is_header
from recframe.errors import RecframeError, plan_errors
from recframe.frames import hints
from recframe.frames.hints import FrameOf, InShell
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
    for path in paths.values():
        files.lay_down(path)
    is_twice = "truth" in paths and paths["truth"] == paths["recs"]
    is_judged = is_twice or len(paths) == 1
    sources = {
        name: Source(name, path, options, is_judged)
        for name, path in paths.items()
        if not (is_twice and name == "truth")
    }
    tables = {name: source.table for name, source in sources.items()}
    frames = typed(tables, {name: source.roles for name, source in sources.items()})
    if is_twice:
        frames["truth"] = frames["recs"]
    elif "truth" in tables and sources["truth"].column("rank") in tables["truth"].schema:
        quoted = "if it comes from a pattern, quote it: 'recs/*.parquet'"
        note(f"TRUTH has ranks, as lists have; {quoted}")
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
    is_judged: bool = False
    """Whether the lists have the relevance of their items."""

    @cached_property
    def columns(self) -> dict[str, str]:
        """The names of columns by their roles, in all files."""
        return columns_of(self.options)

    def column(self, role: str) -> str:
        """Return the name of a role's column in all files."""
        return self.columns.get(role, role)

    def option(self, name: str) -> Any:
        """Return the value of an option for this file, which is that for all files where there is no other."""
        given = self.options[name]
        return given.get(self.name, given.get(""))

    @property
    def form(self) -> Form:
        """The form of the file, where it is text."""
        given = {}
        for name in OF_FORM:
            value = self.option(name)
            if value is not None:
                given[name] = value
        return Form(**given)

    @cached_property
    def roles(self) -> dict[str, Role]:
        """The roles of the columns that the call reads."""
        ids, numbers = ["user", "item"], list[str]()
        if self.name in RANKED:
            ids += [role for role in ("model", "training") if role in self.columns]
            numbers += ["rank", "score"]
        if self.is_judged or self.name in LIKED:
            numbers += ["relevance", "propensity"]
        if self.name == "users" and "weight" in self.columns:
            numbers += ["weight"]
        segments = [*(self.options.get("by") or []), self.options.get("cluster")]
        roles: dict[str, Role] = {self.column(role): "id" for role in ids}
        roles |= {name: "id" for name in segments if name is not None}
        return roles | {self.column(role): "number" for role in numbers}

    @cached_property
    def table(self) -> Table:
        """The table under the names of all files, with a row for each item."""
        of_users = rf.from_truth if self.name in LIKED else rf.from_lists
        found = table_of(self.path, files.places(self.path), self.form, of_users)
        table = self._renamed(found)
        self._check(table)
        item, schema = self.column("item"), table.schema
        lists = item if item in schema else f"{item}s"
        may_be_nested = self.name in LIKED | RANKED
        if lists not in schema or not may_be_nested:
            return table
        is_nested = isinstance(schema[lists], pl.List | pl.Array)
        mark = None if is_nested else self.option("lists_separator")
        if is_nested or mark is not None:
            return self._in_long_form(table, mark)
        rank, score = self.column("rank"), self.column("score")
        is_ordered = rank in schema or score in schema
        if self.name == "recs" and schema[lists] == pl.String and not is_ordered:
            msg = (
                f"{self.path!r} has no column {rank!r}. It has {listed(schema)}. Name the column of the ranks or of the "
                f"scores: --columns rank=NAME or --columns score=NAME; where each text of {lists!r} is a list, such as 'a b "
                "c', say what separates its ids: --lists-separator ' '"
            )
            raise RecframeError(msg)
        return table

    def _renamed(self, table: Table) -> Table:
        """Return a table under the names that the columns have in all files, or say which it lacks."""
        schema = table.schema
        own = self.options["columns"].get(self.name, {})
        names = {column: self.column(role) for role, column in own.items()}
        if files.ending_of(table.parts[0].place) in (*files.TREC, ".json"):
            # TREC files and dictionaries of users have no names of their own
            names |= {role: column for role, column in self.columns.items() if role in schema}
        needed = dict(own)
        if "item" in self.columns and self.name in LIKED | RANKED:
            needed.setdefault("item", self.columns["item"])
        for role, column in needed.items():
            is_there = column in schema or f"{column}s" in schema or column in names.values()
            if not is_there:
                msg = (
                    f"{self.path!r} has no column {column!r}. It has {listed(schema)}. Name the column of the {role}: "
                    f"--columns {role}=NAME, or in this file alone --columns {self.name}={role}=NAME"
                )
                raise RecframeError(msg)
        return replace(table, parts=[_named(part, names) for part in table.parts])

    def _check(self, table: Table) -> None:
        """Reject a first line that is no header, and parts without a column that is read."""
        wanted = self.column("item" if self.name == "items" else "user")
        is_text = isinstance(table.parts[0], TextPart)
        if is_text and self.form.header is None and wanted not in table.schema:
            check_is_header(self.path, table.schema)
        for column in self.roles:
            if column in table.lacking:
                msg = (
                    f"{table.lacking[column]!r} has no column {column!r}, which other files of {self.path!r} have; give files "
                    "of the same columns"
                )
                raise RecframeError(msg)

    def _in_long_form(self, table: Table, mark: str | None) -> Table:
        """Return a table of lists with a row for each item, or say that it has these already."""
        names: dict[str, Any] = {role: self.column(role) for role in ("user", "item")}
        names["separator"] = mark
        if self.name in LIKED:
            names["relevance"] = self.columns.get("relevance")
            long = rf.from_truth(table.scan(), **names)
        else:
            rank = self.column("rank")
            if rank in table.schema:
                file = FrameOf("recommendations" if self.name == "recs" else self.name)
                msg = (
                    f"{file} has a rank {rank!r} in each row, so that it has no lists in text; say which file has: "
                    "--lists-separator truth=' '"
                )
                raise RecframeError(msg)
            names["score"] = self.columns.get("score")
            with noted(), reading_of(table.path, table.parts):
                # the first rows show what a LazyFrame does not, such as a mark that no text has
                rf.from_lists(table.head().collect(), **names)
            long = rf.from_lists(table.scan(), **names)
        written = {*table.written}
        if mark is not None or not table.is_binary:
            written.add(names["item"])
        schema = long.collect_schema()
        texts = [name for name in schema if name in written and schema[name] == pl.String]
        return replace(table, parts=[FramePart(table.path, long, texts)])


def _named(part: Part, names: Mapping[str, str]) -> Part:
    """Return a file with columns under other names; what had such a name before is left out."""
    left_out = {*names.values()} - names.keys()
    if isinstance(part, TextPart):
        fields = ["" if name in left_out else names.get(name, name) for name in part.fields]
        return replace(part, fields=fields)
    frame = part.frame.drop(left_out, strict=False).rename(names, strict=False)
    written = [names.get(name, name) for name in part.written]
    return replace(part, frame=frame, written=written)
