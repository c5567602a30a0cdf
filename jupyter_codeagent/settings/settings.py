"""Settings as the inside of the package sees them: frozen, resolved, no traitlets.

`jupyter_codeagent.settings.config` builds them from Jupyter configuration, the environment and magic options.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jupyter_codeagent.types.approvals import ApprovalPolicy
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.variables import Privacy


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Where the model is. Empty strings mean: look further down the order of docs/settings.md."""

    model: str = ""
    base_url: str = ""
    configured: tuple[str, ...] = ()
    """Addresses of servers and names of models that were set outside of notebooks, the strongest place first: a
    remote server that is not among them needs a yes."""
    allowed: tuple[str, ...] = ()
    """Servers that got a yes: addresses, and those of other users of this machine with their owner."""
    discover: bool = True
    """Look for a server on the loopback ports of Ollama, LM Studio, vLLM and llama.cpp."""
    weights: str = ""
    """Path of an own GGUF file for the embedded model; empty for the published one."""
    connect_timeout_s: float = 5.0
    read_timeout_s: float = 120.0
    """Between two pieces of the stream, the first one (prompt processing) included."""
    max_tokens: int = 1024
    """Completion tokens of one call."""
    temperature: float = 0.0
    context_tokens: int = 8192
    """Context of the embedded server; taken for that of servers that do not tell theirs."""
    threads: int = 0
    """CPU threads of the embedded server; 0 for the physical cores."""
    idle_shutdown_s: float = 900.0
    """The embedded server ends itself after so long without a request."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of one session."""

    model: ModelSettings = field(default_factory=ModelSettings)
    sandbox: SandboxPolicy = field(default_factory=SandboxPolicy)
    privacy: Privacy = "stats"
    approve: ApprovalPolicy = "review"
    max_steps: int = 4
    max_candidates: int = 8
    """What `--candidates` may ask for at the most."""
    context_tokens: int = 600
    """Budget of the variable lines."""
    max_transfer_bytes: int = 2 << 30
    """Copies of one run, all variables together."""
    max_return_bytes: int = 256 << 20
    max_calls: int = 1000
    max_calls_per_cell: int = 100
    max_subquestion_tokens: int = 20_000
    approval_timeout_s: float = 3600.0
    """A proposal that nobody answers within this is denied."""
    answer: bool = True
    """Ask the model for one sentence about the result when a step is left for it."""
    history_path: str = ""
    """SQLite file; empty for the Jupyter data directory."""
