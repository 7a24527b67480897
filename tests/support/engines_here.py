"""The engines that are installed, as parameters of tests with their markers."""

from __future__ import annotations

import os
import shutil
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

NEEDED = {"spark": ("pyspark",), "dask": ("dask", "distributed")}
MODULES = {"spark": "spark_session", "dask": "dask_cluster"}
OWN = [
    # their own, of pandas and of Python that are newer than they know
    pytest.mark.filterwarnings("default"),
    pytest.mark.filterwarnings("error::recframe.RecframeWarning"),
]


def is_here(name: str) -> bool:
    """Whether an engine is installed, and for Spark a JVM."""
    has_java = shutil.which("java") is not None or "JAVA_HOME" in os.environ
    return all(find_spec(one) for one in NEEDED[name]) and (name != "spark" or has_java)


def engines() -> list[Any]:
    """The engines, of which none may be installed."""
    return [
        pytest.param(
            getattr(import_module(module), name.upper()), marks=getattr(pytest.mark, name), id=name
        )
        for name, module in MODULES.items()
        if is_here(name)
    ]
