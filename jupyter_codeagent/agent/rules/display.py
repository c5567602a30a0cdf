"""Certain corrections of a model's code before it runs. The corrected text is what the cell shows, so nothing
happens behind the user's back; what was done is told in the notes.

Edits touch the lines they must and leave comments and layout alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from jupyter_codeagent.agent.rules.api_changes import METHODS_RENAMED, NUMPY_BUILTINS, NUMPY_RENAMED
from jupyter_codeagent.agent.rules.asked_names import bind_asked
from jupyter_codeagent.agent.rules.assignments import (
    assign_back,
    bind_comparisons,
    reduce_whole_masks,
    select_labels,
)
from jupyter_codeagent.agent.rules.binning import include_lowest_edge
from jupyter_codeagent.agent.rules.group_counts import count_missing_rows, none_is_zero
from jupyter_codeagent.agent.rules.imports import ALIASES
from jupyter_codeagent.agent.rules.ml_pitfalls import fit_complete_rows, keep_target_out
from jupyter_codeagent.agent.rules.p_value_conclusions import say_verdicts
from jupyter_codeagent.agent.rules.placeholders import find_unfilled
from jupyter_codeagent.agent.rules.plots import draw_on_the_figure, draws
from jupyter_codeagent.agent.rules.statistics import correct_statistics, of_population
from jupyter_codeagent.agent.rules.text_patterns import read_as_patterns
from jupyter_codeagent.agent.rules.tool_names import keep_functions
from jupyter_codeagent.agent.source import (
    Edit,
    apply_edits,
    base_names,
    before_on_its_line,
    bound_names,
    called_name,
    parse,
    returns_none,
    span,
    used_names,
)
from jupyter_codeagent.types.sandbox import NamespaceEntry

_READERS = re.compile(r"read_|scan_")
LOADER = re.compile(r"(?:load|fetch|get|read)_(?P<table>\w*)")
_DRAWERS = frozenset({"plt", "sns", "px", "go", "alt", "ax", "axes", "fig"})
_DRAWING = frozenset({"plot", "hist", "boxplot", "scatter_matrix", "show", "savefig"})
MAX_FIGURES = 16
"""Single numbers that are printed with their names."""
MAX_SHOWN = 4
"""Results that are shown besides the last one."""
_REDUCING = frozenset(
    {"mean", "median", "std", "var", "sum", "min", "max", "count", "nunique", "corr", "skew", "kurt"}
)
_GROUPING = frozenset({"groupby", "group_by", "resample", "rolling", "expanding"})
_SHOWING = frozenset({"print", "display"})


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Code as it will run and be shown, and what was changed in it."""

    code: str
    notes: tuple[str, ...] = ()
    """``line 2 dropped: df is loaded already``."""


def edited(
    code: str, edits: Sequence[Edit], *notes: str, namespace: Sequence[NamespaceEntry] | None = None
) -> Prepared | None:
    """The code with these edits; None where there are none.

    Edits that write an alias (``pd.to_numeric``) tell the `namespace`, and it is imported where it is not there.
    """
    if not edits:
        return None
    fixed = apply_edits(code, edits)
    if namespace is not None:
        fixed = add_imports(fixed, [entry.name for entry in namespace])
    return Prepared(code=fixed, notes=notes)


def with_line_before(
    code: str, statement: ast.stmt, line: str, note: str, namespace: Sequence[NamespaceEntry]
) -> Prepared | None:
    """The code with a line in front of a top-level statement; None where another statement begins that line."""
    if before_on_its_line(code, statement).strip():
        return None
    start, _ = span(code, statement)
    return edited(code, [Edit(start=start, end=start, text=f"{line}\n")], note, namespace=namespace)


def prepare(
    code: str,
    *,
    copied: Collection[str] = (),
    defined: Collection[str] = (),
    prompt: str = "",
    in_parts: bool = False,
    asked: Sequence[str] = (),
    functions: Collection[str] = (),
    incomplete: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> Prepared:
    """All corrections.

    `copied` are the variables that lie in the sandbox as copies of the user's; `defined` the names that need no
    import: those of the live kernel, so that an accepted cell runs there too. The `prompt` says which deviation is
    meant, and in which words a verdict is wanted. `in_parts`: the question asked for several things, so what is
    computed last and never used is one of them. `asked` are the variables that it wants
    (`asked_names.asked_names`). `functions` are those of the user's that it may call. `incomplete` are `repr()` of
    the columns with missing values, by pandas frame.
    """
    if parse(code) is None:
        return Prepared(code=code)
    calling, kept = keep_functions(code, functions)
    dropped = drop_reloads(calling, copied)
    modern = replace_removed(dropped.code)
    meant = as_meant(modern.code)
    fitted, fits = fit_complete_rows(meant.code, incomplete)
    spread, spreads = of_population(fitted, prompt)
    judged, verdicts = say_verdicts(spread, prompt, {*defined, *copied})
    filled = fill_placeholders(judged, {*defined, *copied})
    returned = unwrap_return(filled.code)
    whole = bind_asked(returned, asked)
    shown = quiet_plot(echo_last(show_unused(whole) if in_parts else whole, in_parts=in_parts))
    imported = add_imports(shown, {*defined, *copied})
    notes = [*kept, *dropped.notes, *modern.notes, *meant.notes, *fits, *spreads, *verdicts, *filled.notes]
    if whole != returned:
        notes.append(f"the result is {asked[0]}, as asked")
    elif shown.rstrip(";") != filled.code.rstrip(";"):
        notes.append("the last value is shown")
    if imported != shown:
        notes.append("added: " + "; ".join(imported[: len(imported) - len(shown)].strip().split("\n")))
    return Prepared(code=imported, notes=tuple(notes))


def add_imports(code: str, names_defined: Collection[str]) -> str:
    """With the import lines of known aliases that are used but neither bound by the code nor defined."""
    tree = parse(code)
    if tree is None:
        return code
    missing = (used_names(tree) - bound_names(tree) - set(names_defined)) & ALIASES.keys()
    lines = [line for name, line in ALIASES.items() if name in missing]
    return "\n".join(lines) + "\n\n" + code if lines else code


def drop_reloads(code: str, variables: Collection[str]) -> Prepared:
    """Without the top-level statements that read or re-type a variable which exists already."""
    tree = parse(code)
    if tree is None or not variables:
        return Prepared(code=code)
    edits, notes = [], []
    for index, statement in enumerate(tree.body):
        name = _reloaded(statement, variables)
        if not name or not _alone_on_its_lines(tree, index):
            continue
        start, end = span(code, statement)
        only = len(tree.body) == 1
        line_end = code.find("\n", end)
        edits.append(
            Edit(start=start, end=end if only or line_end < 0 else line_end + 1, text=name if only else "")
        )
        notes.append(f"line {statement.lineno} dropped: {name} is loaded already")
    return Prepared(code=apply_edits(code, edits).strip("\n"), notes=tuple(notes))


def replace_removed(code: str) -> Prepared:
    """With the names of today for those that pandas 3 and NumPy 2 have removed, where only one can be meant."""
    tree = parse(code)
    if tree is None:
        return Prepared(code=code)
    edits = [edit for node in ast.walk(tree) for edit in _modern(code, node)]
    notes = dict.fromkeys(f"{code[edit.start : edit.end]} is now {edit.text}" for edit in edits)
    return Prepared(code=apply_edits(code, edits), notes=tuple(notes))


def as_meant(code: str) -> Prepared:
    """With what runs without an error and gives another result than its names say."""
    notes: list[str] = []
    tree = parse(code)
    for correct in CORRECTIONS:
        if tree is not None and (found := correct(tree, code)):
            code = apply_edits(code, [edit for edit, _ in found])
            notes += dict.fromkeys(note for _, note in found)
            tree = parse(code)
    return Prepared(code=code, notes=tuple(notes))


def fill_placeholders(code: str, names_defined: Collection[str]) -> Prepared:
    """With an ``f`` before the strings that show ``{name}`` in place of its value."""
    tree = parse(code)
    edits = find_unfilled(tree, code, names_defined) if tree is not None else []
    lines = sorted({code.count("\n", 0, edit.start) + 1 for edit in edits})
    return Prepared(
        code=apply_edits(code, edits), notes=tuple(f"line {line}: {{…}} is filled in (f-string)" for line in lines)
    )


CORRECTIONS = (
    assign_back, bind_comparisons, reduce_whole_masks, select_labels, correct_statistics, keep_target_out,
    include_lowest_edge, none_is_zero, count_missing_rows, draw_on_the_figure, read_as_patterns,
)  # fmt: skip
"""Each takes (tree, code) and gives edits of the code, each with its note."""


def echo_last(code: str, *, in_parts: bool = False) -> str:
    """With the results that nothing shows at the end, if the code would otherwise show nothing at all.

    These are the last assigned name, and before it the other names that are assigned and never used; for a question
    in parts also those that arithmetic has made and that later parts go on with. Several single numbers are printed
    with their names.
    """
    tree = parse(code)
    if tree is None or not tree.body or _shows(tree):
        return code
    last = _last_bound(tree)
    made = {
        _computed(part) for part in tree.body if isinstance(part, ast.Assign) and isinstance(part.value, ast.BinOp)
    }
    between = used_names(tree) - (made if in_parts else set())
    unused = [name for name in _assigned(tree) if name not in between and name not in last.split(", ")]
    if (figures := _figures(tree)) and {*unused, last} <= figures and 0 < len(unused) < MAX_FIGURES:
        return "\n".join((code.rstrip(), *(f'print("{name}:", {name})' for name in (*unused, last))))
    names = [*unused[-(2 * MAX_SHOWN if in_parts else MAX_SHOWN) :], last] if last else []
    return _with_end(code, names) if names else code


def _with_end(code: str, names: Sequence[str]) -> str:
    """With these results shown at the end."""
    return f"{code.rstrip()}\n" + (f"display({', '.join(names)})" if len(names) > 1 else names[0])


def show_unused(code: str) -> str:
    """With the names that a program assigns and never uses, behind what else it prints."""
    tree = parse(code)
    if tree is None or not tree.body or not _shows(tree):
        return code
    computed = [name for statement in tree.body if (name := _computed(statement))]
    unused = [name for name in dict.fromkeys(computed) if name not in used_names(tree) | _DRAWERS]
    if not unused or (isinstance(tree.body[-1], ast.Expr) and not _prints(tree.body[-1])):
        return code
    return _with_end(code, unused[-MAX_SHOWN:])


def _computed(statement: ast.stmt) -> str:
    """The one name that a statement binds to a value; what a drawing call returns is none."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if draws(call):
            return ""
        case ast.Assign(targets=[ast.Name(id=name)]) if name != "_":
            return name
    return ""


def _prints(statement: ast.Expr) -> bool:
    """Its value is no result, so that one may stand behind it."""
    return isinstance(statement.value, ast.Call) and called_name(statement.value)[1] in _SHOWING


def _figures(tree: ast.Module) -> set[str]:
    """Names that top-level statements bind to single numbers, as far as the code shows it."""
    found: set[str] = set()
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_figure(value, found):
                found.add(name)
    return found


def _is_figure(value: ast.expr, figures: Collection[str]) -> bool:
    """``df["x"].mean()``, ``len(df)``, sums and shares of such."""
    match value:
        case ast.Constant(value=int() | float()):
            return True
        case ast.Name(id=name):
            return name in figures
        case ast.BinOp(left=left, right=right):
            return _is_figure(left, figures) and _is_figure(right, figures)
        case ast.Call(func=ast.Name(id="len")):
            return True
        case ast.Call(func=ast.Name(id="round" | "float" | "int" | "abs"), args=[inner, *_]):
            return _is_figure(inner, figures)
        case ast.Call(func=ast.Attribute(value=inner, attr="round"), args=_):
            return _is_figure(inner, figures)
        case ast.Call(
            func=ast.Attribute(value=ast.Subscript(slice=ast.Constant(value=str())) as column, attr=name)
        ):
            whole = not any(isinstance(node, ast.Attribute) and node.attr in _GROUPING for node in ast.walk(column))
            return name in _REDUCING and whole
    return False


def quiet_plot(code: str) -> str:
    """With a semicolon behind a last expression that draws: its value is an address, not a result."""
    tree = parse(code)
    if tree is None or not tree.body or not isinstance(tree.body[-1], ast.Expr):
        return code
    call = tree.body[-1].value
    if not isinstance(call, ast.Call) or not draws(call) or code[span(code, call)[1] :].strip():
        return code
    return f"{code.rstrip()};"


def rebound(code: str, variables: Collection[str]) -> tuple[str, ...]:
    """The copied variables that the code assigns or changes: a second attempt should start from fresh copies."""
    tree = parse(code)
    return tuple(sorted(set(_assigned(tree)) & set(variables))) if tree is not None else ()


def unwrap_return(code: str) -> str:
    """``return x`` as the last top-level statement is ``x``: some models write the body of a function."""
    tree = parse(code)
    if tree is None or not tree.body:
        return code
    last = tree.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return code
    start, end = span(code, last)
    value_start, value_end = span(code, last.value)
    return apply_edits(code, [Edit(start=start, end=end, text=code[value_start:value_end])])


def _reloaded(statement: ast.stmt, variables: Collection[str]) -> str:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if name in variables:
            return name if _loads(call) else ""
    return ""


def _loads(call: ast.Call) -> bool:
    """A reader of pandas or polars, a frame typed out as literals, or a loader called with constants only."""
    owner, name = called_name(call)
    if owner in ("pd", "pl", "pandas", "polars"):
        return bool(_READERS.match(name)) or (name == "DataFrame" and bool(call.args) and _constant(call))
    return bool(LOADER.match(name)) and _constant(call)


def _constant(call: ast.Call) -> bool:
    parts = [*call.args, *(keyword.value for keyword in call.keywords)]
    return not any(isinstance(node, ast.Name | ast.Call | ast.Starred) for part in parts for node in ast.walk(part))


def _alone_on_its_lines(tree: ast.Module, index: int) -> bool:
    here = tree.body[index]
    before = tree.body[index - 1] if index else None
    after = tree.body[index + 1] if index + 1 < len(tree.body) else None
    shares_first = before is not None and before.end_lineno == here.lineno
    return not shares_first and (after is None or after.lineno != here.end_lineno)


def _modern(code: str, node: ast.AST) -> Iterator[Edit]:
    match node:
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) if name in NUMPY_BUILTINS:
            start, end = span(code, node)
            yield Edit(start=start, end=end, text=name)
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) if name in NUMPY_RENAMED:
            _, end = span(code, node)
            yield Edit(start=end - len(name), end=end, text=NUMPY_RENAMED[name])
        case ast.Attribute(attr=name) if name in METHODS_RENAMED:
            _, end = span(code, node)
            yield Edit(start=end - len(name), end=end, text=METHODS_RENAMED[name])
        case ast.Call(
            func=ast.Attribute(attr="fillna") as function, args=[], keywords=[ast.keyword(arg="method") as keyword]
        ):
            yield from _filled(code, node, function, keyword)


def _filled(code: str, call: ast.expr, function: ast.Attribute, keyword: ast.keyword) -> Iterator[Edit]:
    methods = {"ffill": "ffill", "pad": "ffill", "bfill": "bfill", "backfill": "bfill"}
    match keyword.value:
        case ast.Constant(value=str(method)) if method in methods:
            _, name_end = span(code, function)
            _, end = span(code, call)
            yield Edit(start=name_end - len("fillna"), end=end, text=f"{methods[method]}()")


def _assigned(tree: ast.Module) -> list[str]:
    """Names that top-level statements assign or change, in order."""
    names = [name for statement in tree.body for name in _target(statement).split(", ") if name]
    return list(dict.fromkeys(names))


def _shows(tree: ast.Module) -> bool:
    """Whether something is printed, drawn or the value of the last expression."""
    last = tree.body[-1]
    if isinstance(last, ast.Expr) and not returns_none(last.value):
        return True
    for node in ast.walk(tree):
        match node:
            case ast.Call() if called_name(node)[1] in _SHOWING:
                return True
            case ast.Name(id=name) if name in _DRAWERS:
                return True
            case ast.Attribute(attr=name) if name in _DRAWING:
                return True
    return False


def _last_bound(tree: ast.Module) -> str:
    """The name that the last statement assigns or changes; for a loop or a branch, the last such name in it that
    certainly exists afterwards."""
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
