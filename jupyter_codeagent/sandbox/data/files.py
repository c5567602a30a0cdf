"""Images on disk: files that never change. What an earlier image of a value has is not written again.

A piece that is no longer needed is removed as a whole file, so that no sandbox finds in the directory what the user
has taken out of a frame.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jupyter_codeagent.sandbox.data.layout import PIECE_BYTES, Cut, Extent, Likeness, Piece, lay_out

T = TypeVar("T")
File = tuple[str, int, int]
"""(name, offset in the image, length) of one piece."""

COMPARE_BYTES = 256 << 10
"""Small enough to stay in the processor's cache between the read and the comparison."""
CANDIDATES = 4
"""Stored pieces of equal likeness that are compared with a new one at most."""
THREADS = min(4, os.cpu_count() or 1)
"""Writing to memory waits for zeroed pages, which the system makes on several processors at once."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """One value on disk."""

    files: tuple[File, ...] = ()
    likenesses: tuple[Likeness, ...] = ()
    """One for each of `files`."""
    head: Extent = (0, 0)
    """The pickle stream."""
    buffers: tuple[Extent, ...] = ()
    cuts: tuple[Cut, ...] = ()

    @property
    def size_bytes(self) -> int:
        return self.head[1] + sum(length for _, length in self.buffers)


class ImageWriter(io.RawIOBase):
    """Makes an image in `directory`, of what is in `known` and of new files for the rest.

    The pickle stream is written to it first and is never in memory as a whole. Then comes `finish`, or `discard`.
    """

    def __init__(self, directory: Path, known: Image, new_name: Callable[[], str]) -> None:
        super().__init__()
        self._directory = directory
        self._known = known
        self._new_name = new_name
        self._alike: dict[Likeness, dict[int, str]] = {}
        """Names of known files by offset."""
        for likeness, (name, at, _) in zip(known.likenesses, known.files, strict=True):
            self._alike.setdefault(likeness, {})[at] = name
        self._files: list[File] = []
        self._likenesses: list[Likeness] = []
        self._head = bytearray()
        self.size_bytes = 0
        """Of what it was given up to now."""

    def write(self, data: Any) -> int:
        """The next bytes of the pickle stream. Raises OSError where there is no room."""
        view = memoryview(data).cast("B")
        self.size_bytes += view.nbytes
        for at in range(0, view.nbytes, PIECE_BYTES):
            self._head += view[at : at + PIECE_BYTES]
            if len(self._head) > PIECE_BYTES:
                with memoryview(self._head) as head, head[:PIECE_BYTES] as first:
                    piece = Piece(at=len(self._files) * PIECE_BYTES, parts=((0, first),))
                    self._add([piece], [self._find(piece)])
                    del piece
                del self._head[:PIECE_BYTES]
        return view.nbytes

    def finish(self, buffers: Sequence[memoryview]) -> Image:
        """The image, with these buffers; what is no longer needed of `known` is removed.

        Raises
        ------
        OSError
            No room, for instance.
        """
        self.size_bytes += sum(buffer.nbytes for buffer in buffers)
        start = len(self._files) * PIECE_BYTES
        layout = lay_out(memoryview(self._head), buffers, start, self._known.cuts)
        found = _in_threads(self._find, layout.pieces)
        needed = {*found, *(name for name, _, _ in self._files)}
        remove_files(self._directory, {name for name, _, _ in self._known.files} - needed)  # first: it makes room
        self._add(layout.pieces, found)
        return Image(
            files=tuple(self._files),
            likenesses=tuple(self._likenesses),
            head=(0, start + len(self._head)),
            buffers=layout.buffers,
            cuts=layout.cuts,
        )

    def discard(self) -> None:
        """Remove what was written, and what was known."""
        remove_files(self._directory, {name for name, _, _ in (*self._files, *self._known.files)})

    def _find(self, piece: Piece) -> str | None:
        """The file that holds exactly this piece."""
        alike = self._alike.get(piece.likeness, {})
        in_place = [alike[piece.at]] if piece.at in alike else []
        for name in (*in_place, *itertools.islice(alike.values(), CANDIDATES)):
            if holds(self._directory / name, piece):
                return name
        return None

    def _add(self, pieces: Sequence[Piece], found: Sequence[str | None]) -> None:
        names = [name or self._new_name() for name in found]
        for piece, name in zip(pieces, names, strict=True):
            self._files.append((name, piece.at, piece.length))
            self._likenesses.append(piece.likeness)
        missing = [(name, piece) for name, piece, old in zip(names, pieces, found, strict=True) if old is None]
        _in_threads(lambda item: write_piece(self._directory / item[0], item[1]), missing)


def write_piece(path: Path, piece: Piece) -> None:
    """Write a new file, readable by the user alone. Raises OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb", buffering=0) as file:
        for offset, part in piece.parts:
            file.seek(offset)
            written = 0
            while written < part.nbytes:
                written += file.write(part[written:])


def holds(path: Path, piece: Piece) -> bool:
    """Whether the file holds exactly this piece. Stops at the first difference."""
    with path.open("rb", buffering=0) as file:
        return all(_same(file, offset, part) for offset, part in piece.parts)


def _same(file: io.FileIO, start: int, part: memoryview) -> bool:
    """Reading beats mapping: a page fault costs more than a copy of the page."""
    stored = bytearray(min(COMPARE_BYTES, part.nbytes))
    file.seek(start)
    for at in range(0, part.nbytes, COMPARE_BYTES):
        live = part[at : at + COMPARE_BYTES]
        if live.nbytes < len(stored):
            del stored[live.nbytes :]
        # A bytearray on the left compares by memcmp with anything; a memoryview goes item by item.
        if file.readinto(stored) != live.nbytes or stored != live:
            return False
    return True


def read_extent(directory: Path, files: Iterable[File], extent: Extent) -> Iterator[bytes]:
    """The bytes of one extent of an image, piece by piece."""
    begin, length = extent
    for name, start, size in files:
        low, high = max(begin, start), min(begin + length, start + size)
        if low < high:
            with (directory / name).open("rb") as file:
                file.seek(low - start)
                yield file.read(high - low)


def remove_files(directory: Path, names: Iterable[str]) -> None:
    for name in names:
        (directory / name).unlink(missing_ok=True)


def _in_threads(work: Callable[[Any], T], items: Sequence[Any]) -> list[T]:
    """One result for each item, in their order. When one fails, or the user interrupts, no other begins."""
    if len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, items))
