"""A progress bar over calls, on terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec


@contextmanager
def over(total: int) -> Iterator[Callable[[], None]]:
    """Give a function to be called after each of some calls, which moves a bar of rich's on a terminal."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if not (is_terminal and find_spec("rich")):
        yield lambda: None
        return
    from rich.console import Console  # noqa: PLC0415  an extra
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("calls"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("calls", total=total)
        yield lambda: bar.advance(task)
