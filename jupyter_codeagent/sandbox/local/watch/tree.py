"""How much hostile code has written to a directory of the host.

Through directory descriptors: paths may be longer than any call takes, and links are never followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_codeagent.sandbox.removal import DIRECTORY

MAX_DEPTH = 64
"""No honest program nests directories deeper; each level that is looked at costs a descriptor."""


@dataclass(frozen=True, kw_only=True)
class Contents:
    """Of one tree."""

    size_bytes: int = 0
    """On the disk, not by the files' lengths: sparse files are no exit."""
    files: int = 0
    """Directories included."""
    fault: str = ""
    """Why the rest was not counted: too deep, or not to be looked into."""


def measure_tree(root: Path, *, max_files: int) -> Contents:
    """Stops counting above `max_files`."""
    size_bytes = files = 0
    try:
        for entry in _entries(os.open(root, DIRECTORY), 0):
            files += 1
            size_bytes += entry.st_blocks * 512
            if files > max_files:
                break
    except FileNotFoundError:
        return Contents(size_bytes=size_bytes, files=files)  # removed while we looked
    except TooDeepError:
        return Contents(size_bytes=size_bytes, files=files, fault=f"directories more than {MAX_DEPTH} deep")
    except OSError as problem:
        fault = f"a directory that cannot be looked into ({problem.strerror})"
        return Contents(size_bytes=size_bytes, files=files, fault=fault)
    return Contents(size_bytes=size_bytes, files=files)


class TooDeepError(Exception):
    """Deeper than `MAX_DEPTH`."""


def _entries(directory: int, depth: int) -> Iterator[os.stat_result]:
    """Of everything below; closes the descriptor."""
    try:
        if depth > MAX_DEPTH:
            raise TooDeepError
        with os.scandir(directory) as entries:
            for entry in entries:
                try:
                    found = os.stat(entry.name, dir_fd=directory, follow_symlinks=False)
                except FileNotFoundError:
                    continue  # removed while we looked
                yield found
                if stat.S_ISDIR(found.st_mode):
                    try:
                        below = os.open(entry.name, DIRECTORY, dir_fd=directory)
                    except (FileNotFoundError, NotADirectoryError):
                        continue
                    yield from _entries(below, depth + 1)
    finally:
        os.close(directory)


def unlinked_bytes(pids: Iterable[int], root: Path, *, unknown_bytes: int, apart: Container[int] = ()) -> int:
    """On the disk in files that have no name any more, but are open or mapped in these processes (proc(5)).

    How large one is that is mapped and not open cannot be seen; it counts as `unknown_bytes`. Those `apart`, by
    inode, are not counted.
    """
    try:
        device = root.stat().st_dev
    except OSError:
        return 0
    sizes: dict[int, int] = {}
    for pid in pids:
        opened = dict(_open_files(pid, device))
        sizes |= {inode: unknown_bytes for inode in _mapped(pid, device) if inode not in opened} | opened
    return sum(size for inode, size in sizes.items() if inode not in apart)


def unlinked_mapped(pids: Iterable[int], root: Path) -> set[int]:
    """Inodes on the disk of `root` that have no name any more and are mapped in these processes."""
    device = root.stat().st_dev
    return {inode for pid in pids for inode in _mapped(pid, device)}


def _open_files(pid: int, device: int) -> Iterator[tuple[int, int]]:
    """Inode and bytes on the disk."""
    for path in _listed(f"/proc/{pid}/fd"):
        try:
            found = os.stat(path)
        except OSError:
            continue  # closed while we looked
        if stat.S_ISREG(found.st_mode) and found.st_nlink == 0 and found.st_dev == device:
            yield found.st_ino, found.st_blocks * 512


def _mapped(pid: int, device: int) -> Iterator[int]:
    """Inodes."""
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}"
    try:
        lines = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return  # it ended while we looked
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
