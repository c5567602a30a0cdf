"""Settings for the rest of the package: frozen, resolved, without traitlets.

`jupyter_codeagent.settings.config` builds them from Jupyter configuration, the environment and magic options.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jupyter_codeagent.settings.policy import Policy
from jupyter_codeagent.types.approvals import Apply, ApprovalPolicy
from jupyter_codeagent.types.charts import ChartLibrary
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.variables import Privacy, ToolPolicy


@dataclass(frozen=True, kw_only=True)
class ModelSettings:
    """Settings of the model. An empty string means: use the next source in the order of docs/settings.md."""

    model: str = ""
    base_url: str = ""
    configured: tuple[str, ...] = ()
    """Addresses of servers and names of models that were set outside of notebooks, the strongest source first; any
    other remote server needs a confirmation."""
    allowed: tuple[str, ...] = ()
    """Confirmed servers: their addresses, with the owner for those of other users of this machine."""
    servers: tuple[str, ...] | None = None
    """The only servers that the administrator allows; None for any."""
    why_only_these: str = ""
    """End of the sentence on another server: ``is not allowed by …``."""
    discover: bool = True
    """Look for a server on the loopback ports of Ollama, LM Studio, vLLM and llama.cpp."""
    weights: str = ""
    """Path of the user's own GGUF file for the embedded model; empty for the published one."""
    connect_timeout_s: float = 5.0
    read_timeout_s: float = 120.0
    """Seconds between two chunks of the stream; also the limit for the first one (prompt processing)."""
    max_tokens: int = 1024
    """Completion tokens of one call."""
    temperature: float = 0.0
    context_tokens: int = 8192
    """Context window of the embedded server; assumed for servers that do not report theirs."""
    threads: int = 0
    """CPU threads of the embedded server; 0 for the number of physical cores."""
    idle_shutdown_s: float = 900.0
    """Seconds without a request after which the embedded server ends itself."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of one session."""

    model: ModelSettings = field(default_factory=ModelSettings)
    sandbox: SandboxPolicy = field(default_factory=SandboxPolicy)
    privacy: Privacy = "stats"
    approve: ApprovalPolicy = "review"
    apply: Apply = "ask"
    """Whether code of a result may run in the live kernel."""
    tools: ToolPolicy = "auto"
    """The laxest policy of functions that code may call."""
    mcp_servers: bool = True
    """Let `%agent mcp add` start MCP servers."""
    explore: bool = True
    reports: bool = True
    max_steps: int = 4
    max_candidates: int = 8
    """Upper limit of `--candidates`."""
    context_tokens: int = 600
    """Token budget of the variable lines."""
    max_transfer_bytes: int = 2 << 30
    """Total size of the copies of one run."""
    max_return_bytes: int = 256 << 20
    max_calls: int = 1000
    max_calls_per_cell: int = 100
    max_subquestion_tokens: int = 20_000
    approval_timeout_s: float = 3600.0
    """Seconds after which an unanswered proposal is denied."""
    house_rules: bool = True
    """Send the house rules in `CODEAGENT.md` to the model."""
    next_questions: bool = True
    """Offer questions below a result that templates answer; each is tried in a spare sandbox first."""
    clients: bool = False
    """Let other programs in: MCP clients (`jupyter codeagent mcp`) and chats of Jupyter AI."""
    charts: ChartLibrary = "matplotlib"
    """Library that charts are drawn with."""
    policy: Policy = field(default_factory=Policy)
    """The administrator's rules, within which all of this is."""
    cuts: tuple[str, ...] = ()
    """A line for each setting that somebody chose and the policy does not allow."""
