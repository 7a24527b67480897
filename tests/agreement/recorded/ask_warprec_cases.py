"""WarpRec's gaps of user groups, case by case, in float32."""

from __future__ import annotations

import math

import torch
from answers_cases import answer
from scenes_cases import N_ITEMS, groups_of
from warprec.evaluation.metrics.fairness import UserMADRanking

KS = (1, 3, 10)
BINARY_GAIN = 3  # 2 ** (grade + 1) - 1 of grade 1


def answers(name, scene):
    """Give the gaps of cases with two groups, on the scene with four users a case."""
    if name == "small":
        yield from _gaps(name, scene)


def _gaps(name, scene):
    cases = {}
    for user in scene.lists():
        cases.setdefault(scene.case(user), []).append(user)
    users = {k: {} for k in KS}
    for case, own in cases.items():
        scores, ground = _matrices(scene, own)
        of_users = torch.tensor([groups_of(user) for user in own])
        for k in KS:
            metric = UserMADRanking(k=k, num_users=len(own), user_cluster=of_users)
            users[k][case] = _computed(metric, scores, _blocks(scores, ground, k))
    yield answer(name, "UserMADRanking", None, users, gaps="ndcg")


def _matrices(scene, users):
    judged, lists = scene.relevances(), scene.lists()
    scores = torch.full((len(users), N_ITEMS), -math.inf)
    ground = torch.zeros(len(users), N_ITEMS)
    for row, user in enumerate(users):
        for item, score in lists[user].items():
            scores[row, int(item[1:])] = score
        for item, grade in judged[user].items():
            ground[row, int(item[1:])] = grade
    return scores, ground


def _blocks(scores, ground, k):
    indices = torch.topk(scores, k, dim=1).indices
    gains = ground * BINARY_GAIN
    return {
        "ground": ground,
        "binary_relevance": ground,
        "discounted_relevance": gains,
        "valid_users": (ground > 0).any(dim=1).float(),
        f"top_{k}_indices": indices,
        f"top_{k}_binary_relevance": torch.gather(ground, 1, indices),
        f"top_{k}_discounted_relevance": torch.gather(gains, 1, indices),
    }


def _computed(metric, scores, blocks):
    metric.update(scores, user_indices=torch.arange(len(scores)), **blocks)
    return float(next(iter(metric.compute().values())))
