"""Files of a command as tables, bound with its options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
JUDGED = ("truth", "train", "log")
"""Files with the items that users liked, in no order."""
LISTS = ("recs", "truth", "reference", "train")
"""Files with users' items, which may be in list form."""
OF_FORM = ("separator", "header", "encoding", "decimal", "quotes")
"""Options on the form of text files."""
ONLY_NAMED = {"weight", "time"}
"""Roles whose columns are read only where they are named."""


@contextmanager
def reading(paths: Paths) -> Iterator[None]:
    """Read a command's files: say errors in words of the shell and in one line, and warnings as notes at the end."""
    with hints.in_words(InShell(paths)), noted(), Console(stderr=True).status("reading"):
        try:
            with plan_errors():
                yield
        except (pl.exceptions.PolarsError, OSError) as error:
            msg = f"the files cannot be read: {files.first_line(error)}"
            raise rf.DataError(msg) from None


def paths_of(recs: str, truth: str | None, options: Options) -> dict[str, str]:
    """Return a command's files by name."""
    names = ("users", "items", "train", "reference")
    paths = {"recs": recs, "truth": truth} | {name: options.get(name) for name in names}
    if paths["reference"] is not None and options["model"] and not is_file(paths["reference"]):
        del paths["reference"]  # the name of a model
    return {name: path for name, path in paths.items() if path is not None}


def is_file(path: str) -> bool:
    """Return whether a word is a file, by its ending or since it is there."""
    return files.ending_of(path) in files.KNOWN or "*" in path or Path(path).exists()


def scan(path: str) -> pl.LazyFrame:
    """Return the table of a path, whose columns have the dtypes of their values."""
    files.lay_down(path)
    return typed({path: table_of(path, files.places(path))}, {path: {}})[path]


def scanned(paths: Paths, options: Options) -> Frames:
    """Return the tables of all files, with dtypes that match; a file that was given twice is one table."""
    for path in paths.values():
        files.lay_down(path)
    is_twice = paths.get("truth") == paths.get("recs")
    read = {name: path for name, path in paths.items() if not (is_twice and name == "truth")}
    roles = {name: _roles(name, options, is_judged=len(paths) == 1 or is_twice) for name in read}
    tables = {name: _table(name, path, options, [*roles[name]]) for name, path in read.items()}
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
    given |= columns_of(options) | dict(frames)
    if options.get("all_relevant"):
        if "relevance" in given:
            msg = (
                f"--all-relevant says that no column tells what is relevant, and --columns relevance={given['relevance']} "
                "names one; leave one of them out"
            )
            raise RecframeError(msg)
        given["relevance"] = False
    return rf.rec(given.pop("recs"), **given)


# Names of columns


def columns_of(options: Options) -> dict[str, str]:
    """Return the names of columns by their roles, in all files."""
    by_file: dict[str, dict[str, str]] = options["columns"]
    found = {role: role for named in by_file.values() for role in ONLY_NAMED & named.keys()}
    of_lists = {role: options[role] for role in ("model", "training") if options.get(role)}
    return found | by_file.get("", {}) | of_lists


def _for(name: str, option: str, options: Options, default: Any = None) -> Any:
    """Return the value of an option for a file, which is that for all files where there is no other."""
    given = options.get(option) or {}
    return given.get(name, given.get("", default))


def _form(name: str, options: Options) -> Form:
    """Return how a file is written, where it is text."""
    given = {option: _for(name, option, options) for option in OF_FORM}
    found = {option: value for option, value in given.items() if value is not None}
    return Form(**found)


def _roles(name: str, options: Options, *, is_judged: bool) -> dict[str, Role]:
    """Return what the columns of a file are for that the call reads."""
    columns, is_list = columns_of(options), name in {"recs", "reference"}
    ids = ["user", "item", *(role for role in ("model", "training") if is_list and role in columns)]
    numbers = ["rank", "score"] * is_list
    numbers += ["relevance", "propensity"] * (is_judged or name in JUDGED)
    numbers += ["weight"] * (name == "users" and "weight" in columns)
    segments = [*(options.get("by") or ()), *filter(None, [options.get("cluster")])]
    roles: dict[str, Role] = {columns.get(role, role): "id" for role in ids}
    roles |= dict.fromkeys(segments, "id")
    return roles | {columns.get(role, role): "number" for role in numbers}


# Tables


def _table(name: str, path: str, options: Options, read: Sequence[str]) -> Table:
    """Return the table of a file under the names of all files, with a row for each item; columns to `read` are in all parts."""
    columns, form = columns_of(options), _form(name, options)
    of_users = rf.from_truth if name in JUDGED else rf.from_lists
    table = _renamed(name, table_of(path, files.places(path), form, of_users), options)
    schema = table.schema
    user, item, rank, score = (columns.get(one, one) for one in ("user", "item", "rank", "score"))
    is_read = any(isinstance(part, TextPart) for part in table.parts) and form.header is None
    if is_read and (item if name == "items" else user) not in schema:
        check_is_header(path, schema)
    lacking = next((column for column in read if column in table.lacking), None)
    if lacking is not None:
        msg = (
            f"{table.lacking[lacking]!r} has no column {lacking!r}, which other files of {path!r} have; give files of the same "
            "columns"
        )
        raise RecframeError(msg)
    lists = next((one for one in (item, f"{item}s") if one in schema), "")
    if not lists or name not in LISTS:
        return table
    is_nested = isinstance(schema[lists], pl.List | pl.Array)
    mark = _for(name, "lists_separator", options)
    if is_nested or mark is not None:
        return _in_long_form(name, table, None if is_nested else mark, columns)
    if name == "recs" and not {rank, score} & {*schema} and schema[lists] == pl.String:
        msg = (
            f"{path!r} has no column {rank!r}. It has {listed(schema)}. Name the column of the ranks or of the scores: "
            f"--columns rank=NAME or --columns score=NAME; where each text of {lists!r} is a list, such as 'a b c', say "
            "what separates its ids: --lists-separator ' '"
        )
        raise RecframeError(msg)
    return table


def _renamed(name: str, table: Table, options: Options) -> Table:
    """Return a file's table under the names that the columns have in all files, or say which it lacks."""
    columns, schema = columns_of(options), table.schema
    own = options["columns"].get(name, {})
    names = {column: columns.get(role, role) for role, column in own.items()}
    if files.ending_of(files.places(table.path)[0]) in (*files.TREC, ".json"):
        # TREC files and dictionaries of users have no names of their own
        names |= {role: columns[role] for role in columns if role in schema}
    needed = {"item": columns["item"]} if name in LISTS and "item" in columns else {}
    for role, column in {**needed, **own}.items():
        if not {column, f"{column}s"} & {*schema} and column not in names.values():
            msg = (
                f"{table.path!r} has no column {column!r}. It has {listed(schema)}. Name the column of the {role}: "
                f"--columns {role}=NAME, or in this file alone --columns {name}={role}=NAME"
            )
            raise RecframeError(msg)
    return replace(table, parts=[_named(part, names) for part in table.parts])


def _named(part: Part, names: Mapping[str, str]) -> Part:
    """Return a file with columns under other names; what had such a name before is left out."""
    left_out = {*names.values()} - names.keys()
    if isinstance(part, TextPart):
        fields = ["" if one in left_out else names.get(one, one) for one in part.fields]
        return replace(part, fields=fields)
    frame = part.frame.drop(left_out, strict=False).rename(names, strict=False)
    return replace(part, frame=frame, written=[names.get(one, one) for one in part.written])


def _in_long_form(name: str, table: Table, mark: str | None, columns: Mapping[str, str]) -> Table:
    """Return a table of lists with a row for each item, or say that it has these already."""
    names: dict[str, Any] = {one: columns.get(one, one) for one in ("user", "item")}
    names["separator"] = mark
    rank, score = (columns.get(role, role) for role in ("rank", "score"))
    frame = table.scan()
    if name in JUDGED:
        long = rf.from_truth(frame, relevance=columns.get("relevance"), **names)
    elif rank in table.schema:
        msg = (
            f"{FrameOf('recommendations' if name == 'recs' else name)} has a rank {rank!r} in each row, so that it has no "
            "lists in text; say which file has: --lists-separator truth=' '"
        )
        raise RecframeError(msg)
    else:
        with noted(), reading_of(table.path, table.parts):
            # the first rows show what a LazyFrame does not, such as a mark that no text has
            rf.from_lists(table.head().collect(), score=score, **names)
        long = rf.from_lists(frame, score=score, **names)
    texts = [column for column, dtype in long.collect_schema().items() if dtype == pl.String]
    is_written = {*table.written, *([names["item"]] if mark or not table.is_binary else [])}
    written = [one for one in texts if one in is_written]
    return replace(table, parts=[FramePart(table.path, long, written)])
