"""The browser of the system, in which pages are opened."""

from __future__ import annotations

import os
import shutil

import pytest


def chromium() -> str:
    """Return its path; without one the test that asks is skipped."""
    named = os.environ.get("CHROMIUM")
    path = named or shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium, or name one in the variable CHROMIUM")
    return path
