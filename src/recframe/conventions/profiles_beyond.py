"""What the libraries of `profiles` have beyond accuracy, and of curves: for each metric the switches of its library.

Each is held against numbers that the library gave (tests/recorded). Elliot is not among them: it was not run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WHOLE = {"k": None}
# m_iprec_at_recall.c, m_11pt_avg.c: (long) (recall * num_rel + 0.9); from version 10 on lround(recall * num_rel)
CURVE = {**WHOLE, "rounding": "tenth"}
OF_CURVES = {"interpolated_precision": CURVE, "eleven_point_precision": CURVE}
FULL_LISTS = "full lists"
ITEMS_OF_TRAIN = "its catalogue is the items of train: give those as items="


@dataclass(frozen=True)
class Beyond:
    """Entries of a profile, its names that mean something else, and what the switches cannot say."""

    metrics: Mapping[str, Mapping[str, Any]]
    instead: Mapping[str, str] = field(default_factory=dict)
    notes: str = ""


BEYOND: Mapping[str, Beyond] = {
    "trec_eval": Beyond(OF_CURVES),  # gm_map: map(average="geometric")
    "ir_measures": Beyond(OF_CURVES),
    "pytrec_eval": Beyond(OF_CURVES),
    "rectools": Beyond(
        {
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
        notes="popularity counts rows of train there, here pairs; of several features its Hamming distance is their number",
    ),
    "replay": Beyond(
        {
            "auc": {"without_pair": "hit"},  # RocAuc
            "coverage": {"ties": "order"},
            "category_coverage": {"denominator": "k"},  # CategoricalDiversity
            "unexpectedness": {"denominator": "k", "without_reference": "zero"},
        },
        instead={
            "novelty": "RePlay's Novelty is 1 - repeat_rate, over the users of train, of whom one without a list counts 1; its "
            "Surprisal is novelty(normalized=True, denominator='k'): ask for those without a profile"
        },
        notes=f"{ITEMS_OF_TRAIN}; ties of coverage are those of its Polars, on pandas they go by item as the others do; its "
        "Novelty counts a user of train without a list as 1",
    ),
    "recbole": Beyond(
        {
            "coverage": {},  # ItemCoverage
            "gini": {"normalizer": "n"},  # GiniIndex
            "popularity": {},  # AveragePopularity
            "long_tail_share": {"tail": "items", "share": 0.9},  # TailPercentage, tail_ratio 0.1
        },
        instead={
            "entropy": "RecBole's ShannonEntropy is in nats, over the number of recommended items"
        },
        notes="coverage and gini count an item more than there is, for padding: give one more in items=; its tail is "
        "of the items of train",
    ),
    "recpack": Beyond(
        {
            "coverage": {},  # CoverageK
            "diversity": {"distance": "jaccard", "single": "zero"},  # IntraListDiversityK
        }
    ),
    "microsoft": Beyond(
        {
            "coverage": {},  # catalog_coverage
            "entropy": {},  # distributional_coverage
            "efd": {"cold": "zero", "average": "rows"},  # novelty
            "diversity": {},
            "serendipity": {"universe": "recs"},
        },
        instead={"novelty": "Microsoft's novelty is that of interactions: ask for efd"},
        notes=f"{ITEMS_OF_TRAIN}; its lists have no k; items are alike by their train users unless it is given a feature",
    ),
    "lenskit": Beyond(
        {
            "gini": {"normalizer": "n"},  # ListGini; ExposureGini: weight="geometric"
            "popularity": {"normalizer": "quantile"},  # MeanPopRank
            "rbo": {"p": 0.85, "form": "truncated"},  # rank_biased_overlap
        },
        instead={
            "entropy": "LensKit's entropy is that of the categories inside one list, averaged over the lists"
        },
        notes=f"its rank_biased_overlap goes on to n past the end of short lists: the same here on {FULL_LISTS}",
    ),
    "torchmetrics": Beyond(
        {},
        instead={
            "fall_out": "RetrievalFallOut is over the misses of the list that it is given, not of the catalogue"
        },
    ),
    "jurity": Beyond(
        {
            "personalization": {},  # InterListDiversity of all users
            "diversity": {},  # IntraListDiversity of all users
        }
    ),
    "evidently": Beyond(
        {
            "coverage": {},  # PopularityBias(metric="coverage")
            "novelty": {"cold": "drop"},
            "popularity": {},  # PopularityBias; normalize_arp=True: normalizer="max"
            "personalization": {},
        },
        instead={
            "diversity": "Evidently's Diversity divides the sum over the pairs by the length of the list",
            "gini": "Evidently's is over the recommended items alone",
            "serendipity": "Evidently's sums over hits without dividing by their number, and falls below 0",
        },
        notes=f"{ITEMS_OF_TRAIN}; cold items leave its popularity; its personalization is the same here on {FULL_LISTS}",
    ),
}
