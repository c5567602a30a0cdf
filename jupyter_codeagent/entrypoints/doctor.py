"""Checks of what a run needs: each reports what was found, or what is wrong and which command helps."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import getproxies

from jupyter_core.paths import jupyter_config_path, jupyter_data_dir, jupyter_path, jupyter_runtime_dir
from platformdirs import user_state_path

from jupyter_codeagent.entrypoints.environment import (
    FRAMES,
    UNCONFINED,
    is_offline,
    is_writable,
    isolation_commands,
    proxies_text,
    read_kernel_file,
    unmet_requirements,
    version_of,
    versions_text,
    without_password,
)
from jupyter_codeagent.frontend.display import status_text
from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.models.discovery import WAYS_TO_A_MODEL, FoundModel, open_model, resolve_model
from jupyter_codeagent.models.embedded.catalogue import DEFAULT_MODEL, INSTALL_LOCAL, fetch_command
from jupyter_codeagent.models.embedded.launcher import embedded_installed
from jupyter_codeagent.models.embedded.weights import weights_directory
from jupyter_codeagent.models.endpoint import ModelEndpoint
from jupyter_codeagent.models.proxies import proxy_for
from jupyter_codeagent.models.servers import configured_server, loopback_servers
from jupyter_codeagent.sandbox.kernel import INSTALL_HINT, SandboxKernel
from jupyter_codeagent.sandbox.local.walls.bubblewrap import find_bubblewrap
from jupyter_codeagent.settings.policy import DIRECTORIES, POLICY_FILE, Policy
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import (
    CodeAgentError,
    ModelNotFoundError,
    ModelUnreachableError,
    NoModelError,
    WeightsError,
)
from jupyter_codeagent.types.messages import CompletionRequest, Message
from jupyter_codeagent.types.sandbox import SandboxStatus

State = Literal["ok", "note", "NOT OK"]
"""``note``: runs work, but something is missing. ``NOT OK``: a run would fail."""

OWN_SERVER = "export CODEAGENT_BASE_URL=http://127.0.0.1:8000/v1   (your own model server)"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One finding."""

    name: str
    state: State
    text: str
    """What was found, or what is wrong; one line."""
    help: tuple[str, ...] = ()
    """Commands that help, or other servers that were found; a line each."""
    details: tuple[str, ...] = ()
    """What only some want to know; a line each."""
    is_detail: bool = False
    """Whether only some want to know all of it."""


async def run_checks(settings: Settings, report: Callable[[Check], None] = lambda _: None) -> tuple[Check, ...]:
    """Run all checks, each on its own: one that fails does not hide the others.

    `report` gets each as soon as it is there: the model, which comes last, may take half a minute.
    """
    checks = []
    first = (check_packages(), check_frontend(), check_directories(os.environ), check_history())
    for check in (*first, check_policy(settings.policy)):
        report(check)
        checks.append(check)
    for wait in (check_sandbox, check_model):
        check = await wait(settings)
        report(check)
        checks.append(check)
    return tuple(checks)


def check_packages() -> Check:
    """Check whether what pip has installed beside this package is what it needs."""
    unmet = unmet_requirements()
    if unmet:
        listed = ", ".join(f"{one.requirement} (found: {one.found or 'none'})" for one in unmet)
        wanted = " ".join(f"'{one.requirement}'" for one in unmet)
        return Check(
            name="packages",
            state="NOT OK",
            text=f"{versions_text()}; needed: {listed}",
            help=(f"pip install {wanted}   (then restart JupyterLab)",),
        )
    if not any(map(version_of, FRAMES.values())):
        return Check(
            name="packages",
            state="note",
            text=f"{versions_text()}; neither pandas nor polars, so there are no tables to ask about",
            help=("pip install pandas",),
        )
    if not version_of("matplotlib"):
        return Check(
            name="packages",
            state="note",
            text=f"{versions_text()}; no matplotlib, which charts are drawn with",
            help=("pip install matplotlib",),
        )
    return Check(name="packages", state="ok", text=versions_text())


def check_directories(environ: Mapping[str, str]) -> Check:
    """Check whether the directories that Jupyter and the embedded model write to can be written."""
    places = {"JUPYTER_DATA_DIR": Path(jupyter_data_dir()), "JUPYTER_RUNTIME_DIR": Path(jupyter_runtime_dir())}
    if places["JUPYTER_RUNTIME_DIR"].is_relative_to(places["JUPYTER_DATA_DIR"]):
        del places["JUPYTER_RUNTIME_DIR"]  # it moves along
    state = environ.get("CODEAGENT_STATE_DIR") or user_state_path("jupyter-codeagent")
    needed_later = {"XDG_CACHE_HOME": weights_directory(), "XDG_STATE_HOME": Path(state)}
    if embedded_installed():
        places |= needed_later
    refused = {name: path for name, path in places.items() if not is_writable(path)}
    if not refused:
        return Check(name="directories", state="ok", text=f"all writable, such as {places['JUPYTER_DATA_DIR']}")
    # A home that is read-only lacks those, too, that nobody has missed yet.
    all_places = places | needed_later | {"IPYTHONDIR": Path(environ.get("IPYTHONDIR") or Path.home() / ".ipython")}
    # Another user of the machine could have made a directory of a fixed name below /tmp first.
    elsewhere = " ".join(f"{name}=$(mktemp -d)" for name, path in all_places.items() if not is_writable(path))
    return Check(
        name="directories",
        state="NOT OK",
        text=f"not writable: {', '.join(map(str, refused.values()))}",
        help=(f"export {elsewhere}   (or another directory that is writable and permanent)",),
    )


async def check_model(settings: Settings) -> Check:
    """Find the model and have it generate one word."""
    proxies = proxies_text(os.environ)
    details = (f"proxy: {proxies}; servers on this machine are reached without it",) if proxies else ()
    try:
        endpoint = await resolve_model(settings.model, os.environ)
        model = await open_model(endpoint, settings.model)
        request = CompletionRequest(messages=(Message(role="user", content="Say ok."),), max_tokens=8)
        reply = await model.complete(request, on_text=lambda _: None, is_complete=lambda _: False)
    except CodeAgentError as error:
        others = [] if isinstance(error, NoModelError | ModelNotFoundError) else await _passed_over(settings)
        advice = model_advice(
            error,
            has_embedded=embedded_installed(),
            offline=not proxies and is_offline(),
            proxied=_proxied(settings),
        )
        text = str(error).replace(f" {WAYS_TO_A_MODEL}", "") if advice else str(error)
        return Check(name="model", state="NOT OK", text=text, help=(*advice, *others), details=details)
    return Check(
        name="model",
        state="ok",
        text=f"{endpoint_text(endpoint)} answered in {reply.duration_s:.1f} s",
        help=tuple(await _passed_over(settings)),
        details=details,
    )


def _proxied(settings: Settings) -> str:
    """Say which proxy the configured server is asked through; empty for none."""
    with suppress(CodeAgentError):  # then the address itself is what is wrong, and the finding says so
        server = configured_server(settings.model, os.environ)
        if server is not None and (proxy := proxy_for(server.base_url)):
            host = urlsplit(server.base_url).hostname or ""
            spared = ",".join(filter(None, (getproxies().get("no"), host)))
            return (
                f"export NO_PROXY={spared}   (if it can be reached without the proxy {without_password(proxy)},"
                " which was used)"
            )
    return ""


def model_advice(error: CodeAgentError, *, has_embedded: bool, offline: bool, proxied: str) -> tuple[str, ...]:
    """Return what helps against an error of the model; nothing where the error's text names it.

    `proxied` says which proxy the model's server is asked through; empty for none.
    """
    fetch = fetch_command(DEFAULT_MODEL)
    if isinstance(error, NoModelError) and not has_embedded:
        if not offline:
            return (f"{INSTALL_LOCAL} && {fetch}   (the embedded model, 1.1 GB)", OWN_SERVER)
        return (
            f"there is no network; on a machine with one: {INSTALL_LOCAL} && {fetch} && pip download"
            " 'jupyter-codeagent[local]' -d wheels",
            "then here: pip install --no-index --find-links wheels 'jupyter-codeagent[local]', and copy the"
            f" file that fetch named into {weights_directory()}",
            OWN_SERVER,
        )
    if isinstance(error, WeightsError) and offline:
        return (
            "there is no network: fetch on a machine with one, then copy the file it names into"
            f" {weights_directory()}",
        )
    return (proxied,) if proxied and isinstance(error, ModelUnreachableError) else ()


async def _passed_over(settings: Settings) -> list[str]:
    """List the servers of other users on this machine, which are not used without approval."""
    return [str(error) for _, error in (await loopback_servers(settings.model)).skipped]


async def check_sandbox(settings: Settings) -> Check:
    """Start a sandbox and report what was measured inside."""
    with tempfile.TemporaryDirectory(prefix="codeagent-doctor-") as directory:
        try:
            sandbox = await SandboxKernel.start(policy=settings.sandbox, data_dir=Path(directory))
        except CodeAgentError as error:
            commands = isolation_commands(has_bubblewrap=find_bubblewrap() is not None, read=read_kernel_file)
            text = str(error).replace(f" {INSTALL_HINT}", "") if commands else str(error)
            return Check(name="sandbox", state="NOT OK", text=text, help=tuple(commands))
        try:
            result = await sandbox.execute("1 + 1", timeout_s=30)
        finally:
            await sandbox.stop()
    status = sandbox.status
    first, *lines = status_text(status)
    works = result.status == "ok" and status.level != "none"
    return Check(
        name="sandbox",
        state="ok" if works else "NOT OK",
        text=first.removeprefix("sandbox: "),
        help=stronger(status),
        details=tuple(line.strip() for line in lines if not line.startswith("  better:")),
    )


def stronger(status: SandboxStatus) -> tuple[str, ...]:
    """Return what gives a stronger sandbox than the one that works; nothing if that is not known."""
    if status.level == "landlock":
        commands = isolation_commands(has_bubblewrap=find_bubblewrap() is not None, read=read_kernel_file)
        better = "safe as it is; to hide host name and processes, too: "
        return tuple(f"{better}{command}" for command in commands if command != UNCONFINED)  # weakens the container
    if status.level == "namespaces" and find_bubblewrap() is not None:
        return ()  # it is not missing, as the hint says
    return (status.hint,) if status.hint else ()


def check_frontend() -> Check:
    """Check whether the labextension and the server extension are installed in this environment."""
    panel = _first(Path(path) / "labextensions" / "jupyter-codeagent" / "package.json" for path in jupyter_path())
    server = _first(
        Path(path) / "jupyter_server_config.d" / "jupyter_codeagent.json" for path in jupyter_config_path()
    )
    if panel is None:
        return Check(
            name="front end",
            state="note",
            text="the side panel is not installed beside this kernel; results appear in the cell itself",
            help=("pip install jupyter-codeagent   (in the environment that JupyterLab runs in)",),
        )
    if server is None:
        return Check(
            name="front end",
            state="note",
            text="the server extension is off: without a kernel the panel has no history",
            help=("jupyter server extension enable jupyter_codeagent",),
        )
    version = json.loads(panel.read_text(encoding="utf-8"))["version"]
    return Check(name="front end", state="ok", text=f"side panel {version} and server extension are installed")


def check_history() -> Check:
    """Check whether the history can be opened and read."""
    try:
        store = HistoryStore()
        total, _ = store.search(limit=1)
        store.close()
    except CodeAgentError as error:
        return Check(name="history", state="NOT OK", text=str(error))
    return Check(name="history", state="ok", text=f"{total} runs in {store.path}")


def check_policy(policy: Policy) -> Check:
    """Report the administrator's rules; with a file that is wrong there are no settings to check with."""
    files = tuple(dict.fromkeys(policy.files.values()))
    if not files:
        places = " or ".join(DIRECTORIES)
        return Check(
            name="policy", state="ok", text=f"no administrator rules (no {POLICY_FILE} in {places})", is_detail=True
        )
    count = f"{len(policy.rules)} rule{'s' if len(policy.rules) > 1 else ''}"
    return Check(name="policy", state="ok", text=f"{count} in {', '.join(files)}", details=policy.texts())


def check_lines(check: Check, *, details: bool) -> str:
    """Return the finding in one line, below it what helps, and the details if they are wanted."""
    indented = [f"        → {line}" for line in check.help]
    indented += [f"          {line}" for line in check.details] if details else []
    return "\n".join([f"{check.state:<7} {check.name}: {check.text}", *indented])


def checks_text(checks: Sequence[Check]) -> str:
    """Return all findings with their details."""
    return "\n".join(check_lines(check, details=True) for check in checks)


def next_text(checks: Sequence[Check]) -> str:
    """Return what to do next, in one line."""
    failed = ", ".join(check.name for check in checks if check.state == "NOT OK")
    if failed:
        return f"Next:   fix {failed} as shown above, then run this again; until then, questions will fail."
    return "Next:   start `jupyter lab`, then run `%load_ext jupyter_codeagent` and a `%%agent` cell in a notebook."


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
