"""One rule: what it is given, and what it may answer.

A rule looks at a `Program` and answers with a `Fix` (corrected code), an `Issue` (a line for the model) or None.
It never asks the model and never executes anything, so each is tested as a function of text.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Literal

from jupyter_codeagent.agent.known_imports import with_imports
from jupyter_codeagent.agent.output_text import cut, output_text
from jupyter_codeagent.agent.prompt.task import first_part, wanted_names
from jupyter_codeagent.agent.source import Edit, apply_edits, before_on_its_line, parse, span
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult, NamespaceEntry
from jupyter_codeagent.types.variables import LiveNames
from jupyter_codeagent.variables.relations import Relation

MAX_OUTPUT_CHARS = 200_000
"""Of the outputs that rules look at, from both ends."""
FILTER_ADVICE = "Check the filter: spelling and type of the values, column names, join keys."
"""Ends an issue about a filter that left nothing, until it is known which filter that was."""

Stage = Literal["before_run", "after_error", "after_result"]


@dataclass(frozen=True, kw_only=True)
class ValueMatch:
    """A text that a program compares a column with and that the column does not have."""

    column: str
    asked: str
    found: tuple[str, ...] = ()
    """What the column has that certainly means the same, at most two."""
    others: tuple[str, ...] = ()
    """Columns of the table that have it as it is."""


@dataclass(frozen=True, kw_only=True)
class Program:
    """A program as a rule sees it: its text, what was asked, and what came of it if it has run."""

    code: str
    prompt: str = ""
    copied: Collection[str] = ()
    """The user's variables that lie in the sandbox as copies."""
    defined: Collection[str] = ()
    """Names that need no import: those of the user's kernel, so that an accepted cell runs there too."""
    functions: Collection[str] = ()
    """The user's functions that it may call."""
    live: LiveNames = field(default_factory=LiveNames)
    """The user's variables, which it leaves as they are; `taken` are names that a new variable cannot have."""
    asked_before: str = ""
    """The prompt before this one."""
    joins: Sequence[Relation] = ()
    """The columns on which the user's tables join."""
    result: ExecutionResult | None = None
    """None before it has run."""
    issue: str = ""
    """What was found to look wrong about its result."""
    each_run_is_approved: bool = False
    """A person is asked before each execution, so none is worth it for the sake of appearance."""
    matches: tuple[ValueMatch, ...] = ()
    """What a probe of the compared columns found (`agent/probing.py`)."""

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed code, which no rule changes; an empty module where it does not parse."""
        tree = parse(self.code)
        return tree if tree is not None else ast.Module(body=[], type_ignores=[])

    @cached_property
    def output(self) -> str:
        """All that it printed and displayed, as plain text."""
        return cut(output_text(self.result), MAX_OUTPUT_CHARS) if self.result is not None else ""

    @property
    def namespace(self) -> Sequence[NamespaceEntry]:
        """Names in the sandbox after it ended."""
        return self.result.namespace if self.result is not None else ()

    @property
    def names(self) -> list[str]:
        return [entry.name for entry in self.namespace]

    @property
    def error(self) -> ExecutionError:
        """The exception that ended it; without name and text where none did."""
        failed = self.result.error if self.result is not None else None
        return failed if failed is not None else ExecutionError(ename="", evalue="")

    @property
    def in_parts(self) -> bool:
        """Whether the question asks for several things: what is computed last and never used is one of them."""
        return bool(first_part(self.prompt))

    @property
    def asked_names(self) -> tuple[str, ...]:
        """The variables that the prompt asks for by name."""
        return wanted_names(self.prompt)


@dataclass(frozen=True, kw_only=True)
class Fix:
    """Code as it will run and be displayed, and what was changed in it."""

    code: str
    notes: tuple[str, ...] = ()
    """For the user: ``line 2 dropped: df is loaded already``."""
    rules: tuple[str, ...] = ()
    """The names of the rules that made it; written by the registry."""
    only_display: bool = False
    """It computes what the program before it did, so the first result that it gives is accepted."""


@dataclass(frozen=True, kw_only=True)
class Issue:
    """What looks wrong and what to do about it, in one line for the model."""

    text: str
    rule: str = ""
    """The name of the rule that found it; written by the registry."""


Apply = Callable[[Program], Fix | Issue | None]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One row of the table in `registry.py`."""

    name: str
    """Recorded with each step in which it fired, and typed as ``python -m evals … --without NAME``."""
    stage: Stage
    gives: type[Fix] | type[Issue]
    apply: Apply
    probed: bool = False
    """It needs one more execution, which looks at the columns that the program compares (`agent/probing.py`)."""


def edited(program: Program, edits: Sequence[Edit], *notes: str, imports: bool = False) -> Fix | None:
    """Return the program with these edits; None where there are none.

    `imports`: the edits write an alias (``pd.to_numeric``), which is imported where the namespace lacks it.
    """
    if not edits:
        return None
    code = apply_edits(program.code, edits)
    if imports:
        code = with_imports(code, program.names)
    return Fix(code=code, notes=tuple(dict.fromkeys(note for note in notes if note)))


def from_edits(find: Callable[[Program], Iterable[tuple[Edit, str]]]) -> Callable[[Program], Fix | None]:
    """Make a rule of a function that finds edits, each with its note (an empty one for none)."""

    @wraps(find)
    def apply(program: Program) -> Fix | None:
        found = list(find(program))
        return edited(program, [edit for edit, _ in found], *(note for _, note in found))

    return apply


def from_text(find: Callable[[Program], str]) -> Callable[[Program], Issue | None]:
    """Make a rule of a function that says what to do, or nothing."""

    @wraps(find)
    def apply(program: Program) -> Issue | None:
        text = find(program)
        return Issue(text=text) if text else None

    return apply


def with_line_before(program: Program, statement: ast.stmt, line: str, note: str) -> Fix | None:
    """Return the program with a line before a top-level statement; None where another one begins that line."""
    if before_on_its_line(program.code, statement).strip():
        return None
    start, _ = span(program.code, statement)
    return edited(program, [Edit(start=start, end=start, text=f"{line}\n")], note, imports=True)
