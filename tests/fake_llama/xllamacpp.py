"""Stands in for llama.cpp where a test is about the process around it: same interface, no weights, faults.

Put on PYTHONPATH of the server. ``GGML_FAKE_LOAD_S``: seconds that loading takes; negative: it fails.
``GGML_FAKE_REPLY``: what it says to every question, word by word, in ``GGML_FAKE_REPLY_S`` seconds.
"""

from __future__ import annotations

import json
import os
import socket
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

TOKENS_PER_S = 25.0


def get_device_info() -> list[dict[str, Any]]:
    return [{"type": SimpleNamespace(name="GGML_BACKEND_DEVICE_TYPE_CPU"), "memory_free": 1 << 50}]


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace())


class Server:
    def __init__(self, parameters: Any) -> None:
        load_s = float(os.environ.get("GGML_FAKE_LOAD_S", "0"))
        if load_s < 0:
            print("0.00 E load: error loading model: made up", "0.01 E init: giving up", sep="\n", file=sys.stderr)
            raise RuntimeError("Failed to init server")
        time.sleep(load_s)
        _Handler.parameters = parameters
        name = parameters.hostnames[0]
        if name.endswith(".sock"):
            server: ThreadingHTTPServer = _UnixServer(name, _Handler)
            self.listening_address = f"unix://{name}"
        else:
            server = ThreadingHTTPServer((name, parameters.port), _Handler)
            self.listening_address = f"http://{name}:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()


class _UnixServer(ThreadingHTTPServer):
    address_family = socket.AF_UNIX

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)


class _Handler(BaseHTTPRequestHandler):
    parameters: Any
    processing = 0
    predicted = 0

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self._answer(
                "# TYPE llamacpp:tokens_predicted_total counter\n"
                f"llamacpp:tokens_predicted_total {_Handler.predicted}\n"
                f"llamacpp:tokens_predicted_seconds_total {_Handler.predicted / TOKENS_PER_S}\n"
                f"llamacpp:requests_processing {_Handler.processing}\n"
            )
        else:
            self._answer(json.dumps({"data": [{"id": next(iter(self.parameters.model_alias))}]}))

    def do_POST(self) -> None:
        """``{"work_s": seconds, "log": text, "tokens": number}``: be busy, log, count. Messages: a reply."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            self._answer(json.dumps({"tokens": list(range(len(request["content"])))}))
            return
        if "messages" in request:
            self._stream(os.environ["GGML_FAKE_REPLY"].split(" "))
            return
        _Handler.processing += 1
        sys.stderr.write(request.get("log", ""))
        sys.stderr.flush()
        time.sleep(request.get("work_s", 0))
        _Handler.processing -= 1
        _Handler.predicted += request.get("tokens", 1)
        self._answer("{}")

    def _stream(self, words: list[str]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for index, word in enumerate(words):
            end = "stop" if index == len(words) - 1 else None
            choice = {"index": 0, "delta": {"content": f"{word} "}, "finish_reason": end}
            part = {"id": "1", "object": "chat.completion.chunk", "choices": [choice]}
            self.wfile.write(f"data: {json.dumps(part)}\n\n".encode())
            self.wfile.flush()
            time.sleep(float(os.environ.get("GGML_FAKE_REPLY_S", "0")) / len(words))
        self.wfile.write(b"data: [DONE]\n\n")

    def _answer(self, text: str) -> None:
        allowed = self.headers.get("Authorization") in [f"Bearer {key}" for key in self.parameters.api_keys]
        body = text.encode() if allowed else b"{}"
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass
