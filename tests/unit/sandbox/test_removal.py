"""Directories that hostile code has filled go away, whatever is in them."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from pathlib import Path

from jupyter_codeagent.sandbox.local.watch.tree import MAX_DEPTH, measure_tree, unlinked_bytes, unlinked_mapped
from jupyter_codeagent.sandbox.removal import remove_tree


def deep(root: Path, depth: int) -> None:
    """A chain of directories, deeper than a path may be long."""
    here = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 100, dir_fd=here)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_a_tree_deeper_than_any_recursion_is_removed(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    deep(root, 3000)
    remove_tree(root)
    assert not root.exists()


def test_directories_without_permissions_are_removed(tmp_path: Path) -> None:
    root = tmp_path / "r"
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "f").write_text("x")
    (root / "a" / "b").chmod(0)
    (root / "a").chmod(0o300)
    remove_tree(root)
    assert not root.exists()


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "f").write_text("x")
    root = tmp_path / "r"
    root.mkdir()
    (root / "link").symlink_to(kept)
    (root / "other").symlink_to(kept / "f")
    os.mkfifo(root / "pipe")
    remove_tree(root)
    assert not root.exists()
    assert (kept / "f").read_text() == "x"


def test_what_is_in_a_tree_is_counted_by_blocks_and_not_by_length(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "full").write_bytes(b"x" * 100_000)
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "out").symlink_to("/usr")
    found = measure_tree(tmp_path, max_files=100)
    assert found.files == 4
    assert 100_000 <= found.size_bytes < 1 << 20
    assert not found.fault


def test_counting_stops_above_the_limit(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / str(number)).touch()
    assert measure_tree(tmp_path, max_files=5).files == 6


def test_a_tree_that_is_too_deep_is_a_fault(tmp_path: Path) -> None:
    root = tmp_path / "r"
    root.mkdir()
    deep(root, MAX_DEPTH + 5)
    assert "deep" in measure_tree(root, max_files=1000).fault
    remove_tree(root)


def test_files_without_a_name_are_found_while_they_are_open(tmp_path: Path) -> None:
    before = unlinked_bytes([os.getpid()], tmp_path, unknown_bytes=1 << 40)  # other tests may have some
    path = tmp_path / "f"
    with path.open("wb+") as file:
        file.write(b"x" * 300_000)
        file.flush()
        path.unlink()
        found = unlinked_bytes([os.getpid()], tmp_path, unknown_bytes=1 << 40) - before
    assert 300_000 <= found < 1 << 20
    assert unlinked_bytes([os.getpid()], tmp_path, unknown_bytes=1 << 40) == before


def test_a_file_without_a_name_that_is_mapped_and_not_open_counts_as_unknown(tmp_path: Path) -> None:
    code = """
import ctypes, os, sys
fd = os.open("f", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 1 << 20)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
assert libc.mmap(None, 4096, 3, 1, fd, ctypes.c_long(0)) != -1
os.unlink("f")
os.close(fd)
print("mapped", flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"mapped\n"
        assert unlinked_bytes([process.pid], tmp_path, unknown_bytes=7) == 7


def test_a_copy_that_the_host_has_removed_is_told_apart_from_what_the_code_hides(tmp_path: Path) -> None:
    path = tmp_path / "copy"
    path.write_bytes(bytes(4096))
    with path.open("rb") as file:
        held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    inode = path.stat().st_ino
    path.unlink()
    counted = unlinked_bytes([os.getpid()], tmp_path, unknown_bytes=1 << 40)
    assert counted > unlinked_bytes([os.getpid()], tmp_path, unknown_bytes=1 << 40, ignored={inode})
    assert inode in unlinked_mapped([os.getpid()], tmp_path)
    held.close()
    assert inode not in unlinked_mapped([os.getpid()], tmp_path)
