"""What a road of the benchmark of engines is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from served import SIX


@dataclass(frozen=True)
class Road:
    """One way from Parquet files to numbers: it is given a session, the folder of the files, and k.

    metrics: the recframe metrics whose numbers it gives, in their order, over the users of `universe`.
    """

    run: Callable[[Any, Path, int], list[float]]
    metrics: tuple[str, ...] = SIX
    universe: str = "truth"
    on_spark: bool = True


def read(session: Any, folder: Path) -> tuple[Any, Any]:
    return session.read.parquet(str(folder / "recs")), session.read.parquet(str(folder / "truth"))
