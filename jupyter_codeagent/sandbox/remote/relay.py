"""The far side: starts a sandbox on the machine where it runs, and passes messages between it and the near side.

``python -m jupyter_codeagent.sandbox.remote.relay`` speaks on its standard streams (in a container, over ssh);
``… relay CONNECTION_FILE`` is a kernel for a gateway. Either way it ends, and the sandbox with it, as soon as the
near side is gone. The package must be installed here in the same version; no data and no code is here before it is
sent.
"""

from __future__ import annotations

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

from jupyter_codeagent.sandbox.local.backend import put_up_targets
from jupyter_codeagent.sandbox.local.channels.connection import Connection
from jupyter_codeagent.sandbox.local.walls.process import SandboxProcess
from jupyter_codeagent.sandbox.local.watch.processes import ending_in_words
from jupyter_codeagent.sandbox.local.watch.watchdog import Watchdog
from jupyter_codeagent.sandbox.owned_directory import lock_directory, remove_abandoned, remove_directory
from jupyter_codeagent.sandbox.remote import calls, host_facts
from jupyter_codeagent.sandbox.remote.framing import BrokenStreamError
from jupyter_codeagent.sandbox.remote.transports import Front, KernelFront, StdioFront
from jupyter_codeagent.types.errors import CodeAgentError
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.version import installed_version

CONNECT_TIMEOUT_S = 10.0
PREFIX, LOCK = "codeagent-relay-", "owner.lock"
Frames = list[bytes]


class Relay:
    """One sandbox for one near side; lives in one event loop, on the main thread."""

    def __init__(self, front: Front, data_dir: Path) -> None:
        self._front = front
        self._data_dir = data_dir
        self._session = Session(key=front.key)
        self._process: SandboxProcess | None = None
        self._connection: Connection[Frames] | None = None
        self._watchdog: Watchdog | None = None
        self._tasks: list[asyncio.Task[Any]] = []
        self._targets = contextlib.ExitStack()
        self._shell_out: asyncio.Queue[Frames] = asyncio.Queue(maxsize=1024)
        """Not shared with outputs: a flood of them is not to cost a reply, and with it the sandbox."""
        self._iopub_out: asyncio.Queue[Frames] = asyncio.Queue(maxsize=64)
        self._near: Frames = []
        """Identities of the near side, where the front has more than one peer."""
        self._running = 0
        """Requests that are in the sandbox and not answered."""

    async def run(self) -> None:
        """Until the near side is gone. May be cancelled; then comes `end`."""
        self._tasks += [
            asyncio.create_task(_send_out(self._shell_out, self._front.send_shell), name="relay shell"),
            asyncio.create_task(_send_out(self._iopub_out, self._front.send_iopub), name="relay iopub"),
        ]
        while (frames := await self._front.receive()) is not None and await self._take(frames):
            pass

    async def end(self) -> None:
        """Kill the sandbox and remove what it had."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._targets.close()
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            await self._process.close()
        self._front.close()

    # --- from the near side -------------------------------------------------------------------------

    async def _take(self, frames: Frames) -> bool:
        """Whether to go on."""
        at = frames.index(DELIM)
        identities, (signature, header, parent, metadata, content, *buffers) = frames[:at], frames[at + 1 :]
        if signature != self._session.sign([header, parent, metadata, content]):
            raise BrokenStreamError("a message with a wrong signature")
        told = json.loads(header)
        kind = told["msg_type"]
        if kind == calls.REQUEST:
            self._near = identities
            await self._answer(identities, told, json.loads(content), buffers)
        elif kind == "kernel_info_request":
            await self._introduce(identities, told)
        elif kind == "interrupt_request":
            await self.interrupt()
            await self._reply(identities, told, "interrupt_reply", {"status": "ok"})
        elif kind == "shutdown_request":
            self._tell({"event": "ended", "why": "the gateway has ended it"})
            await self._reply(identities, told, "shutdown_reply", {"status": "ok", "restart": False})
            await asyncio.sleep(0.05)  # the reply is to be out before the sockets close
            return False
        elif self._connection is not None:
            self._running += 1
            self._connection.forward(frames)
        return True

    async def _answer(
        self, identities: Frames, header: dict[str, Any], asked: dict[str, Any], buffers: Frames
    ) -> None:
        doers: dict[str, Callable[[dict[str, Any], Frames], Coroutine[Any, Any, dict[str, Any]]]] = {
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
            answer = {"ok": True, **await doers[asked["call"]](asked, buffers)}
        except (CodeAgentError, OSError, TimeoutError, KeyError, TypeError, ValueError, RuntimeError) as problem:
            answer = {"ok": False, "error": str(problem) or type(problem).__name__}
        await self._reply(identities, header, calls.REPLY, answer)

    async def _start(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        """The first level that starts; whether its promises hold is measured by the near side."""
        if asked["version"] != installed_version():
            raise ValueError(
                f"jupyter-codeagent is {asked['version']} here and {installed_version()} there:"
                " they have to be the same"
            )
        if self._process is not None:
            raise ValueError("this relay has its sandbox already")
        policy = calls.policy_from(asked["policy"])
        failures = []
        for level in calls.FAR_LEVELS:
            process = SandboxProcess(level, policy, self._data_dir, [str(name) for name in asked["preload"]])
            process.manager.session.key = self._front.key  # messages pass as they are, signatures included
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
                "surroundings": host_facts.look(),
                "targets": self._targets.enter_context(put_up_targets(process)),
            }
        raise ValueError(f"no sandbox works there ({'; '.join(failures)})")

    async def _connect(self, process: SandboxProcess, policy: SandboxPolicy) -> None:
        self._watchdog = Watchdog(
            process.provisioner,
            policy,
            scratch=process.directory.scratch,
            is_busy=lambda: self._running > 0,
            on_excess=self._exceeded,
            on_busy_processors=lambda why: self._tell({"event": "processors", "why": why}),
        )
        self._connection = Connection(
            process.manager,
            max_bytes=policy.message_bytes,
            read=list,
            on_shell=self._from_shell,
            on_iopub=self._from_iopub,
            on_malformed=lambda: None,  # nothing is parsed here
            on_oversized=lambda channel: self._tell({"event": "oversized", "channel": channel}),
        )
        self._tasks.append(asyncio.create_task(self._watchdog.run(), name="relay watchdog"))
        self._tasks.append(asyncio.create_task(self._notice_end(process), name="relay end"))
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
            self._watchdog.let_map([path])
        return {"size_bytes": offset}

    async def _drop(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        for name in asked["files"]:
            self._file(name).unlink(missing_ok=True)
        return {}

    def _file(self, name: object) -> Path:
        if not isinstance(name, str) or not calls.FILE.fullmatch(name):
            raise ValueError(f"{name!r} is no file of copies")
        return self._data_dir / name

    async def _begin(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        if self._watchdog is not None:
            self._watchdog.wake(float(asked["processor_s"]))
        return {}

    async def _alive(self, _asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        return {}

    async def _interrupt(self, _asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        await self.interrupt()
        return {}

    async def interrupt(self) -> None:
        if self._process is not None:
            await self._process.interrupt()

    async def _answer_call(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        """Of one of the user's functions, for the code that is running."""
        if self._connection is None:
            raise ValueError("there is no sandbox yet")
        await self._connection.answer(str(asked["type"]), asked["content"])
        return {}

    async def _reopen(self, asked: dict[str, Any], _buffers: Frames) -> dict[str, Any]:
        if self._connection is None:
            raise ValueError("there is no sandbox yet")
        await self._connection.open_iopub(float(asked["timeout_s"]))
        return {}

    async def _introduce(self, identities: Frames, header: dict[str, Any]) -> None:
        """What a gateway wants to hear before it lets anybody speak to the kernel."""
        info = {
            "status": "ok",
            "protocol_version": "5.4",
            "implementation": calls.IMPLEMENTATION,
            "implementation_version": installed_version(),
            "language_info": {"name": "python", "version": sys.version.split()[0], "mimetype": "text/x-python"},
            "banner": "",
        }
        await self._iopub_out.put(self._made("status", {"execution_state": "busy"}, header))
        await self._reply(identities, header, "kernel_info_reply", info)
        await self._iopub_out.put(self._made("status", {"execution_state": "idle"}, header))

    # --- from the sandbox ---------------------------------------------------------------------------

    def _from_shell(self, frames: Frames) -> None:
        self._running = max(0, self._running - 1)
        self._tell_usage()
        _put(self._shell_out, frames)

    def _from_iopub(self, frames: Frames) -> None:
        _put(self._iopub_out, frames)

    def _tell_usage(self) -> None:
        if self._watchdog is not None:
            usage = self._watchdog.look()
            told = {
                name: getattr(usage, name) for name in ("memory_bytes", "resident_bytes", "threads", "processes")
            }
            self._tell({"event": "usage", "peak_bytes": self._watchdog.peak_bytes, **told})

    def _exceeded(self, why: str) -> None:
        self._tell({"event": "excess", "why": why})
        if self._process is not None:
            self._process.kill()

    async def _notice_end(self, process: SandboxProcess) -> None:
        await process.ended.wait()
        self._tell({"event": "ended", "why": f"its process ended ({ending_in_words(process.exit_status)})"})

    def _tell(self, content: dict[str, Any]) -> None:
        _put(self._shell_out, [*self._near, *self._made(calls.EVENT, content, {})])

    async def _reply(self, identities: Frames, header: dict[str, Any], kind: str, content: dict[str, Any]) -> None:
        await self._shell_out.put([*identities, *self._made(kind, content, header)])

    def _made(self, kind: str, content: dict[str, Any], parent: dict[str, Any]) -> Frames:
        message = self._session.msg(kind, content=content, parent={"header": parent} if parent else None)
        if not parent:
            message["parent_header"] = {}
        return self._session.serialize(message)


def _put(queue: asyncio.Queue[Frames], frames: Frames) -> None:
    try:
        queue.put_nowait(frames)
    except asyncio.QueueFull:
        # The near side does not keep up with a flood. What is lost is noticed there: the reply does not come.
        return


async def _send_out(queue: asyncio.Queue[Frames], send: Callable[[Frames], Coroutine[Any, Any, None]]) -> None:
    while True:
        await send(await queue.get())


async def serve(connection_file: str | None) -> None:
    """Serve one near side, then remove everything."""
    loop = asyncio.get_running_loop()
    parent = Path(tempfile.gettempdir())
    remove_abandoned(parent, prefix=PREFIX, lock=LOCK)
    data_dir = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    lock = lock_directory(data_dir, LOCK)
    try:
        front: Front = KernelFront(Path(connection_file)) if connection_file else await StdioFront.open()
        relay = Relay(front, data_dir)
        serving = asyncio.create_task(relay.run())
        loop.add_signal_handler(signal.SIGTERM, serving.cancel)
        loop.add_signal_handler(signal.SIGINT, lambda: asyncio.ensure_future(relay.interrupt()))
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await serving
        finally:
            await relay.end()
    finally:
        remove_directory(data_dir, LOCK, lock)


def main() -> None:
    """Raises SystemExit with a line for the near side, which shows the last one of stderr."""
    try:
        asyncio.run(serve(sys.argv[1] if len(sys.argv) > 1 else None))
    except BrokenStreamError as problem:
        raise SystemExit(f"jupyter-codeagent relay: {problem}") from problem


if __name__ == "__main__":
    main()
