"""The client of a remote sandbox: a `Backend` over a `Link` to a relay. All that comes back may be forged."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from jupyter_codeagent.sandbox.backend import Listener
from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.local.channels.wire import MalformedMessageError, Received
from jupyter_codeagent.sandbox.local.watch.processes import Usage
from jupyter_codeagent.sandbox.remote import calls
from jupyter_codeagent.sandbox.remote.connectors import Connector
from jupyter_codeagent.sandbox.remote.link import Channel, Link
from jupyter_codeagent.types.errors import SandboxDiedError, SandboxUnavailableError
from jupyter_codeagent.types.sandbox import SandboxLevel, SandboxPolicy
from jupyter_codeagent.types.version import installed_version

START_TIMEOUT_S = 90.0
"""Longer than for a local sandbox: a container or a remote machine may be slow to start."""
CALL_TIMEOUT_S = 60.0
DROPPING_S = 3.0
"""How long a Jupyter server goes on dropping output after a flood (`rate_limit_window`); the next program's output
must not be lost with it."""
NO_USAGE = Usage(memory_bytes=0, threads=0, processes=0)


class RemoteBackend:
    """Implements `backend.Backend`."""

    def __init__(
        self,
        level: SandboxLevel,
        policy: SandboxPolicy,
        data_dir: Path,
        preload: Sequence[str],
        connector: Connector,
    ) -> None:
        self.level: SandboxLevel = level
        self.where = ""
        self.outer_layers: tuple[str, ...] = ()
        self.ended = asyncio.Event()
        self.exit_reason = "it ended"
        self.inner: SandboxLevel = "none"
        """The level that the relay has started; measured like any other."""
        self._policy = policy
        self._data_dir = data_dir
        self._preload = tuple(preload)
        self._connector = connector
        self._open_link: Link | None = None
        self._listener: Listener | None = None
        self._pending: dict[str, asyncio.Future[Mapping[str, Any]]] = {}
        self._started: Mapping[str, Any] = {}
        self._sent_files: list[str] = []
        """Files of copies that the relay has."""
        self._usage, self._peak_bytes = NO_USAGE, 0

    async def start(self) -> Mapping[str, Any]:
        host = await self._connector(self._policy)
        self.where, self._open_link = host.where, host.link
        await self._link.open(
            on_message=self._on_message, on_malformed=self._on_malformed, on_closed=self._on_closed
        )
        asked = {
            "version": installed_version(),
            "policy": calls.describe_policy(self._policy),
            "preload": list(self._preload),
        }
        try:
            self._started = await self._call("start", asked, timeout_s=START_TIMEOUT_S)
        except SandboxDiedError as problem:
            raise SandboxUnavailableError(str(problem)) from problem
        if self._started.get("level") not in calls.RELAY_LEVELS:
            raise SandboxUnavailableError("the relay does not tell which level it has started")
        if faults := host.find_faults(_object(self._started, "surroundings")):
            raise SandboxUnavailableError(f"it has {', '.join(faults)}, which it must not have")
        self.inner, self.outer_layers = self._started["level"], host.outer_layers
        return _object(self._started, "report")

    @property
    def _link(self) -> Link:
        if self._open_link is None:
            raise RuntimeError("the relay was not reached: start() comes first")
        return self._open_link

    async def connect(self, listener: Listener) -> None:
        """Set the listener; the channels are open since `start`."""
        self._listener = listener

    @contextlib.asynccontextmanager
    async def probe_targets(self) -> AsyncIterator[dict[str, Any]]:
        yield dict(_object(self._started, "targets"))
        await self._call("measured", {})

    def send(self, msg_type: str, content: dict[str, Any]) -> str:
        return self._link.send(msg_type, content)

    async def reopen_output(self, timeout_s: float) -> None:
        try:
            await self._call("reopen", {"timeout_s": timeout_s})
            await asyncio.sleep(DROPPING_S)
        except SandboxDiedError as problem:
            raise TimeoutError(str(problem)) from problem

    def begin_request(self, processor_s: float) -> None:
        """Start counting for a request, without waiting for the answer: messages keep their order."""
        self._peak_bytes = 0
        self._link.send(calls.REQUEST, {"call": "begin", "processor_s": processor_s})

    def usage(self) -> tuple[Usage, int]:
        """Return the usage as of the last reply."""
        return self._usage, self._peak_bytes

    async def provide_files(self, files: Sequence[str]) -> str:
        """Send files to the relay, each once, as they never change; drop there those that are gone here.

        A dropped file that the sandbox maps stays mapped without a name.
        """
        gone = [name for name in self._sent_files if not (self._data_dir / name).exists()]
        if gone:
            await self._call("drop", {"files": gone})
        self._sent_files = [name for name in self._sent_files if name not in gone]
        for name in files:
            if name not in self._sent_files:
                await self._send_file(name)
                self._sent_files.append(name)
        return str(self._started.get("data_dir", ""))

    async def _send_file(self, name: str) -> None:
        with (self._data_dir / name).open("rb") as file:
            offset = 0
            while (chunk := file.read(calls.CHUNK_BYTES)) or offset == 0:
                await self._call("put", {"file": name, "offset": offset}, [chunk])
                offset += len(chunk)
                if not chunk:
                    return

    async def answer(self, msg_type: str, content: dict[str, Any]) -> None:
        await self._call("answer", {"type": msg_type, "content": content})

    async def interrupt(self) -> None:
        self._link.send(calls.REQUEST, {"call": "interrupt"})

    def kill(self) -> None:
        if self._open_link is not None:
            self._open_link.kill()

    async def close(self) -> None:
        if self._open_link is not None:
            await self._open_link.close()
        self._fail_pending()

    # --- calls to the relay -------------------------------------------------------------------------

    async def _call(
        self,
        call: str,
        asked: Mapping[str, Any],
        buffers: Sequence[bytes] = (),
        *,
        timeout_s: float = CALL_TIMEOUT_S,
    ) -> Mapping[str, Any]:
        """Call the relay and return its answer; raise SandboxDiedError if it refuses or does not answer."""
        if self.ended.is_set():
            raise SandboxDiedError(f"The sandbox is gone: {self.exit_reason}.")
        sent = self._link.send(calls.REQUEST, {"call": call, **asked}, buffers)
        answer: asyncio.Future[Mapping[str, Any]] = asyncio.get_running_loop().create_future()
        self._pending[sent] = answer
        try:
            async with asyncio.timeout(timeout_s):
                content = await answer
        except TimeoutError:
            raise SandboxDiedError(f"The relay did not answer {call!r} within {timeout_s:g} s.") from None
        finally:
            self._pending.pop(sent, None)
        if content.get("ok") is not True:
            raise SandboxDiedError(f"The relay failed: {one_line(content.get('error'), 500)}")
        return content

    def _on_message(self, channel: Channel, received: Received) -> None:
        if received.msg_type == calls.REPLY:
            self._on_reply(received)
        elif received.msg_type == calls.EVENT:
            self._on_event(received)
        elif self._listener is not None:
            (self._listener.on_shell if channel == "shell" else self._listener.on_iopub)(received)

    def _on_reply(self, received: Received) -> None:
        answer = self._pending.get(received.parent_id)
        if answer is None or answer.done():
            return  # the answer to a call that nobody waits for, such as `begin`
        try:
            answer.set_result(received.parsed())
        except MalformedMessageError as problem:
            answer.set_result({"ok": False, "error": str(problem)})

    def _on_event(self, received: Received) -> None:
        try:
            content = received.parsed()
        except MalformedMessageError:
            self._on_malformed()
            return
        why = one_line(content.get("why"), 300)
        if content.get("event") == "usage":
            self._update_usage(content)
        elif content.get("event") == "ended":
            self._set_ended(why)
        elif self._listener is not None and content.get("event") == "oversized":
            self._listener.on_oversized("shell" if content.get("channel") == "shell" else "iopub")
        elif self._listener is not None and content.get("event") == "excess":
            self._listener.on_limit_exceeded(why)
        elif self._listener is not None and content.get("event") == "processors":
            self._listener.on_cpu_limit(why)

    def _update_usage(self, content: Mapping[str, Any]) -> None:
        count = {name: value for name, value in content.items() if type(value) is int and value >= 0}
        self._peak_bytes = max(self._peak_bytes, count.get("peak_bytes", 0))
        self._usage = Usage(
            memory_bytes=count.get("memory_bytes", 0),
            resident_bytes=count.get("resident_bytes", 0),
            threads=count.get("threads", 0),
            processes=count.get("processes", 0),
        )

    def _on_malformed(self) -> None:
        if self._listener is not None:
            self._listener.on_malformed()

    def _on_closed(self, why: str) -> None:
        self._set_ended(why)

    def _set_ended(self, why: str) -> None:
        if not self.ended.is_set():
            self.exit_reason = why or self.exit_reason
            self.ended.set()
        self._fail_pending()

    def _fail_pending(self) -> None:
        for answer in self._pending.values():
            if not answer.done():
                answer.set_result({"ok": False, "error": self.exit_reason})


def _object(content: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = content.get(name)
    if not isinstance(found, dict):
        raise SandboxUnavailableError(f"the relay's answer has no {name}")
    return cast("Mapping[str, Any]", found)
