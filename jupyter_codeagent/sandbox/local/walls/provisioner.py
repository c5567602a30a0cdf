"""The kernel provisioner that makes a kernel a sandbox (entry point ``codeagent-sandbox``)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_client.manager import AsyncKernelManager
from jupyter_client.provisioning.local_provisioner import LocalProvisioner
from traitlets import Bool, Dict, Enum, Integer, List, Unicode

from jupyter_codeagent.sandbox import guest
from jupyter_codeagent.sandbox.local.walls import bubblewrap, seatbelt, supervisor
from jupyter_codeagent.sandbox.local.walls.environment import sandbox_environment
from jupyter_codeagent.sandbox.local.walls.kernel_files import machine_files
from jupyter_codeagent.sandbox.local.walls.layout import SandboxPaths
from jupyter_codeagent.sandbox.local.walls.roots import python_roots
from jupyter_codeagent.sandbox.local.watch.processes import first_child
from jupyter_codeagent.types.errors import SandboxUnavailableError

GUEST_DIR = os.path.dirname(os.path.abspath(guest.__file__))
MAX_STDERR_BYTES = 4096
NO_PROCESS_NAMESPACE = ("landlock", "seatbelt")
"""At these levels the watchdog cannot see a process that detaches itself."""


class SandboxProvisioner(LocalProvisioner):
    """Provisioner that starts ``guest/serve.py`` with the isolation of one level, for `AsyncKernelManager` only.

    The thread that starts it must live as long as the sandbox: the death signal is per thread (prctl(2)).
    """

    level = Enum(
        ("bubblewrap", "namespaces", "landlock", "seatbelt", "none"),
        default_value="bubblewrap",
        help="Which walls to put up.",
    ).tag(config=True)
    data_dir = Unicode(help="Host directory that the sandbox sees read-only.").tag(config=True)
    scratch_dir = Unicode(help="Host directory for scratch, where there is no mount namespace.").tag(config=True)
    disk_bytes = Integer(512 << 20, help="Size of the scratch tmpfs.").tag(config=True)
    read_files = List(Unicode(), help="Host files that the user lets it read, by real path.").tag(config=True)
    limits = Dict(help="RLIMIT name to value.").tag(config=True)
    preload = List(Unicode(), help="Modules to import before the first request.").tag(config=True)
    allow_subprocess = Bool(False, help="Whether code may start processes (they are in the same sandbox).").tag(
        config=True
    )

    report_fd: int = -1
    """Read end of the sandbox's stdout: one JSON line once it is confined and bound."""
    stderr_fd: int = -1
    _outer_fds: tuple[int, ...] = ()
    _info_fd: int = -1
    _life_fd: int = -1
    """Pipe held open while the sandbox may live (`walls.supervisor`); -1 where a parent-death signal is used."""
    _namespace_init: int | None = None

    parent: AsyncKernelManager  # always set: the manager knows the connection file

    @property
    def paths(self) -> SandboxPaths:
        """Paths as code in the sandbox sees them."""
        if self.level == "bubblewrap":
            return bubblewrap.SANDBOX_PATHS
        return SandboxPaths(
            connection=os.path.dirname(self.parent.connection_file),
            scratch=self.scratch_dir,
            temporary=self.scratch_dir,
            data=self.data_dir,
        )

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of the sandbox."""
        environment = sandbox_environment(self.paths)
        return {**environment, **seatbelt.environment()} if self.level == "seatbelt" else environment

    @property
    def _supervised(self) -> bool:
        """Whether a supervisor process stands between us and the kernel, as macOS has no parent-death signal."""
        return sys.platform == "darwin" or self.level == "seatbelt"

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        """Write the connection file and build the command. Called from `KernelManager.pre_start_kernel`."""
        if self.level == "seatbelt":
            seatbelt.require_sandbox_exec()
        if self.allow_subprocess and self.level in NO_PROCESS_NAMESPACE:
            raise SandboxUnavailableError(
                f"{self.level} has no process namespace, so processes that its code starts could outlive it: set"
                " CodeAgent.subprocess to False"
            )
        kwargs["env"] = {}  # never the user's, not even for bwrap itself: /proc/1/environ is readable inside
        kwargs = await super().pre_launch(**kwargs)
        roots = await asyncio.get_running_loop().run_in_executor(None, python_roots)
        kwargs["independent"] = True  # else JPY_PARENT_PID is set, and in a pid namespace the kernel's poller exits
        self._open_pipes(kwargs)
        if self.level == "bubblewrap":
            self._wrap_in_bubblewrap(kwargs, roots)
        elif self.level == "seatbelt":
            self._wrap_in_seatbelt(kwargs, roots)
        else:
            self._confine_from_inside(kwargs, roots)
        if self._supervised:
            self._supervise(kwargs)
        return kwargs

    def _open_pipes(self, kwargs: dict[str, Any]) -> None:
        """Open pipes, not files: a host file could be opened again through /proc/self/fd."""
        self.report_fd, report = os.pipe()
        self.stderr_fd, stderr = os.pipe()
        self._outer_fds = (report, stderr)
        kwargs.update(stdin=subprocess.DEVNULL, stdout=report, stderr=stderr)

    def _wrap_in_bubblewrap(self, kwargs: dict[str, Any], roots: tuple[str, ...]) -> None:
        bwrap = bubblewrap.find_bubblewrap()
        if bwrap is None:
            raise SandboxUnavailableError("bwrap is not installed")
        version = bubblewrap.bubblewrap_version(bwrap)
        if version < bubblewrap.NEEDED_VERSION:
            raise SandboxUnavailableError(f"bwrap {'.'.join(map(str, version))} is too old, 0.7 is needed")
        connection_dir = os.path.dirname(self.parent.connection_file)
        self._write_inner_connection_file(connection_dir)
        argv = bubblewrap.bubblewrap_argv(
            bwrap,
            version=version,
            connection_dir=connection_dir,
            data_dir=self.data_dir,
            read_only=[*roots, GUEST_DIR],
            files={
                **{str(font_list): f"{self.paths.matplotlib}/{font_list.name}" for font_list in font_lists()},
                **{path: path for path in self.read_files},
            },
            environment=self.environment,
            scratch_bytes=self.disk_bytes,
        )
        self._info_fd, info = os.pipe()
        self._outer_fds += (info,)
        read = [
            "/usr",
            "/lib",
            "/lib64",
            "/lib32",
            "/bin",
            "/etc",
            "/dev",
            "/proc",
            "/sys",
            self.paths.data,
            *roots,
            GUEST_DIR,
            *self.read_files,
        ]
        write = [self.paths.temporary, self.paths.scratch, "/dev/null", "/dev/shm"]  # noqa: S108
        inner = self._inner_command(read, write, f"{self.paths.connection}/inner.json")
        kwargs.update(
            cmd=[*argv, "--info-fd", str(info), "--", *inner], pass_fds=(info,), env={"PATH": "/usr/bin:/bin"}
        )

    def _write_inner_connection_file(self, connection_dir: str) -> None:
        info: dict[str, Any] = {**self.parent.get_connection_info()}
        info["key"] = self.parent.session.key.decode()
        info["ip"] = f"{self.paths.connection}/{os.path.basename(info['ip'])}"
        fd = os.open(f"{connection_dir}/inner.json", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(info, file)

    def _confine_from_inside(self, kwargs: dict[str, Any], roots: tuple[str, ...]) -> None:
        """Build a command without a wrapper: the interpreter starts on the host, `guest.enforce` confines it."""
        _copy_font_lists(Path(self.paths.matplotlib))
        system = [
            "/usr",
            "/lib",
            "/lib64",
            "/lib32",
            "/bin",
            "/dev/urandom",
            *bubblewrap.ETC,
            *machine_files(),
        ]
        read = [*system, *roots, GUEST_DIR, self.data_dir, *self.read_files]
        write = [self.scratch_dir, "/dev/null"]
        command = self._inner_command(read, write, self.parent.connection_file)
        kwargs.update(cmd=command, env=self.environment, cwd=self.scratch_dir)

    def _wrap_in_seatbelt(self, kwargs: dict[str, Any], roots: tuple[str, ...]) -> None:
        """Build a command whose profile is in force before the interpreter starts; there are no later stages."""
        _copy_font_lists(Path(self.paths.matplotlib))
        paths = seatbelt.resolve_paths(
            executable=sys.executable,
            base_prefix=sys.base_prefix,
            code=roots,
            data=[GUEST_DIR, self.data_dir],
            scratch=self.scratch_dir,
            sockets=self.paths.connection,
            files=self.read_files,
        )
        profile = seatbelt.seatbelt_profile(
            paths, subprocess=self.allow_subprocess, imports=seatbelt.system_imports()
        )
        command = seatbelt.seatbelt_argv(profile, self._inner_command([], [], self.parent.connection_file))
        kwargs.update(cmd=command, env=self.environment, cwd=self.scratch_dir)

    def _supervise(self, kwargs: dict[str, Any]) -> None:
        reading, self._life_fd = os.pipe()
        self._outer_fds += (reading,)
        kwargs.update(cmd=supervisor.supervised(kwargs["cmd"]), stdin=reading)

    def _inner_command(self, read: list[str], write: list[str], connection_file: str) -> list[str]:
        confinement = {
            "level": self.level,
            "read": read,
            "write": write,
            "sockets": [self.paths.connection],
            "limits": dict(self.limits),
            "subprocess": self.allow_subprocess,
            "preload": list(self.preload),
        }
        # -P keeps the script's directory off the path, where our module names would shadow others
        return [
            sys.executable,
            "-B",
            "-P",
            os.path.join(GUEST_DIR, "serve.py"),
            json.dumps(confinement),
            connection_file,
        ]

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> Any:
        """Launch the processes; for bubblewrap also read the pid of the namespace's first process.

        Called from `KernelManager._launch_kernel`.
        """
        try:
            info = await super().launch_kernel(cmd, **kwargs)
        finally:
            self._close_outer()
        if self._info_fd >= 0:
            info_fd, self._info_fd = self._info_fd, -1
            described = await asyncio.get_running_loop().run_in_executor(None, _read_all, info_fd)
            self._namespace_init = _child_pid(described)
        return info

    @property
    def outer_pid(self) -> int | None:
        """Pid of bwrap, the namespaces' parent, the supervisor, or the kernel itself."""
        return self.process.pid if self.process else None

    @property
    def inner_pid(self) -> int | None:
        """Pid of the kernel in the host's numbering; None once it is gone."""
        if self.level == "bubblewrap":
            return first_child(self._namespace_init)
        if self.level == "namespaces":
            return first_child(first_child(self.outer_pid))
        if self._supervised:
            return first_child(self.outer_pid)
        return self.outer_pid

    async def send_signal(self, signum: int) -> None:
        """Send a signal; SIGINT goes to the kernel itself, as bwrap would die of it together with the state."""
        if signum != signal.SIGINT:
            await super().send_signal(signum)
        elif (pid := self.inner_pid) is not None:
            os.kill(pid, signum)

    def _close_outer(self) -> None:
        """Close the ends of pipes that belong to the sandbox."""
        for fd in self._outer_fds:
            os.close(fd)
        self._outer_fds = ()

    def close_pipes(self) -> None:
        """Close all pipes. Called once the sandbox is gone, or was never launched."""
        self._close_outer()
        for fd in (self.report_fd, self.stderr_fd, self._info_fd, self._life_fd):
            if fd >= 0:
                os.close(fd)
        self.report_fd = self.stderr_fd = self._info_fd = self._life_fd = -1


def font_lists() -> list[Path]:
    """Return the user's font cache of matplotlib: without it every sandbox searches fonts at its first plot."""
    configured = os.environ.get("MPLCONFIGDIR")
    cache_home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    directory = Path(configured) if configured else Path(cache_home) / "matplotlib"
    return sorted(path for path in directory.glob("fontlist-*.json") if path.is_file())


def _copy_font_lists(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for font_list in font_lists():
        (directory / font_list.name).write_bytes(font_list.read_bytes())


def _read_all(fd: int) -> bytes:
    with os.fdopen(fd, "rb") as file:
        return file.read(MAX_STDERR_BYTES)


def _child_pid(described: bytes) -> int | None:
    """Read the pid from ``--info-fd``; None if bwrap failed before it had a child, which shows as its exit."""
    try:
        info: Mapping[str, int] = json.loads(described)
    except ValueError:
        return None
    return info.get("child-pid")
