"""Pipes and streams, such as /dev/stdin: their content laid down as files, which are read in their place."""

from __future__ import annotations

import errno
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click

from recframe.cli import process
from recframe.cli.readers import READERS, ending_of, is_address
from recframe.cli.unpacking import ARROW_STREAM, PIECE, most_of, too_long, unpacked
from recframe.errors import RecframeError
from recframe.frames.atomic_write import is_plain, led_to, opened, reason

STARTS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    ARROW_STREAM: ".arrow",
    b"{": ".ndjson",
    b"[": ".json",
}
"""How the content of a pipe begins, by the ending that a file of it has."""
LAID_DOWN = "recframe: places of pipes"
"""Where click keeps them, for as long as the command runs."""


def places() -> dict[str, str]:
    """Return where the content of pipes is laid down in this command, by their paths."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.find_root().meta.setdefault(LAID_DOWN, {})


def in_words(text: str) -> str:
    """Return a message with the paths of pipes, where it has those of what was laid down."""
    for path, place in places().items():
        text = text.replace(place, path)
    return text


def lay_down(path: str, given: int | None) -> None:
    """Write the content of a pipe or a stream, such as /dev/stdin, into a file, which is read in its place."""
    if is_address(path) or path in places():
        return
    try:
        target = led_to(path)
        if is_plain(target) or (isinstance(target, Path) and target.is_dir()):
            return
        place = Path(_folder()) / Path(path).name
        with opened(target, "rb") as source:
            _copy(source, place, path, most_of(ending_of(path), given))
        places()[path] = str(place)
        places()[path] = str(_with_ending(place))
    except OSError as error:
        folder = (
            f" in {tempfile.gettempdir()!r}, where pipes are laid down; another is that of TMPDIR"
        )
        msg = f"cannot read {path!r}: {reason(error)}{folder * (error.errno == errno.ENOSPC)}"
        raise RecframeError(msg) from None


def _copy(source: BinaryIO, place: Path, path: str, most: int) -> None:
    with place.open("wb") as file:
        while piece := source.read(PIECE):
            if file.tell() + len(piece) > most:
                raise RecframeError(too_long(path, "has", most))
            file.write(piece)


def _folder() -> str:
    """Return a new folder, which is removed when the command ends."""
    folder = tempfile.mkdtemp(prefix="recframe-")
    remove = partial(shutil.rmtree, folder, ignore_errors=True)
    click.get_current_context().find_root().call_on_close(remove)
    process.last_steps.append(remove)
    return folder


def _with_ending(place: Path) -> Path:
    """Return the place of a file under an ending that is that of its content, where it has none that is known."""
    if ending_of(str(place)) in READERS:
        return place
    start = next(unpacked(str(place)), b"")
    head = start.partition(b"\n")[0]
    text = ".tsv" if b"\t" in head and b"," not in head else ".csv"
    known = (ending for first, ending in STARTS.items() if start.startswith(first))
    return place.rename(f"{place}{next(known, text)}")
