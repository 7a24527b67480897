"""What type checkers and editors know of the metrics as methods, written by `python tests/surface/readme.py`."""

# fmt: off
# mypy: disable-error-code="overload-overlap"

from typing import Generic, Literal, overload

import pandas as pd
import polars as pl

from recframe.api.argument_errors import By, Cutoffs, F

class Methods(Generic[F]):
    @overload
    def hit_rate(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Share of the users whose list has at least one relevant item: 1 if every list has one, 0 if none has."""
    @overload
    def hit_rate(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the users whose list has at least one relevant item: 1 if every list has one, 0 if none has."""
    @overload
    def precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        denominator: Literal["k", "list", "achievable"] = "k",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> float:
        """Share of the first k places that hold a relevant item: 1 if all do, 0 if none does."""
    @overload
    def precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        denominator: Literal["k", "list", "achievable"] = "k",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> F:
        """Share of the first k places that hold a relevant item: 1 if all do, 0 if none does."""
    @overload
    def recall(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        denominator: Literal["relevant", "capped"] = "relevant",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> float:
        """Share of the user's relevant items that are among the first k: 1 if all are, 0 if none is."""
    @overload
    def recall(
        self, k: Cutoffs = None, by: By = None,
        *,
        denominator: Literal["relevant", "capped"] = "relevant",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> F:
        """Share of the user's relevant items that are among the first k: 1 if all are, 0 if none is."""
    @overload
    def f_score(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        beta: float = 1,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "means", "pooled"] = "users",
    ) -> float:
        """Precision and recall in one number, their harmonic mean: 1 if all relevant items and no others are listed, 0 if none is."""
    @overload
    def f_score(
        self, k: Cutoffs = None, by: By = None,
        *,
        beta: float = 1,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "means", "pooled"] = "users",
    ) -> F:
        """Precision and recall in one number, their harmonic mean: 1 if all relevant items and no others are listed, 0 if none is."""
    @overload
    def map(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        normalizer: Literal["relevant", "min", "list", "hits", "k", "ranks"] = "relevant",
        average: Literal["arithmetic", "geometric"] = "arithmetic",
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> float:
        """Mean average precision, how early the relevant items come: 1 if all come before any other, 0 if none is found."""
    @overload
    def map(
        self, k: Cutoffs = None, by: By = None,
        *,
        normalizer: Literal["relevant", "min", "list", "hits", "k", "ranks"] = "relevant",
        average: Literal["arithmetic", "geometric"] = "arithmetic",
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> F:
        """Mean average precision, how early the relevant items come: 1 if all come before any other, 0 if none is found."""
    @overload
    def mrr(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Mean reciprocal rank, 1 / rank of the first relevant item: 1 if it comes first, 1/2 if second, 0 if it is not listed."""
    @overload
    def mrr(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Mean reciprocal rank, 1 / rank of the first relevant item: 1 if it comes first, 1/2 if second, 0 if it is not listed."""
    @overload
    def dcg(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> float:
        """Discounted cumulative gain, the relevance that is found, less for lower ranks: 0 if none is, no upper limit."""
    @overload
    def dcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """Discounted cumulative gain, the relevance that is found, less for lower ranks: 0 if none is, no upper limit."""
    @overload
    def ndcg(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        ideal: Literal["relevant", "k", "list", "all"] = "relevant",
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        without_relevant: Literal["zero", "one"] = "zero",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> float:
        """The list's DCG divided by that of a perfect list: 1 is perfect, 0 has no hit."""
    @overload
    def ndcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        ideal: Literal["relevant", "k", "list", "all"] = "relevant",
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        without_relevant: Literal["zero", "one"] = "zero",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """The list's DCG divided by that of a perfect list: 1 is perfect, 0 has no hit."""
    @overload
    def r_precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        without_hit: Literal["zero", "null"] = "zero",
    ) -> float:
        """Precision of the list cut at the user's number of relevant items: 1 if it holds them all, 0 if none."""
    @overload
    def r_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        without_hit: Literal["zero", "null"] = "zero",
    ) -> F:
        """Precision of the list cut at the user's number of relevant items: 1 if it holds them all, 0 if none."""
    @overload
    def rbp(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        p: float = 0.8,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> float:
        """Rank-biased precision, the relevant share of the items read by a user who may stop after each: 1 is all, 0 none."""
    @overload
    def rbp(
        self, k: Cutoffs = None, by: By = None,
        *,
        p: float = 0.8,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """Rank-biased precision, the relevant share of the items read by a user who may stop after each: 1 is all, 0 none."""
    @overload
    def err(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        max_grade: float = 4,
    ) -> float:
        """Expected reciprocal rank of the item that satisfies the user: near 1 if the first does, 0 if nothing listed is relevant."""
    @overload
    def err(
        self, k: Cutoffs = None, by: By = None,
        *,
        max_grade: float = 4,
    ) -> F:
        """Expected reciprocal rank of the item that satisfies the user: near 1 if the first does, 0 if nothing listed is relevant."""
    @overload
    def interpolated_precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        recall: float = 0.5,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> float:
        """Highest precision at a rank where a share `recall` of the relevant items is found: 1 is best, 0 if it never is."""
    @overload
    def interpolated_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        recall: float = 0.5,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> F:
        """Highest precision at a rank where a share `recall` of the relevant items is found: 1 is best, 0 if it never is."""
    @overload
    def eleven_point_precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> float:
        """Mean of the precision-recall curve at recalls 0, 0.1, ..., 1: 1 if all relevant items come first, 0 if none is listed."""
    @overload
    def eleven_point_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> F:
        """Mean of the precision-recall curve at recalls 0, 0.1, ..., 1: 1 if all relevant items come first, 0 if none is listed."""
    @overload
    def auc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        over: Literal["list", "catalogue"] = "list",
        without_pair: Literal["null", "hit"] = "null",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> float:
        """Chance that a relevant item of the list ranks above a not relevant one: 1 is always, 0.5 random order, 0 never."""
    @overload
    def auc(
        self, k: Cutoffs = None, by: By = None,
        *,
        over: Literal["list", "catalogue"] = "list",
        without_pair: Literal["null", "hit"] = "null",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """Chance that a relevant item of the list ranks above a not relevant one: 1 is always, 0.5 random order, 0 never."""
    @overload
    def bpref(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Binary preference, how often relevant items come before those judged not relevant: 1 is always, 0 never."""
    @overload
    def bpref(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Binary preference, how often relevant items come before those judged not relevant: 1 is always, 0 never."""
    @overload
    def partial_auc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        misses: float = 10,
        hits: Literal["all", "first"] = "all",
    ) -> float:
        """Share of the pairs of a relevant item and one of the first misses that are in the right order: 1 is all, 0 none."""
    @overload
    def partial_auc(
        self, k: Cutoffs = None, by: By = None,
        *,
        misses: float = 10,
        hits: Literal["all", "first"] = "all",
    ) -> F:
        """Share of the pairs of a relevant item and one of the first misses that are in the right order: 1 is all, 0 none."""
    @overload
    def gauc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        weight: Literal["impressions", "relevant", "pairs"] = "impressions",
    ) -> float:
        """Grouped AUC, how often a user's relevant items rank above the others, weighted by list length: 1 always, 0.5 random."""
    @overload
    def gauc(
        self, k: Cutoffs = None, by: By = None,
        *,
        weight: Literal["impressions", "relevant", "pairs"] = "impressions",
    ) -> F:
        """Grouped AUC, how often a user's relevant items rank above the others, weighted by list length: 1 always, 0.5 random."""
    @overload
    def n_hits(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Number of relevant items among the first k: 0 if none is, at most k; more is better."""
    @overload
    def n_hits(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Number of relevant items among the first k: 0 if none is, at most k; more is better."""
    @overload
    def first_rank(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Rank of the first relevant item in lists that have one: 1 if it always comes first; smaller is better."""
    @overload
    def first_rank(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Rank of the first relevant item in lists that have one: 1 if it always comes first; smaller is better."""
    @overload
    def list_length(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Number of items in the list, up to k: k if it is full, 0 without a list."""
    @overload
    def list_length(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Number of items in the list, up to k: k if it is full, 0 without a list."""
    @overload
    def judged(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Share of the first k items whose relevance is known: 1 if all were judged, 0 if none was."""
    @overload
    def judged(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the first k items whose relevance is known: 1 if all were judged, 0 if none was."""
    @overload
    def ncrr(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        denominator: Literal["relevant", "list"] = "relevant",
    ) -> float:
        """Normalized cumulative reciprocal rank of all relevant items: 1 if they come before all others, 0 if none is found."""
    @overload
    def ncrr(
        self, k: Cutoffs = None, by: By = None,
        *,
        denominator: Literal["relevant", "list"] = "relevant",
    ) -> F:
        """Normalized cumulative reciprocal rank of all relevant items: 1 if they come before all others, 0 if none is found."""
    @overload
    def compatibility(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        p: float = 0.95,
        normalize: bool = True,
    ) -> float:
        """Agreement of the list with the ideal list that is nearest to it: 1 if it begins with it, 0 if no relevant item is listed."""
    @overload
    def compatibility(
        self, k: Cutoffs = None, by: By = None,
        *,
        p: float = 0.95,
        normalize: bool = True,
    ) -> F:
        """Agreement of the list with the ideal list that is nearest to it: 1 if it begins with it, 0 if no relevant item is listed."""
    @overload
    def infap(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Average precision inferred from a sample of the judgements: 1 if the relevant items come first, 0 if none is found."""
    @overload
    def infap(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Average precision inferred from a sample of the judgements: 1 if the relevant items come first, 0 if none is found."""
    @overload
    def recall_at_precision(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        precision: float = 0.5,
        denominator: Literal["k", "list"] = "k",
    ) -> float:
        """Highest mean recall at a cut-off where the mean precision is at least `precision`: 1 is best, 0 if it never is."""
    @overload
    def recall_at_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        precision: float = 0.5,
        denominator: Literal["k", "list"] = "k",
    ) -> F:
        """Highest mean recall at a cut-off where the mean precision is at least `precision`: 1 is best, 0 if it never is."""
    @overload
    def insq(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> float:
        """Mean gain of the items read, by a patient reader who wants `target` good ones: 1 is the best grade throughout, 0 no hit."""
    @overload
    def insq(
        self, k: Cutoffs = None, by: By = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """Mean gain of the items read, by a patient reader who wants `target` good ones: 1 is the best grade throughout, 0 no hit."""
    @overload
    def inst(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> float:
        """Mean gain of the items read, by a reader who wants `target` good ones and stops sooner the more they find: 0 is no hit."""
    @overload
    def inst(
        self, k: Cutoffs = None, by: By = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """Mean gain of the items read, by a reader who wants `target` good ones and stops sooner the more they find: 0 is no hit."""
    @overload
    def bpm(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> float:
        """Mean gain of the items read, by a reader who stops once their sum is `target`, or at k: 1 is the best grade, 0 no hit."""
    @overload
    def bpm(
        self, k: Cutoffs = None, by: By = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """Mean gain of the items read, by a reader who stops once their sum is `target`, or at k: 1 is the best grade, 0 no hit."""
    @overload
    def nerr(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        form: Literal["patience", "target", "discount", "gain"] = "patience",
        p: float = 0.9,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> float:
        """Mean gain of the items read, by a reader whom each good one may satisfy, so that they stop: 0 is no hit."""
    @overload
    def nerr(
        self, k: Cutoffs = None, by: By = None,
        *,
        form: Literal["patience", "target", "discount", "gain"] = "patience",
        p: float = 0.9,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """Mean gain of the items read, by a reader whom each good one may satisfy, so that they stop: 0 is no hit."""
    @overload
    def sdcg(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> float:
        """DCG over that of k items of the highest grade, however many a user has: 1 is k such items, 0 no hit."""
    @overload
    def sdcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """DCG over that of k items of the highest grade, however many a user has: 1 is k such items, 0 no hit."""
    @overload
    def miscalibration(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        divergence: Literal["kl", "js", "hellinger"] = "kl",
        alpha: float = 0.01,
        log_base: float = 2,
        weight: Literal["none", "log", "reciprocal"] = "none",
    ) -> float:
        """Distance of the list's mix of categories from that of the user's history: 0 is the same mix; larger is further."""
    @overload
    def miscalibration(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        divergence: Literal["kl", "js", "hellinger"] = "kl",
        alpha: float = 0.01,
        log_base: float = 2,
        weight: Literal["none", "log", "reciprocal"] = "none",
    ) -> F:
        """Distance of the list's mix of categories from that of the user's history: 0 is the same mix; larger is further."""
    @overload
    def coverage(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Share of the catalogue that is in anybody's list: 1 if every item is, 0 if none is."""
    @overload
    def coverage(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the catalogue that is in anybody's list: 1 if every item is, 0 if none is."""
    @overload
    def user_coverage(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        at_least: Literal["one", "k"] = "one",
    ) -> float:
        """Share of the users who get a list at all: 1 if everybody does, 0 if nobody does."""
    @overload
    def user_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        at_least: Literal["one", "k"] = "one",
    ) -> F:
        """Share of the users who get a list at all: 1 if everybody does, 0 if nobody does."""
    @overload
    def gini(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        weight: Literal["none", "log", "geometric"] = "none",
        normalizer: Literal["corrected", "n"] = "corrected",
    ) -> float:
        """How unevenly the catalogue's items are shown: 0 if all are shown equally often, 1 if only one is shown."""
    @overload
    def gini(
        self, k: Cutoffs = None, by: By = None,
        *,
        weight: Literal["none", "log", "geometric"] = "none",
        normalizer: Literal["corrected", "n"] = "corrected",
    ) -> F:
        """How unevenly the catalogue's items are shown: 0 if all are shown equally often, 1 if only one is shown."""
    @overload
    def entropy(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        weight: Literal["none", "log", "geometric"] = "none",
        normalized: bool = False,
        log_base: float = 2,
    ) -> float:
        """How evenly the catalogue's items are shown, in bits: 0 if only one is shown; larger is more even."""
    @overload
    def entropy(
        self, k: Cutoffs = None, by: By = None,
        *,
        weight: Literal["none", "log", "geometric"] = "none",
        normalized: bool = False,
        log_base: float = 2,
    ) -> F:
        """How evenly the catalogue's items are shown, in bits: 0 if only one is shown; larger is more even."""
    @overload
    def fall_out(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Share of the catalogue's not relevant items that are listed: 0 if none is, 1 if all are; smaller is better."""
    @overload
    def fall_out(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the catalogue's not relevant items that are listed: 0 if none is, 1 if all are; smaller is better."""
    @overload
    def mcc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        denominator: Literal["list", "k"] = "list",
    ) -> float:
        """Correlation between being listed and being relevant: 1 if the same items are both, 0 if unrelated, -1 if opposite."""
    @overload
    def mcc(
        self, k: Cutoffs = None, by: By = None,
        *,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Correlation between being listed and being relevant: 1 if the same items are both, 0 if unrelated, -1 if opposite."""
    @overload
    def mean_percentile_rank(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        average: Literal["users", "pairs"] = "users",
    ) -> float:
        """Place of the relevant items in an order of the whole catalogue, as a share: 0 is the top, about 0.5 random order."""
    @overload
    def mean_percentile_rank(
        self, k: Cutoffs = None, by: By = None,
        *,
        average: Literal["users", "pairs"] = "users",
    ) -> F:
        """Place of the relevant items in an order of the whole catalogue, as a share: 0 is the top, about 0.5 random order."""
    @overload
    def diversity(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        distance: Literal["cosine", "jaccard"] = "cosine",
        scaled: bool = False,
        single: Literal["null", "zero"] = "null",
    ) -> float:
        """How different the items of a list are, the mean distance of two: 0 if all are alike, 1 if no two have anything in common."""
    @overload
    def diversity(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        distance: Literal["cosine", "jaccard"] = "cosine",
        scaled: bool = False,
        single: Literal["null", "zero"] = "null",
    ) -> F:
        """How different the items of a list are, the mean distance of two: 0 if all are alike, 1 if no two have anything in common."""
    @overload
    def category_coverage(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        denominator: Literal["catalogue", "k", "relevant"] = "catalogue",
        relevance: bool = False,
    ) -> float:
        """Share of the catalogue's categories that the list has: 1 is all of them, 0 none."""
    @overload
    def category_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        denominator: Literal["catalogue", "k", "relevant"] = "catalogue",
        relevance: bool = False,
    ) -> F:
        """Share of the catalogue's categories that the list has: 1 is all of them, 0 none."""
    @overload
    def category_entropy(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        weight: Literal["none", "geometric"] = "none",
        p: float = 0.85,
        smoothing: float = 0,
    ) -> float:
        """How evenly a list mixes its categories, in bits: 0 if all its items are of one; larger is more even."""
    @overload
    def category_entropy(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        weight: Literal["none", "geometric"] = "none",
        p: float = 0.85,
        smoothing: float = 0,
    ) -> F:
        """How evenly a list mixes its categories, in bits: 0 if all its items are of one; larger is more even."""
    @overload
    def alpha_ndcg(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        alpha: float = 0.5,
    ) -> float:
        """The list's nDCG where further items of a category count less: 1 is the best order, 0 has no relevant item."""
    @overload
    def alpha_ndcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        alpha: float = 0.5,
    ) -> F:
        """The list's nDCG where further items of a category count less: 1 is the best order, 0 has no relevant item."""
    @overload
    def err_ia(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        alpha: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> float:
        """How soon a user finds the category they came for, whichever it is: 1 is as soon as possible, 0 never."""
    @overload
    def err_ia(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        alpha: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> F:
        """How soon a user finds the category they came for, whichever it is: 1 is as soon as possible, 0 never."""
    @overload
    def nrbp(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        alpha: float = 0.5,
        beta: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> float:
        """Rank-biased precision in which repeated categories count less: 1 is the highest possible, 0 has no relevant item."""
    @overload
    def nrbp(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        alpha: float = 0.5,
        beta: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> F:
        """Rank-biased precision in which repeated categories count less: 1 is the highest possible, 0 has no relevant item."""
    @overload
    def exposure_share(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        weight: Literal["none", "log"] = "none",
    ) -> float:
        """Share of the places of all lists that a group of items gets: 1 is all of them, 0 none."""
    @overload
    def exposure_share(
        self, k: Cutoffs = None, by: By = None,
        *,
        weight: Literal["none", "log"] = "none",
    ) -> F:
        """Share of the places of all lists that a group of items gets: 1 is all of them, 0 none."""
    @overload
    def exposure_disparity(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        target: Literal["catalogue", "relevant"] = "catalogue",
    ) -> float:
        """Inequality of the chances of item groups to be listed: 0 if they are equal; larger is more unequal."""
    @overload
    def exposure_disparity(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        target: Literal["catalogue", "relevant"] = "catalogue",
    ) -> F:
        """Inequality of the chances of item groups to be listed: 0 if they are equal; larger is more unequal."""
    @overload
    def personalization(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        similarity: Literal["cosine", "overlap"] = "cosine",
        against: Literal["segment", "all"] = "segment",
    ) -> float:
        """How different the lists of two users are, on average: 1 if no two share an item, 0 if all get the same items."""
    @overload
    def personalization(
        self, k: Cutoffs = None, by: By = None,
        *,
        similarity: Literal["cosine", "overlap"] = "cosine",
        against: Literal["segment", "all"] = "segment",
    ) -> F:
        """How different the lists of two users are, on average: 1 if no two share an item, 0 if all get the same items."""
    @overload
    def novelty(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        cold: Literal["one", "drop"] = "one",
        normalized: bool = False,
        log_base: float = 2,
        denominator: Literal["list", "k"] = "list",
    ) -> float:
        """How little known the listed items are, in bits: 0 if all train users have them, 1 more each time their users halve."""
    @overload
    def novelty(
        self, k: Cutoffs = None, by: By = None,
        *,
        cold: Literal["one", "drop"] = "one",
        normalized: bool = False,
        log_base: float = 2,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """How little known the listed items are, in bits: 0 if all train users have them, 1 more each time their users halve."""
    @overload
    def epc(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
    ) -> float:
        """Share of the train users who do not know a listed item, on average: 1 is all users, 0 none."""
    @overload
    def epc(
        self, k: Cutoffs = None, by: By = None,
        *,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
    ) -> F:
        """Share of the train users who do not know a listed item, on average: 1 is all users, 0 none."""
    @overload
    def efd(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
        log_base: float = 2,
        cold: Literal["one", "zero"] = "one",
        average: Literal["users", "rows"] = "users",
    ) -> float:
        """How rare the listed items are among train's interactions, in bits: 1 more each time their number halves; larger is rarer."""
    @overload
    def efd(
        self, k: Cutoffs = None, by: By = None,
        *,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
        log_base: float = 2,
        cold: Literal["one", "zero"] = "one",
        average: Literal["users", "rows"] = "users",
    ) -> F:
        """How rare the listed items are among train's interactions, in bits: 1 more each time their number halves; larger is rarer."""
    @overload
    def popularity(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        normalizer: Literal["none", "users", "max", "interactions", "quantile"] = "none",
    ) -> float:
        """Mean number of train users who have a listed item: 0 if nobody has one; the larger, the better known the items."""
    @overload
    def popularity(
        self, k: Cutoffs = None, by: By = None,
        *,
        normalizer: Literal["none", "users", "max", "interactions", "quantile"] = "none",
    ) -> F:
        """Mean number of train users who have a listed item: 0 if nobody has one; the larger, the better known the items."""
    @overload
    def long_tail_share(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> float:
        """Share of the list that is from the long tail, the less popular items: 1 is all of it, 0 none."""
    @overload
    def long_tail_share(
        self, k: Cutoffs = None, by: By = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Share of the list that is from the long tail, the less popular items: 1 is all of it, 0 none."""
    @overload
    def long_tail_count(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> float:
        """Number of the list's items that are from the long tail, the less popular items: 0 if none is, at most k."""
    @overload
    def long_tail_count(
        self, k: Cutoffs = None, by: By = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Number of the list's items that are from the long tail, the less popular items: 0 if none is, at most k."""
    @overload
    def tail_coverage(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> float:
        """Share of the long tail, the less popular items, that is in anybody's list: 1 is all of it, 0 none."""
    @overload
    def tail_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Share of the long tail, the less popular items, that is in anybody's list: 1 is all of it, 0 none."""
    @overload
    def popularity_lift(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        average: Literal["ratio", "users"] = "ratio",
    ) -> float:
        """How much more popular the listed items are than the same users' train items: 0 is as popular, 1 twice as popular."""
    @overload
    def popularity_lift(
        self, k: Cutoffs = None, by: By = None,
        *,
        average: Literal["ratio", "users"] = "ratio",
    ) -> F:
        """How much more popular the listed items are than the same users' train items: 0 is as popular, 1 twice as popular."""
    @overload
    def repeat_rate(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Share of the list that the user already has in train: 1 is all of it, 0 none."""
    @overload
    def repeat_rate(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the list that the user already has in train: 1 is all of it, 0 none."""
    @overload
    def overlap(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
    ) -> float:
        """Share of the list that the user's reference list has too: 1 is all of it, 0 none."""
    @overload
    def overlap(
        self, k: Cutoffs = None, by: By = None,
        *,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Share of the list that the user's reference list has too: 1 is all of it, 0 none."""
    @overload
    def unexpectedness(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
        without_reference: Literal["one", "zero"] = "one",
    ) -> float:
        """Share of the list that the user's reference list does not have: 1 is all of it, 0 none."""
    @overload
    def unexpectedness(
        self, k: Cutoffs = None, by: By = None,
        *,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
        without_reference: Literal["one", "zero"] = "one",
    ) -> F:
        """Share of the list that the user's reference list does not have: 1 is all of it, 0 none."""
    @overload
    def least_item_promoted(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
    ) -> float:
        """Number of places below the cut-off from which the list took an item of the reference list: 0 if from none."""
    @overload
    def least_item_promoted(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Number of places below the cut-off from which the list took an item of the reference list: 0 if from none."""
    @overload
    def rbo(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        p: float = 0.9,
        form: Literal["extrapolated", "min", "truncated"] = "extrapolated",
    ) -> float:
        """Rank-biased overlap, how far two rankings agree, above all at the top: 1 is the same order, 0 no item in common."""
    @overload
    def rbo(
        self, k: Cutoffs = None, by: By = None,
        *,
        p: float = 0.9,
        form: Literal["extrapolated", "min", "truncated"] = "extrapolated",
    ) -> F:
        """Rank-biased overlap, how far two rankings agree, above all at the top: 1 is the same order, 0 no item in common."""
    @overload
    def corrected(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        metric: Literal["recall", "ndcg", "mrr"] = "recall",
        n_items: float = 10000,
        n_negatives: float = 100,
        estimator: Literal["bias_variance", "rank"] = "bias_variance",
        gamma: float = 0.1,
    ) -> float:
        """Estimate of a full ranking's recall, nDCG or MRR from lists of sampled items: about 1 is perfect, about 0 finds nothing."""
    @overload
    def corrected(
        self, k: Cutoffs = None, by: By = None,
        *,
        metric: Literal["recall", "ndcg", "mrr"] = "recall",
        n_items: float = 10000,
        n_negatives: float = 100,
        estimator: Literal["bias_variance", "rank"] = "bias_variance",
        gamma: float = 0.1,
    ) -> F:
        """Estimate of a full ranking's recall, nDCG or MRR from lists of sampled items: about 1 is perfect, about 0 finds nothing."""
    @overload
    def serendipity(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        against: Literal["history", "popularity", "reference"] = "history",
    ) -> float:
        """Share of the list that is relevant and unlike the user's history: 1 is all of it, 0 none."""
    @overload
    def serendipity(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        against: Literal["history", "popularity", "reference"] = "history",
    ) -> F:
        """Share of the list that is relevant and unlike the user's history: 1 is all of it, 0 none."""
    @overload
    def value(
        self: Methods[pl.DataFrame] | Methods[pd.DataFrame], k: int | None = None, by: None = None,
        *,
        of: str = "",
        normalizer: Literal["none", "best", "relevant"] = "none",
        discount: Literal["none", "log"] = "none",
    ) -> float:
        """Worth of the relevant items among the first k, such as their prices: 0 if none is found, no upper limit."""
    @overload
    def value(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        normalizer: Literal["none", "best", "relevant"] = "none",
        discount: Literal["none", "log"] = "none",
    ) -> F:
        """Worth of the relevant items among the first k, such as their prices: 0 if none is found, no upper limit."""

class SegmentedMethods(Generic[F]):
    def hit_rate(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the users whose list has at least one relevant item: 1 if every list has one, 0 if none has."""
    def precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        denominator: Literal["k", "list", "achievable"] = "k",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> F:
        """Share of the first k places that hold a relevant item: 1 if all do, 0 if none does."""
    def recall(
        self, k: Cutoffs = None, by: By = None,
        *,
        denominator: Literal["relevant", "capped"] = "relevant",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
        average: Literal["users", "pooled"] = "users",
    ) -> F:
        """Share of the user's relevant items that are among the first k: 1 if all are, 0 if none is."""
    def f_score(
        self, k: Cutoffs = None, by: By = None,
        *,
        beta: float = 1,
        denominator: Literal["k", "list", "achievable"] = "k",
        average: Literal["users", "means", "pooled"] = "users",
    ) -> F:
        """Precision and recall in one number, their harmonic mean: 1 if all relevant items and no others are listed, 0 if none is."""
    def map(
        self, k: Cutoffs = None, by: By = None,
        *,
        normalizer: Literal["relevant", "min", "list", "hits", "k", "ranks"] = "relevant",
        average: Literal["arithmetic", "geometric"] = "arithmetic",
        without_relevant: Literal["zero", "one"] = "zero",
    ) -> F:
        """Mean average precision, how early the relevant items come: 1 if all come before any other, 0 if none is found."""
    def mrr(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Mean reciprocal rank, 1 / rank of the first relevant item: 1 if it comes first, 1/2 if second, 0 if it is not listed."""
    def dcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """Discounted cumulative gain, the relevance that is found, less for lower ranks: 0 if none is, no upper limit."""
    def ndcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        gain: Literal["linear", "exp", "binary"] = "linear",
        log_base: float = 2,
        ideal: Literal["relevant", "k", "list", "all"] = "relevant",
        discount: Literal["shifted", "unshifted"] = "shifted",
        offset: float = 0,
        without_relevant: Literal["zero", "one"] = "zero",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """The list's DCG divided by that of a perfect list: 1 is perfect, 0 has no hit."""
    def r_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        without_hit: Literal["zero", "null"] = "zero",
    ) -> F:
        """Precision of the list cut at the user's number of relevant items: 1 if it holds them all, 0 if none."""
    def rbp(
        self, k: Cutoffs = None, by: By = None,
        *,
        p: float = 0.8,
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """Rank-biased precision, the relevant share of the items read by a user who may stop after each: 1 is all, 0 none."""
    def err(
        self, k: Cutoffs = None, by: By = None,
        *,
        max_grade: float = 4,
    ) -> F:
        """Expected reciprocal rank of the item that satisfies the user: near 1 if the first does, 0 if nothing listed is relevant."""
    def interpolated_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        recall: float = 0.5,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> F:
        """Highest precision at a rank where a share `recall` of the relevant items is found: 1 is best, 0 if it never is."""
    def eleven_point_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        rounding: Literal["up", "tenth", "nearest"] = "up",
    ) -> F:
        """Mean of the precision-recall curve at recalls 0, 0.1, ..., 1: 1 if all relevant items come first, 0 if none is listed."""
    def auc(
        self, k: Cutoffs = None, by: By = None,
        *,
        over: Literal["list", "catalogue"] = "list",
        without_pair: Literal["null", "hit"] = "null",
        weights: Literal["none", "snips", "ips"] = "none",
        exponent: float = 1.5,
        min_propensity: float = 0.0001,
    ) -> F:
        """Chance that a relevant item of the list ranks above a not relevant one: 1 is always, 0.5 random order, 0 never."""
    def bpref(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Binary preference, how often relevant items come before those judged not relevant: 1 is always, 0 never."""
    def partial_auc(
        self, k: Cutoffs = None, by: By = None,
        *,
        misses: float = 10,
        hits: Literal["all", "first"] = "all",
    ) -> F:
        """Share of the pairs of a relevant item and one of the first misses that are in the right order: 1 is all, 0 none."""
    def gauc(
        self, k: Cutoffs = None, by: By = None,
        *,
        weight: Literal["impressions", "relevant", "pairs"] = "impressions",
    ) -> F:
        """Grouped AUC, how often a user's relevant items rank above the others, weighted by list length: 1 always, 0.5 random."""
    def n_hits(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Number of relevant items among the first k: 0 if none is, at most k; more is better."""
    def first_rank(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Rank of the first relevant item in lists that have one: 1 if it always comes first; smaller is better."""
    def list_length(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Number of items in the list, up to k: k if it is full, 0 without a list."""
    def judged(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the first k items whose relevance is known: 1 if all were judged, 0 if none was."""
    def ncrr(
        self, k: Cutoffs = None, by: By = None,
        *,
        denominator: Literal["relevant", "list"] = "relevant",
    ) -> F:
        """Normalized cumulative reciprocal rank of all relevant items: 1 if they come before all others, 0 if none is found."""
    def compatibility(
        self, k: Cutoffs = None, by: By = None,
        *,
        p: float = 0.95,
        normalize: bool = True,
    ) -> F:
        """Agreement of the list with the ideal list that is nearest to it: 1 if it begins with it, 0 if no relevant item is listed."""
    def infap(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Average precision inferred from a sample of the judgements: 1 if the relevant items come first, 0 if none is found."""
    def recall_at_precision(
        self, k: Cutoffs = None, by: By = None,
        *,
        precision: float = 0.5,
        denominator: Literal["k", "list"] = "k",
    ) -> F:
        """Highest mean recall at a cut-off where the mean precision is at least `precision`: 1 is best, 0 if it never is."""
    def insq(
        self, k: Cutoffs = None, by: By = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """Mean gain of the items read, by a patient reader who wants `target` good ones: 1 is the best grade throughout, 0 no hit."""
    def inst(
        self, k: Cutoffs = None, by: By = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """Mean gain of the items read, by a reader who wants `target` good ones and stops sooner the more they find: 0 is no hit."""
    def bpm(
        self, k: Cutoffs = None, by: By = None,
        *,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """Mean gain of the items read, by a reader who stops once their sum is `target`, or at k: 1 is the best grade, 0 no hit."""
    def nerr(
        self, k: Cutoffs = None, by: By = None,
        *,
        form: Literal["patience", "target", "discount", "gain"] = "patience",
        p: float = 0.9,
        target: float = 1,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """Mean gain of the items read, by a reader whom each good one may satisfy, so that they stop: 0 is no hit."""
    def sdcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        max_grade: float = 4,
        min_grade: float = 0,
    ) -> F:
        """DCG over that of k items of the highest grade, however many a user has: 1 is k such items, 0 no hit."""
    def miscalibration(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        divergence: Literal["kl", "js", "hellinger"] = "kl",
        alpha: float = 0.01,
        log_base: float = 2,
        weight: Literal["none", "log", "reciprocal"] = "none",
    ) -> F:
        """Distance of the list's mix of categories from that of the user's history: 0 is the same mix; larger is further."""
    def coverage(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the catalogue that is in anybody's list: 1 if every item is, 0 if none is."""
    def user_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        at_least: Literal["one", "k"] = "one",
    ) -> F:
        """Share of the users who get a list at all: 1 if everybody does, 0 if nobody does."""
    def gini(
        self, k: Cutoffs = None, by: By = None,
        *,
        weight: Literal["none", "log", "geometric"] = "none",
        normalizer: Literal["corrected", "n"] = "corrected",
    ) -> F:
        """How unevenly the catalogue's items are shown: 0 if all are shown equally often, 1 if only one is shown."""
    def entropy(
        self, k: Cutoffs = None, by: By = None,
        *,
        weight: Literal["none", "log", "geometric"] = "none",
        normalized: bool = False,
        log_base: float = 2,
    ) -> F:
        """How evenly the catalogue's items are shown, in bits: 0 if only one is shown; larger is more even."""
    def fall_out(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the catalogue's not relevant items that are listed: 0 if none is, 1 if all are; smaller is better."""
    def mcc(
        self, k: Cutoffs = None, by: By = None,
        *,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Correlation between being listed and being relevant: 1 if the same items are both, 0 if unrelated, -1 if opposite."""
    def mean_percentile_rank(
        self, k: Cutoffs = None, by: By = None,
        *,
        average: Literal["users", "pairs"] = "users",
    ) -> F:
        """Place of the relevant items in an order of the whole catalogue, as a share: 0 is the top, about 0.5 random order."""
    def diversity(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        distance: Literal["cosine", "jaccard"] = "cosine",
        scaled: bool = False,
        single: Literal["null", "zero"] = "null",
    ) -> F:
        """How different the items of a list are, the mean distance of two: 0 if all are alike, 1 if no two have anything in common."""
    def category_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        denominator: Literal["catalogue", "k", "relevant"] = "catalogue",
        relevance: bool = False,
    ) -> F:
        """Share of the catalogue's categories that the list has: 1 is all of them, 0 none."""
    def category_entropy(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        weight: Literal["none", "geometric"] = "none",
        p: float = 0.85,
        smoothing: float = 0,
    ) -> F:
        """How evenly a list mixes its categories, in bits: 0 if all its items are of one; larger is more even."""
    def alpha_ndcg(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        alpha: float = 0.5,
    ) -> F:
        """The list's nDCG where further items of a category count less: 1 is the best order, 0 has no relevant item."""
    def err_ia(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        alpha: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> F:
        """How soon a user finds the category they came for, whichever it is: 1 is as soon as possible, 0 never."""
    def nrbp(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        alpha: float = 0.5,
        beta: float = 0.5,
        normalizer: Literal["any", "best"] = "any",
    ) -> F:
        """Rank-biased precision in which repeated categories count less: 1 is the highest possible, 0 has no relevant item."""
    def exposure_share(
        self, k: Cutoffs = None, by: By = None,
        *,
        weight: Literal["none", "log"] = "none",
    ) -> F:
        """Share of the places of all lists that a group of items gets: 1 is all of them, 0 none."""
    def exposure_disparity(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        target: Literal["catalogue", "relevant"] = "catalogue",
    ) -> F:
        """Inequality of the chances of item groups to be listed: 0 if they are equal; larger is more unequal."""
    def personalization(
        self, k: Cutoffs = None, by: By = None,
        *,
        similarity: Literal["cosine", "overlap"] = "cosine",
        against: Literal["segment", "all"] = "segment",
    ) -> F:
        """How different the lists of two users are, on average: 1 if no two share an item, 0 if all get the same items."""
    def novelty(
        self, k: Cutoffs = None, by: By = None,
        *,
        cold: Literal["one", "drop"] = "one",
        normalized: bool = False,
        log_base: float = 2,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """How little known the listed items are, in bits: 0 if all train users have them, 1 more each time their users halve."""
    def epc(
        self, k: Cutoffs = None, by: By = None,
        *,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
    ) -> F:
        """Share of the train users who do not know a listed item, on average: 1 is all users, 0 none."""
    def efd(
        self, k: Cutoffs = None, by: By = None,
        *,
        discount: Literal["none", "log"] = "none",
        relevance: bool = False,
        log_base: float = 2,
        cold: Literal["one", "zero"] = "one",
        average: Literal["users", "rows"] = "users",
    ) -> F:
        """How rare the listed items are among train's interactions, in bits: 1 more each time their number halves; larger is rarer."""
    def popularity(
        self, k: Cutoffs = None, by: By = None,
        *,
        normalizer: Literal["none", "users", "max", "interactions", "quantile"] = "none",
    ) -> F:
        """Mean number of train users who have a listed item: 0 if nobody has one; the larger, the better known the items."""
    def long_tail_share(
        self, k: Cutoffs = None, by: By = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Share of the list that is from the long tail, the less popular items: 1 is all of it, 0 none."""
    def long_tail_count(
        self, k: Cutoffs = None, by: By = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Number of the list's items that are from the long tail, the less popular items: 0 if none is, at most k."""
    def tail_coverage(
        self, k: Cutoffs = None, by: By = None,
        *,
        tail: Literal["interactions", "items"] = "interactions",
        share: float = 0.8,
    ) -> F:
        """Share of the long tail, the less popular items, that is in anybody's list: 1 is all of it, 0 none."""
    def popularity_lift(
        self, k: Cutoffs = None, by: By = None,
        *,
        average: Literal["ratio", "users"] = "ratio",
    ) -> F:
        """How much more popular the listed items are than the same users' train items: 0 is as popular, 1 twice as popular."""
    def repeat_rate(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Share of the list that the user already has in train: 1 is all of it, 0 none."""
    def overlap(
        self, k: Cutoffs = None, by: By = None,
        *,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
    ) -> F:
        """Share of the list that the user's reference list has too: 1 is all of it, 0 none."""
    def unexpectedness(
        self, k: Cutoffs = None, by: By = None,
        *,
        reference_k: float = 0,
        denominator: Literal["list", "k"] = "list",
        without_reference: Literal["one", "zero"] = "one",
    ) -> F:
        """Share of the list that the user's reference list does not have: 1 is all of it, 0 none."""
    def least_item_promoted(
        self, k: Cutoffs = None, by: By = None,
    ) -> F:
        """Number of places below the cut-off from which the list took an item of the reference list: 0 if from none."""
    def rbo(
        self, k: Cutoffs = None, by: By = None,
        *,
        p: float = 0.9,
        form: Literal["extrapolated", "min", "truncated"] = "extrapolated",
    ) -> F:
        """Rank-biased overlap, how far two rankings agree, above all at the top: 1 is the same order, 0 no item in common."""
    def corrected(
        self, k: Cutoffs = None, by: By = None,
        *,
        metric: Literal["recall", "ndcg", "mrr"] = "recall",
        n_items: float = 10000,
        n_negatives: float = 100,
        estimator: Literal["bias_variance", "rank"] = "bias_variance",
        gamma: float = 0.1,
    ) -> F:
        """Estimate of a full ranking's recall, nDCG or MRR from lists of sampled items: about 1 is perfect, about 0 finds nothing."""
    def serendipity(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        against: Literal["history", "popularity", "reference"] = "history",
    ) -> F:
        """Share of the list that is relevant and unlike the user's history: 1 is all of it, 0 none."""
    def value(
        self, k: Cutoffs = None, by: By = None,
        *,
        of: str = "",
        normalizer: Literal["none", "best", "relevant"] = "none",
        discount: Literal["none", "log"] = "none",
    ) -> F:
        """Worth of the relevant items among the first k, such as their prices: 0 if none is found, no upper limit."""
