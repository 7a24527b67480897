"""Random points of the sources that are compiled in with a switch: as written, or changed as a mistake would change them.

`install(seed, number)` before recframe is imported; then `switch.active` is the number of the point that is changed, and
`switch.reached` has those that ran.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib.abc
import importlib.machinery
import random
import sys
from collections import defaultdict
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

SOURCES = Path(__file__).parents[2] / "src"
ROOMS = {
    "evaluation": 22,
    "ranking": 18,
    "frames": 16,
    "statistics": 18,
    "metrics": 12,
    "splits": 7,
    "side_info": 7,
}
"""How many of a hundred points each room has: those that make numbers."""


def to_and_fro(*pairs: tuple[Any, Any], **one_way: str) -> dict[Any, Any]:
    """Return what is changed into what: both of a pair into the other."""
    return dict(pairs) | {other: one for one, other in pairs} | one_way


COMPARED = to_and_fro(
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
)
COMPUTED = to_and_fro((ast.Add, ast.Sub), (ast.Mult, ast.Div))
COMPUTED |= {ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult}
CALLED = to_and_fro(
    *(("min", "max"), ("any", "all"), ("first", "last"), ("is_null", "is_not_null")),
    *(("len", "n_unique"), ("min_horizontal", "max_horizontal")),
    sum="max",
    mean="sum",
    cum_sum="cum_count",
    is_nan="is_finite",
)
LEFT_OUT = {"fill_null", "fill_nan", "filter", "unique", "sort", "drop_nulls"}
"""Methods whose call a change leaves out."""
NAMED = to_and_fro(
    *(("left", "inner"), ("semi", "anti"), ("min", "max"), ("forward", "backward")),
    full="left",
    ordinal="dense",
)


class Point(NamedTuple):
    """A place in a file: the file and the number of the expression among those of it that can be changed."""

    file: str
    place: int
    node: ast.expr

    @property
    def text(self) -> str:
        """What is written and what the change makes of it, on one line."""
        changed = ast.unparse(_changed(self.node) or self.node)
        both = f"{ast.unparse(self.node)[:90]} -> {changed[:90]}".replace("\n", " ")
        return f"{self.file}:{self.node.lineno} {both}"


class Switch:
    """Which point is changed, and which points ran since this was emptied."""

    active = -1

    def __init__(self) -> None:
        self.reached: set[int] = set()

    def is_on(self, number: int) -> bool:
        self.reached.add(number)
        return number == self.active


switch = Switch()


def points(seed: int, number: int) -> list[Point]:
    """Draw points of each room; within a room each kind of expression is as likely as any other."""
    drawn = []
    for room, share in ROOMS.items():
        kinds: dict[str, list[Point]] = defaultdict(list)
        for path in sorted((SOURCES / "recframe" / room).rglob("*.py")):
            file = path.relative_to(SOURCES).as_posix()
            for place, node in enumerate(_candidates(path.read_text())):
                kinds[type(node).__name__].append(Point(file, place, node))
        chance = random.Random(f"{seed} {room}")  # noqa: S311  no secret
        of_room: list[Point] = []
        while len(of_room) < round(share * number / 100):
            one = chance.choice(kinds[chance.choice(sorted(kinds))])
            if one not in of_room:
                of_room.append(one)
        drawn += sorted(of_room, key=lambda one: one[:2])
    return drawn


def install(seed: int, number: int) -> list[Point]:
    """Compile the points in when recframe is imported."""
    if "recframe" in sys.modules:
        raise RuntimeError("recframe was imported before its points were drawn")
    drawn = points(seed, number)
    of_file: dict[str, dict[int, int]] = defaultdict(dict)
    for number_of_point, one in enumerate(drawn):
        of_file[one.file][one.place] = number_of_point
    builtins.__dict__["__is_on__"] = switch.is_on
    sys.meta_path.insert(0, _Finder(of_file))
    return drawn


def _changed(node: ast.AST) -> ast.expr | None:  # noqa: C901, PLR0912  a table of forms
    """Return the expression with a mistake in it, or None where it has no such form."""
    other: Any = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=[one]) if type(one) in COMPARED:
            other.ops = [COMPARED[type(one)]()]
        case ast.BoolOp(op=ast.And()):
            other.op = ast.Or()
        case ast.BoolOp():
            other.op = ast.And()
        case ast.BinOp(left=left, right=right, op=one) if type(one) in COMPUTED:
            if any(map(_is_text, (left, right))):
                return None
            other.op = COMPUTED[type(one)]()
        case ast.UnaryOp(op=ast.Not() | ast.Invert() | ast.USub()):
            return other.operand
        case ast.Constant(value=bool(value)):
            other.value = not value
        case ast.Constant(value=int(value) | float(value)):
            other.value = value + 1
        case ast.Constant(value=str(value)) if value in NAMED:
            other.value = NAMED[value]
        case ast.Call(func=ast.Attribute(attr=name)) if name in CALLED:
            other.func.attr = CALLED[name]
        case ast.Call(func=ast.Attribute(attr=name)) if name in LEFT_OUT:
            return other.func.value
        case ast.IfExp():
            other.body, other.orelse = other.orelse, other.body
        case _:
            return None
    return other


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _candidates(source: str | ast.Module) -> list[ast.expr]:
    """Return the expressions in functions that can be changed, but in defaults, annotations, errors and their texts."""
    found = _Candidates()
    found.visit(ast.parse(source) if isinstance(source, str) else source)
    return found.expressions


class _Candidates(ast.NodeVisitor):
    def __init__(self) -> None:
        self.expressions: list[ast.expr] = []
        self._depth = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._depth += 1
        for one in node.body:
            self.visit(one)
        self._depth -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for one in node.body:
            self.visit(one)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def _skip(self, node: ast.AST) -> None:
        """Look no further: what an error says is another file's matter, and patterns are no expressions."""

    visit_Raise = visit_JoinedStr = visit_Assert = visit_Match = _skip  # noqa: N815

    def generic_visit(self, node: ast.AST) -> None:
        if self._depth and isinstance(node, ast.expr) and _changed(node) is not None:
            self.expressions.append(node)
        super().generic_visit(node)


class _Switched(ast.NodeTransformer):
    """Each point as `changed if __is_on__(number) else as written`."""

    def __init__(self, numbers: dict[int, int]) -> None:
        self._numbers = numbers

    def visit(self, node: ast.AST) -> Any:
        number = self._numbers.get(id(node))
        changed = None if number is None else _changed(node)
        node = super().generic_visit(node)
        if number is None:
            return node
        test = ast.Call(ast.Name("__is_on__", ast.Load()), [ast.Constant(number)], [])
        return ast.copy_location(ast.IfExp(test, changed, node), node)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, numbers: dict[int, int]) -> None:
        super().__init__(name, path)
        self._of_places = numbers

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = ast.parse(Path(path).read_text())
        nodes = _candidates(tree)
        numbers = {id(nodes[place]): number for place, number in self._of_places.items()}
        tree = ast.fix_missing_locations(_Switched(numbers).visit(tree))
        return compile(tree, path, "exec", dont_inherit=True)


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, of_file: dict[str, dict[int, int]]) -> None:
        self._of_file = of_file

    def find_spec(
        self, name: str, path: Any, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != "recframe":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        origin = Path(spec.origin).resolve() if spec is not None and spec.origin else None
        if spec is not None and origin is not None and origin.is_relative_to(SOURCES):
            numbers = self._of_file.get(origin.relative_to(SOURCES).as_posix())
            if numbers:
                spec.loader = _Loader(name, str(origin), numbers)
                return spec
        return None
