"""Process of a command: quiet exit on Ctrl-C and on closed stdout.

NOTE: recframe's own first line imports this file where the process is a command, so that it imports nothing that takes time.
"""

from __future__ import annotations

import errno
import io
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

INTERRUPTED = 130
"""The exit status of an interrupt, as shells count: 128 and the number of the signal, which is 2."""
LEFT = 141
"""Exit status when the reader of stdout leaves, as `head` does: 128 and SIGPIPE's 13."""
UNWRITTEN = 74
"""Exit status for a full or closed stdout, as in sysexits.h; 1 and 2 are about the request."""
PATIENCE = 1.0
"""Seconds that compiled code, which hears nothing of an interrupt, has to end by itself."""
SHOW_CURSOR = b"\r\x1b[2K\x1b[?25h"

last_steps: list[Callable[[], object]] = []
"""The functions that put temporary files away where the process ends in the midst of compiled code."""


class _Interrupts:
    """Handler of Ctrl-C: ends the process, in `run` after cleaning up."""

    puts_away = False

    def __call__(self, *_: object) -> None:
        if not self.puts_away:
            os._exit(INTERRUPTED)
        # a second one does not wait
        self.puts_away = False
        raise SystemExit(INTERRUPTED)

    def watch(self, wakes: int) -> None:
        """End the process where Python's own handler does not get to run."""
        told = 0
        while not (self.puts_away and told) and told < 2:  # noqa: PLR2004  twice
            if signal.SIGINT in os.read(wakes, 1):
                told += 1
                time.sleep(PATIENCE)
        for step in last_steps:
            with suppress(Exception):
                step()
        if os.isatty(2):
            os.write(2, SHOW_CURSOR)
        os._exit(INTERRUPTED)


_interrupts = _Interrupts()


def is_command() -> bool:
    """Return whether this process is `recframe` or `python -m recframe`, and no program that imports it."""
    # which a program that embeds Python may have none of
    words: list[str] = getattr(sys, "argv", None) or [""]
    name = os.path.basename(words[0])  # noqa: PTH119  pathlib takes time
    if name == "-m":
        return bool({"recframe", "-mrecframe"} & set(sys.orig_argv))
    return name.removesuffix(".exe") == "recframe"


def begin() -> None:
    """Have Ctrl-C end the process without a word, unless somebody else has said what it does; open streams that are closed.

    NOTE: before Polars is imported, whose own handler stops queries and calls the one before it.
    """
    _open_what_is_closed()
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupts)


def run(command: Callable[[], Any]) -> NoReturn:
    """Run a command to its exit."""
    is_ours = signal.getsignal(signal.SIGINT) is _interrupts
    if os.name == "posix" and is_ours:
        wakes, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        threading.Thread(target=_interrupts.watch, args=(wakes,), daemon=True).start()
    if os.name == "posix":
        _tell_apart()
    _interrupts.puts_away = True
    try:
        command()
    except UnwrittenError as error:
        sys.exit(status_of(error))
    except SystemExit as end:
        if end.code == INTERRUPTED:
            # Python's own end would tell of what was interrupted
            os._exit(INTERRUPTED)
        raise
    finally:
        _interrupts.puts_away = False
    sys.exit(0)


class UnwrittenError(OSError):
    """Write error of stdout; other files raise a plain OSError."""


class _Stdout(io.FileIO):
    """Stdout, whose errors are of a class of their own."""

    def write(self, data: Any, /) -> int:
        """Write bytes."""
        try:
            return super().write(data)
        except OSError as error:
            raise UnwrittenError(error.errno, error.strerror) from None


def _tell_apart() -> None:
    """Have errors of stdout be of a class of their own."""
    before = sys.stdout
    before.flush()
    inner = io.BufferedWriter(_Stdout(1, "w", closefd=False))
    sys.stdout = io.TextIOWrapper(
        inner, before.encoding, before.errors, line_buffering=before.isatty()
    )


def status_of(error: UnwrittenError) -> int:
    """Return the exit status of an error of stdout, and say what it is unless its reader left."""
    # so that what is left to write does not fail at the end once more
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    if error.errno == errno.EPIPE:
        return LEFT
    with suppress(OSError):
        sys.stderr.write(f"error: cannot write to stdout: {error.strerror}\n")
    return UNWRITTEN


def _open_what_is_closed() -> None:
    """Give streams that are closed a place where nothing is, so that no file gets their numbers."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:  # noqa: PERF203  three at most
            # what is written to stdout is lost, which has to be told
            os.open(os.devnull, os.O_RDWR if name == "stderr" else os.O_RDONLY)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115  a number is no path


if is_command():
    begin()
