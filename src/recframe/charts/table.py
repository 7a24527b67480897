"""Summaries as tables to publish: HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from recframe.errors import RecframeError, visible, wrong_ending
from recframe.frames import atomic_write
from recframe.frames.dtypes import text_of
from recframe.metrics.language.definition import Metric

BETTER, WORSE = "*", "†"
MARKS = {"better": BETTER, "higher": BETTER, "worse": WORSE, "lower": WORSE}
"""The marks behind values, by their verdicts."""
APART = "\ue000"
"""Placeholder in names, replaced in LaTeX only."""
LATEX = {WORSE: r"$^{\dag}$", APART: "{}", "`": r"\textasciigrave{}"}
"""Signs as LaTeX, beyond those that Great Tables escapes."""
SIGNS = r"[\\`*{}\[\]|~$]|(?<![^\W_])_|_(?![^\W_])"
"""Characters with a meaning in Markdown."""
FORMS = {".html": "html", ".tex": "latex", ".md": "markdown"}
"""The forms of tables, by the endings of files."""


@dataclass(frozen=True)
class Cell:
    """A value with its interval, as text."""

    value: str
    interval: str = ""
    mark: str = ""
    best: bool = False

    @property
    def html(self) -> str:
        """The cell in HTML, with the interval small below the value."""
        value = f"<strong>{self.value}</strong>" if self.best else self.value
        # which leaves rows with a mark as high as the others
        mark = f'<sup style="line-height:0">{self.mark}</sup>' if self.mark else ""
        small = f'<br><span style="font-size:75%;color:#767676">{self.interval}</span>'
        return value + mark + (small if self.interval else "")

    @property
    def latex(self) -> str:
        """The cell in LaTeX, with the interval small below the value."""
        value = rf"\textbf{{{self.value}}}" if self.best else self.value
        marks = {BETTER: "*", WORSE: r"\dag"}
        mark = f"$^{{{marks[self.mark]}}}$" if self.mark else ""
        if not self.interval:
            return value + mark
        lines = rf"{value}{mark}\\{{\scriptsize {self.interval}}}"
        return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{lines}\end{{tabular}}"

    @property
    def markdown(self) -> str:
        """The cell in Markdown, with the interval behind the value."""
        value = f"**{self.value}**" if self.best else self.value
        # where a sign of its own would begin an emphasis
        mark = self.mark.replace("*", "\\*")
        return value + mark + (f" {self.interval}" if self.interval else "")


@dataclass(frozen=True)
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
        return self._great(lambda cell: cell.html)

    def html(self) -> str:
        """Return the table as HTML; it needs recframe[table]."""
        text: str = self.gt.as_raw_html()
        return text

    def latex(self) -> str:
        """Return the table as LaTeX, for the package booktabs, and caption where it has a title; it needs recframe[table]."""
        found: str = self._great(lambda cell: cell.latex, _apart).as_latex()
        # NOTE: Great Tables escapes names and notes, and leaves these signs to the encoding and the fonts of the document
        for sign, written in LATEX.items():
            found = found.replace(sign, written)
        # a table stands in the letters of the text around it
        return re.sub(r"\\fontsize\{.*?\}\{.*?\}\\selectfont\n+", "", found)

    def markdown(self) -> str:
        """Return the table as Markdown."""
        group, name = self.titles
        lead = [one for one in (group, name) if one]
        heads = ["".join(one) for one in self.columns]
        rules = [*(":---" for _ in lead), *("---:" for _ in heads)]
        lines = [[*map(plain, lead), *map(plain, heads)], rules]
        for above, row, cells in self.rows:
            first = [plain(one) for one, title in ((above, group), (row, name)) if title]
            lines.append([*first, *(cell.markdown for cell in cells)])
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
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

    def _great(self, shown: Callable[[Cell], str], named: Callable[[str], str] = str) -> Any:
        """Return the table as an object of Great Tables, its cells and its other text in one form."""
        great = _great_tables()
        group, name = self.titles
        numbers = [f"number {place}" for place in range(len(self.columns))]
        cells = [tuple(map(shown, row)) for _, _, row in self.rows]
        frame = pl.DataFrame(cells, schema=dict.fromkeys(numbers, pl.String), orient="row")
        frame = frame.with_columns(
            pl.Series("row", [named(row) for _, row, _ in self.rows]),
            pl.Series("group", [named(f"{group}: {above}") for above, _, _ in self.rows]),
        )
        leads = [one for one, title in (("row", name), ("group", group)) if title]
        made = great.GT(
            frame.select(*leads, *numbers),
            rowname_col="row" if name else None,
            groupname_col="group" if group else None,
        )
        made = made.fmt(str, columns=numbers).cols_align("right", columns=numbers)
        made = made.cols_label(
            {one: title for one, (_, title) in zip(numbers, self.columns, strict=True)}
        )
        for above, columns in _spanned(numbers, self.columns).items():
            made = made.tab_spanner(above, columns)
        made = made.tab_stubhead(named(name)) if name else made
        made = made.tab_header(named(self.title)) if self.title else made
        for note in self.notes:
            made = made.tab_source_note(named(note))
        return made


def _great_tables() -> Any:
    try:
        import great_tables  # noqa: PLC0415  an extra
    except ModuleNotFoundError as missing:
        msg = f"this needs {missing.name}, which is not installed; write: pip install 'recframe[table]'"
        raise RecframeError(msg) from None
    return great_tables


def _spanned(names: Sequence[str], columns: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the columns under each spanning header."""
    found: dict[str, list[str]] = {}
    for name, (above, _) in zip(names, columns, strict=True):
        if above:
            found.setdefault(above, []).append(name)
    return found


def _apart(text: str) -> str:
    """Return text with what keeps two signs from becoming one in LaTeX, where -- would be a dash."""
    return re.sub(r"(?<=[-`',<>!?])(?=[-`',<>!?])", APART, text)


def plain(text: str) -> str:
    """Return text in one line that Markdown, and the HTML of it, show as it is."""
    # within a word, as in n_users, a line below is no sign of Markdown's
    signs = re.sub(SIGNS, r"\\\g<0>", escape(" ".join(text.split()), quote=False))
    return visible(signs)


MISSING = "\N{EN DASH}"
Key = tuple[Any, ...]
"""A segment, a model and a metric, or the first of these."""


@dataclass(frozen=True)
class Publication:
    """A summary as a table to publish, and the notes on how it was made."""

    metrics: Sequence[Metric[...]]
    verdicts: Mapping[Key, str]
    """By the segment, the model and the metric."""
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
        found: dict[Key, dict[Any, dict[str, Any]]] = {}
        for row in ordered.to_dicts():
            of_group = found.setdefault(tuple(row[key] for key in groups), {})
            of_group.setdefault(row.get(model or ""), {})[row["metric"]] = row
        titles = _names(list(found))
        names = _names([(name,) for models in found.values() for name in models])
        rows: list[tuple[str, str, tuple[Cell, ...]]] = []
        for group, models in found.items():
            best = [self._best(str(one), one.definition.direction, models) for one in self.metrics]
            for name, values in models.items():
                cells = tuple(
                    self._cell(values[str(one)], text, self.verdicts.get((*group, name, str(one))))
                    for one, text in zip(self.metrics, best, strict=True)
                )
                above = (titles[group], names[name,]) if model else ("", titles[group])
                rows.append((*above, cells))
        by = ", ".join(keys[key] for key in groups)
        notes = [*self._notes(summary), *self._legend([row[-1] for row in rows])]
        heads = (by, keys[model]) if model else ("", by)
        return Table(_columns(self.metrics), heads, tuple(rows), tuple(notes), self.title)

    def _number(self, value: float | None) -> str:
        # without -0
        n = self.decimals
        return MISSING if value is None else f"{round(value, n) + 0.0:.{n}f}"

    def _best(self, metric: str, direction: str | None, models: Mapping[Any, Any]) -> str | None:
        """Return the best value as it is shown: models that look alike are equally good."""
        values = [values[metric]["value"] for values in models.values()]
        known = [value for value in values if value is not None]
        # where all look alike, none is better
        if not direction or len({*map(self._number, known)}) < 2:  # noqa: PLR2004  two that differ
            return None
        return self._number(max(known) if direction == "higher" else min(known))

    def _cell(self, row: Mapping[str, Any], best: str | None, verdict: str | None) -> Cell:
        numbers = (self._number(row[one]) for one in ("value", "value_low", "value_high"))
        value, low, high = numbers
        is_sure = self.intervals and MISSING not in {low, high}
        mark = MARKS.get(verdict or "", "")
        return Cell(value, f"[{low}, {high}]" if is_sure else "", mark, best=value == best)

    def _notes(self, summary: pl.DataFrame) -> list[str]:
        """Return of how many users the numbers speak, and how sure they are."""
        counts: dict[str, list[str]] = {}
        for metric in map(str, self.metrics):
            n = summary.filter(pl.col("metric") == metric)["n_users"].to_list()
            ends = [f"{end:,}" for end in (min(n, default=0), max(n, default=0))]
            counts.setdefault(" to ".join(dict.fromkeys(ends)), []).append(metric)
        of = [f"{n} ({', '.join(names)})" for n, names in counts.items()]
        notes = [f"Users: {'; '.join(of if len(counts) > 1 else counts)}."]
        if self.intervals:
            notes.append(f"In brackets: the interval at {self.level:.10g} of each value.")
        return notes

    def _legend(self, rows: Sequence[Sequence[Cell]]) -> list[str]:
        """Return the meaning of the signs of a table, of those that stand in it."""
        lowest = [str(one) for one in self.metrics if one.definition.direction == "lower"]
        of_lowest = f"; of {', '.join(lowest)} the lowest" if lowest else ""
        has_best = any(cell.best for cells in rows for cell in cells)
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
            f"p of at most {1 - self.level:.6g} after Holm's correction for all tests of the table."
        )
        if self.untested:
            notes.append(f"Not tested: {', '.join(self.untested)}.")
        return notes


def _names(keys: Sequence[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
    """Return keys as text, no two of them alike: null is "null", or "(null)" beside that text."""
    columns = (map(text_of, column) for column in zip(*keys, strict=True))
    none = ["(null)" if "null" in texts else "null" for texts in columns]
    found: dict[tuple[Any, ...], str] = {}
    seen = Counter[str]()
    for key in dict.fromkeys(keys):
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
