"""Join the code blocks of a reply that are one program.

Larger models write the import, the filter and the count into separate blocks, with a sentence before each. They
run together, in order. Left out is

- what is introduced as an alternative, and what needs something that only a block left out makes;
- what is written anew, corrected or whole, in a later block that does not need it;
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
_WAYS = re.compile(
    r"\b(?:two|three|several|few|multiple|different|some)(?: \w+)? (?:ways|options|approaches|methods|solutions)\b",
    re.IGNORECASE,
)
_SECOND = re.compile(r"^[ \t>*_#]*+(?:[2-9b][.):]|second\b)", re.IGNORECASE | re.MULTILINE)
_ANEW = re.compile(
    r"\b(?:corrected|fixed|revised|improved|updated|refined|full|complete|final|whole|entire)"
    r" (?:python |working )?(?:code|version|program|script|solution)\b"
    r"|^[ \t*#>_]*+(?:corrected|correction|fixed|wait|oops)\b"
    r"|\blet(?:'s| me) (?:fix|correct|rewrite|redo|revise)\b"
    r"|\bi made (?:a mistake|an error)\b|\bputting (?:it|everything) (?:all )?together\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Words that introduce the program once more, corrected or whole."""
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
    several_ways: bool = False
    """The words before the first block announce several ways."""
    introduced_as_second: bool = False
    """It begins the second of several ways, or a later one."""
    introduced_anew: bool = False
    """It introduces the program once more."""
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
        taken = replace(taken, introduced_as_other=False, introduced_as_second=False, introduced_anew=False)
    if not taken.kept:
        return Program()
    *before, last = (code for _, code in taken.kept)
    return Program(code="\n\n".join([*map(_with_end_displayed, before), last]), notes=tuple(_notes(taken)))


def _after_prose(taken: _Taken, text: str) -> _Taken:
    if not taken.kept:
        return replace(taken, several_ways=taken.several_ways or _WAYS.search(text) is not None)
    return replace(
        taken,
        introduced_as_second=taken.several_ways and _SECOND.search(text) is not None,
        introduced_as_other=ALTERNATIVE.search(text) is not None,
        introduced_anew=_ANEW.search(text) is not None,
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
    if taken.introduced_as_other or (taken.introduced_as_second and not needed & taken.made):
        return taken.without(number, "an alternative", made - needed)
    if lost := sorted(needed & taken.lost):
        return taken.without(number, f"needs {lost[0]}, which a block left out makes", made - needed)
    if taken.after_output and not needed:
        return taken.without(number, "behind an output that the model made up", made)
    if taken.introduced_anew:
        taken = _without_replaced(taken, number, code)
    if taken.kept and _all_statements(code) <= _all_statements(taken.kept[-1][1]):
        return taken  # a piece of it, explained
    before = {statement for _, kept in taken.kept for statement in _statements(kept)}
    again = bool(before) and before <= _statements(code)
    return replace(
        taken, kept=((number, code),) if again else (*taken.kept, (number, code)), lost=taken.lost - made
    )


def _without_replaced(taken: _Taken, number: int, program: str) -> _Taken:
    """Leave out the blocks that make nothing which the program that is written anew needs."""
    kept: list[tuple[int, str]] = []
    for earlier, code in reversed(taken.kept):
        needed, here = _needed(program), _written_parts(program)
        changed = {name for part, names in _written_parts(code).items() if part not in here for name in names}
        if (_made(code) | changed) & needed:
            kept.insert(0, (earlier, code))
            program = f"{code}\n{program}"
    left_out = [(earlier, f"block {number} is written in its place") for earlier, _ in taken.kept]
    return replace(
        taken,
        kept=tuple(kept),
        left_out=(*taken.left_out, *(one for one in left_out if one[0] not in dict(kept))),
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


def _all_statements(code: str) -> set[str]:
    tree = parse(code)
    return {ast.dump(statement) for statement in tree.body} if tree is not None else set()


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


def _written_parts(code: str) -> dict[str, tuple[str, ...]]:
    """Return the columns, items and attributes that the code assigns, each with the variables that hold it."""
    tree = parse(code)
    nodes = ast.walk(tree) if tree is not None else ()
    targets = (node for node in nodes if isinstance(node, ast.Subscript | ast.Attribute))
    return {ast.dump(one): tuple(base_names(one)) for one in targets if isinstance(one.ctx, ast.Store)}


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
