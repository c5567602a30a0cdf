"""Checks of model, sandbox, front end and history: each reports what is wrong and what to do."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_core.paths import jupyter_config_path, jupyter_path

from jupyter_codeagent.frontend.display import status_text
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.models.discovery import FoundModel, open_model, resolve_model
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.servers import loopback_servers
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import CodeAgentError, ModelNotFoundError, NoModelError
from jupyter_codeagent.types.messages import CompletionRequest, Message


@dataclass(frozen=True, kw_only=True)
class Check:
    """One finding."""

    name: str
    ok: bool
    text: str
    """What was found, or what is wrong and what to do."""


async def run_checks(settings: Settings) -> tuple[Check, ...]:
    """Run all checks, each on its own: one that fails does not hide the others."""
    return (await check_model(settings), await check_sandbox(settings), check_frontend(), check_history())


async def check_model(settings: Settings) -> Check:
    """Find the model and have it generate one word."""
    try:
        endpoint = await resolve_model(settings.model, os.environ)
        model = await open_model(endpoint, settings.model)
        request = CompletionRequest(messages=(Message(role="user", content="Say ok."),), max_tokens=8)
        reply = await model.complete(request, on_text=lambda _: None, is_complete=lambda _: False)
    except CodeAgentError as error:
        others = [] if isinstance(error, NoModelError | ModelNotFoundError) else await _passed_over(settings)
        return Check(name="model", ok=False, text="\n".join([str(error), *others]))
    return Check(
        name="model",
        ok=True,
        text="\n".join(
            [f"{endpoint_text(endpoint)} answered in {reply.duration_s:.1f} s", *await _passed_over(settings)]
        ),
    )


async def _passed_over(settings: Settings) -> list[str]:
    """List the servers of other users on this machine, which are not used without approval."""
    return [str(error) for _, error in (await loopback_servers(settings.model)).skipped]


async def check_sandbox(settings: Settings) -> Check:
    """Start a sandbox and report what was measured inside."""
    with tempfile.TemporaryDirectory(prefix="codeagent-doctor-") as directory:
        try:
            sandbox = await SandboxKernel.start(policy=settings.sandbox, data_dir=Path(directory))
        except CodeAgentError as error:
            return Check(name="sandbox", ok=False, text=str(error))
        try:
            result = await sandbox.execute("1 + 1", timeout_s=30)
        finally:
            await sandbox.stop()
    lines = "\n".join(status_text(sandbox.status)).removeprefix("sandbox: ")
    return Check(name="sandbox", ok=result.status == "ok" and sandbox.status.level != "none", text=lines)


def check_frontend() -> Check:
    """Check whether the labextension and the server extension are installed in this environment."""
    panel = _first(Path(path) / "labextensions" / "jupyter-codeagent" / "package.json" for path in jupyter_path())
    server = _first(
        Path(path) / "jupyter_server_config.d" / "jupyter_codeagent.json" for path in jupyter_config_path()
    )
    if panel is None:
        return Check(
            name="front end",
            ok=False,
            text="the side panel is not installed in the environment of this kernel; results appear in the cell "
            "itself. If JupyterLab runs in another environment, install jupyter-codeagent there too",
        )
    if server is None:
        return Check(
            name="front end",
            ok=False,
            text="the server extension is off; run: jupyter server extension enable jupyter_codeagent",
        )
    version = json.loads(panel.read_text(encoding="utf-8"))["version"]
    return Check(name="front end", ok=True, text=f"side panel {version} and server extension are installed")


def check_history() -> Check:
    """Check whether the history can be opened and read."""
    try:
        store = HistoryStore(None)
        total, _ = store.search(limit=1)
        store.close()
    except CodeAgentError as error:
        return Check(name="history", ok=False, text=str(error))
    return Check(name="history", ok=True, text=f"{total} runs in {store.path}")


def checks_text(checks: Sequence[Check]) -> str:
    """Return a line for each check, details indented."""
    lines = []
    for check in checks:
        first, *rest = check.text.split("\n")
        lines += [
            f"{'ok ' if check.ok else 'NOT OK'}  {check.name}: {first}",
            *(f"        {line}" for line in rest),
        ]
    return "\n".join(lines)


def endpoint_text(endpoint: ModelEndpoint) -> str:
    """Return ``name at 127.0.0.1:8080 (on this machine)``."""
    return f"{endpoint.model} at {endpoint.label} ({_where(endpoint)})"


def _where(endpoint: ModelEndpoint) -> str:
    return "REMOTE, your prompts leave this machine" if endpoint.remote else "on this machine"


def models_text(models: Sequence[FoundModel]) -> str:
    """Return a line for each model that was found."""
    if not models:
        return "No model was found. Start a local server, or install jupyter-codeagent[local] for the embedded one."
    return "\n".join(
        f"{model.name}  {model.label}{'' if model.ready else '  (' + model.problem + ')'}" for model in models
    )


def _first(paths: Iterable[Path]) -> Path | None:
    return next((path for path in paths if path.is_file()), None)
