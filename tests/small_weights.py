"""Small weights with everything that the published ones have: parts in wheels, a digest, a hub that offers them."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jupyter_codeagent.models.embedded.catalogue import PublishedWeights, WeightsPart

PART_BYTES = 40_000


@dataclass(frozen=True, kw_only=True)
class SmallWeights:
    """What is published, its bytes, and the directory that stands for the package index."""

    published: PublishedWeights
    content: bytes
    index: Path

    def wheel(self, number: int) -> Path:
        """From 1."""
        return self.index / self.published.parts[number - 1].wheel


def make_weights(index: Path, *, parts: int = 3) -> SmallWeights:
    """Random bytes, the same each time, cut into real wheels."""
    index.mkdir()
    content = b"GGUF" + random.Random(1).randbytes(parts * PART_BYTES - 4)
    slices = [content[start : start + PART_BYTES] for start in range(0, len(content), PART_BYTES)]
    published = PublishedWeights(
        model="small",
        file="small.gguf",
        repository="somebody/small-GGUF",
        revision="main",
        licence="Apache-2.0",
        size_bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        context_tokens=128,
        layers=2,
        kv_heads=2,
        head_size=64,
        parts=tuple(write_wheel(index, number, data) for number, data in enumerate(slices, start=1)),
    )
    return SmallWeights(published=published, content=content, index=index)


def write_wheel(index: Path, number: int, data: bytes) -> WeightsPart:
    """A wheel with one slice; what is in it beside that must never run."""
    package = f"small_part{number}"
    wheel = index / f"{package}-1.0-py3-none-any.whl"
    information = f"{package}-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{package}/__init__.py", "raise SystemExit('imported')\n")
        archive.writestr(f"{package}/data/part{number:02}.bin", data)
        archive.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{information}/RECORD", "")
    return WeightsPart(
        project=package.replace("_", "-"),
        version="1.0",
        wheel=wheel.name,
        size_bytes=wheel.stat().st_size,
        sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
    )


def offline_environment(weights: SmallWeights, directory: Path) -> dict[str, str]:
    """No hub, an empty cache, and pip asks nobody but the index directory."""
    return {
        "XDG_CACHE_HOME": str(directory / "cache"),
        "HF_HUB_OFFLINE": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(weights.index),
    }


FETCH = """
import json, sys
from jupyter_codeagent.models.embedded import weights
from jupyter_codeagent.models.embedded.catalogue import PublishedWeights, WeightsPart
entry = json.loads(sys.argv[1])
parts = tuple(WeightsPart(**part) for part in entry.pop("parts"))
published = PublishedWeights(**entry, parts=parts)
weights.published_weights = {published.model: published}.__getitem__
weights.fetch_weights(published.model, on_message=lambda line: print(line, flush=True))
"""


def fetching(small: SmallWeights, environment: Mapping[str, str] = MappingProxyType({})) -> subprocess.Popen[str]:
    """A process of its own that fetches the small weights and prints what is said."""
    root = Path(__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, json.dumps(asdict(small.published))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root), **environment},
    )


@dataclass
class Hub:
    """An HTTP server that answers as the hub does for one file."""

    url: str
    content: bytes
    etag: str
    requests: list[str] = field(default_factory=list)
    drop_after: int | None = None
    """Close the connection after so many bytes of the file."""


@contextmanager
def hub_serving(content: bytes, etag: str) -> Iterator[Hub]:
    """On a free loopback port."""
    handler: Any = type("Handler", (_HubHandler,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    handler.hub = Hub(url=f"http://127.0.0.1:{server.server_port}", content=content, etag=etag)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield handler.hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _HubHandler(BaseHTTPRequestHandler):
    hub: Hub

    def do_HEAD(self) -> None:
        self._headers(self.hub.content)

    def do_GET(self) -> None:
        start = int((self.headers.get("Range") or "bytes=0-").removeprefix("bytes=").split("-")[0])
        self._headers(self.hub.content[start:], status=206 if start else 200)
        self.wfile.write(self.hub.content[start : self.hub.drop_after])

    def _headers(self, body: Sequence[int], status: int = 200) -> None:
        self.hub.requests.append(f"{self.command} {self.path} {self.headers.get('Range', '')}".strip())
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", f'"{self.hub.etag}"')
        self.send_header("X-Linked-Etag", f'"{self.hub.etag}"')
        self.send_header("X-Linked-Size", str(len(self.hub.content)))
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass
