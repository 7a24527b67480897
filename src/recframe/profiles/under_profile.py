"""Metrics under a profile: the policies and parameters that apply."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from recframe.errors import RecframeError
from recframe.evaluation.required_columns import Convention, needs_of
from recframe.frames.hints import Given
from recframe.frames.inputs import Frames
from recframe.frames.options import DEFAULTS, Context
from recframe.metrics.language import weighing
from recframe.metrics.language.definition import Metric
from recframe.profiles import library_profiles

GAINS = {"gain", "ideal_gain"}


def bind(context: Context, options: Mapping[str, Any]) -> Context:
    """Return the context with new values of some options, validated."""
    if "profile" in options:
        library_profiles.check_name(options["profile"])
    return context.bind(options)


def under(context: Context, metric: Metric[...]) -> Convention:
    """Return the metric under the profile of a context; what was bound or stated wins over the profile.

    A threshold that holds for binary metrics alone is dropped here from a metric that weighs gains.
    """
    if switches := library_profiles.switches_of(context.profile, metric.name, metric.k):
        policies = {name: value for name, value in switches.items() if name in DEFAULTS}
        context = context.assuming(policies)
        metric = metric.assuming(
            {name: switches[name] for name in switches if name not in DEFAULTS}
        )
    if context.min_relevance_for == "binary" and needs_of(metric).columns & GAINS:
        context = context.having(min_relevance=None)
    return Convention(context.having(min_relevance_for="all"), _weighed(context, metric))


def _weighed(context: Context, metric: Metric[...]) -> Metric[...]:
    """Return the metric as a weighted mean, where a column of weights is bound."""
    if context.weight is None:
        return metric
    if metric.definition.over_lists:
        raise RecframeError(
            f"{metric} runs over lists, but {Given('weight', context.weight)} weighs only metrics over users; request it in "
            "a call without weight="
        )
    return weighing.weighed(metric)


def own(context: Context) -> Context:
    """Return the context under its profile's policies, those that hold where no metric has others."""
    return context.assuming(library_profiles.policies_of(context.profile))


def at_home(inputs: Frames) -> Frames:
    """Return the inputs under their profile's policies; of lists of which nobody knows what is relevant, all users count."""
    return inputs.under(own(inputs.context)) if inputs.judged else inputs


def asked(context: Context, metrics: Iterable[Metric[...]]) -> list[Convention]:
    """Return the metrics under the profile of a context, one for each column."""
    found: dict[str, Convention] = {}
    for metric in metrics:
        new = under(context, metric)
        if found.setdefault(str(metric), new).metric.settings != new.metric.settings:
            raise RecframeError(
                f"{str(metric)!r} is requested with the parameters of the profile {context.profile!r} and with others, but "
                "both columns would have the same name; request them in two calls"
            )
    return list(found.values())
