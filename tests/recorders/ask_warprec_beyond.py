"""WarpRec beyond accuracy, on full lists: 32-bit numbers, entropy in nats, coverage as a count; users with a relevant item."""

from __future__ import annotations

import math

import torch
from answers_beyond import answer
from scenes import _nested
from scenes_beyond import KS, N_ITEMS
from warprec.evaluation.metrics.bias import ACLT, APLT, ARP
from warprec.evaluation.metrics.coverage import ItemCoverage
from warprec.evaluation.metrics.debiased import IPSDCG, SNIPSDCG, SNIPSRecall
from warprec.evaluation.metrics.diversity import Gini, ShannonEntropy
from warprec.evaluation.metrics.fairness import REO, RSP
from warprec.evaluation.metrics.novelty import EFD, EPC

PARTS = dict.fromkeys(KS, 1 / N_ITEMS)
BITS = dict.fromkeys(KS, 1 / math.log(2))
FAIR = ["truth", "train", "items"]
# the popularity over the highest, 0 where train does not have the item
OBSERVED = ["truth", "propensity"]
CALLS = {
    "ItemCoverage": (ItemCoverage, "coverage", ["items"], PARTS),
    "Gini": (Gini, "gini", ["items"], None),
    "ShannonEntropy": (ShannonEntropy, "entropy", ["items"], BITS),
    "ARP": (ARP, "popularity", ["train"], None),
    "APLT": (APLT, "long_tail_share", ["train", "items of train"], None),
    "ACLT": (ACLT, "long_tail_count", ["train", "items of train"], None),
    "EPC": (EPC, "epc(discount=log, relevance=true)", ["truth", "train"], None),
    "EFD": (EFD, "efd(discount=log, relevance=true)", ["truth", "train"], None),
    "RSP": (RSP, "exposure_disparity(of=genre)", FAIR, None),
    "REO": (REO, "exposure_disparity(of=genre, target=relevant)", FAIR, None),
    "SNIPSRecall": (SNIPSRecall, "recall(weights=snips, min_propensity=0.01)", OBSERVED, None),
    "SNIPSDCG": (SNIPSDCG, "dcg(weights=snips, min_propensity=0.01)", OBSERVED, None),
    "IPSDCG": (
        IPSDCG,
        "dcg(weights=ips, exponent=1, min_propensity=0.01)",
        ["truth", "train"],
        None,
    ),
}


def answers(name, scene):
    """Give every metric that both have."""
    if name != "full":
        return
    lists = _nested(scene.recs)
    items = {item: place for place, item in enumerate(sorted(scene.items))}
    users = {user: place for place, user in enumerate(lists)}
    seen, ground = torch.zeros(len(users), len(items)), torch.zeros(len(users), len(items))
    scores = torch.zeros_like(seen)
    for user, item in scene.train:
        seen[users[user], items[item]] = 1
    for user, item in scene.truth:
        ground[users[user], items[item]] = 1
    for user, item, score in scene.recs:
        scores[users[user], items[item]] = score
    scores[seen > 0] = -math.inf
    popularity = seen.sum(dim=0)
    known = {
        "num_users": len(users),
        "num_items": len(items),
        "item_interactions": popularity,
        "item_cluster": torch.tensor([scene.items[item][0] for item in items]),
        "propensity": (popularity / popularity.max()).clamp(min=0.01),
    }
    for call, (metric, ours, sides, factor) in CALLS.items():
        target = ground * (1 - seen) if "exposure" in ours else ground
        found = {k: _value(metric(k=k, **known), scores, target) for k in KS}
        values = {k: float(value.nanmean()) for k, value in found.items()}
        lines = {
            k: {user: float(value[place]) for user, place in users.items()}
            for k, value in found.items()
            if value.dim()
        }
        yield answer(name, call, ours, values, users=lines or None, sides=sides, factor=factor)


def _value(metric, scores, ground):
    indices = torch.topk(scores, metric.k, dim=1).indices
    blocks = {
        "ground": ground,
        "binary_relevance": ground,
        "valid_users": (ground > 0).any(dim=1).float(),
    }
    blocks |= {
        f"top_{metric.k}_indices": indices,
        f"top_{metric.k}_binary_relevance": torch.gather(ground, 1, indices),
    }
    metric.update(scores, user_indices=torch.arange(len(scores)), **blocks)
    return torch.as_tensor(next(reversed(metric.compute().values())))
