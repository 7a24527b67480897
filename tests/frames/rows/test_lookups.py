"""Small tables looked up by place say what a dictionary of them says."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from recframe.frames.rows.lookups import lookup

KEYS: dict[Any, tuple[list[Any], list[Any]]] = {
    # the table's, and those that are looked up
    pl.Int8: ([-128, -127, -120], [-128, -127, -121, -120, 127, None]),
    pl.UInt8: ([0, 1, 255], [1, 255, 2, 0]),
    pl.Int64: ([2**63 - 3, 2**63 - 1], [-(2**63), 2**63 - 3, 2**63 - 2, 2**63 - 1, 0]),
    pl.UInt32: ([7], [7, 7]),
}


@pytest.mark.parametrize("dtype", KEYS)
def test_values_are_those_of_a_dictionary(dtype: Any):
    own, asked = KEYS[dtype]
    known = dict(zip(own, [10, None, 30], strict=False))
    table = pl.DataFrame({"item": own, "code": [*known.values()]}, schema_overrides={"item": dtype})
    found = lookup(table, "item", dtype)
    assert found is not None

    for keys in (asked, own, own[:1], []):
        expected = [known.get(key) or 0 for key in keys]
        rows = pl.DataFrame({"item": keys}, schema={"item": dtype})
        values = rows.select(found.value("code", 0))
        assert values["code"].to_list() == expected
