"""Join the code blocks of a reply that are one program.

Larger models write the import, the filter and the count into separate blocks, with a sentence before each. They
run together, in order. Left out is

- what is introduced as an alternative, and what needs something that only a block left out makes;
- what is not Python;
- after an output that the model invented, code that reads nothing: it could only display invented numbers.

A block that has every statement of those before it is the whole program once more, and replaces them.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from jupyter_codeagent.agent.reply.cleaning import clean
from jupyter_codeagent.agent.reply.fences import Block, Prose
from jupyter_codeagent.agent.rules.plots import draws
from jupyter_codeagent.agent.source import (
    Edit,
    apply_edits,
    base_names,
    bound_names,
    called_name,
    does_something,
    parse,
    returns_none,
    span,
    used_names,
)
from jupyter_codeagent.notebook.effects.analysis import MAX_CODE_CHARS

MAX_BLOCKS = 50
ALTERNATIVE = re.compile(
    r"^[ \t>*_#\-\d.)]*+(?:alternative|another (?:way|approach|option|version)|optional|equivalent"
    r"|or,?\s+(?:you|if|more|simply|just|even|shorter|in one|with|as an?\b|using|equivalent|alternative)|or:"
    r"|(?:an? )?(?:simpler|shorter|more (?:concise|compact|idiomatic)) (?:way|version|form|variant)"
    r"|(?:option|approach|method|variant|version|solution) (?:[2-9b]\b|two\b)"
    r"|if you (?:prefer|also|would (?:rather|prefer|like))|you (?:can|could|may|might) (?:also|instead)\b)",
    re.IGNORECASE | re.MULTILINE,
)
"""Start of a line that introduces code beside the answer."""
_OUTPUT = re.compile(
    r"^[ \t*#>_]*+(?:(?:expected |sample |example |console )?outputs?|observations?|execution results?|stdout)"
    r"[\s*_]*+:",
    re.IGNORECASE | re.MULTILINE,
)
_BOUND_IN_TEXT = re.compile(r"^[ \t]*+([A-Za-z_]\w*+)[ \t]*+=(?!=)", re.MULTILINE)
_CODE_LINE = re.compile(r"[A-Za-z_][\w.]*(?:\[.*\])?(?:\(|\s*[-+*/|&]?=\s*\S)")
"""Start of a statement that does not parse because its end is missing or on another line."""
_KNOWN = frozenset(dir(builtins)) | {"display"}
_DISPLAYS_ITSELF = frozenset({"print", "display", "show"})


@dataclass(frozen=True, kw_only=True)
class Program:
    """The code of a reply that is run."""

    code: str = ""
    notes: tuple[str, ...] = ()
    """Which blocks were joined, and which were left out and why, for the person who reads the result."""


@dataclass(frozen=True, kw_only=True)
class _Taken:
    """The state after some of the blocks."""

    kept: tuple[tuple[int, str], ...] = ()
    """(number in the reply, code) of each block of the program."""
    left_out: tuple[tuple[int, str], ...] = ()
    """(number, why)."""
    lost: frozenset[str] = field(default_factory=frozenset)
    """Names that only blocks left out make."""
    introduced_as_other: bool = False
    """The sentence before the next block introduces an alternative."""
    after_output: bool = False

    def without(self, number: int, why: str, made: set[str]) -> _Taken:
        return replace(self, left_out=(*self.left_out, (number, why)), lost=self.lost | (made - self.made))

    @property
    def made(self) -> set[str]:
        return {name for _, code in self.kept for name in _made(code)}


def one_program(parts: Sequence[Block | Prose]) -> Program:
    """Join the blocks that are labelled as Python; if none is labelled, those that hold a program."""
    labelled = any(isinstance(part, Block) and part.python for part in parts)
    taken, number = _Taken(), 0
    for part in parts:
        if isinstance(part, Prose):
            taken = _after_prose(taken, part.text)
            continue
        number += 1
        if part.python or not (labelled or part.label):
            taken = _with_code(taken, number, part, labelled=labelled)
        elif part.shows_output or not part.label:
            taken = replace(taken, after_output=bool(taken.kept))
        else:
            taken = replace(taken, left_out=(*taken.left_out, (number, part.label)))
        taken = replace(taken, introduced_as_other=False)
    if not taken.kept:
        return Program()
    *before, last = (code for _, code in taken.kept)
    return Program(code="\n\n".join([*map(_with_end_displayed, before), last]), notes=tuple(_notes(taken)))


def _after_prose(taken: _Taken, text: str) -> _Taken:
    if not taken.kept:
        return taken
    return replace(
        taken,
        introduced_as_other=ALTERNATIVE.search(text) is not None,
        after_output=taken.after_output or _OUTPUT.search(text) is not None,
    )


def _with_code(taken: _Taken, number: int, block: Block, *, labelled: bool) -> _Taken:
    code = clean(block.text)
    if not code:
        is_empty = (tree := parse(block.text)) is not None and not tree.body
        # A comment; an output without a label; a sentence of a model that did not continue our block.
        if is_empty or not labelled or not has_code(block.text):
            return taken
        return taken.without(number, "no Python", set(_BOUND_IN_TEXT.findall(block.text)))
    if (not labelled and not does_something(code)) or code in (kept for _, kept in taken.kept):
        return taken
    needed, made = _needed(code), _made(code)
    if taken.introduced_as_other:
        return taken.without(number, "an alternative", made - needed)
    if lost := sorted(needed & taken.lost):
        return taken.without(number, f"needs {lost[0]}, which a block left out makes", made - needed)
    if taken.after_output and not needed:
        return taken.without(number, "behind an output that the model made up", made)
    before = {statement for _, kept in taken.kept for statement in _statements(kept)}
    again = bool(before) and before <= _statements(code)
    return replace(
        taken, kept=((number, code),) if again else (*taken.kept, (number, code)), lost=taken.lost - made
    )


def has_code(text: str) -> bool:
    """Check whether one of the lines is code; a text too long to read counts as code."""
    return len(text) > MAX_CODE_CHARS or any(is_code(line) for line in text.split("\n"))


def is_code(line: str) -> bool:
    """Check whether a line is a statement, the head of a compound one, or the beginning of one."""
    line = line.strip()
    return does_something(line) or does_something(f"{line} pass") or _CODE_LINE.match(line) is not None


def _notes(taken: _Taken) -> Iterator[str]:
    if len(taken.kept) > 1:
        *some, last = (str(number) for number, _ in taken.kept)
        yield f"the program is joined from blocks {', '.join(some)} and {last} of the reply"
    left_out = [f"block {number} ({why})" for number, why in taken.left_out]
    if taken.introduced_as_other:  # the stream is closed there
        left_out.append("the alternative at its end")
    if left_out:
        yield f"left out of the reply: {', '.join(left_out)}"


def _statements(code: str) -> set[str]:
    """Return the statements of a program, without its imports."""
    tree = parse(code)
    body = tree.body if tree is not None else []
    return {ast.dump(statement) for statement in body if not isinstance(statement, ast.Import | ast.ImportFrom)}


def _made(code: str) -> set[str]:
    """Return the names that the code defines for the blocks after it."""
    tree = parse(code)
    found: set[str] = set()
    for statement in tree.body if tree is not None else ():
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(statement.name)
        else:
            found |= bound_names(statement)
    return found


def _needed(code: str) -> set[str]:
    """Return the names that the code reads before it has made them itself."""
    tree = parse(code)
    made, needed = set(_KNOWN), set[str]()
    for statement in tree.body if tree is not None else ():
        needed |= _read_by(statement) - made
        made |= bound_names(statement)
    return needed


def _read_by(statement: ast.stmt) -> set[str]:
    """Return the names that a statement reads, without those that it binds for itself."""
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value) | ast.Expr(value=value):
            return used_names(statement) - bound_names(value)
        case ast.AugAssign(target=target, value=value):
            return used_names(statement) - bound_names(value) | set(base_names(target))
    return used_names(statement) - bound_names(statement)


def _with_end_displayed(code: str) -> str:
    """Wrap the value at the end in `display`, as a cell of its own would display it."""
    tree = parse(code)
    last = tree.body[-1] if tree is not None and tree.body else None
    if not isinstance(last, ast.Expr) or isinstance(last.value, ast.Constant) or returns_none(last.value):
        return code
    if isinstance(last.value, ast.Call) and (draws(last.value) or called_name(last.value)[1] in _DISPLAYS_ITSELF):
        return code
    start, end = span(code, last)
    return apply_edits(code, [Edit(start=start, end=end, text=f"display({code[start:end]})")])
