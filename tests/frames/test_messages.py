"""Ids and names in messages and in what a `rec` shows of itself: seen as text, and cut to a length, in Python and in plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import recframe as rf
from recframe.errors import LONGEST, readable, shown_in_plan

SIGNS = "\x1b]52;c;aGk=\x07\u202e\u2028"
SEEN = r"\x1b]52;c;aGk=\x07\u202e\u2028"
LONG = "x" * 5_000_000
# what joins letters and emojis is no sign of control
JOINED = "\u0646\u200c\u0647 \U0001f468\u200d\U0001f469 a\u00a0b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"column {'o' + SIGNS!r} is", rf"column 'o{SEEN}' is"),
        (f"the user 'o{SIGNS}'\nand", f"the user 'o{SEEN}'\nand"),
        (f"model {LONG!r} is not 'a'", f"model '{'x' * (LONGEST - 1)}...' is not 'a'"),
        (f"it's \"'{LONG}\" of 'a'", f"it's \"'{'x' * (LONGEST - 2)}...\" of 'a'"),
        (f"model {LONG} is not", f"model {'x' * LONGEST}... is not"),
        # words between quotes are no quotation, however many there are
        (f"'f(x)' {'of the users ' * 40}'b'", f"'f(x)' {'of the users ' * 40}'b'"),
        (JOINED, JOINED),
    ],
)
def test_a_message_has_ids_of_a_length_without_signs_of_control(text, expected):
    assert readable(text) == expected
    assert readable(expected) == expected
    assert str(rf.RecframeError(text)) == expected


@pytest.mark.parametrize("kept", ["a", "\\", "'", "\x1b", "'\"", " "])
def test_a_message_is_short_whatever_an_id_is_made_of(kept):
    long = kept * 2_000_000
    assert len(readable(f"the user {long!r} is")) < 1_000
    assert len(readable(f"the user '{long}' is")) < 50_000


def test_a_plan_shows_ids_as_python_does():
    ids = ["a", SIGNS, "\r\n\t\0", "x" * LONGEST, "x" * (LONGEST + 1), None]
    shown = ["a", SEEN, r"\r\n\t\x00", "x" * LONGEST, "x" * LONGEST + "...", None]
    found = pl.LazyFrame({"id": ids}).select(shown_in_plan(pl.col("id")))
    assert found.collect(engine="streaming")["id"].to_list() == shown


def frame(user: str, model: str = "m") -> pl.DataFrame:
    return pl.DataFrame({"user": user, "item": 1, "rank": [1], "relevance": 1, "model": model})


def hostile(name: str) -> list[Callable[[], Any]]:
    """Return calls that fail with an id, a value or a name in their message."""
    one, named = frame(name), frame("u").rename({"relevance": name})
    rec = frame("u", name).rec(model="model")
    lists = pl.LazyFrame({"user": ["u"], "items": [["a", "b"]], "scores": [["1", name]]})
    return [
        named.rec.ndcg,
        lambda: named.rec(relevance=f"{name}!").ndcg(),
        lambda: frame("u").rec.evaluate("ndcg", by=name),
        lambda: rf.parse(f"ndcg({name})"),
        lambda: rec.compare("ndcg", baseline="n"),
        lambda: rec.require("n_hits >= 900", strict=True),
        lambda: frame("u", name).lazy().rec(model="model").compare("ndcg", baseline="n").collect(),
        lambda: one.rec.evaluate("ndcg", by="user", model=name),
        lambda: rf.from_lists(lists).collect(),
        lambda: pl.concat([one, one]).rec(strict=True).ndcg(),
        lambda: rf.rec({name: frame("u"), "n": one}, model="user").ndcg(),
    ]


def assert_readable(text: str, most: int) -> None:
    assert not {"\x1b", "\u202e", "\u2028"} & {*text}
    assert len(text) < most


@pytest.mark.parametrize("call", range(len(hostile(""))))
def test_errors_are_short_and_have_no_signs_of_control(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (SIGNS, LONG):
        with pytest.raises((rf.RecframeError, pl.exceptions.PolarsError)) as caught:
            hostile(name)[call]()
        assert_readable(str(caught.value), 5_000)  # of which Polars says the plan


def test_findings_and_reprs_too():
    plain = frame("u").drop("model")
    for name in (SIGNS, LONG):
        named, again = frame(name).rec(model="model"), pl.concat([frame(name), frame(name)])
        shown = [
            frame("u").rec(user=name),
            frame("u").rec(item=name, train=frame("u")),
            rf.rec({name: plain, "n": plain}, model="model"),
            frame("u").rec(model=name).ndcg,
            named.explain("ndcg", "trec_eval"),
            again.rec.audit().to_dicts(),
            named.table("ndcg"),
        ]
        for one in shown:
            assert_readable(str(one), 6_000)
