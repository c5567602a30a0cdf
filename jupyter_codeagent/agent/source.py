"""Python text as a value: does it parse, what does it do, and edits that leave the rest of it untouched."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from jupyter_codeagent.notebook.effects.analysis import MAX_CODE_CHARS

MAX_DEPTH = 150
"""Of a tree, of which honest programs have twenty: `ast.unparse` and `ast.dump` take up to four calls for each
level, and Python allows a thousand in all."""
_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True, kw_only=True)
class Edit:
    """Replace `text[start:end]`; offsets count characters."""

    start: int
    end: int
    text: str


def parse(code: str) -> ast.Module | None:
    """The tree, or None if this is no Python, or no program that anybody would read."""
    return None if isinstance(tree := parse_or_error(code), SyntaxError) else tree


@lru_cache(maxsize=16)
def parse_or_error(code: str) -> ast.Module | SyntaxError:
    """Each caller gets the same tree, which none of them changes: a program is parsed by some forty of them."""
    if len(code) > MAX_CODE_CHARS:
        return SyntaxError(f"{len(code):,} characters; at most {MAX_CODE_CHARS:,} are read")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "\d" in a plain string warns; that is the model's style, not ours
            tree = ast.parse(code)
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
    """All edits at once; they must not overlap."""
    for edit in sorted(edits, key=lambda edit: edit.start, reverse=True):
        code = code[: edit.start] + edit.text + code[edit.end :]
    return code


def span(code: str, node: ast.stmt | ast.expr) -> tuple[int, int]:
    """Character offsets of a node. `ast` counts columns in UTF-8 bytes, and only ``\\n`` as a line end."""
    end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
    return _offset(code, node.lineno, node.col_offset), _offset(code, end_line, end_column)


def text_of(code: str, node: ast.stmt | ast.expr) -> str:
    """The node as it is written."""
    return code[slice(*span(code, node))]


def before_on_its_line(code: str, node: ast.stmt | ast.expr) -> str:
    """What stands in front of a node on its line: its indentation, or another statement."""
    return code[: span(code, node)[0]].rpartition("\n")[2]


def statement_at(tree: ast.Module, line: int | None) -> ast.stmt | None:
    """The top-level statement that this line belongs to; an error that tells no line is in none."""
    return next((one for one in tree.body if is_on(one, line)), None)


def is_on(node: ast.stmt | ast.expr, line: int | None) -> bool:
    """Whether this line is one of the node's; an error that tells no line is on none."""
    return line is not None and node.lineno <= line <= (node.end_lineno or node.lineno)


def add_argument(code: str, call: ast.Call, argument: str) -> Edit:
    """The edit that writes one more argument at the end of a call."""
    end = span(code, call)[1] - 1
    has_others = bool(call.args or call.keywords) and not code[:end].rstrip().endswith(",")
    return Edit(start=end, end=end, text=f"{', ' if has_others else ''}{argument}")


def called_name(call: ast.Call) -> tuple[str, str]:
    """(owner, name) of a call: ``pd.read_csv(...)`` is ("pd", "read_csv"); the owner is empty for a bare name."""
    match call.func:
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return owner, name
        case ast.Attribute(attr=name):
            return "", name
        case ast.Name(id=name):
            return "", name
    return "", ""


def column_of(node: ast.AST) -> tuple[str, str] | None:
    """(frame, label) of ``frame["label"]`` or ``frame.label``."""
    match node:
        case ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant(value=str(label))):
            return frame, label
        case ast.Attribute(value=ast.Name(id=frame), attr=label):
            return frame, label
    return None


def bound_names(tree: ast.AST) -> set[str]:
    """Every name the code itself binds anywhere: assigned, imported, defined, an argument, a loop variable."""
    names: set[str] = set()
    for node in ast.walk(tree):
        names.update(_binds(node))
    return names


def loop_names(tree: ast.AST) -> set[str]:
    """Return the names that are bound by ``for`` and ``with … as`` alone: what is left in them is no result."""
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
    """Every name the code reads."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def returns_none(value: ast.expr) -> bool:
    """Of ``x.sort(…)`` and what is done in place nothing is shown."""
    match value:
        case ast.Constant(value=None):
            return True
        case ast.Call(keywords=keywords, func=ast.Attribute(attr=name)):
            inplace = any(word.arg == "inplace" and ast.unparse(word.value) == "True" for word in keywords)
            return inplace or name in ("append", "extend", "update", "sort", "add")
    return False


def does_something(code: str) -> bool:
    """Told from prose that happens to parse: ``Done``, ``Note: see above``, ``well-known``."""
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
    """Names behind an assignment target: ``df`` for ``df["x"]`` and ``df.x``, both of ``a, b``."""
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Subscript(value=inner) | ast.Attribute(value=inner) | ast.Starred(value=inner):
            yield from base_names(inner)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from base_names(part)


def single_values(tree: ast.Module) -> dict[str, ast.expr]:
    """Names that are bound exactly once, by an assignment, and what they are: not after ``x += 1`` or in a loop."""
    values: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = value
    bound = Counter(name for node in ast.walk(tree) for name in _binds(node))
    return {name: value for name, value in values.items() if bound[name] == 1}


def valued(node: ast.expr, values: Mapping[str, ast.expr]) -> ast.expr:
    """The value of a name that has just one (`single_values`), else the expression itself."""
    return values.get(node.id, node) if isinstance(node, ast.Name) else node


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
    """Of each line as Python's parser counts them, and of one behind the last."""
    return (0, *(end.end() for end in _LINE_END.finditer(code)), len(code) + 1)
