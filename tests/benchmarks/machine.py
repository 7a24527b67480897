"""What a figure depends on besides the code: the machine, without a name or path of it, and the versions."""

from __future__ import annotations

import platform
from importlib.metadata import version
from pathlib import Path

import polars as pl

DISTRIBUTIONS = ["recframe", "polars", "pandas", "numpy", "pyarrow", "numba"]


def describe() -> dict[str, str]:
    """Return the machine: processor, cores, threads that Polars uses, memory, system."""
    return {
        "processor": _field("/proc/cpuinfo", "model name")
        or platform.processor()
        or platform.machine(),
        "threads": str(pl.thread_pool_size()),
        "memory": _memory(),
        "system": f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def versions() -> dict[str, str]:
    """Return the version of every library that is timed or reads the frames."""
    return {name: version(name) for name in DISTRIBUTIONS}


def _memory() -> str:
    kibibytes = _field("/proc/meminfo", "MemTotal").removesuffix("kB").strip()
    return f"{int(kibibytes) / 2**20:.0f} GiB" if kibibytes else "unknown"


def _field(path: str, name: str) -> str:
    """Return a field of one of Linux' text files on the machine; nothing on other systems."""
    if not Path(path).exists():
        return ""
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""
