"""Peak memory of one run over what was held before it, each contender in a process of its own (Linux only)."""

from __future__ import annotations

import gc
import multiprocessing
import tempfile
from dataclasses import replace
from pathlib import Path

import data
import numpy as np
import polars as pl
import pyarrow as pa
from contenders import CONTENDERS
from data import Case, Settings
from pyarrow import ipc

STATUS = Path("/proc/self/status")
RESET_PEAK = Path("/proc/self/clear_refs")
WARM_UP_USERS = 200


def peak(name: str, case: Case, k: int) -> int:
    """Return the bytes by which a contender's run raises the resident memory at its peak.

    NOTE: the process maps the frame from a file, already read through. Were it to make the data itself, it would hold
    freed memory of the size of the data, and a run inside that would seem to take none.
    """
    with (
        tempfile.TemporaryDirectory() as folder,
        multiprocessing.get_context("spawn").Pool(1) as pool,
    ):
        file = Path(folder) / "judged.arrow"
        case.judged.write_ipc(file, compression="uncompressed")
        return pool.apply(_peak_here, (name, file, case.settings, k))


def _peak_here(name: str, file: Path, settings: Settings, k: int) -> int:
    contender = next(one for one in CONTENDERS if one.name == name)
    small = replace(settings, users=min(settings.users, WARM_UP_USERS))
    warm_up = data.case(data.numbers(small), small)
    contender.run(warm_up, k)
    table = ipc.open_file(pa.memory_map(str(file))).read_all()
    read_through(table)
    judged = pl.DataFrame(table)
    if settings.order == "sorted":
        judged = judged.with_columns(pl.col("user").set_sorted())
    case = Case(settings, judged, warm_up.arrays)
    _ = case.given_pandas if contender.takes_pandas else case.given
    gc.collect()
    RESET_PEAK.write_text("5", encoding="ascii")
    before = status("VmRSS")
    contender.run(case, k)
    return status("VmHWM") - before


def read_through(table: pa.Table) -> None:
    """Make the mapped pages resident, without taking memory."""
    for column in table.columns:
        for buffer in (buffer for chunk in column.chunks for buffer in chunk.buffers() if buffer):
            np.frombuffer(buffer, dtype=np.uint8).max()


def status(name: str) -> int:
    line = next(
        line
        for line in STATUS.read_text(encoding="ascii").splitlines()
        if line.startswith(f"{name}:")
    )
    return int(line.split()[1]) * 1024
