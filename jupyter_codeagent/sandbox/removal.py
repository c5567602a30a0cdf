"""Removal of a directory that hostile code has filled.

Trees may be deeper than any recursion, paths longer than any system call takes, directories without permissions.
So this works with directory descriptors, one level at a time, and follows no link.
"""

from __future__ import annotations

import os
from pathlib import Path

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(root: Path) -> None:
    """Remove the whole tree. No process may write to it any more.

    Raises
    ------
    OSError
        If something in it cannot be removed.
    """
    root.chmod(0o700)
    directory = os.open(root, DIRECTORY)
    try:
        _empty(directory)
    finally:
        os.close(directory)
    root.rmdir()


def _empty(top: int) -> None:
    """Empty a directory: down the first subdirectory until there is none, and up again by `..`, at any depth."""
    names: list[str] = []
    here = os.dup(top)
    try:
        while True:
            below = _clear_level(here)
            if below is not None:
                names.append(below)
                os.chmod(below, 0o700, dir_fd=here)
                here = _moved(here, below)
            elif names:
                here = _moved(here, "..")
                os.rmdir(names.pop(), dir_fd=here)
            else:
                return
    finally:
        os.close(here)


def _clear_level(directory: int) -> str | None:
    """Remove all that are not directories, and return the name of one that is, if there is any."""
    below = None
    with os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                below = entry.name
            else:
                os.unlink(entry.name, dir_fd=directory)
    return below


def _moved(directory: int, name: str) -> int:
    there = os.open(name, DIRECTORY, dir_fd=directory)
    os.close(directory)
    return there
