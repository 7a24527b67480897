"""Files of text that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write(target: Path, text: str) -> None:
    """Write a file; what is no plain file, such as a link or a pipe, is written to as it is."""
    if target.is_symlink() or (target.exists() and not target.is_file()):
        target.write_text(text, encoding="utf-8", newline="")
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        beside.write_text(text, encoding="utf-8", newline="")
        if target.exists():
            beside.chmod(target.stat().st_mode & 0o777)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
