"""The metrics as methods of `.rec`, a line for each, so that type checkers and editors know them."""

from __future__ import annotations

from recframe.metrics import (
    accuracy,
    accuracy_curves,
    calibration_metrics,
    catalogue_metrics,
    diversity_metrics,
    exposure_metrics,
    personalization_metrics,
    popularity_metrics,
    reference_metrics,
    serendipity_metrics,
)


class Methods:
    """Every metric of recframe by its name."""

    hit_rate = accuracy.hit_rate
    precision = accuracy.precision
    recall = accuracy.recall
    f_score = accuracy.f_score
    map = accuracy.map
    interpolated_precision = accuracy_curves.interpolated_precision
    mrr = accuracy.mrr
    dcg = accuracy.dcg
    ndcg = accuracy.ndcg
    r_precision = accuracy.r_precision
    rbp = accuracy.rbp
    err = accuracy.err
    bpref = accuracy.bpref
    auc = accuracy.auc
    partial_auc = accuracy_curves.partial_auc
    n_hits = accuracy.n_hits
    first_rank = accuracy.first_rank
    list_length = accuracy.list_length
    judged = accuracy.judged
    coverage = catalogue_metrics.coverage
    user_coverage = catalogue_metrics.user_coverage
    gini = catalogue_metrics.gini
    entropy = catalogue_metrics.entropy
    fall_out = catalogue_metrics.fall_out
    mcc = catalogue_metrics.mcc
    personalization = personalization_metrics.personalization
    novelty = popularity_metrics.novelty
    epc = popularity_metrics.epc
    efd = popularity_metrics.efd
    popularity = popularity_metrics.popularity
    long_tail_share = popularity_metrics.long_tail_share
    long_tail_count = popularity_metrics.long_tail_count
    tail_coverage = popularity_metrics.tail_coverage
    popularity_lift = popularity_metrics.popularity_lift
    repeat_rate = popularity_metrics.repeat_rate
    diversity = diversity_metrics.diversity
    category_coverage = diversity_metrics.category_coverage
    alpha_ndcg = diversity_metrics.alpha_ndcg
    miscalibration = calibration_metrics.miscalibration
    serendipity = serendipity_metrics.serendipity
    exposure_share = exposure_metrics.exposure_share
    exposure_disparity = exposure_metrics.exposure_disparity
    overlap = reference_metrics.overlap
    unexpectedness = reference_metrics.unexpectedness
    rbo = reference_metrics.rbo
