"""Programs that try to get out of a sandbox, what they try to reach, and how it shows whether they did."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

THROUGH = "THROUGH"
TOKEN = "CANARY-7f3a9c2e"

PRELUDE = """
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(name, action):
    try: found = action()
    except Exception as problem: print('refused', name, type(problem).__name__, problem)
    else: print('THROUGH', name, found)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *arguments)
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
"""


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One program. It prints a line that begins with ``THROUGH`` for each wall it got through, else ``refused``."""

    name: str
    code: str
    outside: bool = True
    """Whether the same program gets through without a sandbox, as the user who runs the tests."""


def attack(name: str, *lines: str, outside: bool = True) -> Attack:
    return Attack(name=name, code="\n".join(lines), outside=outside)


def attempts(name: str, expression: str, *, outside: bool = True) -> Attack:
    """An attack that is one expression."""
    return Attack(name=name, code=f"attempt({name!r}, lambda: {expression})", outside=outside)


def rows(attacks: list[Attack]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("attack", attacks, ids=[row.name for row in attacks])


@dataclass(frozen=True, kw_only=True)
class World:
    """What there is on the host to be reached, and whether anything was."""

    root: Path
    secret: Path
    link: Path
    abstract: str
    victim: subprocess.Popen[bytes]
    listeners: Mapping[str, socket.socket]

    def fill(self, code: str, *, data: str = "/nonexistent") -> str:
        """The program with the names of what it attacks."""
        names = {
            "SECRET": str(self.secret),
            "OUTSIDE": str(self.root / "out"),
            "LINK": str(self.link),
            "VICTIM": str(self.victim.pid),
            "HOST": str(os.getpid()),
            "TCP": str(self.listeners["tcp"].getsockname()[1]),
            "UDP": str(self.listeners["udp"].getsockname()[1]),
            "STREAM": str(self.root / "stream"),
            "DATAGRAM": str(self.root / "datagram"),
            "ABSTRACT": self.abstract,
            "DATA": data,
        }
        return string.Template(PRELUDE + code).substitute(names)

    def reached(self) -> list[str]:
        """What happened to it since the last time; empty if nothing did."""
        found = []
        status = self.secret.stat()
        if (status.st_mode & 0o7777, status.st_mtime, status.st_nlink) != (0o600, 1_000_000_000, 1):
            found.append(f"metadata of the secret: {status}")
        if self.secret.read_text(encoding="ascii") != TOKEN:
            found.append("content of the secret")
        if os.listxattr(self.secret):
            found.append("attributes of the secret")
        found += [f"file {entry.name}" for entry in (self.root / "out").iterdir()]
        if self.victim.poll() is not None:
            found.append("the victim ended")
        if os.getpriority(os.PRIO_PROCESS, self.victim.pid) != 0 or os.sched_getscheduler(self.victim.pid) != 0:
            found.append("the victim's priority")
        if os.sched_getaffinity(self.victim.pid) != os.sched_getaffinity(0):
            found.append("the victim's processors")
        found += [f"a message on {name}" for name, listener in self.listeners.items() if _heard(listener)]
        return found


def _heard(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_DGRAM:
            return bool(listener.recv(100))
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


_worlds = itertools.count()


@contextlib.contextmanager
def world() -> Iterator[World]:
    """Put it up in a directory with a short name, as some of its parts are sockets."""
    with tempfile.TemporaryDirectory(prefix="e-", dir="/tmp") as directory:
        with _world(Path(directory), f"codeagent-test-{os.getpid()}-{next(_worlds)}") as made:
            yield made


@contextlib.contextmanager
def _world(root: Path, abstract: str) -> Iterator[World]:
    (root / "out").mkdir()
    secret, link = root / "secret", root / "link"
    secret.write_text(TOKEN, encoding="ascii")
    secret.chmod(0o600)
    os.utime(secret, (1_000_000_000, 1_000_000_000))
    link.symlink_to(secret)
    with contextlib.ExitStack() as stack:
        victim = subprocess.Popen(["/bin/sleep", "1000"])
        stack.callback(victim.wait)
        stack.callback(victim.kill)
        listeners: dict[str, socket.socket] = {}
        for name, family, kind, address in (
            ("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("stream", socket.AF_UNIX, socket.SOCK_STREAM, str(root / "stream")),
            ("datagram", socket.AF_UNIX, socket.SOCK_DGRAM, str(root / "datagram")),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract),
        ):
            listener = listeners[name] = stack.enter_context(socket.socket(family, kind))
            listener.bind(address)
            listener.setblocking(False)
            if kind == socket.SOCK_STREAM:
                listener.listen()
        yield World(root=root, secret=secret, link=link, abstract=abstract, victim=victim, listeners=listeners)


RUNNER = """
import contextlib, io, json, os, sys, tempfile
printed = []
for code in json.load(sys.stdin):
    text = io.StringIO()
    with tempfile.TemporaryDirectory() as directory, contextlib.redirect_stdout(text):
        os.chdir(directory)
        try: exec(code, {'__name__': '__main__'})
        except Exception as problem: print('raised', type(problem).__name__, problem)
        os.chdir('/')
    printed.append(text.getvalue())
json.dump(printed, sys.stdout)
"""


def outside(*codes: str) -> list[str]:
    """What each of the programs prints without a sandbox."""
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        input=json.dumps(codes),
        stdout=subprocess.PIPE,
        text=True,
        timeout=90,
        check=True,
    )
    printed: list[str] = json.loads(done.stdout)
    return printed


def without_effect_outside(attacks: Iterable[Attack]) -> list[str]:
    """The control: names of those that get nowhere without a sandbox either, of all that should."""
    tried = [row for row in attacks if row.outside]
    with contextlib.ExitStack() as stack:
        texts = outside(*(stack.enter_context(world()).fill(row.code) for row in tried))
    return [row.name for row, text in zip(tried, texts, strict=True) if not got_through(text)]


def got_through(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith(THROUGH) or TOKEN in line]


def was_tried(text: str) -> bool:
    return any(line.startswith(("refused", THROUGH)) for line in text.splitlines())
