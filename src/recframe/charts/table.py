"""Tables to publish, in HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from recframe.charts.formatting import counted, number
from recframe.charts.long_format import named, with_names
from recframe.errors import RecframeError, visible, wrong_ending
from recframe.frames import atomic_write
from recframe.metrics.language.definition import Metric

SHOWN = ("better", "worse")
"""Verdicts that a mark stands for."""
SIGNS = r"[\\`*{}\[\]|~$]|(?<![^\W_])_|_(?![^\W_])"
"""Characters with a meaning in Markdown."""
FORMS = {".html": "html", ".tex": "latex", ".md": "markdown"}
"""The forms of tables, by the endings of files."""
Rows = list[dict[str, Any]]
Key = tuple[Any, ...]
"""A segment, a metric, a model, and a model that it beats."""


@dataclass(frozen=True, repr=False)
class Table:
    """A result as a table: `html()`, `latex()`, `markdown()`, `save(path)`, and `gt`, one of Great Tables to style further."""

    columns: tuple[str, ...]
    """The titles of the segments and of the models, where there are some, and of the metrics."""
    n_names: int
    """The number of columns of segments and models."""
    rows: tuple[tuple[str, ...], ...]
    """Names, and values in Markdown."""
    notes: tuple[str, ...]
    caption: str = ""

    @property
    def gt(self) -> Any:
        """The table as an object of Great Tables."""
        try:
            from great_tables import GT  # noqa: PLC0415  an extra
        except ModuleNotFoundError as missing:
            msg = f"this needs {missing.name}, which is not installed; write: pip install 'recframe[table]'"
            raise RecframeError(msg) from None
        keys = [f"column {place}" for place in range(len(self.columns))]
        numbers = keys[self.n_names :]
        frame = pl.DataFrame(self.rows, dict.fromkeys(keys, pl.String), orient="row")
        made = GT(frame).cols_label(dict(zip(keys, self.columns, strict=True)))
        made = made.fmt_markdown(columns=numbers).cols_align("right", columns=numbers)
        made = made.tab_header(self.caption) if self.caption else made
        for note in self.notes:
            made = made.tab_source_note(note)
        return made

    def html(self) -> str:
        """Return the table as HTML; it needs recframe[table]."""
        text: str = self.gt.as_raw_html()
        return text

    def latex(self) -> str:
        """Return the table as LaTeX, which needs the package booktabs alone; it needs recframe[table]."""
        text: str = self.gt.as_latex()
        # after the end of a line a star and a bracket are arguments of it
        text = re.sub(r"(?<=\\\\\n)(?=[*\[])", "{}", text)
        # caption* takes a package
        text = re.sub(r"\\caption\*\{\n\{\\large (.*)\}\n\}", r"\\caption{\1}", text)
        # a table stands in the letters of the text around it
        return re.sub(r"\\fontsize\{.*?\}\{.*?\}\\selectfont\n+", "", text)

    def markdown(self) -> str:
        """Return the table as Markdown."""
        n, numbers = self.n_names, len(self.columns) - self.n_names
        rows = [[*map(plain, row[:n]), *row[n:]] for row in self.rows]
        lines = [map(plain, self.columns), [":---"] * n + ["---:"] * numbers, *rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        above = f"**{plain(self.caption)}**\n\n" if self.caption else ""
        return above + table + "\n\n" + "  \n".join(map(plain, self.notes)) + "\n"

    def save(self, path: str) -> None:
        """Write the table to a file, in the form that its ending names: `.html`, `.tex` or `.md`."""
        ending = Path(path).suffix.lower()
        if ending not in FORMS:
            known = f"known are {', '.join(FORMS)}"
            raise RecframeError(f"cannot write {str(path)!r}: {wrong_ending(ending)}; {known}")
        atomic_write.write_text(path, getattr(self, FORMS[ending])())

    def __repr__(self) -> str:
        names = ", ".join(self.columns)
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


def plain(text: str) -> str:
    """Return text in one line that Markdown, and the HTML of it, show as it is."""
    # within a word, as in n_users, a line below is no sign of Markdown's
    signs = re.sub(SIGNS, r"\\\g<0>", escape(" ".join(text.split()), quote=False))
    return visible(signs)


class Looks(NamedTuple):
    """Contents and signs of a table."""

    metrics: Sequence[Metric[...]]
    tested: Sequence[Metric[...]]
    """Metrics whose differences can be tested."""
    baseline: str | None
    """The model that all others are marked against; without it `stars` marks the best against the runner-up."""
    stars: bool
    std: bool
    """Whether the standard deviation over trainings stands behind each value."""
    level: float
    decimals: int | None
    intervals: bool
    header: Mapping[str, str]
    caption: str

    def cells(
        self, metric: Metric[...], rows: Rows, beaten: Collection[Key], spreads: Mapping[Key, float]
    ) -> list[str]:
        """Return the cells of a metric, in the order of its rows, which are sorted by segment."""
        ends = [
            (row["value_low"], row["value_high"]) for row in rows if row["value_low"] is not None
        ]
        wide = (one for one in ends if one[1] > one[0])
        narrow = min(wide, key=lambda one: float(one[1] - one[0]), default=())
        write, cells = partial(number, ends=narrow, decimals=self.decimals), list[str]()
        for place, of_segment in groupby(rows, lambda row: row["place"]):
            group = [*of_segment]
            known = {row["model"]: row["value"] for row in group if row["value"] is not None}
            ranked = sorted(known, key=lambda one: known[one], reverse=metric.direction != "lower")
            # where all look alike, none is better
            is_told = bool(metric.direction) and len({*map(write, known.values())}) > 1
            for row in group:
                text, model, key = write(row["value"]), row["model"], (place, str(metric))
                rival = self.baseline or "".join(ranked[1:2] * (ranked[:1] == [model]))
                cell = f"**{text}**" if is_told and text == write(known[ranked[0]]) else text
                cell += r"\*" * ((*key, model, rival) in beaten)
                cell += "†" * ((*key, rival, model) in beaten)
                spread = spreads.get((*key, model))
                if spread is not None:
                    cell += f" ± {write(spread)}"
                elif self.intervals and not self.std and row["value_low"] is not None:
                    cell += f" [{write(row['value_low'])}, {write(row['value_high'])}]"
                cells.append(cell)
        return cells

    def notes(
        self, rows: Rows, lacks: Sequence[str], cells: Sequence[str], tests: int
    ) -> list[str]:
        """Return of whom the numbers speak, and the meaning of the signs."""
        counts = sorted({row["n_users"] for row in rows}) or [0]
        users = " to ".join(f"{n:,}" for n in dict.fromkeys((counts[0], counts[-1])))
        notes = [f"Users: {users}."]
        if self.std:
            notes.append("±: the standard deviation over the trainings.")
        elif self.intervals:
            notes.append(f"In brackets: the interval at {self.level:.10g} of each value.")
        lowest = ", ".join(str(metric) for metric in self.metrics if metric.direction == "lower")
        best = f"Bold: the best model{f'; of {lowest} the lowest' if lowest else ''}."
        notes += [*lacks, *[best] * any("**" in cell for cell in cells)]
        if self.baseline or self.stars:
            than = (
                f"better, † worse than {self.baseline}"
                if self.baseline
                else "better than the runner-up"
            )
            p = f"p of at most {1 - self.level:.6g} after Holm's correction"
            every = "the one test" if tests == 1 else f"the {tests} tests"
            notes.append(f"* {than}: paired t test, {p} for {every} of the table.")
            untested = ", ".join(str(one) for one in self.metrics if one not in self.tested)
            notes += [f"Not tested: {untested}."] * bool(untested)
        return notes


def table(rec: Any, looks: Looks, by: Sequence[Any], lacks: Sequence[str]) -> Table:
    """Return a row for each model and segment; `lacks` are sentences on models whose lists are of other users."""
    found = named(rec, rec.summarize(looks.metrics, by=by, level=looks.level))
    beaten, tests = set[Key](), 0
    if looks.tested and (looks.baseline or looks.stars):
        options = {"baseline": looks.baseline, "by": by, "level": looks.level}
        for row in named(rec, rec.compare(*looks.tested, **options)).data.to_dicts():
            tests += row["p_adjusted"] is not None
            pair = [row["model"], row["baseline"]]
            pair = pair if row["verdict"] == "better" else pair[::-1]
            beaten |= {(row["place"], row["metric"], *pair)} if row["verdict"] in SHOWN else set()
    spreads = _spreads(rec, looks, by) if looks.std else {}
    rows = {metric: found.data.filter(metric=str(metric)).to_dicts() for metric in looks.metrics}
    values = [looks.cells(metric, of, beaten, spreads) for metric, of in rows.items()]
    model = rec._context.model or ""  # noqa: SLF001  the methods of this room are those of a Rec
    keys = {key: title for key, title in (("segment", found.by), ("model", model)) if title}
    firsts = found.data.filter(metric=str(looks.metrics[0]))
    columns = [*(firsts[key].to_list() for key in keys), *values]
    titles = (looks.header.get(one, one) for one in (*keys.values(), *map(str, looks.metrics)))
    cells = [cell for column in values for cell in column]
    notes = looks.notes(found.data.to_dicts(), lacks, cells, tests)
    return Table(
        tuple(titles), len(keys), tuple(zip(*columns, strict=True)), tuple(notes), looks.caption
    )


def _spreads(rec: Any, looks: Looks, by: Sequence[Any]) -> dict[Key, float]:
    """Return the standard deviation of each value over the trainings."""
    context = rec._context  # noqa: SLF001  the methods of this room are those of a Rec
    if context.training is None:
        msg = "std=True shows the standard deviation over trainings; bind their column: rec(training='seed')"
        raise RecframeError(msg)
    result = rec.evaluate(looks.metrics, by=[*by, context.training], tidy=True)
    columns = result.get_columns()
    del columns[result.columns.index("metric") - 1]
    rows = with_names(pl.DataFrame(columns), context.model).data
    metrics = [*map(str, looks.metrics)] * (len(rows) // len(looks.metrics))
    rows = rows.with_columns(pl.Series("metric", metrics, dtype=pl.String))
    spreads = rows.group_by("place", "metric", "model").agg(pl.col("value").std())
    return {tuple(key): value for *key, value in spreads.rows()}
