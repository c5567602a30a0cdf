"""Measurement of what hostile code has written to a directory of the host.

It works with directory descriptors: paths may be longer than any system call takes, and links are never followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_codeagent.sandbox.removal import DIRECTORY

MAX_DEPTH = 64
"""No honest program nests directories deeper; each level costs a descriptor."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Size and number of files of one tree."""

    size_bytes: int = 0
    """Bytes on disk, not the files' lengths, which sparse files exceed."""
    files: int = 0
    """Directories included."""
    fault: str = ""
    """Why the rest was not counted: too deep, or not readable."""


def measure_tree(root: Path, *, max_files: int) -> Contents:
    """Measure a tree; stop counting above `max_files`."""
    size_bytes = files = 0
    try:
        for entry in _entries(os.open(root, DIRECTORY), 0):
            files += 1
            size_bytes += entry.st_blocks * 512
            if files > max_files:
                break
    except FileNotFoundError:
        return Contents(size_bytes=size_bytes, files=files)  # removed meanwhile
    except TooDeepError:
        return Contents(size_bytes=size_bytes, files=files, fault=f"directories more than {MAX_DEPTH} deep")
    except OSError as problem:
        fault = f"a directory that cannot be read ({problem.strerror})"
        return Contents(size_bytes=size_bytes, files=files, fault=fault)
    return Contents(size_bytes=size_bytes, files=files)


class TooDeepError(Exception):
    """Deeper than `MAX_DEPTH`."""


def _entries(directory: int, depth: int) -> Iterator[os.stat_result]:
    """Yield the stat of everything below; close the descriptor."""
    try:
        if depth > MAX_DEPTH:
            raise TooDeepError
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    found = os.stat(entry.name, dir_fd=directory, follow_symlinks=False)
                except FileNotFoundError:
                    continue  # removed meanwhile
                yield found
                if stat.S_ISDIR(found.st_mode):
                    try:
                        below = os.open(entry.name, DIRECTORY, dir_fd=directory)
                    except (FileNotFoundError, NotADirectoryError):
                        continue
                    yield from _entries(below, depth + 1)
    finally:
        os.close(directory)


def unlinked_bytes(pids: Iterable[int], root: Path, *, unknown_bytes: int, ignored: Container[int] = ()) -> int:
    """Return the bytes on disk in files that have no name any more, but are open or mapped in processes (proc(5)).

    The size of a file that is mapped and not open is unknown; it counts as `unknown_bytes`. Inodes in `ignored` are
    not counted.
    """
    try:
        device = root.stat().st_dev
    except OSError:
        return 0
    sizes: dict[int, int] = {}
    for pid in pids:
        opened = dict(_open_files(pid, device))
        sizes |= {inode: unknown_bytes for inode in _mapped(pid, device) if inode not in opened} | opened
    return sum(size for inode, size in sizes.items() if inode not in ignored)


def unlinked_mapped(pids: Iterable[int], root: Path) -> set[int]:
    """Return inodes on the disk of `root` that have no name any more and are mapped in these processes."""
    device = root.stat().st_dev
    return {inode for pid in pids for inode in _mapped(pid, device)}


def _open_files(pid: int, device: int) -> Iterator[tuple[int, int]]:
    """Yield inode and bytes on disk of open files without a name."""
    for path in _listed(f"/proc/{pid}/fd"):
        try:
            found = os.stat(path)
        except OSError:
            continue  # closed meanwhile
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 0 and found.st_dev == device:
            yield found.st_ino, found.st_blocks * 512


def _mapped(pid: int, device: int) -> Iterator[int]:
    """Yield inodes of mapped files without a name."""
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}"
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return  # it ended meanwhile
    for line in lines:
        if line.endswith(" (deleted)"):
            _, _, _, at, inode, *_ = line.split()
            if at == wanted:
                yield int(inode)


def _listed(directory: str) -> list[str]:
    try:
        return [f"{directory}/{name}" for name in os.listdir(directory)]
    except OSError:
        return []
