"""Evidently beyond accuracy: on full lists, as it takes every list to have k items; it leaves cold items out."""

from __future__ import annotations

import pandas as pd
from answers_beyond import answer
from evidently import DataDefinition, Dataset, Recsys, Report
from evidently.metrics import Diversity, Novelty, Personalization, PopularityBiasMetric
from scenes_beyond import KS

VECTOR = [f"v{place}" for place in range(4)]


def answers(name, scene):
    """Give every metric that both have."""
    data, train = _frames(scene)
    calls = [("Novelty", Novelty, {}, "novelty(cold=drop)", ["train"], KS)]
    coverage = ("coverage", ["items of train"])
    calls.append(
        ("PopularityBias(coverage)", PopularityBiasMetric, {"metric": "coverage"}, *coverage, KS)
    )
    if name == "full":
        arp = ("popularity", ["train"])
        calls += [
            ("PopularityBias", PopularityBiasMetric, {}, *arp, KS),
            (
                "PopularityBias(normalize_arp=True)",
                PopularityBiasMetric,
                {"normalize_arp": True},
                "popularity(normalizer=max)",
                ["train"],
                KS,
            ),
            ("Personalization", Personalization, {}, "personalization", [], KS),
            (
                "Diversity",
                Diversity,
                {"item_features": VECTOR},
                "diversity(of=vector)",
                ["items"],
                KS[1:],
            ),
        ]
    for call, metric, parameters, ours, sides, cuts in calls:
        values = {k: _value(metric(k=k, **parameters), data, train) for k in cuts}
        # it divides the sum over pairs by the number of items
        factor = {k: 2 / (k - 1) for k in cuts} if metric is Diversity else None
        yield answer(name, call, ours, values, sides=sides, factor=factor)


def _frames(scene):
    truth = set(scene.truth)
    vectors = {item: row[1] for item, row in scene.items.items()}
    rows = [(*row, int(row[:2] in truth), *vectors[row[1]]) for row in scene.ranked(scene.recs)]
    frame = pd.DataFrame(rows, columns=["user_id", "item_id", "prediction", "target", *VECTOR])
    rows = [(*row, *vectors[row[1]]) for row in scene.train]
    train = pd.DataFrame(rows, columns=["user_id", "item_id", *VECTOR])
    ranking = Recsys(
        user_id="user_id",
        item_id="item_id",
        prediction="prediction",
        target="target",
        recommendations_type="rank",
    )
    return Dataset.from_pandas(frame, data_definition=DataDefinition(ranking=[ranking])), train


def _value(metric, data, train):
    result = (
        Report([metric])
        .run(data, None, additional_data={"current_train_data": train})
        .dict()["metrics"][0]
    )
    return float(result["value"])
