"""A real HTTP server that speaks the OpenAI protocol and answers from a script, with faults on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

MODEL = "scripted"


@dataclass
class Reply:
    """One answer of the server."""

    text: str = ""
    status: int = 200
    message: str = ""
    """Of an answer with another status."""
    piece_s: float = 0.0
    """Pause between two pieces of the stream."""
    until: threading.Event | None = None
    """Send the headers, then hold the answer back until this is set or the client goes away."""
    hold_at: int = 0
    """So many pieces are sent before `until` is waited for; -1: all but the last."""
    hang: bool = False
    """Send the headers, then nothing until the client goes away."""
    drop_after: int | None = None
    """Cut the connection after so many pieces, without an end."""
    html: bool = False
    """Answer a web page with status 200, as a proxy does."""
    page_as_stream: bool = False
    """As `html`, but called an event stream."""
    error: dict[str, Any] | str | None = None
    """The error that goes with `status`; with status 200 it comes in the stream, after the text."""
    silent: bool = False
    """Send nothing until the client goes away, not even the headers."""
    finish: str = "stop"
    counts: bool = True
    """Whether the usage comes at the end."""
    timings: bool = False
    """Count in every part, as llama.cpp does."""
    raw: str = ""
    """Sent as it is, in place of a stream."""
    location: str = ""
    """Where a redirect leads to."""
    endless: bytes = b""
    """Sent again and again as the body, whatever `status`, until the client goes away."""
    endless_s: float = 0.0
    """Pause between two of them."""
    encoding: str = ""
    """Content-Encoding, whether the body is encoded so or not."""
    content_type: str = "text/event-stream"
    """Of a stream."""


@dataclass
class ModelServer:
    """Replies are taken in order; the last one stays."""

    url: str
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    hung_up: int = 0
    """Streams that the client closed before their end: what Stop is for."""
    choose: Callable[[dict[str, Any]], Reply] | None = None
    """Answer by what is asked instead of in order."""
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of every request, GET included; names in lower case."""
    received: bytearray = field(default_factory=bytearray)
    """Every byte of every request: line, headers and body."""
    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": MODEL, "object": "model"}])
    refuses: dict[str, str] = field(default_factory=dict)
    """Keys of a request that are answered with 400, and what is said then."""

    several: Literal["", "llama.cpp", "vLLM"] = ""
    """Who reads `n`, and how it counts then: each reply for itself or all together. Others give one reply."""

    tokenizer: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Answers ``POST /tokenize`` beside ``/v1``, as llama.cpp and vLLM do; None for a server without one."""
    tokenized: list[dict[str, Any]] = field(default_factory=list)
    """What was asked there."""
    sent_bytes: int = 0
    """Of endless bodies; what lies in buffers included."""
    get: Reply | None = None
    """Answers every GET, in place of the list of models."""

    def script(self, *replies: Reply | str) -> None:
        self.replies = [Reply(text=reply) if isinstance(reply, str) else reply for reply in replies]
        self.requests.clear()

    def forget(self) -> None:
        """As a new server at the same address."""
        vars(self).update(vars(ModelServer(url=self.url)))

    def wait_until_asked(self, times: int = 1, timeout_s: float = 150) -> None:
        """Until so many requests have come since the script was set."""
        deadline = time.monotonic() + timeout_s
        while len(self.requests) < times:
            assert time.monotonic() < deadline, f"asked {len(self.requests)} times in {timeout_s} s, not {times}"
            time.sleep(0.02)

    def wait_for_hang_up(self, timeout_s: float) -> None:
        """Return when a client has closed a stream, or after the limit."""
        deadline = time.monotonic() + timeout_s
        while not self.hung_up and time.monotonic() < deadline:
            time.sleep(0.02)

    def next_reply(self, request: dict[str, Any]) -> Reply:
        self.requests.append(request)
        return self.choose(request) if self.choose is not None else self.take_reply()

    def take_reply(self) -> Reply:
        """The next of the script."""
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def code(source: str, sentence: str = "Here is the code.") -> str:
    """A reply as models write them."""
    return f"{sentence}\n```python\n{source}\n```\n"


@contextmanager
def serving() -> Iterator[ModelServer]:
    """A server on a free loopback port."""
    handler: Any = type("Handler", (_Handler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    handler.scripted = ModelServer(url=f"http://127.0.0.1:{server.server_port}/v1")
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield handler.scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """Subclassed for each server, so that each has its own script."""

    scripted: ModelServer

    def do_GET(self) -> None:
        self._note_headers()
        if self.scripted.get is not None:
            self._answer(self.scripted.get, {"stream": True, "messages": []})
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": self.scripted.models})
        else:
            self._json(404, {"error": {"message": "not found"}})

    def do_POST(self) -> None:
        self._note_headers()
        sent = self.rfile.read(int(self.headers["Content-Length"]))
        self.scripted.received += sent
        body = json.loads(sent)
        refused = next((key for key in self.scripted.refuses if key in body), None)
        if self.path == "/tokenize" and self.scripted.tokenizer is not None:
            self.scripted.tokenized.append(body)
            self._json(200, self.scripted.tokenizer(body))
        elif self.path != "/v1/chat/completions":
            self._json(404, {"error": {"message": "File Not Found"}})
        elif refused is not None:
            self.scripted.requests.append(body)
            self._json(400, {"error": {"message": self.scripted.refuses[refused]}})
        else:
            self._answer(self.scripted.next_reply(body), body)

    def _answer(self, reply: Reply, body: dict[str, Any]) -> None:
        if reply.endless:
            self._without_end(reply)
        elif reply.html or reply.page_as_stream:
            kind = "text/html" if reply.html else "text/event-stream"
            self._send(200, kind, b"<!doctype html><title>Sign in</title>")
        elif reply.location:
            self.send_response(reply.status)
            self.send_header("Location", reply.location)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif reply.status != 200:
            said = reply.error or {"message": reply.message or f"scripted {reply.status}"}
            self._json(reply.status, {"error": said})
        elif not body.get("stream"):
            self._json(200, _whole(reply, body))
        else:
            try:
                self._stream(reply, body)
            except (BrokenPipeError, ConnectionResetError):
                self.scripted.hung_up += 1

    def _without_end(self, reply: Reply) -> None:
        self._begin(reply)
        try:
            while True:
                self.wfile.write(reply.endless)
                self.wfile.flush()
                self.scripted.sent_bytes += len(reply.endless)
                time.sleep(reply.endless_s)
        except (BrokenPipeError, ConnectionResetError):
            self.scripted.hung_up += 1

    def _begin(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        if reply.encoding:
            self.send_header("Content-Encoding", reply.encoding)
        self.end_headers()

    def _note_headers(self) -> None:
        self.scripted.received += f"{self.requestline}\r\n".encode() + self.headers.as_bytes()
        self.scripted.headers.append({name.lower(): value for name, value in self.headers.items()})

    def _stream(self, reply: Reply, body: dict[str, Any]) -> None:
        if reply.silent:
            self.connection.recv(1)  # returns when the client closes
            self.scripted.hung_up += 1
            return
        self._begin(reply)
        if reply.raw:
            self._raw(reply.raw)
            return
        if self.scripted.several and body.get("n", 1) > 1:
            self._stream_several([reply, *(self.scripted.take_reply() for _ in range(body["n"] - 1))], body)
            return
        pieces = _pieces(reply.text) or [""]
        hold_at = reply.hold_at % len(pieces) if reply.hold_at < 0 else reply.hold_at
        for index, piece in enumerate(pieces):
            if index == hold_at:
                self._hold(reply)
            if index == reply.drop_after:
                return
            part: dict[str, Any] = {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
            if reply.timings:
                part["timings"] = {"cache_n": 90, "prompt_n": 10, "predicted_n": index + 1}
            self._event(part)
            if reply.piece_s:
                time.sleep(reply.piece_s)
        if reply.error is not None:
            self._raw(f"data: {json.dumps({'error': reply.error})}\n\n")
            return
        usage = _usage(reply, body)
        end: dict[str, Any] = {"choices": [{"index": 0, "delta": {}, "finish_reason": reply.finish}]}
        self._event({**end, "usage": usage} if reply.counts else end)
        self._raw("data: [DONE]\n\n")

    def _stream_several(self, replies: list[Reply], body: dict[str, Any]) -> None:
        """A piece of each in turn."""
        pieces = [_pieces(reply.text) for reply in replies]
        alone = self.scripted.several == "llama.cpp"
        for at in range(max(map(len, pieces)) + 1):
            for index, own in enumerate(pieces):
                if at > len(own):
                    continue
                delta = {"content": own[at]} if at < len(own) else {}
                finish = replies[index].finish if at == len(own) else None
                timings = {"cache_n": 90, "prompt_n": 10, "predicted_n": min(at + 1, len(own))}
                part = {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}
                self._event({**part, "timings": timings} if alone and not finish else part)
                if alone and finish:
                    self._event({"choices": [], "usage": _usage(replies[index], body), "timings": timings})
        if not alone:
            usage = _usage(replies[0], body)
            usage["completion_tokens"] = sum(map(len, pieces))
            self._event({"choices": [], "usage": usage})
        self._raw("data: [DONE]\n\n")

    def _hold(self, reply: Reply) -> None:
        while reply.hang or not (reply.until is None or reply.until.is_set()):
            time.sleep(0.05)
            self._raw(": waiting\n\n")

    def _event(self, part: dict[str, Any]) -> None:
        event = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": MODEL, **part}
        self._raw(f"data: {json.dumps(event)}\n\n")

    def _raw(self, text: str) -> None:
        self.wfile.write(text.encode())
        self.wfile.flush()

    def _json(self, status: int, body: dict[str, Any]) -> None:
        self._send(status, "application/json", json.dumps(body).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def _whole(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request without ``stream``."""
    message = {"role": "assistant", "content": reply.text}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish}
    made = {"id": "1", "object": "chat.completion", "created": 0, "model": MODEL}
    return {**made, "choices": [choice], "usage": _usage(reply, body)}


def _usage(reply: Reply, body: dict[str, Any]) -> dict[str, int]:
    prompt, completion = len(json.dumps(body["messages"])) // 4, len(_pieces(reply.text))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _pieces(text: str) -> Sequence[str]:
    """Words with the blanks behind them, as tokens come."""
    pieces, start = [], 0
    for index, letter in enumerate(text):
        if letter in " \n" or index - start > 12:
            pieces.append(text[start : index + 1])
            start = index + 1
    return [*pieces, text[start:]] if text[start:] else pieces
