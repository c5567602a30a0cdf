"""What a program displays at its end: its result, where it would display nothing, under the name asked for."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from jupyter_codeagent.agent.rules.plots import draws
from jupyter_codeagent.agent.rules.rule import Fix, Program, edited
from jupyter_codeagent.agent.rules.words import AGGREGATIONS, DISPLAYING
from jupyter_codeagent.agent.source import (
    Edit,
    base_names,
    bound_names,
    called_name,
    returns_none,
    span,
    used_names,
)

NOTE = "the last value is shown"
MAX_NUMBERS = 16
"""Single numbers that are printed with their names."""
MAX_DISPLAYED = 4
"""Results that are displayed besides the last one."""
_DRAWERS = frozenset({"plt", "sns", "px", "go", "alt", "ax", "axes", "fig"})
_DRAWING = frozenset({"plot", "hist", "boxplot", "scatter_matrix", "show", "savefig"})
_GROUPING = frozenset({"groupby", "group_by", "resample", "rolling", "expanding"})


def unwrap_return(program: Program) -> Fix | None:
    """Turn ``return x`` as the last top-level statement into ``x``: some models write the body of a function."""
    tree, code = program.tree, program.code
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    start, end = span(code, last)
    value_start, value_end = span(code, last.value)
    return edited(program, [Edit(start=start, end=end, text=code[value_start:value_end])], NOTE)


def bind_asked_name(program: Program) -> Fix | None:
    """Bind the result to the one name that was asked for and that the code does not bind.

    The result is the value of the last expression, what the last line prints, or what the last line assigns.
    """
    tree, code, names = program.tree, program.code, program.asked_names
    if not tree.body or len(names) != 1 or names[0] in bound_names(tree):
        return None
    [name] = names
    last = tree.body[-1]
    start, end = span(code, last)
    match last:
        case ast.Expr(value=ast.Call(args=[ast.expr() as shown], keywords=[]) as call) if called_name(call) in (
            ("", "print"),
            ("", "display"),
        ):
            if not isinstance(shown, ast.Name | ast.Subscript | ast.Attribute | ast.Call):
                return None
            shown_start, shown_end = span(code, shown)
            edit = Edit(start=start, end=end, text=f"{name} = {code[shown_start:shown_end]}\n{name}")
        case ast.Expr(value=ast.Name() | ast.Subscript() | ast.Attribute() | ast.Call() as value) if not _draws(
            value
        ):
            edit = Edit(start=start, end=end, text=f"{name} = {code[start:end]}\n{name}")
        case ast.Assign(targets=[ast.Name(id=other)]):
            edit = Edit(start=end, end=end, text=f"\n{name} = {other}\n{name}")
        case _:
            return None
    return edited(program, [edit], f"the result is {name}, as asked")


def display_unused(program: Program) -> Fix | None:
    """Display the names that a program assigns and never uses, after what else it prints.

    Only for a question in parts: what is computed last and never used is one of them.
    """
    tree, code = program.tree, program.code
    if not program.in_parts or not tree.body or not _displays(tree):
        return None
    computed = [name for statement in tree.body if (name := _computed(statement))]
    unused = [name for name in dict.fromkeys(computed) if name not in used_names(tree) | _DRAWERS]
    if not unused or (isinstance(tree.body[-1], ast.Expr) and not _prints(tree.body[-1])):
        return None
    return Fix(code=_with_end(code, unused[-MAX_DISPLAYED:]), notes=(NOTE,))


def display_last(program: Program) -> Fix | None:
    """Display the results at the end, if the code would otherwise display nothing at all.

    These are the last assigned name, and before it the other names that are assigned and never used; for a question
    in parts also those that arithmetic has made and that later parts go on with. Several single numbers are printed
    with their names.
    """
    tree, code, in_parts = program.tree, program.code, program.in_parts
    if not tree.body or _displays(tree):
        return None
    last = _last_bound(tree)
    made = {
        _computed(part) for part in tree.body if isinstance(part, ast.Assign) and isinstance(part.value, ast.BinOp)
    }
    between = used_names(tree) - (made if in_parts else set())
    unused = [name for name in _assigned(tree) if name not in between and name not in last.split(", ")]
    if (numbers := _numbers(tree)) and {*unused, last} <= numbers and 0 < len(unused) < MAX_NUMBERS:
        lines = (f'print("{name}:", {name})' for name in (*unused, last))
        return Fix(code="\n".join((code.rstrip(), *lines)), notes=(NOTE,))
    names = [*unused[-(2 * MAX_DISPLAYED if in_parts else MAX_DISPLAYED) :], last] if last else []
    return Fix(code=_with_end(code, names), notes=(NOTE,)) if names else None


def quiet_plot(program: Program) -> Fix | None:
    """Put a semicolon after a last expression that draws: its value is an address, not a result."""
    tree, code = program.tree, program.code
    last = tree.body[-1] if tree.body else None
    call = last.value if isinstance(last, ast.Expr) else None
    if not isinstance(call, ast.Call) or not draws(call) or code[span(code, call)[1] :].strip():
        return None
    return Fix(code=f"{code.rstrip()};")


def _with_end(code: str, names: Sequence[str]) -> str:
    """Return the code with these results displayed at its end."""
    return f"{code.rstrip()}\n" + (f"display({', '.join(names)})" if len(names) > 1 else names[0])


def _computed(statement: ast.stmt) -> str:
    """Return the one name that a statement binds to a value; the result of a drawing call does not count."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if draws(call):
            return ""
        case ast.Assign(targets=[ast.Name(id=name)]) if name != "_":
            return name
    return ""


def _prints(statement: ast.Expr) -> bool:
    """Check whether the statement displays something itself, so that a result can still follow."""
    return isinstance(statement.value, ast.Call) and called_name(statement.value)[1] in DISPLAYING


def _numbers(tree: ast.Module) -> set[str]:
    """Names that top-level statements bind to single numbers, as far as the code shows it."""
    found: set[str] = set()
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_number(value, found):
                found.add(name)
    return found


def _is_number(value: ast.expr, numbers: Collection[str]) -> bool:
    """``df["x"].mean()``, ``len(df)``, sums and shares of such."""
    match value:
        case ast.Constant(value=int() | float()):
            return True
        case ast.Name(id=name):
            return name in numbers
        case ast.BinOp(left=left, right=right):
            return _is_number(left, numbers) and _is_number(right, numbers)
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Call(func=ast.Name(id="round" | "float" | "int" | "abs"), args=[inner, *_]):
            return _is_number(inner, numbers)
        case ast.Call(func=ast.Attribute(value=inner, attr="round"), args=_):
            return _is_number(inner, numbers)
        case ast.Call(
            func=ast.Attribute(value=ast.Subscript(slice=ast.Constant(value=str())) as column, attr=name)
        ):
            whole = not any(isinstance(node, ast.Attribute) and node.attr in _GROUPING for node in ast.walk(column))
            return name in AGGREGATIONS and whole
    return False


def _assigned(tree: ast.Module) -> list[str]:
    """Names that top-level statements assign or change, in order."""
    names = [name for statement in tree.body for name in _target(statement).split(", ") if name]
    return list(dict.fromkeys(names))


def _displays(tree: ast.Module) -> bool:
    """Whether something is printed, drawn or the value of the last expression."""
    last = tree.body[-1]
    if isinstance(last, ast.Expr) and not returns_none(last.value):
        return True
    for node in ast.walk(tree):
        match node:
            case ast.Call() if called_name(node)[1] in DISPLAYING:
                return True
            case ast.Name(id=name) if name in _DRAWERS:
                return True
            case ast.Attribute(attr=name) if name in _DRAWING:
                return True
    return False


def _last_bound(tree: ast.Module) -> str:
    """Return the name that the last statement assigns or changes.

    For a loop or a branch, it is the last such name in it that certainly exists afterwards.
    """
    last = tree.body[-1]
    if isinstance(last, ast.For | ast.While | ast.If | ast.With | ast.Try):
        before = bound_names(ast.Module(body=tree.body[:-1], type_ignores=[]))
        inside = sorted(
            (node for node in ast.walk(last) if isinstance(node, ast.stmt)), key=lambda node: node.lineno
        )
        names = [_target(statement) for statement in inside]
        return next((name for name in reversed(names) if name in before), "")
    return _target(last)


def _target(statement: ast.stmt) -> str:
    match statement:
        case ast.Assign(targets=[*_, target]):
            names = list(dict.fromkeys(base_names(target)))
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target, value=ast.expr()):
            names = list(base_names(target))
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
            names = list(base_names(owner))
        case _:
            names = []
    return ", ".join(name for name in names if name != "_")


def _draws(value: ast.expr) -> bool:
    """Check whether the expression only draws or shows a chart, which has no value worth keeping."""
    return isinstance(value, ast.Call) and (draws(value) or called_name(value)[1] == "show")
