"""Summaries as tables to publish: HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import compress
from operator import methodcaller
from pathlib import Path
from typing import Any

import polars as pl

from recframe.charts.formatting import counted
from recframe.errors import RecframeError, visible, wrong_ending
from recframe.frames import atomic_write
from recframe.frames.dtypes import text_of
from recframe.metrics.language.definition import Metric

BETTER, WORSE = "*", "†"
MARKS = {"better": BETTER, "higher": BETTER, "worse": WORSE, "lower": WORSE}
"""The marks behind values, by their verdicts."""
APART = "\ue000"
"""Placeholder in names, replaced in LaTeX only."""
MISSING = "\N{EN DASH}"
IN_LATEX = {WORSE: r"$^{\dag}$", APART: "{}", "`": r"\textasciigrave{}", MISSING: "--"}
"""Signs as LaTeX, beyond those that Great Tables escapes."""
SIGNS = r"[\\`*{}\[\]|~$]|(?<![^\W_])_|_(?![^\W_])"
"""Characters with a meaning in Markdown."""
FORMS = {".html": "html", ".tex": "latex", ".md": "markdown"}
"""The forms of tables, by the endings of files."""


@dataclass(frozen=True)
class Form:
    """How the parts of a cell are written."""

    bold: str
    mark: str
    interval: str
    """A value with its interval."""
    signs: Mapping[str, str] = field(default_factory=dict)
    """Marks that this form writes in another way."""
    below: str = ""
    """An interval in a row of its own, below the values; "" where it is in the value's cell."""


HTML = Form(
    "<strong>{}</strong>",
    # which leaves rows with a mark as high as the others
    '<sup style="line-height:0">{}</sup>',
    '{}<br><span style="font-size:75%;color:#767676">{}</span>',
)
LATEX = Form(
    r"\textbf{{{}}}",
    "$^{{{}}}$",
    "{}",
    {WORSE: r"\dag"},
    # as wide as the value above it, and no table within a cell
    below=r"{{\scriptsize {}}}",
)
# where a sign of its own would begin an emphasis
MARKDOWN = Form("**{}**", "{}", "{} {}", {BETTER: rf"\{BETTER}"})


@dataclass(frozen=True)
class Cell:
    """A value with its interval, as text."""

    value: str
    interval: str = ""
    mark: str = ""
    best: bool = False

    def written(self, form: Form) -> str:
        """Return the cell in one form."""
        text = form.bold.format(self.value) if self.best else self.value
        if self.mark:
            text += form.mark.format(form.signs.get(self.mark, self.mark))
        return form.interval.format(text, self.interval) if self.interval else text

    def below(self, form: Form) -> str:
        """Return the interval for a row of its own."""
        return form.below.format(self.interval) if self.interval else ""


@dataclass(frozen=True, repr=False)
class Table:
    """A result as a table: `html()`, `latex()`, `markdown()`, `save(path)`, and `gt`, one of Great Tables to style further."""

    columns: tuple[tuple[str, str], ...]
    """Spanning header ("" without one) and title of each numeric column."""
    titles: tuple[str, str]
    """The titles of the groups of rows and of the rows; "" where there is no such thing."""
    rows: tuple[tuple[str, str, tuple[Cell, ...]], ...]
    """Group, name and cells of each row."""
    notes: tuple[str, ...]
    title: str = ""

    @property
    def gt(self) -> Any:
        """The table as an object of Great Tables, in HTML."""
        return self._great(HTML)

    def html(self) -> str:
        """Return the table as HTML; it needs recframe[table]."""
        text: str = self.gt.as_raw_html()
        return text

    def latex(self) -> str:
        """Return the table as LaTeX, which needs the package booktabs alone; it needs recframe[table].

        Intervals stand in a row of their own, below the values.
        """
        found: str = self._great(LATEX, _apart).as_latex()
        # NOTE: Great Tables escapes names and notes, and leaves these signs to the encoding and the fonts of the document
        for sign, written in IN_LATEX.items():
            found = found.replace(sign, written)
        # after the end of a line a star and a bracket are arguments of it
        found = re.sub(r"(?<=\\\\\n)(?=[*\[])", "{}", found)
        # caption* takes a package
        found = re.sub(r"\\caption\*\{\n\{\\large (.*)\}\n\}", r"\\caption{\1}", found)
        # a table stands in the letters of the text around it
        return re.sub(r"\\fontsize\{.*?\}\{.*?\}\\selectfont\n+", "", found)

    def markdown(self) -> str:
        """Return the table as Markdown."""
        is_shown = [*map(bool, self.titles), *(True for _ in self.columns)]
        heads = map(plain, [*self.titles, *map("".join, self.columns)])
        rules = [*(":---" for _ in self.titles), *("---:" for _ in self.columns)]
        lines: list[Iterable[str]] = [heads, rules]
        for *names, cells in self.rows:
            lines.append([*map(plain, names), *(cell.written(MARKDOWN) for cell in cells)])
        shown = [compress(line, is_shown) for line in lines]
        table = "\n".join(f"| {' | '.join(line)} |" for line in shown)
        above = f"**{plain(self.title)}**\n\n" if self.title else ""
        return above + table + "\n\n" + "  \n".join(map(plain, self.notes)) + "\n"

    def save(self, path: str) -> None:
        """Write the table to a file, in the form that its ending names: `.html`, `.tex` or `.md`."""
        ending = Path(path).suffix.lower()
        if ending not in FORMS:
            msg = (
                f"cannot write {str(path)!r}: {wrong_ending(ending)}; known are {', '.join(FORMS)}"
            )
            raise RecframeError(msg)
        atomic_write.write_text(path, getattr(self, FORMS[ending])())

    def __repr__(self) -> str:
        names = ", ".join(map("".join, self.columns))
        return f"<table of {counted(len(self.rows), 'row')} by {names}; print() shows it, .save('table.tex') writes it>"

    def __str__(self) -> str:
        return self.markdown()

    def _repr_html_(self) -> str | None:
        """Return HTML, or without Great Tables nothing: a notebook then shows Markdown."""
        try:
            return self.html()
        except RecframeError:
            return None

    def _repr_markdown_(self) -> str:
        return self.markdown()

    def _great(self, form: Form, named: Callable[[str], str] = str) -> Any:
        """Return the table as an object of Great Tables, its cells and its other text in one form."""
        try:
            from great_tables import GT  # noqa: PLC0415  an extra
        except ModuleNotFoundError as missing:
            msg = f"this needs {missing.name}, which is not installed; write: pip install 'recframe[table]'"
            raise RecframeError(msg) from None
        group, name = self.titles
        numbers = [f"number {place}" for place in range(len(self.columns))]
        written = methodcaller("written", form)
        rows: list[tuple[str, ...]] = []
        for above, row, cells in self.rows:
            of_group = named(f"{group}: {above}")
            rows.append((named(row), of_group, *map(written, cells)))
            if form.below and any(cell.interval for cell in cells):
                rows.append(("", of_group, *(cell.below(form) for cell in cells)))
        columns = dict.fromkeys(["row", "group", *numbers], pl.String)
        leads = [column for column, title in (("row", name), ("group", group)) if title]
        made = GT(
            pl.DataFrame(rows, columns, orient="row").select(*leads, *numbers),
            rowname_col="row" if name else None,
            groupname_col="group" if group else None,
        )
        made = made.fmt(str, columns=numbers).cols_align("right", columns=numbers)
        spans: dict[str, list[str]] = {}
        for number, (above, title) in zip(numbers, self.columns, strict=True):
            made = made.cols_label({number: title})
            spans.setdefault(above, []).append(number)
        for above in filter(None, spans):
            made = made.tab_spanner(above, spans[above])
        made = made.tab_stubhead(named(name)) if name else made
        made = made.tab_header(named(self.title)) if self.title else made
        for note in self.notes:
            made = made.tab_source_note(named(note))
        return made


def _apart(text: str) -> str:
    """Return text with what keeps two signs from becoming one in LaTeX, where -- would be a dash."""
    return re.sub(r"(?<=[-`',<>!?])(?=[-`',<>!?])", APART, text)


def plain(text: str) -> str:
    """Return text in one line that Markdown, and the HTML of it, show as it is."""
    # within a word, as in n_users, a line below is no sign of Markdown's
    signs = re.sub(SIGNS, r"\\\g<0>", escape(" ".join(text.split()), quote=False))
    return visible(signs)


Key = tuple[Any, ...]
"""A segment, a model and a metric, or the first of these."""


@dataclass(frozen=True)
class Publication:
    """A summary as a table to publish, and the notes on how it was made."""

    metrics: Sequence[Metric[...]]
    on_users: Sequence[str]
    """Sentences on models whose lists are of other users."""
    verdicts: Mapping[Key, str]
    """By the segment, the model and the metric."""
    tests: int
    """Number of tests that verdicts allow for."""
    untested: Sequence[str]
    """Metrics without a known test."""
    baseline: str | None
    decimals: int
    intervals: bool
    level: float
    title: str

    def table(self, summary: pl.DataFrame, keys: Mapping[str, str], model: str | None) -> Table:
        """Return a row for each model, in groups by segment; or for each segment, without models.

        `keys` are the names that the columns of segments and of the model have for readers, by those that they have here.
        """
        groups = [key for key in keys if key != model]
        ordered = summary.sort(groups, nulls_last=True, maintain_order=True) if groups else summary
        found: dict[Key, dict[Key, dict[str, dict[str, Any]]]] = {}
        for row in ordered.to_dicts():
            of_group = found.setdefault(tuple(row[key] for key in groups), {})
            of_group.setdefault((row.get(model or ""),), {})[row["metric"]] = row
        titles, names = _names(found), _names(key for models in found.values() for key in models)
        rows: list[tuple[str, str, tuple[Cell, ...]]] = []
        for group, models in found.items():
            best = {str(one): self._best(one, models.values()) for one in self.metrics}
            for name, values in models.items():
                cells = tuple(
                    self._cell(values[metric], text, self.verdicts.get((*group, *name, metric)))
                    for metric, text in best.items()
                )
                heads = (titles[group], names[name]) if model else ("", titles[group])
                rows.append((*heads, cells))
        by = ", ".join(keys[key] for key in groups)
        has_best = any(cell.best for *_, cells in rows for cell in cells)
        notes = (*self._notes(summary), *self.on_users, *self._legend(has_best=has_best))
        heads = (by, keys[model]) if model else ("", by)
        return Table(_columns(self.metrics), heads, tuple(rows), notes, self.title)

    def _number(self, value: float | None) -> str:
        # without -0
        n = self.decimals
        return MISSING if value is None else f"{round(value, n) + 0.0:.{n}f}"

    def _best(
        self, metric: Metric[...], models: Iterable[Mapping[str, Mapping[str, Any]]]
    ) -> str | None:
        """Return the best value as it is shown: models that look alike are equally good."""
        values = [values[str(metric)]["value"] for values in models]
        known = [value for value in values if value is not None]
        direction = metric.direction
        # where all look alike, none is better
        if not direction or len({*map(self._number, known)}) < 2:  # noqa: PLR2004  two that differ
            return None
        return self._number(max(known) if direction == "higher" else min(known))

    def _cell(self, row: Mapping[str, Any], best: str | None, verdict: str | None) -> Cell:
        names = ("value", "value_low", "value_high")
        value, low, high = (self._number(row[name]) for name in names)
        interval = f"[{low}, {high}]" if self.intervals and MISSING not in {low, high} else ""
        return Cell(value, interval, MARKS.get(verdict or "", ""), best=value == best)

    def _notes(self, summary: pl.DataFrame) -> list[str]:
        """Return of how many users the numbers speak, and how sure they are."""
        counts: dict[str, list[str]] = {}
        for metric in map(str, self.metrics):
            n = summary.filter(pl.col("metric") == metric)["n_users"].to_list() or [0]
            ends = dict.fromkeys(f"{end:,}" for end in (min(n), max(n)))
            counts.setdefault(" to ".join(ends), []).append(metric)
        of = [f"{n} ({', '.join(names)})" for n, names in counts.items()]
        notes = [f"Users: {'; '.join(of if len(counts) > 1 else counts)}."]
        if self.intervals:
            notes.append(f"In brackets: the interval at {self.level:.10g} of each value.")
        return notes

    def _tests(self) -> str:
        return (
            "the one test of the table"
            if self.tests == 1
            else f"the {self.tests} tests of the table"
        )

    def _legend(self, *, has_best: bool) -> list[str]:
        """Return the meaning of the signs of a table, of those that stand in it."""
        lowest = [str(metric) for metric in self.metrics if metric.direction == "lower"]
        of_lowest = f"; of {', '.join(lowest)} the lowest" if lowest else ""
        notes = [f"Bold: the best model{of_lowest}."] if has_best else []
        if self.baseline is None:
            return notes
        said, none = {*self.verdicts.values()}, ", of a metric without a direction)"
        better, worse = (
            f"{word} ({other}{none}" if other in said else word
            for word, other in (("better", "higher"), ("worse", "lower"))
        )
        notes.append(
            f"{BETTER} {better}, {WORSE} {worse} than {self.baseline}: paired t test, "
            f"p of at most {1 - self.level:.6g} after Holm's correction for {self._tests()}."
        )
        if self.untested:
            notes.append(f"Not tested: {', '.join(self.untested)}.")
        return notes


def _names(keys: Iterable[Key]) -> dict[Key, str]:
    """Return keys as text, no two of them alike: null is "null", or "(null)" beside that text."""
    distinct = list(dict.fromkeys(keys))
    columns = [{*map(text_of, column)} for column in zip(*distinct, strict=True)]
    none = ["(null)" if "null" in texts else "null" for texts in columns]
    found: dict[Key, str] = {}
    seen = Counter[str]()
    for key in distinct:
        parts = (n if one is None else text_of(one) for one, n in zip(key, none, strict=True))
        text = ", ".join(parts)
        seen[text] += 1
        found[key] = text if seen[text] == 1 else f"{text} ({seen[text]})"
    return found


def _columns(metrics: Sequence[Metric[...]]) -> tuple[tuple[str, str], ...]:
    """Return the spanning header of each column, for metrics with several cut-offs, and its title."""
    apart = [str(one).rpartition("@") for one in metrics]
    many = Counter(name for name, _, _ in apart if name)
    return tuple(
        (name, f"@{cut}") if many[name] > 1 else ("", str(metric))
        for (name, _, cut), metric in zip(apart, metrics, strict=True)
    )
