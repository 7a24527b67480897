"""Tensors of torch, as far as they are asked."""

from __future__ import annotations

from typing import Any

import numpy as np


class Tensor:
    """What torch's tensors do of which use is made: detached, moved, and no more NumPy than that."""

    def __init__(self, values: Any, *, detached: bool = False) -> None:
        self.values, self.detached, self.shape = values, detached, values.shape
        self.dtype = f"torch.{values.dtype}"

    def __getitem__(self, rows: Any) -> Tensor:
        return Tensor(self.values[rows], detached=self.detached)

    def detach(self) -> Tensor:
        return Tensor(self.values, detached=True)

    def cpu(self) -> Tensor:
        return self

    def __iter__(self) -> Any:
        return iter(self.values)

    def tolist(self) -> Any:
        return self.values.tolist()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        if not self.detached:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return np.asarray(self.values, dtype=dtype)
