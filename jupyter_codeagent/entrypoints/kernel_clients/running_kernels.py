"""Find the running kernel that is meant: by Jupyter's runtime files, or at a Jupyter server."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_runtime_dir

from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.remote.gateway_api import KERNEL_ID, GatewayApi
from jupyter_codeagent.types.errors import CodeAgentError, UsageError

SERVER_TOKEN = "JUPYTER_TOKEN"  # noqa: S105  (the name of the variable, not a token)
LISTED = 8


@dataclass(frozen=True, kw_only=True)
class WantedKernel:
    """What the user named on the command line; empty where they did not."""

    notebook: str = ""
    """Path of a notebook: of the file, or as a Jupyter server has it."""
    kernel: str = ""
    """Id of a kernel or its beginning, or the path of its connection file."""
    server: str = ""
    """Address of a Jupyter server."""


@dataclass(frozen=True, kw_only=True)
class JupyterServer:
    """A Jupyter server; its token is in no text."""

    url: str
    token: str = field(repr=False)
    root: Path | None = None
    """Its directory, of one on this machine."""


@dataclass(frozen=True, kw_only=True)
class KernelAddress:
    """Where a kernel is reached: by its connection file, else through its server."""

    kernel_id: str
    connection_file: Path | None = None
    server: JupyterServer | None = None
    notebook: str = ""


async def find_kernel(wanted: WantedKernel) -> KernelAddress:
    """Return the one kernel that is meant.

    Raises
    ------
    CodeAgentError
        There is none, or several; one line that says what to do.
    """
    runtime = Path(jupyter_runtime_dir())
    if wanted.kernel and not wanted.server:
        return _by_connection_file(wanted.kernel, runtime)
    servers = [_named_server(wanted.server, runtime)] if wanted.server else local_servers(runtime)
    found: list[KernelAddress] = []
    problems: list[str] = []
    for server in servers:
        try:
            with closing(GatewayApi(server.url, server.token)) as api:
                found += kernels_of(await api.sessions(), server)
        except CodeAgentError as problem:
            problems.append(str(problem))
    if problems and not found:
        raise CodeAgentError(problems[0])
    return _with_connection_file(choose(found, wanted), runtime)


def local_servers(runtime: Path) -> list[JupyterServer]:
    """Return the Jupyter servers of this user whose process is running."""
    servers = []
    for file in sorted(runtime.glob("jpserver-*.json")):
        with suppress(OSError, ValueError, KeyError, TypeError):  # one that ends just now, or is no server's
            facts = json.loads(file.read_text(encoding="utf-8"))
            os.kill(int(facts["pid"]), 0)
            root = Path(str(facts["root_dir"]))
            servers.append(JupyterServer(url=str(facts["url"]), token=str(facts.get("token", "")), root=root))
    return servers


def kernels_of(sessions: Sequence[dict[str, Any]], server: JupyterServer) -> list[KernelAddress]:
    """Return the kernels of a server's sessions."""
    kernels: dict[tuple[str, str], KernelAddress] = {}
    for session in sessions:
        kernel, path = session.get("kernel"), session.get("path")
        kernel_id = kernel.get("id") if isinstance(kernel, dict) else None
        if isinstance(kernel_id, str) and KERNEL_ID.fullmatch(kernel_id) and isinstance(path, str):
            address = KernelAddress(kernel_id=kernel_id, server=server, notebook=path)
            kernels[kernel_id, path] = address
    return list(kernels.values())


def choose(kernels: Sequence[KernelAddress], wanted: WantedKernel) -> KernelAddress:
    """Return the one that is meant.

    Raises
    ------
    UsageError
    """
    named = [one for one in kernels if _is_meant(one, wanted)]
    if len({one.kernel_id for one in named}) == 1:
        return named[0]
    there = ", ".join(f"{one_line(one.notebook, 80)} (kernel {one.kernel_id[:8]})" for one in kernels[:LISTED])
    if named:
        raise UsageError(f"Several kernels are running: {there}. Name a notebook, or one of them with --kernel.")
    what = f"the notebook {wanted.notebook!r}" if wanted.notebook else f"the kernel {wanted.kernel!r}"
    sought = f"No running kernel has {what}" if wanted.notebook or wanted.kernel else "No kernel is running"
    raise UsageError(f"{sought}: open the notebook in JupyterLab first. Running: {there or 'none'}.")


def _is_meant(kernel: KernelAddress, wanted: WantedKernel) -> bool:
    if wanted.kernel and not kernel.kernel_id.startswith(wanted.kernel):
        return False
    if not wanted.notebook or wanted.notebook.lstrip("/") == kernel.notebook.lstrip("/"):
        return True
    root = kernel.server.root if kernel.server is not None else None
    return root is not None and (root / kernel.notebook).resolve() == Path(wanted.notebook).resolve()


def _named_server(url: str, runtime: Path) -> JupyterServer:
    """Return the server with this address; its token is in the environment, or in its runtime file."""
    url = url.rstrip("/")
    known = next((one for one in local_servers(runtime) if one.url.rstrip("/") == url), None)
    token = os.environ.get(SERVER_TOKEN) or (known.token if known is not None else "")
    return JupyterServer(url=url, token=token, root=known.root if known is not None else None)


def _by_connection_file(kernel: str, runtime: Path) -> KernelAddress:
    if (file := Path(kernel)).is_file():
        return KernelAddress(kernel_id=file.stem.removeprefix("kernel-"), connection_file=file)
    files = sorted(runtime.glob(f"kernel-{kernel}*.json")) if KERNEL_ID.fullmatch(kernel) else []
    if len(files) != 1:
        how_many = f"{len(files)} kernel ids begin with it" if files else "there is no such kernel"
        raise UsageError(f"--kernel {kernel!r}: {how_many} in {runtime}. `%connect_info` in a cell tells its file.")
    return KernelAddress(kernel_id=files[0].stem.removeprefix("kernel-"), connection_file=files[0])


def _with_connection_file(kernel: KernelAddress, runtime: Path) -> KernelAddress:
    """Reach a kernel of this machine directly: the way through its server is longer."""
    file = runtime / f"kernel-{kernel.kernel_id}.json"
    is_here = kernel.server is not None and kernel.server.root is not None and file.is_file()
    return KernelAddress(
        kernel_id=kernel.kernel_id,
        connection_file=file if is_here else None,
        server=kernel.server,
        notebook=kernel.notebook,
    )
