"""RecBole beyond accuracy, on full lists; it counts an item more than there is, for padding, which is left out here."""

from __future__ import annotations

from collections import Counter

import numpy as np

# NOTE: recbole 1.2.1 writes np.float, which NumPy no longer has; it was Python's float.
np.float = float  # noqa: NPY001

import torch  # noqa: E402
from answers_beyond import answer  # noqa: E402
from recbole.evaluator.collector import DataStruct  # noqa: E402
from recbole.evaluator.metrics import AveragePopularity, GiniIndex, ItemCoverage, TailPercentage  # noqa: E402
from scenes import _nested  # noqa: E402
from scenes_beyond import FULL, KS, N_ITEMS  # noqa: E402


def answers(name, scene):
    """Give every metric that both have."""
    if name != "full":
        return
    # numbers in the order of the names, which decides between items of one popularity
    number = {item: place for place, item in enumerate(sorted(scene.items))}
    lists = [[number[item] for item in items] for items in _nested(scene.recs).values()]
    data = DataStruct()
    data.set("rec.items", torch.tensor([row[:FULL] for row in lists]))
    data.set("data.num_items", N_ITEMS)
    data.set("data.count_items", Counter(number[item] for _, item in scene.train))
    yield answer(name, "ItemCoverage", "coverage", _values(ItemCoverage, data), sides=["items"])
    yield answer(name, "GiniIndex", "gini(normalizer=n)", _values(GiniIndex, data), sides=["items"])
    yield answer(name, "AveragePopularity", "popularity", _values(AveragePopularity, data))
    for ratio, share in ((0.1, 0.9), (0.35, 0.65)):  # of the tail, and of the head
        values = _values(TailPercentage, data, tail_ratio=ratio)
        ours = f"long_tail_share(tail=items, share={share})"
        yield answer(
            name,
            f"TailPercentage(tail_ratio={ratio})",
            ours,
            values,
            sides=["train", "items of train"],
        )


def _values(metric, data, tail_ratio=None):
    config = {"topk": list(KS), "metric_decimal_place": 15, "tail_ratio": tail_ratio}
    found = metric(config).calculate_metric(data)
    return {k: float(found[f"{metric.__name__.lower()}@{k}"]) for k in KS}
