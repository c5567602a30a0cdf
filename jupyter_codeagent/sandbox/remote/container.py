"""The level `container`: a relay in Docker or Podman, in an image made by the `Dockerfile` beside this file."""

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
from jupyter_codeagent.sandbox.remote.stdio import command_environment
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxPolicy

ENGINES = ("podman", "docker")
"""Podman first: without root of its own, an escape from it is an escape to a plain user."""
DOCKERFILE = "jupyter_codeagent/sandbox/remote/Dockerfile"
GVISOR = "runsc"
TRUSTED_PATH = "/usr/bin:/usr/local/bin:/bin:/opt/homebrew/bin:/opt/podman/bin:/snap/bin"
"""Not the user's PATH: what guards the sandbox must not come from a project directory."""
ASK_TIMEOUT_S = 15.0
TEMPORARY = "/tmp"  # noqa: S108  (inside the container)
TEMPORARY_BYTES = 256 << 20
COPIES_BYTES = 2 << 30
"""Space for the user's copies: the default of `max_transfer_mb`."""
RELAY_BYTES = 256 << 20
"""Memory of the relay itself and of libraries, beside the policy's limit."""
USER = 1000


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A container engine that answers."""

    program: str
    """``docker`` or ``podman``."""
    path: str
    rootless: bool
    gvisor: bool
    """The host has `runsc`: a kernel of its own between the code and the host's."""


async def find_engine(wanted: str) -> Engine:
    """The engine of that name, or the first one that answers.

    Raises
    ------
    SandboxUnavailableError
        None is installed or none answers: each one's own words.
    """
    said = []
    for program in (wanted,) if wanted else ENGINES:
        if program not in ENGINES:
            raise SandboxUnavailableError(f"{program!r} is no container engine; it has to be docker or podman")
        path = shutil.which(program, path=TRUSTED_PATH)
        if path is None:
            said.append(f"{program} is not installed")
            continue
        status, out, error = await _ask(path, "info", "--format", "{{json .}}")
        if status == 0:
            return engine_from(program, path, out)
        said.append(f"{program} does not answer: {one_line(error, 200)}")
    raise SandboxUnavailableError("; ".join(said))


def engine_from(program: str, path: str, info_json: str) -> Engine:
    """From ``info --format '{{json .}}'``: Docker's and Podman's differ."""
    try:
        info: Mapping[str, Any] = json.loads(info_json)
        security = str(info.get("SecurityOptions", "")) + json.dumps(info.get("host", {}).get("security", {}))
        runtimes = info.get("Runtimes") or {}
    except (ValueError, AttributeError) as problem:
        raise SandboxUnavailableError(f"{program} info gave no JSON: {one_line(info_json, 100)}") from problem
    return Engine(
        program=program,
        path=path,
        rootless="name=rootless" in security or '"rootless": true' in security,
        gvisor=GVISOR in runtimes or (program == "podman" and shutil.which(GVISOR, path=TRUSTED_PATH) is not None),
    )


async def check_image(engine: Engine, image: str) -> None:
    """It must be here: nothing is pulled, for the name may mean another image at a registry.

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
    return f"codeagent-{secrets.token_hex(8)}"


def run_argv(engine: Engine, policy: SandboxPolicy, *, name: str) -> list[str]:
    """No network, nothing of the host's files, nothing writable but sized tmpfs, no capability, hard limits."""
    files = policy.disk_bytes + TEMPORARY_BYTES + COPIES_BYTES
    memory = str(policy.memory_bytes + files + RELAY_BYTES)  # what lies in a tmpfs counts as memory
    argv = [engine.path, "run", "--rm", "--interactive", "--pull", "never", "--name", name]
    argv += ["--network", "none", "--hostname", "sandbox", "--user", f"{USER}:{USER}", "--workdir", TEMPORARY]
    argv += ["--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"]
    argv += ["--tmpfs", f"{TEMPORARY}:rw,nosuid,nodev,noexec,size={files},mode=1777"]
    argv += ["--memory", memory, "--memory-swap", memory, "--pids-limit", str(policy.processes + policy.threads)]
    argv += ["--ulimit", "core=0", "--ulimit", "nofile=4096", "--log-driver", "none"]
    argv += ["--cpus", f"{min(policy.processors, float(os.cpu_count() or 1)):g}"]
    if engine.gvisor:
        argv += ["--runtime", GVISOR]
    return [*argv, policy.image, "python", "-m", "jupyter_codeagent.sandbox.remote.relay"]


def kill_argv(engine: Engine, *, name: str) -> list[str]:
    return [engine.path, "kill", name]


def container_faults(surroundings: Mapping[str, Any]) -> tuple[str, ...]:
    """What of the container's walls is not there, by what the relay in it reads in /proc."""
    wanted = {
        "a network interface": surroundings.get("interfaces") == [],
        "a writable root": surroundings.get("root_writable") is False,
        "root's identity": type(surroundings.get("uid")) is int and surroundings["uid"] != 0,
        "capabilities": surroundings.get("capabilities") == 0,
        "new privileges": surroundings.get("no_new_privileges") is True,
    }
    return tuple(name for name, holds in wanted.items() if not holds)


def container_in_words(engine: Engine) -> str:
    kind = "rootless " if engine.rootless else ""
    kernel = ", gVisor's kernel between it and yours" if engine.gvisor else ""
    return (
        f"{kind}{engine.program} container: no network interface, read-only root, no capabilities, "
        f"memory and processes by control group{kernel}"
    )


async def _ask(*argv: str) -> tuple[int, str, str]:
    """Exit status, stdout, stderr; a command that hangs counts as failed."""
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
