"""Spares Altair's checks of each part of a chart, which `charts_asked.chart_of` has; specifications are checked as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from altair.utils import schemapi


@pytest.fixture(autouse=True)
def unchecked() -> Iterator[None]:
    with schemapi.debug_mode(arg=False):
        yield
