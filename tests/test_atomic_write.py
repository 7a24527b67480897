"""Every file that recframe writes is there whole or not at all, and stays what it is: a link, a pipe, a file of few."""

from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import recframe as rf
from recframe import atomic_write
from recframe.charts.table import Table
from recframe.cli import output
from recframe.reports.page import Page

ROWS = pl.DataFrame({"user": range(3_000), "item": 1, "rank": 1, "relevance": 1})
TEXT = "\n".join(map(str, range(3_000)))


def page(path: Path) -> None:
    made = Page("", "", ())
    made.__dict__["html"] = TEXT
    made.save(path)


WRITERS: dict[str, Callable[[Path], object]] = {
    **{
        f"x.{form}": lambda path: output.write(ROWS, path, path.suffix[1:])
        for form in output.FORMATS
    },
    "x.html": page,
    "table.md": lambda path: Table(("",), 1, (), (TEXT,)).save(str(path)),
    "x.xml": lambda path: atomic_write.write_text(path, TEXT),
}


@contextmanager
def no_file_above(n_bytes: int) -> Iterator[None]:
    """Let this process write no longer file, as where a disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("name", WRITERS)
def test_what_was_there_stays_whole_when_writing_fails(tmp_path, name):
    path = tmp_path / name
    path.write_text("what was there")

    with (
        no_file_above(1_000),
        pytest.raises(rf.RecframeError, match=r"^cannot write '.*': File too large$"),
    ):
        WRITERS[name](path)

    assert path.read_text() == "what was there"
    WRITERS[name](path)
    assert path.read_bytes() != b"what was there"
    assert [one.name for one in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit])
def test_what_was_there_stays_whole_when_writing_is_stopped(tmp_path, failure):
    path = tmp_path / "x"
    path.write_text("what was there")

    def stopped(file: Any) -> None:
        file.write(b"half of it")
        raise failure

    with pytest.raises(failure):
        atomic_write.write(path, stopped)

    assert path.read_text() == "what was there"
    assert [one.name for one in tmp_path.iterdir()] == ["x"]


def test_a_file_keeps_its_permissions_and_a_new_one_has_those_of_any(tmp_path):
    kept, new, plain = (tmp_path / name for name in ("kept", "new", "plain"))
    kept.touch(mode=0o600)
    plain.touch()
    modes = []

    for path in (kept, new):

        def fill(file: Any) -> None:
            modes.append(stat.S_IMODE(os.fstat(file.fileno()).st_mode))

        atomic_write.write(path, fill)

    # nobody reads what is to be for few while it is written
    assert modes == [stat.S_IMODE(one.stat().st_mode) for one in (kept, new)]
    assert modes == [0o600, stat.S_IMODE(plain.stat().st_mode)]


def test_a_link_stays_and_leads_to_the_new_file(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "old").symlink_to("file")
    (tmp_path / "link").symlink_to("inner/old")

    for text in ("made through the link", "and again"):
        atomic_write.write_text(tmp_path / "link", text)
        assert (inner / "file").read_text() == text
    assert (tmp_path / "link").is_symlink()
    assert (inner / "old").is_symlink()
    (tmp_path / "one").symlink_to("other")
    (tmp_path / "other").symlink_to("one")
    with pytest.raises(rf.RecframeError, match=r"cannot write '.*one': Too many levels"):
        atomic_write.write_text(tmp_path / "one", "")


def test_pipes_and_devices_are_written_straight(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_text()))
    reader.start()

    atomic_write.write_text(tmp_path / "pipe", TEXT)
    reader.join()

    assert read == [TEXT]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    atomic_write.write_text("/dev/null", TEXT)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    with pytest.raises(rf.RecframeError, match=r"'/dev/full': No space left on device$"):
        output.write(ROWS, "/dev/full", "csv")


@pytest.mark.parametrize("name", ["/dev/stdout", "link"])
def test_stdout_that_is_a_file_is_written_behind_what_it_has(tmp_path, name):
    (tmp_path / "link").symlink_to("/dev/stdout")
    code = (
        "import os; from recframe.atomic_write import write_text; os.write(1, b'before ')\n"
        f"write_text({name!r}, 'result'); os.write(1, b' behind')"
    )
    with (tmp_path / "log").open("wb") as log:
        subprocess.run([sys.executable, "-c", code], stdout=log, cwd=tmp_path, check=True)  # noqa: S603

    assert (tmp_path / "log").read_text() == "before result behind"


@pytest.fixture
def folder_of_nobody() -> Iterator[Path]:
    """Give a folder in which this process has no more rights than others."""
    with tempfile.TemporaryDirectory() as folder:
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(folder, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if is_root:
                os.seteuid(0)


def test_a_file_that_may_not_be_written_is_not_replaced(folder_of_nobody):
    path = folder_of_nobody / "x"
    path.write_text("what was there")
    path.chmod(0o444)

    with pytest.raises(rf.RecframeError, match=r"cannot write '.*x': Permission denied"):
        atomic_write.write_text(path, "")

    assert [path.read_text(), *folder_of_nobody.iterdir()] == ["what was there", path]
