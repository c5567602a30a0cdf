"""The layout of a value's bytes in pieces, each of which is one file.

Together they form one image: the pickle stream, then its buffers. Each piece starts on a page of the image, so that
a sandbox can map all of them into one range of memory (`guest.load`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

Extent = tuple[int, int]
"""(offset in the image, length) in bytes."""
PieceFingerprint = tuple[tuple[int, int, bytes, bytes], ...]
"""Offset, length, first and last bytes of each part of a piece. Equal for equal pieces, and for few others."""

PIECE_BYTES = 16 << 20
"""A piece is written in about 10 ms, and a gigabyte has only 64 of them."""
LARGE_BYTES = 1 << 20
"""Buffers of at least this size have pieces of their own; smaller ones share a piece."""
PAGE_BYTES = 64 << 10
"""The largest page size of known processors."""
ALIGNMENT = 64
"""Bytes; the alignment that Arrow and vectorised loops prefer."""
SAMPLE_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class Piece:
    """The content of one file: views of live memory, or of the pickle stream."""

    at: int
    """Offset in the image, at the start of a page."""
    parts: tuple[Part, ...]
    """Gaps between parts are holes in the file."""

    @property
    def length(self) -> int:
        """Length of the file in bytes."""
        offset, part = self.parts[-1]
        return offset + part.nbytes

    @property
    def fingerprint(self) -> PieceFingerprint:
        """Lengths and samples of the parts, for a quick comparison."""
        return tuple(
            (offset, part.nbytes, bytes(part[:SAMPLE_BYTES]), bytes(part[-SAMPLE_BYTES:]))
            for offset, part in self.parts
        )


Part = tuple[int, memoryview]
"""(offset in the file, bytes)."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """How a large buffer was cut, for the next export: equal cuts leave pieces unchanged."""

    address: int
    """Address in live memory; 0 if unknown."""
    length: int
    phase: int
    """Bytes from the last multiple of `PIECE_BYTES` in some larger buffer, of which this may be a part."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Pieces and extents of one image."""

    pieces: tuple[Piece, ...]
    buffers: tuple[Extent, ...]
    """Extent of each buffer, in their order."""
    cuts: tuple[Cut, ...]
    """Cut of each large buffer."""


def lay_out(rest: memoryview, buffers: Sequence[memoryview], start: int, known: Sequence[Cut]) -> Layout:
    """Lay out the rest of the pickle stream at `start`, the small buffers behind it, then the large ones.

    `known` are the cuts of the value's buffers in the previous export.
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
        offset = _round_up(end, ALIGNMENT)
        if offset + buffer.nbytes > PIECE_BYTES:
            pieces.append(Piece(at=start, parts=tuple(parts)))
            start, offset, parts = _round_up(start + end, PAGE_BYTES), 0, []
        extents[index] = (start + offset, buffer.nbytes)
        parts.append((offset, buffer))
        end = offset + buffer.nbytes
    pieces.append(Piece(at=start, parts=tuple(parts)))
    start = _round_up(start + end, PAGE_BYTES)
    cuts = _find_cuts([buffer for _, buffer in large], known)
    for (index, buffer), cut in zip(large, cuts, strict=True):
        lead = cut.phase % PAGE_BYTES
        extents[index] = (start + lead, buffer.nbytes)
        pieces += _cut_buffer(buffer, cut.phase, start + lead)
        start = _round_up(start + lead + buffer.nbytes, PAGE_BYTES)
    return Layout(
        pieces=tuple(pieces), buffers=tuple(extents[index] for index in range(len(buffers))), cuts=tuple(cuts)
    )


def _cut_buffer(buffer: memoryview, phase: int, at: int) -> list[Piece]:
    pieces, begin = [], 0
    while begin < buffer.nbytes:
        end = min(buffer.nbytes, begin + PIECE_BYTES - (phase + begin) % PIECE_BYTES)
        lead = (at + begin) % PAGE_BYTES  # not 0 for the first piece only
        pieces.append(Piece(at=at + begin - lead, parts=((lead, buffer[begin:end]),)))
        begin = end
    return pieces


def _find_cuts(buffers: Sequence[memoryview], known: Sequence[Cut]) -> list[Cut]:
    """Cut as before a buffer that is an old one, a part of an old one, or as long as one; others from their start.

    When a column of a frame is replaced, its other columns stay parts of the block that they were in.
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
    """Return the address in live memory; 0 if numpy is not imported, since the value then cannot use it."""
    numpy = sys.modules.get("numpy")
    return 0 if numpy is None else int(numpy.frombuffer(buffer, "u1").__array_interface__["data"][0])


def _alignment(address: int) -> int:
    """Return the alignment of live memory as far as loops rely on it: a copy must not be aligned worse."""
    return min(16, address & -address) or 16


def _round_up(value: int, step: int) -> int:
    return -(-value // step) * step
