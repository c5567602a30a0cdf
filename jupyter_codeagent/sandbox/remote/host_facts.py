"""Facts that the relay reads about the machine, container or Pod it is in; they are no promise."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_codeagent.sandbox.guest.layers import own_status

TOKEN = Path("/var/run/secrets/kubernetes.io/serviceaccount/token")
RESOLV_CONF = Path("/etc/resolv.conf")
DNS_PORT = 53
DNS_QUERY = b"\x00\x01\x01\x00\x00\x01" + bytes(7) + b"\x00\x02\x00\x01"
"""Who serves the root zone: any answer shows that the name server was reached (RFC 1035, 4.1)."""
REACH_TIMEOUT_S = 1.0
POLICY_TRIES = 5
"""Some clusters put a network policy in force a moment after the start of a Pod: what is reached is tried again."""


def read_host_facts() -> dict[str, Any]:
    """Return what `container.find_container_faults` and `find_pod_faults` ask for. Takes some seconds in a Pod."""
    status = own_status()
    facts = {
        "interfaces": _interfaces(),
        "root_writable": os.access("/", os.W_OK) and not _read_only_root(),
        "uid": os.getuid(),
        "capabilities": int(status.get("CapEff", "0"), 16),
        "no_new_privileges": status.get("NoNewPrivs") == "1",
        "pod": "KUBERNETES_SERVICE_HOST" in os.environ,
    }
    if facts["pod"]:
        facts |= {"token": TOKEN.exists(), "reached": _reached(os.environ, RESOLV_CONF)}
    return facts


def find_privileges(host_facts: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the privileges that neither a container nor a Pod must have."""
    wanted = {
        "a writable root": host_facts.get("root_writable") is False,
        "root's identity": type(host_facts.get("uid")) is int and host_facts["uid"] != 0,
        "capabilities": host_facts.get("capabilities") == 0,
        "new privileges": host_facts.get("no_new_privileges") is True,
    }
    return tuple(name for name, holds in wanted.items() if not holds)


def _interfaces() -> list[str]:
    """Return the network interfaces without loopback; an empty list means that there is no way out."""
    names = (line.partition(":")[0].strip() for line in Path("/proc/net/dev").read_text("utf-8").splitlines()[2:])
    return [name for name in names if name != "lo"]


def _read_only_root() -> bool:
    return bool(os.statvfs("/").f_flag & os.ST_RDONLY)


def _reached(environment: Mapping[str, str], resolv_conf: Path) -> list[str]:
    """Return which of the servers that every Pod is told of were reached: API server and name servers."""
    api = (environment["KUBERNETES_SERVICE_HOST"], int(environment.get("KUBERNETES_SERVICE_PORT", "443")))
    names = [words[1] for line in _lines(resolv_conf) if (words := line.split())[:1] == ["nameserver"]]
    for _ in range(POLICY_TRIES):
        found = ["the cluster's API server"] if _connects(api) else []
        found += [f"the name server {name}" for name in names if _answers(name)]
        if not found:
            return []
        time.sleep(REACH_TIMEOUT_S)
    return found


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []


def _connects(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, timeout=REACH_TIMEOUT_S).close()
    except OSError:
        return False
    return True


def _answers(name_server: str) -> bool:
    family = socket.AF_INET6 if ":" in name_server else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as asking:
            asking.settimeout(REACH_TIMEOUT_S)
            asking.connect((name_server, DNS_PORT))
            asking.send(DNS_QUERY)
            return bool(asking.recv(512))
    except OSError:
        return False
