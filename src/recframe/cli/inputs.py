"""Files of a command as tables, bound with its options."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

import recframe as rf
from recframe.cli import files
from recframe.cli.files import ONLY_NAMED, Given
from recframe.cli.options import OF_FILES, PER_FILE
from recframe.cli.output import Options, console_of, note, noted
from recframe.cli.readers import table_of
from recframe.cli.text_dtypes import typed
from recframe.errors import RecframeError
from recframe.frames import hints
from recframe.frames.hints import InShell
from recframe.frames.options import DEFAULTS


@contextmanager
def reading(paths: Mapping[str, str]) -> Iterator[None]:
    """Read a command's files: say errors in words of the shell and in one line, and warnings as notes at the end."""
    words = hints.in_words(InShell(paths))
    with words, noted(), console_of(sys.stderr).status("reading"), files.reading_of():
        yield


def paths_of(options: Options) -> dict[str, str]:
    """Return a command's files by name; a reference that is no file is the name of a model."""
    paths = {name: options[name] for name in OF_FILES if options.get(name) is not None}
    if options.get("model") and not Path(paths.get("reference", "")).exists():
        del paths["reference"]
    return paths


def scanned(paths: Mapping[str, str], options: Options) -> dict[str, pl.LazyFrame]:
    """Return the tables of all files, with dtypes that match."""
    for option in ("columns", *PER_FILE):
        for key in options.get(option) or {}:
            file = key[0] if isinstance(key, tuple) else key
            if file not in {"", *paths}:
                raise RecframeError(
                    f"--{option.replace('_', '-')} is for the file {file!r}, which is not given; this command reads "
                    f"{', '.join(paths)}"
                )
    # a pipe can be read once
    sources = {path: files.sources(path) for path in dict.fromkeys(paths.values())}
    tables, columns = {}, columns_of(options)
    for name, path in paths.items():
        with files.reading_of(path):
            tables[name] = table_of(Given(name, path, options, columns), sources[path])
    if "truth" in tables and columns.get("rank", "rank") in tables["truth"].schema:
        note(
            "TRUTH has ranks, as lists have; give the rows that users liked, and a pattern in quotes: 'recs/*.parquet'"
        )
    return typed(tables)


def bound(frames: Mapping[str, Any], options: Options) -> Any:
    """Return the recommendations with all side frames and options bound."""
    given = {name: options.get(name) for name in (*DEFAULTS, "profile", "reference", "memory")}
    given |= columns_of(options) | {**frames}
    return rf.rec(given.pop("recs"), **given)


def columns_of(options: Options) -> dict[str, str]:
    """Return the names of columns by their roles, in all files."""
    found = {role: options[role] for role in ("model", "training") if options.get(role)}
    # the names for all files come last
    for (file, role), name in sorted((options["columns"] or {}).items(), reverse=True):
        if role in ONLY_NAMED or not file:
            found[role] = role if file else name
    return found
