"""One way to six metrics of Parquet files: `python large_worker.py FOLDER 1GB 10 False ""` runs those it is told to.

The last are k, or None, whether there is a column of models, and the columns of users to ask by. An answer has seconds and CPU
seconds after the imports, the peak of resident memory, and the values.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

import served
from served import SIX

ONE_PLAN, SCANS, DUCKDB = "one plan", "scans", "DuckDB"
SQL = """
WITH recs AS (FROM read_parquet('{folder}/recs/**/*.parquet', hive_partitioning = {hive})),
truth AS (FROM read_parquet('{folder}/truth/**/*.parquet', hive_partitioning = {hive}) WHERE relevance > 0),
hits AS (
    SELECT {model}user, rank, relevance, row_number() OVER (PARTITION BY {model}user ORDER BY rank) AS nth
    FROM recs JOIN truth USING (user, item) WHERE {is_read}
),
lists AS (
    SELECT {model}user, count(*) AS n_hits, sum(nth / rank) AS precisions, 1 / min(rank) AS first,
        sum(relevance / log2(rank + 1)) AS dcg
    FROM hits GROUP BY {model}user
),
ideals AS (
    SELECT user, count(*) AS n_relevant, sum(relevance / log2(place + 1)) FILTER (WHERE {is_ideal}) AS ideal
    FROM (SELECT user, relevance, row_number() OVER (PARTITION BY user ORDER BY relevance DESC) AS place FROM truth)
    GROUP BY user
){lengths}
SELECT {model}count(*) / n, sum(n_hits / {length}) / n, sum(n_hits / n_relevant) / n, sum(precisions / n_relevant) / n,
    sum(first) / n, sum(dcg / ideal) / n
FROM lists JOIN ideals USING (user) {joined} CROSS JOIN (SELECT count(*) AS n FROM ideals)
GROUP BY {model}n ORDER BY ALL
"""
LENGTHS = ",\nlengths AS (SELECT {model}user, count(*) AS length FROM recs GROUP BY {model}user)"


def sql(folder: str, k: int | None, *, of_models: bool) -> str:
    """Return the query of the six metrics, which divides sums over users with a hit by the number of users."""
    model = "model, " if of_models else ""
    whole = k is None
    return SQL.format(
        folder=folder,
        model=model,
        hive=str(any(Path(folder).glob("recs/*=*"))).lower(),
        is_read="true" if whole else f"rank <= {k}",
        is_ideal="true" if whole else f"place <= {k}",
        lengths=LENGTHS.format(model=model) if whole else "",
        length="length" if whole else k,
        joined=f"JOIN lengths USING ({model}user)" if whole else "",
    )


def in_duckdb(folder: str, memory: str, k: int | None, *, of_models: bool) -> list[Any]:
    duckdb = importlib.import_module("duckdb")
    with tempfile.TemporaryDirectory() as spilled, duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{memory}'")
        connection.execute(f"SET temp_directory = '{spilled}'")
        connection.execute("SET preserve_insertion_order = false")
        return connection.execute(sql(folder, k, of_models=of_models)).fetchall()


def in_recframe(
    folder: str, memory: str | None, k: int | None, *, of_models: bool, by: list[str]
) -> list[Any]:
    """Return the values that recframe gives, without a memory those of one plan."""
    pl = importlib.import_module("polars")
    recs, truth = (pl.scan_parquet(f"{folder}/{name}") for name in ("recs", "truth"))
    rec = recs.rec(truth=truth, model="model" if of_models else None, memory=memory)
    rec = rec(users=pl.scan_parquet(f"{folder}/users")) if by else rec
    values = rec.evaluate(*SIX, k=k, by=by or None)
    values = values.collect(engine="streaming") if memory is None else values
    return values.drop("n_users").rows()


def main(folder: str, memory: str, k: str, of_models: str, columns: str) -> None:
    answer = served.channel()
    depth, several, by = None if k == "None" else int(k), of_models == "True", columns.split()

    def run(way: str) -> dict[str, Any]:
        importlib.import_module("duckdb" if way == DUCKDB else "recframe")
        bound = None if way == ONE_PLAN else memory
        taken = served.timed(
            lambda: (
                in_duckdb(folder, memory, depth, of_models=several)
                if way == DUCKDB
                else in_recframe(folder, bound, depth, of_models=several, by=by)
            )
        )
        return taken | {"peak_bytes": served.status("VmHWM")}

    served.serve(answer, {}, run)


if __name__ == "__main__":
    main(*sys.argv[1:])
