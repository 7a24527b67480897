"""What a terminal is sent: ids and names move no cursor, set no clipboard and fill no screen; a table fits and says all."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click
import polars as pl
import pytest
from click.testing import CliRunner, _NamedTextIOWrapper
from rich.cells import cell_len

import recframe as rf
from recframe.charts.formatting import MINUS, number
from recframe.cli.commands import main
from recframe.cli.output import BREAKS
from recframe.demo import simulate
from shop_files import run

# sets the clipboard (OSC 52), clears the screen, colours by a C1 control, turns the direction of text, ends a line
SIGNS = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202e\u2028"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OWN = re.compile(r"\x1b\[\??\d*[A-Za-z]|\r(?=\x1b)")
"""Bold heads and colours of tables, which are the command's own."""
EMPTY: Mapping[str, str] = {}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with tables whose ids, segments, models and columns have signs of control."""
    monkeypatch.chdir(tmp_path)
    users = [f"{name}{SIGNS}" for name in "abcd"]
    recs = pl.DataFrame({"user": users * 2, "item": [f"i{SIGNS}"] * 8, "rank": [1] * 8})
    model = pl.Series("model", [f"m{SIGNS}"] * 4 + ["n"] * 4)
    recs.with_columns(model).write_parquet("recs.parquet")
    truth = pl.DataFrame({"user": users[:2] + users[:1], "item": [f"i{SIGNS}"] * 3})
    truth.write_parquet("truth.parquet")
    countries = [f"c{SIGNS}\r\n\0", "d", "d", None]
    pl.DataFrame({"user": users, f"country{SIGNS}": countries}).write_parquet("users.parquet")
    return tmp_path


FILES = ("recs.parquet", "truth.parquet", "--model", "model")
BY = ("--users", "users.parquet", "--by", f"country{SIGNS}")


@pytest.mark.parametrize(
    "arguments",
    [
        ("evaluate", *FILES, *BY, "-m", "mrr"),
        ("compare", *FILES, "-m", "mrr"),
        ("audit", *FILES),
        ("require", *FILES, *BY, "mrr >= 0.99"),
        ("require", *FILES, f"mrr >= 0.99 * 'm{SIGNS}'"),
        ("evaluate", *FILES, "--users", "users.parquet", "--by", f"contry{SIGNS}", "-m", "mrr"),
        ("evaluate", f"no{SIGNS}.parquet", "truth.parquet"),
        ("evaluate", *FILES, f"--option{SIGNS}"),
        (f"evaluate{SIGNS}", *FILES),
    ],
    ids=lambda arguments: arguments[0][:9],
)
def test_what_a_terminal_would_obey_is_seen_as_text(arguments):
    result = CliRunner().invoke(main, arguments, color=True)
    assert isinstance(result.exception, SystemExit | None)
    printed = OWN.sub("", result.output)
    assert OBEYED.findall(printed) == []
    assert r"\x1b]52;c;aGk" in printed


def on_a_terminal(*arguments: str, environment: Mapping[str, str] = EMPTY) -> str:
    """Return what a command writes to a terminal of the system of 80 columns."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    command = [sys.executable, "-m", "recframe", *arguments]
    around = {name: one for name, one in os.environ.items() if name not in {"COLUMNS", "NO_COLOR"}}
    with subprocess.Popen(  # noqa: S603
        command, stdin=its, stdout=its, stderr=its, env={**around, **environment}
    ) as process:
        os.close(its)
        found = b"".join(iter(partial(_piece, ours), b""))
        assert process.wait(60) == 0
    os.close(ours)
    return found.decode().replace("\r\n", "\n")


def _piece(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux' end of a terminal
        return b""


def test_a_terminal_of_the_system_is_sent_text_alone_of_data_too():
    command = ("evaluate", *FILES, *BY, "-m", "mrr", "--format", "csv")
    shown = OWN.sub("", on_a_terminal(*command))
    assert OBEYED.findall(shown) == []
    assert r"\x1b]52;c;aGk=\x07" in "".join(shown.split())


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_pipe_gets_the_bytes_of_the_file(form):
    command = ("evaluate", *FILES, *BY, "-m", "mrr")
    piped = run(*command, "--format", form).stdout_bytes
    assert run(*command, "-o", f"result.{form}").exit_code == 0
    assert piped == Path(f"result.{form}").read_bytes()
    assert form != "csv" or SIGNS.encode() in piped


JUDGED = ("--columns", "relevance=rank", "--model", "model")


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit", "lists.parquet", "lists.parquet"),
        ("evaluate", "lists.parquet", "named.parquet"),
        ("require", "lists.parquet", "n_hits >= 900", "--strict", *JUDGED),
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_id_of_megabytes_makes_a_short_message(arguments):
    long = "x" * 2_000_000
    lists = pl.DataFrame({"user": [long, long, "b"], "item": [long, long, "j"]})
    lists.with_columns(rank=pl.lit(1), model=pl.lit(long)).write_parquet("lists.parquet")
    pl.DataFrame({"user": ["b"], long: [1]}).write_parquet("named.parquet")
    result = run(*arguments)
    assert re.search("x{40}(\\.\\.\\.|…)", result.output)
    assert len(result.stderr) < 1_000
    assert len(result.output) < 10_000


# tables


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a simulated shop, whose names are long, and a history of it."""
    folder = tmp_path_factory.mktemp("shop")
    simulate(seed=1, n_users=150, n_items=80).save(folder)
    by = ("--users", f"{folder}/users.parquet", "--by", "country", "--history", f"{folder}/runs")
    for day in range(1, 12):
        command = ("track", *LISTS, "--as-of", f"2026-11-{day:02}", "--name", "nightly", *by)
        result = run(*(one.replace("SHOP", str(folder)) for one in command))
        assert result.exit_code == 0, result.output
    return folder


LISTS = ("SHOP/recs.parquet", "SHOP/truth.parquet", "--model", "model", "-m", "ndcg@10,recall@10")
SEGMENTS = (*LISTS, "--users", "SHOP/users.parquet", "--by", "country,activity")
GATE = ("ndcg@10 >= 0.2", "recall@10 >= 0.99 * popularity")
TABLES = {
    "defaults": ("evaluate", *LISTS[:4]),
    "values": ("evaluate", *SEGMENTS, "-m", "mrr,map,hit_rate@10,precision@10"),
    "intervals": ("summarize", *SEGMENTS),
    "pairs": ("compare", *SEGMENTS, "--min-users", "5"),
    "baseline": ("compare", *LISTS, "--baseline", "popularity"),
    "power": ("power", *LISTS, "--baseline", "popularity"),
    "gaps": ("gaps", *SEGMENTS, "--min-users", "5"),
    "slices": ("slices", *SEGMENTS, "--min-users", "5"),
    "gate": ("require", *SEGMENTS[:4], *GATE, *SEGMENTS[6:]),
    "findings": ("audit", *LISTS[:2]),
    "history": ("history", "SHOP/runs"),
    "changes": ("changes", "SHOP/runs", "--window", "5"),
    "explained": ("explain", "map@10", "ranx", "recbole"),
    "metrics": ("metrics",),
    "profiles": ("profiles",),
    "demo": ("demo", "--n-users", "100", "--n-items", "60"),
}
RAW = {"history", "changes"}
"""Tables whose values and intervals are columns of their own in a pipe."""


def printed(shop: Path, name: str, width: int | None = None) -> str:
    """Return what a command prints to a pipe, or to a terminal of some columns."""
    arguments = [one.replace("SHOP", str(shop)) for one in TABLES[name]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_NamedTextIOWrapper, "isatty", lambda _: width is not None)
        result = CliRunner(env={"COLUMNS": str(width), "NO_COLOR": "1"}).invoke(main, arguments)
    assert result.exit_code in {0, 1}, result.output
    return click.unstyle(result.stdout)


def words(text: str) -> set[str]:
    """Return the words of a text, of names their parts, numbers without groups of digits, notes without what parts them."""
    found = (re.sub(r"(?<=\d),(?=\d{3})|[;,]$", "", word) for word in text.split())
    return {part for word in found for part in re.split(BREAKS[0], word) if part}


LEFT_OUT = r"without ([^:]*), for want of room: -o FILE has all columns"


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", TABLES)
def test_a_terminal_shows_all_that_a_pipe_does_in_its_width_and_breaks_no_word(shop, name, width):
    shown, wide, piped = (printed(shop, name, columns) for columns in (width, 1_000, None))

    assert max(map(cell_len, shown.splitlines())) <= width
    if name == "findings":
        # an example of many is another one each time
        shown, wide, piped = (re.sub(r"\d+", "1", one) for one in (shown, wide, piped))
    in_a_line = " ".join(shown.split())
    gone = words(" ".join(re.findall(LEFT_OUT, in_a_line)))
    # lines of code go on behind three points, and a table is underlined as far as it is wide
    own = {"...", "·", *re.findall("─+", shown)}
    assert words(re.sub(LEFT_OUT, "", in_a_line)) - own <= words(wide)
    if name not in RAW:
        assert words(piped.splitlines()[0]) <= words(shown.partition("─")[0]) | gone | {"note"}
    if name not in RAW and not gone:
        assert words(piped) - {"null", *re.findall("─+", piped)} - words(shown) == set()


@pytest.mark.parametrize(
    ("name", "heads"),
    [
        ("baseline", "model metric verdict relative p_adjusted difference"),
        ("defaults", "model ndcg@10 recall@10 precision@10 hit_rate@10 mrr@10 map@10"),
        ("gate", "model country activity requirement state value bound difference"),
    ],
)
def test_columns_that_matter_most_fit_into_80_columns(shop, name, heads):
    assert words(heads) <= words(printed(shop, name, 80).partition("─")[0])


def test_a_history_has_values_with_their_intervals(shop):
    shown = printed(shop, "history", 80)
    for row in rf.history(shop / "runs").select("value", "low", "high").tail(5).iter_rows():
        value, low, high = (number(one, row[1:]).replace(MINUS, "-") for one in row)
        assert f"{value} [{low}, {high}]" in shown


def test_what_is_the_same_in_all_rows_stands_once_above_them(shop):
    caption, head, *_ = printed(shop, "baseline", 80).splitlines()
    assert caption == "baseline popularity, n_users 150"
    assert "n_users" not in head
    assert len(re.findall(r" 150\b", printed(shop, "baseline"))) == 4


def test_a_verdict_that_is_open_beside_an_interval_beyond_0_says_why(shop):
    command = ("compare", *SEGMENTS, "--min-users", "5", "-o", "SHOP/pairs.parquet")
    assert run(*(one.replace("SHOP", str(shop)) for one in command)).exit_code == 0
    pairs = pl.read_parquet(shop / "pairs.parquet")
    beyond = (pl.col("difference_low") > 0) | (pl.col("difference_high") < 0)
    beyond = pairs.filter(beyond, pl.col("verdict") == "open")

    assert len(beyond) > 0
    why = f"significant alone, not after correcting for {pairs['p_adjusted'].count()} comparisons"
    assert beyond["note"].str.contains(why).all()
    alone = pairs["note"].to_list().count(why)
    said = "note on 1 row" if alone == 1 else f"note on {alone} rows"
    assert f"{said}: {why}\n" in printed(shop, "pairs", 120)


GREEN, RED, YELLOW = "\x1b[32m", "\x1b[31m", "\x1b[33m"


@pytest.mark.parametrize(
    ("environment", "colours"),
    [({}, {GREEN, RED, YELLOW}), ({"NO_COLOR": "1"}, set()), ({"TERM": "dumb"}, set())],
    ids=["colours", "no_color", "dumb"],
)
def test_words_have_colours_where_a_terminal_has_them(shop, environment, colours):
    pair = ("compare", *(one.replace("SHOP", str(shop)) for one in LISTS))
    sent = on_a_terminal(*pair, environment={"TERM": "xterm-256color"} | environment)

    assert {*re.findall(r"\x1b\[3\dm", sent)} == colours
    assert max(map(len, click.unstyle(sent).splitlines())) <= 80
    assert {"better", "worse", "open"} <= words(click.unstyle(sent))
    piped = CliRunner(env={"FORCE_COLOR": "1"}).invoke(main, pair, color=True)
    assert "\x1b" not in piped.stdout


def test_the_demo_ends_with_a_sentence_on_a_screen_of_sixty_lines(monkeypatch):
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda _: True)
    shown = run("demo", "--save", "to/try", COLUMNS="80").stdout
    assert len(shown.partition("Wrote")[0].splitlines()) <= 60
    assert max(map(len, click.unstyle(shown).splitlines())) <= 80
    assert re.search(r"is the best model:[^\n]*\n[^\n]*\.\n$", shown)
