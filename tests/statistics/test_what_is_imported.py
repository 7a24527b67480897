"""What the statistics import, and what is said where it is missing."""

from __future__ import annotations

import pytest

from own_python import printed

PAGES = ["comparison", "segments", "gates"]


def test_the_room_imports_nothing_and_its_pages_no_slow_library():
    slow = "{'scipy.stats', 'scipy.optimize', 'statsmodels', 'pandas'} & {*sys.modules}"
    pages = "; ".join(f"import recframe.statistics.{page}" for page in PAGES)

    asked = (
        f"import sys, recframe.statistics; print('numpy' in sys.modules); {pages}; print({slow})"
    )
    assert printed(asked).split() == ["False", "set()"]


@pytest.mark.parametrize("missing", ["numpy", "scipy"])
def test_a_library_that_is_missing_is_told_with_its_extra(missing):
    code = f"""
import sys
sys.modules[{missing!r}] = None
import recframe
try:
    import recframe.statistics.estimates
except recframe.RecframeError as error:
    print(error)
"""
    expected = f"this needs {missing}, which is not installed; write: pip install 'recframe[stats]'"
    assert printed(code) == expected
