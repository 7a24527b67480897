"""The metrics as methods of `.rec`, written by `python tests/surface/readme.py`; type checkers read methods.pyi beside it."""

from __future__ import annotations

from typing import Generic

from recframe import metrics
from recframe.namespace.bound_metric import F


class Methods(Generic[F]):
    """Every metric of recframe by its name."""

    hit_rate = metrics.hit_rate
    precision = metrics.precision
    recall = metrics.recall
    f_score = metrics.f_score
    map = metrics.map
    mrr = metrics.mrr
    dcg = metrics.dcg
    ndcg = metrics.ndcg
    r_precision = metrics.r_precision
    rbp = metrics.rbp
    err = metrics.err
    n_hits = metrics.n_hits
    first_rank = metrics.first_rank
    list_length = metrics.list_length
    judged = metrics.judged
    interpolated_precision = metrics.interpolated_precision
    eleven_point_precision = metrics.eleven_point_precision
    auc = metrics.auc
    bpref = metrics.bpref
    partial_auc = metrics.partial_auc
    gauc = metrics.gauc
    miscalibration = metrics.miscalibration
    coverage = metrics.coverage
    user_coverage = metrics.user_coverage
    gini = metrics.gini
    entropy = metrics.entropy
    fall_out = metrics.fall_out
    mcc = metrics.mcc
    diversity = metrics.diversity
    category_coverage = metrics.category_coverage
    alpha_ndcg = metrics.alpha_ndcg
    err_ia = metrics.err_ia
    nrbp = metrics.nrbp
    exposure_share = metrics.exposure_share
    exposure_disparity = metrics.exposure_disparity
    personalization = metrics.personalization
    novelty = metrics.novelty
    epc = metrics.epc
    efd = metrics.efd
    popularity = metrics.popularity
    long_tail_share = metrics.long_tail_share
    long_tail_count = metrics.long_tail_count
    tail_coverage = metrics.tail_coverage
    popularity_lift = metrics.popularity_lift
    repeat_rate = metrics.repeat_rate
    overlap = metrics.overlap
    unexpectedness = metrics.unexpectedness
    rbo = metrics.rbo
    corrected = metrics.corrected
    serendipity = metrics.serendipity
    value = metrics.value
