"""A model server of another user of this machine: a process of its own, whose socket is another user's.

Run as a program it serves, prints its address, and answers each line on its standard input with what it has got.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

UID = 54321
"""Of nobody who has an account: as that of a person, it is none of the system's."""
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can start a server as another user")


@dataclass
class Stranger:
    """The server as its visitors see it, and what it tells of them."""

    url: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].partition("/")[0])

    def got(self) -> dict[str, Any]:
        """``connections``, ``bytes``, and the last ``prompt``, all messages of it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        return told

    def got_nothing(self) -> bool:
        """Not even a connection."""
        return self.got() == {"connections": 0, "bytes": 0, "prompt": ""}

    def stop(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def strangers_server(*, port: int = 0, host: str = "127.0.0.1", uid: int = UID) -> Iterator[Stranger]:
    """It answers every question with the same code. Root only."""
    command = [sys.executable, __file__, host, str(port), str(uid)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        stranger = Stranger(url=process.stdout.readline().strip(), process=process)
        try:
            assert stranger.url, "it did not start"
            yield stranger
        finally:
            stranger.stop()


def main(host: str, port: int, uid: int) -> None:
    from model_server import MODEL, ModelServer, _Handler, code

    connections = []

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def process_request(self, request: Any, client_address: Any) -> None:
            connections.append(client_address)
            super().process_request(request, client_address)

    scripted = ModelServer(url="", models=[{"id": MODEL, "owned_by": "llamacpp"}], tokenizer=lambda _: {"count": 7})
    scripted.script(code("df['n'].sum()"))
    handler: Any = type("Handler", (_Handler,), {"scripted": scripted})
    os.seteuid(uid)  # for the socket alone: this Python may lie where nobody but root can read
    server = Server((host, port), handler, bind_and_activate=False)
    os.seteuid(0)
    server.server_bind()
    server.server_activate()
    print(f"http://127.0.0.1:{server.server_port}/v1", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _ in sys.stdin:
        asked = scripted.requests
        told = {
            "connections": len(connections),
            "bytes": len(scripted.received),
            "prompt": "\n".join(message["content"] for message in asked[-1]["messages"]) if asked else "",
        }
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
