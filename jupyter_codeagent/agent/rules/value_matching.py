"""Filters that match nothing because the data writes a value in another way: ``"ABC News"``, but ``abc-news``.

After a run the columns that were compared are looked at; where the program failed or showed nothing, it is run once
more with a look before each statement that compares, since what it filters by may be gone afterwards. A value is
certain only where exactly one of the column has the same letters and digits, or its initial.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from jupyter_codeagent.agent.output_text import output_text
from jupyter_codeagent.agent.rules.rule import Fix, Issue, Program, ValueMatch, edited
from jupyter_codeagent.agent.source import Edit, apply_edits, column_of, span
from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.types.sandbox import ExecutionResult
from jupyter_codeagent.variables.privacy.pii_columns import personal_kind
from jupyter_codeagent.variables.text import looks_personal

MAX_COMPARISONS = 12
MAX_TOLD = 3
MAX_CHARS = 200
"""Longest value or name that is read: it may come to stand in the code, and in what is said of it."""
MAX_CATEGORIES = 12
"""Of a column in which an initial stands for a value: M for male, Y for yes."""
MARK = "#written-otherwise "
_LOOK = f"""\
def _look_for(table, label, asked):
    import json, re
    def plain(text):
        return re.sub(r"[\\W_]+", "", str(text)).casefold()
    def same(value, one):
        value, one = plain(value), plain(one)
        initial = value[:1] == one[:1] and 1 in (len(value), len(one)) and one.isalpha()
        return value == one or (initial and len(values) <= {MAX_CATEGORIES})
    def has(column, one):
        try:
            return bool((table()[column] == one).any())
        except Exception:  # another kind of column
            return False
    try:
        values = {{str(value) for value in table()[label].unique()[:10000]}}
    except Exception:  # not there, or no column of a frame
        return
    for one in asked:
        if one not in values:
            near = sorted(value for value in values if same(value, one))[:2]
            others = [str(column) for column in list(table().columns)[:50] if has(column, one)][:3]
            print({MARK!r} + json.dumps([label, one, near, others]))

"""


def probe_after(program: Program) -> str:
    """Return a program that looks at the columns which this one, that has just run, compares; empty if none."""
    looks = [
        _look(column, asked) for statement in _statements(program) for column, asked in _comparisons(statement)
    ]
    return f"{_LOOK}{''.join(dict.fromkeys(looks[:MAX_COMPARISONS]))}del _look_for" if looks else ""


def probe_inline(program: Program) -> str:
    """Return the program with a look before each statement that compares a column with texts; empty if none."""
    code = program.code
    looks: dict[int, str] = {}
    for statement in _statements(program):
        start = span(code, statement)[0]
        if start == 0 or code[start - 1] == "\n":
            for column, asked in _comparisons(statement):
                looks[start] = looks.get(start, "") + _look(column, asked)
    edits = [Edit(start=start, end=start, text=text) for start, text in list(looks.items())[:MAX_COMPARISONS]]
    return f"{_LOOK}{apply_edits(code, edits)}" if edits else ""


def read_matches(result: ExecutionResult) -> tuple[ValueMatch, ...]:
    """Read what the probes printed.

    It is text from the sandbox: lines in another form are left out, and a column's name stays on its line.
    """
    found = []
    for line in output_text(result).split("\n"):
        if not line.startswith(MARK):
            continue
        try:
            told = json.loads(line.removeprefix(MARK))
        except (ValueError, RecursionError):
            continue
        match told:
            case [column, asked, [*near], [*others]] if all(map(_is_short, (column, asked, *near, *others))):
                others_in_line = tuple(one_line(name, MAX_CHARS) for name in others)
                found.append(
                    ValueMatch(
                        column=one_line(column, MAX_CHARS), asked=asked, found=tuple(near), others=others_in_line
                    )
                )
    return tuple(dict.fromkeys(found))


def _is_short(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_CHARS


def without_personal(matches: Sequence[ValueMatch], withheld: Collection[str]) -> tuple[ValueMatch, ...]:
    """Leave out what was found in columns that look personal: it would stand in the code, which others may read.

    `withheld` are values of the user's personal columns.
    """
    return tuple(
        replace(one, found=()) if looks_personal(one.column) or _is_personal(one, withheld) else one
        for one in matches
    )


def _is_personal(one: ValueMatch, withheld: Collection[str]) -> bool:
    return any(value in withheld for value in one.found) or personal_kind(one.column, one.found) != ""


def match_values(program: Program) -> Fix | Issue | None:
    """Write the texts as the data has them; where none is certain, say which filter leaves nothing."""
    code, right = program.code, _certain(program)
    edits = []
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in right:
            start, end = span(code, node)
            if code[start:end] in (repr(node.value), f'"{node.value}"'):
                edits.append(Edit(start=start, end=end, text=repr(right[node.value])))
    notes = tuple(f"the data spells {asked!r} as {value!r}" for asked, value in right.items())
    if (fix := edited(program, edits, *notes)) is not None:
        return fix
    text = _nothing_matches(program.matches)
    return Issue(text=text) if text else None


def _certain(program: Program) -> dict[str, str]:
    """Text -> the text that is meant; not where another column has it, or it means several things."""
    matches = program.matches
    found: dict[str, set[tuple[str, ...]]] = {}
    for one in matches:
        if one.found:  # a frame that the program has emptied meanwhile says nothing
            found.setdefault(one.asked, set()).add(one.found)
    missing = {(one.column, one.asked) for one in matches}
    compared = {
        (column[1], text)
        for statement in _statements(program)
        for column, asked in _comparisons(statement)
        for text in asked
    }
    there = {text for _, text in compared - missing}
    return {
        asked: values[0]
        for asked, [values, *more] in ((asked, list(kinds)) for asked, kinds in found.items())
        if len(values) == 1 and not more and asked not in there
    }


def _nothing_matches(matches: Sequence[ValueMatch]) -> str:
    """Where nothing is certain: which filter left nothing, and which column has the value."""
    lines = []
    for one in matches:
        if not one.found:
            where = f"; it is a value of {' and '.join(one.others)}" if one.others else ""
            lines.append(f"No row has {one.asked!r} in {one.column}{where}.")
    return " ".join(list(dict.fromkeys(lines))[:MAX_TOLD])


def _comparisons(statement: ast.stmt) -> Iterator[tuple[tuple[str, str], tuple[str, ...]]]:
    """Yield ((frame, label), texts) of each comparison with texts.

    ``frame["column"] == "text"``, ``frame["column"].isin(["text"])`` and
    ``frame["column"].value_counts()["text"]``.
    """
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
            case ast.Subscript(
                value=ast.Call(func=ast.Attribute(value=owner, attr="value_counts")),
                slice=ast.Constant(value=str(text)),
            ):
                if column := _column(owner):
                    yield column, (text,)


def _column(node: ast.expr) -> tuple[str, str] | None:
    """Only of a frame by name: nothing else is sure to have no effect when it is looked at."""
    column = column_of(node)
    return None if column is None or re.match(r"_|str$", column[1]) else column


def _statements(program: Program) -> list[ast.stmt]:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [statement for statement in program.tree.body if not isinstance(statement, definitions)]


def _look(column: tuple[str, str], asked: Sequence[str]) -> str:
    frame, label = column
    return f"_look_for(lambda: {frame}, {label!r}, {list(asked)!r})\n"
