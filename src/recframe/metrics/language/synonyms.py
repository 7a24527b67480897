"""What the field calls a metric: names of papers and of other libraries, each with the metric's own string form."""

from __future__ import annotations

import re

_NAMES = {
    "hit_rate": "hits, hit ratio, hits rate, hit_rate_score, success rate, hit_at, any_hit, "
    "top k accuracy, top_k_accuracy_score",
    "n_hits": "number of hits, num_hits, hit count, true positives, tp",
    "precision": "prec, precision score, positive predictive value",
    "precision(average=pooled)": "micro precision, micro averaged precision, pooled precision",
    "recall": "recall score, sensitivity, true positive rate, tpr",
    "recall(denominator=capped)": "recall_cap, capped recall",
    "recall(average=pooled)": "micro recall, micro averaged recall, pooled recall",
    "f_score": "f1 score, f measure, f1 measure, fmeasure, f beta",
    "f_score(beta=2)": "f2, f2 score",
    "f_score(average=pooled)": "micro f1, micro f1 score, micro f score, micro averaged f1, pooled f1",
    "map": "mean average precision, average precision, avg precision, mean ap, average_precision_score",
    "map(average=geometric)": "gmap, gm_map, geometric map, geometric mean average precision",
    "eleven_point_precision": "11pt_avg, 11 point average precision, eleven point average precision, "
    "eleven point interpolated average precision",
    "interpolated_precision": "iprec_at_recall, interpolated recall precision",
    "hit_rate@1": "success at first, hit at first, hits at first, top 1 accuracy, top1 hit rate",
    "mrr": "reciprocal rank, mean reciprocal rank, recip rank, inverse rank",
    "dcg": "discounted cumulative gain, discounted gain, dcg score",
    "dcg(gain=exp)": "exponential dcg",
    "ndcg": "normalized discounted cumulative gain, normalised discounted cumulative gain, normalized dcg, ndcg score, "
    "ndcg_cut",
    "ndcg(gain=exp)": "exponential ndcg, ndcg_exp",
    "rbp": "rank biased precision",
    "err": "expected reciprocal rank",
    "bpref": "binary preference",
    "gauc": "nauc, group auc, grouped auc, wuauc, weighted user auc, impression weighted auc",
    "auc": "uauc, user auc, roc auc, area under curve, area under the curve, roc auc score, auroc",
    "first_rank": "rank of first hit, first relevant rank, first hit",
    "list_length": "n_recommendations, number of recommendations, list size",
    "judged": "judged share",
    "coverage": "catalog coverage, catalogue coverage, item coverage, item space coverage, aggregate diversity, "
    "prediction coverage, aggdiv",
    "user_coverage": "user space coverage",
    "gini": "gini index, gini coefficient",
    "entropy": "shannon entropy, item entropy",
    "fall_out": "false positive rate, fpr",
    "mcc": "matthews correlation, matthews correlation coefficient, matthews",
    "diversity": "intra list diversity, intralist diversity, intra list distance",
    "miscalibration": "calibration error, kl calibration, c_kl",
    "alpha_ndcg": "andcg, a_ndcg",
    "personalization": "personalisation, inter list diversity, inter user diversity, interlist diversity",
    "novelty": "mean self information, surprisal, mean inverse user frequency",
    "epc": "expected popularity complement",
    "efd": "expected free discovery",
    "popularity": "average popularity, average recommendation popularity, avg popularity, mean popularity",
    "long_tail_share": "long tail, average percentage of long tail items, tail percentage, long tail percentage",
    "popularity_lift": "pop lift",
    "rbo": "rank biased overlap",
    "value": "revenue per user, price weighted hits, profit, gmv, basket value",
}


def folded(name: str) -> str:
    """Return a name without what writers of it differ in: cases, and what stands between its words."""
    return re.sub(r"[\W_]+", "", name).casefold()


FORMS = {folded(name): form for form, names in _NAMES.items() for name in names.split(",")}
"""The string form of each name, folded."""


_ELSEWHERE = {
    "sklearn.metrics.root_mean_squared_error(rating, prediction)": "rmse, root mean squared error, root mean square error",
    "sklearn.metrics.mean_squared_error(rating, prediction)": "mse, mean squared error",
    "sklearn.metrics.mean_absolute_error(rating, prediction)": "mae, mean absolute error",
    "sklearn.metrics.median_absolute_error(rating, prediction)": "median absolute error",
    "sklearn.metrics.mean_absolute_percentage_error(rating, prediction)": "mape, mean absolute percentage error",
    "sklearn.metrics.r2_score(rating, prediction)": "r2, r2 score, r squared, coefficient of determination",
    "sklearn.metrics.explained_variance_score(rating, prediction)": "explained variance, explained variance score, exp var",
    "sklearn.metrics.log_loss(clicked, probability)": "logloss, log loss, cross entropy, binary cross entropy, bce",
    "sklearn.metrics.brier_score_loss(clicked, probability)": "brier, brier score",
    "sklearn.metrics.roc_auc_score(clicked, score)": "pooled auc, global auc, overall auc, stacked auc, micro auc",
}
CALLS = {folded(name): call for call, names in _ELSEWHERE.items() for name in names.split(",")}
"""Where metrics of predictions are measured, by their names, folded."""


def elsewhere(name: object) -> str:
    """Return what to say of a metric of predictions, one row at a time, which is none of rankings; nothing for any other."""
    call = CALLS.get(folded(name), "") if isinstance(name, str) else ""
    if not call:
        return ""
    what = "how far predictions are from what happened, row by row"
    return f"not here, since recframe measures rankings, and that is {what}; use {call}"


def form_of(name: str) -> str:
    """Return the string form of a metric that the field has under another name; nothing for any other name."""
    return FORMS.get(folded(name), "")


_WITH_CUT = re.compile(r"(.*?[^\W\d])[\W_]*(?:at|@)[\W_]*(\d+|k)", re.IGNORECASE)
_WITH_NUMBER = re.compile(r"(.*?[^\W\d])[\W_]*()(\d+)")


def cut_off(name: str) -> tuple[str, str]:
    """Return a name and the cut-off that is written into it, as in `ndcg_at_10`, `recall_at_k` or `ndcg_10`."""
    parts = _WITH_CUT.fullmatch(name) or _WITH_NUMBER.fullmatch(name)
    return (parts[1], parts[parts.lastindex or 0]) if parts else (name, "")


_ARGUMENTS = {
    "k": "top k, k top, top, top n, at, at k, k at, cut off, cut, n, k list, k values, max k, k max, depth",
    "by": "group by, grouped by, groups, group, group cols, group columns, segment, segments, segment by, slice by, "
    "split by, partition by, per, over",
}
ARGUMENTS = {folded(name): own for own, names in _ARGUMENTS.items() for name in names.split(",")}
"""The arguments of each call, `k` and `by`, by the names that others have for them, folded."""


def argument_of(name: str) -> str:
    """Return the argument of each call that a name means, `k` or `by`; nothing for any other name."""
    return name if name in _ARGUMENTS else ARGUMENTS.get(folded(name), "")
