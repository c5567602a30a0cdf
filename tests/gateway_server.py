"""Real Jupyter kernel gateways and servers for tests: own directories, own port, a kernelspec of our relay."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from listening import wait_for_port

START_S = 240
END_S = 120
KERNEL_GATEWAY = (
    *(sys.executable, "-m", "kernel_gateway", "--KernelGatewayApp.ip=127.0.0.1"),
    *("--JupyterWebsocketPersonality.list_kernels=True", "--KernelGatewayApp.port_retries=0"),
)
SERVER_WITHOUT_V1 = (
    *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ServerApp.ip=127.0.0.1"),
    *("--ServerApp.port_retries=0", "--ZMQChannelsWebsocketConnection.kernel_ws_protocol="),
)
PORT_OPTIONS = {KERNEL_GATEWAY: "--KernelGatewayApp.port", SERVER_WITHOUT_V1: "--ServerApp.port"}


@dataclass(frozen=True, kw_only=True)
class Gateway:
    """A running one."""

    url: str
    token: str
    process: subprocess.Popen[bytes]
    log_path: Path

    def request(self, path: str, method: str = "GET") -> Any:
        """JSON from its REST API."""
        request = urllib.request.Request(f"{self.url}{path}", method=method)
        request.add_header("Authorization", f"token {self.token}")
        with urllib.request.urlopen(request, timeout=30) as response:
            text = response.read()
        return json.loads(text) if text else None

    @property
    def kernels(self) -> list[str]:
        return [kernel["id"] for kernel in self.request("/api/kernels")]

    def relays(self) -> dict[int, str]:
        """Process ids of the relays it has started, with the connection file of each."""
        return relays_of(self.token)

    def processes(self) -> set[int]:
        """Relays and all below them, their sandboxes; look again with `living` once the relays are gone."""
        found = set(self.relays())
        parents = {pid: _parent(pid) for pid in map(int, filter(str.isdigit, os.listdir("/proc")))}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found


def relays_of(token: str) -> dict[int, str]:
    """Process ids of the relays that the gateway with this token has started, with their connection files."""
    found: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (argv := _read(entry / "cmdline").decode().split("\0")):
            mine = f"TEST_GATEWAY={token}\0".encode() in _read(entry / "environ")
            if mine and "jupyter_codeagent.sandbox.remote.relay" in argv:
                found[int(entry.name)] = argv[-2]
    return found


@contextmanager
def running_gateway(base: Path, command: Sequence[str] = KERNEL_GATEWAY) -> Iterator[Gateway]:
    """Start it with nothing of the user's; it is ended with everything it has started."""
    token = secrets.token_hex(16)
    base.mkdir(parents=True, exist_ok=True)
    prefix = base / "prefix"
    installer = [sys.executable, "-m", "jupyter_codeagent.sandbox.remote.kernelspec", "--prefix", str(prefix)]
    subprocess.run(installer, check=True, stdout=subprocess.DEVNULL)
    environment = {
        **os.environ,
        "JUPYTER_PATH": str(prefix / "share" / "jupyter"),
        "JUPYTER_CONFIG_DIR": str(base / "config"),
        "JUPYTER_DATA_DIR": str(base / "data"),
        "JUPYTER_RUNTIME_DIR": str(base / "runtime"),
        "KG_AUTH_TOKEN": token,
        "JUPYTER_TOKEN": token,
        "TEST_GATEWAY": token,
    }
    log_path = base / "gateway.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [*command, f"{PORT_OPTIONS[tuple(command)]}=0"],
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd=base,
        )
        try:
            port = wait_for_port(process, log_path, START_S)
            gateway = Gateway(url=f"http://127.0.0.1:{port}", token=token, process=process, log_path=log_path)
            yield gateway
        finally:
            process.terminate()
            process.wait(END_S)
            for pid in relays_of(token):
                os.kill(pid, signal.SIGKILL)


def living(pids: Iterable[int]) -> set[int]:
    """Those that are neither gone nor zombies."""
    states = {pid: _read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()[:1] for pid in pids}
    return {pid for pid, state in states.items() if state and state != [b"Z"]}


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # it ended, or is not ours


def _parent(pid: int) -> int:
    """0 where there is none any more."""
    fields = _read(Path(f"/proc/{pid}/stat")).rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0
