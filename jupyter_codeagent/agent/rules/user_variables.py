"""Programs that would change a variable of the user's work on one of their own, unless the prompt asks for it.

``flights["month"] = …`` for a chart would, once accepted and run, overwrite a column of the user's. Where it is not
certain what a program does (`eval`, `exec`, names in SQL) it is left alone, and the receipt tells what it changed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from jupyter_codeagent.agent.prompt.asked_changes import asked_changes
from jupyter_codeagent.agent.renaming import Mention, NotRenamableError, find_mentions, rename
from jupyter_codeagent.agent.rules.changed_variables import UserVariable
from jupyter_codeagent.agent.rules.rule import Fix, Program
from jupyter_codeagent.agent.source import Edit, apply_edits, bound_names, called_name, parse, span, text_of
from jupyter_codeagent.notebook.effects.tables import ALIASING, ALIASING_METHODS

MAX_CHARS = 8000
"""Longer programs are left as they are: the loop waits for this."""
MAX_KEPT = 6
"""Limit for the variables that one program gets of its own."""


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
        variable = UserVariable(name=name, type_name=live.data[name])
        new = _free_name(name, mentioned | live.taken)
        if name not in asked and (kept := _kept(code, variable, new)) is not None:
            code, works_on = kept
            mentioned |= {new}
            notes.append(f"works on {works_on}: {name} stays as it is")
    return Fix(code=code, notes=tuple(notes)) if notes else None


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return ``flights_2`` for `flights`, ``flights_3`` for `flights_2`, and ``sales_2024_2`` for `sales_2024`."""
    stem, _, number = name.rpartition("_")
    base, at = (stem, int(number) + 1) if stem and re.fullmatch("[0-9]", number) else (name, 2)
    while f"{base}_{at}" in taken:
        at += 1
    return f"{base}_{at}"


def _kept(code: str, variable: UserVariable, new: str) -> tuple[str, str] | None:
    """Return the code that leaves the variable as it is, and what it works on; None where nothing is to be done."""
    tree = parse(code)
    if tree is None or variable.effects(code).unclear or not variable.is_changed_itself(code):
        return None
    try:
        found = find_mentions(tree, variable.name)
        change = _Change(code=code, tree=tree, variable=variable, found=found, new=new)
        for make, works_on in ((_copied_alias, "a copy"), (_bound_anew, new), (_on_a_copy, new)):
            for text in make(change) if found else ():
                if parse(text) is not None and not variable.is_changed(text):
                    return text, works_on
    except NotRenamableError:
        pass
    return None


# --- three ways to leave it as it is, the plainest first ------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Change:
    """A program that changes a variable of the user's, and the name of the one that may take its place."""

    code: str
    tree: ast.Module
    variable: UserVariable
    found: Sequence[Mention]
    """Where it means the variable, in the order of the text."""
    new: str

    def renamed(self, found: Iterable[Mention]) -> str:
        """Return the code with the new name in these places.

        Raises
        ------
        NotRenamableError
        """
        return rename(self.code, self.tree, self.variable.name, self.new, found)

    def is_kept_before(self, at: int) -> bool:
        """Check that no statement before this one gives the value, or a part of it, another name."""
        return all(_makes_no_alias(self.tree.body[one.statement]) for one in self.found if one.statement < at)


def _copied_alias(change: _Change) -> Iterator[str]:
    """``late = df`` becomes ``late = df.copy()``, where nothing uses `df` any more."""
    at = change.found[-1].statement
    if any(mention.is_deferred or mention.binds for mention in change.found) or not change.is_kept_before(at):
        return
    match change.tree.body[at]:
        case ast.Assign(targets=[ast.Name()]) as statement:
            yield from _with_copy(change.code, statement, change.variable)


def _bound_anew(change: _Change) -> Iterator[str]:
    """``df = df.dropna()`` becomes ``df_2 = df.dropna()``, and what follows goes on with `df_2`."""
    at = next((mention.statement for mention in change.found if mention.binds), -1)
    statement = change.tree.body[at]
    if at < 0 or not isinstance(statement, ast.Assign):
        return
    if any(mention.is_deferred for mention in change.found if mention.statement <= at):
        return
    targets = {id(node) for target in statement.targets for node in ast.walk(target)}
    new = [mention for mention in change.found if mention.statement > at or id(mention.node) in targets]
    if not all(mention.binds for mention in new if mention.statement == at):
        return
    text = change.renamed(new)
    yield text
    made = _statement(text, at)
    if change.is_kept_before(at) and isinstance(made, ast.Assign):
        yield from _with_copy(text, made, change.variable)


def _on_a_copy(change: _Change) -> Iterator[str]:
    """``df_2 = df.copy()`` before the first statement that may change it, and `df_2` from there on."""
    name, effects = change.variable.name, change.variable.effects(change.code)
    starts = [mention.statement for mention in change.found if not _only_reads(change, mention.statement)]
    for at in dict.fromkeys((*starts[:1], change.found[0].statement)):
        text = change.renamed(mention for mention in change.found if mention.statement >= at)
        if name not in (*effects.reads, *effects.deletes) and not change.variable.ways(change.code):
            yield text
            continue
        for value in (name, f"{name}{change.variable.copied or '.copy()'}"):
            yield _with_line(text, at, f"{change.new} = {value}")
        copied = _with_line(text, at, f"{change.new} = deepcopy({name})")
        tree = parse(text)
        has_deepcopy = tree is not None and "deepcopy" in bound_names(tree)
        yield copied if has_deepcopy else f"from copy import deepcopy\n\n{copied}"


def _with_copy(code: str, statement: ast.Assign, variable: UserVariable) -> Iterator[str]:
    """Yield the code with a copy of the table, or of the part of it, that a statement binds."""
    if variable.copied and _is_chain_of(statement.value, variable.name):
        end = span(code, statement.value)[1]
        yield apply_edits(code, [Edit(start=end, end=end, text=variable.copied)])


def _makes_no_alias(statement: ast.stmt) -> bool:
    """Check for a statement that displays something, or computes something new by a call."""
    match statement:
        case ast.Assign(value=ast.Call() as call):
            return called_name(call)[1] not in ALIASING | ALIASING_METHODS
    return isinstance(statement, ast.Expr)


def _is_chain_of(value: ast.expr, name: str) -> bool:
    """Check for ``df``, ``df["x"]`` and ``df.x.head()``, which a method can be called on as they stand."""
    while isinstance(value, ast.Attribute | ast.Subscript | ast.Call):
        value = value.func if isinstance(value, ast.Call) else value.value
    return isinstance(value, ast.Name) and value.id == name


def _only_reads(change: _Change, at: int) -> bool:
    """Check whether a statement leaves no trace in later ones: it only displays something."""
    here = [mention for mention in change.found if mention.statement == at]
    return (
        isinstance(change.tree.body[at], ast.Expr)
        and not any(mention.is_deferred or mention.binds for mention in here)
        and not change.variable.is_changed(text_of(change.code, change.tree.body[at]))
    )


def _statement(code: str, at: int) -> ast.stmt | None:
    tree = parse(code)
    return tree.body[at] if tree is not None else None


def _with_line(code: str, at: int, line: str) -> str:
    """Return the code with a line before a top-level statement, and before the comment on it."""
    statement, before = _statement(code, at), _statement(code, at - 1) if at else None
    assert statement is not None
    decorators = getattr(statement, "decorator_list", [])
    start = span(code, decorators[0] if decorators else statement)[0]
    begin = code.rfind("\n", 0, start) + 1
    if code[begin:start].strip() not in ("", "@"):
        return apply_edits(code, [Edit(start=start, end=start, text=f"{line}; ")])
    between = code[span(code, before)[1] : begin] if before is not None else f"\n{code[:begin]}"
    above = between.split("\n")[1:-1]  # without the end of that statement's line
    while above and above[-1].startswith("#"):
        begin -= len(above.pop()) + 1
    return apply_edits(code, [Edit(start=begin, end=begin, text=f"{line}\n")])
