"""Graded lists as readers read them, place by place.

Symbols in the formulas: a reader at place r goes on to the next with probability C_r, so that W_1 = 1 and W_(r+1) = W_r C_r
are the chances that places are read. h_r is the gain at place r: (g - min_grade) / (max_grade - min_grade) of a hit's grade g,
its relevance, and 0 without a hit. G_r = h_1 + ... + h_r is the gain so far, T is `target`, the gain that a reader wants. Sums
run over the places from 1 to 1,000, or to k where C_k is 0.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import polars as pl

from recframe.errors import RecframeError
from recframe.metrics.language.at import At
from recframe.metrics.language.definition import UNIT, Bounds, Share
from recframe.metrics.language.reading import DEPTH, GoesOn
from recframe.metrics.language.registry import metric

__all__ = ["bpm", "insq", "inst", "nerr", "sdcg"]

MaxGrade = Annotated[float, Bounds(above=0, below=1000)]
MinGrade = Annotated[float, Bounds(0, 1000, closed=True)]
Target = Annotated[float, Bounds(above=0, below=DEPTH)]
Whole = Annotated[float, Bounds(1, DEPTH, closed=True)]
Number = TypeVar("Number", pl.Expr, float)
Form = Literal["patience", "target", "discount", "gain"]


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ W_r h_r / Σ W_r, with C_r = ((r + 2T - 1) / (r + 2T))²",
    latex=(
        r"\frac{\sum_r W_r\, h_r}{\sum_r W_r}, \quad W_{r+1} = W_r\, C_r, \quad "
        r"C_r = \left(\frac{r + 2T - 1}{r + 2T}\right)^2"
    ),
    tapers=True,
)
def insq(
    at: At, *, target: Target = 1, max_grade: MaxGrade = 4, min_grade: MinGrade = 0
) -> pl.Expr:
    """Mean gain of the items read, by a patient reader who wants `target` good ones: 1 is the best grade throughout, 0 no hit.

    Use it for graded relevance where readers look deep. Not where they stop once they have enough: use `inst`.

    Inverse squares: Σ over places of W_r h_r / Σ over places of W_r. W_1 = 1, and W_(r+1) = W_r C_r is the chance that place r
    + 1 is read: at place r the reader goes on with probability C_r = ((r + 2T - 1) / (r + 2T))², T = `target`. The gain h_r of
    a hit of relevance g is (g - min_grade) / (max_grade - min_grade), of other places 0; a g below `min_grade` or above
    `max_grade` counts as that. Both are parameters and not the grades seen, so that no value depends on other users.

    The places are 1 to 1,000, as in cwl_eval: those behind the list or a cut-off are read and have no gain. Only relevant items
    have gain: with `min_relevance` a lower grade has none. 0 without a hit; 1 only for 1,000 hits of the highest grade. Raises
    a RecframeError if `max_grade` is not above `min_grade`.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [2, 0, 4]})
    >>> round(df.rec.insq(), 6)
    0.291178

    Source: Moffat, Scholer and Thomas 2012, Models and metrics: IR evaluation as a user process; ir_measures' INSQ.
    """
    return at.reader(lambda r, _: _persistence(r, target), max_grade=max_grade, min_grade=min_grade)


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ W_r h_r / Σ W_r, with C_r = ((r + 2T - G_r - 1) / (r + 2T - G_r))²",
    latex=(
        r"\frac{\sum_r W_r\, h_r}{\sum_r W_r}, \quad W_{r+1} = W_r\, C_r, \quad "
        r"C_r = \left(\frac{r + 2T - G_r - 1}{r + 2T - G_r}\right)^2"
    ),
    tapers=True,
)
def inst(at: At, *, target: Whole = 1, max_grade: MaxGrade = 4, min_grade: MinGrade = 0) -> pl.Expr:
    """Mean gain of the items read, by a reader who wants `target` good ones and stops sooner the more they find: 0 is no hit.

    Use it for graded relevance where users want a number of good items. Not where only the first counts: use `err` or `nerr`.

    Σ over places of W_r h_r / Σ over places of W_r, with W_1 = 1 and W_(r+1) = W_r C_r. The reader goes on with probability
    C_r = ((r + 2T - G_r - 1) / (r + 2T - G_r))², T = `target` and G_r = h_1 + ... + h_r, the gain so far. `target` is 1 or
    more, so that no base is below 0. Places, gains h_r with their `max_grade` and `min_grade`, what counts 0 and errors are
    those of insq. 1 only for 1,000 hits of the highest grade.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [2, 0, 4]})
    >>> round(df.rec.inst(), 6)
    0.355753

    Source: Bailey, Moffat, Scholer and Thomas 2015, INST: an adaptive metric for IR evaluation; ir_measures' INST.
    """
    place, gain = at.rank.ceil(), at.scaled_gain(max_grade, min_grade)
    found = pl.when(place <= DEPTH).then(gain)
    # with and without a hit's gain; products of C_r between hits have closed forms in its square, and their sums too
    after = place + 2 * target - 1 - found.cum_sum()
    kept = (after / (after + found)).shift(1, fill_value=1.0).cum_prod() ** 2
    after, arrived = at.running(after), at.running(kept)
    before = after + found
    left = arrived * (after / before) ** 2
    # NOTE: the series alone is exact so far down; where it is not, gains at nearly all places have left nobody reading.
    end = left.min().fill_null(1.0) * _squares(DEPTH + 2 * target - found.sum(), ahead=0)
    read = (left * _squares(after + 1) - arrived * _squares(before + 1)).sum() - end
    gained = (arrived * found / before**2).sum()
    return (gained / (read + _squares(2.0 * target))).clip(0.0, 1.0)


def _squares(a: Number, ahead: int = 8) -> Number:
    """Return 1/a² + 1/(a + 1)² + ... by the asymptotic series some terms on: eight are exact to 1e-14 from an a of 2 on."""
    far = 1 / (a + ahead)
    square = far**2
    tail = square * (
        1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    )
    return sum((1 / (a + term) ** 2 for term in range(ahead)), far * (1 + far / 2 + tail))


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ W_r h_r / Σ W_r, with C_r = 1 while G_r < T and r < k, else 0",
    latex=(
        r"\frac{\sum_r W_r\, h_r}{\sum_r W_r}, \quad W_{r+1} = W_r\, C_r, \quad "
        r"C_r = 1 \text{ while } G_r < T \text{ and } r < k"
    ),
    tapers=True,
)
def bpm(at: At, *, target: Target = 1, max_grade: MaxGrade = 4, min_grade: MinGrade = 0) -> pl.Expr:
    """Mean gain of the items read, by a reader who stops once their sum is `target`, or at k: 1 is the best grade, 0 no hit.

    Use it where users look for a known amount and give up after k items. Not without a cut-off: use `inst`.

    Bejeweled player model, static: G_s / s, with s the first place at which the gain so far, G_s, is `target` or more, and k if
    there is none. So C_r, the probability to go on, is 1 above place s and 0 there. Gains with their `max_grade` and
    `min_grade`, what counts 0 and errors are those of insq; a k above 1,000 is 1,000. Raises a RecframeError without a cut-off.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [2, 0, 4]})
    >>> df.rec.bpm(k=3), df.rec.bpm(k=3, max_grade=2)
    (0.5, 1.0)

    Source: Zhang et al. 2017, Evaluating web search with a bejeweled player model; ir_measures' BPM.
    """
    last = _stop(at, "bpm")
    place, gain = at.rank.ceil(), at.scaled_gain(max_grade, min_grade)
    found = pl.when(place <= last).then(gain)
    so_far = at.running(found.cum_sum())
    enough = so_far >= target
    stop = pl.when(enough).then(place).min().fill_null(float(last))
    return pl.when(enough).then(so_far).min().fill_null(found.sum()) / stop


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ W_r h_r / Σ W_r, with C_r = p (1 - h_r)",
    latex=(
        r"\frac{\sum_r W_r\, h_r}{\sum_r W_r}, \quad W_{r+1} = W_r\, C_r, \quad C_r = p\, (1 - h_r)"
    ),
    instead={
        "nerr8": "nerr(form=gain)",
        "nerr9": "nerr(form=discount)",
        "nerr10": "nerr",
        "nerr11": "nerr(form=target)",
    },
    tapers=True,
)
def nerr(
    at: At,
    *,
    form: Form = "patience",
    p: Share = 0.9,
    target: Target = 1,
    max_grade: MaxGrade = 4,
    min_grade: MinGrade = 0,
) -> pl.Expr:
    """Mean gain of the items read, by a reader whom each good one may satisfy, so that they stop: 0 is no hit.

    Use it in place of `err`, whose weights no such reader has, where one excellent item ends the search. Not where users
    want several: use `inst`.

    Not, but nearly, expected reciprocal rank: Σ over places of W_r h_r / Σ over places of W_r, with W_1 = 1 and W_(r+1) = W_r
    C_r, the probability to go on. With `form="patience"` it is C_r = `p` · (1 - h_r): the default, since it needs no cut-off.
    With `"target"` it is ((r + 2T - 1) / (r + 2T))² (1 - h_r), T = `target`; with `"discount"`, the nearest to err, r / (r + 1)
    · (1 - h_r) for r < k and 0 at k; with `"gain"` 1 - h_r for r < k and 0 at k. In this order they are equations 10, 11, 9 and
    8 of the paper.

    Places, gains h_r with their `max_grade` and `min_grade`, what counts 0 and errors are those of insq. 1 if an item of the
    highest grade comes first. Raises a RecframeError without a cut-off for the two that stop at k, where a k above 1,000 is
    1,000.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [2, 0, 4]})
    >>> round(df.rec.nerr(), 6), df.rec.nerr(k=3, form="gain")
    (0.487871, 0.5)

    Source: Azzopardi, Mackenzie and Moffat 2021, ERR is not C/W/L; ir_measures' NERR8 to NERR11.
    """
    chances: dict[Form, GoesOn] = {
        "patience": lambda _, h: p * (1 - h),
        "target": lambda r, h: _persistence(r, target) * (1 - h),
        "discount": lambda r, h: r / (r + 1) * (1 - h),
        "gain": lambda _, h: 1 - h,
    }
    depth = _stop(at, f"nerr(form={form})") if form in {"discount", "gain"} else None
    return at.reader(chances[form], depth=depth, max_grade=max_grade, min_grade=min_grade)


def _persistence(place: pl.Expr, target: float) -> pl.Expr:
    """Return the probability to go on of a reader who has wanted so much gain for so many places."""
    return ((place + 2 * target - 1) / (place + 2 * target)) ** 2


@metric(
    range=UNIT,
    direction="higher",
    formula="Σ over hits of h_r / log2(r + 1), over Σ over r = 1..k of 1 / log2(r + 1)",
    latex=(
        r"\frac{\sum_{r=1}^{k} h_r \,/ \log_2(r + 1)}{\sum_{r=1}^{k} 1 \,/ \log_2(r + 1)}"
        "\n"
        r"C_r = \frac{\log_2(r + 1)}{\log_2(r + 2)} \text{ for } r < k, \quad C_k = 0"
    ),
    tapers=True,
)
def sdcg(at: At, *, max_grade: MaxGrade = 4, min_grade: MinGrade = 0) -> pl.Expr:
    """DCG over that of k items of the highest grade, however many a user has: 1 is k such items, 0 no hit.

    Use it where a list of excellent items alone is good enough. Not where users have few relevant items: use `ndcg`.

    Scaled discounted cumulative gain: Σ over hits of h_r / log2(r + 1), over Σ over r = 1..k of 1 / log2(r + 1). So it is the
    mean gain of the items read by a reader who goes on from place r < k with probability C_r = log2(r + 1) / log2(r + 2).
    Gains with their `max_grade` and `min_grade`, what counts 0 and errors are those of insq; a k above 1,000 is 1,000. Where
    every relevant item has the highest grade it is `ndcg(ideal="k")`. Raises a RecframeError without a cut-off.

    >>> import polars as pl, recframe
    >>> df = pl.DataFrame({"user": [1] * 3, "item": [1, 2, 3], "rank": [1, 2, 3], "relevance": [2, 0, 4]})
    >>> round(df.rec.sdcg(k=3), 6)
    0.469279

    Source: Järvelin and Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques; ir_measures' SDCG.
    """
    return at.reader(
        lambda r, _: (r + 1).log() / (r + 2).log(),
        depth=_stop(at, "sdcg"),
        max_grade=max_grade,
        min_grade=min_grade,
    )


def _stop(at: At, name: str) -> int:
    """Return the place at which a reader stops."""
    if at.k is None:
        raise RecframeError(f"the reader of {name} stops at a cut-off: write {name}@10, or k=10")
    return min(at.k, DEPTH)
