"""Directories that the interpreter needs. They are bound read-only; of the host only /usr is visible besides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ON_LINUX = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin")
ON_MACOS = ("/usr/lib", "/usr/share", "/System/Library", "/System/Cryptexes", "/Library/Apple")
"""Not `/usr`: Homebrew for Intel lives in `/usr/local`."""
SYSTEM = ON_MACOS if sys.platform == "darwin" else ON_LINUX
"""Always visible inside."""

DYLD_QUERY = """
import ctypes, json, lzma, sqlite3, ssl, zmq
dyld = ctypes.CDLL(None)
dyld._dyld_get_image_name.restype = ctypes.c_char_p
print(json.dumps(sorted({dyld._dyld_get_image_name(i).decode() for i in range(dyld._dyld_image_count())})))
"""
"""Names are as given to the loader, with links; `seatbelt` resolves them."""
QUERY = """
import ctypes, json, lzma, sqlite3, ssl, sys, zmq
print(json.dumps(sorted({line.split()[-1] for line in open("/proc/self/maps") if ".so" in line and "/" in line})))
"""


@cache
def python_roots(executable: str = sys.executable) -> tuple[str, ...]:
    """Return the prefixes of the interpreter, and the directories of shared libraries outside of them.

    `sys.path` is not used: it may name the working directory and the sources of editable installs, which are the
    user's own files. A library outside of the prefixes (a RUNPATH into another tree) shows only in
    `/proc/self/maps`. That of a clean interpreter is read, because this process may have mapped the user's own
    extensions as well. It is started only if this process has mapped anything outside of the prefixes.
    """
    roots = _minimal([*_prefixes(), *_user_site()])
    if sys.platform == "darwin" or _outside(_mapped_here(), roots):
        roots = _minimal([*roots, *_outside(_mapped_in_clean_interpreter(executable), roots)])
    return roots


def _prefixes() -> list[str]:
    given = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    return [path for prefix in given for path in (prefix, os.path.realpath(prefix))]


def _user_site() -> list[str]:
    """Return `~/.local/lib/pythonX/site-packages`, only if the kernel's own packages come from there."""
    import site

    import ipykernel

    user_site = site.getusersitepackages()
    return [user_site] if str(ipykernel.__file__).startswith(user_site + "/") else []


def user_site() -> str:
    """Return the user's site-packages for the path inside, where HOME differs; empty if not needed."""
    return next(iter(_user_site()), "")


def _mapped_here() -> list[str]:
    import sqlite3  # noqa: F401
    import ssl  # noqa: F401

    lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return sorted({line.split()[-1] for line in lines if ".so" in line and "/" in line})


def _mapped_in_clean_interpreter(executable: str) -> list[str]:
    done = subprocess.run(
        [executable, "-I", "-c", DYLD_QUERY if sys.platform == "darwin" else QUERY],
        env={"PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        check=True,
        timeout=30,
    )
    return [str(path) for path in json.loads(done.stdout)]


def _outside(libraries: Iterable[str], roots: Iterable[str]) -> list[str]:
    """Return the directories of libraries that no root covers."""
    covered = (*SYSTEM, *roots)
    directories = dict.fromkeys(os.path.dirname(library) for library in libraries)
    return [path for path in directories if path and not any(is_within(path, root) for root in covered)]


def _minimal(paths: Iterable[str]) -> tuple[str, ...]:
    """Drop paths that /usr or another root covers, and any path that contains the home directory."""
    home = os.path.realpath(os.path.expanduser("~"))
    kept: list[str] = []
    for path in paths:
        too_wide = is_within(home, os.path.realpath(path))
        if not too_wide and os.path.isdir(path) and not any(is_within(path, other) for other in (*SYSTEM, *kept)):
            kept.append(path)
    return tuple(kept)


def is_within(path: str, root: str) -> bool:
    """Check whether a path is the root or lies below it."""
    return path == root or path.startswith(root.rstrip("/") + "/")
