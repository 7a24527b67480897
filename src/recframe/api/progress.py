"""Progress bars, on terminals and in notebooks."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

MOMENT = 2.0
"""Seconds before a bar appears."""


class Bar:
    """Progress bar, shown after a moment until the end.

    NOTE: calls share nothing: a bar begins with the first block that it is told of, so that a plan may run more than once.
    """

    def __init__(self, title: str, make: Callable[[str], Any]) -> None:
        self._title, self._make = title, make
        self._began: float | None = None
        self._shown: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Update the bar with the number of finished steps."""
        now = time.monotonic()
        self._began = now if self._began is None else self._began
        if self._shown is None and now - self._began > MOMENT and done < total:
            self._shown = self._make(self._title)
            self._shown.start()
        if self._shown is not None:
            (task,) = self._shown.task_ids
            self._shown.update(task, completed=done, total=total)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Take the bar away."""
        if self._shown is not None:
            self._shown.stop()
        self._began = self._shown = None


def of(title: str) -> Bar | None:
    """Return a bar for what its title says; None without rich, or where it is not visible."""
    if not (_is_seen() and _has_rich()):
        return None
    return Bar(title, _made)


def _is_seen() -> bool:
    """Whether a bar is visible: on a terminal, or in a notebook's kernel."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    in_notebook = getattr(shell, "kernel", None) is not None
    return in_notebook or bool(sys.stderr is not None and sys.stderr.isatty())


def _has_rich() -> bool:
    from importlib.util import find_spec  # noqa: PLC0415  a call that nobody looks at asks for no module

    return find_spec("rich") is not None


def _made(title: str) -> Any:
    """Return a bar of rich's, which leaves nothing behind."""
    from rich.console import Console  # noqa: PLC0415  an extra
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shown = Progress(*columns, console=Console(stderr=True), transient=True)
    shown.add_task(title, total=None)
    return shown
