"""Label the results at the end of a program.

Single numbers get ``name: 1.5``. Columns that were computed row by row become one table, beside those text
columns of their frame that the prompt mentions (*for each country*). ``display(total, change, percent)``
displays the same without saying which is which, and of which row. What the names stand for is known only after
a run, so this is a correction of a program that has run.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from jupyter_codeagent.agent.known_imports import with_imports
from jupyter_codeagent.agent.rules.error_reading import text_columns
from jupyter_codeagent.agent.rules.rule import Fix, Program
from jupyter_codeagent.agent.source import Edit, apply_edits, bound_names, span
from jupyter_codeagent.types.sandbox import NamespaceEntry
from jupyter_codeagent.variables.mentions import names_label

NOTE = "results are shown with their names"
_NUMBERS = frozenset({"int", "float", "bool", "int32", "int64", "float32", "float64"})
_SINGLE = frozenset({"Timestamp", "Timedelta", "date", "datetime"})
_DECIMALS = re.compile(r"\b(?P<count>[0-9]|one|two|three|four|five|six) (?:decimals?|digits)\b", re.IGNORECASE)
_COUNTS = ("zero", "one", "two", "three", "four", "five", "six")
_ELEMENTWISE = frozenset({"abs", "round", "astype", "fillna"})


def name_results(program: Program) -> Fix | None:
    """Label the results that a program displays at its end, or prints one by one.

    None where it displays things in another way, or where the results are tables, which name their columns
    themselves; nor where a person is asked before each execution. Text columns that the prompt does not mention
    are left out: the output gets into the prompt.
    """
    if program.each_run_is_approved:
        return None
    tree, code, prompt = program.tree, program.code, program.prompt
    entries = {entry.name: entry for entry in program.namespace}
    if printed := _named_prints(tree, code, entries):
        return Fix(code=apply_edits(code, printed), notes=(NOTE,), only_display=True)
    names = _shown(tree)
    if not names:
        return None
    numbers = [name for name in names if name in entries and entries[name].type_name in _NUMBERS]
    table = _table(tree, prompt, names, entries)
    if not table and (not numbers or len(names) == 1):
        return None
    start, _ = span(code, tree.body[-1])
    decimals = _decimals(prompt)
    shown = {name: name if decimals is None else f"round({name}, {decimals})" for name in numbers}
    end = [f'print("{name}:", {value})' for name, value in shown.items()]
    if others := [name for name in names if name not in numbers and name not in table]:
        end.append(f"display({', '.join(others)})")
    if table:
        columns = "".join(f"    {label!r}: {column},\n" for label, column in table.items())
        end.append(f"pd.DataFrame({{\n{columns}}})" + ("" if decimals is None else f".round({decimals})"))
    named = with_imports(code[:start] + "\n".join(end), program.defined)
    return Fix(code=named, notes=(NOTE,), only_display=True)


def _named_prints(tree: ast.Module, code: str, entries: Mapping[str, NamespaceEntry]) -> list[Edit]:
    """Label ``print(a)`` and ``print(b)`` of single values, one below the other: nothing says which is which.

    What the last expression displays belongs to them.
    """
    edits = []
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Constant() | ast.JoinedStr(), *_])):
                return []  # the program names what it prints
            case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[shown], keywords=[])):
                start, end = span(code, shown)
                edits += [
                    (name, Edit(start=start, end=start, text=f'"{name}:", ')) for name in _single(shown, entries)
                ]
            case ast.Expr(value=shown) if statement is tree.body[-1]:
                start, end = span(code, shown)
                edits += [
                    (name, Edit(start=start, end=end, text=f'print("{name}:", {code[start:end]})'))
                    for name in _single(shown, entries)
                ]
    return [edit for _, edit in edits] if len({name for name, _ in edits}) > 1 else []


def _single(shown: ast.expr, entries: Mapping[str, NamespaceEntry]) -> list[str]:
    """Return the name of the single value that is displayed, rounded or not."""
    match shown:
        case ast.Name(id=name) | ast.Call(func=ast.Name(id="round"), args=[ast.Name(id=name), *_]):
            return [name] if name in entries and entries[name].type_name in _NUMBERS | _SINGLE else []
    return []


def _decimals(prompt: str) -> int | None:
    """Return how many decimals the prompt asks for; None if it names no number of them."""
    if (found := _DECIMALS.search(prompt)) is None:
        return None
    count = found["count"].lower()
    return int(count) if count.isdigit() else _COUNTS.index(count)


def _shown(tree: ast.Module) -> list[str]:
    """Return the names in ``display(a, b)``, ``print(a)`` or ``a`` at the end."""
    match tree.body[-1:]:
        case [ast.Expr(value=ast.Name(id=name))]:
            return [name]
        case [ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=[ast.Name(id=name)], keywords=[]))]:
            return [name]
        case [ast.Expr(value=ast.Call(func=ast.Name(id="display"), args=[_, _, *_] as shown, keywords=[]))]:
            names = [value.id for value in shown if isinstance(value, ast.Name)]
            return list(dict.fromkeys(names)) if len(names) == len(shown) else []
    return []


def _table(
    tree: ast.Module, prompt: str, names: Sequence[str], entries: Mapping[str, NamespaceEntry]
) -> dict[str, str]:
    """Return label -> expression of the columns of a table; empty where a table adds nothing.

    They are the Series that have the rows of one frame, after that frame's text columns, or those that were
    computed from the first of them.
    """
    series = [name for name in names if name in entries and entries[name].type_name == "Series"]
    if not series:
        return {}
    frames = {name for name, entry in entries.items() if entry.type_name == "DataFrame"} - _remade(tree)
    numbers = {name for name, entry in entries.items() if entry.type_name in _NUMBERS}
    origin = _rows_of(tree, frames, numbers)
    first = entries[series[0]].shape
    found = [name for name in series if entries[name].shape == first]
    if (frame := origin.get(series[0])) in frames and entries[frame].shape[:1] == first:
        texts = [column for column in text_columns(entries[frame]) if names_label(prompt, column)]
        if texts:
            beside = {text: f"{frame}[{text!r}]" for text in texts if text not in found}
            return beside | {name: name for name in found if origin.get(name) == frame}
    alike = [name for name in found if origin.get(name, name) == origin.get(series[0], series[0])]
    return {name: name for name in alike} if len(alike) > 1 else {}


def _remade(tree: ast.Module) -> set[str]:
    """Names that the program binds to anything but a copy: their rows need not be those that a Series has."""
    others = [statement for statement in tree.body if not _copies(statement)]
    return bound_names(ast.Module(body=others, type_ignores=[]))


def _copies(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Attribute(value=ast.Name(), attr="copy"))):
            return True
    return False


def _rows_of(tree: ast.Module, frames: Collection[str], numbers: Collection[str]) -> dict[str, str]:
    """Series -> the frame or Series whose rows it has, as far as top-level statements show it."""
    origin: dict[str, str] = {}
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                known = {origin.get(source, source) for source in _sources(value, frames) if source not in numbers}
                origin.pop(name, None)
                if len(known) == 1 and name not in frames:
                    origin[name] = known.pop()
    return origin


def _sources(value: ast.expr, frames: Collection[str]) -> Iterator[str]:
    """Frames and names that arithmetic row by row is made of; of anything else none."""
    match value:
        case ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant(value=str())) if frame in frames:
            yield frame
        case ast.Name(id=name):
            yield name
        case ast.UnaryOp(operand=operand):
            yield from _sources(operand, frames)
        case ast.BinOp(left=left, right=right):
            yield from _sources(left, frames)
            yield from _sources(right, frames)
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _ELEMENTWISE:
            yield from _sources(owner, frames)
        case ast.Call(func=ast.Name(id="abs" | "round"), args=[inner, *_]):
            yield from _sources(inner, frames)
