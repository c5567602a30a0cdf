"""The level `container`: a relay in Docker or Podman, in an image built from the `Dockerfile` beside this file."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.remote.host_facts import find_privileges
from jupyter_codeagent.sandbox.remote.stdio import command_environment
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxPolicy

ENGINES = ("podman", "docker")
"""Podman comes first: it runs without root, so an escape from it is an escape to a plain user."""
DOCKERFILE = "jupyter_codeagent/sandbox/remote/Dockerfile"
TRUSTED_PATH = "/usr/bin:/usr/local/bin:/bin:/opt/homebrew/bin:/opt/podman/bin:/snap/bin"
"""Not the user's PATH: a project directory must not provide what guards the sandbox."""
ASK_TIMEOUT_S = 15.0
TEMPORARY = "/tmp"  # noqa: S108  (inside the container)
TEMPORARY_BYTES = 256 << 20
COPIES_BYTES = 2 << 30
"""Space for the user's copies: the default of `max_transfer_mb`."""
RELAY_BYTES = 256 << 20
"""Memory of the relay itself and of libraries, in addition to the policy's limit."""
USER = 1000


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A container engine that works."""

    program: str
    """``docker`` or ``podman``."""
    path: str
    rootless: bool


async def find_engine(wanted: str) -> Engine:
    """Find the engine of that name, or the first one that works.

    Raises
    ------
    SandboxUnavailableError
        If none is installed or works; the text has the error of each.
    """
    failures = []
    for program in (wanted,) if wanted else ENGINES:
        if program not in ENGINES:
            raise SandboxUnavailableError(f"{program!r} is not a container engine; use docker or podman")
        path = shutil.which(program, path=TRUSTED_PATH)
        if path is None:
            failures.append(f"{program} is not installed")
            continue
        status, out, error = await _ask(path, "info", "--format", "{{json .}}")
        if status == 0:
            return engine_from(program, path, out)
        failures.append(f"{program} does not answer: {one_line(error, 200)}")
    raise SandboxUnavailableError("; ".join(failures))


def engine_from(program: str, path: str, info_json: str) -> Engine:
    """Read an engine from ``info --format '{{json .}}'``; Docker's and Podman's differ."""
    try:
        info: Mapping[str, Any] = json.loads(info_json)
        security = str(info.get("SecurityOptions", "")) + json.dumps(info.get("host", {}).get("security", {}))
    except (ValueError, AttributeError) as problem:
        raise SandboxUnavailableError(f"{program} info gave no JSON: {one_line(info_json, 100)}") from problem
    return Engine(
        program=program,
        path=path,
        rootless="name=rootless" in security or '"rootless": true' in security,
    )


async def check_image(engine: Engine, image: str) -> None:
    """Check that the image exists locally: nothing is pulled, as the name may mean another image at a registry.

    Raises
    ------
    SandboxUnavailableError
    """
    status, _, error = await _ask(engine.path, "image", "inspect", "--format", "{{.Id}}", image)
    if status != 0:
        raise SandboxUnavailableError(
            f"{engine.program} has no image {image!r} ({one_line(error, 100)}); build it in a checkout of "
            f"jupyter-codeagent: `{engine.program} build -f {DOCKERFILE} -t {image} .`"
        )


def new_name() -> str:
    """Return a random name for a container."""
    return f"codeagent-{secrets.token_hex(8)}"


def run_argv(engine: Engine, policy: SandboxPolicy, *, name: str) -> list[str]:
    """Return the command: no network, no host files, only sized tmpfs writable, no capabilities, hard limits."""
    files = policy.disk_bytes + TEMPORARY_BYTES + COPIES_BYTES
    memory = str(policy.memory_bytes + files + RELAY_BYTES)  # what lies in a tmpfs counts as memory
    argv = [engine.path, "run", "--rm", "--interactive", "--pull", "never", "--name", name]
    argv += ["--network", "none", "--hostname", "sandbox", "--user", f"{USER}:{USER}", "--workdir", TEMPORARY]
    argv += ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    argv += ["--tmpfs", f"{TEMPORARY}:rw,nosuid,nodev,noexec,size={files},mode=1777"]
    argv += ["--memory", memory, "--memory-swap", memory, "--pids-limit", str(policy.processes + policy.threads)]
    argv += ["--ulimit", "core=0", "--ulimit", "nofile=4096", "--log-driver", "none"]
    argv += ["--cpus", f"{min(policy.processors, float(os.cpu_count() or 1)):g}"]
    return [*argv, policy.image, "python", "-m", "jupyter_codeagent.sandbox.remote.relay"]


def kill_argv(engine: Engine, *, name: str) -> list[str]:
    """Return the command that ends a container."""
    return [engine.path, "kill", name]


def find_container_faults(host_facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a container must not have but has, by what the relay in it reads in /proc."""
    faults = () if host_facts.get("interfaces") == [] else ("a network interface",)
    return (*faults, *find_privileges(host_facts))


def format_container(engine: Engine) -> str:
    """Return the layers of a container as one line for people."""
    kind = "rootless " if engine.rootless else ""
    return (
        f"{kind}{engine.program} container: no network interface, read-only root, no capabilities, "
        "memory and processes limited by control groups"
    )


async def _ask(*argv: str) -> tuple[int, str, str]:
    """Run a command; return exit status, stdout, stderr. A command that hangs counts as failed."""
    process = await asyncio.create_subprocess_exec(
        *argv,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=command_environment(os.environ),
    )
    try:
        async with asyncio.timeout(ASK_TIMEOUT_S):
            out, error = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        return 1, "", f"no answer within {ASK_TIMEOUT_S:g} s"
    return process.returncode or 0, out.decode(errors="replace"), error.decode(errors="replace")
