"""Python source text: parse it, read what it does, and edit it without touching the rest."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from jupyter_codeagent.notebook.effects.analysis import MAX_CODE_CHARS
from jupyter_codeagent.types.syntax_trees import module_tree

MAX_DEPTH = 150
"""Limit for the depth of a tree; honest programs have twenty levels.

`ast.unparse` and `ast.dump` take up to four calls for each level, and Python allows a thousand in all.
"""
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Replace `text[start:end]`; offsets count characters."""

    start: int
    end: int
    text: str


def parse(code: str) -> ast.Module | None:
    """Return the tree; None for text that is not Python, or that is too long or too deeply nested."""
    return None if isinstance(tree := parse_or_error(code), SyntaxError) else tree


@lru_cache(maxsize=16)
def parse_or_error(code: str) -> ast.Module | SyntaxError:
    """Return the tree, or why there is none.

    All callers get the same tree and none of them changes it: a program is parsed by some forty of them.
    """
    if len(code) > MAX_CODE_CHARS:
        return SyntaxError(f"{len(code):,} characters; at most {MAX_CODE_CHARS:,} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a plain string warns; that is the model's style, not ours
            tree = module_tree(code)
    except SyntaxError as error:
        return error.with_traceback(None)
    except (ValueError, RecursionError, MemoryError) as error:  # a NUL byte; nesting that is an attack or nonsense
        return SyntaxError(str(error) or type(error).__name__)
    return SyntaxError(f"nested deeper than {MAX_DEPTH}") if _is_deep(tree) else tree


def _is_deep(tree: ast.AST) -> bool:
    level = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def apply_edits(code: str, edits: Sequence[Edit]) -> str:
    """Apply all edits at once; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        code = code[: edit.start] + edit.text + code[edit.end :]
    return code


def span(code: str, node: ast.stmt | ast.expr) -> tuple[int, int]:
    """Return the character offsets of a node.

    `ast` counts columns in UTF-8 bytes, and only ``\\n`` as a line end.
    """
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return _offset(code, node.lineno, node.col_offset), _offset(code, end_line, end_column)


def text_of(code: str, node: ast.stmt | ast.expr) -> str:
    """Return the source text of a node."""
    return code[slice(*span(code, node))]


def before_on_its_line(code: str, node: ast.stmt | ast.expr) -> str:
    """Return what stands before a node on its line: its indentation, or another statement."""
    return code[: span(code, node)[0]].rpartition("\n")[2]


def statement_at(tree: ast.Module, line: int | None) -> ast.stmt | None:
    """Return the top-level statement that contains this line; None if the error has no line."""
    if line is None:
        return None
    return next((one for one in tree.body if one.lineno <= line <= (one.end_lineno or one.lineno)), None)


def add_argument(code: str, call: ast.Call, argument: str) -> Edit:
    """Return the edit that adds an argument at the end of a call."""
    end = span(code, call)[1] - 1
    has_others = bool(call.args or call.keywords) and not code[:end].rstrip().endswith(",")
    return Edit(start=end, end=end, text=f"{', ' if has_others else ''}{argument}")


def called_name(call: ast.Call) -> tuple[str, str]:
    """Return (owner, name) of a call: ("pd", "read_csv") for ``pd.read_csv(...)``.

    The owner is empty for a bare name.
    """
    match call.func:
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return owner, name
        case ast.Attribute(attr=name):
            return "", name
        case ast.Name(id=name):
            return "", name
    return "", ""


def column_of(node: ast.AST) -> tuple[str, str] | None:
    """Return (frame, label) of ``frame["label"]`` or ``frame.label``; None for anything else."""
    match node:
        case ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant(value=str(label))):
            return frame, label
        case ast.Attribute(value=ast.Name(id=frame), attr=label):
            return frame, label
    return None


def bound_names(tree: ast.AST) -> set[str]:
    """Return every name that the code binds: assigned, imported, defined, an argument, a loop variable."""
    names: set[str] = set()
    for node in ast.walk(tree):
        names.update(_binds(node))
    return names


def loop_names(tree: ast.AST) -> set[str]:
    """Return the names that are bound by ``for`` and ``with … as`` alone: their last value is no result."""
    targets: dict[bool, list[ast.expr]] = {True: [], False: []}
    for node in ast.walk(tree):
        match node:
            case ast.For(target=target) | ast.AsyncFor(target=target):
                targets[True].append(target)
            case ast.withitem(optional_vars=ast.expr() as target):
                targets[True].append(target)
            case ast.Assign(targets=many):
                targets[False].extend(many)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.NamedExpr(target=target):
                targets[False].append(target)
    looped, assigned = ({name for one in targets[kind] for name in base_names(one)} for kind in (True, False))
    return looped - assigned


def used_names(tree: ast.AST) -> set[str]:
    """Return every name that the code reads."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def returns_none(value: ast.expr) -> bool:
    """Check whether an expression displays nothing: ``x.sort(…)``, and all that is done in place."""
    match value:
        case ast.Constant(value=None):
            return True
        case ast.Call(keywords=keywords, func=ast.Attribute(attr=name)):
            inplace = any(word.arg == "inplace" and ast.unparse(word.value) == "True" for word in keywords)
            return inplace or name in ("append", "extend", "update", "sort", "add")
    return False


def does_something(code: str) -> bool:
    """Check whether the code acts, unlike prose that happens to parse: ``Done``, ``Note: see above``."""
    tree = parse(code) if code else None
    return tree is not None and any(_is_action(statement) for statement in tree.body)


def _is_action(statement: ast.stmt) -> bool:
    match statement:
        case ast.AnnAssign(value=None) | ast.Pass():
            return False
        case ast.Expr(value=value):
            return isinstance(value, ast.Call | ast.Subscript | ast.Attribute | ast.Await)
    return True


def base_names(target: ast.expr) -> Iterator[str]:
    """Yield the names behind an assignment target: ``df`` for ``df["x"]`` and ``df.x``, both of ``a, b``."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.Starred(value=inner):
            yield from base_names(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from base_names(part)


def _binds(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ExceptHandler(name=str(name)):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                yield alias.asname or alias.name.partition(".")[0]


def _offset(code: str, line: int, column: int) -> int:
    starts = _line_starts(code)
    start = starts[line - 1]
    if code.isascii():
        return start + column
    return start + len(code[start : starts[line]].encode()[:column].decode())


@lru_cache(maxsize=16)
def _line_starts(code: str) -> tuple[int, ...]:
    """Return the offset of each line as Python's parser counts them, and of one behind the last."""
    return (0, *(end.end() for end in _LINE_END.finditer(code)), len(code) + 1)
