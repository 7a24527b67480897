"""Profiles of other libraries as data: switches that reproduce their numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import polars as pl

from recframe.errors import RecframeError, shown, suggestion
from recframe.frames.options import DEFAULTS

WHOLE = {"k": None}
"""Switches of a metric that a library computes only for the whole list."""
# m_iprec_at_recall.c, m_11pt_avg.c: (long) (recall * num_rel + 0.9); from version 10 on lround(recall * num_rel)
CURVE = {**WHOLE, "rounding": "tenth"}
OF_CURVES = {"interpolated_precision": CURVE, "eleven_point_precision": CURVE}
FULL_LISTS = "full lists"
ITEMS_OF_TRAIN = "its catalogue is the items of train: give those as items="

Switches = Mapping[str, Any]


class Profile(NamedTuple):
    """Conventions of one library: global policies, and parameters by metric.

    A switch that is not named has recframe's own default. Ties matter only where ranks are made from scores.
    """

    source: str
    """Version whose code was read, and its files."""
    policies: Switches
    metrics: Mapping[str, Switches]
    notes: str
    """Behaviour without a switch: numbers that long frames do not hold, defects that are not reproduced."""
    instead: Mapping[str, str] = MappingProxyType({})
    """Names with another meaning in that library, and the metric to use."""
    cut: Mapping[str, Switches] = MappingProxyType({})
    """Additional switches by metric, used only with a cut-off."""


PROFILES: dict[str, Profile] = {}
OF_TREC_EVAL: Mapping[str, Switches] = {
    "hit_rate": {},  # m_success.c
    "precision": {},  # m_P.c: / k, even for a shorter list
    "recall": {},  # m_recall.c
    "f_score": WHOLE,  # m_set_F.c: P / list length
    "map": {},  # m_map.c, m_map_cut.c: / n_relevant
    "ndcg": {},  # m_ndcg_cut.c, m_ndcg.c: linear gain, ideal of the whole truth
    "r_precision": WHOLE,  # m_Rprec.c
    "bpref": WHOLE,  # m_bpref.c
    "n_hits": WHOLE,  # m_num_rel_ret.c
    "list_length": WHOLE,  # m_num_ret.c
}

PROFILES["trec_eval"] = Profile(
    source="trec_eval 9.0.4 to 10.0 with -c (meas_avg.c, m_P.c, m_recall.c, m_map.c, m_ndcg_cut.c, ...); RR@k, ERR, RBP and "
    "Judged as ir_measures 0.4.3 adds them",
    # form_res_rels.c: by float32 score, then by item id as text, both descending; binary measures from the level up.
    # meas_avg.c divides by the number of queries, those without a relevant document too.
    policies={
        "universe": "truth",
        "no_relevant": "zero",
        "min_relevance_for": "binary",
        "ties": "item_desc",
    },
    metrics={
        **OF_TREC_EVAL,
        "mrr": {},  # m_recip_rank.c
        "err": {"ties": "item_text_reverse"},  # gdeval.pl, grades up to 4
        "rbp": {"ties": "order"},  # cwl_eval sorts by score alone
        "judged": {"ties": "item_text"},  # judged_provider.py
        **OF_CURVES,  # gm_map: map(average="geometric")
    },
    # m_recip_rank.c has no cut-off: RR@k is msmarco_provider.py's
    cut={"mrr": {"ties": "item_text"}},
    notes="without -c users need a list too: universe='both'; the rank column is ignored there: give scores; the program "
    "prints 4 decimals, and num_ret and num_rel_ret as sums; interpolated_precision and eleven_point_precision are those of 9, "
    "and 10 has rounding='nearest'",
)
PROFILES["ir_measures"] = PROFILES["trec_eval"]._replace(
    source="ir_measures 0.4.3, calc_aggregate",
    notes="the rank column is ignored there: give scores; NumRet and NumRelRet are sums there; ERR has 5 decimals, and "
    "so has ndcg(gain=exp), whose scores it compares in 64 bits",
)
PROFILES["pytrec_eval"] = Profile(
    source="pytrec_eval_terrier 0.5.11, the mean over the users that it returns",
    policies={**PROFILES["trec_eval"].policies, "universe": "both"},  # cvangysel/pytrec_eval#30
    metrics={**OF_TREC_EVAL, "mrr": WHOLE, **OF_CURVES},  # m_recip_rank.c
    notes="recip_rank, Rprec, bpref and set_F have no cut-off",
)
PROFILES["ranx"] = Profile(
    source="ranx 0.3.21 with make_comparable=True (ranx/metrics/*.py)",
    policies={
        "universe": "truth",
        "no_relevant": "zero",
        "ties": "order",
    },
    metrics={
        "hit_rate": {},
        "precision": {},
        "recall": {},
        "f_score": {},
        "map": {},
        "mrr": {},
        "dcg": {},
        "ndcg": {},  # ndcg_burges: gain="exp"
        "r_precision": WHOLE,
        "bpref": WHOLE,
        "n_hits": {},
        "rbp": WHOLE,
    },
    notes=(
        "lists of more than 15 items are sorted unstably there, so no order of rows reproduces their ties; a bpref "
        "without a relevant item is a division by zero there that makes every later user 0, and it is NaN where no item "
        "is judged not relevant; rbp multiplies each hit by its grade, and can exceed 1: the same here only on binary "
        "relevance"
    ),
)
PROFILES["rectools"] = Profile(
    source="RecTools 0.19.0 (metrics/classification.py, metrics/ranking.py)",
    policies={"universe": "truth", "min_relevance": "any"},
    metrics={
        "hit_rate": {},
        "precision": {},  # r_precision=True: denominator="achievable"
        "recall": {},
        "f_score": {},
        "map": {},  # divide_by_k=True: normalizer="k"
        "mrr": {},
        "ndcg": {"gain": "binary", "ideal": "k"},  # divide_by_achievable=True: ideal="relevant"
        "partial_auc": WHOLE,  # PartialAUC, its k is misses=; PAP: hits="first"
        "coverage": {},  # CatalogCoverage(normalize=True); a count without it
        "user_coverage": {},  # CoveredUsers
        "mcc": {"denominator": "k"},
        "novelty": {},  # MeanInvUserFreq
        "popularity": {},  # AvgRecPopularity; normalize=True: normalizer="interactions"
        # IntraListDiversity by Hamming distance of one feature
        "diversity": {"single": "zero"},
        "serendipity": {"universe": "recs", "against": "popularity"},
        "overlap": {},  # Intersection
    },
    notes="popularity counts rows of train there, pairs here; with several features its Hamming distance is their number",
    instead={"r_precision": "RecTools' r_precision is precision(denominator='achievable')"},
)
PROFILES["replay"] = Profile(
    source="RePlay 0.22.0 (replay/metrics/*.py)",
    policies={"universe": "truth", "min_relevance": "any", "ties": "item_reverse"},
    metrics={
        "hit_rate": {},
        "precision": {},
        "recall": {},
        "map": {"normalizer": "min"},
        "mrr": {},
        "ndcg": {"gain": "binary"},
        "auc": {"without_pair": "hit"},  # RocAuc
        "coverage": {"ties": "order"},
        "category_coverage": {"denominator": "k"},  # CategoricalDiversity
        "unexpectedness": {"denominator": "k", "without_reference": "zero"},
    },
    notes="a missing score ranks first there on Polars, last here; "
    f"{ITEMS_OF_TRAIN}; ties of coverage are those of its Polars code, on pandas they are by item as in its other metrics; "
    "its Novelty counts a user of train without a list as 1",
    instead={
        "novelty": (
            "RePlay's Novelty is 1 - repeat_rate, over the users of train, where a user without a list counts 1; its "
            "Surprisal is novelty(normalized=True, denominator='k'): compute both without a profile"
        ),
    },
)
PROFILES["recbole"] = Profile(
    source="RecBole 1.2.1 (evaluator/metrics.py; metric_decimal_place)",
    policies={"universe": "truth", "min_relevance": "any", "decimals": 4},
    metrics={
        "hit_rate": {},
        "precision": {},
        "recall": {},
        "map": {"normalizer": "min"},
        "mrr": {},
        "ndcg": {"gain": "binary"},
        "coverage": {},  # ItemCoverage
        "gini": {"normalizer": "n"},  # GiniIndex
        "popularity": {},  # AveragePopularity
        "long_tail_share": {"tail": "items", "share": 0.9},  # TailPercentage, tail_ratio 0.1
    },
    notes="each of its test users has a full list; its ties are in no fixed order; AUC and GAUC need every item's score; "
    "coverage and gini count one more item, for padding: give one more in items=; its tail is that of the items of train",
    instead={
        "entropy": "RecBole's ShannonEntropy is in nats, over the number of recommended items"
    },
)
PROFILES["recpack"] = Profile(
    source="RecPack 0.3.6 (metrics/*.py)",
    policies={"universe": "truth", "no_relevant": "skip"},
    metrics={
        "n_hits": {},  # HitK
        "precision": {},
        "recall": {},  # CalibratedRecallK: denominator="capped"
        "mrr": {},
        "dcg": {"gain": "binary"},
        "ndcg": {"gain": "binary"},
        "coverage": {},  # CoverageK
        "diversity": {"distance": "jaccard", "single": "zero"},  # IntraListDiversityK
    },
    notes=(
        "for a matrix of 0 and 1: grades weigh hits there, and some of its numbers exceed 1; its ties are by the matrix "
        "index"
    ),
    instead={"hit_rate": "RecPack's HitK is the number of hits: use n_hits"},
)
PROFILES["elliot"] = Profile(
    source="Elliot fc27efed (evaluation/metrics/accuracy/*), with its default relevance threshold of 0",
    policies={"universe": "both", "no_relevant": "skip", "min_relevance": "any", "ties": "order"},
    metrics={
        "hit_rate": {},
        "precision": {},
        "recall": {},
        "f_score": {},
        "map": {"normalizer": "ranks"},  # its docstring states min(k, n_relevant)
        "mrr": {},
        # the gain is 2^(g - threshold + 1) - 1; in nDCGRendle2020 it is binary
        "ndcg": {"gain": "exp", "offset": 1},
    },
    notes="with a threshold t give min_relevance=t and ndcg(offset=1 - t); AUC, GAUC and LAUC need every item's score",
)
PROFILES["microsoft"] = Profile(
    source="recommenders 1.2.1 (evaluation/python_evaluation.py)",
    policies={"universe": "truth", "min_relevance": "any", "ties": "order"},
    metrics={
        "precision": {"universe": "both"},
        "recall": {"universe": "both"},
        "map": {"universe": "both"},  # map; map_at_k: normalizer="min"
        "ndcg": {"gain": "binary"},  # score_type raw: gain="linear"; exp: gain="exp"
        "r_precision": {"universe": "both", "without_hit": "null"},
        "coverage": {},  # catalog_coverage
        "entropy": {},  # distributional_coverage
        "efd": {"cold": "zero", "average": "rows"},  # novelty
        "diversity": {},
        "serendipity": {"universe": "recs"},
    },
    notes="precision, recall, map and r_precision run over fewer users than ndcg; with score_type raw or exp ndcg leaves out "
    f"users whose grades are all 0: no_relevant='null' and the lowest grade above 0 as min_relevance; {ITEMS_OF_TRAIN}; its "
    "lists have no k; items are similar by their train users unless a feature is given",
    instead={"novelty": "Microsoft's novelty is that of interactions: use efd"},
)
PROFILES["lenskit"] = Profile(
    source="LensKit 2026.4.0 (metrics/ranking/*.py), the means of MeasurementCollector",
    # a list without test items is NaN, which its means leave out
    policies={"universe": "recs", "no_relevant": "null", "min_relevance": "any", "ties": "order"},
    metrics={
        "hit_rate": {},
        "precision": {"no_relevant": "zero", "denominator": "list"},
        "recall": {"denominator": "capped"},
        "map": {"normalizer": "list"},
        "mrr": {},
        "dcg": {"gain": "binary", "discount": "unshifted"},
        "ndcg": {"gain": "binary", "discount": "unshifted"},
        "rbp": {"p": 0.85},
        "list_length": {"no_relevant": "zero", **WHOLE},  # ListLength
        "gini": {"normalizer": "n"},  # ListGini; ExposureGini: weight="geometric"
        "popularity": {"normalizer": "quantile"},  # MeanPopRank
        "rbo": {"p": 0.85, "form": "truncated"},  # rank_biased_overlap
    },
    notes="2025 counts lists without test items 0 in its list_summary: no_relevant='zero'; map raises an error there for such "
    "a list, here it has no value; its rank_biased_overlap continues to n after the end of short lists: the same here on "
    f"{FULL_LISTS}",
    instead={
        "entropy": "LensKit's entropy is that of the categories inside one list, averaged over the lists"
    },
)
PROFILES["torchmetrics"] = Profile(
    source="torchmetrics 1.9.0 (functional/retrieval/*.py), empty_target_action='neg', given the rows of the lists",
    policies={"universe": "recs", "relevant_from": "list"},
    metrics={
        "hit_rate": {},
        "precision": {},  # adaptive_k=True: denominator="list"
        "recall": {},
        "map": {"normalizer": "hits"},
        "mrr": {},
        "ndcg": {"ties": "expected"},
        "r_precision": WHOLE,
    },
    notes=(
        "in float32, scores too, so scores equal in 32 bits are tied; hits with a score of 0 or below do not count there "
        "in precision, recall, map and mrr; negative targets count as negative in its ndcg; ties except in ndcg are in no "
        "fixed order"
    ),
    instead={
        "auc": "RetrievalAUROC counts a list without a pair by empty_target_action; auc without a profile is null",
        "fall_out": "RetrievalFallOut is over the misses of the given list, not of the catalogue",
    },
)
PROFILES["sklearn"] = Profile(
    source="scikit-learn 1.9.1 (metrics/_ranking.py), given the rows of the lists",
    policies={"universe": "recs", "relevant_from": "list", "ties": "expected"},
    metrics={
        "dcg": {},  # dcg_score
        "ndcg": {},  # ndcg_score
        # average_precision_score, label_ranking_average_precision_score
        "map": {**WHOLE, "ties": "last"},
        "auc": WHOLE,  # roc_auc_score
    },
    notes="dense rows of the whole catalogue tie the items after the list; label_ranking_average_precision_score gives 1 to a "
    "list without relevant items",
)
PROFILES["lightgbm"] = Profile(
    source="LightGBM 4.7.0 (metric/rank_metric.hpp, metric/map_metric.hpp), given the rows of the lists",
    policies={"universe": "recs", "relevant_from": "list", "ties": "order"},
    metrics={
        "ndcg": {"gain": "exp", "without_relevant": "one"},
        "map": {"normalizer": "min", "without_relevant": "one"},
    },
    notes="a query without a relevant row counts 1: no_relevant='skip' leaves it out; gains are its default label_gain",
    instead={"auc": "LightGBM's auc is over the pairs of all rows, whatever their query"},
)
PROFILES["spark_mllib"] = Profile(
    source="Spark MLlib, RankingMetrics.scala, on the inner join of lists and truth",
    policies={"universe": "both", "min_relevance": "any", "ties": "order"},
    metrics={
        "precision": {},
        "recall": {},
        # meanAveragePrecisionAt(k); meanAveragePrecision: / n_relevant, the same without k
        "map": {"normalizer": "min"},
        "ndcg": {"gain": "binary"},
    },
    notes="with graded relevance its ideal takes the truth in the order of its array, which a frame does not have",
)
PROFILES["implicit"] = Profile(
    source="implicit 0.7.3 (evaluation.pyx, ranking_metrics_at_k)",
    policies={"universe": "truth", "min_relevance": "any", "ties": "order"},
    metrics={
        "precision": {"average": "pooled", "denominator": "achievable"},
        "map": {"normalizer": "min"},
        "ndcg": {"gain": "binary"},
        "auc": {"over": "catalogue"},
    },
    notes=(
        "its auc counts each place up to k without a hit as a miss, also after the end of a list, and falls below 0 if "
        "these exceed the items that are not relevant; its catalogue is the columns of the matrix: give those as items="
    ),
)
PROFILES["kaggle"] = Profile(
    source="ml_metrics 0.1.4 (average_precision.py), by the author of Kaggle's MAP@k",
    policies={"universe": "truth", "min_relevance": "any", "ties": "order"},
    metrics={"map": {"normalizer": "min"}},
    notes="users without an answer are not scored",
)
PROFILES["jurity"] = Profile(
    source="jurity (recommenders/*.py)",
    policies={"universe": "truth", "no_relevant": "skip"},
    metrics={
        "precision": {"universe": "both", "denominator": "list"},
        "recall": {},
        "map": {"universe": "both", "normalizer": "min"},
        "ndcg": {"gain": "binary", "ideal": "all"},
        "personalization": {},  # InterListDiversity of all users
        "diversity": {},  # IntraListDiversity of all users
    },
    notes="precision and map run over fewer users than recall and ndcg; its ties are in no fixed order",
)
PROFILES["evidently"] = Profile(
    source="Evidently 0.7.23 (legacy/metrics/recsys/*.py) as documented",
    # no_feedback_users=False: users with a relevant item in their list; True: no_relevant="zero"
    policies={"universe": "recs", "relevant_from": "list", "no_relevant": "skip"},
    metrics={
        "hit_rate": {},
        "precision": {"denominator": "list"},
        "recall": {},
        "f_score": {"denominator": "list", "average": "means"},
        "map": {},
        "mrr": {},
        "ndcg": {},
        "coverage": {},  # PopularityBias(metric="coverage")
        "novelty": {"cold": "drop"},
        "popularity": {},  # PopularityBias; normalize_arp=True: normalizer="max"
        "personalization": {},
    },
    notes="its MAP depends on the order of rows and can exceed 1, and tied scores share one rank: not reproduced; "
    f"{ITEMS_OF_TRAIN}; its popularity leaves out cold items; its personalization is the same here on {FULL_LISTS}",
    instead={
        "diversity": "Evidently's Diversity divides the sum over the pairs by the length of the list",
        "gini": "Evidently's is over the recommended items alone",
        "serendipity": "Evidently's sums over hits without dividing by their number, and falls below 0",
    },
)

OWN = "recframe"
"""The name of recframe's own conventions, which hold without a profile."""


def known() -> list[str]:
    """Return the names of the profiles."""
    return [OWN, *PROFILES]


def check_name(name: object) -> None:
    """Raise an error that lists the profiles, for an unknown name."""
    # by its text, since an array is unequal to names by its elements
    if str(name) not in known():
        close = suggestion(str(name), known())
        raise RecframeError(
            f"unknown profile {shown(name)}{close or '; known are ' + ', '.join(known())}"
        )


def switches_of(name: str | None, metric: str, k: int | None) -> Switches:
    """Return what a profile sets for a metric, parameters and policies; say so where its library has no such metric."""
    if name not in PROFILES:
        return {}
    profile = PROFILES[name]
    if metric not in profile.metrics:
        other = f"; {profile.instead[metric]}" if metric in profile.instead else ""
        raise RecframeError(
            f"the profile {name!r} has no {metric}{other}. It has {', '.join(profile.metrics)}"
        )
    of_cut = {} if k is None else profile.cut.get(metric, {})
    found = {**profile.policies, **profile.metrics[metric], **of_cut}
    if found.pop("k", k) != k:
        raise RecframeError(
            f"the profile {name!r} has {metric} of the whole list alone; write {metric!r} without a cut-off"
        )
    return found


def policies_of(name: str | None) -> Switches:
    """Return the policies that a profile sets where no metric has others."""
    return PROFILES[name].policies if name in PROFILES else {}


def list_profiles() -> pl.DataFrame:
    """Return the profiles as a frame: the policies of each, its metrics with what they set, notes and source.

    A policy that a profile leaves alone has recframe's own value; null is none. `universe` is that of two frames.

    >>> import recframe as rf
    >>> rf.list_profiles().filter(profile="spark_mllib")["metrics"].item()
    'precision, recall, map(normalizer=min), ndcg(gain=binary)'
    """
    rows = []
    for name, profile in PROFILES.items():
        policies = {**DEFAULTS, **profile.policies}.items()
        row: dict[str, str | None] = {
            policy: None if one is None else str(one) for policy, one in policies
        }
        metrics = [_entry(profile, metric) for metric in profile.metrics]
        row |= {"metrics": ", ".join(metrics), "notes": profile.notes, "source": profile.source}
        rows.append({"profile": name, **row})
    return pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))


def _entry(profile: Profile, metric: str) -> str:
    """Return a metric with what a profile sets for it."""
    shown = [f"{name}={value}" for name, value in profile.metrics[metric].items()]
    shown += [f"with k: {name}={value}" for name, value in profile.cut.get(metric, {}).items()]
    return f"{metric}({', '.join(shown)})" if shown else metric
