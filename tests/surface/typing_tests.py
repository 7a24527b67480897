"""What type checkers and editors know of recframe: checked by mypy and pyright, never executed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd
import polars as pl

import recframe as rf

if TYPE_CHECKING:
    from typing_extensions import assert_type

df, lf, pdf = pl.DataFrame(), pl.LazyFrame(), pd.DataFrame()


def rec_knows_the_kind_of_frame_and_keeps_it() -> None:
    assert_type(rf.rec(df), rf.Rec[pl.DataFrame])
    assert_type(rf.rec(lf), rf.Rec[pl.LazyFrame])
    assert_type(rf.rec(pdf), rf.Rec[pd.DataFrame])
    assert_type(rf.Rec(df), rf.Rec[pl.DataFrame])
    assert_type(rf.rec(df)(user="user_id", truth=pdf, universe="both"), rf.Rec[pl.DataFrame])
    assert_type(rf.rec(df, pdf), rf.Rec[pl.DataFrame])
    assert_type(rf.rec(lf, rf.frame(pdf, user="customer", relevance="stars")), rf.Rec[pl.LazyFrame])

    class Relation:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...

    of_models: rf.Rec[pl.LazyFrame] = rf.rec({"svd": lf, "knn": lf}, df)
    assert_type(of_models.judge(), pl.LazyFrame)
    bound: rf.Rec[pl.LazyFrame] = rf.rec(lf, truth=df, model="model")
    assert_type(bound.judge(), pl.LazyFrame)
    assert_type(rf.rec(Relation(), df), rf.Rec[pl.DataFrame])
    rf.rec([{"user": 1}])  # type: ignore[call-overload]


def frames_come_back_as_the_kind_they_went_in() -> None:
    at_many = rf.rec(df).evaluate("ndcg@10", rf.recall @ 20, k=[5, 10], by="country")
    assert_type(at_many, pl.DataFrame)
    assert_type(rf.rec(lf).evaluate("ndcg", k=range(1, 4), by=["model", "country"]), pl.LazyFrame)
    assert_type(rf.rec(df).evaluate(["ndcg@10", rf.recall @ 20], "mrr"), pl.DataFrame)
    assert_type(rf.rec(lf).evaluate("ndcg", k=[5, 10], tidy=True), pl.LazyFrame)
    assert_type(rf.rec({"svd": pdf}, model="system").evaluate("mrr"), pd.DataFrame)
    assert_type(rf.rec(pdf).group_by("country", ["device"]).evaluate("ndcg@10"), pd.DataFrame)
    assert_type(rf.rec(pdf)(df, model="model").judge(), pd.DataFrame)
    assert_type(rf.rec(df).audit(10, by="country"), pl.DataFrame)
    assert_type(rf.rec(lf, train=df, strict=True).audit(), pl.LazyFrame)
    assert_type(rf.rec(df).worst("ndcg@10", n=5), pl.DataFrame)
    assert_type(rf.rec(lf).best(rf.ndcg @ 10, by="country"), pl.LazyFrame)
    assert_type(rf.rec(df).summarize("ndcg@10"), pl.DataFrame)
    assert_type(rf.rec(df.lazy(), model="model").compare("ndcg@10", baseline="svd"), pl.LazyFrame)


def a_metric_at_one_cutoff_of_an_eager_frame_is_a_float() -> None:
    assert_type(rf.rec(df).ndcg(k=10), float)
    assert_type(rf.rec(df).ndcg(), float)
    assert_type(rf.rec(df).ndcg(k=10, gain="exp"), float)
    assert_type(rf.rec(df).map(10), float)
    assert_type(rf.rec(pdf).recall(k=10), float)
    assert_type(rf.rec(df)(user="user_id").mrr(k=10), float)
    assert_type(rf.rec(df, pdf, user="user_id", model=None).mrr(k=10), float)


def a_metric_of_several_models_is_a_frame() -> None:
    assert_type(rf.rec(df, pdf, model="model").ndcg(k=10), pl.DataFrame)
    assert_type(rf.rec(df)(pdf, model="model").ndcg(k=10), pl.DataFrame)
    assert_type(rf.rec(df, model="model")(user="user_id").ndcg(k=10), pl.DataFrame)
    assert_type(rf.rec(pdf, df, model="model", universe="both").ndcg(k=10), pd.DataFrame)
    assert_type(rf.rec({"svd": df, "knn": df}, pdf).ndcg(k=10), pl.DataFrame)


def a_metric_of_a_lazy_frame_is_a_lazy_frame() -> None:
    assert_type(rf.rec(lf).ndcg(k=10), pl.LazyFrame)
    assert_type(rf.rec(lf).ndcg(k=[5, 10], by="country"), pl.LazyFrame)
    assert_type(rf.rec(lf).group_by("country").precision(k=5), pl.LazyFrame)
    assert_type(rf.rec(lf, df, model="model").ndcg(k=10), pl.LazyFrame)


def a_metric_of_a_frame_knows_its_parameters() -> None:
    assert_type(rf.rec(df).f_score(k=10, beta=2), float)
    assert_type(rf.rec(lf).recall(k=10, denominator="capped"), pl.LazyFrame)
    assert_type(rf.rec(df).group_by("country").map(k=10, normalizer="min"), pl.DataFrame)

    rf.rec(df).ndcg(k=10, gain="exponential")  # type: ignore[call-overload]
    rf.rec(lf).ndcg(k=10, gains="exp")  # type: ignore[call-arg]
    rf.rec(df).group_by("country").mrr(k=10, beta=2)  # type: ignore[call-arg]


def profiles_and_explanations_keep_the_kind_of_frame() -> None:
    assert_type(rf.rec(df)(profile="ranx").ndcg(k=10), float)
    assert_type(rf.rec(lf)(profile="trec_eval").evaluate("ndcg@10"), pl.LazyFrame)
    assert_type(rf.rec(df).explain("ndcg@10", "ranx", "recbole").frame, pl.DataFrame)
    assert_type(rf.rec(lf).explain(rf.ndcg @ 10, "ranx", "recbole").frame, pl.LazyFrame)
    assert_type(rf.rec(pdf).explain("ndcg", k=10, by="user").frame, pd.DataFrame)
    assert_type(rf.explain("ndcg@10").text, str)
    assert_type(rf.list_profiles(), pl.DataFrame)


def requirements_keep_the_kind_of_frame() -> None:
    bound = rf.Requirement("ndcg@10", ">=", 0.99, "svd")
    assert_type(rf.rec(df).require("ndcg@10 >= 0.28", bound, by="country"), pl.DataFrame)
    assert_type(rf.rec(lf).require(["ndcg@10 >= 0.28"], strict=True), pl.DataFrame)
    assert_type(rf.rec(lf).require(["ndcg@10 >= 0.28"], raises=False), pl.LazyFrame)
    assert_type(rf.rec(pdf).require(bound, models="knn", raises=False), pd.DataFrame)


def a_metric_by_segment_or_at_many_cutoffs_is_a_frame() -> None:
    assert_type(rf.rec(df).ndcg(k=10, by="country"), pl.DataFrame)
    assert_type(rf.rec(df).ndcg(k=[5, 10]), pl.DataFrame)
    assert_type(rf.rec(pdf).ndcg(k=10, by="country"), pd.DataFrame)
    assert_type(rf.rec(df).group_by("country").ndcg(k=10), pl.DataFrame)
    assert_type(rf.rec(df).ndcg(k=10, by=pl.col("age") // 10), pl.DataFrame)
    assert_type(rf.rec(pdf).evaluate("ndcg", by=["country", pl.col("age") // 10]), pd.DataFrame)
    assert_type(rf.rec(df).group_by(pl.col("age") // 10, "country").ndcg(), pl.DataFrame)


def metrics_keep_their_parameters() -> None:
    exponential = rf.ndcg(gain="exp")
    assert_type(rf.parse("map(normalizer=min)@10"), rf.Metric[...])
    assert_type((rf.ndcg @ 10).k, int | None)
    assert_type(str(exponential @ 10), str)
    assert_type(rf.f_score(beta=2).name, str)
    exponential(ideal="list")

    rf.ndcg(gain="exponential")  # type: ignore[arg-type]
    rf.ndcg(gains="exp")  # type: ignore[call-arg]
    rf.f_score(beta="2")  # type: ignore[arg-type]
    rf.mrr(beta=2)  # type: ignore[call-arg]
    rf.ndcg @ "10"  # type: ignore[operator]


def expressions_are_polars_own() -> None:
    assert_type(rf.ndcg.expr(k=10), pl.Expr)
    assert_type(
        (rf.map(normalizer="min") @ 10).expr(rank="position", relevance="grade", item="movie"),
        pl.Expr,
    )
    assert_type(df.group_by("user").agg(rf.ndcg.expr(k=10)), pl.DataFrame)


def a_metric_of_ones_own_keeps_its_parameters() -> None:
    @rf.metric
    def first_page_hits(at: rf.At, *, page: int = 5) -> pl.Expr:
        assert_type(at.hit, pl.Expr)
        assert_type(at.ideal("list").discount, pl.Expr)
        assert_type(at.running(at.gain.cum_sum()), pl.Expr)
        assert_type(at.k, int | None)
        return (at.rank <= page).sum()

    @rf.metric(
        aliases=("slow",), formula="hits below the first page", range=(0.0, 1.0), direction="lower"
    )
    def later_hits(at: rf.At) -> pl.Expr:
        return rf.ratio((at.rank > 5).sum(), at.n_relevant)

    assert_type(first_page_hits.expr(k=10), pl.Expr)
    assert_type(rf.rec(df).evaluate(first_page_hits(page=3), later_hits @ 10), pl.DataFrame)

    first_page_hits(page="three")  # type: ignore[arg-type]
    first_page_hits(pages=3)  # type: ignore[call-arg]

    @rf.metric  # type: ignore[arg-type]
    def not_an_expression(_at: rf.At) -> float:
        return 1.0


def options_are_checked() -> None:
    rf.rec(df)(universe="everyone")  # type: ignore[call-overload]
    rf.rec(df)(no_relevant="drop")  # type: ignore[call-overload]
    rf.rec(df)(users_frame=df)  # type: ignore[call-overload]
    rf.rec(df, df, univers="both")  # type: ignore[call-overload]
    rf.rec(df, df, universe="everyone", model="model")  # type: ignore[call-overload]
    rf.rec(df).evaluate("ndcg", suport=True)  # type: ignore[call-arg]
    rf.rec(df, model="model").evaluate("ndcg", suport=True)  # type: ignore[call-arg]
    rf.rec(df).group_by("country").evaluate("ndcg", suport=True)  # type: ignore[call-arg]
    rf.frame(df, customer="customer")  # type: ignore[call-arg]
    rf.rec(df).evaluate(10)  # type: ignore[arg-type]
    rf.rec(df).evaluate("ndcg", k="10")  # type: ignore[arg-type]
    rf.rec(df).ndgc(k=10)  # type: ignore[attr-defined]


def ways_in_keep_the_kind_of_frame() -> None:
    assert_type(rf.fuse({"a": df, "b": df}), pl.DataFrame)
    assert_type(rf.fuse(lf, "borda", model="model"), pl.LazyFrame)
    assert_type(rf.from_lists(df), pl.DataFrame)
    assert_type(rf.from_lists(lf, item="items"), pl.LazyFrame)
    assert_type(rf.from_truth(pdf, "grades"), pd.DataFrame)
    assert_type(rf.from_lists({"ann": ["dune"]}), pl.DataFrame)
    assert_type(rf.from_truth({"ann": {"dune": 2}}), pl.DataFrame)
    assert_type(rf.from_scores([[0.5]]), pl.DataFrame)
    assert_type(rf.read_trec_run("svd.run"), pl.DataFrame)


def what_is_tracked_is_eager() -> None:
    assert_type(rf.rec(df).track("ndcg@10", history="h", as_of="2026-11-22"), pl.DataFrame)
    assert_type(rf.rec(lf).track("ndcg@10", history="h", as_of="2026-11-22"), pl.DataFrame)
    assert_type(rf.history("h"), pl.DataFrame)
    assert_type(rf.changes(df), pl.DataFrame)
    assert_type(rf.changes("h"), pl.DataFrame)
    assert_type(rf.flat(df), dict[str, float])
    assert_type(rf.rec(df).fingerprint(), str)
    assert_type(rf.rec(lf).table("ndcg@10").markdown(), str)
    assert_type(rf.rec(lf).report("ndcg@10", by=["country"], baseline="popularity").html, str)


def names_errors_and_the_registry_are_known(score: Callable[[rf.Metric[...]], float]) -> float:
    assert_type(rf.list_metrics(), pl.DataFrame)
    rf.ndgc  # type: ignore[attr-defined]  # noqa: B018
    error: type[ValueError] = rf.RecframeError
    errors: list[type[rf.RecframeError]] = [rf.ColumnError, rf.DataError, rf.UnknownMetricError]
    del error, errors
    return score(rf.ndcg @ 10)


def checkers_do_not_see_what_is_registered() -> None:
    # Open upstream (polars #27795); rf.rec(frame) is the typed spelling. Where an ignore turns unused, say so in the README.
    df.rec.ndcg(k=10)  # type: ignore[attr-defined]
    lf.rec.ndcg(k=10)  # type: ignore[attr-defined]
