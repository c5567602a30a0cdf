"""What the loop depends on: the model, the sandbox, the gate that decides, the watcher."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from jupyter_codeagent.agent.prompt.context_window import ContextWindow
from jupyter_codeagent.agent.prompt.conversation import Turn
from jupyter_codeagent.models.protocol import Model
from jupyter_codeagent.sandbox.protocol import CodeRunner
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.run import AgentRun, Phase, Step
from jupyter_codeagent.types.variables import LiveNames, TextColumn
from jupyter_codeagent.variables.relations import Relation

Decide = Callable[[Proposal], Awaitable[Decision]]


class RunWatcher(Protocol):
    """An observer of everything that happens in a run: writes history, updates the panel and the cell."""

    def changed(self, run: AgentRun) -> None:
        """Take the changed record; called before and after each step."""
        ...

    def progress(self, run: AgentRun, phase: Phase, text: str = "") -> None:
        """Take progress within a step; `text` is the reply so far.

        Called often, must be cheap.
        """
        ...


async def no_masked_values(_text: str) -> tuple[str, ...]:
    """Return nothing, for runs that have no live variables."""
    return ()


@dataclass(frozen=True, kw_only=True)
class LoopDependencies:
    """Everything the loop works with."""

    model: Model
    runner: CodeRunner
    decide: Decide
    watcher: RunWatcher
    defined: Callable[[], Collection[str]]
    """Return the names that are defined in the sandbox."""
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int = 0
    corrects: bool = True
    """Whether code is run again with the corrections that are certain."""
    masked_values: Callable[[str], Awaitable[Sequence[str]]] = no_masked_values
    """Return the values of PII columns that occur in a text; they are masked in what is sent to the model."""
    undo_attempt: Callable[[], None] = lambda: None
    """Undo what a discarded attempt did to the copies; called before each execution."""
    hidden_columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Variable -> labels of hidden columns; named only where code asks for one of them."""
    text_columns: Mapping[str, Mapping[str, TextColumn]] = field(default_factory=dict)
    """Variable -> label -> how the text of this column is read, of pandas frames."""
    joins: Sequence[Relation] = ()
    """The columns on which the user's tables join."""
    live: LiveNames = field(default_factory=LiveNames)
    """The user's variables, which code leaves as they are unless it is asked to change them."""
    turns: Sequence[Turn] = ()
    """The earlier answers of the conversation."""
    window: ContextWindow | None = None
    """The model's context window; None where there is no limit."""
    replaces: tuple[Step, ...] = ()
    """The steps of the program that this run replaces: its cell goes, so the new program must not need it."""
