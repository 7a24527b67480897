"""What a call warns of: numbers that come out, but are rarely meant, and how to write what is.

A notice is one function of what a call has seen, which returns its words, or None. It asks cheap questions first: what the
result shows, what an eager column knows of itself, its first rows; and all rows only where these leave a doubt.
"""

from __future__ import annotations

from collections.abc import Iterator

from recframe.audit.notices_of_ids import (
    hardly_any_in_common,
    most_users_without_a_list,
    truth_is_the_lists,
)
from recframe.audit.notices_of_lists import (
    lists_of_other_samples,
    lists_without_ranks,
    several_models,
    users_in_two_halves,
)
from recframe.audit.notices_of_truth import grades_not_bound
from recframe.audit.seen import Seen
from recframe.errors import warn

NOTICES = (
    lists_without_ranks,
    lists_of_other_samples,
    users_in_two_halves,
    several_models,
    grades_not_bound,
    truth_is_the_lists,
    hardly_any_in_common,
    most_users_without_a_list,
)


def tell(seen: Seen) -> None:
    """Warn of what was found, each notice once, at the user's line."""
    for message in _messages(seen):
        warn(message)


def _messages(seen: Seen) -> Iterator[str]:
    for notice in NOTICES:
        message = notice(seen)
        if message is not None:
            yield message
