"""One user at one kernel, without a model and a sandbox process: all they type goes the real way.

The magics, the command line, the panel's messages, the session, the gate and the record are the real ones. A
stand-in sandbox, model server and person note what reaches them.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import nbformat
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from model_server import code
from policies import put_in_force
from runner_double import shown
from scripted_model import ScriptedModel
from traitlets.config import Config

from jupyter_codeagent.entrypoints import doctor, extension, headless
from jupyter_codeagent.frontend import settings_view
from jupyter_codeagent.frontend.approvals import approvers
from jupyter_codeagent.models import discovery, resolver, servers
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.parsing import ListedModel
from jupyter_codeagent.notebook.cells import cells_from_run
from jupyter_codeagent.sandbox import workspace
from jupyter_codeagent.sandbox.guest.exploration.explore import explore
from jupyter_codeagent.sandbox.guest.send import pack
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.session.settings_in_force import SettingsInForce
from jupyter_codeagent.settings import config as configuration
from jupyter_codeagent.settings.settings import ModelSettings, Settings
from jupyter_codeagent.tools import registry
from jupyter_codeagent.tools.mcp import McpServer
from jupyter_codeagent.types.approvals import Decision, DecisionScope, Proposal
from jupyter_codeagent.types.errors import CodeAgentError, SandboxUnavailableError
from jupyter_codeagent.types.exploration import ExplorationRequest
from jupyter_codeagent.types.messages import CompletionRequest
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import (
    ExecutionResult,
    NamespaceEntry,
    PackedValue,
    SandboxPolicy,
    SandboxStatus,
)
from jupyter_codeagent.types.variables import ToolStub

PROGRAM = "made = df['n'].sum()\nprint(made)"
QUESTION = "What is the sum of n?"
CANARY = "Canariastadt"
"""A frequent value of the data: part of its statistics."""
FRAME = pd.DataFrame({"city": [CANARY, "Rome"] * 15, "n": range(30)})
HOUSE_RULE = "Amounts are in thalers."
OURS, OTHER = "https://ours.example/v1", "https://other.example"
"""The administrator's server, and one that the user would rather ask."""
LISTED = ("big", "small", "scripted")
"""Models of each server."""


@dataclass
class Evidence:
    """What came of what was typed."""

    settings: list[Settings] = field(default_factory=list)
    """All that were resolved."""
    sandboxes: list[SandboxPolicy] = field(default_factory=list)
    executed: list[tuple[str, float]] = field(default_factory=list)
    """Programs in the sandbox with their time limits."""
    explored: list[ExplorationRequest] = field(default_factory=list)
    offered: list[ToolStub] = field(default_factory=list)
    """Functions that programs could call."""
    requests: list[tuple[ModelEndpoint, ModelSettings, CompletionRequest]] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    """Servers that were asked for their models."""
    asked: list[Proposal] = field(default_factory=list)
    """Questions to a person, who says yes, for the notebook where they can."""
    ran: list[str] = field(default_factory=list)
    """Code of a result that ran in the user's kernel."""
    started: list[str] = field(default_factory=list)
    """MCP servers."""
    written: list[str] = field(default_factory=list)
    """Reports."""
    answers: list[str] = field(default_factory=list)
    """What an MCP client was told, but for errors."""
    told: str = ""
    """All that the user, or the client, could read."""

    def sent(self) -> list[str]:
        """Return the texts that a model got."""
        return [message.content for _, _, request in self.requests for message in request.messages]

    def purposes(self, purpose: str) -> list[CompletionRequest]:
        """Return the requests of one purpose."""
        return [request for _, _, request in self.requests if request.purpose == purpose]


class SandboxDouble:
    """Runs nothing and says that it ended well."""

    status = SandboxStatus(level="bubblewrap", closed=(), open=(), limits=())
    alive = True

    def __init__(self, evidence: Callable[[], Evidence]) -> None:
        self._evidence = evidence

    async def execute(self, source: str, *, timeout_s: float, on_call: object = None) -> ExecutionResult:
        self._evidence().executed.append((source, timeout_s))
        namespace = (NamespaceEntry(name="made", type_name="int"),)
        return ExecutionResult(status="ok", outputs=shown("435").outputs, namespace=namespace)

    async def load(self, *_: Any) -> None:
        pass

    async def offer(self, tools: Sequence[ToolStub]) -> None:
        self._evidence().offered.extend(tools)

    async def explore(self, request: ExplorationRequest) -> str:
        self._evidence().explored.append(request)
        return json.dumps(explore({"df": FRAME}, {}, min(request.seconds, 5), request.max_rows))

    async def fetch(self, name: str, *, max_bytes: int) -> PackedValue:
        kind, meta, data = pack(435, max_bytes)
        return PackedValue(kind=cast("Any", kind), meta_json=json.dumps(meta), data=data)

    async def keep(self) -> None:
        pass

    async def restore(self) -> None:
        pass

    async def stop(self) -> None:
        pass


class PoolDouble:
    """Hands out doubles."""

    def __init__(self, policy: SandboxPolicy, evidence: Callable[[], Evidence]) -> None:
        self._policy = policy
        self._evidence = evidence

    async def take(self) -> SandboxDouble:
        self._evidence().sandboxes.append(self._policy)
        return SandboxDouble(self._evidence)

    def warm(self) -> None:
        pass

    async def close(self) -> None:
        pass


class Desk:
    """The user's kernel; `start` loads the extension anew."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, directory: Path) -> None:
        self.evidence = Evidence()
        self.monkeypatch = monkeypatch
        self.directory = directory
        self.shell = InteractiveShell()
        self._loaded = False
        self.environment: dict[str, str] = {}
        for name in [name for name in os.environ if name.startswith(("CODEAGENT_", "OPENAI_"))]:
            monkeypatch.delenv(name)
        for name in ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
            place = directory / name.lower()
            place.mkdir(parents=True)
            monkeypatch.setenv(name, str(place))
        monkeypatch.chdir(directory)
        (directory / "CODEAGENT.md").write_text(f"- {HOUSE_RULE}\n", encoding="utf-8")
        self._stand_in()

    # --- what the user does -----------------------------------------------------------------------------

    def start(self, config: Mapping[str, Any] | None = None) -> AgentSession:
        """Load the extension as a new kernel does, with these lines in IPython's configuration."""
        self.stop()
        self.shell.config = Config({"CodeAgent": dict(config or {})})
        self.shell.user_ns.update(df=FRAME)
        extension.load(self.shell)
        self._loaded = True
        return self.session

    def clear(self) -> None:
        """As a new user on a new machine, whose server is listed in the environment."""
        self.stop()
        self.shell.reset(new_session=False)  # else a function of an earlier session keeps its name
        self.forget_environment()
        self.environment = {"CODEAGENT_BASE_URL": OURS}
        os.environ.update(self.environment)
        for path in (*self.directory.glob("page.html"), *self.directory.rglob("ipython_config.py")):
            path.unlink()

    def forget_environment(self) -> None:
        self.environment = {}
        for name in ("CODEAGENT_MODEL", "CODEAGENT_BASE_URL", "OPENAI_BASE_URL", "CODEAGENT_ALLOW_SERVERS"):
            os.environ.pop(name, None)

    def stop(self) -> None:
        if self._loaded:
            extension.unload(self.shell)
        self._loaded = False
        self.evidence.written = [path.name for path in self.directory.glob("page.html")]
        registry.REGISTRY.__init__()  # type: ignore[misc]

    @property
    def session(self) -> AgentSession:
        return extension._loaded[id(self.shell)][0]

    def run(self, cell: str) -> str:
        """Run a cell as typed; return and keep what it shows, an error included."""
        with self._told() as said:
            result = self.shell.run_cell(cell, store_history=True)
            error = result.error_in_exec or result.error_before_exec
            if error is not None:
                print(f"{type(error).__name__}: {error}")
        return said.getvalue()

    def call(self, action: Callable[[], object]) -> str:
        """Do something else than run a cell; return and keep what it shows."""
        with self._told() as said:
            try:
                print(action())
            except CodeAgentError as error:
                print(f"{type(error).__name__}: {error}")
        return said.getvalue()

    def asked(self) -> AgentRun:
        """A question that was answered, as its record."""
        self.run(f"%%agent\n{QUESTION}")
        return self.session.run_log.find("")

    def rule(self, content: Any) -> None:
        """Put this policy in force, and begin a new list of evidence."""
        if self._loaded:
            self.session.next_questions.close()  # what began before is no evidence
        put_in_force(self.monkeypatch, self.directory / "etc", content)
        self.evidence = Evidence()

    def saved(self, run: AgentRun) -> Path:
        """A notebook with this accepted result, saved."""
        self.session.decisions.set_cell_state(run.id, "accepted", decided_by="panel")
        cells = [nbformat.from_dict(dict(cell)) for cell in cells_from_run(run, state="accepted")]
        notebook = nbformat.v4.new_notebook(cells=cells)
        path = self.directory / "saved.ipynb"
        nbformat.write(notebook, path)
        return path

    # --- what stands in ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _told(self) -> Iterator[io.StringIO]:
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            yield said
        self.evidence.told += said.getvalue()

    def _stand_in(self) -> None:
        patch, evidence = self.monkeypatch.setattr, lambda: self.evidence
        self._stand_in_for_models(evidence)
        self._stand_in_for_people()

        async def no_sandbox(*, policy: SandboxPolicy, data_dir: Path) -> None:
            self.evidence.sandboxes.append(policy)
            raise SandboxUnavailableError("There is none here.")

        async def started(server: McpServer) -> None:
            self.evidence.started.append(server.name)

        patch(workspace, "WarmPool", lambda policy, *_, **__: PoolDouble(policy, evidence))
        patch(SandboxKernel, "start", no_sandbox)
        patch(McpServer, "start", started)
        patch(SettingsInForce, "__call__", self._noting(SettingsInForce.__call__))
        patch(headless, "run_notebook", self._run_notebook)
        patch(configuration, "initial_environ", lambda: self.environment)
        patch(self.shell, "run_cell", self._noting_live(self.shell.run_cell))

    def _stand_in_for_models(self, evidence: Callable[[], Evidence]) -> None:
        patch = self.monkeypatch.setattr

        def listed(base_url: str, _key: str, *, timeout_s: float) -> tuple[ListedModel, ...] | None:
            self.evidence.listed.append(base_url)
            if "127.0.0.1" in base_url:
                return None  # nobody listens on the ports that are searched
            return tuple(ListedModel(name=name) for name in LISTED)

        async def opened(endpoint: ModelEndpoint, settings: ModelSettings) -> ModelDouble:
            return ModelDouble(endpoint, settings, evidence)

        async def of_resolver(
            _: object, endpoint: ModelEndpoint, settings: ModelSettings, **__: Any
        ) -> ModelDouble:
            return await opened(endpoint, settings)

        patch(servers, "fetch_model_list", listed)
        patch(discovery, "embedded_installed", lambda: True)
        patch(discovery, "weights_ready", lambda _: True)
        patch(resolver.ModelResolver, "open", of_resolver)
        patch(doctor, "open_model", opened)

    def _stand_in_for_people(self) -> None:
        patch = self.monkeypatch.setattr

        async def yes(_: object, proposal: Proposal) -> Decision:
            self.evidence.asked.append(proposal)
            scope: DecisionScope = "notebook" if proposal.lasting else "once"
            return Decision(action="approve", code=proposal.code, decided_by="stdin", scope=scope)

        def refused(_: object, message: Mapping[str, Any]) -> None:
            self.evidence.told += f"{message.get('text', '')}\n"

        patch(approvers.StdinApprover, "ask", yes)
        patch(approvers.NobodyApprover, "ask", yes)
        patch(settings_view.SettingsHandler, "_send", refused)

    def _noting(self, real: Callable[..., Settings]) -> Callable[..., Settings]:
        def settings_in_force(settings: SettingsInForce, options: RunOptions | None = None) -> Settings:
            found = real(settings, options)
            self.evidence.settings.append(found)
            return found

        return settings_in_force

    def _noting_live(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def run_cell(source: str, *arguments: Any, **more: Any) -> Any:
            self.shell.user_ns.pop("made", None)
            result = real(source, *arguments, **more)
            if "made" in self.shell.user_ns and not source.startswith("%agent"):
                self.evidence.ran.append(source)
            return result

        return run_cell

    def _run_notebook(
        self, notebook: Any, *, directory: Path, name: str, report: object, servers: Sequence[str] = ()
    ) -> str:
        self.environment["CODEAGENT_ALLOW_SERVERS"] = " ".join(servers)
        for cell in notebook.cells:
            if cell.cell_type == "code" and not cell.source.startswith("%load_ext"):
                self.run(cell.source)
        return ""


class ModelDouble(ScriptedModel):
    """Writes the same program whatever it is asked."""

    def __init__(self, endpoint: ModelEndpoint, settings: ModelSettings, evidence: Callable[[], Evidence]) -> None:
        super().__init__([])
        self._about = (endpoint, settings)
        self._evidence = evidence

    async def complete(self, request: CompletionRequest, **more: Any) -> Any:
        self._evidence().requests.append((*self._about, request))
        self._replies.append(code(PROGRAM))
        return await super().complete(request, **more)
