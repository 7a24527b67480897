"""What a call warns of: numbers that come out, but are rarely meant, and how to write what is.

A notice is one function of what a call has seen, which returns its words, or None. It asks cheap questions first: what the
result shows, what an eager column knows of itself, its first rows; and all rows only where these leave a doubt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from recframe.audit.notices_of_ids import (
    hardly_any_in_common,
    most_users_without_a_list,
    truth_is_the_lists,
)
from recframe.audit.notices_of_listed_truth import truth_of_the_lists_alone
from recframe.audit.notices_of_lists import (
    lists_of_other_samples,
    lists_without_ranks,
    several_models,
    users_in_two_halves,
)
from recframe.audit.notices_of_models import model_without_common_ids, models_of_unequal_depth
from recframe.audit.notices_of_ranks import (
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
NOTICES: Sequence[Notice] = (
    lists_without_ranks,
    lists_of_other_samples,
    ranks_over_all_lists,
    ranks_as_means,
    scores_without_order,
    users_in_two_halves,
    by_null_in_one_frame,
    by_without_common_values,
    several_models,
    model_without_common_ids,
    models_of_unequal_depth,
    relevance_not_bound,
    level_that_no_row_reaches,
    truth_is_the_lists,
    hardly_any_in_common,
    truth_of_the_lists_alone,
    most_users_without_a_list,
    weights_overflow,
    few_users_with_a_weight,
)
OF_JUDGING = (relevance_not_bound,)
"""Those of what is relevant, which hold before any metric is asked for."""


def tell(seen: Seen, notices: Sequence[Notice] = NOTICES) -> None:
    """Warn of what was found, each notice once, at the user's line."""
    for message in _messages(seen, notices):
        warn(message)


def _messages(seen: Seen, notices: Sequence[Notice]) -> Iterator[str]:
    for notice in notices:
        message = notice(seen)
        if message is not None:
            yield message
