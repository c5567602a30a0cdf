"""Messages on a gateway's websocket, gateways that are not what they should be, the relay's sockets as a kernel."""

from __future__ import annotations

import asyncio
import json
import struct
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import zmq
import zmq.asyncio
from hypothesis import given
from hypothesis import strategies as st
from jupyter_client.connect import write_connection_file
from jupyter_server.services.kernels.connection import base
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from jupyter_codeagent.sandbox.local.channels.wire import MAX_HEADER_BYTES, MalformedMessageError, Received
from jupyter_codeagent.sandbox.remote import calls, gateway, kernelspec
from jupyter_codeagent.sandbox.remote.gateway import GatewayLink
from jupyter_codeagent.sandbox.remote.gateway_api import checked_token, checked_url
from jupyter_codeagent.sandbox.remote.transports import KernelTransport
from jupyter_codeagent.sandbox.remote.websocket_messages import (
    MAX_JSON_FORMAT_BYTES,
    V1,
    MessageFormat,
    message_format,
)
from jupyter_codeagent.types.errors import SandboxUnavailableError

jupyter_server: Any = base
"""As a real server writes and reads them; it has no types."""
BOTH: list[str | None] = [V1, None]
PARTS = (b'{"msg_type":"a_type","msg_id":"1"}', b'{"msg_id":"0"}', b"{}", b'{"x":"\xc3\xa4"}')
TOKEN = "the-token-of-the-user"


def as_dict(channel: str, buffers: Sequence[bytes]) -> dict[str, Any]:
    names = ("header", "parent_header", "metadata", "content")
    fields = {name: json.loads(part) for name, part in zip(names, PARTS, strict=True)}
    return {**fields, "channel": channel, "buffers": list(buffers)}


# --- messages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("buffers", [(), (b"",), (b"one", b"", b"three")])
def test_a_jupyter_server_reads_what_is_sent(buffers: tuple[bytes, ...]) -> None:
    channel, parts = jupyter_server.deserialize_msg_from_ws_v1(message_format(V1).pack("shell", PARTS, buffers))
    assert (channel, parts) == ("shell", [*PARTS, *buffers])
    older = message_format(None).pack("shell", PARTS, buffers)
    read = json.loads(older) if isinstance(older, str) else jupyter_server.deserialize_binary_message(older)
    assert isinstance(older, bytes) == bool(buffers)
    assert read == as_dict("shell", buffers)


@pytest.mark.parametrize("buffers", [(), (b"",), (b"one", b"", b"three")])
def test_what_a_jupyter_server_sends_is_read(buffers: tuple[bytes, ...]) -> None:
    newer = jupyter_server.serialize_msg_to_ws_v1([*PARTS, *buffers], "iopub")
    message = as_dict("iopub", buffers)
    older = jupyter_server.serialize_binary_message(message) if buffers else json.dumps(message)
    for subprotocol, data in ((V1, newer), (None, older)):
        channel, received = message_format(subprotocol).read(data)
        assert channel == "iopub"
        assert (received.msg_type, received.parent_id) == ("a_type", "0")
        assert received.parsed() == {"x": "ä"}
        assert [bytes(buffer) for buffer in received.buffers] == list(buffers)


@pytest.mark.parametrize("subprotocol", BOTH)
def test_what_was_packed_is_read_again_the_same(subprotocol: str | None) -> None:
    either = message_format(subprotocol)
    channel, received = either.read(either.pack("shell", PARTS, [memoryview(b"data")]))
    assert (channel, received.parsed(), bytes(received.buffers[0])) == ("shell", {"x": "ä"}, b"data")


@pytest.mark.parametrize("subprotocol", BOTH)
@given(data=st.binary(max_size=200) | st.text(max_size=200))
def test_bytes_of_any_kind_are_a_message_or_malformed(subprotocol: str | None, data: bytes | str) -> None:
    with pytest.raises(MalformedMessageError):
        message_format(subprotocol).read(data)


@pytest.mark.parametrize("subprotocol", BOTH)
@given(position=st.integers(0, 10**6), value=st.integers(0, 255))
def test_a_message_with_one_byte_changed_is_read_or_malformed(
    subprotocol: str | None, position: int, value: int
) -> None:
    data = message_format(subprotocol).pack("iopub", PARTS, [b"buffer"])
    assert isinstance(data, bytes)
    position %= len(data)
    changed = data[:position] + bytes([value]) + data[position + 1 :]
    try:
        _, received = message_format(subprotocol).read(changed)
    except MalformedMessageError:
        return
    assert received.size_bytes <= len(data)
    assert isinstance(received.content, bytes)


def older(**fields: Any) -> str:
    return json.dumps({**as_dict("iopub", ()), **fields})


def newer(*parts: bytes, channel: str = "iopub") -> bytes:
    return bytes(jupyter_server.serialize_msg_to_ws_v1([*parts, *PARTS[len(parts) :]], channel))


HUGE_OFFSETS = struct.pack("<7Q", 6, 56, 61, 1 << 62, 1 << 62, 1 << 62, 1 << 62) + b"iopub"
BACKWARDS = struct.pack("<7Q", 6, 56, 61, 58, 61, 61, 61) + b"iopub"
MANY = struct.pack("<Q", 1 << 63)


def with_offset(position: int, value: int) -> bytes:
    """A message in which only this offset is wrong: channel, four parts and end are 0 to 5."""
    data = newer()
    return data[: 8 * (position + 1)] + struct.pack("<Q", value) + data[8 * (position + 2) :]


@pytest.mark.parametrize(
    ("subprotocol", "data"),
    [
        (V1, HUGE_OFFSETS),
        (V1, BACKWARDS),
        (V1, MANY),
        (V1, newer() + b"behind"),
        (V1, with_offset(0, 8)),
        (V1, with_offset(4, 1 << 40)),
        (V1, with_offset(5, len(newer()) - 1)),
        (None, struct.pack(">2I", 1, 9) + b" " + older().encode()),
        (None, struct.pack(">3I", 2, 12, 1 << 20) + older().encode()),
        (V1, struct.pack("<Q", 65) + bytes(8 * 65)),
        (V1, "text"),
        (V1, newer(b"[]")),
        (V1, newer(b"{}")),
        (V1, newer(b'{"msg_type": 1}')),
        (V1, newer(b'{"msg_type": "' + b"a" * 41 + b'"}')),
        (V1, newer(b'{"msg_type": "a", "x": "' + b" " * MAX_HEADER_BYTES + b'"}')),
        (V1, newer(PARTS[0], b"[" * 50_000)),
        (V1, newer(b"\xff\xfe{}")),
        (None, "[" * 100_000),
        (None, "1" * 100_000),
        (None, older(content="text")),
        (None, older(content=None)),
        (None, older(channel=None)),
        (None, older(header=None)),
        (None, older(header={"msg_type": ["a"]})),
        (None, older(content={"x": " " * MAX_JSON_FORMAT_BYTES})),
        (None, struct.pack(">2I", 1, 1 << 31) + b"{}"),
        (None, struct.pack(">I", 1 << 31)),
        (None, struct.pack(">2I", 0, 0)),
    ],
)
def test_hostile_messages_are_malformed(subprotocol: str | None, data: bytes | str) -> None:
    with pytest.raises(MalformedMessageError):
        message_format(subprotocol).read(data)


@pytest.mark.parametrize("parent", [None, [], {"msg_id": 1}, {"msg_id": {}}])
def test_a_message_with_a_strange_parent_belongs_to_no_request(parent: Any) -> None:
    _, received = message_format(None).read(older(parent_header=parent))
    assert received.parent_id == ""


# --- addresses and tokens ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "gateway:8888",
        "ftp://gateway",
        "https://",
        "https://gateway:99999",
        "https://user:secret@gateway",
        "https://gateway/?token=secret",
        "https://gateway/#secret",
        "",
    ],
)
def test_an_address_that_cannot_be_one_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(SandboxUnavailableError, match="gateway's address") as refused:
        checked_url(url)
    assert "secret" not in str(refused.value)


def test_an_address_may_have_a_base_path_and_a_slash_at_its_end() -> None:
    assert checked_url("https://gateway:8888/base/") == "https://gateway:8888/base"


def test_a_token_no_header_can_hold_is_refused_without_showing_it() -> None:
    assert checked_token(" abc\n") == "abc"
    with pytest.raises(SandboxUnavailableError, match="token") as refused:
        checked_token("sec\r\nret")
    assert "sec" not in str(refused.value)


# --- a gateway that is not what it should be ---------------------------------------------------------


class FakeGateway:
    """What the handlers below answer with, and what they were asked."""

    def __init__(self) -> None:
        self.specs: tuple[int, str] = (200, json.dumps({"kernelspecs": {kernelspec.NAME: {}}}))
        self.started: tuple[int, str] = (201, json.dumps({"id": "k-1"}))
        self.ended: list[int] = []
        """Statuses of the answers to DELETE, before 204."""
        self.start_delay_s = 0.0
        self.location = ""
        self.implementation = calls.IMPLEMENTATION
        self.subprotocol: str | None = V1
        self.asked: list[tuple[str, str]] = []
        self.headers: list[str] = []
        self.websocket: Channels | None = None
        self.answer_calls = True
        self.calls = 0
        self.answer_hello = True
        self.url = ""

    @property
    def message_format(self) -> MessageFormat:
        return message_format(self.subprotocol)

    def message(self, msg_type: str, parent_id: str, content: bytes, channel: str = "iopub") -> bytes | str:
        header = json.dumps({"msg_type": msg_type, "msg_id": "1"}).encode()
        parent = json.dumps({"msg_id": parent_id} if parent_id else {}).encode()
        return self.message_format.pack(channel, [header, parent, b"{}", content], [])


class Rest(RequestHandler):
    def initialize(self, gateway: FakeGateway) -> None:
        self.fake = gateway

    async def answer(self) -> None:
        self.fake.asked.append((self.request.method or "", self.request.uri or ""))
        self.fake.headers.append(self.request.headers.get("Authorization", ""))
        if self.request.method == "DELETE":
            self.set_status(self.fake.ended.pop(0) if self.fake.ended else 204)
            return
        if self.request.method == "POST":
            await asyncio.sleep(self.fake.start_delay_s)
        status, body = self.fake.started if self.request.method == "POST" else self.fake.specs
        self.set_status(status)
        if self.fake.location:
            self.set_header("Location", self.fake.location)
        self.write(body)

    get = post = delete = answer


class Channels(WebSocketHandler):
    def initialize(self, gateway: FakeGateway) -> None:
        self.fake = gateway

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        return self.fake.subprotocol if self.fake.subprotocol in subprotocols else None

    def open(self, *_: str, **__: str) -> None:
        self.fake.websocket = self
        self.fake.headers.append(self.request.headers.get("Authorization", ""))

    def on_message(self, message: str | bytes) -> None:
        data = message
        if isinstance(data, bytes):
            _, parts = jupyter_server.deserialize_msg_from_ws_v1(data)
            header = json.loads(parts[0])
        else:
            header = json.loads(data)["header"]
        if header["msg_type"] == "kernel_info_request" and self.fake.answer_hello:
            info = json.dumps({"implementation": self.fake.implementation}).encode()
            self.put("kernel_info_reply", header["msg_id"], info, "shell")
            self.put("status", header["msg_id"], b'{"execution_state": "idle"}')
        elif header["msg_type"] == calls.REQUEST:
            self.fake.calls += 1
            if self.fake.answer_calls:
                self.put(calls.REPLY, header["msg_id"], b'{"ok": true}', "shell")

    def put(self, msg_type: str, parent_id: str, content: bytes, channel: str = "iopub") -> None:
        data = self.fake.message(msg_type, parent_id, content, channel)
        self.write_message(data, binary=isinstance(data, bytes))


class LinkLog:
    """Messages and events of a link."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, Received]] = []
        self.malformed = 0
        self.closed: list[str] = []
        self.changed = asyncio.Event()

    async def open(self, link: GatewayLink) -> None:
        await link.open(on_message=self._message, on_malformed=self._malformed, on_closed=self._closed)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                self.changed.clear()
                await self.changed.wait()

    def _message(self, channel: str, received: Received) -> None:
        self.messages.append((channel, received))
        self.changed.set()

    def _malformed(self) -> None:
        self.malformed += 1
        self.changed.set()

    def _closed(self, why: str) -> None:
        self.closed.append(why)
        self.changed.set()


@asynccontextmanager
async def serving(fake: FakeGateway) -> AsyncIterator[FakeGateway]:
    rules = [
        (r"/api/kernels/[^/]+/channels", Channels, {"gateway": fake}),
        (r"/.*", Rest, {"gateway": fake}),
    ]
    listener, port = bind_unused_port()
    server = HTTPServer(Application(rules))
    server.add_socket(listener)
    fake.url = f"http://127.0.0.1:{port}"
    try:
        yield fake
    finally:
        server.stop()
        await server.close_all_connections()


@asynccontextmanager
async def opened(fake: FakeGateway, **options: Any) -> AsyncIterator[tuple[GatewayLink, LinkLog]]:
    async with serving(fake):
        link = GatewayLink(fake.url, token=TOKEN, **{"max_bytes": 1 << 20, "open_timeout_s": 30.0, **options})
        log = LinkLog()
        try:
            await log.open(link)
            yield link, log
        finally:
            await link.close()
            await link.close()


async def open_and_close(fake: FakeGateway, **options: Any) -> None:
    async with opened(fake, **options):
        pass


def refused(fake: FakeGateway, **options: Any) -> str:
    with pytest.raises(SandboxUnavailableError) as problem:
        asyncio.run(open_and_close(fake, **options))
    assert TOKEN not in str(problem.value)
    return str(problem.value)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, "<html>log in</html>", "instead of JSON"),
        (200, "[" * 100_000, "instead of JSON"),
        (200, "[]", "no JSON object"),
        (200, '{"kernelspecs": []}', "no list of kernelspecs"),
        (200, '{"kernelspecs": {"python3": {}}}', "python3"),
        (401, "{}", "refuses the token"),
        (403, "{}", "refuses the token"),
        (404, "nothing", "base path"),
        (500, json.dumps({"message": f"broken for {TOKEN}"}), "failed (HTTP 500: broken for ***)"),
        (502, "<html>", "failed (HTTP 502)"),
        (418, "{}", "refuses (HTTP 418)"),
    ],
)
def test_a_gateway_that_answers_something_else_is_told(status: int, body: str, words: str) -> None:
    fake = FakeGateway()
    fake.specs = (status, body)
    assert words in refused(fake)


def test_no_token_where_one_is_wanted_is_told() -> None:
    fake = FakeGateway()
    fake.specs = (403, "{}")

    async def work() -> None:
        async with serving(fake):
            link = GatewayLink(fake.url, token="", max_bytes=1)
            try:
                await LinkLog().open(link)
            finally:
                await link.close()

    with pytest.raises(SandboxUnavailableError, match="wants a token"):
        asyncio.run(work())


def test_a_redirect_is_told_and_not_followed() -> None:
    fake = FakeGateway()
    fake.specs, fake.location = (302, ""), f"/elsewhere?{TOKEN}"
    assert "redirects to /elsewhere?***" in refused(fake)
    assert len(fake.asked) == 1


@pytest.mark.parametrize("kernel_id", ["../../api/shutdown", "a/b", "", 1, None, "x" * 65, "a?b"])
def test_an_id_that_would_lead_elsewhere_is_refused(kernel_id: Any) -> None:
    fake = FakeGateway()
    fake.started = (201, json.dumps({"id": kernel_id}))
    assert "no id of a kernel" in refused(fake)
    assert all(method != "DELETE" for method, _ in fake.asked)


def test_the_token_is_sent_in_the_header_only() -> None:
    fake = FakeGateway()
    asyncio.run(open_and_close(fake))
    assert len(fake.headers) == 4, "list, start, websocket, end"
    assert set(fake.headers) == {f"token {TOKEN}"}
    assert TOKEN not in str(fake.asked)


def test_a_kernel_that_starts_too_late_is_ended_all_the_same() -> None:
    fake = FakeGateway()
    fake.start_delay_s = 1.0

    async def work() -> None:
        async with asyncio.timeout(0.5):
            await open_and_close(fake)

    with pytest.raises(TimeoutError):
        asyncio.run(work())
    assert ("DELETE", "/api/kernels/k-1") in fake.asked


def test_a_gateway_that_does_not_answer_in_time_is_told() -> None:
    fake = FakeGateway()
    fake.start_delay_s = 5.0
    assert "did not answer POST /api/kernels within" in refused(fake, open_timeout_s=0.5)


def test_a_kernel_that_never_answers_is_told_and_ended() -> None:
    fake = FakeGateway()
    fake.answer_hello = False
    assert "did not answer within 0.5 s" in refused(fake, open_timeout_s=0.5)
    assert ("DELETE", "/api/kernels/k-1") in fake.asked


def test_a_kernel_that_is_no_relay_is_refused_and_ended() -> None:
    fake = FakeGateway()
    fake.implementation = "ipython"
    assert "no sandbox relay but 'ipython'" in refused(fake)
    assert ("DELETE", "/api/kernels/k-1") in fake.asked


@pytest.mark.parametrize("subprotocol", BOTH)
def test_messages_pass_and_malformed_ones_are_counted(subprotocol: str | None) -> None:
    fake = FakeGateway()
    fake.subprotocol = subprotocol

    async def work() -> None:
        async with opened(fake) as (_, log):
            assert fake.websocket is not None
            fake.websocket.write_message("no message")
            fake.websocket.write_message(b"no message", binary=True)
            fake.websocket.put("input_request", "1", b"{}", "stdin")
            fake.websocket.put("stream", "request", b'{"text": "x"}')
            await log.until(lambda: bool(log.messages))
            assert log.malformed == 3
            ((channel, received),) = log.messages
            assert (channel, received.msg_type, received.parent_id) == ("iopub", "stream", "request")
            assert received.parsed() == {"text": "x"}

    asyncio.run(work())


@pytest.mark.parametrize("state", ["restarting", "autorestarting", "dead"])
def test_a_restart_of_the_kernel_is_the_end_and_the_new_one_is_ended(state: str) -> None:
    fake = FakeGateway()

    async def work() -> None:
        async with opened(fake) as (_, log):
            assert fake.websocket is not None
            fake.websocket.put("status", "", json.dumps({"execution_state": state}).encode())
            fake.websocket.put("stream", "request", b"{}")
            await log.until(lambda: bool(log.closed))
            assert log.messages == [], "what comes later is of another kernel"
            async with asyncio.timeout(30):
                while not ends(fake):  # noqa: ASYNC110  (without being closed)
                    await asyncio.sleep(0.01)
        assert log.closed == ["its process at the gateway ended"]

    asyncio.run(work())


def test_a_status_of_a_request_is_no_end_of_the_kernel() -> None:
    fake = FakeGateway()

    async def work() -> None:
        async with opened(fake) as (_, log):
            assert fake.websocket is not None
            fake.websocket.put("status", "request", b'{"execution_state": "dead"}')
            await log.until(lambda: bool(log.messages))
            assert log.closed == []

    asyncio.run(work())


def test_a_message_over_the_limit_ends_the_connection() -> None:
    fake = FakeGateway()

    async def work() -> None:
        async with opened(fake, max_bytes=1000) as (_, log):
            assert fake.websocket is not None
            fake.websocket.put("stream", "request", b" " * 500_000)
            await log.until(lambda: bool(log.closed))
            assert log.messages == []
            assert "a message over" in log.closed[0]

    asyncio.run(work())


def test_a_close_by_the_gateway_is_told_once_with_its_reason() -> None:
    fake = FakeGateway()

    async def work() -> None:
        async with opened(fake) as (link, log):
            assert fake.websocket is not None
            fake.websocket.close(1001, "going away")
            await log.until(lambda: bool(log.closed))
            assert link.send("execute_request", {}), "a message that cannot be sent any more raises nothing"
        assert log.closed == ["the gateway closed the connection (code 1001: going away)"]

    asyncio.run(work())


@pytest.mark.parametrize("answers", [True, False])
def test_a_relay_that_shows_no_life_is_gone(answers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "HEARTBEAT_INTERVAL_S", 0.3)
    fake = FakeGateway()
    fake.answer_calls = answers

    async def work() -> None:
        async with opened(fake) as (_, log):
            if answers:
                async with asyncio.timeout(30):
                    while fake.calls <= 2 * gateway.MAX_UNANSWERED:  # noqa: ASYNC110  (the other side counts)
                        await asyncio.sleep(0.01)
                assert log.closed == []
                assert log.messages == [], "answers to heartbeats are not passed on"
            else:
                await log.until(lambda: bool(log.closed))
                assert "has not answered" in log.closed[0]

    asyncio.run(work())


def ends(fake: FakeGateway) -> int:
    return fake.asked.count(("DELETE", "/api/kernels/k-1"))


def test_an_end_that_fails_at_the_gateway_is_asked_for_again() -> None:
    fake = FakeGateway()
    fake.ended = [500, 503]
    asyncio.run(open_and_close(fake))
    assert ends(fake) == 3


@pytest.mark.parametrize("statuses", [[403], [500] * 100])
def test_an_end_that_is_not_confirmed_is_told_in_the_log(
    statuses: list[int], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateway, "END_TIMEOUT_S", 1.0)
    fake = FakeGateway()
    fake.ended = list(statuses)
    asyncio.run(open_and_close(fake))
    assert "is not known to have ended" in caplog.text
    assert TOKEN not in caplog.text


# --- the relay's sockets -----------------------------------------------------------------------------


@asynccontextmanager
async def kernel_transport(
    directory: Path, idle_timeout_s: float = 60.0
) -> AsyncIterator[tuple[KernelTransport, Callable[..., Any]]]:
    """With a way to make a gateway's sockets, which have the same identity on all channels."""
    path, wanted = write_connection_file(str(directory / "kernel.json"), key=b"key")
    info = dict(wanted)
    transport = KernelTransport(Path(path), idle_timeout_s=idle_timeout_s)
    context = zmq.asyncio.Context()
    context.setsockopt(zmq.LINGER, 0)

    def connected(channel: str, kind: int = zmq.DEALER) -> Any:
        made = context.socket(kind)
        made.setsockopt(zmq.IDENTITY, b"gateway")
        made.connect(f"tcp://127.0.0.1:{info[f'{channel}_port']}")
        return made

    try:
        yield transport, connected
    finally:
        transport.close()
        context.destroy(linger=0)


def test_each_reply_goes_back_by_the_channel_of_its_request(tmp_path: Path) -> None:
    async def work() -> None:
        async with kernel_transport(tmp_path) as (transport, connected), asyncio.timeout(30):
            control, shell = connected("control"), connected("shell")
            await control.send_multipart([b"asked on control"])
            on_control = await transport.receive()
            await shell.send_multipart([b"asked on shell"])
            on_shell = await transport.receive()
            assert on_control is not None
            assert on_shell is not None
            await transport.send_shell([b"forged", b"gateway", b"by the sandbox"])
            await transport.send_shell([*on_shell[:-1], b"to shell"])
            await transport.send_shell([*on_control[:-1], b"to control"])
            assert await shell.recv_multipart() == [b"to shell"]
            assert await control.recv_multipart() == [b"to control"]

    asyncio.run(work())


def test_heartbeats_come_back(tmp_path: Path) -> None:
    async def work() -> None:
        async with kernel_transport(tmp_path) as (_, connected), asyncio.timeout(30):
            heart = connected("hb", zmq.REQ)
            await heart.send(b"ping")
            assert await heart.recv() == b"ping"

    asyncio.run(work())


def test_a_long_silence_is_the_end_of_the_near_side(tmp_path: Path) -> None:
    async def work() -> None:
        async with kernel_transport(tmp_path, idle_timeout_s=0.1) as (transport, connected), asyncio.timeout(30):
            receiving = asyncio.create_task(transport.receive())
            await asyncio.sleep(0.5)
            assert not receiving.done(), "it was never spoken to: a gateway would start it again and again"
            shell = connected("shell")
            await shell.send_multipart([b"asked"])
            assert await receiving == [b"shell", b"gateway", b"asked"]
            assert await transport.receive() is None

    asyncio.run(work())


def test_the_kernelspec_starts_the_relay_and_is_interrupted_by_messages(tmp_path: Path) -> None:
    place = kernelspec.install(prefix=str(tmp_path))
    assert place == tmp_path / "share" / "jupyter" / "kernels" / kernelspec.NAME
    spec = json.loads((place / "kernel.json").read_text(encoding="utf-8"))
    assert spec["interrupt_mode"] == "message"
    assert spec["argv"][1:] == ["-P", "-m", "jupyter_codeagent.sandbox.remote.relay", "{connection_file}"]
