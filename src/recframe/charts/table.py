"""Tables to publish, in HTML, LaTeX and Markdown."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from recframe import atomic_write
from recframe.charts.formatting import counted, number
from recframe.charts.long_format import named, with_names
from recframe.errors import RecframeError, visible, wrong_ending
from recframe.metrics.language.definition import Metric, Metrics

SIGNS = r"[\\`*{}\[\]|~$]|(?<![^\W_])_|_(?![^\W_])"
"""Characters with a meaning in Markdown."""
FORMS = {".html": "html", ".tex": "latex", ".md": "markdown"}
"""The forms of tables, by the endings of files."""
LATEX = {
    # after the end of a line a star is an argument of it
    "\\\\\n*": "\\\\\n{}*",
    # caption* takes a package
    "\\caption*{\n{\\large ": "\\caption{{",
    # a table stands in the letters of the text around it
    "\\fontsize{12.0pt}{14.4pt}\\selectfont\n\n": "",
}
"""Parts of Great Tables' LaTeX, each with the one that stands for it."""
KEYS = ("place", "metric", "model")
"""The columns of a number."""
Key = tuple[Any, ...]
"""A segment, a metric, a model, and a model that it beats."""


@dataclass(frozen=True)
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
            raise RecframeError(
                f"this needs {missing.name}, which is not installed; write: pip install 'recframe[table]'"
            ) from None
        keys = [*map(str, range(len(self.columns)))]
        numbers = keys[self.n_names :]
        frame = pl.DataFrame(self.rows, dict.fromkeys(keys, pl.String), orient="row")
        made = GT(frame).cols_label(dict(zip(keys, self.columns, strict=True)))
        made = made.fmt_markdown(numbers).cols_align("right", numbers)
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
        for part, plainer in LATEX.items():
            text = text.replace(part, plainer)
        return text

    def markdown(self) -> str:
        """Return the table as Markdown."""
        n = self.n_names
        numbers = len(self.columns) - self.n_names
        rows = [[*map(plain, row[:n]), *row[n:]] for row in self.rows]
        lines = [map(plain, self.columns), [":---"] * n + ["---:"] * numbers, *rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        above = f"**{plain(self.caption)}**\n\n" if self.caption else ""
        return above + table + "\n\n" + "  \n".join(map(plain, self.notes)) + "\n"

    def save(self, path: str) -> None:
        """Write the table to a file, in the form that its ending names: `.html`, `.tex` or `.md`."""
        ending = Path(path).suffix.lower()
        if ending not in FORMS:
            raise RecframeError(
                f"cannot write {str(path)!r}: {wrong_ending(ending)}; known are {', '.join(FORMS)}"
            )
        atomic_write.write_text(path, getattr(self, FORMS[ending])())

    __repr__ = _repr_markdown_ = markdown

    def _repr_html_(self) -> str | None:
        """Return HTML, or without Great Tables nothing: a notebook then shows Markdown."""
        try:
            return self.html()
        except RecframeError:
            return None


def plain(text: str) -> str:
    """Return text in one line that Markdown, and the HTML of it, show as it is."""
    # within a word, as in n_users, a line below is no sign of Markdown's
    signs = re.sub(SIGNS, r"\\\g<0>", escape(" ".join(text.split()), quote=False))
    return visible(signs)


class Looks(NamedTuple):
    """Contents and signs of a table."""

    metrics: Metrics
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

    def cells(self, metric: Metric[...], rows: pl.DataFrame, beaten: Collection[Key]) -> list[str]:
        """Return the cells of a metric, in the order of its rows, which are sorted by segment."""
        low = pl.col("value_low")
        high = pl.col("value_high")
        ends = rows.filter(high > low).sort(high - low).select(low, high).rows()
        write = partial(number, ends=[*ends, ()][0], decimals=self.decimals)
        cells = list[str]()
        is_down = metric.direction != "lower"
        for _, of in rows.group_by("place", maintain_order=True):
            ranked = of.drop_nulls("value").sort("value", descending=is_down, maintain_order=True)
            texts = [*map(write, ranked["value"])]
            first, second, *_ = [*ranked["model"], "", ""]
            for row in of.to_dicts():
                text = write(row["value"])
                model = row["model"]
                key = (row["place"], str(metric))
                rival = self.baseline or (second if model == first else "")
                # where all look alike, none is better
                is_best = metric.direction and [text] == texts[:1] != texts[-1:]
                cell = f"**{text}**" if is_best else text
                cell += r"\*" * ((*key, model, rival) in beaten)
                cell += "†" * ((*key, rival, model) in beaten)
                if self.std and row["spread"] is not None:
                    cell += f" ± {write(row['spread'])}"
                elif self.intervals > self.std and row["value_low"] is not None:
                    cell += f" [{write(row['value_low'])}, {write(row['value_high'])}]"
                cells.append(cell)
        return cells

    def notes(self, lacks: Sequence[str], cells: Sequence[str], tests: int) -> list[str]:
        """Return sentences on what the numbers and their signs mean."""
        how = f"paired t test, p of at most {1 - self.level:.6g}"
        p = "after Holm's correction for"
        than = f"better, † worse than {self.baseline}"
        than = than if self.baseline else "better than the runner-up"
        is_marked = self.stars or bool(self.baseline)
        notes = {
            "±: the standard deviation over the trainings.": self.std,
            f"In brackets: the interval at {self.level:.10g} of each value.": self.intervals
            > self.std,
            **dict.fromkeys(lacks, True),
            "Bold: the best model.": any("**" in cell for cell in cells),
            f"* {than}: {how} {p} the {counted(tests, 'test')} of the table.": is_marked,
        }
        return [note for note, is_so in notes.items() if is_so]


def table(rec: Any, looks: Looks, by: Sequence[Any], lacks: Sequence[str]) -> Table:
    """Return a row for each model and segment; `lacks` are sentences on models whose lists are of other users."""
    found = named(rec, rec.summarize(looks.metrics, by=by, level=looks.level))
    beaten, tests = _beaten(rec, looks, by)
    data = found.data
    model = rec._context.model or ""  # noqa: SLF001  the methods of this room are those of a Rec
    if looks.std:
        data = data.join(_spreads(rec, looks, by), on=KEYS, how="left", maintain_order="left")
    rows = {metric: data.filter(metric=str(metric)) for metric in looks.metrics}
    values = [looks.cells(metric, of, beaten) for metric, of in rows.items()]
    keys = {key: title for key, title in (("segment", found.by), ("model", model)) if title}
    columns = [*(rows[looks.metrics[0]][key].to_list() for key in keys), *values]
    titles = (looks.header.get(one, one) for one in (*keys.values(), *map(str, looks.metrics)))
    counts = [*data["n_users"].sort(), 0]
    users = " to ".join(f"{n:,}" for n in sorted({counts[0], max(counts)}))
    notes = looks.notes(lacks, [cell for column in values for cell in column], tests)
    each = zip(*columns, strict=True)
    return Table((*titles,), len(keys), (*each,), (f"Users: {users}.", *notes), looks.caption)


def _beaten(rec: Any, looks: Looks, by: Sequence[Any]) -> tuple[set[Key], int]:
    """Return the models that are shown to be better than which, and how many tests that takes."""
    if not (looks.baseline or looks.stars):
        return set(), 0
    result = rec.compare(*looks.metrics, baseline=looks.baseline, by=by, level=looks.level)
    data = named(rec, result).data
    better = data.filter(verdict="better").select(*KEYS, "baseline")
    worse = data.filter(verdict="worse").select(*KEYS[:2], "baseline", "model")
    return {*better.rows(), *worse.rows()}, data["p_adjusted"].count()


def _spreads(rec: Any, looks: Looks, by: Sequence[Any]) -> pl.DataFrame:
    """Return the standard deviation of each value over the trainings."""
    context = rec._context  # noqa: SLF001  the methods of this room are those of a Rec
    if context.training is None:
        raise RecframeError(
            "std=True shows the standard deviation over trainings; bind their column: rec(training='seed')"
        )
    result = rec.evaluate(looks.metrics, by=[*by, context.training], tidy=True)
    # NOTE: by its own name, since some names, such as "^.*$", are patterns to Polars elsewhere
    result.drop_in_place(context.training)
    rows = with_names(result, context.model).data
    metrics = [*map(str, looks.metrics)] * (len(rows) // len(looks.metrics))
    rows = rows.with_columns(pl.Series("metric", metrics, pl.String))
    return rows.group_by(KEYS).agg(spread=pl.col("value").std())
