"""Which local files a sandbox may read at all, once the user agrees; all others are refused here."""

from __future__ import annotations

import fnmatch
import glob
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.variables import LocalFile

MAX_FILES = 1000
"""Each file is a mount of its own."""
SECRET_NAMES = (
    ".env*",
    "*.env",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".htpasswd",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "authorized_keys",
    "known_hosts",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "*.keystore",
    "*credential*",
    "*secret*",
    "*passwd*",
    "*password*",
    "shadow",
    "*token*",
)
SECRET_DIRECTORIES = (
    ".ssh",
    ".aws",
    ".azure",
    ".gnupg",
    ".kube",
    ".docker",
    ".gcloud",
    "gcloud",
    ".password-store",
    ".mozilla",
    ".config/google-chrome",
    "keyrings",
)
SYSTEM_DIRECTORIES = ("/proc", "/sys", "/dev", "/etc", "/run", "/boot")
SANDBOX_DIRECTORIES = ("/conn", "/codeagent-copies")
"""Directories of the sandbox itself (`walls.bubblewrap.SANDBOX_PATHS`), where no file of the host can appear."""


def checked_file(name: str, path: str) -> LocalFile:
    """Return the file behind `path`, links resolved. `name` is the variable that reads it.

    Raises
    ------
    VariableError
        If it does not exist, is not a regular file, or looks secret.
    """
    if "://" in path:
        scheme = path.partition("://")[0]
        raise VariableError(
            f"{name!r} reads {path!r} over {scheme}: the sandbox has no network. Download the file, or pass the "
            "result of your query."
        )
    real = os.path.realpath(path)
    if secret := _secret_part(path) or _secret_part(real):
        raise VariableError(f"{name!r} reads {real!r}, which looks secret ({secret}): the sandbox may not read it.")
    try:
        found = os.stat(real)
    except OSError as problem:
        raise VariableError(f"{name!r} reads {real!r}, which cannot be opened: {problem.strerror}.") from problem
    if not stat.S_ISREG(found.st_mode):
        what = "directory" if stat.S_ISDIR(found.st_mode) else "device, pipe or socket"
        raise VariableError(f"{name!r} reads {real!r}, a {what}: the sandbox may only read regular files.")
    for directory in (*SYSTEM_DIRECTORIES, *SANDBOX_DIRECTORIES):
        if Path(real).is_relative_to(directory):
            raise VariableError(f"{name!r} reads {real!r}: the sandbox may not read files below {directory}.")
    if any(character < " " for character in real):
        raise VariableError(f"{name!r} reads {real!r}: its name holds a control character; rename it.")
    return LocalFile(
        path=real,
        device=found.st_dev,
        inode=found.st_ino,
        size_bytes=found.st_size,
        modified_ns=found.st_mtime_ns,
    )


def expand_path(name: str, path: str, extensions: Sequence[str]) -> tuple[list[LocalFile], str]:
    """Return the files that a path, a pattern or a directory stands for now, and the directory above them.

    Raises
    ------
    VariableError
    """
    if "://" in path:
        return [checked_file(name, path)], ""
    if os.path.isdir(path):
        root = os.path.realpath(path)
        found: Iterable[str] = glob.iglob(f"{glob.escape(root)}/**/*", recursive=True)
        paths = [item for item in found if item.endswith(tuple(extensions)) and os.path.isfile(item)]
    elif not os.path.exists(path) and glob.has_magic(path):
        parts = Path(path).parts
        fixed = next(at for at, part in enumerate(parts) if glob.has_magic(part))
        root = os.path.realpath(os.path.join(*parts[:fixed]) if fixed else ".")
        paths = [item for item in glob.glob(path, recursive=True) if os.path.isfile(item)]
    else:
        root, paths = os.path.dirname(os.path.realpath(path)), [path]
    if not paths:
        raise VariableError(f"{name!r} reads {path!r}, but no such file exists.")
    if len(paths) > MAX_FILES:
        raise VariableError(f"{name!r} reads {len(paths):,} files; the sandbox may read at most {MAX_FILES:,}.")
    return [checked_file(name, item) for item in sorted(paths)], root


def _secret_part(path: str) -> str:
    """Return the part of a path that makes it look secret; empty if none does."""
    parts = [part.lower() for part in Path(path).parts]
    for directory in SECRET_DIRECTORIES:
        if f"/{directory}/" in f"/{'/'.join(parts[:-1])}/":
            return directory
    return next((parts[-1] for pattern in SECRET_NAMES if parts and fnmatch.fnmatch(parts[-1], pattern)), "")
