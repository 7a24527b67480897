"""What becomes of calls in forked processes: words where Polars' threads stayed behind, and numbers wherever they did not."""

from __future__ import annotations

import sys

import pytest

from own_python import printed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="where processes are forked")

IN_A_CHILD = """
import multiprocessing, os
import polars as pl
COLUMNS = {"user": [1, 1], "item": [1, 2], "rank": [1, 2], "relevance": [0, 1]}

def asked(call):
    import recframe as rf
    frame = pl.DataFrame(COLUMNS)
    try:
        return eval(call)
    except rf.RecframeError as error:
        return str(error)

def forked(call):
    pool = multiprocessing.get_context("fork").Pool(1)
    try:
        return pool.apply_async(asked, (call,)).get(timeout=30)
    finally:
        pool.terminate()
"""
"""Each call is made in a pool of one forked process; one that hangs is a TimeoutError after half a minute."""
IMPORTED = "import recframe\n"
A_FRAME = IMPORTED + "frame = pl.DataFrame(COLUMNS); bound = frame.rec(truth=frame)\n"
A_QUERY = "pl.DataFrame(COLUMNS).group_by('user').agg(pl.col('rank').sum())\n"
A_CALL = A_FRAME + "frame.rec.mrr(k=2)\n"
MRR = "frame.rec.mrr(k=2)"
WORDS = "forked from one in which Polars had started its threads"


def in_a_forked_child(before: str, *calls: str) -> list[str]:
    script = f"{IN_A_CHILD}{before}\nfor call in {calls}: print(forked(call))"
    # Python 3.12 and later warn of any fork beside threads
    return printed(script, options="-W error -W ignore::DeprecationWarning").splitlines()


@pytest.mark.parametrize(
    ("before", "computes"),
    [
        (IMPORTED, True),
        (A_FRAME, True),
        (IMPORTED + A_QUERY, False),
        (A_CALL, False),
    ],
)
def test_a_fork_computes_ahead_of_the_first_query_and_says_what_to_write_behind_it(
    before, computes
):
    (found,) = in_a_forked_child(before, MRR)

    # the first relevant item stands at rank 2
    assert found == "0.5" if computes else WORDS in found
    assert computes or "multiprocessing.get_context('spawn')" in found


def test_whatever_is_asked_behind_a_query_does_not_hang():
    calls = (
        "frame.lazy().rec.evaluate('mrr')",
        "rf.from_lists({'a': ['x', 'y']})",
        "rf.from_scores([[0.1, 0.9]], users=['a'], items=['x', 'y'])",
        "frame.rec(truth=frame).audit()",
    )

    assert [WORDS in found for found in in_a_forked_child(A_CALL, *calls)] == [True] * len(calls)
    assert in_a_forked_child(A_CALL, "repr(frame.rec)") == ["rec of a polars.DataFrame of 2 rows"]


def test_threads_have_other_names():
    named = "os.environ.update(POLARS_THREAD_NAME='a-rather-long-name')\n"

    assert in_a_forked_child(named + IMPORTED, MRR) == ["0.5"]
    assert WORDS in in_a_forked_child(named + IMPORTED + A_QUERY, MRR)[0]


def test_a_child_of_a_child_is_asked_anew():
    inner = "(frame.rec.mrr(k=2), forked('frame.rec.mrr(k=2)'))"
    # which Python does not let a pool's processes have, unless they say so
    may_have_one = "multiprocessing.current_process()._config.update(daemon=False) or "

    first, second = in_a_forked_child(IMPORTED, may_have_one + inner)[0].split(", ", 1)

    assert first == "(0.5"
    assert WORDS in second
