"""Describer of paths: name, existence and size of the file, and the footer of parquet."""

from __future__ import annotations

import os
import stat
import struct
import sys
from pathlib import Path
from typing import Any

from jupyter_codeagent.types.sizes import format_bytes
from jupyter_codeagent.types.variables import ColumnSummary, Privacy, VariableSummary
from jupyter_codeagent.variables.describers.arrow import columns_of_footer
from jupyter_codeagent.variables.introspection import type_name
from jupyter_codeagent.variables.privacy.secret import private_text, secret_name
from jupyter_codeagent.variables.text import looks_personal, safe

MAX_PATH_CHARS = 60
MAX_FOOTER_BYTES = 1 << 20
"""Larger footers take too long to parse."""
MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset(
    (
        "ext2",
        "ext3",
        "ext4",
        "xfs",
        "btrfs",
        "zfs",
        "overlay",
        "tmpfs",
        "ramfs",
        "f2fs",
        "vfat",
        "exfat",
        "squashfs",
    )
)


def describe_path(name: str, path: Any, privacy: Privacy) -> VariableSummary:
    """Describe a path; no file is opened, except the end of a parquet file where pyarrow is loaded already."""
    kind, text = safe(type_name(type(path)), 60), str(path)
    hidden = privacy == "schema" or looks_personal(name) or secret_name(name, text) or private_text(text)
    if hidden:
        return VariableSummary(name=name, type_name=kind, headline=f"{name}: {kind}", copyable=True)
    state, columns = _find_state(path, privacy) if isinstance(path, Path) else ("", ())
    return VariableSummary(
        name=name,
        type_name=kind,
        headline=f"{name}: {kind} = {safe(_short(text), MAX_PATH_CHARS)}{state}",
        columns=columns,
        copyable=True,
    )


def _find_state(path: Path, privacy: Privacy) -> tuple[str, tuple[ColumnSummary, ...]]:
    absolute = os.path.abspath(path)
    if not _is_local(absolute):
        return "", ()
    try:
        found = os.stat(absolute)
    except OSError:
        return " (no such file)", ()
    if stat.S_ISDIR(found.st_mode):
        return " (directory)", ()
    if not stat.S_ISREG(found.st_mode):
        return " (not a file)", ()
    if path.suffix in (".parquet", ".pq") and "pyarrow.parquet" in sys.modules:
        return _parquet(absolute, found.st_size, privacy)
    return f" ({format_bytes(found.st_size)})", ()


def _parquet(path: str, size: int, privacy: Privacy) -> tuple[str, tuple[ColumnSummary, ...]]:
    """Read the footer; the last eight bytes of the file are its length and the name of the format."""
    with open(path, "rb") as file:
        file.seek(max(0, size - 8))
        end = file.read(8)
        if len(end) < 8 or end[4:] != b"PAR1" or struct.unpack("<I", end[:4])[0] > MAX_FOOTER_BYTES:
            return f" ({format_bytes(size)})", ()
        metadata = sys.modules["pyarrow.parquet"].read_metadata(file)
    shape = f"{metadata.num_rows}x{metadata.num_columns}"
    return f" ({format_bytes(size)}, {shape}, not read)", columns_of_footer(metadata, privacy)


def _is_local(path: str) -> bool:
    """Check that the path is on a disk of this machine: on an unreachable file server even `stat` never returns.

    A link may still lead to one.
    """
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return not path.startswith(("/net/", "/mnt/", "/Volumes/"))
    mounts = [(line.split(" ")[4], line.partition(" - ")[2].split(" ")[0]) for line in lines]
    above = [(point, kind) for point, kind in mounts if path == point or path.startswith(point.rstrip("/") + "/")]
    return bool(above) and max(above, key=lambda mount: len(mount[0]))[1] in _LOCAL


def _short(text: str) -> str:
    """Replace the home directory, whose path has the user's name, with ``~``."""
    home = os.path.expanduser("~")
    return "~" + text[len(home) :] if len(home) > 1 and text.startswith(home + "/") else text


DESCRIBERS = dict.fromkeys(("pathlib.PurePath", "pathlib._local.PurePath"), describe_path)
