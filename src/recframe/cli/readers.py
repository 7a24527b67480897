"""Readers of file kinds by ending: tables, text, JSON, TREC."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

import recframe as rf
from recframe.errors import RecframeError

ARROW_STREAM = b"\xff\xff\xff\xff"
"""The first bytes of an Arrow stream, which Polars reads by another call than an Arrow file."""


def start_of(place: str) -> bytes:
    """Return the first bytes of a file, which identify its format."""
    with Path(place).open("rb") as file:
        return file.read(6)


# Ids are often numbers for a long while before the first text comes; Polars' own 100 rows decide too early.
ROWS_TO_INFER = 10_000
SEPARATORS = {".csv": ",", ".tsv": "\t"}
COMPRESSED = (".gz", ".zst")

Scan = Callable[[list[str]], pl.LazyFrame]


@dataclass(frozen=True)
class Form:
    """The form of a text file: its separator, and names of columns where it has no header line."""

    separator: str | None = None
    names: tuple[str, ...] | None = None


def is_address(path: str) -> bool:
    """Return whether a path is an address, such as `s3://`, and no file of this machine."""
    return "://" in path


def ending_of(path: str) -> str:
    """Return a path's ending in lower case, without that of a compression where it is a text file."""
    name = Path(path.partition("?")[0] if is_address(path) else path)
    outer, inner = name.suffix.lower(), Path(name.stem).suffix.lower()
    return inner if outer in COMPRESSED and inner and inner not in TABLES else outer


def is_text(ending: str, form: Form) -> bool:
    """Return whether files of an ending are read as text in columns: those of any other, if it is said what separates them."""
    return ending in SEPARATORS or (form.separator is not None and ending not in READERS)


def scan_text(places: list[str], form: Form, ending: str, text: Iterable[str]) -> pl.LazyFrame:
    """Return the table of text files; `text` names columns that are read as text, where the table has them."""
    separator = form.separator or SEPARATORS[ending]
    read = partial(
        pl.scan_csv,
        escaped(places),
        separator=separator,
        infer_schema_length=ROWS_TO_INFER,
        has_header=form.names is None,
    )
    schema = read().collect_schema()
    names = {name: name for name in schema}
    if form.names is not None:
        _check_names(form.names, places[0], separator)
        names = {name: column for column, name in zip(schema, form.names, strict=False) if name}
    overrides = {names[name]: pl.String() for name in text if name in names}
    frame = read(schema_overrides=overrides)
    if form.names is None:
        return frame
    return frame.select(pl.col(column).alias(name) for name, column in names.items())


def _check_names(names: Sequence[str], place: str, separator: str) -> None:
    """Say that there are more names than columns, or a header line."""
    first = pl.read_csv(
        escaped([place])[0] if is_address(place) else place,
        separator=separator,
        has_header=False,
        infer_schema=False,
        n_rows=1,
    )
    found = [(value or "").strip() for value in first.row(0)]
    if len(names) > len(found):
        mark = separator_in(found[0])
        raise RecframeError(
            f"{place!r} has {len(found)} column{'s' * (len(found) != 1)} with {separator!r} between, "
            f"but --header names {len(names)}: {', '.join(names)}"
            + (f"; write --separator {mark}" if mark else "")
        )
    if any(name and name == value for name, value in zip(names, found, strict=False)):
        raise RecframeError(
            f"{place!r} has a header line, {separator.join(found)!r}; leave out --header, or say which file has none: "
            f"--header recs={','.join(names)}"
        )


def separator_in(text: str) -> str | None:
    """Return the likely column separator of a text, in an option's notation."""
    found = next((mark for mark in ",;\t|" if mark in text), None)
    return None if found is None else "tab" if found == "\t" else repr(found)


def escaped(places: Sequence[str]) -> list[str]:
    """Return paths with glob patterns escaped, for Polars."""
    return [place if is_address(place) else glob.escape(place) for place in places]


def _scan_json(places: list[str]) -> pl.LazyFrame:
    return pl.concat([_scan_one_json(place) for place in places])


def _scan_one_json(place: str) -> pl.LazyFrame:
    """Return the rows of a JSON file: a list of them, or one in each line."""
    if is_address(place):
        raise RecframeError(
            f"cannot read {place!r}: .json is read from files alone; write NDJSON or Parquet"
        )
    try:
        frame = pl.read_json(place, infer_schema_length=None)
    except pl.exceptions.ComputeError as error:
        try:
            frame = pl.read_ndjson(place, infer_schema_length=None)
        except (pl.exceptions.PolarsError, OSError):
            raise error from None
    if pl.Struct in frame.dtypes:
        raise RecframeError(
            f'cannot read {place!r}: it is no list of rows such as [{{"user": 1, "item": 2, "rank": 1}}]; pandas writes '
            "one with to_json(orient='records')"
        )
    return frame.lazy()


def _scan_trec(places: list[str], scan: Callable[[str], pl.LazyFrame]) -> pl.LazyFrame:
    """Return TREC files as one table; of several runs with a column `model`, which has each file's name."""
    frames = []
    for place in places:
        if is_address(place):
            raise RecframeError(f"cannot read {place!r}: TREC files are read from files alone")
        frame = scan(place)
        if "rank" in frame.collect_schema() and len(places) > 1:
            # a file's name without its endings
            name = Path(place).name.removesuffix(".gz").rpartition(".")[0]
            frame = frame.with_columns(model=pl.lit(name))
        frames.append(frame)
    return pl.concat(frames)


def _scan_ndjson(places: list[str]) -> pl.LazyFrame:
    return pl.scan_ndjson(escaped(places), infer_schema_length=ROWS_TO_INFER)


def _scan_ipc(places: list[str]) -> pl.LazyFrame:
    return pl.concat([_scan_one_ipc(place) for place in places])


def _scan_one_ipc(place: str) -> pl.LazyFrame:
    if not is_address(place) and start_of(place).startswith(ARROW_STREAM):
        return pl.read_ipc_stream(place).lazy()
    return pl.scan_ipc(escaped([place]))


PARQUET = (".parquet", ".pq")
TABLES = (*PARQUET, ".arrow", ".ipc", ".feather")
"""Endings of files that hold their columns in bytes."""
READERS: dict[str, Scan | None] = {
    **dict.fromkeys((*PARQUET, *SEPARATORS)),
    ".json": _scan_json,
    ".ndjson": _scan_ndjson,
    ".jsonl": _scan_ndjson,
    **dict.fromkeys(TABLES[2:], _scan_ipc),
    ".run": partial(_scan_trec, scan=rf.scan_trec_run),
    ".qrels": partial(_scan_trec, scan=rf.scan_trec_qrels),
    ".qrel": partial(_scan_trec, scan=rf.scan_trec_qrels),
}
"""Readers of files by their endings; Parquet and text are read with what a command says of them, see `files.scan`."""
