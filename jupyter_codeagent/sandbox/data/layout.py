"""How the bytes of a value are cut into pieces, each of which is one file.

They are thought of as one image: the pickle stream, then its buffers. Each piece starts on a page of it, so that a
sandbox can map all of them into one range of memory (`guest.load`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

Extent = tuple[int, int]
"""(offset in the image, length) in bytes."""
Likeness = tuple[tuple[int, int, bytes, bytes], ...]
"""Of each part of a piece: offset, length, first and last bytes. Equal for equal pieces, and for few others."""

PIECE_BYTES = 16 << 20
"""Written in some 10 ms, and few enough of them: 64 for a gigabyte."""
LARGE_BYTES = 1 << 20
"""From here on a buffer has pieces of its own; smaller ones share a piece."""
PAGE_BYTES = 64 << 10
"""The largest page of the processors we know."""
ALIGNMENT = 64
"""Bytes; what Arrow and vectorised loops like to find."""
SAMPLE_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class Piece:
    """What is to be in one file: views of live memory, or of the pickle stream."""

    at: int
    """Offset in the image, on a page."""
    parts: tuple[Part, ...]
    """What is between them is a hole."""

    @property
    def length(self) -> int:
        offset, part = self.parts[-1]
        return offset + part.nbytes

    @property
    def likeness(self) -> Likeness:
        return tuple(
            (offset, part.nbytes, bytes(part[:SAMPLE_BYTES]), bytes(part[-SAMPLE_BYTES:]))
            for offset, part in self.parts
        )


Part = tuple[int, memoryview]
"""(offset in the file, bytes)."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """How a large buffer was cut, for the next time: cuts that stay where they were leave pieces as they are."""

    address: int
    """In live memory; 0 if unknown."""
    length: int
    phase: int
    """Bytes from the last multiple of `PIECE_BYTES` in some larger buffer, of which this may be a part."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    pieces: tuple[Piece, ...]
    buffers: tuple[Extent, ...]
    """Of each buffer, in their order."""
    cuts: tuple[Cut, ...]
    """Of each large one."""


def lay_out(rest: memoryview, buffers: Sequence[memoryview], start: int, known: Sequence[Cut]) -> Layout:
    """The rest of the pickle stream comes to lie at `start`, the small buffers behind it, then the large ones.

    `known` tells how the value's buffers were cut before.
    """
    small = [(index, buffer) for index, buffer in enumerate(buffers) if buffer.nbytes < LARGE_BYTES]
    large = [(index, buffer) for index, buffer in enumerate(buffers) if buffer.nbytes >= LARGE_BYTES]
    extents: dict[int, Extent] = {}
    pieces: list[Piece] = []
    parts: list[Part] = [(0, rest)]
    end = rest.nbytes
    for index, buffer in small:
        if not buffer.nbytes:
            extents[index] = (start + end, 0)
            continue
        offset = _up(end, ALIGNMENT)
        if offset + buffer.nbytes > PIECE_BYTES:
            pieces.append(Piece(at=start, parts=tuple(parts)))
            start, offset, parts = _up(start + end, PAGE_BYTES), 0, []
        extents[index] = (start + offset, buffer.nbytes)
        parts.append((offset, buffer))
        end = offset + buffer.nbytes
    pieces.append(Piece(at=start, parts=tuple(parts)))
    start = _up(start + end, PAGE_BYTES)
    cuts = _cuts([buffer for _, buffer in large], known)
    for (index, buffer), cut in zip(large, cuts, strict=True):
        lead = cut.phase % PAGE_BYTES
        extents[index] = (start + lead, buffer.nbytes)
        pieces += _cut(buffer, cut.phase, start + lead)
        start = _up(start + lead + buffer.nbytes, PAGE_BYTES)
    return Layout(
        pieces=tuple(pieces), buffers=tuple(extents[index] for index in range(len(buffers))), cuts=tuple(cuts)
    )


def _cut(buffer: memoryview, phase: int, at: int) -> list[Piece]:
    pieces, begin = [], 0
    while begin < buffer.nbytes:
        end = min(buffer.nbytes, begin + PIECE_BYTES - (phase + begin) % PIECE_BYTES)
        lead = (at + begin) % PAGE_BYTES  # of the first piece alone
        pieces.append(Piece(at=at + begin - lead, parts=((lead, buffer[begin:end]),)))
        begin = end
    return pieces


def _cuts(buffers: Sequence[memoryview], known: Sequence[Cut]) -> list[Cut]:
    """As before where a buffer is an old one, a part of an old one, or as long as one; else from its begin on.

    A frame whose column is set anew keeps its other columns as parts of the block that they were in.
    """
    found = []
    for buffer in buffers:
        address, length = _address(buffer), buffer.nbytes
        phase = 0
        for old in known:
            inside = address > 0 and old.address <= address and address + length <= old.address + old.length
            if inside or length == old.length:
                phase = (old.phase + (address - old.address if inside else 0)) % PIECE_BYTES
                phase = 0 if phase % _alignment(address) else phase
            if inside:
                break
        found.append(Cut(address=address, length=length, phase=phase))
    return found


def _address(buffer: memoryview) -> int:
    """In live memory; 0 without numpy, which then has no part in the value."""
    numpy = sys.modules.get("numpy")
    return 0 if numpy is None else int(numpy.frombuffer(buffer, "u1").__array_interface__["data"][0])


def _alignment(address: int) -> int:
    """Bytes by which live memory is aligned, as far as loops rely on it: a copy must not be aligned worse."""
    return min(16, address & -address) or 16


def _up(value: int, step: int) -> int:
    return -(-value // step) * step
