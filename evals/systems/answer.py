"""What a system is, and what its answer to one turn says of itself."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evals.task import Evidence, Task
from jupyter_codeagent.agent.verdict.signals import Signals

RETYPED_CONSTANTS = 6
"""As many values written down in one literal that makes a frame are data that was typed again."""


@dataclass(frozen=True, kw_only=True)
class Spent:
    """Tokens as the server counted them."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Part of `prompt_tokens` that came from the server's prefix cache; 0 where it does not say."""
    later_prompt_tokens: int = 0
    """Part of `prompt_tokens` of the calls after the first of a run."""
    later_cached_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            later_prompt_tokens=self.later_prompt_tokens + other.later_prompt_tokens,
            later_cached_tokens=self.later_cached_tokens + other.later_cached_tokens,
            seconds=self.seconds + other.seconds,
        )


@dataclass(frozen=True, kw_only=True)
class Answer:
    evidence: Evidence
    programs: Sequence[str] = ()
    """All that were run, in order."""
    spent: Spent = field(default_factory=Spent)
    ran_at_once: bool = False
    """Whether the first program ran without an error."""
    parse_failures: int = 0
    """Replies of which no program could be taken."""
    error: str = ""
    """Why there is no result; empty if there is one."""
    rules: Sequence[str] = ()
    """The rules of ours that fired, in order."""
    signals: Signals | None = None
    """What our verdict was made of; None where there is no result."""
    run_id: str = ""
    """Id of the run of ours; empty of other systems."""
    notes: Sequence[str] = ()
    """What a run of ours says of itself."""


class System(Protocol):
    """One task at a time: `begin`, then `ask` for each turn."""

    @property
    def name(self) -> str: ...

    def begin(self, task: Task) -> None:
        """Forget the last task; make the variables of this one."""
        ...

    def ask(self, question: str) -> Answer: ...

    def close(self) -> None: ...


def retypes_data(programs: Sequence[str]) -> bool:
    """Whether a program makes a frame out of values that it writes down."""
    return any(_literal_frame(program) for program in programs)


def _literal_frame(program: str) -> bool:
    try:
        tree = ast.parse(program)
    except SyntaxError:
        return False
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(
        _name(call.func) in ("DataFrame", "read_csv") and _constants(call) >= RETYPED_CONSTANTS for call in calls
    )


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _constants(call: ast.Call) -> int:
    """Of the literal arguments, not of the names of columns that stand alone as a list."""
    literals = [part for part in call.args if isinstance(part, ast.Dict | ast.List)]
    cells = [node for literal in literals for node in ast.walk(literal) if isinstance(node, ast.Constant)]
    return sum(isinstance(cell.value, int | float) for cell in cells)
