"""The six metrics written by hand for Spark: with windows, and with nothing but counts, which was the fastest.

Both let a user without a list count as 0, as recframe does, and both trust the data where recframe does not: that no item
comes twice in a list or in the truth, that ranks start at 1 and are whole, and that nothing is null.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812  as everyone writes it
from road import Road, read

DISTRIBUTIONS = ["pyspark"]


def with_windows(session: Any, folder: Path, k: int) -> list[float]:
    """Windows over the hits and over the truth, one scan of each table."""
    recs, truth = read(session, folder)
    user = Window.partitionBy("user")
    recs = recs.filter(F.col("rank") <= k).select("user", "item", "rank")
    ideal = F.row_number().over(user.orderBy(F.desc("relevance")))
    hit = F.count("rank").over(
        user.orderBy(F.asc_nulls_last("rank")).rowsBetween(Window.unboundedPreceding, 0)
    )
    rows = truth.join(recs, ["user", "item"], "left").withColumns({"place": ideal, "hit": hit})
    discount = F.lit(math.log(2)) / F.log(F.col("rank") + 1)
    best = F.when(F.col("place") <= k, F.col("relevance") * math.log(2) / F.log(F.col("place") + 1))
    users = rows.groupBy("user").agg(
        F.count("rank").alias("hits"),
        F.count(F.lit(1)).alias("relevant"),
        F.sum(F.when(F.col("rank").isNotNull(), F.col("hit") / F.col("rank"))).alias("precisions"),
        F.min("rank").alias("first"),
        F.sum(F.col("relevance") * discount).alias("dcg"),
        F.sum(best).alias("ideal"),
    )
    return list(users.agg(*_means(k)).collect()[0])


def _means(k: int) -> list[Any]:
    hits, relevant = F.col("hits"), F.col("relevant")
    return [
        F.avg((hits > 0).cast("int")),
        F.avg(hits / k),
        F.avg(hits / relevant),
        F.avg(F.coalesce("precisions", F.lit(0.0)) / relevant),
        F.avg(F.coalesce(1 / F.col("first"), F.lit(0.0))),
        F.avg(F.coalesce("dcg", F.lit(0.0)) / F.col("ideal")),
    ]


def _pairs(session: Any, folder: Path, k: int) -> Any:
    """The truth with the rank of what is in the list: one shuffle by user, no join."""
    recs, truth = read(session, folder)
    recs = recs.filter(F.col("rank") <= k).select(
        "user", "item", "rank", F.lit(None).cast("long").alias("relevance")
    )
    truth = truth.select("user", "item", F.lit(None).cast("long").alias("rank"), "relevance")
    rows = recs.union(truth).repartition("user")
    pairs = rows.groupBy("user", "item").agg(
        F.min("rank").alias("rank"), F.max("relevance").alias("relevance")
    )
    return pairs.filter("relevance is not null")


GRADES = (5, 4, 3, 2, 1)


def with_counts(session: Any, folder: Path, k: int) -> list[float]:
    """Nothing but counts and sums for each user: ranks as bits, and how often each grade comes, which has to be known."""
    rows = _pairs(session, folder, k)
    discount = F.lit(math.log(2)) / F.log(F.col("rank") + 1)
    users = rows.groupBy("user").agg(
        F.bit_or(F.expr("shiftleft(1L, cast(rank as int))")).alias("ranks"),
        *[
            F.count(F.when(F.col("relevance") >= grade, 1)).alias(f"from{grade}")
            for grade in GRADES
        ],
        F.count("rank").alias("hits"),
        F.min("rank").alias("first"),
        F.sum(F.col("relevance") * discount).alias("dcg"),
    )
    places = range(1, k + 1)
    discounts = [1 / math.log2(place + 1) for place in places]
    gained = F.array(*[F.lit(sum(discounts[:n])) for n in range(k + 1)])
    precisions = [
        F.expr(f"if(ranks & {1 << n} = 0, 0, bit_count(ranks & {(2 << n) - 1}) / {n})")
        for n in places
    ]
    # one grade more for each place that has a row of that grade or of a better one
    ideal = [F.get(gained, F.least(F.col(f"from{grade}"), F.lit(k))) for grade in GRADES]
    users = users.select(
        "hits",
        "first",
        "dcg",
        F.col("from1").alias("relevant"),
        sum(precisions, F.lit(0.0)).alias("precisions"),
        sum(ideal, F.lit(0.0)).alias("ideal"),
    )
    return list(users.agg(*_means(k)).collect()[0])


ROADS = {
    "Spark SQL, by windows": Road(with_windows),
    "Spark SQL, by counts": Road(with_counts),
}
