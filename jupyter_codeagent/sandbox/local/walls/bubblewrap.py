"""The command line of bubblewrap: a pure function of paths, and the search for the binary."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from jupyter_codeagent.sandbox.local.walls.layout import SandboxPaths

SANDBOX_PATHS = SandboxPaths(connection="/conn", scratch="/scratch", temporary="/tmp", data="/codeagent-copies")  # noqa: S108
"""Not `/data`: many people keep files there that they let the sandbox read."""
TEMPORARY_BYTES = 256 << 20
SHARED_MEMORY_BYTES = 64 << 20
NEEDED_VERSION = (0, 7)
"""Before that version a tmpfs has no size limit."""
DISABLE_USERNS_VERSION = (0, 8)

ETC = (
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/fonts",
    "/etc/alternatives",
    "/etc/mime.types",
    "/etc/ssl/openssl.cnf",
)
"""Files that the loader, time zones and fonts need; no passwd, no hosts, no resolv.conf."""

FLAGS = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--cap-drop",
    "ALL",
    "--uid",
    "1000",
    "--gid",
    "1000",
    "--hostname",
    "sandbox",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
]


def find_bubblewrap() -> str | None:
    """Find the binary, but not by the user's PATH: a project directory must not provide what guards the sandbox."""
    return shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin")


@cache
def bubblewrap_version(path: str) -> tuple[int, ...]:
    """Return the version of a bubblewrap binary."""
    done = subprocess.run([path, "--version"], env={}, stdout=subprocess.PIPE, text=True, check=True, timeout=10)
    return tuple(int(part) for part in re.findall(r"\d+", done.stdout)[:3])


def bubblewrap_argv(
    bwrap: str,
    *,
    version: Sequence[int],
    connection_dir: str,
    data_dir: str,
    read_only: Iterable[str],
    files: Mapping[str, str],
    environment: Mapping[str, str],
    scratch_bytes: int,
) -> list[str]:
    """Return the command line up to the inner command.

    `read_only` directories appear under their own names. `files` maps host files to names inside; the directory of
    such a file has no other entries.
    """
    argv = [bwrap, *FLAGS]
    if tuple(version) >= DISABLE_USERNS_VERSION:  # a second layer: the filter inside refuses them as well
        argv += ["--disable-userns"]
    # The tmpfs comes first: bound directories may lie below /tmp.
    argv += ["--size", str(TEMPORARY_BYTES), "--tmpfs", SANDBOX_PATHS.temporary]
    argv += ["--proc", "/proc", "--dev", "/dev", "--size", str(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"]  # noqa: S108
    argv += ["--ro-bind", "/usr", "/usr", *_system_links()]
    for path in (*(path for path in ETC if os.path.exists(path)), *read_only):
        argv += ["--ro-bind", path, path]
    argv += ["--bind", connection_dir, SANDBOX_PATHS.connection, "--ro-bind", data_dir, SANDBOX_PATHS.data]
    argv += ["--size", str(scratch_bytes), "--tmpfs", SANDBOX_PATHS.scratch]
    for outside, inside in files.items():  # after the tmpfs of /tmp and scratch, which may contain them
        argv += ["--ro-bind", outside, inside]
    argv += ["--remount-ro", "/dev"]  # a tmpfs without a size; /dev/shm and the devices stay writable
    argv += ["--remount-ro", "/", "--chdir", SANDBOX_PATHS.scratch]
    for name, value in environment.items():
        argv += ["--setenv", name, value]
    return argv


def _system_links() -> list[str]:
    """Return arguments for /bin, /lib … as they are here: links into /usr on merged systems, else directories."""
    argv: list[str] = []
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        if os.path.islink(f"/{name}"):
            argv += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            argv += ["--ro-bind", f"/{name}", f"/{name}"]
    return argv
