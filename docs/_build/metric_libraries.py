"""Which library's number a metric is: recorded answers of the libraries, the profiles, and what those switch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import metric_shop as shop
from metric_example import Example
from metric_text import BELOW, code, table

import recframe as rf
from recframe.frames.options import Context
from recframe.metrics.language.definition import Metric
from recframe.metrics.language.registry import parse
from recframe.profiles import under_profile
from recframe.profiles.library_profiles import OWN, PROFILES

RECORDED = Path(__file__).parents[2] / "tests" / "agreement" / "recorded"
BY_USERS = "users"
"""The feature of answers whose items are alike by their train users: a column that lists those of each item."""
SHOWN_CUT = 10
"""Where calls are cut, as people write them most."""
NUMBERS = re.compile(r"(?<![A-Za-z])\d+(?:\.\d+)?")
ELSEWHERE = re.compile(r" on pandas$| -l\d+$|, relevance_level=\d+$|, metric_decimal_place=\d+$")
"""What calls were asked of beside, which changes no definition."""
TITLES = {"spark": "Spark MLlib", "warprec": "WarpRec", "cornac": "Cornac", "scipy": "SciPy"}
IN_OTHER_UNITS = {
    ("warprec", "ItemCoverage"): "as a count",
    ("warprec", "ShannonEntropy"): "in nats",
    ("recpack", "PercentileRanking"): "in per cent",
}
"""Numbers of which the tests hold a multiple against ours."""
TOLD = {
    ("warprec", "epc"): {"universe": "recs"},
    ("warprec", "efd"): {"universe": "recs"},
    ("ndeval", "alpha_ndcg"): {"universe": "both"},
}
"""What the tests tell `rec(...)` for libraries without a profile."""
TOLD_OF_SIDES = {
    "propensity": "`propensity=` a column",
    "items of train": "`items=` those of train",
}
"""What is said of side frames that are not a library's usual ones."""
NOT_SHOWN = {"ties", "decimals", "min_relevance_for"}
"""Switches that say nothing of lists with ranks, or of a whole number's digits."""


@dataclass(frozen=True)
class Answer:
    """A number of a library, and the metric that gives it."""

    library: str
    """The profile, or the library's name where it has none."""
    version: str
    call: str
    """The library's own name of it."""
    metric: Metric[...]
    options: Mapping[str, Any]
    """What `rec(...)` is told: the profile, and what the library was told of the data."""
    whole: bool = False
    """Whether the library takes the whole list."""
    sides: tuple[str, ...] = ()
    """Which side frames recframe is told, as they were recorded."""

    @property
    def kind(self) -> tuple[str, str]:
        """What answers that differ in a number alone have in common."""
        return self.library, NUMBERS.sub("#", self.call)


def section(example: Example) -> str:
    """Return the table of libraries, and their names that mean something else."""
    found = [*_answers_of(example.metric), *_read_alone(example.metric)]
    found.sort(key=lambda one: one.version.casefold())
    parts = []
    if found:
        titles = ["library, its name", "profile, metric", f"on {_whose(example)}", "differs in"]
        lines = table(titles, [_row(example, one) for one in found])
        parts += [_head(example, found), lines, _note(example)]
    if notes := [*_notes(example.metric)]:
        parts.append("\n".join(["Besides:", "", *(f"- {one}" for one in notes)]))
    if others := [*_other_meanings(example.metric)]:
        parts.append(
            "\n".join(["The same name for something else:", "", *(f"- {one}" for one in others)])
        )
    name = example.metric.name
    return "\n\n".join(parts) or f"None of the profiles (`rf.list_profiles()`) has `{name}`."


def _whose(example: Example) -> str:
    return "the three lists" if len(example.users) > 1 else f"{shop.ME}'s list"


def _head(example: Example, found: list[Answer]) -> str:
    """Return how a line of the table is asked, by the first that has a profile."""
    one = next((each for each in found if "profile" in each.options), found[0])
    sides = [f"{side}={side}" for side in example.sides]
    bound = [f"{name}={_quoted(value)}" for name, value in one.options.items()]
    call = f'recs.rec({", ".join([*sides, *bound])}).evaluate("{_asked(one)}")'
    how = "bind its profile" if "profile" in one.options else "set its parameters"
    return f"To get a library's number, {how}: {code(call)}."


def _note(example: Example) -> str:
    name = example.metric.name
    return (
        "Tests compare each row with recorded answers of the library; rows marked † rest on its source code alone. "
        f"*Differs in* lists the switches that differ from `{name}` without a profile: "
        f'`rf.explain("{name}", "recframe", profile)` says what they mean, `rec.explain` how much each adds on your frames.'
    )


@cache
def _answers() -> tuple[Answer, ...]:
    """Return the recorded answers, of those that differ in a number alone the first."""
    found: dict[tuple[str, str], Answer] = {}
    for name in ("values.json", "values_beyond.json", "values_cases.json"):
        told = json.loads((RECORDED / name).read_text(encoding="utf-8"))
        for peer, about in told.items():
            for row in about["rows"]:
                one = _answer(peer, about["versions"], row)
                if one is not None and not ELSEWHERE.search(one.call):
                    found.setdefault(one.kind, one)
    return tuple(found.values())


def _answer(peer: str, versions: Mapping[str, str], row: Mapping[str, Any]) -> Answer | None:
    """Return a recorded line as an answer; None of one that no metric of the registry gives."""
    if row["metric"] is None:
        return None
    metric = parse(row["metric"])
    profile = row.get("profile") or peer
    whole, bound, sides = row.get("k") == [None], row.get("bound") or {}, (*row.get("sides", ()),)
    has = PROFILES[profile].metrics if profile in PROFILES else {}
    if metric.name not in has:
        if not metric.stated - {"of"} and _means_otherwise(profile, metric):
            return None
        options = {**TOLD.get((peer, metric.name), {}), **bound}
        title = _version(profile, versions)
        return Answer(profile, title, row["call"], metric, options, whole, sides)
    plain = parse(metric.name)
    theirs = dict(_convention(profile, plain).metric.parameters)
    stated = {
        name: metric.parameters[name]
        for name in metric.stated
        if name != "of" or metric.parameters["of"] == BY_USERS
    }
    own = {name: value for name, value in stated.items() if theirs[name] != value}
    title = _version(peer, versions) if peer in TITLES else _version(profile, versions)
    options = {"profile": profile, **bound}
    return Answer(profile, title, row["call"], plain(**own), options, whole, sides)


def _means_otherwise(profile: str, metric: Metric[...]) -> bool:
    """Return whether a profile says that its library has another number under the metric's name."""
    return profile in PROFILES and metric.name in (PROFILES[profile].instead or {})


def _convention(profile: str, metric: Metric[...]) -> Any:
    return under_profile.under(under_profile.bind(Context(), {"profile": profile}), metric)


def _version(peer: str, versions: Mapping[str, str]) -> str:
    """Return a library with the version that was asked."""
    title = TITLES.get(peer) or (_title(peer) if peer in PROFILES else peer)
    named = {name.casefold().replace("-", "_"): one for name, one in versions.items()}
    found = next((one for name, one in named.items() if peer[:4] in name), "")
    return title if re.search(r"\d", title) else f"{title} {found}".strip()


def _title(profile: str) -> str:
    """Return a library, with the version that its profile was made of where the source says one."""
    return re.split(r" \(|,| with | on ", PROFILES[profile].source)[0]


def _answers_of(metric: Metric[...]) -> list[Answer]:
    return [one for one in _answers() if one.metric.name == metric.name]


def _read_alone(metric: Metric[...]) -> Iterator[Answer]:
    """Walk what profiles have of a metric that no answer was recorded of."""
    recorded = {one.library for one in _answers_of(metric)}
    for name, profile in PROFILES.items():
        if metric.name in profile.metrics and name not in recorded:
            whole = profile.metrics[metric.name].get("k", "") is None
            options = {"profile": name}
            yield Answer(name, f"{_title(name)} †", "", parse(metric.name), options, whole)


def _notes(metric: Metric[...]) -> Iterator[str]:
    """Walk what profiles note of the metric, which no switch says."""
    for name, profile in PROFILES.items():
        parts = profile.notes.split("; ") if metric.name in profile.metrics else []
        told = [part for part in parts if re.search(rf"\b{metric.name}\b", part, re.IGNORECASE)]
        if told:
            yield f"`{name}`: {'; '.join(told)}."


def _other_meanings(metric: Metric[...]) -> Iterator[str]:
    """Walk what a profile says of the metric's name, which is another number there."""
    for name, profile in PROFILES.items():
        told = (profile.instead or {}).get(metric.name)
        if told:
            yield f"`{name}`: {told}."


def _row(example: Example, one: Answer) -> list[str]:
    unit = IN_OTHER_UNITS.get((one.library, one.call), "")
    called = " ".join([code(one.call)] * bool(one.call) + [unit] * bool(unit))
    bound = ", ".join([*map(code, _bound(one)), *_beside(one)])
    return [
        BELOW.join(filter(None, [one.version, called])),
        BELOW.join(filter(None, [bound, code(_asked(one))])),
        _value(example, one),
        _sets(one),
    ]


def _bound(one: Answer) -> list[str]:
    """Return the profile, and what else is bound."""
    return [
        str(value) if name == "profile" else f"{name}={value}"
        for name, value in one.options.items()
    ]


def _beside(one: Answer) -> list[str]:
    """Return which side frames are other ones than usual."""
    return [TOLD_OF_SIDES[side] for side in one.sides if side in TOLD_OF_SIDES]


def _asked(one: Answer) -> str:
    """Return the metric as it is asked for, with the settings that no profile has."""
    return (one.metric if one.whole else one.metric @ SHOWN_CUT).as_stated


def _value(example: Example, one: Answer) -> str:
    """Return the example's value, at its cut-off where the library has one."""
    metric = one.metric(**_of_the_shop(one.metric))
    asked = example.having(metric if one.whole else metric @ shop.K)
    if profile := one.options.get("profile"):
        # what a profile sets may need a frame that the metric alone does not
        theirs = example.having(_convention(profile, asked.metric).metric)
        asked = replace(asked, more=(*asked.more, *theirs.sides))
    found = asked.values([asked.metric], **one.options)[0]
    return f"{found}{BELOW}(whole list)" if one.whole else found


def _of_the_shop(metric: Metric[...]) -> dict[str, Any]:
    """Return the feature of the shop's items, where an answer was recorded of others."""
    return {"of": "genre"} if metric.parameters.get("of") else {}


def _sets(one: Answer) -> str:
    """Return what a profile sets otherwise than recframe, as switches and their values."""
    if "profile" not in one.options:
        return ""
    found = rf.explain(one.metric, OWN, one.library).frame
    told = [f"{row['switch']}={row['to']}" for row in found.iter_rows(named=True)]
    hidden = NOT_SHOWN | one.options.keys()
    kept = [each for each in told if each.partition("=")[0] not in hidden]
    return BELOW.join(map(code, kept)) or "nothing"


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)
