"""Libraries that have a metric, by their profiles."""

from __future__ import annotations

from metric_text import code, table

from recframe.frames.options import DEFAULTS
from recframe.metrics.language.definition import Metric
from recframe.profiles.library_profiles import PROFILES

BELOW = (
    "[Equivalents](../equivalents.md) has the libraries' own names, [profiles](../reference/profiles.md) who counts in them, "
    "and `rf.explain` says where two of them differ."
)


def section(metric: Metric[...]) -> str:
    """Return a table of the profiles that have a metric, and what its name means elsewhere."""
    rows, others = [], []
    for name, profile in PROFILES.items():
        linked = f"[{code(name)}](../reference/profiles.md#{name})"
        if metric.name in profile.metrics:
            rows.append([linked, code(_asked(metric.name, profile.metrics[metric.name]))])
        if metric.name in profile.instead:
            others.append(f"- {linked}: {profile.instead[metric.name]}.")
    parts = [table(["profile", "what it sets"], rows)] if rows else ["No profile has it."]
    if others:
        parts.append("\n".join(["The same name for something else:", "", *others]))
    return "\n\n".join([*parts, BELOW])


def _asked(name: str, switches: dict[str, object]) -> str:
    """Return a metric with the parameters of a profile."""
    settings = [f"{one}={value}" for one, value in switches.items() if one not in DEFAULTS]
    return f"{name}({', '.join(settings)})" if settings else name
