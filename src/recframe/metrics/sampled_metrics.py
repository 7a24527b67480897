"""Estimates of full-ranking metrics from lists of sampled items.

Symbols in the formulas: N is the number of items that a full ranking has, n how many of them were drawn that are not relevant,
m how many of those stand above a relevant one; f(r) is what an item at rank r counts, 0 after k.
"""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Annotated, Literal

import polars as pl

from recframe.errors import RecframeError
from recframe.metrics.language import corrections
from recframe.metrics.language.at import At, ratio
from recframe.metrics.language.definition import Bounds
from recframe.metrics.language.registry import metric

__all__ = ["corrected"]

MOST_RANKS = 10_000
Items = Annotated[float, Bounds(2, 1_000_000_000, closed=True)]
Negatives = Annotated[float, Bounds(1, 2_000, closed=True)]
Weight = Annotated[float, Bounds(0.001, 1, closed=True)]


@metric(
    range=(-math.inf, math.inf),
    direction="higher",
    formula="mean over the relevant items of the estimate of f(r) from m, of n items drawn from N",
    latex=(
        r"\frac{1}{n_{\text{relevant}}} \sum_{\text{relevant items}} \hat{f}(m)"
        "\n"
        r"\hat{f} = \text{arg} \min_{\hat{f}} \sum_{r=1}^{N} \left(E[\hat{f} \mid r] - f(r)\right)^2 "
        r"+ \gamma \text{Var}[\hat{f} \mid r]"
    ),
)
def corrected(
    at: At,
    *,
    metric: Literal["recall", "ndcg", "mrr"] = "recall",
    n_items: Items = 10_000,
    n_negatives: Negatives = 100,
    estimator: Literal["bias_variance", "rank"] = "bias_variance",
    gamma: Weight = 0.1,
) -> pl.Expr:
    """Estimate of a full ranking's recall, nDCG or MRR from lists of sampled items: about 1 is perfect, about 0 finds nothing.

    Use it where there are lists of sampled items alone. Not where the model can rank all items: use `recall`, `ndcg` or `mrr`.

    A rank among 100 sampled items is far better than among all items: recall@10 of such lists says little about the full
    ranking's and may order models differently. Of N = `n_items` items, the relevant one included, n = `n_negatives` that are
    not relevant were drawn, uniformly and without replacement; m of them rank above the relevant item. The value is the mean of
    f̂(m) over the user's relevant items, each compared with the sample alone. Up to k, f is the `metric` of one relevant item:
    1 for "recall" (and hit_rate), 1 / log2(r + 1) for "ndcg", 1 / r for "mrr" (and map); auc needs no correction.

    f̂ are the n + 1 numbers with the least squared bias plus `gamma` times variance, on average over all ranks
    (`estimator="bias_variance"`); a smaller gamma means less bias and a wider interval. `"rank"` is f at the rank 1 + m (N - 1)
    / n, an unbiased estimate of the rank, though f of it is biased. With n = N - 1 both are the metric itself. The value of one
    list may be below 0 or above 1: only means over many lists are estimates. The interval of `summarize` includes the noise of
    the draws, not the remaining bias.

    0 without relevant items or a list; an item that is not listed counts 0. Null for a list in which the number of items that
    are not relevant is not n: give whole lists, as they were ranked.

    Raises a RecframeError for numbers that are not whole, for n of N or more, and beyond 10,000 ranks.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [1, 0, 0]})
    >>> df.rec.recall(k=2), round(df.rec.corrected(k=2, n_items=10, n_negatives=2), 6)
    (1.0, 0.861829)

    Source: Krichene and Rendle 2020, On sampled metrics for item recommendation.
    """
    n, known = _whole("n_negatives", n_negatives), _whole("n_items", n_items)
    last = min(known if at.k is None else at.k, known)
    _check(n, known, last)
    counts = {"recall": _found, "ndcg": _discounted, "mrr": _reciprocal}
    if estimator == "rank":
        estimates = corrections.at_mean_rank(counts[metric], last, n, known)
    else:
        estimates = corrections.least_error(counts[metric], last, n, known, gamma)
    # the cut-off is that of the full ranking
    whole = replace(at, k=None)
    listed = whole.listed.sum()
    of_each = _looked_up(at.certain(whole.misses_above), estimates)
    value = ratio(of_each.sum(), at.n_relevant)
    return pl.when((listed == 0) | (listed - whole.relevant.sum() == n)).then(value)


def _found(rank: float) -> float:  # noqa: ARG001
    return 1.0


def _discounted(rank: float) -> float:
    return 1 / math.log2(rank + 1)


def _reciprocal(rank: float) -> float:
    return 1 / rank


def _looked_up(above: pl.Expr, estimates: tuple[float, ...]) -> pl.Expr:
    """Return the estimate for so many items above; between two of them, where one of the same rank counts a half."""
    between = [(low + high) / 2 for low, high in pairwise(estimates)]
    numbers = [float(number) for number in range(len(estimates))]
    halves = [number + 0.5 for number in numbers[:-1]]
    return above.cast(pl.Float64).replace_strict(
        [*numbers, *halves], [*estimates, *between], default=None, return_dtype=pl.Float64
    )


def _whole(name: str, number: float) -> int:
    if int(number) != number:
        raise RecframeError(f"corrected({name}={number!r}): {name} takes a whole number")
    return int(number)


def _check(n: int, n_items: int, last: int) -> None:
    """Reject numbers of items and cut-offs that the estimate does not have."""
    if n >= n_items:
        raise RecframeError(
            f"corrected(n_negatives={n}, n_items={n_items}): n_items counts all items of a full ranking, so it is larger "
            "than n_negatives"
        )
    if last > MOST_RANKS:
        raise RecframeError(
            f"corrected takes cut-offs up to {MOST_RANKS:,}; found {last:,}: write corrected(k=10)"
        )
