"""How examples of laws are counted, and the fixture of all kinds of frame."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from frame_kinds import KINDS, Kind, sharp_and_thorough

# An example runs a hundred metrics, so no deadline; a failure in CI must come again where somebody looks at it.
settings.register_profile(
    "recframe", deadline=None, max_examples=10, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("ci", settings.get_profile("recframe"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "recframe")


def pytest_configure(config: pytest.Config) -> None:
    """Leave every law in the fast lane (`-m "not slow"`), with few of its examples."""
    if "not slow" in config.option.markexpr:
        settings.register_profile("fast", settings.default, max_examples=2)
        settings.load_profile("fast")


@pytest.fixture(params=sharp_and_thorough(KINDS), ids=repr)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Every kind of frame, one after the other."""
    return request.param
