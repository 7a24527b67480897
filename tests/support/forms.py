"""Every metric with each choice of its parameters that tests try, at cut-offs: the forms that they ask."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import recframe as rf
from plain_accuracy import METRICS
from plain_policies import Asked
from plain_propensity import WEIGHTED
from recframe.metrics.language.registry import registered

KS = [None, 1, 2, 3, 5, 10, 1000]
KS_BEYOND = [1, 3, 8, None]
TAILS = "share=0.3 tail=items tail=items,share=0.3|0.9"
ACCURACY = """
precision denominator=list|achievable average=pooled denominator=list|achievable,average=pooled
recall denominator=capped average=pooled denominator=capped,average=pooled
f_score beta=0.5|2 denominator=list|achievable average=means|pooled
f_score beta=2,denominator=list,average=means beta=2,denominator=achievable,average=pooled
map normalizer=min|list|hits|k|ranks average=geometric normalizer=min,average=geometric
map average=geometric,without_relevant=one normalizer=min|ranks,without_relevant=one
ncrr denominator=list
recall_at_precision precision=0.2|0.3333333333333333 denominator=list
compatibility p=0.5 normalize=false
interpolated_precision recall=0|0.3|1 rounding=tenth|nearest
eleven_point_precision rounding=tenth|nearest
auc without_pair=hit
gauc weight=relevant|pairs
partial_auc misses=1|2.5 misses=1|3,hits=first
dcg gain=exp|binary gain=exp,log_base=10 log_base=1.5 gain=exp|binary,offset=-1.5
dcg discount=unshifted log_base=1.5|3.7,discount=unshifted
r_precision without_hit=null
ndcg discount=unshifted log_base=3.7,ideal=k|list|all,discount=unshifted log_base=3
ndcg gain=exp|binary ideal=k|list|all gain=exp|binary,ideal=all|list gain=exp,ideal=k
ndcg gain=exp,offset=1 offset=-0.5 without_relevant=one ideal=k|list,without_relevant=one
rbp p=0.5|0.95
err max_grade=1|2.5
insq target=0.3|3,max_grade=2,min_grade=1
inst target=3 max_grade=2,min_grade=0.5
bpm target=0.4 target=2,max_grade=1.5,min_grade=1
nerr form=target|discount|gain p=0.5,max_grade=1
nerr form=target|discount|gain,target=2.5,max_grade=2,min_grade=1
sdcg max_grade=2,min_grade=1
"""
"""A metric, and choices of its parameters beside none; `|` stands between values that are tried in turn."""
BEYOND_ACCURACY = f"""
user_coverage - at_least=k
gini - weight=log|geometric normalizer=n weight=log,normalizer=n
entropy - weight=log|geometric normalized=true log_base=10
mean_percentile_rank - average=pairs
mcc - denominator=k
novelty - cold=drop normalized=true cold=drop,normalized=true,log_base=3 denominator=k
novelty denominator=k,normalized=true denominator=k,cold=drop
epc - discount=log relevance=true discount=log,relevance=true
efd - discount=log relevance=true discount=log,relevance=true,log_base=10 cold=zero
efd average=rows average=rows,cold=zero average=rows,cold=zero,discount=log,relevance=true
popularity - normalizer=users|max|interactions|quantile
long_tail_share - {TAILS}
long_tail_count - {TAILS}
tail_coverage - {TAILS}
popularity_lift - average=users
personalization similarity=cosine|overlap,against=segment|all
diversity of=genre|tags|vector of=genre|tags,distance=jaccard of=genre|tags|vector,scaled=true
diversity of=tags|vector,single=zero of=tags,distance=jaccard,scaled=true,single=zero
category_coverage of=genre|tags of=genre,denominator=k
category_coverage of=genre|tags,relevance=true of=genre|tags,relevance=true,denominator=relevant
category_entropy of=genre|tags of=genre|tags,smoothing=0.000001 of=tags,weight=geometric
category_entropy of=genre,weight=geometric,p=0.5,smoothing=1
alpha_ndcg of=genre|tags of=genre,alpha=0.2|1.0
err_ia of=genre|tags of=genre|tags,normalizer=best of=tags,alpha=0.2
err_ia of=genre,alpha=1,normalizer=best
nrbp of=genre|tags of=genre|tags,normalizer=best of=tags,alpha=0.2,beta=0.8
nrbp of=genre,alpha=0,beta=0.8,normalizer=best
value of=price|cost of=price,discount=log of=price,normalizer=best|relevant
value of=price,normalizer=best|relevant,discount=log
corrected n_items=12,n_negatives=2,metric=recall n_items=12,n_negatives=3,metric=ndcg,gamma=0.5
corrected n_items=12,n_negatives=4,metric=mrr,gamma=1 n_items=9,n_negatives=3,estimator=rank
miscalibration of=genre|tags,divergence=kl|js|hellinger of=tags,divergence=kl|js|hellinger,weight=log
miscalibration of=genre,weight=reciprocal of=genre,alpha=0.5,log_base=10
miscalibration of=tags,divergence=js,log_base=10
serendipity of=genre|tags|vector against=popularity|reference
overlap - reference_k=2 denominator=k denominator=k,reference_k=2
unexpectedness - reference_k=2 denominator=k without_reference=zero
unexpectedness denominator=k,without_reference=zero
rbo - p=0.5 form=min|truncated form=min,p=0.5
exposure_share - weight=log
exposure_disparity of=genre|tags,target=catalogue|relevant
"""
"""The same, `-` being none; a metric without parameters need not be named."""
BUILTIN = {name: one for name, one in registered().items() if one.definition.builtin}


def read(table: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each metric of a table with its parameters, as recframe reads them."""
    for name, *choices in map(str.split, table.strip().splitlines()):
        for choice in choices:
            pairs = [pair.split("=") for pair in choice.split(",") if pair != "-"]
            for values in itertools.product(*(some.split("|") for _, some in pairs)):
                own = (f"{key}={value}" for (key, _), value in zip(pairs, values, strict=True))
                yield name, dict(rf.parse(f"{name}({','.join(own)})").settings)


VARIANTS = [*((name, {}) for name in METRICS), *read(ACCURACY)]
CHOICES: dict[str, list[dict[str, Any]]] = {
    name: [] for name, one in BUILTIN.items() if one.definition.family != "accuracy"
}
for _name, _own in read(BEYOND_ACCURACY):
    CHOICES[_name].append(_own)
CHOICES = {name: own or [{}] for name, own in CHOICES.items()}


def stops_at_k(name: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a metric has no value without a cut-off, as those of readers who stop there."""
    of_k = parameters.get("form") in {"discount", "gain"}
    return of_k or name in {"bpm", "sdcg", "recall_at_precision"}


def forms_of(name: str) -> list[Asked]:
    """Return the forms of a metric beyond accuracy; the best order of lists of categories is followed up to a cut-off alone."""
    found = []
    for own in CHOICES[name]:
        best = name == "alpha_ndcg" or own.get("normalizer") == "best"
        bounded = best and own.get("of") == "tags"
        found += [Asked(name, k, own) for k in KS_BEYOND if k or not bounded]
    return found


EVERYTHING = [
    Asked(name, k, own)
    for name, own in VARIANTS
    for k in KS
    if (k or not stops_at_k(name, own)) and (k != 1000 or name != "recall_at_precision")
]
BEYOND = [one for name in CHOICES for one in forms_of(name)]
FEATURELESS = [Asked("exposure_disparity", k, {}) for k in KS_BEYOND]
"""Of the head and the tail of items without features."""
WEIGHTS = "weights=snips|ips,exponent=1.0|2.5,min_propensity=0.001 weights=snips|ips,exponent=1.0,min_propensity=0.4"
OTHER_GAINS = """
ndcg weights=snips|ips,exponent=1.0,gain=exp|binary
rbp weights=snips|ips,exponent=1.0,p=0.5
"""
OF_PROPENSITIES = [
    Asked(name, k, own)
    for table in (*(f"{name} {WEIGHTS}" for name in WEIGHTED), OTHER_GAINS)
    for name, own in read(table)
    for k in KS_BEYOND
]
