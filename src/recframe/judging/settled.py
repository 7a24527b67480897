"""A large eager frame asked, ahead of its plan, what the plan can rely on; no answer changes a number."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from recframe.frames.collecting import Ask, stream
from recframe.frames.inputs import Inputs
from recframe.frames.rows.packing import SMALL_INTEGERS, fits_31_bits, fits_64_bits
from recframe.frames.rows.questions import (
    are_distinct,
    are_in_order,
    distinct,
    each_item_once,
    heads,
    marked_sorted,
    n_distinct,
    numbered,
    of_one_gain,
)
from recframe.judging.judged_frame import PAIR, Judged, rows_of_models
from recframe.judging.known import Known
from recframe.judging.members import members_of_items


def models_of(inputs: Inputs) -> pl.DataFrame:
    """Return the models, where one is bound, of an eager frame.

    NOTE: streamed whatever the size, since in memory the whole column would be copied. Lists mostly stand model by model.
    """
    return stream(heads(rows_of_models(inputs), "model").unique())


def with_users(judged: Judged, ask: Ask) -> Judged:
    """Return a judgement whose frame was asked for its users alone."""
    users = marked_sorted(ask([judged.users])[0], "user")
    n_users = ask([n_distinct(users)])[0].item()
    return replace(
        judged, known=replace(judged.known, n_users=n_users, crowd=_crowd(users, n_users))
    )


def with_first(judged: Judged, ask: Ask, k: int | None) -> Judged:
    """Return a judgement whose rows up to k were taken from its lists and asked whether an item repeats."""
    (rows,) = ask([judged.counted(judged.ranked(k), {"truth", "both"})])
    first = each_item_once(marked_sorted(rows, "user"), judged.list_keys, ask).lazy()
    return replace(judged, known=replace(judged.known, first=first))


def settled(judged: Judged, ask: Ask, k: int | None, *, by_number: bool) -> Judged:
    """Return a judgement whose frame was asked once what a plan up to k can rely on.

    `by_number` allows lists to be told apart by a number in place of their user, which no branch but the hits and the
    relevant rows has.
    """
    if judged.known.distinct:  # a judged frame made of two, which every branch reads
        return replace(judged, lists=ask([judged.lists])[0].lazy())
    if judged.inputs.tells_ranks_apart:
        judged = replace(judged, lists=ask([judged.lists])[0].lazy())
    pairs, users = ask([judged.relevant_rows(), judged.users])
    numbers = by_number and judged.universe not in {"recs", "both"}
    if numbers and not pairs.schema["user"].is_integer():
        pairs = numbered(pairs)
        names = pairs.lazy().select("number", "user").unique("number")
        judged = replace(judged, known=Known(names=names))
    pairs, users = marked_sorted(pairs, judged.key), marked_sorted(users, "user")
    keys = judged.list_keys if judged.truth is None else [judged.key]
    questions = [are_distinct(pairs, keys), n_distinct(users)]
    if judged.truth is None:
        questions.append(are_in_order(pairs, keys))
    distinct, n_users, *in_order = (answer.item() for answer in ask(questions))
    members = members_of_items(judged, ask)
    scores = judged.scores and judged.scores.settled(ask, k, distinct=distinct)
    known = Known(
        pairs=pairs.lazy(),
        distinct=distinct,
        in_order=in_order == [True]
        or (scores is not None and scores.gains_at_hand(k) and not judged.rows),
        packs=judged.truth is not None and _packs(judged, pairs),
        narrow=keys == [judged.key] and fits_64_bits(pairs[judged.key], pairs["gain"]),
        best_given=distinct and _stand_as_they_are(judged) and of_one_gain(pairs, judged.key),
        n_users=n_users,
        crowd=_crowd(users, n_users),
        names=judged.known.names,
        members=None if members is None else members.lazy(),
    )
    return replace(judged, scores=scores, known=known)


def _crowd(users: pl.DataFrame, n_users: int | None) -> pl.LazyFrame:
    """Return the users with fewer repeats; each once where nobody counted them."""
    return heads(users.lazy()) if n_users is not None else distinct(users["user"]).to_frame().lazy()


def _stand_as_they_are(judged: Judged) -> bool:
    """Return whether the relevant rows of a list are those that were taken, in their order."""
    as_taken = judged.context.relevant_from == "truth" and judged.models is None
    return as_taken and len(judged.list_keys) == 1 and judged.universe not in {"recs", "both"}


def _packs(judged: Judged, pairs: pl.DataFrame) -> bool:
    dtypes = [frame[name] for frame in (judged.schema, pairs.schema) for name in PAIR]
    return all(dtype in SMALL_INTEGERS for dtype in dtypes) and fits_31_bits(pairs, PAIR)
