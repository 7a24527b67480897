"""A cluster of Dask on this machine with two worker processes, and frames of it."""

from __future__ import annotations

import logging
import os
import warnings
from functools import cache
from typing import Any

import pandas as pd
import polars as pl

from frame_kinds import Kind


@cache
def client() -> Any:
    """A client of the cluster, whose workers are processes that are begun anew where they end."""
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    import dask  # noqa: PLC0415  where it is installed
    from distributed import Client, LocalCluster  # noqa: PLC0415  likewise

    for name in ("distributed", "distributed.shuffle"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    dask.config.set({"distributed.admin.log-length": 0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        return Client(cluster)


def made(frame: pl.DataFrame) -> Any:
    """A frame of Dask's in two partitions, in dtypes of Arrow."""
    import dask.dataframe as dd  # noqa: PLC0415  where it is installed

    client()
    rows = frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
    return dd.from_pandas(rows, npartitions=2, sort=False)


def read(frame: Any) -> pl.DataFrame:
    """The rows of a frame of Dask's, whose dtypes are those that it was said to have."""
    found = frame.compute()
    assert found.dtypes.equals(frame._meta.dtypes)
    return pl.from_pandas(found)


DASK = Kind("dask", made, read)
