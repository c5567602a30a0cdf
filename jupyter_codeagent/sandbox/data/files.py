"""Images on disk: files that never change. Pieces of an earlier image of a value are not written again.

A piece that is no longer needed is removed as a whole file, so that no sandbox finds in the directory what the user
has removed from a frame.
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

from jupyter_codeagent.sandbox.data.layout import PIECE_BYTES, Cut, Extent, Piece, PieceFingerprint, lay_out

T = TypeVar("T")
File = tuple[str, int, int]
"""(name, offset in the image, length) of one piece."""

COMPARE_BYTES = 256 << 10
"""Small enough to stay in the processor's cache between the read and the comparison."""
MAX_CANDIDATES = 4
"""Limit for stored pieces of equal fingerprint that are compared with a new one."""
THREADS = min(4, os.cpu_count() or 1)
"""Writing to memory waits for zeroed pages, which the system provides on several processors at once."""


@dataclass(frozen=True, kw_only=True)
class Image:
    """One value on disk."""

    files: tuple[File, ...] = ()
    fingerprints: tuple[PieceFingerprint, ...] = ()
    """One for each of `files`."""
    head: Extent = (0, 0)
    """The pickle stream."""
    buffers: tuple[Extent, ...] = ()
    cuts: tuple[Cut, ...] = ()

    @property
    def size_bytes(self) -> int:
        """Bytes of the pickle stream and the buffers."""
        return self.head[1] + sum(length for _, length in self.buffers)


class ImageWriter(io.RawIOBase):
    """Writer of an image to `directory`, which reuses files of `known` and adds new files for the rest.

    The pickle stream is written first and is never in memory as a whole. Then `finish` or `discard` is called.
    """

    def __init__(self, directory: Path, known: Image, new_name: Callable[[], str]) -> None:
        super().__init__()
        self._directory = directory
        self._known = known
        self._new_name = new_name
        self._known_pieces: dict[PieceFingerprint, dict[int, str]] = {}
        """Names of known files by offset."""
        for fingerprint, (name, at, _) in zip(known.fingerprints, known.files, strict=True):
            self._known_pieces.setdefault(fingerprint, {})[at] = name
        self._files: list[File] = []
        self._fingerprints: list[PieceFingerprint] = []
        self._head = bytearray()
        self.size_bytes = 0
        """Bytes that were written up to now."""

    def write(self, data: Any) -> int:
        """Write the next bytes of the pickle stream.

        Raises
        ------
        OSError
            If there is no space left, for instance.
        """
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
        """Return the image with these buffers, and remove the files of `known` that it does not need.

        Raises
        ------
        OSError
            If there is no space left, for instance.
        """
        self.size_bytes += sum(buffer.nbytes for buffer in buffers)
        start = len(self._files) * PIECE_BYTES
        layout = lay_out(memoryview(self._head), buffers, start, self._known.cuts)
        found = _in_threads(self._find, layout.pieces)
        needed = {*found, *(name for name, _, _ in self._files)}
        remove_files(self._directory, {name for name, _, _ in self._known.files} - needed)  # first: it frees space
        self._add(layout.pieces, found)
        return Image(
            files=tuple(self._files),
            fingerprints=tuple(self._fingerprints),
            head=(0, start + len(self._head)),
            buffers=layout.buffers,
            cuts=layout.cuts,
        )

    def discard(self) -> None:
        """Remove the files that were written, and those of the known image."""
        remove_files(self._directory, {name for name, _, _ in (*self._files, *self._known.files)})

    def _find(self, piece: Piece) -> str | None:
        """Return the name of the file that holds exactly this piece."""
        known_pieces = self._known_pieces.get(piece.fingerprint, {})
        in_place = [known_pieces[piece.at]] if piece.at in known_pieces else []
        for name in (*in_place, *itertools.islice(known_pieces.values(), MAX_CANDIDATES)):
            if holds(self._directory / name, piece):
                return name
        return None

    def _add(self, pieces: Sequence[Piece], found: Sequence[str | None]) -> None:
        names = [name or self._new_name() for name in found]
        for piece, name in zip(pieces, names, strict=True):
            self._files.append((name, piece.at, piece.length))
            self._fingerprints.append(piece.fingerprint)
        missing = [(name, piece) for name, piece, old in zip(names, pieces, found, strict=True) if old is None]
        _in_threads(lambda item: write_piece(self._directory / item[0], item[1]), missing)


def write_piece(path: Path, piece: Piece) -> None:
    """Write a new file, readable by the user only.

    Raises
    ------
    OSError
    """
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb", buffering=0) as file:
        for offset, part in piece.parts:
            file.seek(offset)
            written = 0
            while written < part.nbytes:
                written += file.write(part[written:])


def holds(path: Path, piece: Piece) -> bool:
    """Check whether the file holds exactly this piece. Stops at the first difference."""
    with path.open("rb", buffering=0) as file:
        return all(_same(file, offset, part) for offset, part in piece.parts)


def _same(file: io.FileIO, start: int, part: memoryview) -> bool:
    """Compare by reading, which beats mapping: a page fault costs more than a copy of the page."""
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
    """Yield the bytes of one extent of an image, piece by piece."""
    begin, length = extent
    for name, start, size in files:
        low, high = max(begin, start), min(begin + length, start + size)
        if low < high:
            with (directory / name).open("rb") as file:
                file.seek(low - start)
                yield file.read(high - low)


def remove_files(directory: Path, names: Iterable[str]) -> None:
    """Remove files that may be missing."""
    for name in names:
        (directory / name).unlink(missing_ok=True)


def _in_threads(work: Callable[[Any], T], items: Sequence[Any]) -> list[T]:
    """Return one result for each item, in order. When one fails, or the user interrupts, no other begins."""
    if len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(work, items))
