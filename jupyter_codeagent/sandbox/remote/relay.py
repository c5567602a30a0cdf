"""The relay: starts a sandbox on the machine where it runs, and passes messages between it and the client.

``python -m jupyter_codeagent.sandbox.remote.relay`` uses its standard streams (in a container, over ssh); ``… relay
CONNECTION_FILE`` is a kernel for a gateway. In both cases it ends, and the sandbox with it, as soon as the client
is gone. The same version of the package must be installed here; data and code come with messages only. With
``--idle-timeout SECONDS`` it also ends where it hears nothing for so long, as from a network that has gone silent.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from jupyter_client.session import DELIM, Session

from jupyter_codeagent.sandbox.local.backend import open_probe_targets
from jupyter_codeagent.sandbox.local.channels.connection import Connection
from jupyter_codeagent.sandbox.local.walls.process import SandboxProcess
from jupyter_codeagent.sandbox.local.watch.processes import format_exit_status
from jupyter_codeagent.sandbox.local.watch.watchdog import Watchdog
from jupyter_codeagent.sandbox.owned_directory import lock_directory, remove_abandoned, remove_directory
from jupyter_codeagent.sandbox.remote import calls, host_facts
from jupyter_codeagent.sandbox.remote.calls import DIRECTORY_LOCK, DIRECTORY_PREFIX
from jupyter_codeagent.sandbox.remote.framing import BrokenStreamError
from jupyter_codeagent.sandbox.remote.transports import KernelTransport, StdioTransport, Transport
from jupyter_codeagent.types.errors import CodeAgentError
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.version import installed_version

CONNECT_TIMEOUT_S = 10.0
Frames = list[bytes]


class Relay:
    """One sandbox for one client; lives in one event loop, on the main thread."""

    def __init__(self, transport: Transport, data_dir: Path) -> None:
        self._transport = transport
        self._data_dir = data_dir
        self._session = Session(key=transport.key)
        self._process: SandboxProcess | None = None
        self._connection: Connection[Frames] | None = None
        self._watchdog: Watchdog | None = None
        self._tasks: list[asyncio.Task[Any]] = []
        self._targets = contextlib.ExitStack()
        self._shell_out: asyncio.Queue[Frames] = asyncio.Queue(maxsize=1024)
        """Separate from outputs: a flood of them must not lose a reply, and with it the sandbox."""
        self._iopub_out: asyncio.Queue[Frames] = asyncio.Queue(maxsize=64)
        self._client_identities: Frames = []
        """Identities of the client, where the transport has more than one peer."""
        self._running = 0
        """Requests that are begun and not answered yet."""

    async def run(self) -> None:
        """Serve until the client is gone. May be cancelled; `end` must follow."""
        self._tasks += [
            asyncio.create_task(_send_out(self._shell_out, self._transport.send_shell), name="relay shell"),
            asyncio.create_task(_send_out(self._iopub_out, self._transport.send_iopub), name="relay iopub"),
        ]
        while (frames := await self._transport.receive()) is not None and await self._handle(frames):
            pass

    async def end(self) -> None:
        """Kill the sandbox and remove its files."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._targets.close()
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            await self._process.close()
        self._transport.close()

    # --- from the client ----------------------------------------------------------------------------

    async def _handle(self, frames: Frames) -> bool:
        """Handle a message of the client; return whether to continue."""
        at = frames.index(DELIM)
        identities, (signature, header, parent, metadata, content, *buffers) = frames[:at], frames[at + 1 :]
        if signature != self._session.sign([header, parent, metadata, content]):
            raise BrokenStreamError("a message with a wrong signature")
        parsed = json.loads(header)
        kind = parsed["msg_type"]
        if kind == calls.REQUEST:
            self._client_identities = identities
            await self._answer(identities, parsed, json.loads(content), buffers)
        elif kind == "kernel_info_request":
            await self._send_kernel_info(identities, parsed)
        elif kind == "interrupt_request":
            await self.interrupt()
            await self._reply(identities, parsed, "interrupt_reply", {"status": "ok"})
        elif kind == "shutdown_request":
            self._send_event({"event": "ended", "why": "the gateway has ended it"})
            await self._reply(identities, parsed, "shutdown_reply", {"status": "ok", "restart": False})
            await asyncio.sleep(0.05)  # the reply has to be sent before the sockets close
            return False
        elif self._connection is not None:
            self._connection.forward(frames)
        return True

    async def _answer(
        self, identities: Frames, header: dict[str, Any], asked: dict[str, Any], buffers: Frames
    ) -> None:
        handlers: dict[str, Callable[[dict[str, Any], Frames], Coroutine[Any, Any, dict[str, Any]]]] = {
            "start": self._start,
            "measured": self._measured,
            "put": self._put,
            "drop": self._drop,
            "alive": self._alive,
            "begin": self._begin,
            "interrupt": self._interrupt,
            "reopen": self._reopen,
            "answer": self._answer_call,
        }
        try:
            answer = {"ok": True, **await handlers[asked["call"]](asked, buffers)}
        except (CodeAgentError, OSError, TimeoutError, KeyError, TypeError, ValueError, RuntimeError) as problem:
            answer = {"ok": False, "error": str(problem) or type(problem).__name__}
        await self._reply(identities, header, calls.REPLY, answer)

    async def _start(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        """Start the first level that works; the client measures whether its promises hold."""
        if asked["version"] != installed_version():
            raise ValueError(
                f"jupyter-codeagent is {asked['version']} here and {installed_version()} there:"
                " the versions must be equal"
            )
        if self._process is not None:
            raise ValueError("this relay already has a sandbox")
        surroundings = asyncio.create_task(asyncio.to_thread(host_facts.read_host_facts), name="relay surroundings")
        self._tasks.append(surroundings)
        policy = calls.policy_from(asked["policy"])
        failures = []
        for level in calls.RELAY_LEVELS:
            process = SandboxProcess(level, policy, self._data_dir, [str(name) for name in asked["preload"]])
            process.manager.session.key = self._transport.key  # messages pass unchanged, signatures included
            try:
                report = await process.start()
            except (CodeAgentError, OSError) as problem:
                failures.append(f"{level}: {problem}")
                await process.close()
                continue
            self._process = process
            await self._connect(process, policy)
            return {
                "report": report,
                "level": level,
                "data_dir": process.provisioner.paths.data,
                "surroundings": await surroundings,
                "targets": self._targets.enter_context(open_probe_targets(process)),
            }
        raise ValueError(f"no sandbox works there ({'; '.join(failures)})")

    async def _connect(self, process: SandboxProcess, policy: SandboxPolicy) -> None:
        self._watchdog = Watchdog(
            process.provisioner,
            policy,
            scratch=process.directory.scratch,
            is_busy=lambda: self._running > 0,
            on_limit_exceeded=self._on_limit_exceeded,
            on_cpu_limit=lambda why: self._send_event({"event": "processors", "why": why}),
        )
        self._connection = Connection(
            process.manager,
            max_bytes=policy.message_bytes,
            read=list,
            on_shell=self._from_shell,
            on_iopub=self._from_iopub,
            on_malformed=lambda: None,  # nothing is parsed here
            on_oversized=lambda channel: self._send_event({"event": "oversized", "channel": channel}),
        )
        self._tasks.append(asyncio.create_task(self._watchdog.run(), name="relay watchdog"))
        self._tasks.append(asyncio.create_task(self._watch_exit(process), name="relay end"))
        await self._connection.open(CONNECT_TIMEOUT_S)

    async def _measured(self, _asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        self._targets.close()
        return {}

    async def _put(self, asked: dict[str, Any], buffers: Frames) -> dict[str, Any]:
        path = self._file(asked["file"])
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if asked["offset"] == 0 else 0)
        descriptor = os.open(path, flags, 0o600)
        try:
            offset = asked["offset"]
            for buffer in buffers:
                offset += os.pwrite(descriptor, buffer, offset)
        finally:
            os.close(descriptor)
        if self._watchdog is not None:
            self._watchdog.allow_mapping([path])
        return {"size_bytes": offset}

    async def _drop(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        for name in asked["files"]:
            self._file(name).unlink(missing_ok=True)
        return {}

    def _file(self, name: object) -> Path:
        if not isinstance(name, str) or not calls.FILE.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a copied file")
        return self._data_dir / name

    async def _begin(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        self._running += 1  # not when the request comes: the watchdog, woken now, must not find the sandbox idle
        if self._watchdog is not None:
            self._watchdog.wake(float(asked["processor_s"]))
        return {}

    async def _alive(self, _asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        return {}

    async def _interrupt(self, _asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        await self.interrupt()
        return {}

    async def interrupt(self) -> None:
        """Interrupt the running code."""
        if self._process is not None:
            await self._process.interrupt()

    async def _answer_call(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        """Send the answer of one of the user's functions to the running code."""
        if self._connection is None:
            raise ValueError("there is no sandbox yet")
        await self._connection.answer(str(asked["type"]), asked["content"])
        return {}

    async def _reopen(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        if self._connection is None:
            raise ValueError("there is no sandbox yet")
        await self._connection.open_iopub(float(asked["timeout_s"]))
        return {}

    async def _send_kernel_info(self, identities: Frames, header: dict[str, Any]) -> None:
        """Answer `kernel_info_request`, which a gateway sends before it lets a client use the kernel."""
        info = {
            "status": "ok",
            "protocol_version": "5.4",
            "implementation": calls.IMPLEMENTATION,
            "implementation_version": installed_version(),
            "language_info": {"name": "python", "version": sys.version.split()[0], "mimetype": "text/x-python"},
            "banner": "",
        }
        await self._iopub_out.put(self._serialize("status", {"execution_state": "busy"}, header))
        await self._reply(identities, header, "kernel_info_reply", info)
        await self._iopub_out.put(self._serialize("status", {"execution_state": "idle"}, header))

    # --- from the sandbox ---------------------------------------------------------------------------

    def _from_shell(self, frames: Frames) -> None:
        self._running = max(0, self._running - 1)
        self._send_usage()
        _enqueue(self._shell_out, frames)

    def _from_iopub(self, frames: Frames) -> None:
        _enqueue(self._iopub_out, frames)

    def _send_usage(self) -> None:
        if self._watchdog is not None:
            usage = self._watchdog.measure()
            numbers = {
                name: getattr(usage, name) for name in ("memory_bytes", "resident_bytes", "threads", "processes")
            }
            self._send_event({"event": "usage", "peak_bytes": self._watchdog.peak_bytes, **numbers})

    def _on_limit_exceeded(self, why: str) -> None:
        self._send_event({"event": "excess", "why": why})
        if self._process is not None:
            self._process.kill()

    async def _watch_exit(self, process: SandboxProcess) -> None:
        await process.ended.wait()
        self._send_event(
            {"event": "ended", "why": f"its process ended ({format_exit_status(process.exit_status)})"}
        )

    def _send_event(self, content: dict[str, Any]) -> None:
        _enqueue(self._shell_out, [*self._client_identities, *self._serialize(calls.EVENT, content, {})])

    async def _reply(self, identities: Frames, header: dict[str, Any], kind: str, content: dict[str, Any]) -> None:
        await self._shell_out.put([*identities, *self._serialize(kind, content, header)])

    def _serialize(self, kind: str, content: dict[str, Any], parent: dict[str, Any]) -> Frames:
        message = self._session.msg(kind, content=content, parent={"header": parent} if parent else None)
        if not parent:
            message["parent_header"] = {}
        return self._session.serialize(message)


def _enqueue(queue: asyncio.Queue[Frames], frames: Frames) -> None:
    try:
        queue.put_nowait(frames)
    except asyncio.QueueFull:
        # The client cannot keep up with a flood. It notices lost messages: the reply does not come.
        return


async def _send_out(queue: asyncio.Queue[Frames], send: Callable[[Frames], Coroutine[Any, Any, None]]) -> None:
    while True:
        await send(await queue.get())


async def serve(connection_file: str | None, idle_timeout_s: float | None = None) -> None:
    """Serve one client, then remove everything."""
    loop = asyncio.get_running_loop()
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent, prefix=DIRECTORY_PREFIX, lock=DIRECTORY_LOCK)
    data_dir = Path(tempfile.mkdtemp(prefix=DIRECTORY_PREFIX, dir=parent))
    lock = lock_directory(data_dir, DIRECTORY_LOCK)
    try:
        transport: Transport = (
            KernelTransport(Path(connection_file)) if connection_file else await StdioTransport.open(idle_timeout_s)
        )
        relay = Relay(transport, data_dir)
        serving = asyncio.create_task(relay.run())
        loop.add_signal_handler(signal.SIGTERM, serving.cancel)
        loop.add_signal_handler(signal.SIGINT, lambda: asyncio.ensure_future(relay.interrupt()))
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await serving
        finally:
            await relay.end()
    finally:
        remove_directory(data_dir, DIRECTORY_LOCK, lock)


def main() -> None:
    """Run the relay; raise SystemExit with a line for the client, which displays the last line of stderr."""
    parser = argparse.ArgumentParser(prog=f"python -m {__spec__.name}", description=__doc__)
    parser.add_argument("connection_file", nargs="?", help="as a kernel; without it the standard streams are used")
    parser.add_argument("--idle-timeout", type=float, metavar="SECONDS", help="end after so long without a message")
    asked = parser.parse_args()
    try:
        asyncio.run(serve(asked.connection_file, asked.idle_timeout))
    except BrokenStreamError as problem:
        raise SystemExit(f"jupyter-codeagent relay: {problem}") from problem


if __name__ == "__main__":
    main()
