"""Registration of `.rec` on Polars frames, and on pandas when loaded."""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import polars as pl

from recframe.api.rec_class import Rec


class Accessor:
    """Descriptor of `rec` on a frame class: a new Rec per access.

    NOTE: Polars and pandas 2 keep a namespace object on the frame, and a Rec holds its frame. The two would be a circle, which
    keeps the memory of frames that nobody has any more until Python's collector comes by. A Rec of a clone would let them go,
    but would not see what is changed in place.
    """

    def __get__(self, frame: Any, owner: type | None = None) -> Any:
        return Rec if frame is None else Rec(frame)


def register() -> None:
    """Register the namespace on every kind of frame."""
    _register_on(pl.DataFrame, pl.api.register_dataframe_namespace)
    _register_on(pl.LazyFrame, pl.api.register_lazyframe_namespace)
    if "pandas" in sys.modules:
        _register_on_pandas(sys.modules["pandas"])
    else:
        sys.meta_path.insert(0, _AfterPandas())


def _register_on_pandas(pandas: ModuleType) -> None:
    _register_on(pandas.DataFrame, pandas.api.extensions.register_dataframe_accessor)


def _register_on(frame_class: Any, as_its_library_does: Callable[[str], Any]) -> None:
    """Register the namespace, and replace the library's caching accessor with one that keeps no reference."""
    as_its_library_does("rec")(Rec)
    frame_class.rec = Accessor()


class _AfterPandas(importlib.abc.MetaPathFinder):
    """Import hook that registers `.rec` when pandas is first imported."""

    _looking = False

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find pandas as the other finders do, and have it registered on once it is loaded."""
        if name != "pandas" or self._looking:
            return None
        self._looking = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._looking = False
        if spec is not None and spec.loader is not None:
            spec.loader = _RegisteringLoader(spec.loader, self)
        return spec


class _RegisteringLoader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, finder: _AfterPandas) -> None:
        self._loader, self._finder = loader, finder

    def __getattr__(self, name: str) -> Any:
        """Give what others ask a loader for, such as `get_source`."""
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # The module gets its own loader back before it runs: others (importlib.resources) ask it for files.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        # it stays until pandas is really there: a look or a failed import is none
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        _register_on_pandas(module)
