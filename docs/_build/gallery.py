"""Makes the gallery: every chart of `rec.plot`, drawn from the simulated shop, with the call below it."""

from __future__ import annotations

import contextlib
import inspect
import re
from functools import cache
from typing import Any

import demo_shop
import docstrings
import vl_convert

import public_api
from recframe.api.plots import Plot

ABOUT = """\
Every chart of `rec.plot`, with its call. Each returns an [Altair](https://altair-viz.github.io) chart to restyle and save;
charts need `recframe[plot]`. The calls go on from this:"""
SETUP = """\
import recframe as rf
from recframe.demo import simulate

shop = simulate()
rec = shop.recs.rec(
    shop.truth, users=shop.users, items=shop.items, train=shop.train, model="model"
)
"""
GROUPS = {
    "Models": {
        "models": ("The models, the best first", 'rec.plot.models("ndcg@10")'),
        "compare": (
            "Which model is better",
            'rec.plot.compare("ndcg@10", baseline="item_neighbours")',
        ),
        "tradeoff": (
            "Accuracy against coverage",
            'rec.plot.tradeoff("ndcg@10", "coverage@10")',
        ),
    },
    "Users": {
        "segments": ("For whom it works", 'rec.plot.segments("ndcg@10", by="activity")'),
        "distribution": ("How users differ", 'rec.plot.distribution("ndcg@10")'),
    },
    "Length of the list": {
        "curve": ("A metric at each length of the list", 'rec.plot.curve("ndcg", k=range(1, 21))'),
        "hits_by_rank": ("At which ranks the hits are", "rec.plot.hits_by_rank(k=20)"),
        "precision_recall": ("Precision and recall", "rec.plot.precision_recall(k=range(1, 21))"),
    },
    "Items": {
        "exposure": ("How few items fill the lists", "rec.plot.exposure(k=10)"),
    },
    "Over time": {
        "timeline": (
            "Runs from week to week",
            f'rf.history("{demo_shop.HISTORY}").rec.plot.timeline("ndcg@10")',
        ),
    },
}
"""The charts: what each shows, and its call."""
CHARTS = {name: one for group in GROUPS.values() for name, one in group.items()}


def pages() -> dict[str, str]:
    """Return the gallery and its pictures, for light and dark ground."""
    if lost := CHARTS.keys() ^ public_api.members(Plot).keys():
        msg = f"docs/_build/gallery.py does not have these charts, or they are gone: {sorted(lost)}"
        raise ValueError(msg)
    parts = ["# Gallery of charts", ABOUT, f"```python\n{SETUP}```"]
    for title, charts in GROUPS.items():
        parts.append(f"## {title}")
        for name, (told, _) in charts.items():
            what = docstrings.first_sentence(inspect.getdoc(getattr(Plot, name)) or "")
            more = f"{what} [All arguments](reference/plot/{name}.md)."
            parts += [f"### {told}", shown(name), more]
    drawn = {
        f"gallery/{name}_{theme}.svg": _drawn(name, theme)
        for name in CHARTS
        for theme in ("light", "dark")
    }
    return {"gallery.md": "\n\n".join(parts) + "\n", **drawn}


def shown(name: str, up: str = "") -> str:
    """Return the picture of a chart and its call, on a page that is so far below the gallery."""
    pictures = "\n".join(
        f"![{_said(name)}]({up}gallery/{name}_{theme}.svg#only-{theme})"
        for theme in ("light", "dark")
    )
    return f"{pictures}\n\n```python\n{CHARTS[name][1]}\n```"


def _said(name: str) -> str:
    """Return a chart in words: its description, or its title and what stands below it."""
    spec = _spec(name, "light")
    titles = [" ".join(spec["title"].get(part, [])) for part in ("text", "subtitle")]
    return re.sub(r"[\[\]\n]", " ", spec.get("description") or ": ".join(titles))


def _drawn(name: str, theme: str) -> str:
    """Return the picture of a chart as SVG."""
    drawn: str = vl_convert.vegalite_to_svg(_spec(name, theme))
    return drawn


@cache
def _spec(name: str, theme: str) -> dict[str, Any]:
    """Return the specification of a chart, without ground of its own."""
    call = CHARTS[name][1].replace(".plot.", f'.plot(theme="{theme}").')
    with contextlib.chdir(demo_shop.weeks().name):
        chart: Any = eval(call, {**_known()})  # noqa: S307  our own lines, which the page shows
    spec: dict[str, Any] = chart.to_dict()
    spec["background"] = None
    spec.setdefault("config", {})["background"] = None
    return spec


@cache
def _known() -> dict[str, Any]:
    """Return the names that the calls know."""
    known: dict[str, Any] = {}
    exec(SETUP.replace("simulate()", "demo_shop.shop()"), known | {"demo_shop": demo_shop}, known)  # noqa: S102
    return known
