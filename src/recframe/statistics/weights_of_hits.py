"""Notes on hits that weigh as few, of metrics that weigh them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from recframe.evaluation import evaluation
from recframe.evaluation.segments import TOTAL, name_beside, numbered
from recframe.frames.rows.joins import aggregate, joined
from recframe.metrics.language.weighing import weights_of_hits
from recframe.statistics.columns import FEW
from recframe.statistics.samples import Sample
from recframe.statistics.sums import PLACE

OF_HITS = "of hits"
"""Column of a note on the weights of hits."""


def with_weights_of_hits(rows: pl.LazyFrame, sample: Sample, keys: Sequence[str]) -> pl.LazyFrame:
    """Return sums with a note where hits weigh as few effective ones, (Σ w)² / Σ w² of their weights w."""
    weighed = {place: of for place, one in sample.places.items() if (of := weights_of_hits(one))}
    if not weighed:
        return rows
    stated = {str(one.metric): one for one in sample.conventions}
    conventions = [
        replace(stated[str(sample.places[place])], metric=one)
        for place, each in weighed.items()
        for one in each
    ]
    wide = numbered(evaluation.evaluate(sample.inputs, conventions, sample.run, (TOTAL,)), keys)
    found = []
    for place, of_hits in weighed.items():
        n, weight, square = (pl.col(name_beside(TOTAL, one)).sum() for one in of_hits)
        effective = pl.when(square > 0).then(weight**2 / square)
        counts = (one.round().cast(pl.Int64) for one in (n, effective))
        told = pl.format("the {} hits weigh as {} alike", *counts)
        note = pl.when((effective < FEW) | (effective < n / 10)).then(told).alias(OF_HITS)
        found.append(aggregate(wide, keys, [note]).with_columns(pl.lit(place).alias(PLACE)))
    return joined(rows, pl.concat(found), [*keys, PLACE])
