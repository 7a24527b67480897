"""Files and pipes by their paths, and formats of results."""

from __future__ import annotations

import glob
import os
import shlex
import shutil
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import click

from recframe.errors import RecframeError, suggestion
from recframe.frames.atomic_write import is_plain, is_utf8, led_to, opened, reason

PARQUET = (".parquet", ".pq")
TABLES = (*PARQUET, ".arrow", ".ipc", ".feather")
"""Endings of files that hold their columns in bytes."""
JSON = (".json", ".ndjson", ".jsonl")
TREC = (".run", ".qrels", ".qrel")
KNOWN = (*PARQUET, ".csv", ".tsv", *JSON, *TABLES[2:], *TREC)
"""Endings of files that are read."""
PACKED = (".gz", ".zst")
STDIN = {"-": "/dev/stdin"}
ARROW_STREAM = b"\xff\xff\xff\xff"
"""The first bytes of an Arrow stream, which Polars reads by another call than an Arrow file."""
STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    ARROW_STREAM: ".arrow",
    b"{": ".ndjson",
    b"[": ".json",
}
"""The first bytes of a pipe's content, with the ending of a file of it."""
HEAD = 1 << 16
"""Bytes by which the content of a pipe is known, the first line of text among them."""
LAID_DOWN, DECODED = "recframe: places of pipes", "recframe: decoded files"
"""Keys of temporary files in click's context, kept while the command runs."""


def is_address(path: str) -> bool:
    """Return whether a path is an address, such as `s3://`, and no file of this machine."""
    return "://" in path


def ending_of(path: str) -> str:
    """Return a path's ending in lower case, without that of a compression where it is a text file."""
    name = Path(path.partition("?")[0] if is_address(path) else path)
    outer, inner = name.suffix.lower(), Path(name.stem).suffix.lower()
    return inner if outer in PACKED and inner and inner not in TABLES else outer


def escaped(place: str) -> str:
    """Return a path with glob patterns escaped, for Polars."""
    return place if is_address(place) else glob.escape(place)


def packing_of(path: str) -> str:
    """Return the ending of a compression that a path has, or nothing."""
    return next((one for one in PACKED if path.lower().endswith(one)), "")


def _kept(key: str) -> dict[str, str]:
    """Return places that this command keeps under a key."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.find_root().meta.setdefault(key, {})


def in_words(text: str) -> str:
    """Return a message with the paths that a command has, where it has those of temporary files."""
    for key in (DECODED, LAID_DOWN):
        for path, place in _kept(key).items():
            text = text.replace(place, path)
    return text


def temporary(path: str, name: str) -> str:
    """Return the place of a temporary file for the decoded text of a file."""
    _kept(DECODED)[path] = place = str(Path(_folder()) / name)
    return place


def lay_down(path: str) -> None:
    """Write the content of a pipe or a stream, such as /dev/stdin, into a file, which is read in its place."""
    laid_down = _kept(LAID_DOWN)
    if is_address(path) or path in laid_down:
        return
    source = STDIN.get(path, path)
    try:
        target = led_to(source)
        is_folder = isinstance(target, Path) and target.is_dir()
        is_file = is_plain(target) and path not in STDIN
        if is_folder or is_file:
            return
        place = Path(_folder()) / Path(source).name
        with opened(target, "rb") as stream, place.open("wb") as file:
            shutil.copyfileobj(stream, file)
        laid_down[path] = str(place)
        laid_down[path] = str(_with_ending(place))
    except OSError as error:
        raise RecframeError(f"cannot read {path!r}: {reason(error)}") from None


def _folder() -> str:
    """Return a new folder, which is removed when the command ends."""
    folder = tempfile.mkdtemp(prefix="recframe-")
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    click.get_current_context().find_root().call_on_close(remove)
    return folder


def _with_ending(place: Path) -> Path:
    """Return the place of a file under an ending that is that of its content, where it has none that is known."""
    if ending_of(str(place)) in KNOWN:
        return place
    with place.open("rb") as file:
        start = file.read(HEAD)
    head = start.partition(b"\n")[0]
    found = ".tsv" if b"\t" in head and b"," not in head else ".csv"
    for first, ending in STARTS.items():
        if start.startswith(first):
            found = ending
    return place.rename(f"{place}{found}")


def first_line(error: BaseException) -> str:
    """Return an error's message in one line, without advice meant for Polars' callers."""
    line = str(error).strip().partition("\n")[0]
    line = line.partition(", consider passing")[0]
    return line.rstrip(" .") or type(error).__name__


def places(path: str) -> list[str]:
    """Return the files that a path stands for.

    These are a file, those that match a pattern such as `recs/*.csv`, or all Parquet files below a directory.
    """
    if is_address(path):
        return [path]
    place = Path(_kept(LAID_DOWN).get(path, path)).expanduser()
    if place.exists() and not place.is_dir():
        found = [str(place)]
    else:
        found = _below(place, path) if place.is_dir() else _matching(place, path)
    for one in found:
        if not is_utf8(one):
            msg = f"cannot read {with_bytes(one)}: its name is not UTF-8, which Polars needs; rename it"
            raise RecframeError(msg)
        _check_content(one)
    return found


def _below(folder: Path, path: str) -> list[str]:
    """Return the Parquet files below a folder, without those of Spark's own."""
    _check_lake(folder, path)
    found = []
    for place in sorted(folder.rglob("*.parquet")):
        parts = place.relative_to(folder).parts
        is_own = any(part.startswith((".", "_")) for part in parts)
        if place.is_file() and not is_own:
            found.append(str(place))
    if not found:
        msg = (
            f"the directory {path!r} has no .parquet files; name another kind by a pattern: "
            f"'{folder / '*.csv'}'"
        )
        raise RecframeError(msg)
    return found


def _matching(place: Path, path: str) -> list[str]:
    """Return the files that match a pattern."""
    if not glob.has_magic(path):
        msg = f"there is no file {path!r}{_close_file(place)}"
        raise RecframeError(msg)
    matches = glob.glob(str(place), recursive=True)  # noqa: PTH207  Path.glob takes no absolute pattern
    found = sorted(match for match in matches if Path(match).is_file())
    if not found:
        msg = f"no file matches the pattern {path!r}"
        raise RecframeError(msg)
    return found


def _check_lake(folder: Path, path: str) -> None:
    """Reject folders of tables whose Parquet files are not all in the table."""
    signs = {"scan_delta": "_delta_log", "scan_iceberg": "metadata/*.metadata.json"}
    for call, sign in signs.items():
        if any(folder.glob(sign)):
            raise RecframeError(
                f"{path!r} is a table of versions, some of whose files count no longer; write those that do into one file "
                f"first: pl.{call}({path!r}).sink_parquet('table.parquet')"
            )


ARCHIVES = {
    b"PK\x03\x04": "a zip archive; unpack it first: unzip",
    b"BZh": "packed by bzip2; unpack it first: bunzip2",
    b"\xfd7zXZ": "packed by xz; unpack it first: unxz",
}
"""The first bytes of packed files that are not read, and what to do."""


def _check_content(place: str) -> None:
    """Reject archives, and binary files under another ending."""
    with suppress(OSError), Path(place).open("rb") as file:
        start, ending = file.read(6), ending_of(place)
        if ending == ".xlsx":
            raise RecframeError(f"cannot read {place!r}: save the sheet as CSV first")
        packed = next((words for first, words in ARCHIVES.items() if start.startswith(first)), None)
        if packed is not None:
            raise RecframeError(f"cannot read {place!r}: it is {packed} {shlex.quote(place)}")
        actual = {b"PAR1": ".parquet", b"ARRO": ".arrow"}.get(start[:4])
        if actual is not None and ending in KNOWN and ending not in TABLES:
            raise RecframeError(
                f"cannot read {place!r}: it is no {ending} file but has the content of a {actual} file; rename it"
            )


def with_bytes(name: str) -> str:
    """Return a name in quotes, with the numbers of bytes that are no UTF-8."""
    return f"'{os.fsencode(name).decode(errors='backslashreplace')}'"


def _close_file(place: Path) -> str:
    """Return the closest name in a file's folder, or that there is no such folder."""
    if not place.parent.is_dir():
        return f"; there is no directory {str(place.parent)!r}"
    with suppress(OSError):
        return suggestion(place.name, os.listdir(place.parent))  # noqa: PTH208  names, not paths
    return ""
