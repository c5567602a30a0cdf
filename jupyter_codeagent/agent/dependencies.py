"""What the loop works with: the model, the sandbox, who decides, who watches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from jupyter_codeagent.agent.prompt.context_window import ContextWindow
from jupyter_codeagent.models.protocol import Model
from jupyter_codeagent.sandbox.protocol import CodeRunner
from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.run import AgentRun, Phase, Step

Decide = Callable[[Proposal], Awaitable[Decision]]


class RunWatcher(Protocol):
    """Told of everything that happens in a run: writes history, updates the panel and the cell."""

    def changed(self, run: AgentRun) -> None:
        """The record changed; called before and after each step."""
        ...

    def progress(self, run: AgentRun, phase: Phase, text: str = "") -> None:
        """Something moved; `text` is the reply of this step so far. Called often, must be cheap."""
        ...


async def no_masked_values(_text: str) -> tuple[str, ...]:
    """For runs that have no live variables."""
    return ()


@dataclass(frozen=True, kw_only=True)
class LoopDependencies:
    """What the loop works with."""

    model: Model
    runner: CodeRunner
    decide: Decide
    watcher: RunWatcher
    defined: Callable[[], Collection[str]]
    """Names the sandbox knows."""
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int = 0
    answer: bool = True
    corrects: bool = True
    """Whether code is run once more where a correction of it is certain."""
    masked_values: Callable[[str], Awaitable[Sequence[str]]] = no_masked_values
    """Those values of personal columns that stand in a text; they are masked in what is sent to the model."""
    undo_attempt: Callable[[], None] = lambda: None
    """Before each execution: what an attempt that is not kept did to the copies is undone."""
    hidden_columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Variable -> labels that the user hides; named only where code asks for one of them."""
    incomplete: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Variable -> `repr()` of its columns with missing values, of pandas frames."""
    window: ContextWindow | None = None
    """The model's context; None where there is no limit to keep to."""
    replaces: tuple[Step, ...] = ()
    """The program of which another version is asked for: its cell goes, so that nothing of it may be missing."""
