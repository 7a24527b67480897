"""Fused lists: the rankings of several models as one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, cast, get_args

import polars as pl

from recframe.api.argument_errors import F
from recframe.errors import RecframeError, fails_if, shown
from recframe.frames.hints import NAMED, FrameOf
from recframe.frames.kinds.kind import check_threads
from recframe.frames.kinds.several_models import Models, held
from recframe.frames.options import Context, one_of, plain_number
from recframe.frames.roles import Side, check_dtypes, order_of
from recframe.metrics.language.definition import cutoff
from recframe.ranking.data_checks import WITHOUT_MODEL
from recframe.ranking.fusion import OF_RANKS, By, Fusion, Normalize

__all__ = ["fuse"]

LISTS = "recommendations"


def fuse(  # noqa: PLR0913  one call says what is fused and how
    lists: F | Mapping[str, F],
    method: By = "rrf",
    *,
    normalize: Normalize | None = "min-max",
    k: int | None = None,
    smoothing: float = 60,
    weights: Mapping[Any, float] | None = None,
    model: str | None = None,
    user: str | None = None,
    item: str | None = None,
    rank: str | None = None,
    score: str | None = None,
) -> F:
    """Return the lists of several models fused into those of a new one, in long form: user, item, rank and score.

    `lists` are the models' frames by name, as in `rf.rec({"svd": svd, "knn": knn})`, or one frame whose column `model=` tells
    them apart. The frame is of the kind of the lists, a LazyFrame stays lazy, and the columns keep their names. Where the lists
    have scores and no ranks, so has the result. So it can stand beside the models that it is made of:
    `rf.rec({"svd": svd, "knn": knn, "both": rf.fuse({"svd": svd, "knn": knn})}, truth)`.

    `method` is what an item's score is, by the user's lists that have the item. Of its ranks r: "rrf", reciprocal rank fusion,
    Σ 1 / (`smoothing` + r); "isr" c Σ 1 / r², c the number of these lists; "borda" Σ (C + n + 1) / 2 - r, C the number of
    distinct items in all lists of the user, n the length of the list: C - r + 1, less the mean that is left for other items.
    Of its scores s: "combsum" Σ s; "combmnz" c Σ s; "weighted" Σ w s, w the model's number in `weights`.

    `normalize` brings the scores of each list to one scale: "min-max" (s - min) / (max - min); "max" s / max; "sum" (s - min) /
    Σ (s - min); "zmuv" (s - mean) / standard deviation; "rank" 1 - (r - 1) / n, which reads no score; None leaves them. What is
    divided by is at least 1e-9, so that scores that are all equal become 0.

    Items stand by score, the highest first, then by item; `k` cuts the fused lists. Without a rank column, ranks are made of
    the scores. An item that a list repeats counts once, at its best. A row without a user, an item, a rank or, where scores are
    read, a finite score is not listed. "borda" and `normalize="rank"`, which count items, close gaps in the ranks.

    Raises a ColumnError for a missing column, such as that of the scores; and a RecframeError for a frame without `model`, an
    unknown method, and weights that a model lacks or that the method does not read.

    >>> import polars as pl, recframe as rf
    >>> a = pl.DataFrame({"user": [1, 1, 1], "item": [10, 11, 12], "score": [3.0, 2.0, 1.0]})
    >>> b = pl.DataFrame({"user": [1, 1], "item": [11, 13], "score": [0.9, 0.4]})
    >>> rf.fuse({"a": a, "b": b}, "combsum", k=3)
    shape: (3, 3)
    ┌──────┬──────┬───────┐
    │ user ┆ item ┆ score │
    │ ---  ┆ ---  ┆ ---   │
    │ i64  ┆ i64  ┆ f64   │
    ╞══════╪══════╪═══════╡
    │ 1    ┆ 11   ┆ 1.5   │
    │ 1    ┆ 10   ┆ 1.0   │
    │ 1    ┆ 12   ┆ 0.0   │
    └──────┴──────┴───────┘

    Source: Cormack, Clarke and Buettcher 2009 (rrf); Mourão et al. 2014 (isr); Aslam and Montague 2001 (borda); Fox and Shaw
    1994 (combsum, combmnz).
    """
    check_threads()
    one_of("method", method, get_args(By))
    one_of("normalize", normalize, (*get_args(Normalize), None))
    given = {"model": model, "user": user, "item": item, "rank": rank, "score": score}
    frames, options = held(lists, given)
    names = [*frames.frames] if isinstance(frames, Models) else []
    smoothing = _number("smoothing", smoothing, least=0)
    fusion = Fusion(method, normalize, smoothing, _checked(weights, method, names))
    side = Side(str(FrameOf(LISTS)), frames, Context().bind(options))
    return cast("F", _given(side, fusion, None if k is None else cutoff(k)))


def _given(side: Side, fusion: Fusion, k: int | None) -> Any:
    """Return the fused lists as a frame of the lists' kind, with their names of columns."""
    kind, names = side.kind, side.context.names
    if kind.engine is not None or side.context.model is None:
        raise RecframeError(
            "rf.fuse takes the lists of several models, as frames of Polars, pandas or Arrow: give them by name, "
            f"rf.fuse({{'svd': svd, 'knn': knn}}), or the column that tells them apart, rf.fuse(lists, model={NAMED})"
        )
    order = order_of(side) if fusion.reads_ranks else "score"
    if not fusion.reads_ranks:
        side.require(
            "score",
            f"Name the column: rf.fuse(..., score={NAMED}). method={fusion.method!r} reads scores; of ranks alone there are "
            f"{', '.join(OF_RANKS)}, and normalize='rank'",
        )
    taken = side.take(["model", "user", "item", order]).lazy()
    check_dtypes({LISTS: taken.collect_schema()}, {LISTS: side})
    nameless = fails_if(pl.col("model").is_null(), WITHOUT_MODEL.format(names["model"]))
    roles = ["user", "item", *["rank"] * side.has("rank"), "score"]
    if names["rank"] == names["score"]:
        raise RecframeError(
            f"the result has a rank and a score, and both are named {names['rank']!r}; name the other one: score={NAMED}"
        )
    rows = fusion.fused(taken.filter(nameless == 0), k)
    rows = rows.select(pl.col(role).alias(names[role]) for role in roles)
    return kind.give(rows, {names[role]: kind.source(names[role]) for role in roles[:2]})


def _checked(
    weights: Mapping[Any, float] | None, method: str, names: list[str]
) -> Mapping[str, float] | None:
    """Return the weights of the models by their names as text, or say what is wrong with them."""
    if weights is None and method != "weighted":
        return None
    if method != "weighted" or not weights or {*(names or weights)} != {*weights}:
        models = f" and the models {', '.join(map(shown, names))}" if names else ""
        raise RecframeError(
            "method='weighted' takes a number for each model: weights={'svd': 0.7, 'knn': 0.3}; found "
            f"method={method!r}, weights={shown(weights)}{models}"
        )
    return {str(name): _number(f"weights[{name!r}]", weight) for name, weight in weights.items()}


def _number(name: str, value: object, least: float = -math.inf) -> float:
    """Return a finite number, or say that it has to be one."""
    number = plain_number(value)
    if number is None or not least <= number < math.inf or number == -math.inf:
        raise RecframeError(
            f"{name}={shown(value)}: {name} takes a number{' from 0 up' * (least == 0)}"
        )
    return float(number)
