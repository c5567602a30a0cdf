"""Programs that would change a variable of the user's work on one of their own, unless the prompt asks for it.

``flights["month"] = …`` for a chart would, once accepted and run, overwrite a column of the user's. Where it is not
certain what a program does (`eval`, `exec`, names in SQL) it is left alone, and the receipt tells what it changed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from jupyter_codeagent.agent.prompt.asked_changes import asked_changes
from jupyter_codeagent.agent.renaming import Mention, NotRenamableError, find_mentions, rename
from jupyter_codeagent.agent.rules.rule import Fix, Program
from jupyter_codeagent.agent.source import Edit, apply_edits, bound_names, parse, span, text_of
from jupyter_codeagent.notebook.effects.analysis import CodeEffects, code_effects
from jupyter_codeagent.notebook.effects.visitor import InPlace

MAX_CHARS = 8000
"""Longer programs are left as they are: the loop waits for this."""
MAX_KEPT = 6
"""Limit for the variables that one program gets of its own."""

_TABLE = re.compile(r"\w*(?:DataFrame|Series|Index|array|Array|matrix)")
"""pandas and its subclasses, numpy, sparse matrices."""
_PANDAS = re.compile(r"\w*(?:DataFrame|Series|Index)")
_CONTAINERS = frozenset({"list", "dict", "set", "bytearray", "deque", "Counter", "defaultdict", "OrderedDict"})
_IN_PANDAS = frozenset({"", "insert", "pop", "update", "__setitem__", "__delitem__", "__setattr__", "__delattr__"})
"""Those of `notebook.effects.tables.IN_PLACE` that pandas has, and that change a value there."""
_IN_POLARS = frozenset({"", "insert_column", "replace_column", "drop_in_place", "extend", "append"})


_effects = lru_cache(maxsize=16)(code_effects)


@dataclass(frozen=True, kw_only=True)
class _Variable:
    """A variable of the user's, and the one that takes its place in the program."""

    name: str
    kind: str
    new: str

    def is_changed(self, effects: CodeEffects) -> bool:
        return self.name in (*effects.binds, *effects.deletes) or bool(self.ways(effects))

    def ways(self, effects: CodeEffects) -> frozenset[InPlace]:
        """Return how the code changes the value in place; numbers and texts never change."""
        found = effects.in_place.get(self.name, frozenset())
        if self.kind.startswith("polars."):  # parts of a polars frame are values of their own
            return frozenset(way for way in found if way.method in _IN_POLARS and not way.inside)
        if _PANDAS.fullmatch(self.kind):
            return frozenset(way for way in found if way.method in _IN_PANDAS)
        is_mutable = _TABLE.fullmatch(self.kind) or self.kind in _CONTAINERS or self.kind.startswith("xarray.")
        return found if is_mutable else frozenset()

    @property
    def copy(self) -> str:
        """How a table is copied; empty for what is no table."""
        if self.kind.startswith("polars."):
            return ".clone()"
        if self.kind.startswith("xarray."):
            return ".copy(deep=True)"
        return ".copy()" if _TABLE.fullmatch(self.kind) else ""

    def copied(self, ways: Collection[InPlace]) -> str:
        """Return the expression for a copy that these changes do not reach beyond."""
        if self.kind in _CONTAINERS and any(way.inside for way in ways):
            return f"deepcopy({self.name})"
        return f"{self.name}{self.copy or '.copy()'}"


def keep_variables(program: Program) -> Fix | None:
    """Let a program work on a variable of its own where it would change or rebind one of the user's unasked."""
    tree, code, live = program.tree, program.code, program.live
    mentioned = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | bound_names(tree)
    names = [name for name in live.data if name in mentioned and name not in program.asked_names]
    if not names or len(code) > MAX_CHARS:
        return None
    asked = asked_changes(program.prompt, live, program.asked_before)
    notes: list[str] = []
    for name in names:
        if len(notes) == MAX_KEPT:
            break
        variable = _Variable(name=name, kind=live.data[name], new=_free_name(name, mentioned | live.taken))
        if name not in asked and (kept := _kept(code, variable)) is not None:
            code, works_on = kept
            mentioned |= {variable.new}
            notes.append(f"works on {works_on}: {name} stays as it is")
    return Fix(code=code, notes=tuple(notes)) if notes else None


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return ``flights_2`` for `flights`, and ``flights_3`` for `flights_2`."""
    stem, _, number = name.rpartition("_")
    base, at = (stem, int(number) + 1) if stem and number.isdecimal() else (name, 2)
    while f"{base}_{at}" in taken:
        at += 1
    return f"{base}_{at}"


def _kept(code: str, variable: _Variable) -> tuple[str, str] | None:
    """Return the code that leaves the variable as it is, and what it works on; None where nothing is to be done."""
    effects, tree = _effects(code), parse(code)
    if (
        tree is None
        or effects.unclear
        or not variable.is_changed(effects)
        or not _changes_itself(code, tree, variable)
    ):
        return None
    try:
        found = find_mentions(tree, variable.name)
        for make, works_on in ((_copied_alias, "a copy"), (_bound_anew, variable.new), (_on_a_copy, variable.new)):
            for text in make(code, tree, found, variable):
                if parse(text) is not None and not variable.is_changed(_effects(text)):
                    return text, works_on
    except NotRenamableError:
        pass
    return None


def _changes_itself(code: str, tree: ast.Module, variable: _Variable) -> bool:
    """Check whether it is the variable that changes, and not rows that were selected from it.

    ``jfk = df[df.origin == "JFK"]`` and ``jfk["x"] = 1``: pandas has copied those rows.
    """
    effects = _effects(code)
    is_part = variable.name not in effects.binds and all(way.inside for way in variable.ways(effects))
    if not is_part or not _PANDAS.fullmatch(variable.kind):
        return True
    copied = _SelectionsCopied(variable.name).visit(ast.parse(ast.unparse(tree)))
    return variable.is_changed(_effects(ast.unparse(copied)))


class _SelectionsCopied(ast.NodeTransformer):
    """Writes ``df[df.n > 1].copy()`` for ``df[df.n > 1]``."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(
                value=ast.Name(id=name) | ast.Attribute(value=ast.Name(id=name), attr="loc"),
                slice=ast.Tuple(elts=[rows, *_]) | rows,
                ctx=ast.Load(),
            ) if name == self._name and _selects_rows(rows):
                return ast.Call(func=ast.Attribute(value=node, attr="copy", ctx=ast.Load()), args=[], keywords=[])
        return node


def _selects_rows(rows: ast.expr) -> bool:
    """Check for a condition, or a list of labels."""
    is_call = isinstance(rows, ast.Call) and isinstance(rows.func, ast.Attribute)
    return is_call or isinstance(rows, ast.Compare | ast.BinOp | ast.UnaryOp | ast.List)


# --- three ways to leave it as it is, the plainest first ------------------------------------------------


def _copied_alias(code: str, tree: ast.Module, found: Sequence[Mention], variable: _Variable) -> Iterator[str]:
    """``late = df`` becomes ``late = df.copy()``, where nothing uses `df` any more."""
    last = tree.body[found[-1].statement]
    before = {mention.statement for mention in found} - {found[-1].statement}
    if any(mention.is_deferred or mention.binds for mention in found) or not variable.copy:
        return
    if all(_makes_no_alias(tree.body[at]) for at in before):
        match last:
            case ast.Assign(targets=[ast.Name()], value=value) if _is_chain(value):
                end = span(code, value)[1]
                yield apply_edits(code, [Edit(start=end, end=end, text=variable.copy)])


def _bound_anew(code: str, tree: ast.Module, found: Sequence[Mention], variable: _Variable) -> Iterator[str]:
    """``df = df.dropna()`` becomes ``df_2 = df.dropna()``, and what follows goes on with `df_2`."""
    at = next((mention.statement for mention in found if mention.binds), -1)
    statement = tree.body[at]
    if at < 0 or not isinstance(statement, ast.Assign):
        return
    if any(mention.is_deferred for mention in found if mention.statement <= at):
        return
    targets = {id(node) for target in statement.targets for node in ast.walk(target)}
    new = [mention for mention in found if mention.statement > at or id(mention.node) in targets]
    if not all(mention.binds for mention in new if mention.statement == at):
        return
    text = rename(code, tree, variable.name, variable.new, new)
    yield text
    again = parse(text)
    made = again.body[at] if again is not None else None
    if variable.copy and isinstance(made, ast.Assign) and _is_chain(made.value):
        end = span(text, made.value)[1]
        yield apply_edits(text, [Edit(start=end, end=end, text=variable.copy)])


def _on_a_copy(code: str, tree: ast.Module, found: Sequence[Mention], variable: _Variable) -> Iterator[str]:
    """``df_2 = df.copy()`` before the first statement that may change it, and `df_2` from there on."""
    statements = sorted({mention.statement for mention in found})
    starts = [at for at in statements if not _only_reads(code, tree.body[at], at, found, variable)]
    for at in dict.fromkeys((*starts[:1], statements[0])):
        text = rename(code, tree, variable.name, variable.new, [one for one in found if one.statement >= at])
        again = parse(text)
        assert again is not None  # it is the same tree with another name
        first = again.body[at]
        effects = _effects(code)
        if variable.name in (*effects.reads, *effects.deletes) or variable.ways(effects):
            same = _with_line(text, first, f"{variable.new} = {variable.name}")
            yield same
            ways = variable.ways(_effects(same))
            copied = _with_line(text, first, f"{variable.new} = {variable.copied(ways)}")
            has_deepcopy = "deepcopy(" not in variable.copied(ways) or "deepcopy" in bound_names(tree)
            yield copied if has_deepcopy else f"from copy import deepcopy\n\n{copied}"
        else:
            yield text


def _makes_no_alias(statement: ast.stmt) -> bool:
    """Check for a statement that displays something, or computes it by a call."""
    return isinstance(statement, ast.Expr) or (
        isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call)
    )


def _is_chain(value: ast.expr) -> bool:
    """Check for an expression that a method can be called on as it stands."""
    return isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call)


def _only_reads(code: str, statement: ast.stmt, at: int, found: Sequence[Mention], variable: _Variable) -> bool:
    """Check whether a statement leaves no trace in later ones: it only displays something."""
    here = [mention for mention in found if mention.statement == at]
    return (
        isinstance(statement, ast.Expr)
        and not any(mention.is_deferred or mention.binds for mention in here)
        and not variable.is_changed(_effects(text_of(code, statement)))
    )


def _with_line(code: str, statement: ast.stmt, line: str) -> str:
    """Return the code with a line before a top-level statement, and before the comment on it."""
    decorators = getattr(statement, "decorator_list", [])
    start = span(code, decorators[0] if decorators else statement)[0]
    begin = code.rfind("\n", 0, start) + 1
    if code[begin:start].strip() not in ("", "@"):
        return apply_edits(code, [Edit(start=start, end=start, text=f"{line}; ")])
    above = code[:begin].split("\n")[:-1]
    while above and above[-1].startswith("#"):
        begin -= len(above.pop()) + 1
    return apply_edits(code, [Edit(start=begin, end=begin, text=f"{line}\n")])
