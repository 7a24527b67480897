"""RecTools beyond accuracy: users with a list, for MCC and serendipity those of the truth too."""

from __future__ import annotations

import numpy as np
import pandas as pd
from answers_beyond import answer
from rectools import Columns
from rectools import metrics as peer
from rectools.metrics.distances import PairwiseHammingDistanceCalculator
from scenes_beyond import KS

RECS, PAIR = [Columns.User, Columns.Item, Columns.Rank], [Columns.User, Columns.Item]


def answers(name, scene):
    """Give every metric that both have."""
    recs = pd.DataFrame(scene.ranked(scene.recs), columns=RECS)
    reference = pd.DataFrame(scene.ranked(scene.reference), columns=RECS)
    truth, train = pd.DataFrame(scene.truth, columns=PAIR), pd.DataFrame(scene.train, columns=PAIR)
    catalogue = list(scene.items)
    genres = pd.DataFrame({"genre": {item: float(row[0]) for item, row in scene.items.items()}})
    hamming = PairwiseHammingDistanceCalculator(genres)
    calls = [
        ("MeanInvUserFreq", peer.MeanInvUserFreq, {}, (train,), "novelty", ["train"]),
        ("AvgRecPopularity", peer.AvgRecPopularity, {}, (train,), "popularity", ["train"]),
        (
            "AvgRecPopularity(normalize=True)",
            peer.AvgRecPopularity,
            {"normalize": True},
            (train,),
            "popularity(normalizer=interactions)",
            ["train"],
        ),
        ("Intersection", peer.Intersection, {}, (reference,), "overlap", ["reference"]),
        (
            "Intersection(ref_k=5)",
            peer.Intersection,
            {"ref_k": 5},
            (reference,),
            "overlap(reference_k=5)",
            ["reference"],
        ),
        (
            "IntraListDiversity(Hamming)",
            peer.IntraListDiversity,
            {"distance_calculator": hamming},
            (),
            "diversity(of=genre, single=zero)",
            ["items"],
        ),
        (
            "Serendipity",
            peer.Serendipity,
            {},
            (truth, train, catalogue),
            "serendipity(against=popularity)",
            ["truth", "train", "items"],
        ),
        ("MCC", peer.MCC, {}, (truth, catalogue), "mcc(denominator=k)", ["truth", "items"]),
    ]
    for call, metric, parameters, told, ours, sides in calls:
        made = {k: metric(k=k, **parameters) for k in KS}
        values = {k: one.calc(recs, *told) for k, one in made.items()}
        users = {k: _numbers(one.calc_per_user(recs, *told)) for k, one in made.items()}
        yield answer(name, call, ours, values, users=users, sides=sides)
    covered = {k: peer.CoveredUsers(k=k).calc(recs, truth) for k in KS}
    yield answer(name, "CoveredUsers", "user_coverage", covered, sides=["truth"])
    coverage = {k: peer.CatalogCoverage(k=k, normalize=True).calc(recs, catalogue) for k in KS}
    yield answer(name, "CatalogCoverage(normalize=True)", "coverage", coverage, sides=["items"])


def _numbers(series):
    return {user: None if np.isnan(value) else float(value) for user, value in series.items()}
