"""The first screen of a report: headline, tiles, facts and sentences.

Each function takes rows of the report's numbers, and knows no frame: a new sentence or tile is a function more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import recframe
from recframe.charts.formatting import MINUS, NONE, TIMES, counted, listed, number, per_cent
from recframe.charts.long_format import noun_of
from recframe.metrics.language.definition import Metric
from recframe.reports.decision import SHOWN, Decision, sign_of
from recframe.reports.page import Tile, Tiles
from recframe.reports.page_tables import Row, value_and_interval, with_interval

MEANS_NOTHING = "These numbers mean nothing"

VERDICT_MARKS = {
    **dict.fromkeys(("better", "not worse"), "better"),
    **dict.fromkeys(("worse", "not better"), "worse"),
    **dict.fromkeys(("same", "higher", "lower"), "same"),
}
"""The looks of verdicts, by their words; others are open."""


def headline(
    data: Mapping[str, Sequence[Row]], metrics: Sequence[Metric[...]], decision: Decision | None
) -> str:
    """Return what to ship by the first metric, or without a decision its best value."""
    if decision is not None:
        return decision.text(data["costs"])
    return best_value(data["summary"], metrics[0]) if data["summary"] else ""


def nothing(data: Mapping[str, Sequence[Row]], warned: Sequence[str]) -> str:
    """Return why the numbers of a page mean nothing, or "" where they may mean something."""
    rows = data["summary"]
    if not rows:
        return ""
    for check, role in (("no_common_users", "user"), ("no_common_items", "item")):
        for row in data["findings"]:
            if row["check"] == check and row["frame"] == "truth" and row["severity"] == "error":
                many = "hardly any" if any(one["value"] for one in rows) else "no"
                return f"{MEANS_NOTHING}: {many} {role} id of the lists is in the truth ({row['example']})."
    if not any(row["n_users"] for row in rows):
        why = f" {warned[0]}." if warned else ""
        return f"{MEANS_NOTHING}: no user is counted.{why}"
    alike = [row["std"] == 0 and row["n_users"] > 1 for row in rows]
    values = {row["metric"]: row["value"] for row in rows}
    if all(alike) and all(row["value"] == values[row["metric"]] for row in rows):
        same = listed([f"{metric} is {number(value)}" for metric, value in values.items()])
        return f"{MEANS_NOTHING}: for every user of every list {same}."
    return ""


def tiles(
    data: Mapping[str, Sequence[Row]], metric: Metric[...], decision: Decision | None
) -> Tiles:
    """Return the three numbers of the first screen: the best, its gain over the runner-up, and the users worse off."""
    rows = [row for row in data["summary"] if row["metric"] == str(metric)]
    if decision is None:
        return Tiles([_value_tile(metric, row) for row in rows] if len(rows) == 1 else [])
    best = next(row for row in rows if row["model"] == decision.best)
    value, ends = value_and_interval(best, "value")
    ahead = decision.ahead[0]
    gain, low, high = decision.gain(ahead, signed=True)
    over, role = (
        decision.runner_up,
        "baseline" if decision.runner_up == decision.baseline else "runner-up",
    )
    mark = VERDICT_MARKS.get(ahead["verdict"], "open")
    relative = ahead["relative"]
    share = gain
    if relative is not None:
        written = per_cent(decision.signs[ahead["metric"]] * relative)
        share = written if written.startswith(MINUS) else f"+{written}"
        share = f"{1 + relative:,.0f} x" if relative >= TIMES else share
    found = [
        Tile(f"Best by {metric}", decision.best, f"{value} ({ends})"),
        Tile(f"Gain over the {role}", share, f"{gain} ({low} to {high}) over {over}", mark),
    ]
    if ahead["losses"] is not None:
        n, lose, gain_of = ahead["n_users"], ahead["losses"], ahead["wins"]
        told = f"{lose:,} of {n:,} users; {gain_of:,} better off"
        found.append(Tile("Users worse off", per_cent(lose / n) if n else NONE, told))
    return Tiles(found)


def _value_tile(metric: Metric[...], row: Row) -> Tile:
    value, ends = value_and_interval(row, "value")
    return Tile(
        str(metric),
        value,
        " · ".join(filter(None, [ends, counted(row["n_users"], noun_of(metric))])),
    )


def by_value(rows: Sequence[Row], metric: Metric[...]) -> list[Row]:
    """Return rows of models by their value of a metric, the best first; those without a value last."""
    sign = sign_of(metric) or 1
    values = {row["model"]: row["value"] for row in rows if row["metric"] == str(metric)}
    known = {model: value for model, value in values.items() if value is not None}
    order = sorted(known, key=lambda model: -sign * known[model])
    places = {model: place for place, model in enumerate(order)}
    return sorted(rows, key=lambda row: places.get(row["model"], len(places)))


def tally(rows: Sequence[Row], baseline: str | None) -> str:
    """Return how many comparisons show a difference."""
    n = sum(row["verdict"] in SHOWN for row in rows)
    other = "" if baseline is None else f" with {baseline}"
    of = f"{counted(len(rows), 'comparison')}{other}"
    if n in {0, len(rows)}:
        return f"{'None' if not n else 'Each'} of {of} shows a difference."
    return f"{n:,} of {of} {'shows' if n == 1 else 'show'} a difference."


def for_whom(rows: Sequence[Row], best: str, other: str) -> str:
    """Return in how many segments a model is better than another one."""
    verdicts = [row["verdict"] for row in rows]
    better, worse = (verdicts.count(word) for word in ("better", "worse"))
    said = f"{best} is better than {other} in {better:,} of {counted(len(rows), 'segment')}"
    left = len(rows) - better - worse
    parts = [f"worse in {worse:,}"] * bool(worse) + [f"not told apart in {left:,}"] * bool(left)
    return f"{', '.join([said, *parts])}."


def facts(
    data: Mapping[str, Sequence[Row]], models: Sequence[str], **named: str | None
) -> list[tuple[str, str]]:
    """Return the names and values below the title, of what there is."""
    users = max((row["n_users"] for row in data["summary"]), default=None)
    found: dict[str, Any] = {
        "Users": None if users is None else f"{users:,}",
        "Models": f"{len(models):,}" if models else None,
        **named,
        "recframe": recframe.__version__,
    }
    return [(name, value) for name, value in found.items() if value is not None]


def best_value(rows: Sequence[Row], metric: Metric[...]) -> str:
    """Return the best value of a metric as a sentence."""
    rows = [row for row in rows if row["metric"] == str(metric)]
    known = [row for row in rows if row["value"] is not None]
    if not known:
        return f"No user has a value of {metric}."
    is_lower = metric.direction == "lower"
    best = (min if is_lower else max)(known, key=lambda one: one["value"])
    value = with_interval(best, "value")
    users = counted(best["n_users"], noun_of(metric))
    if len(rows) == 1:
        return f"{metric} is {value}, over {users}."
    if len({row["value"] for row in rows}) == 1:
        return f"All models have the same {metric}: {value}, over {users}."
    extreme = "lowest" if is_lower else "highest"
    return f"{best['model']} has the {extreme} {metric}: {value}, over {users}."


def first_sentence(metric: Metric[...]) -> str:
    """Return the first sentence of a metric's page."""
    return " ".join((metric.__doc__ or "").strip().partition("\n\n")[0].split())
