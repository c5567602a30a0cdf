"""Filters that match nothing because the data writes a value in another way: ``"ABC News"``, but ``abc-news``.

After a run the columns that were compared are looked at; where the program failed or showed nothing, it is run once
more with a look before each statement that compares, since what it filters by may be gone afterwards. A value is
certain only where exactly one of the column has the same letters and digits.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_codeagent.prompts.observe import output_text
from jupyter_codeagent.prompts.rewrite import Prepared
from jupyter_codeagent.prompts.source import Edit, apply_edits, column_of, parse, span
from jupyter_codeagent.values import ExecutionResult

MAX_COMPARISONS = 12
MARK = "#written-otherwise "
_LOOK = f"""\
def _look_for(column, asked):
    import json, re
    def plain(text):
        return re.sub(r"[\\W_]+", "", str(text)).casefold()
    try:
        values = {{str(value) for value in column().unique()[:10000]}}
    except Exception:  # not there, or no column of a frame
        return
    for one in asked:
        if one not in values:
            near = sorted(value for value in values if plain(value) == plain(one))[:2]
            print({MARK!r} + json.dumps([one, near]))

"""


@dataclass(frozen=True, kw_only=True)
class WrittenOtherwise:
    """A text that a column does not have."""

    asked: str
    found: tuple[str, ...]
    """What the column has with the same letters and digits, at most two."""


def look_afterwards(code: str) -> str:
    """A program that looks at the columns which `code`, that has just run, compares with texts; empty if none."""
    looks = [_look(column, asked) for statement in _statements(code) for column, asked in _comparisons(statement)]
    return f"{_LOOK}{''.join(dict.fromkeys(looks[:MAX_COMPARISONS]))}del _look_for" if looks else ""


def look_on_the_way(code: str) -> str:
    """`code` with a look before each statement that compares a column with texts; empty if none does."""
    looks: dict[int, str] = {}
    for statement in _statements(code):
        start = span(code, statement)[0]
        if start == 0 or code[start - 1] == "\n":
            for column, asked in _comparisons(statement):
                looks[start] = looks.get(start, "") + _look(column, asked)
    edits = [Edit(start=start, end=start, text=text) for start, text in list(looks.items())[:MAX_COMPARISONS]]
    return f"{_LOOK}{apply_edits(code, edits)}" if edits else ""


def values_found(result: ExecutionResult) -> tuple[WrittenOtherwise, ...]:
    """What `look_at_values` has told. Text of the sandbox: what does not read as told is left out."""
    found = []
    for line in output_text(result).split("\n"):
        if not line.startswith(MARK):
            continue
        try:
            told = json.loads(line.removeprefix(MARK))
        except ValueError:
            continue
        match told:
            case [str(asked), [*near]] if all(isinstance(value, str) for value in near):
                found.append(WrittenOtherwise(asked=asked, found=tuple(near)))
    return tuple(dict.fromkeys(found))


def with_values(code: str, otherwise: Sequence[WrittenOtherwise]) -> Prepared | None:
    """The code with the texts as the data has them; None where no text is certain."""
    tree = parse(code)
    right = {one.asked: one.found[0] for one in otherwise if len(one.found) == 1}
    if tree is None or not right:
        return None
    edits = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in right:
            start, end = span(code, node)
            if code[start:end] in (repr(node.value), f'"{node.value}"'):
                edits.append(Edit(start=start, end=end, text=repr(right[node.value])))
    notes = tuple(f"{asked!r} is written {value!r} in the data" for asked, value in right.items())
    return Prepared(code=apply_edits(code, edits), notes=notes) if edits else None


def _comparisons(statement: ast.stmt) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(column as code, texts) of ``frame["column"] == "text"`` and ``frame["column"].isin(["text"])``."""
    for node in ast.walk(statement):
        match node:
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[ast.Constant(value=str(text))]):
                if column := _column(left):
                    yield column, (text,)
            case ast.Call(func=ast.Attribute(value=owner, attr="isin"), args=[ast.List(elts=elements)]):
                texts = tuple(
                    one.value for one in elements if isinstance(one, ast.Constant) and isinstance(one.value, str)
                )
                if texts and (column := _column(owner)):
                    yield column, texts


def _column(node: ast.expr) -> str:
    """Only of a frame by name: nothing else is sure to have no effect when it is looked at."""
    if (column := column_of(node)) is None:
        return ""
    frame, label = column
    if isinstance(node, ast.Subscript):
        return f"{frame}[{label!r}]"
    return "" if re.match(r"_|str$", label) else f"{frame}.{label}"


def _statements(code: str) -> list[ast.stmt]:
    tree = parse(code)
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return (
        [statement for statement in tree.body if not isinstance(statement, definitions)] if tree is not None else []
    )


def _look(column: str, asked: Sequence[str]) -> str:
    return f"_look_for(lambda: {column}, {list(asked)!r})\n"
