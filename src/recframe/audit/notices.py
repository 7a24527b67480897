"""What a call warns of: numbers that come out, but are rarely meant, and how to write what is.

A notice is one function of what a call has seen, which returns its words, or None. It asks cheap questions first: what the
result shows, what an eager column knows of itself, its first rows; and all rows only where these leave a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from recframe.audit.notices_of_ids import (
    hardly_any_in_common,
    most_users_without_a_list,
    truth_is_the_lists,
)
from recframe.audit.notices_of_listed_truth import truth_of_the_lists_alone
from recframe.audit.notices_of_lists import (
    lists_of_other_samples,
    several_models,
    users_in_two_halves,
)
from recframe.audit.notices_of_models import model_without_common_ids, models_of_unequal_depth
from recframe.audit.notices_of_ranks import (
    lists_without_ranks,
    ranks_as_means,
    ranks_over_all_lists,
    scores_without_order,
)
from recframe.audit.notices_of_segments import by_null_in_one_frame, by_without_common_values
from recframe.audit.notices_of_truth import level_that_no_row_reaches, relevance_not_bound
from recframe.audit.notices_of_weights import few_users_with_a_weight, weights_overflow
from recframe.audit.seen import Seen
from recframe.errors import warn

Notice = Callable[[Seen], str | None]
NOTICES: Mapping[Notice, set[str]] = {
    lists_without_ranks: {"ranks"},
    lists_of_other_samples: set(),
    ranks_over_all_lists: {"ranks", "lists at hand"},
    ranks_as_means: {"fractions", "lists at hand"},
    scores_without_order: {"scores", "lists at hand"},
    users_in_two_halves: {"segments"},
    by_null_in_one_frame: {"segments", "lists at hand", "truth at hand"},
    by_without_common_values: {"segments", "truth"},
    several_models: {"labels"},
    model_without_common_ids: {"models"},
    models_of_unequal_depth: {"models", "lists at hand"},
    relevance_not_bound: {"sides"},
    level_that_no_row_reaches: {"level"},
    truth_is_the_lists: {"sides"},
    hardly_any_in_common: {"sides"},
    truth_of_the_lists_alone: {"lists at hand", "truth at hand"},
    most_users_without_a_list: {"truth"},
    weights_overflow: {"weights", "users at hand"},
    few_users_with_a_weight: {"weights", "users at hand"},
}
"""The warnings, each with the traits without which it cannot apply."""
OF_JUDGING: Mapping[Notice, set[str]] = {relevance_not_bound: {"sides"}}
"""Those of what is relevant, which hold before any metric is asked for."""


def tell(seen: Seen, notices: Mapping[Notice, set[str]] = NOTICES) -> None:
    """Warn of what was found, each notice once, at the user's line."""
    for notice, traits in notices.items():
        message = notice(seen) if traits <= seen.traits else None
        if message is not None:
            warn(message)
