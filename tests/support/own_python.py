"""Scripts in a Python of their own."""

from __future__ import annotations

import subprocess
import sys


def printed(code: str, *arguments: object, options: str = "-W error") -> str:
    """Return what a script prints, without the last line's end."""
    done = subprocess.run(  # noqa: S603  the scripts stand in the tests
        [sys.executable, *options.split(), "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
