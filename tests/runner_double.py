"""What the agent loop works with, for tests: a `CodeRunner` that looks results up, a watcher that keeps them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from jupyter_codeagent.types.approvals import Decision, Proposal
from jupyter_codeagent.types.run import AgentRequest, AgentRun, Phase
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult, StreamOutput


def shown(text: str) -> ExecutionResult:
    """A result that printed this."""
    return ExecutionResult(status="ok", outputs=(StreamOutput(output_type="stream", name="stdout", text=text),))


def failed(ename: str, evalue: str) -> ExecutionResult:
    """A result with this exception."""
    return ExecutionResult(status="error", error=ExecutionError(ename=ename, evalue=evalue))


@dataclass
class RunnerDouble:
    """Results by code; code that is not known has printed its own text."""

    results: dict[str, ExecutionResult] = field(default_factory=dict)
    executed: list[str] = field(default_factory=list)

    async def execute(self, code: str, *, timeout_s: float) -> ExecutionResult:
        self.executed.append(code)
        return self.results.get(code.strip(), shown(code))


@dataclass
class Watcher:
    """Keeps what it was told."""

    written: list[AgentRun] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)

    def changed(self, run: AgentRun) -> None:
        self.written.append(run)

    def progress(self, run: AgentRun, phase: Phase, text: str = "") -> None:
        self.phases.append(phase)


async def approve(proposal: Proposal) -> Decision:
    return Decision(action="approve", code=proposal.code, decided_by="policy")


def new_run(prompt: str = "sum of n?", **request: object) -> AgentRun:
    asked = replace(AgentRequest(prompt=prompt, model="scripted"), **request)  # type: ignore[arg-type]
    return AgentRun(id="r1", request=asked, status="running", started_at=0.0)
