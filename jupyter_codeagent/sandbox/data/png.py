"""A PNG from the sandbox, which may be hostile: only what draws it is kept, and it inflates to just its pixels.

Chunks: PNG specification (third edition), section 11. Text and colour profiles are dropped: they are compressed as
well, and nobody sees them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

from jupyter_codeagent.sandbox.data.rejection import rejecting_errors

INVALID = "An image from the sandbox is not a valid PNG"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEPT = (b"IHDR", b"PLTE", b"tRNS", b"pHYs", b"IDAT", b"IEND")
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""By colour type."""
DEPTHS = (1, 2, 4, 8, 16)
MAX_PIXELS = 40_000_000
MAX_CHUNKS = 20_000
"""Libraries write some kilobytes of the image into each chunk."""
STEP_BYTES = 64 << 10


def clean_png(data: bytes) -> tuple[bytes, int, int]:
    """Return the cleaned image, its width and its height.

    Raises
    ------
    RejectedDataError
    """
    with rejecting_errors(INVALID):
        chunks = [(kind, body) for kind, body in _chunks(data) if kind in KEPT]
        width, height = _check(chunks)
    written = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    return SIGNATURE + written, width, height


def png_size(data: bytes) -> tuple[int, int]:
    """Return width and height by the first chunk of an image that need not be valid.

    Raises
    ------
    RejectedDataError
    """
    with rejecting_errors(INVALID):
        kind, header = next(_chunks(data))
        if kind != b"IHDR":
            raise ValueError("it has no header")
        width, height, *_ = _header(header)
        return width, height


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not data.startswith(SIGNATURE):
        raise ValueError("it has no PNG signature")
    at = len(SIGNATURE)
    kind, count = b"", 0
    while kind != b"IEND":
        count += 1
        if count > MAX_CHUNKS:
            raise ValueError(f"it has more than {MAX_CHUNKS:,} chunks")
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack_from(">I", data, at + 8 + length)
        if len(body) != length or zlib.crc32(kind + body) != checksum:
            raise ValueError("a chunk is damaged")
        yield kind, body
        at += 12 + length


def _check(chunks: list[tuple[bytes, bytes]]) -> tuple[int, int]:
    kinds = [kind for kind, _ in chunks]
    if kinds[:1] != [b"IHDR"] or kinds.count(b"IHDR") != 1 or b"IDAT" not in kinds:
        raise ValueError("it has no header or no image data")
    width, height, line_bytes = _header(chunks[0][1])
    compressed = (body for kind, body in chunks if kind == b"IDAT")
    if _inflated_bytes(compressed, line_bytes * height) != line_bytes * height:
        raise ValueError("its data do not fit its number of pixels")
    return width, height


def _header(header: bytes) -> tuple[int, int, int]:
    """Return width, height, and bytes of a line."""
    width, height, depth, colour, *methods = struct.unpack(">IIBBBBB", header)
    if colour not in CHANNELS or depth not in DEPTHS or methods != [0, 0, 0]:
        raise ValueError("matplotlib does not write this format")
    if not 0 < width * height <= MAX_PIXELS:
        raise ValueError(f"it has {width}x{height} pixels; the limit is {MAX_PIXELS // 1_000_000} million")
    return width, height, 1 + -(-width * depth * CHANNELS[colour] // 8)


def _inflated_bytes(pieces: Iterable[bytes], expected: int) -> int:
    """Count the bytes that the pieces inflate to; stop one step after the expected number."""
    inflater = zlib.decompressobj()
    count = 0
    for piece in pieces:
        for start in range(0, len(piece), STEP_BYTES):
            left = piece[start : start + STEP_BYTES]
            while left and not inflater.eof:
                count += len(inflater.decompress(left, STEP_BYTES))
                left = inflater.unconsumed_tail
                if count > expected:
                    return count
    if not inflater.eof:
        raise ValueError("its data end too early")
    return count
