"""Makes the live pages: a report and a dashboard of the simulated shop, as `save` writes them."""

from __future__ import annotations

from pathlib import Path

import demo_shop

import recframe as rf

METRICS = ("ndcg@10", "recall@10", "coverage@10", "novelty@10")


def pages() -> dict[str, str]:
    """Return both pages."""
    return {"live/report.html": report(), "live/dashboard.html": dashboard()}


def report() -> str:
    """Return the report that home shows a picture of."""
    shop = demo_shop.shop()
    rec = shop.recs.rec(
        shop.truth, users=shop.users, items=shop.items, train=shop.train, model="model"
    )
    made = rec.report(
        *METRICS, baseline="popularity", by="activity", title="Three models of a shop"
    )
    return made.html


def dashboard() -> str:
    """Return the dashboard of twelve weeks."""
    path = Path(demo_shop.weeks().name) / demo_shop.HISTORY
    return rf.dashboard(path, title="Twelve weeks of a shop").html
