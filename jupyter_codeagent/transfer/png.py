"""A PNG from the sandbox, taken for hostile: only what draws it is kept, and it inflates to just its pixels.

Chunks are those of the PNG specification (third edition), section 11. Text and colour profiles are dropped: they
are compressed as well, and nobody sees them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from jupyter_codeagent.errors import RejectedDataError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEPT = (b"IHDR", b"PLTE", b"tRNS", b"pHYs", b"IDAT", b"IEND")
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
"""By colour type."""
DEPTHS = (1, 2, 4, 8, 16)
MAX_PIXELS = 40_000_000
STEP_BYTES = 1 << 20


def clean_png(data: bytes) -> tuple[bytes, int, int]:
    """The picture alone, its width and its height.

    Raises
    ------
    RejectedDataError
    """
    try:
        chunks = [(kind, body) for kind, body in _chunks(data) if kind in KEPT]
        width, height = _check(chunks)
    except (struct.error, ValueError, zlib.error) as problem:
        raise RejectedDataError(f"A picture from the sandbox is no valid PNG: {problem}.") from problem
    written = b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    return SIGNATURE + written, width, height


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    if not data.startswith(SIGNATURE):
        raise ValueError("its signature is another")
    at = len(SIGNATURE)
    kind = b""
    while kind != b"IEND":
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
        raise ValueError("it has no header or no picture")
    width, height, depth, colour, *methods = struct.unpack(">IIBBBBB", chunks[0][1])
    if colour not in CHANNELS or depth not in DEPTHS or methods != [0, 0, 0]:
        raise ValueError("it is of a form that matplotlib does not write")
    if not 0 < width * height <= MAX_PIXELS:
        raise ValueError(f"it has {width}x{height} pixels; the limit is {MAX_PIXELS // 1_000_000} million")
    line_bytes = 1 + -(-width * depth * CHANNELS[colour] // 8)
    compressed = b"".join(body for kind, body in chunks if kind == b"IDAT")
    if _inflated_bytes(compressed, line_bytes * height) != line_bytes * height:
        raise ValueError("its data are not as many as its pixels")
    return width, height


def _inflated_bytes(compressed: bytes, expected: int) -> int:
    """How many bytes it inflates to; stops one step behind what was expected."""
    inflater = zlib.decompressobj()
    count, left = 0, compressed
    while not inflater.eof and count <= expected:
        piece = inflater.decompress(left, STEP_BYTES)
        left = inflater.unconsumed_tail
        count += len(piece)
        if not piece and not left:
            raise ValueError("its data end too early")
    return count
