"""Small pieces of Markdown, and what docstrings of metrics are made of."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Sequence

from recframe.metrics.language.definition import Definition, Metric
from recframe.metrics.language.registry import registered

USE = "Use it "
"""How the paragraph of a docstring begins that says when to use the metric, and when not."""
SOURCE, SYMBOLS = "Source: ", "Symbols in the formulas: "
EXAMPLE = re.MULTILINE | re.DOTALL
FIELD = {
    "alpha_ndcg": "alpha-nDCG", "auc": "AUC", "bpm": "BPM", "bpref": "bpref", "dcg": "DCG", "efd": "EFD",
    "epc": "EPC", "err": "ERR", "err_ia": "ERR-IA", "f_score": "F score", "fall_out": "Fall-out", "gauc": "GAUC",
    "gini": "Gini coefficient", "insq": "INSQ", "inst": "INST", "map": "MAP", "mcc": "MCC", "mrr": "MRR", "ncrr": "NCRR",
    "ndcg": "nDCG", "nerr": "NERR", "nrbp": "NRBP", "partial_auc": "Partial AUC", "r_precision": "R-precision", "rbo": "RBO",
    "rbp": "RBP", "sdcg": "SDCG",
}  # fmt: skip
"""The field's names of metrics that are not simply their words."""
BELOW = "<br>"
"""What parts a cell of a table into lines."""


def code(text: str) -> str:
    """Return a piece of code in a line."""
    return f"`{text}`"


def written(value: object) -> str:
    """Return a value as Python has it."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; bars in its cells stand as they are."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def paragraphs(definition: Definition) -> list[str]:
    """Return the paragraphs of a docstring, each on one line, without its examples."""
    parts = (definition.doc or "").split("\n\n")
    code = (">>>", "shape:", "┌")
    return [" ".join(part.split()) for part in parts if not part.startswith(code)]


def example_of(definition: Definition) -> str:
    """Return the example of a docstring, whose metric has been asked of a frame of a few rows."""
    return "".join(
        re.findall(r"^>>> .*?(?=\n\nSource:|\Z)", definition.doc or "", EXAMPLE)
    ).rstrip()


def sentence_of(definition: Definition) -> str:
    """Return what the metric is, in a sentence."""
    return paragraphs(definition)[0] if definition.doc else definition.formula


def title_of(name: str) -> str:
    """Return the title of a metric's page: the field's name, and the one in code."""
    return f"{FIELD.get(name, name.replace('_', ' ').capitalize())} ({code(name)})"


def use_of(definition: Definition) -> str:
    """Return when to use the metric and when not."""
    return _beginning(USE, paragraphs(definition))


def prose_of(definition: Definition) -> list[str]:
    """Return what the docstring says of the definition, after its first sentence and its use, before its source."""
    return [one for one in paragraphs(definition)[1:] if not one.startswith((SOURCE, USE))]


def source_of(definition: Definition) -> str:
    """Return the source that the docstring names; nothing of counts, which are nobody's."""
    return _beginning(SOURCE, paragraphs(definition)).removeprefix(SOURCE)


def symbols_of(definition: Definition) -> str:
    """Return what the symbols of a page of metrics stand for, as the page says."""
    return _beginning(SYMBOLS, _page(definition)).removeprefix(SYMBOLS)


def page_of(definition: Definition) -> str:
    """Return what the metric's family is about: the first sentence of the page that it is written on."""
    return f"{_page(definition)[0].partition(';')[0].rstrip('.')}."


def _page(definition: Definition) -> list[str]:
    """Return the paragraphs of the docstring of a metric's module."""
    module = importlib.import_module(definition.function.__module__)
    return [" ".join(part.split()) for part in (inspect.getdoc(module) or "").split("\n\n")]


def _beginning(words: str, paragraphs: Sequence[str]) -> str:
    return next((one for one in paragraphs if one.startswith(words)), "")


def own_metrics() -> dict[str, Metric[...]]:
    """Return the metrics that have a page, those of recframe itself."""
    return {name: one for name, one in registered().items() if one.definition.builtin}
