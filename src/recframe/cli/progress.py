"""A bar on the terminal, for commands that take longer than a moment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

MOMENT = 1.5


@contextmanager
def bar(title: str) -> Iterator[Callable[[float], None]]:
    """Show a bar after a moment, if stderr is a terminal; yield a function that is told the share that is done."""
    console = Console(stderr=True)
    shown = Progress(
        TextColumn(title), BarColumn(), TimeElapsedColumn(), console=console, transient=True
    )
    task = shown.add_task(title, total=None)

    def tell(share: float) -> None:
        shown.update(task, total=1.0, completed=share)

    timer = threading.Timer(MOMENT, shown.start)
    timer.daemon = True
    if console.is_terminal:
        timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        if shown.live.is_started:
            shown.stop()
