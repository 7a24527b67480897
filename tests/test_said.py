"""What each room says where a call is wrong or doubtful, word by word."""

from __future__ import annotations

import pytest

import said


@pytest.mark.parametrize("path", said.FILES, ids=lambda path: path.parent.name)
def test_what_a_room_says_is_what_is_stored(path):
    stored = path.read_text(encoding="utf-8")

    now = said.said_now(stored)

    assert now.splitlines() == stored.splitlines(), "to write: python tests/support/said.py"
    assert f"\n{said.SILENT}\n" not in now, "a call of this file says nothing"
