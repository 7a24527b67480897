"""Files of a command as tables, bound with its options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from rich.console import Console

import recframe as rf
from recframe.cli import files
from recframe.cli.files import ONLY_NAMED, Given
from recframe.cli.output import Options, note, noted
from recframe.cli.readers import table_of
from recframe.cli.text_dtypes import typed
from recframe.errors import RecframeError
from recframe.frames import hints
from recframe.frames.hints import InShell
from recframe.frames.options import DEFAULTS

Paths: TypeAlias = Mapping[str, str]
Frames: TypeAlias = dict[str, pl.LazyFrame]
"""The files of a command, and their tables, by their names."""
SIDES = ("users", "items", "train", "reference")


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
    return scanned({"last": path}, {"columns": None})["last"]


def scanned(paths: Paths, options: Options) -> Frames:
    """Return the tables of all files, with dtypes that match; a file that was given twice is one table."""
    # a pipe can be read once
    sources = {path: files.sources(path) for path in dict.fromkeys(paths.values())}
    is_twice = "truth" in paths and paths["truth"] == paths.get("recs")
    tables, columns = {}, columns_of(options)
    for name, path in paths.items():
        if not (is_twice and name == "truth"):
            with files.reading_of(path):
                tables[name] = table_of(Given(name, path, options, columns), sources[path])
    frames = typed(tables)
    if is_twice:
        frames["truth"] = frames["recs"]
    elif "truth" in tables and columns.get("rank", "rank") in tables["truth"].schema:
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
            raise RecframeError(
                f"--all-relevant says that no column tells what is relevant, and --columns relevance={named} names one; leave "
                "one of them out"
            )
        given["relevance"] = False
    return rf.rec(given.pop("recs"), **given)


def columns_of(options: Options) -> dict[str, str]:
    """Return the names of columns by their roles, in all files."""
    by_file: dict[str, dict[str, str]] = options["columns"] or {}
    found = {role: role for of_file in by_file.values() for role in of_file if role in ONLY_NAMED}
    bound = {role: options[role] for role in ("model", "training") if options.get(role)}
    return found | by_file.get("", {}) | bound
