"""Every metric beyond accuracy with each choice of parameters that the tests try, and those that recframe has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recframe.metrics.language.registry import registered

TAILS = [
    {},
    {"share": 0.3},
    {"tail": "items"},
    {"tail": "items", "share": 0.3},
    {"tail": "items", "share": 0.9},
]
CHOICES: dict[str, list[dict[str, Any]]] = {
    "user_coverage": [{}, {"at_least": "k"}],
    "gini": [
        {},
        {"weight": "log"},
        {"weight": "geometric"},
        {"normalizer": "n"},
        {"weight": "log", "normalizer": "n"},
    ],
    "entropy": [
        {},
        {"weight": "log"},
        {"weight": "geometric"},
        {"normalized": True},
        {"log_base": 10},
    ],
    "mean_percentile_rank": [{}, {"average": "pairs"}],
    "mcc": [{}, {"denominator": "k"}],
    "novelty": [
        *(
            {},
            {"cold": "drop"},
            {"normalized": True},
            {"cold": "drop", "normalized": True, "log_base": 3},
        ),
        *(
            {"denominator": "k"},
            {"denominator": "k", "normalized": True},
            {"denominator": "k", "cold": "drop"},
        ),
    ],
    "epc": [{}, {"discount": "log"}, {"relevance": True}, {"discount": "log", "relevance": True}],
    "efd": [
        *(
            {},
            {"discount": "log"},
            {"relevance": True},
            {"discount": "log", "relevance": True, "log_base": 10},
        ),
        *({"cold": "zero"}, {"average": "rows"}, {"average": "rows", "cold": "zero"}),
        {"average": "rows", "cold": "zero", "discount": "log", "relevance": True},
    ],
    "popularity": [
        {},
        *({"normalizer": one} for one in ("users", "max", "interactions", "quantile")),
    ],
    "long_tail_share": [
        {},
        {"share": 0.3},
        {"tail": "items"},
        {"tail": "items", "share": 0.3},
        {"tail": "items", "share": 0.9},
    ],
    "long_tail_count": [
        {},
        {"share": 0.3},
        {"tail": "items"},
        {"tail": "items", "share": 0.3},
        {"tail": "items", "share": 0.9},
    ],
    "tail_coverage": TAILS,
    "popularity_lift": [{}, {"average": "users"}],
    "personalization": [
        {"similarity": similarity, "against": against}
        for similarity in ("cosine", "overlap")
        for against in ("segment", "all")
    ],
    "diversity": [
        *({"of": of} for of in ("genre", "tags", "vector")),
        *({"of": of, "distance": "jaccard"} for of in ("genre", "tags")),
        *({"of": of, "scaled": True} for of in ("genre", "tags", "vector")),
        *({"of": of, "single": "zero"} for of in ("tags", "vector")),
        {"of": "tags", "distance": "jaccard", "scaled": True, "single": "zero"},
    ],
    "category_coverage": [
        *({"of": of} for of in ("genre", "tags")),
        {"of": "genre", "denominator": "k"},
        *({"of": of, "relevance": True} for of in ("genre", "tags")),
        *({"of": of, "relevance": True, "denominator": "relevant"} for of in ("genre", "tags")),
    ],
    "category_entropy": [
        *({"of": of} for of in ("genre", "tags")),
        *({"of": of, "smoothing": 1e-6} for of in ("genre", "tags")),
        {"of": "tags", "weight": "geometric"},
        {"of": "genre", "weight": "geometric", "p": 0.5, "smoothing": 1},
    ],
    "alpha_ndcg": [
        {"of": "genre"},
        {"of": "tags"},
        {"of": "genre", "alpha": 0.2},
        {"of": "genre", "alpha": 1.0},
    ],
    "err_ia": [
        *({"of": of} for of in ("genre", "tags")),
        *({"of": of, "normalizer": "best"} for of in ("genre", "tags")),
        {"of": "tags", "alpha": 0.2},
        {"of": "genre", "alpha": 1, "normalizer": "best"},
    ],
    "nrbp": [
        *({"of": of} for of in ("genre", "tags")),
        *({"of": of, "normalizer": "best"} for of in ("genre", "tags")),
        {"of": "tags", "alpha": 0.2, "beta": 0.8},
        {"of": "genre", "alpha": 0, "beta": 0.8, "normalizer": "best"},
    ],
    "value": [
        *({"of": one} for one in ("price", "cost")),
        {"of": "price", "discount": "log"},
        *({"of": "price", "normalizer": one} for one in ("best", "relevant")),
        *({"of": "price", "normalizer": one, "discount": "log"} for one in ("best", "relevant")),
    ],
    "corrected": [
        {"n_items": 12, "n_negatives": n, "metric": metric, "gamma": gamma}
        for n, metric, gamma in ((2, "recall", 0.1), (3, "ndcg", 0.5), (4, "mrr", 1))
    ]
    + [{"n_items": 9, "n_negatives": 3, "estimator": "rank"}],
    "miscalibration": [
        *(
            {"of": of, "divergence": divergence}
            for of in ("genre", "tags")
            for divergence in ("kl", "js", "hellinger")
        ),
        *(
            {"of": "tags", "divergence": divergence, "weight": "log"}
            for divergence in ("kl", "js", "hellinger")
        ),
        {"of": "genre", "weight": "reciprocal"},
        {"of": "genre", "alpha": 0.5, "log_base": 10},
        {"of": "tags", "divergence": "js", "log_base": 10},
    ],
    "serendipity": [
        *({"of": of} for of in ("genre", "tags", "vector")),
        {"against": "popularity"},
        {"against": "reference"},
    ],
    "overlap": [
        {},
        {"reference_k": 2},
        {"denominator": "k"},
        {"denominator": "k", "reference_k": 2},
    ],
    "unexpectedness": [
        *({}, {"reference_k": 2}, {"denominator": "k"}, {"without_reference": "zero"}),
        {"denominator": "k", "without_reference": "zero"},
    ],
    "rbo": [
        {},
        {"p": 0.5},
        *({"form": form} for form in ("min", "truncated")),
        {"form": "min", "p": 0.5},
    ],
    "exposure_share": [{}, {"weight": "log"}],
    "exposure_disparity": [
        {"of": of, "target": target}
        for of in ("genre", "tags")
        for target in ("catalogue", "relevant")
    ],
}
BUILTIN = {name: one for name, one in registered().items() if one.definition.builtin}
BEYOND = {name: one for name, one in BUILTIN.items() if one.definition.family != "accuracy"}
CHOICES |= {name: [{}] for name, one in BEYOND.items() if not one.definition.parameters}


def with_a_value(
    name: str, parameters: Mapping[str, Any], ks: Iterable[int | None]
) -> list[int | None]:
    """The cut-offs that a metric can be asked at: the best order over lists of categories is followed up to one alone."""
    best = name == "alpha_ndcg" or parameters.get("normalizer") == "best"
    bounded = best and parameters.get("of") == "tags"
    return [k for k in ks if not (bounded and k is None)]
