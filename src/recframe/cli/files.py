"""Tables in files: found by name or pattern and scanned lazily by their endings, and results written by theirs."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from recframe.errors import RecframeError, suggestion

# Ids are often numbers for a long while before the first text comes; Polars' own 100 rows decide too early.
ROWS_TO_INFER = 10_000
SEPARATORS = {".csv": ",", ".tsv": "\t"}
COMPRESSED = (".gz", ".zst")
FIRST_BYTES = {b"PAR1": ".parquet", b"ARROW1": ".arrow"}

Scan = Callable[[list[str]], pl.LazyFrame]

READERS: dict[str, Scan] = {
    ".parquet": pl.scan_parquet,
    ".pq": pl.scan_parquet,
    **{
        ending: partial(pl.scan_csv, separator=mark, infer_schema_length=ROWS_TO_INFER)
        for ending, mark in SEPARATORS.items()
    },
    ".ndjson": partial(pl.scan_ndjson, infer_schema_length=ROWS_TO_INFER),
    ".jsonl": partial(pl.scan_ndjson, infer_schema_length=ROWS_TO_INFER),
    ".arrow": pl.scan_ipc,
    ".ipc": pl.scan_ipc,
    ".feather": pl.scan_ipc,
}

WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    ".csv": pl.DataFrame.write_csv,
    ".tsv": partial(pl.DataFrame.write_csv, separator="\t"),
    ".json": pl.DataFrame.write_json,
    ".ndjson": pl.DataFrame.write_ndjson,
    ".jsonl": pl.DataFrame.write_ndjson,
    ".md": lambda frame, path: path.write_text(markdown(frame), encoding="utf-8"),
    ".parquet": pl.DataFrame.write_parquet,
    ".arrow": pl.DataFrame.write_ipc,
}


def scan(path: str, text: Iterable[str] = ()) -> pl.LazyFrame:
    """Return a file's table as a LazyFrame; `text` names columns that are read as text, where the table has them.

    The path is a file, a pattern such as `recs/*.parquet` (the matching files are one table), a directory (all Parquet
    files below it, with Hive's `column=value` folders as columns), or an address that Polars can scan, such as `s3://`.

    Raises a RecframeError for what is not there, has an unknown ending or cannot be read.
    """
    places = _places(path)
    ending = _ending(places, path)
    _check_content(places[0], ending)
    read = READERS[ending]
    if ending in {".parquet", ".pq"}:
        read = partial(pl.scan_parquet, hive_partitioning="=" in places[0] and places != [path])
    escaped = [place if _is_address(place) else glob.escape(place) for place in places]
    try:
        frame = read(escaped)
        schema = frame.collect_schema()
        as_text = {
            name: pl.String() for name in text if name in schema and schema[name] != pl.String
        }
        if as_text and ending in SEPARATORS:
            return read(escaped, schema_overrides=as_text)  # type: ignore[call-arg]
    except (pl.exceptions.PolarsError, OSError) as error:
        msg = f"cannot read {path!r}: {first_line(error)}"
        raise RecframeError(msg) from None
    _check_separator(schema, path, ending)
    return frame.cast(as_text) if as_text else frame  # type: ignore[arg-type]


def first_line(error: BaseException) -> str:
    """Return what is wrong in one line, without the advice that is meant for Polars' callers."""
    line = str(error).strip().partition("\n")[0].partition(", consider passing")[0]
    return line.rstrip(" .") or type(error).__name__


def _is_address(path: str) -> bool:
    return "://" in path


def _places(path: str) -> list[str]:
    """Return the files that a path stands for."""
    if _is_address(path):
        return [path]
    place = Path(path).expanduser()
    if place.is_dir():
        found = sorted(str(file) for file in place.rglob("*.parquet") if file.is_file())
        missing = f"the directory {path!r} has no .parquet files; name another kind by a pattern: '{place / '*.csv'}'"
    elif place.exists():
        return [str(place)]
    elif glob.has_magic(path):
        found = sorted(
            file
            for file in glob.glob(str(place), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
            if Path(file).is_file()
        )
        missing = f"no file matches the pattern {path!r}"
    else:
        found, missing = [], f"there is no file {path!r}{_close_file(place)}"
    if not found:
        raise RecframeError(missing)
    return found


def _close_file(place: Path) -> str:
    folder = place.parent
    if not folder.is_dir():
        return f"; there is no directory {str(folder)!r}"
    try:
        names = os.listdir(folder)  # noqa: PTH208  names, not paths
    except OSError:
        return ""
    same = [
        name
        for name in sorted(names)
        if Path(name).stem == place.stem and ending_of(name) in READERS
    ]
    return suggestion(place.name, names) or (f"; did you mean {same[0]!r}?" if same else "")


def _ending(places: Sequence[str], path: str) -> str:
    """Return the ending that all files have, in lower case and without that of a compression."""
    endings = dict.fromkeys(ending_of(place) for place in places)
    if len(endings) > 1:
        msg = f"{path!r} stands for files of several kinds ({', '.join(endings)}); give a pattern of one kind"
        raise RecframeError(msg)
    ending = next(iter(endings))
    if ending not in READERS:
        msg = f"cannot read {path!r}: its ending is {ending or 'missing'!r}; known are {', '.join(READERS)}"
        raise RecframeError(msg)
    return ending


def ending_of(path: str) -> str:
    """Return a path's ending in lower case, without that of a compression where it is a text file."""
    name = Path(path.partition("?")[0] if _is_address(path) else path)
    outer, inner = name.suffix.lower(), Path(name.stem).suffix.lower()
    return inner if outer in COMPRESSED and inner in {*SEPARATORS, ".ndjson", ".jsonl"} else outer


def _check_content(place: str, ending: str) -> None:
    """Say so where a text file is none: Polars would take its bytes for column names."""
    if _is_address(place) or ending in {".parquet", ".pq", ".arrow", ".ipc", ".feather"}:
        return
    try:
        with Path(place).open("rb") as file:
            start = file.read(6)
    except OSError as error:
        msg = f"cannot read {place!r}: {error.strerror}"
        raise RecframeError(msg) from None
    for first, actual in FIRST_BYTES.items():
        if start.startswith(first):
            msg = f"cannot read {place!r}: it is no {ending} file but has the content of a {actual} file; rename it"
            raise RecframeError(msg)


def _check_separator(schema: pl.Schema, path: str, ending: str) -> None:
    if ending not in SEPARATORS or len(schema) != 1:
        return
    name = next(iter(schema))
    for mark in ",;\t|":
        if mark in name:
            msg = f"{path!r} has the one column {name!r}: it seems to be separated by {mark!r}"
            msg += f", where {ending} files have {SEPARATORS[ending]!r} between columns"
            raise RecframeError(msg)


def check_output(path: str, inputs: Iterable[str] = ()) -> None:
    """Say before any work is done that a result cannot be written to a path, or would overwrite an input."""
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        msg = f"cannot write {path!r}: its ending is {ending or 'missing'!r}; known are {', '.join(WRITERS)}"
        raise RecframeError(msg)
    target = Path(path).expanduser()
    if not target.parent.is_dir():
        msg = f"cannot write {path!r}: there is no directory {str(target.parent)!r}"
        raise RecframeError(msg)
    read = [place for one in inputs if not _is_address(one) for place in _places(one)]
    if target.exists() and any(target.samefile(place) for place in read):
        msg = f"cannot write {path!r}: it is one of the input files"
        raise RecframeError(msg)


def write(frame: pl.DataFrame, path: str) -> None:
    """Write a result in full precision, in the format of the path's ending; see `check_output`."""
    try:
        WRITERS[Path(path).suffix.lower()](frame, Path(path).expanduser())
    except (pl.exceptions.PolarsError, OSError) as error:
        msg = f"cannot write {path!r}: {first_line(error)}"
        raise RecframeError(msg) from None


def markdown(frame: pl.DataFrame) -> str:
    """Return a frame as a Markdown table, numbers in full precision and to the right, null as an empty cell.

    >>> import polars as pl
    >>> print(markdown(pl.DataFrame({"country": ["DE", None], "mrr": [0.5, 1 / 3]})))
    | country | mrr |
    | :--- | ---: |
    | DE | 0.5 |
    |  | 0.3333333333333333 |
    """
    rules = ["---:" if dtype.is_numeric() else ":---" for dtype in frame.dtypes]
    lines = [map(_cell, frame.columns), rules, *(map(_cell, row) for row in frame.iter_rows())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(value: object) -> str:
    return "" if value is None else str(value).replace("|", "\\|").replace("\n", " ")
