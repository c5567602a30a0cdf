"""A link to a relay over a command's standard streams: ``docker run -i …``, ``ssh host …``."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jupyter_client.session import Session

from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError, Received, read_message
from jupyter_codeagent.sandbox.remote import calls, framing
from jupyter_codeagent.sandbox.remote.link import Channel
from jupyter_codeagent.types.errors import SandboxUnavailableError

CHANNELS: dict[int, Channel] = {framing.SHELL: "shell", framing.IOPUB: "iopub"}
HEADERS_BYTES = 64 << 10
"""Bytes of a message besides content and buffers."""
STDERR_BYTES = 4096
TERM_GRACE_S = 2.0
END_TIMEOUT_S = 10.0
KEPT_NAMES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSH_AUTH_SOCK", "XDG_RUNTIME_DIR", "KUBECONFIG"}
)
KEPT_PREFIXES = ("LC_", "DOCKER_", "CONTAINER_", "CONTAINERS_", "KUBERNETES_SERVICE_")
HEARTBEAT_INTERVAL_S = 30.0
"""A relay with ``--idle-timeout`` ends by itself when it receives nothing for that time."""


def command_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of the user's environment that ssh, docker, podman and kubectl need, without tokens."""
    return {
        name: value for name, value in environment.items() if name in KEPT_NAMES or name.startswith(KEPT_PREFIXES)
    }


class StdioLink:
    """Implements `link.Link`."""

    def __init__(self, argv: Sequence[str], *, max_bytes: int, kill_argv: Sequence[str] = ()) -> None:
        """`max_bytes` limits one message; `kill_argv` is a command that ends what the first one has started."""
        self._argv = tuple(argv)
        self._kill_argv = tuple(kill_argv)
        self._max_bytes = max_bytes + HEADERS_BYTES
        self._session = Session(key=secrets.token_hex(32).encode())
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None
        self._killing: asyncio.Task[None] | None = None
        self._stderr_tail = b""

    async def open(
        self,
        *,
        on_message: Callable[[Channel, Received], None],
        on_malformed: Callable[[], None],
        on_closed: Callable[[str], None],
    ) -> None:
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=command_environment(os.environ),
                start_new_session=True,  # an interrupt in Jupyter's terminal must not reach it
            )
        except OSError as problem:
            raise SandboxUnavailableError(f"{self._argv[0]} cannot be started: {problem.strerror}") from problem
        self._write(framing.SHELL, [self._session.key])
        self._reading = asyncio.create_task(
            self._read(on_message, on_malformed, on_closed), name=f"relay {self._argv[0]}"
        )
        self._beating = asyncio.create_task(self._send_heartbeats(), name="relay heartbeats")

    def send(self, msg_type: str, content: dict[str, Any], buffers: Sequence[bytes | memoryview] = ()) -> str:
        message = self._session.msg(msg_type, content=content)
        self._write(framing.SHELL, [*self._session.serialize(message), *buffers])
        return str(message["header"]["msg_id"])

    def _write(self, channel: int, parts: Sequence[bytes | memoryview]) -> None:
        if self._process is None or self._process.stdin is None:
            raise RuntimeError("the link is not open")
        if not self._process.stdin.is_closing():
            self._process.stdin.writelines(framing.pack(channel, parts))

    async def _read(
        self,
        on_message: Callable[[Channel, Received], None],
        on_malformed: Callable[[], None],
        on_closed: Callable[[str], None],
    ) -> None:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        keeping_stderr = asyncio.create_task(self._keep_stderr(process))
        why = ""
        try:
            while (message := await framing.read(process.stdout, max_bytes=self._max_bytes)) is not None:
                channel, frames = message
                try:
                    on_message(CHANNELS[channel], read_message(self._session, frames))
                except MalformedMessageError:
                    on_malformed()
                await asyncio.sleep(0)  # a flood would starve the loop
        except framing.BrokenStreamError as problem:
            why = f"it sent {problem}"
        finally:
            self.kill()
        status = await process.wait()
        await keeping_stderr
        on_closed(why or self._exit_reason(status))

    async def _send_heartbeats(self) -> None:
        """Show that the client lives; nobody waits for the answers, since the end of the command is noticed."""
        while True:
            await asyncio.sleep(HEARTBEAT_INTERVAL_S)
            self.send(calls.REQUEST, {"call": "alive"})

    async def _keep_stderr(self, process: asyncio.subprocess.Process) -> None:
        """Read stderr, since a full pipe would block the command, and keep its end."""
        assert process.stderr is not None
        while text := await process.stderr.read(65536):
            self._stderr_tail = (self._stderr_tail + text)[-STDERR_BYTES:]

    def _exit_reason(self, status: int) -> str:
        lines = self._stderr_tail.decode(errors="replace").strip().splitlines()
        text = f": {one_line(lines[-1], 300)}" if lines else ""
        return f"{self._argv[0]} ended with status {status}{text}"

    def kill(self) -> None:
        """End the command: first by SIGTERM, so that the relay can clean up. A container is ended by its engine."""
        process = self._process
        if self._beating is not None:
            self._beating.cancel()
        if process is None or process.returncode is not None or self._killing is not None:
            return
        if process.stdin is not None:
            process.stdin.close()
        _signal_group(process.pid, signal.SIGTERM)
        self._killing = asyncio.create_task(self._end(process), name="relay end")

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        try:
            async with asyncio.timeout(TERM_GRACE_S):
                await process.wait()
        except TimeoutError:
            _signal_group(process.pid, signal.SIGKILL)
        if self._kill_argv:
            await self._kill_container()

    async def _kill_container(self) -> None:
        """End the container by its engine; a failure means that it has ended together with its standard input."""
        ending = await asyncio.create_subprocess_exec(
            *self._kill_argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
            env=command_environment(os.environ),
        )
        await ending.wait()

    async def close(self) -> None:
        """End the command and wait for it; raise TimeoutError if it cannot be ended."""
        self.kill()
        async with asyncio.timeout(END_TIMEOUT_S):
            for task in (self._reading, self._killing):
                if task is not None:
                    await asyncio.gather(task, return_exceptions=True)


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return  # it has ended
