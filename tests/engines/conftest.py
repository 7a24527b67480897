"""The session of Spark that all tests of engines share, whichever of them comes first."""

from __future__ import annotations

import importlib.util
import shutil

import pytest


@pytest.fixture(scope="session", autouse=True)
def _session_of_spark(request: pytest.FixtureRequest):
    """Start it with the settings of these tests, before a command of the shell starts one of its own."""
    wanted = any(one.get_closest_marker("spark") for one in request.session.items)
    if wanted and importlib.util.find_spec("pyspark") and shutil.which("java"):
        from spark_session import session  # noqa: PLC0415  an extra

        session()
