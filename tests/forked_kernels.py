"""Kernels forked from a process that has imported what the product imports: a third of what one costs otherwise.

The product itself is imported in each kernel anew, and each has its own environment, directory and session. Only
`/proc/self/environ` is that of the process that forks. A kernel whose environment changes the interpreter
(`PYTHON...`) is started as always. A forked one ends behind its last exit function, modules are not taken down.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any, NoReturn

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from jupyter_client.provisioning.local_provisioner import LocalProvisioner

NAME = "forked"
IMPORTED = ("ipykernel.kernelapp", "nh3", "openai", "pandas", "psutil", "pyarrow")
"""By the process that forks."""
MAX_REQUEST = 1 << 20
END_S = 10.0


class ForkedProcess:
    """As much of `subprocess.Popen` as a provisioner needs, for a child of the process that forks."""

    stdin = stdout = stderr = None

    def __init__(self, nursery: Nursery, pid: int) -> None:
        self._nursery = nursery
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.ask({"poll": self.pid})
        return self.returncode

    def wait(self) -> int:
        while (code := self.poll()) is None:
            time.sleep(0.02)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class Nursery:
    """The process that forks; it ends when its socket is closed, and kernels end when it does."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno())], pass_fds=[theirs.fileno()], cwd="/"
            )
        atexit.register(self._close)

    def start(self, arguments: list[str], environment: dict[str, str], directory: str) -> ForkedProcess:
        return ForkedProcess(self, self.ask({"start": arguments, "env": environment, "cwd": directory}))

    def ask(self, request: dict[str, Any]) -> Any:
        self._socket.send(json.dumps(request).encode())
        return json.loads(self._socket.recv(MAX_REQUEST))

    def _close(self) -> None:
        self._socket.close()
        self._process.wait(END_S)


class ForkedProvisioner(LocalProvisioner):
    """Of this name: what `kernels_forked` sets."""

    nursery: Nursery | None = None

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        environment = dict(kwargs["env"])
        if _of_interpreter(environment) != _of_interpreter(dict(os.environ)):
            return await super().launch_kernel(cmd, **kwargs)
        if ForkedProvisioner.nursery is None:
            ForkedProvisioner.nursery = Nursery()
        options = cmd[cmd.index("ipykernel_launcher") + 1 :]
        started: Any = ForkedProvisioner.nursery.start(options, environment, str(kwargs["cwd"]))
        self.process = started
        self.pid = self.pgid = started.pid
        self.cwd = kwargs["cwd"]
        return self.connection_info


@contextmanager
def kernels_forked(wanted: bool = True) -> Iterator[None]:
    """Have kernels that are started meanwhile forked, if that is wanted."""
    factory = KernelProvisionerFactory.instance()
    factory.provisioners[NAME] = EntryPoint(NAME, f"{__name__}:ForkedProvisioner", factory.GROUP_NAME)
    before = factory.default_provisioner_name
    factory.default_provisioner_name = NAME if wanted else before
    try:
        yield
    finally:
        factory.default_provisioner_name = before


def _of_interpreter(environment: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(("PYTHON", "LD_"))}


def main(requests: socket.socket) -> None:
    """Fork a kernel for each request, and say how one has ended."""
    for name in IMPORTED:
        import_module(name)
    while request := requests.recv(MAX_REQUEST):
        asked = json.loads(request)
        if "poll" in asked:
            pid, status = os.waitpid(asked["poll"], os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if pid else None
        else:
            answer = os.fork()
            if not answer:
                requests.close()
                _be_kernel(asked)
        requests.send(json.dumps(answer).encode())


def _be_kernel(asked: dict[str, Any]) -> NoReturn:
    """What a new interpreter would find: its own session, environment, directory and arguments."""
    os.setsid()
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    atexit.register(_end)  # the first, so it is called last
    parent = f"--IPKernelApp.parent_handle={os.getppid()}"  # its default was read when the module was imported
    sys.argv = ["ipykernel_launcher", *asked["start"], parent]
    from ipykernel.kernelapp import launch_new_instance

    launch_new_instance()
    sys.exit(0)


def _end() -> NoReturn:
    """Leave it to the system to free the memory: the interpreter would take most of a second of processor time."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            stream.flush()
    os._exit(0)


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
    _end()
