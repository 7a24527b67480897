"""What type checkers and editors know of the metrics as methods, written by `python tests/surface/readme.py`."""

# fmt: off
# mypy: disable-error-code="overload-overlap"

from typing import Generic, Literal, overload

import pandas as pd
import polars as pl

from recframe.api.bound_metric import By, Cutoffs, F

class Methods(Generic[F]):
    @overload
    def hit_rate(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Share of the users with at least one hit: 1 for a list with a hit, 0 for one without."""
    @overload
    def hit_rate(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the users with at least one hit: 1 for a list with a hit, 0 for one without."""
    @overload
    def precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "pooled"] = "users",
    ) -> float:
        """Share of the first k places that are hits."""
    @overload
    def precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "pooled"] = "users",
    ) -> F:
        """Share of the first k places that are hits."""
    @overload
    def recall(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        denominator: Literal["relevant", "capped", "achievable"] = "relevant",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> float:
        """Share of the relevant items that reached the first k places."""
    @overload
    def recall(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        denominator: Literal["relevant", "capped", "achievable"] = "relevant",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> F:
        """Share of the relevant items that reached the first k places."""
    @overload
    def f_score(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        beta: float = 1,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "means", "pooled"] = "users",
    ) -> float:
        """Weighted harmonic mean of a list's precision P and recall R; `beta` times as much weight on recall."""
    @overload
    def f_score(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        beta: float = 1,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "means", "pooled"] = "users",
    ) -> F:
        """Weighted harmonic mean of a list's precision P and recall R; `beta` times as much weight on recall."""
    @overload
    def map(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        normalizer: Literal["relevant", "min", "list", "hits", "k", "ranks", "achievable"] = "relevant",
        average: Literal["arithmetic", "geometric"] = "arithmetic",
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> float:
        """Mean average precision: the mean, over the relevant items, of the precision at the rank where each was found."""
    @overload
    def map(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        normalizer: Literal["relevant", "min", "list", "hits", "k", "ranks", "achievable"] = "relevant",
        average: Literal["arithmetic", "geometric"] = "arithmetic",
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> F:
        """Mean average precision: the mean, over the relevant items, of the precision at the rank where each was found."""
    @overload
    def mrr(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Mean reciprocal rank: 1 / rank of the first hit."""
    @overload
    def mrr(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Mean reciprocal rank: 1 / rank of the first hit."""
    @overload
    def dcg(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> float:
        """Discounted cumulative gain: the gains of the hits, each divided by the logarithm of its rank + 1."""
    @overload
    def dcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """Discounted cumulative gain: the gains of the hits, each divided by the logarithm of its rank + 1."""
    @overload
    def ndcg(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        ideal: Literal["relevant", "k", "list", "all"] = "relevant",
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> float:
        """Normalized discounted cumulative gain: dcg, over the dcg of the best possible order."""
    @overload
    def ndcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        ideal: Literal["relevant", "k", "list", "all"] = "relevant",
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> F:
        """Normalized discounted cumulative gain: dcg, over the dcg of the best possible order."""
    @overload
    def r_precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        without_hit: Literal["zero", "null"] = "zero",
    ) -> float:
        """Precision at the rank n_relevant, where precision and recall are one number."""
    @overload
    def r_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        without_hit: Literal["zero", "null"] = "zero",
    ) -> F:
        """Precision at the rank n_relevant, where precision and recall are one number."""
    @overload
    def rbp(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        p: float = 0.8,
    ) -> float:
        """Rank-biased precision: the hits that a reader sees who goes on to the next rank with probability `p`."""
    @overload
    def rbp(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        p: float = 0.8,
    ) -> F:
        """Rank-biased precision: the hits that a reader sees who goes on to the next rank with probability `p`."""
    @overload
    def err(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        max_grade: float = 4,
    ) -> float:
        """Expected reciprocal rank, at which a reader stops whom each item satisfies with a probability that its grade sets."""
    @overload
    def err(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        max_grade: float = 4,
    ) -> F:
        """Expected reciprocal rank, at which a reader stops whom each item satisfies with a probability that its grade sets."""
    @overload
    def n_hits(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Number of hits among the first k."""
    @overload
    def n_hits(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Number of hits among the first k."""
    @overload
    def first_rank(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Rank of the first hit, from 1; null without a hit, so that the mean runs over the lists with one."""
    @overload
    def first_rank(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Rank of the first hit, from 1; null without a hit, so that the mean runs over the lists with one."""
    @overload
    def list_length(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Number of items in the list, up to k; 0 without a list."""
    @overload
    def list_length(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Number of items in the list, up to k; 0 without a list."""
    @overload
    def judged(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Share of the list's first k items whose relevance is not null; where it is low, a low ndcg may be a hole in the truth."""
    @overload
    def judged(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the list's first k items whose relevance is not null; where it is low, a low ndcg may be a hole in the truth."""
    @overload
    def interpolated_precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        recall: float = 0.5,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> float:
        """Interpolated precision: the highest precision at any rank where at least a share `recall` of the relevant items is found."""
    @overload
    def interpolated_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        recall: float = 0.5,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> F:
        """Interpolated precision: the highest precision at any rank where at least a share `recall` of the relevant items is found."""
    @overload
    def eleven_point_precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> float:
        """Mean of the interpolated precision at the recalls 0, 0.1, ..., 1: the curve of precision over recall as one number."""
    @overload
    def eleven_point_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> F:
        """Mean of the interpolated precision at the recalls 0, 0.1, ..., 1: the curve of precision over recall as one number."""
    @overload
    def auc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        over: Literal["list", "catalogue"] = "list",
        without_pair: Literal["null", "hit"] = "null",
    ) -> float:
        """Share of the pairs of a relevant and a not relevant item of the list that stand in the right order."""
    @overload
    def auc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        over: Literal["list", "catalogue"] = "list",
        without_pair: Literal["null", "hit"] = "null",
    ) -> F:
        """Share of the pairs of a relevant and a not relevant item of the list that stand in the right order."""
    @overload
    def bpref(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Binary preference: how seldom items judged not relevant rank above relevant ones, whatever was not judged."""
    @overload
    def bpref(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Binary preference: how seldom items judged not relevant rank above relevant ones, whatever was not judged."""
    @overload
    def partial_auc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        misses: float = 10,
        hits: Literal["all", "first"] = "all",
    ) -> float:
        """Share of the pairs of a relevant item and one of the first misses of the list that stand in the right order."""
    @overload
    def partial_auc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        misses: float = 10,
        hits: Literal["all", "first"] = "all",
    ) -> F:
        """Share of the pairs of a relevant item and one of the first misses of the list that stand in the right order."""
    @overload
    def gauc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        weight: Literal["impressions", "relevant", "pairs"] = "impressions",
    ) -> float:
        """Grouped AUC: the users' own auc, each weighted by their number of impressions, the items of the list."""
    @overload
    def gauc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        weight: Literal["impressions", "relevant", "pairs"] = "impressions",
    ) -> F:
        """Grouped AUC: the users' own auc, each weighted by their number of impressions, the items of the list."""
    @overload
    def miscalibration(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        divergence: Literal["kl", "js", "hellinger"] = "kl",
        alpha: float = 0.01,
        log_base: float = 2,
        weight: Literal["none", "log", "reciprocal"] = "none",
    ) -> float:
        """Divergence of the list's categories from those of the user's history, in bits: 0 where their shares are the same."""
    @overload
    def miscalibration(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        divergence: Literal["kl", "js", "hellinger"] = "kl",
        alpha: float = 0.01,
        log_base: float = 2,
        weight: Literal["none", "log", "reciprocal"] = "none",
    ) -> F:
        """Divergence of the list's categories from those of the user's history, in bits: 0 where their shares are the same."""
    @overload
    def coverage(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Share of the catalogue that is in anybody's list."""
    @overload
    def coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the catalogue that is in anybody's list."""
    @overload
    def user_coverage(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        at_least: Literal["one", "k"] = "one",
    ) -> float:
        """Share of the users who get a list at all, with at least one item up to k."""
    @overload
    def user_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        at_least: Literal["one", "k"] = "one",
    ) -> F:
        """Share of the users who get a list at all, with at least one item up to k."""
    @overload
    def gini(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log", "geometric"] = "none",
        normalizer: Literal["corrected", "n"] = "corrected",
    ) -> float:
        """Gini coefficient of the exposure over the whole catalogue: 0 where all items have the same, 1 where one has it all."""
    @overload
    def gini(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log", "geometric"] = "none",
        normalizer: Literal["corrected", "n"] = "corrected",
    ) -> F:
        """Gini coefficient of the exposure over the whole catalogue: 0 where all items have the same, 1 where one has it all."""
    @overload
    def entropy(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log", "geometric"] = "none",
        normalized: bool = False,
        log_base: float = 2,
    ) -> float:
        """Shannon entropy of the exposure over the catalogue, in bits: the higher, the more evenly the items are shown."""
    @overload
    def entropy(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log", "geometric"] = "none",
        normalized: bool = False,
        log_base: float = 2,
    ) -> F:
        """Shannon entropy of the exposure over the catalogue, in bits: the higher, the more evenly the items are shown."""
    @overload
    def fall_out(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Share of the catalogue's not relevant items that are listed all the same."""
    @overload
    def fall_out(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the catalogue's not relevant items that are listed all the same."""
    @overload
    def mcc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        denominator: Literal["list", "k"] = "list",
    ) -> float:
        """Matthews correlation between being listed and being relevant, over the items of the catalogue."""
    @overload
    def mcc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Matthews correlation between being listed and being relevant, over the items of the catalogue."""
    @overload
    def diversity(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        distance: Literal["cosine", "jaccard"] = "cosine",
        scaled: bool = False,
        single: Literal["null", "zero"] = "null",
    ) -> float:
        """Mean distance of two items of the list, the intra-list distance: 0 where all are alike."""
    @overload
    def diversity(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        distance: Literal["cosine", "jaccard"] = "cosine",
        scaled: bool = False,
        single: Literal["null", "zero"] = "null",
    ) -> F:
        """Mean distance of two items of the list, the intra-list distance: 0 where all are alike."""
    @overload
    def category_coverage(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        denominator: Literal["catalogue", "k", "relevant"] = "catalogue",
        relevance: bool = False,
    ) -> float:
        """Share of the categories of the catalogue that the list has."""
    @overload
    def category_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        denominator: Literal["catalogue", "k", "relevant"] = "catalogue",
        relevance: bool = False,
    ) -> F:
        """Share of the categories of the catalogue that the list has."""
    @overload
    def alpha_ndcg(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
    ) -> float:
        """Gain of the relevant items by category, each worth less the more often it was seen, over that of the best order."""
    @overload
    def alpha_ndcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
    ) -> F:
        """Gain of the relevant items by category, each worth less the more often it was seen, over that of the best order."""
    @overload
    def err_ia(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> float:
        """Intent-aware expected reciprocal rank: how soon a reader finds the category they came for, whichever it is."""
    @overload
    def err_ia(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> F:
        """Intent-aware expected reciprocal rank: how soon a reader finds the category they came for, whichever it is."""
    @overload
    def nrbp(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
        beta: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> float:
        """Novelty- and rank-biased precision: rbp in which a category is worth less the more often it was seen."""
    @overload
    def nrbp(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
        beta: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> F:
        """Novelty- and rank-biased precision: rbp in which a category is worth less the more often it was seen."""
    @overload
    def exposure_share(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log"] = "none",
    ) -> float:
        """Share of the places of all lists that a group of items has; the groups are those of `by=`, a property of items."""
    @overload
    def exposure_share(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log"] = "none",
    ) -> F:
        """Share of the places of all lists that a group of items has; the groups are those of `by=`, a property of items."""
    @overload
    def exposure_disparity(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        target: Literal["catalogue", "relevant"] = "catalogue",
    ) -> float:
        """How unequally groups of items are listed: the coefficient of variation of their chances, 0 at parity."""
    @overload
    def exposure_disparity(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        target: Literal["catalogue", "relevant"] = "catalogue",
    ) -> F:
        """How unequally groups of items are listed: the coefficient of variation of their chances, 0 at parity."""
    @overload
    def personalization(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        similarity: Literal["cosine", "overlap"] = "cosine",
        against: Literal["segment", "all"] = "segment",
    ) -> float:
        """Mean distance of two users' lists: 0 where all get the same items, 1 where no two share one."""
    @overload
    def personalization(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        similarity: Literal["cosine", "overlap"] = "cosine",
        against: Literal["segment", "all"] = "segment",
    ) -> F:
        """Mean distance of two users' lists: 0 where all get the same items, 1 where no two share one."""
    @overload
    def novelty(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        cold: Literal["one", "drop"] = "one",
        normalized: bool = False,
        log_base: float = 2,
        denominator: Literal["list", "k"] = "list",
    ) -> float:
        """Mean self-information of the listed items, in bits: what is known to few users is new to most."""
    @overload
    def novelty(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        cold: Literal["one", "drop"] = "one",
        normalized: bool = False,
        log_base: float = 2,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Mean self-information of the listed items, in bits: what is known to few users is new to most."""
    @overload
    def epc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
    ) -> float:
        """Expected popularity complement: the share of users who do not know an item, over the list."""
    @overload
    def epc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
    ) -> F:
        """Expected popularity complement: the share of users who do not know an item, over the list."""
    @overload
    def efd(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
        log_base: float = 2,
        cold: Literal["one", "zero"] = "one",
        average: Literal["users", "rows"] = "users",
    ) -> float:
        """Expected free discovery: the self-information of an item among the interactions of train, in bits, over the list."""
    @overload
    def efd(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
        log_base: float = 2,
        cold: Literal["one", "zero"] = "one",
        average: Literal["users", "rows"] = "users",
    ) -> F:
        """Expected free discovery: the self-information of an item among the interactions of train, in bits, over the list."""
    @overload
    def popularity(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        normalizer: Literal["none", "users", "max", "interactions", "quantile"] = "none",
    ) -> float:
        """Average popularity of the listed items: by how many train users they are known."""
    @overload
    def popularity(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        normalizer: Literal["none", "users", "max", "interactions", "quantile"] = "none",
    ) -> F:
        """Average popularity of the listed items: by how many train users they are known."""
    @overload
    def long_tail_share(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> float:
        """Share of the list that comes from the long tail of the catalogue."""
    @overload
    def long_tail_share(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Share of the list that comes from the long tail of the catalogue."""
    @overload
    def long_tail_count(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> float:
        """Number of items of the list that come from the long tail of the catalogue."""
    @overload
    def long_tail_count(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Number of items of the list that come from the long tail of the catalogue."""
    @overload
    def tail_coverage(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> float:
        """Share of the long tail of the catalogue that is in anybody's list."""
    @overload
    def tail_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Share of the long tail of the catalogue that is in anybody's list."""
    @overload
    def popularity_lift(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        average: Literal["ratio", "users"] = "ratio",
    ) -> float:
        """How much more popular the listed items are than those that the same users have in train: 0 is as popular."""
    @overload
    def popularity_lift(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        average: Literal["ratio", "users"] = "ratio",
    ) -> F:
        """How much more popular the listed items are than those that the same users have in train: 0 is as popular."""
    @overload
    def repeat_rate(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
    ) -> float:
        """Share of the list that the user already has in train."""
    @overload
    def repeat_rate(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the list that the user already has in train."""
    @overload
    def overlap(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
    ) -> float:
        """Share of the list that the user's reference list has too."""
    @overload
    def overlap(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Share of the list that the user's reference list has too."""
    @overload
    def unexpectedness(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
        without_reference: Literal["one", "zero"] = "one",
    ) -> float:
        """Share of the list that the user's reference list does not have."""
    @overload
    def unexpectedness(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
        without_reference: Literal["one", "zero"] = "one",
    ) -> F:
        """Share of the list that the user's reference list does not have."""
    @overload
    def rbo(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        p: float = 0.9,
        form: Literal["extrapolated", "min", "truncated"] = "extrapolated",
    ) -> float:
        """Rank-biased overlap: how far two rankings agree, the top the most, for a reader who goes on with probability `p`."""
    @overload
    def rbo(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        p: float = 0.9,
        form: Literal["extrapolated", "min", "truncated"] = "extrapolated",
    ) -> F:
        """Rank-biased overlap: how far two rankings agree, the top the most, for a reader who goes on with probability `p`."""
    @overload
    def corrected(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        metric: Literal["recall", "ndcg", "mrr"] = "recall",
        n_items: float = 10000,
        n_negatives: float = 100,
        estimator: Literal["bias_variance", "rank"] = "bias_variance",
        gamma: float = 0.1,
    ) -> float:
        """Estimate of a metric of the full ranking, from lists in which a relevant item was ranked among sampled ones."""
    @overload
    def corrected(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        metric: Literal["recall", "ndcg", "mrr"] = "recall",
        n_items: float = 10000,
        n_negatives: float = 100,
        estimator: Literal["bias_variance", "rank"] = "bias_variance",
        gamma: float = 0.1,
    ) -> F:
        """Estimate of a metric of the full ranking, from lists in which a relevant item was ranked among sampled ones."""
    @overload
    def serendipity(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        against: Literal["history", "popularity", "reference"] = "history",
    ) -> float:
        """Mean over the list of how unlike the user's history its relevant items are."""
    @overload
    def serendipity(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        against: Literal["history", "popularity", "reference"] = "history",
    ) -> F:
        """Mean over the list of how unlike the user's history its relevant items are."""
    @overload
    def value(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        profile: str | None = None,
        of: str = "",
        normalizer: Literal["none", "best", "relevant"] = "none",
        discount: Literal["none", "log"] = "none",
    ) -> float:
        """What the hits among the first k are worth: the sum of a number of their items, such as the price."""
    @overload
    def value(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        normalizer: Literal["none", "best", "relevant"] = "none",
        discount: Literal["none", "log"] = "none",
    ) -> F:
        """What the hits among the first k are worth: the sum of a number of their items, such as the price."""

class SegmentedMethods(Generic[F]):
    def hit_rate(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the users with at least one hit: 1 for a list with a hit, 0 for one without."""
    def precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "pooled"] = "users",
    ) -> F:
        """Share of the first k places that are hits."""
    def recall(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        denominator: Literal["relevant", "capped", "achievable"] = "relevant",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> F:
        """Share of the relevant items that reached the first k places."""
    def f_score(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        beta: float = 1,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "means", "pooled"] = "users",
    ) -> F:
        """Weighted harmonic mean of a list's precision P and recall R; `beta` times as much weight on recall."""
    def map(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        normalizer: Literal["relevant", "min", "list", "hits", "k", "ranks", "achievable"] = "relevant",
        average: Literal["arithmetic", "geometric"] = "arithmetic",
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> F:
        """Mean average precision: the mean, over the relevant items, of the precision at the rank where each was found."""
    def mrr(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Mean reciprocal rank: 1 / rank of the first hit."""
    def dcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """Discounted cumulative gain: the gains of the hits, each divided by the logarithm of its rank + 1."""
    def ndcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        ideal: Literal["relevant", "k", "list", "all"] = "relevant",
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> F:
        """Normalized discounted cumulative gain: dcg, over the dcg of the best possible order."""
    def r_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        without_hit: Literal["zero", "null"] = "zero",
    ) -> F:
        """Precision at the rank n_relevant, where precision and recall are one number."""
    def rbp(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        p: float = 0.8,
    ) -> F:
        """Rank-biased precision: the hits that a reader sees who goes on to the next rank with probability `p`."""
    def err(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        max_grade: float = 4,
    ) -> F:
        """Expected reciprocal rank, at which a reader stops whom each item satisfies with a probability that its grade sets."""
    def n_hits(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Number of hits among the first k."""
    def first_rank(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Rank of the first hit, from 1; null without a hit, so that the mean runs over the lists with one."""
    def list_length(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Number of items in the list, up to k; 0 without a list."""
    def judged(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the list's first k items whose relevance is not null; where it is low, a low ndcg may be a hole in the truth."""
    def interpolated_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        recall: float = 0.5,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> F:
        """Interpolated precision: the highest precision at any rank where at least a share `recall` of the relevant items is found."""
    def eleven_point_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> F:
        """Mean of the interpolated precision at the recalls 0, 0.1, ..., 1: the curve of precision over recall as one number."""
    def auc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        over: Literal["list", "catalogue"] = "list",
        without_pair: Literal["null", "hit"] = "null",
    ) -> F:
        """Share of the pairs of a relevant and a not relevant item of the list that stand in the right order."""
    def bpref(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Binary preference: how seldom items judged not relevant rank above relevant ones, whatever was not judged."""
    def partial_auc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        misses: float = 10,
        hits: Literal["all", "first"] = "all",
    ) -> F:
        """Share of the pairs of a relevant item and one of the first misses of the list that stand in the right order."""
    def gauc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        weight: Literal["impressions", "relevant", "pairs"] = "impressions",
    ) -> F:
        """Grouped AUC: the users' own auc, each weighted by their number of impressions, the items of the list."""
    def miscalibration(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        divergence: Literal["kl", "js", "hellinger"] = "kl",
        alpha: float = 0.01,
        log_base: float = 2,
        weight: Literal["none", "log", "reciprocal"] = "none",
    ) -> F:
        """Divergence of the list's categories from those of the user's history, in bits: 0 where their shares are the same."""
    def coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the catalogue that is in anybody's list."""
    def user_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        at_least: Literal["one", "k"] = "one",
    ) -> F:
        """Share of the users who get a list at all, with at least one item up to k."""
    def gini(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log", "geometric"] = "none",
        normalizer: Literal["corrected", "n"] = "corrected",
    ) -> F:
        """Gini coefficient of the exposure over the whole catalogue: 0 where all items have the same, 1 where one has it all."""
    def entropy(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log", "geometric"] = "none",
        normalized: bool = False,
        log_base: float = 2,
    ) -> F:
        """Shannon entropy of the exposure over the catalogue, in bits: the higher, the more evenly the items are shown."""
    def fall_out(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the catalogue's not relevant items that are listed all the same."""
    def mcc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Matthews correlation between being listed and being relevant, over the items of the catalogue."""
    def diversity(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        distance: Literal["cosine", "jaccard"] = "cosine",
        scaled: bool = False,
        single: Literal["null", "zero"] = "null",
    ) -> F:
        """Mean distance of two items of the list, the intra-list distance: 0 where all are alike."""
    def category_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        denominator: Literal["catalogue", "k", "relevant"] = "catalogue",
        relevance: bool = False,
    ) -> F:
        """Share of the categories of the catalogue that the list has."""
    def alpha_ndcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
    ) -> F:
        """Gain of the relevant items by category, each worth less the more often it was seen, over that of the best order."""
    def err_ia(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> F:
        """Intent-aware expected reciprocal rank: how soon a reader finds the category they came for, whichever it is."""
    def nrbp(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        alpha: float = 0.5,
        beta: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> F:
        """Novelty- and rank-biased precision: rbp in which a category is worth less the more often it was seen."""
    def exposure_share(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        weight: Literal["none", "log"] = "none",
    ) -> F:
        """Share of the places of all lists that a group of items has; the groups are those of `by=`, a property of items."""
    def exposure_disparity(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        target: Literal["catalogue", "relevant"] = "catalogue",
    ) -> F:
        """How unequally groups of items are listed: the coefficient of variation of their chances, 0 at parity."""
    def personalization(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        similarity: Literal["cosine", "overlap"] = "cosine",
        against: Literal["segment", "all"] = "segment",
    ) -> F:
        """Mean distance of two users' lists: 0 where all get the same items, 1 where no two share one."""
    def novelty(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        cold: Literal["one", "drop"] = "one",
        normalized: bool = False,
        log_base: float = 2,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Mean self-information of the listed items, in bits: what is known to few users is new to most."""
    def epc(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
    ) -> F:
        """Expected popularity complement: the share of users who do not know an item, over the list."""
    def efd(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
        log_base: float = 2,
        cold: Literal["one", "zero"] = "one",
        average: Literal["users", "rows"] = "users",
    ) -> F:
        """Expected free discovery: the self-information of an item among the interactions of train, in bits, over the list."""
    def popularity(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        normalizer: Literal["none", "users", "max", "interactions", "quantile"] = "none",
    ) -> F:
        """Average popularity of the listed items: by how many train users they are known."""
    def long_tail_share(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Share of the list that comes from the long tail of the catalogue."""
    def long_tail_count(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Number of items of the list that come from the long tail of the catalogue."""
    def tail_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Share of the long tail of the catalogue that is in anybody's list."""
    def popularity_lift(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        average: Literal["ratio", "users"] = "ratio",
    ) -> F:
        """How much more popular the listed items are than those that the same users have in train: 0 is as popular."""
    def repeat_rate(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
    ) -> F:
        """Share of the list that the user already has in train."""
    def overlap(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Share of the list that the user's reference list has too."""
    def unexpectedness(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
        without_reference: Literal["one", "zero"] = "one",
    ) -> F:
        """Share of the list that the user's reference list does not have."""
    def rbo(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        p: float = 0.9,
        form: Literal["extrapolated", "min", "truncated"] = "extrapolated",
    ) -> F:
        """Rank-biased overlap: how far two rankings agree, the top the most, for a reader who goes on with probability `p`."""
    def corrected(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        metric: Literal["recall", "ndcg", "mrr"] = "recall",
        n_items: float = 10000,
        n_negatives: float = 100,
        estimator: Literal["bias_variance", "rank"] = "bias_variance",
        gamma: float = 0.1,
    ) -> F:
        """Estimate of a metric of the full ranking, from lists in which a relevant item was ranked among sampled ones."""
    def serendipity(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        against: Literal["history", "popularity", "reference"] = "history",
    ) -> F:
        """Mean over the list of how unlike the user's history its relevant items are."""
    def value(
        self, k: Cutoffs = None, by: By = None,
        *,
        profile: str | None = None,
        of: str = "",
        normalizer: Literal["none", "best", "relevant"] = "none",
        discount: Literal["none", "log"] = "none",
    ) -> F:
        """What the hits among the first k are worth: the sum of a number of their items, such as the price."""
