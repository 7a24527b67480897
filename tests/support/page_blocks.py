"""Runs the code blocks of pages as a reader would: `python tests/support/page_blocks.py docs/start.md` writes what they give.

A page is read from top to bottom in a folder of its own, which has the simulated shop in `shop/`. Its blocks share their names.

- ```python is executed. As in a notebook, what it prints and its last expression are its output. One with `>>>` is a doctest.
- ```sh is run if all of its commands are `recframe ...`; any other command, such as pip's, is the reader's own.
- ```text right behind one of these is its output, and has to be what comes out; `...` stands for any text.
- Of the tabs "Polars" and "pandas" a reader follows one, and the page is run once for each; other tabs are run one by one.

Comments, which a page does not show, say more. Above a fence, with a blank line between: `<!-- needs: pyspark -->` leaves a
block out where a package is missing, `<!-- exit: 1 -->` is of a command that has to fail, `<!-- not run: why -->` of one that
nobody can run. A comment `<!-- setup` has lines of Python up to its `-->`, which are executed before what follows.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib.util
import io
import itertools
import os
import re
import shlex
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KINDS = ("Polars", "pandas")
RUN = ("python", "sh", "setup")
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^( *)```(\w*)")
TAB = re.compile(r'^=== "([^"]+)"')
HEADING = re.compile(r"^##+ (.*)")
MARK = re.compile(r"^ *<!-- (needs|exit|not run): (.*?) *-->$")
SETUP = "<!-- setup"


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    language: str
    lines: tuple[str, ...]
    line: int
    """The place of its first line of code, from 0."""
    indent: int = 0
    tab: str | None = None
    heading: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)

    @property
    def code(self) -> str:
        return "\n".join(self.lines) + "\n"

    @property
    def missing(self) -> list[str]:
        """Return the packages that it needs and that are not installed."""
        wanted = [one.strip() for one in self.marks.get("needs", "").split(",")]
        return [one for one in wanted if one and not _installed(one)]


@dataclass(frozen=True)
class Outcome:
    """What came out of a block, and what the page has."""

    block: Block
    got: str
    broken: bool
    """Whether it ended otherwise than it should have."""
    shown: Block | None = None

    @property
    def good(self) -> bool:
        same = doctest.OutputChecker().check_output
        return not self.broken and (
            self.shown is None or same(self.shown.code, f"{self.got}\n", FLAGS)
        )

    def __str__(self) -> str:
        shown = f"\n--- and the page has\n{self.shown.code}" if self.shown else ""
        return f"--- line {self.block.line + 1}\n{self.block.code}--- gave\n{self.got}{shown}"


def _installed(package: str) -> bool:
    runs = package != "pyspark" or shutil.which("java") is not None
    return runs and importlib.util.find_spec(package) is not None


def blocks(text: str) -> list[Block]:
    """Return the blocks of a page in their order, those that show an output among them."""
    found: list[Block] = []
    lines, place, heading = text.splitlines(), 0, ""
    tab: str | None = None
    marks: dict[str, str] = {}
    while place < len(lines):
        line, first = lines[place], place + 1
        if line[:1].strip():
            tab = named[1] if (named := TAB.match(line)) else None
            heading = named[1] if (named := HEADING.match(line)) else heading
        if fence := FENCE.match(line):
            place, indent = lines.index(f"{fence[1]}```", first), len(fence[1])
            code = tuple(one[indent:] for one in lines[first:place])
            found.append(Block(fence[2], code, first, indent, tab, heading, marks))
        elif line == SETUP:
            place = lines.index("-->", first)
            code = tuple(lines[first:place])
            found.append(Block("setup", code, first, heading=heading, marks=marks))
        mark = MARK.match(line)
        marks = {**marks, mark[1]: mark[2]} if mark else ({} if line.strip() else marks)
        place += 1
    return found


def kinds(text: str) -> list[str | None]:
    """Return the kinds of frame that a page has tabs for, or None alone."""
    tabs = {block.tab for block in blocks(text)}
    return [kind for kind in KINDS if kind in tabs] or [None]


def run(
    text: str,
    folder: Path,
    kind: str | None = None,
    at_headings: Mapping[str, Mapping[str, Any]] | None = None,
    languages: Collection[str] = RUN,
) -> list[Outcome]:
    """Run the blocks for a reader of one kind of frame, up to one that breaks; return what came out of them.

    `at_headings` has names that are known from a heading on.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    outcomes: list[Outcome] = []
    heading = ""
    with _inside(folder):
        for block, shown in _with_outputs(text):
            if block.heading != heading:
                heading = block.heading
                names |= (at_headings or {}).get(heading, {})
            other = block.tab in KINDS and block.tab != kind
            left = other or block.missing or "not run" in block.marks
            if left or block.language not in languages:
                continue
            got, broken = RUNNERS[block.language](block, names)
            outcomes.append(Outcome(block, got.rstrip("\n"), broken, shown))
            if broken:
                break
    return outcomes


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            # by which the last of Polars 1 warn a reader who explodes lists of their own
            told = "In Polars 2.0, the default behavior for `empty_as_null`"
            warnings.filterwarnings("ignore", told, DeprecationWarning)
            yield
    finally:
        os.chdir(before)


def _with_outputs(text: str) -> Iterator[tuple[Block, Block | None]]:
    """Yield each block that is run, and the block right behind it that shows its output."""
    lines = text.splitlines()
    for block, then in itertools.pairwise([*blocks(text), None]):
        if block is None or block.language not in RUN:
            continue
        end = block.line + len(block.lines) + 1
        follows = (
            then is not None and then.language == "text" and then.tab == block.tab
        ) and not "".join(lines[end : then.line - 1]).strip()
        yield block, then if follows else None


def _python(block: Block, names: dict[str, Any]) -> tuple[str, bool]:
    """Execute a block as a cell of a notebook, or as a doctest."""
    if ">>> " in block.code:
        return _doctest(block, names)
    tree = ast.parse(block.code)
    last = tree.body[-1] if tree.body else None
    value = tree.body.pop() if isinstance(last, ast.Expr) else None
    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        try:
            exec(compile(tree, "<page>", "exec"), names)  # noqa: S102  a page of ours
            if isinstance(value, ast.Expr):
                result = eval(compile(ast.Expression(value.value), "<page>", "eval"), names)  # noqa: S307
                _show(result)
        except Exception:  # noqa: BLE001  whatever it is, it is what the block gave
            return written.getvalue() + traceback.format_exc(), True
    return written.getvalue(), False


def _show(result: Any) -> None:
    if result is not None:
        print(repr(result))  # noqa: T201  as a notebook does


def _doctest(block: Block, names: dict[str, Any]) -> tuple[str, bool]:
    runner, told = doctest.DocTestRunner(optionflags=FLAGS, verbose=False), io.StringIO()
    test = doctest.DocTestParser().get_doctest(block.code, names, "page", None, block.line)
    # not a copy of them: a function sees what later blocks define
    test.globs = names
    failed = runner.run(test, out=told.write, clear_globs=False).failed
    return told.getvalue(), bool(failed)


def _shell(block: Block, _names: dict[str, Any]) -> tuple[str, bool]:
    """Run commands of recframe in this process, and leave those that are the reader's own."""
    lines = block.code.replace("\\\n", " ").replace("&&\n", "\n").splitlines()
    commands = [words for line in lines if (words := shlex.split(line, comments=True))]
    if any(words[0] != "recframe" for words in commands):
        return "", False
    from click.testing import CliRunner  # noqa: PLC0415  few pages need it

    from recframe.cli.commands import main  # noqa: PLC0415

    written, status = "", 0
    for words in commands:
        result = CliRunner().invoke(main, words[1:])
        written, status = written + result.output, result.exit_code
        if status:
            break
    return written, status != int(block.marks.get("exit", 0))


def _setup(block: Block, names: dict[str, Any]) -> tuple[str, bool]:
    exec(compile(block.code, "<setup>", "exec"), names)  # noqa: S102  a page of ours
    return "", False


RUNNERS = {"python": _python, "sh": _shell, "setup": _setup}


def written(text: str, outcomes: list[Outcome]) -> str:
    """Return a page whose outputs are those that came out."""
    lines = text.splitlines()
    for outcome in reversed(outcomes):
        if outcome.shown is not None and not (outcome.good or outcome.broken):
            first, margin = outcome.shown.line, " " * outcome.shown.indent
            shown = [f"{margin}{line}".rstrip() for line in outcome.got.splitlines()]
            lines[first : first + len(outcome.shown.lines)] = shown
    return "\n".join(lines) + "\n"


def shop(folder: Path) -> None:
    """Write the simulated shop as `recframe demo --save shop` does."""
    from recframe.demo import simulate  # noqa: PLC0415  it needs NumPy

    simulate().save(folder / "shop")


def main(pages: list[str]) -> int:
    """Run pages and write their outputs; print what broke."""
    broken = 0
    for page in map(Path, pages):
        for kind in kinds(page.read_text(encoding="utf-8")):
            text = page.read_text(encoding="utf-8")
            with tempfile.TemporaryDirectory() as folder:
                shop(Path(folder))
                outcomes = run(text, Path(folder), kind)
            page.write_text(written(text, outcomes), encoding="utf-8")
            for one in outcomes:
                if one.broken or (not one.good and one.shown is None):
                    broken += 1
                    sys.stdout.write(f"{page}: {one}\n")
    return broken


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
