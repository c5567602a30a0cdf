"""Owners of the servers on ports of this machine, read from the operating system's tables without a connection."""

from __future__ import annotations

import ipaddress
import os
import pwd
import re
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Owners = frozenset[int] | None
"""User ids of all sockets that could accept the connection; empty: nobody listens; None: unknown."""

NOBODY: frozenset[int] = frozenset()

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LOGIN_DEFS = Path("/etc/login.defs")
LISTEN_STATE = "0A"
USUAL_UID_MIN = 500 if sys.platform == "darwin" else 1000
"""Lowest user id of people. A site may start lower; if it starts higher, ids in between still count as people."""
KNOCK_TIMEOUT_S = 0.25
LSOF_TIMEOUT_S = 2.0


@dataclass(frozen=True, kw_only=True)
class Listener:
    """One listening socket."""

    address: IPAddress
    port: int
    uid: int

    def accepts(self, target: IPAddress, port: int) -> bool:
        """Check whether this socket could accept the connection; an IPv6 wildcard may accept IPv4, too."""
        if self.port != port:
            return False
        anywhere = self.address.is_unspecified and self.address.version >= target.version
        return anywhere or self.address == target


def find_owners(host: str, port: int) -> Owners:
    """Return the owners of the sockets that listen on this local address. Sends no data; blocks for a moment."""
    targets = _targets(host)
    found = _in_tables(targets, port)
    # A server may be in no table of this system, as on Windows seen from WSL; the connection is closed at once.
    if found == NOBODY and _accepts_connections(host, port):
        return _in_tables(targets, port) or None
    return found


def are_trusted(uids: Owners) -> bool:
    """Check whether all of them are this user, root or a system account."""
    mine, people = {os.getuid(), os.geteuid()}, _first_uid_of_people()
    return uids is not None and all(uid in mine or uid < people for uid in uids)


def belong_to_user(uids: Owners) -> bool:
    """Check whether there is an owner, and only this user."""
    return bool(uids) and uids is not None and uids <= {os.getuid(), os.geteuid()}


def format_owners(uids: Owners) -> str:
    """Return the owners for people: ``user 'eve'``, ``root``."""
    if uids is None:
        return "an unknown user"
    return " and ".join(_name(uid) for uid in sorted(uids)) or "nobody"


def parse_table(text: str) -> Iterator[Listener]:
    """Yield the listening sockets in the text of ``/proc/net/tcp`` or ``tcp6``; raise ValueError for other text."""
    for line in text.splitlines()[1:]:
        fields = line.split()
        if len(fields) < 8:
            raise ValueError(f"no line of a table of sockets: {line!r}")
        if fields[3] == LISTEN_STATE:
            address, _, port = fields[1].partition(":")
            yield Listener(address=_address(address), port=int(port, 16), uid=int(fields[7]))


def _address(digits: str) -> IPAddress:
    """Return the address of the kernel's 32-bit words, each in the byte order of the machine."""
    words = [int(digits[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(digits), 8)]
    address = ipaddress.ip_address(b"".join(words))
    return _unmapped(address)


def _unmapped(address: IPAddress) -> IPAddress:
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return address if mapped is None else mapped


def _targets(host: str) -> tuple[IPAddress, ...]:
    """Return the addresses of a host; a client of ``localhost`` uses the first of two that answers."""
    if host == "localhost":
        return ipaddress.IPv4Address("127.0.0.1"), ipaddress.IPv6Address("::1")
    return (_unmapped(ipaddress.ip_address(host)),)


def _in_tables(targets: Iterable[IPAddress], port: int) -> Owners:
    if not TABLES[0].exists():
        return _listed_by_lsof(port)
    try:
        # A machine without IPv6 has no second table.
        texts = [table.read_text(encoding="ascii") for table in TABLES if table.exists()]
        listeners = [listener for text in texts for listener in parse_table(text)]
    except (OSError, ValueError):
        return None
    return frozenset(one.uid for target in targets for one in listeners if one.accepts(target, port))


def _listed_by_lsof(port: int) -> Owners:
    """Return the owners on macOS, where lsof hides other users' sockets, so an empty list proves nothing."""
    command = ["lsof", "-nP", f"-iTCP:{port}", "-sTCP:LISTEN", "-Fu"]
    try:
        listed = subprocess.run(command, capture_output=True, text=True, timeout=LSOF_TIMEOUT_S, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    return frozenset(int(uid) for uid in re.findall(r"^u(\d+)$", listed, re.MULTILINE)) or _nobody_or_unknown(port)


def _nobody_or_unknown(port: int) -> Owners:
    return None if _accepts_connections("localhost", port) else NOBODY


def _accepts_connections(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=KNOCK_TIMEOUT_S):
            return True
    except OSError:
        return False


def _first_uid_of_people() -> int:
    try:
        found = re.search(
            r"^[ \t]*UID_MIN[ \t]++(\d++)[ \t]*$", LOGIN_DEFS.read_text(encoding="utf-8"), re.MULTILINE
        )
    except (OSError, ValueError):
        found = None
    return min(int(found[1]), USUAL_UID_MIN) if found is not None else USUAL_UID_MIN


def _name(uid: int) -> str:
    name = ""
    with suppress(KeyError):
        name = pwd.getpwuid(uid).pw_name
    if uid == 0:
        return "root"
    return f"user {name!r}" if name else f"user id {uid}"
