"""``print("Mean: {mean:.2f}")``: a string that was meant to be an f-string gets its prefix before the code runs.

Only where nothing else can be meant: the string is shown as it stands, each pair of braces holds an expression of
names that exist, and no ``.format`` follows.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Collection, Iterator

from jupyter_codeagent.agent.rules.rule import Fix, Program, edited, from_text
from jupyter_codeagent.agent.rules.words import DISPLAYING
from jupyter_codeagent.agent.source import Edit, called_name, parse, span

_TITLES = frozenset({"title", "suptitle", "set_title"})
_LITERAL = re.compile(r"(?P<prefix>[rR]?)(?P<quoted>['\"].*)\Z", re.DOTALL)
_SPECIFICATION = re.compile(r"(?:.?[<>=^])?[-+ ]?#?0?\d*[,_]?(?:\.\d+)?[bcdeEfFgGnosxX%]?\Z|%[-A-Za-z]")
_FORMULA = re.compile(r"\\[A-Za-z]+\{|[_^]\{")
"""Braces of TeX: ``x_{n}``, ``\\frac{a}{b}``."""
_SHOWN_FIELD = re.compile(r"\{[A-Za-z_][^{}:\n]*+:[^{}\n]*[defg%]\}")
_SHOWN_WORD = re.compile(
    r"[:=]\s*([\[<](?:(?:the|your|insert|calculated|computed|actual|final) )*"
    r"(?:value|answer|result|number|figure|amount|count|total|mean|median|percentage|x+\.x+)(?: here)?[\]>])",
    re.IGNORECASE,
)
"""``Mean: [value]``, as in a form that was never filled in."""
_BLANK = re.compile(r"\{\s|\s\}")


def fill_placeholders(program: Program) -> Fix | None:
    """Put an ``f`` before the strings that show ``{name}`` in place of its value."""
    tree, code = program.tree, program.code
    names = {*program.defined, *program.copied, *_lasting_names(tree)}
    edits = [
        edit
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for text in _shown_texts(node)
        for edit in _prefixes(code, text, names)
    ]
    lines = sorted({code.count("\n", 0, edit.start) + 1 for edit in edits})
    return edited(program, edits, *(f"line {line}: {{…}} is filled in (f-string)" for line in lines))


@from_text
def unfilled_placeholder(program: Program) -> str:
    """Report the first placeholder that the code has printed as text: ``{mean:.2f}``, ``[value]``."""
    tree, text = program.tree, program.output
    if re.search(r"\.format(?:_map)?\(|Template\(", program.code):
        return ""
    written = "\n".join(
        node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    shown = [match.group() for match in _SHOWN_FIELD.finditer(text)]
    shown += [match.group(1) for match in _SHOWN_WORD.finditer(text)]
    found = next((placeholder for placeholder in shown if placeholder in written), "")
    advice = "Print the computed value, with an f-string."
    return f"The text {found} was shown instead of its value. {advice}" if found else ""


def _shown_texts(call: ast.Call) -> Iterator[ast.Constant]:
    """Literals that reach the reader as they stand, alone or as a part of a sum."""
    _, name = called_name(call)
    to_file = any(word.arg == "file" for word in call.keywords)
    if name in DISPLAYING and isinstance(call.func, ast.Name) and not to_file:
        arguments = call.args
    elif name in _TITLES and isinstance(call.func, ast.Attribute):
        arguments = [text for text in call.args[:1] if ast.unparse(text).count("$") < 2]  # ``$…$`` is a formula
    else:
        return
    for argument in arguments:
        yield from _literals(argument)


def _literals(value: ast.expr) -> Iterator[ast.Constant]:
    match value:
        case ast.Constant(value=str()):
            yield value
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            yield from _literals(left)
            yield from _literals(right)


def _prefixes(code: str, text: ast.Constant, names: Collection[str]) -> list[Edit]:
    """For each of the literals that Python joins to this one; none if one of them has braces of another kind."""
    start, end = span(code, text)
    edits: list[Edit] = []
    for offset, literal in _tokens(code[start:end]):
        if "{" not in literal and "}" not in literal:
            continue
        if not _is_unfilled(literal, names):
            return []
        edits.append(Edit(start=start + offset, end=start + offset, text="f"))
    return edits


def _tokens(source: str) -> Iterator[tuple[int, str]]:
    """(offset, literal) of implicitly joined strings."""
    lines = f"({source})".split("\n")
    starts = [sum(len(line) + 1 for line in lines[:at]) for at in range(len(lines))]
    for token in tokenize.generate_tokens(io.StringIO("\n".join(lines)).readline):
        if token.type == tokenize.STRING:
            line, column = token.start
            yield starts[line - 1] + column - 1, token.string


def _is_unfilled(literal: str, names: Collection[str]) -> bool:
    match = _LITERAL.match(literal)
    if match is None or _FORMULA.search(literal) or _BLANK.search(literal):
        return False
    tree = parse(f"f{literal}")
    if tree is None or not isinstance(tree.body[0], ast.Expr):
        return False
    joined = tree.body[0].value
    fields = [part for part in ast.walk(joined) if isinstance(part, ast.FormattedValue)]
    return bool(fields) and all(_is_meant(field, names) for field in fields)


def _is_meant(field: ast.FormattedValue, names: Collection[str]) -> bool:
    value, specification = field.value, field.format_spec
    if not isinstance(value, ast.Name | ast.Attribute | ast.Subscript | ast.Call | ast.BinOp):
        return False
    used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    if not used & set(names) or used - set(names) - set(dir(builtins)):
        return False
    match specification:
        case None:
            return True
        case ast.JoinedStr(values=[ast.Constant(value=str(said))]):
            return bool(_SPECIFICATION.match(said))
    return False


def _lasting_names(tree: ast.Module) -> set[str]:
    """Names that the code binds; those of a comprehension are gone behind it."""
    passing = {
        id(name) for node in ast.walk(tree) if isinstance(node, ast.comprehension) for name in ast.walk(node.target)
    }
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in passing:
                names.add(name)
            case ast.arg(arg=name) | ast.FunctionDef(name=name):
                names.add(name)
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                names.update(alias.asname or alias.name.partition(".")[0] for alias in aliases)
    return names
