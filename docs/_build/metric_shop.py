"""The small shop that the examples of all metrics are asked of: what its frames hold, and the code that makes them."""

from __future__ import annotations

from functools import cache

import polars as pl

import recframe as rf

K = 5
"""The cut-off of all examples."""
ME, ALL = "ana", ("ana", "ben", "cleo")
"""The user of an example of one list, and the users of one of several."""
LISTS = {"ana": "ABCDEFG", "ben": "ACBHE", "cleo": "BAI"}
REFERENCE = {"ana": "BAFCG", "ben": "ABFCG", "cleo": "AFB"}
RELEVANT = {
    "ana": {"B": 3, "D": 1, "G": 2, "H": 1},
    "ben": {"C": 2, "H": 1},
    "cleo": {"A": 1, "J": 1},
}
DISLIKED = {"ana": "C", "ben": "B", "cleo": "I"}
"""What was judged and found not relevant; in the truth of metrics that read it."""
TRAIN = {"ana": "AI", "ben": "AB", "cleo": "ABC", "dan": "ABC", "eva": "ABCEF"}
GENRES = {
    **dict.fromkeys("ACFJ", "drama"),
    **dict.fromkeys("BEGI", "crime"),
    **dict.fromkeys("DHL", "war"),
    "K": "family",
}
CATALOGUE = sorted(GENRES)
PRICES = {item: 5 * (1 + place % 4) for place, item in enumerate(CATALOGUE)}
WIDTH = 88


def truth_of(user: str, *, judged: bool) -> dict[str, int]:
    """Return the relevance of a user's judged items."""
    disliked = dict.fromkeys(DISLIKED[user], 0) if judged else {}
    return dict(sorted({**RELEVANT[user], **disliked}.items()))


def code_of(side: str, users: tuple[str, ...], *, judged: bool, priced: bool = False) -> str:
    """Return the statement that makes a frame; items have a price where `priced`, else a genre."""
    if side == "truth":
        told = [f'"{user}": {_dict(truth_of(user, judged=judged))}' for user in users]
        return _call("rf.from_truth", side, told)
    if side == "items":
        genres = " ".join(GENRES[item] for item in CATALOGUE)
        told = [f'"item": list("{"".join(CATALOGUE)}")', f'"genre": "{genres}".split()']
        told[1:] = [f'"price": {[*PRICES.values()]}'] if priced else told[1:]
        return _call("pl.DataFrame", side, told)
    if side == "train":
        return _call("rf.from_truth", side, _lists(TRAIN, tuple(TRAIN)))
    lists = LISTS if side == "recs" else REFERENCE
    return _call("rf.from_lists", side, _lists(lists, users))


@cache
def frame_of(
    side: str, users: tuple[str, ...], *, judged: bool, priced: bool = False
) -> pl.DataFrame:
    """Return the frame that the statement makes."""
    known = {"rf": rf, "pl": pl}
    exec(code_of(side, users, judged=judged, priced=priced), known)  # noqa: S102  our own statement, that the page shows
    frame: pl.DataFrame = known[side]  # type: ignore[assignment]
    return frame


def _call(function: str, side: str, told: list[str]) -> str:
    """Return a statement on one line, or where that is long on several."""
    line = f"{side} = {function}({{{', '.join(told)}}})"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{side} = {function}({{", *(f"    {one}," for one in told), "})"])


def _lists(of: dict[str, str], users: tuple[str, ...]) -> list[str]:
    return [f'"{user}": list("{of[user]}")' for user in users]


def _dict(relevance: dict[str, int]) -> str:
    return "{" + ", ".join(f'"{item}": {grade}' for item, grade in relevance.items()) + "}"
