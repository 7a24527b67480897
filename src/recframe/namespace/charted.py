"""The property of `rec` that draws charts."""

from __future__ import annotations

from typing import Generic

from recframe.namespace.bound_metric import F
from recframe.namespace.plots import Plot


class Charted(Generic[F]):
    """The property that draws."""

    @property
    def plot(self) -> Plot:
        """Charts of these frames: `rec.plot.curve("ndcg")`, and others; `rec.plot(theme="dark", width=400)` says how they look.

        They are Altair's, need `pip install 'recframe[plot]'`, and are drawn of numbers that are summed up before: of a
        LazyFrame, too, whose plan is then collected.

        >>> import polars as pl, recframe
        >>> df = pl.DataFrame({"user": [1, 2], "item": [1, 1], "rank": [1, 2], "relevance": [1, 1]})
        >>> chart = df.rec.plot.curve("recall", k=[1, 2])
        >>> chart.to_dict()["title"]["text"]
        ['recall over the cut-off k']
        """
        return Plot(self)
