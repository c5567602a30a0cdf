"""PNG and JPEG, checked by their contents, not by their declared type."""

from __future__ import annotations

import base64
import binascii
import struct

MAX_IMAGE_BYTES = 8 << 20
MAX_PIXELS = 100_000_000
"""Limit for an image: a few kilobytes of PNG can decode to gigabytes in the browser."""

MAX_SEGMENTS = 1000
"""Limit for parts of a JPEG before its size; a byte that only fills counts as one."""

BLANKS = b" \t\n\r\v\f"
_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
# Start-of-frame markers; C4, C8 and CC in between are tables (ITU T.81, table B.1).
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
# Tables, restart intervals, comments, data of programs. Any other marker has no length, or none that readers use:
# what stands behind it could be read here in one way and drawn in another.
_SEGMENTS = frozenset({0xC4, 0xCC, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0)})
_FILL = 0xFF


class BadImageError(ValueError):
    """The image is not allowed; `str()` is the reason in a few words."""


def clean_image(mime: str, value: object) -> str:
    """Return a valid image as base64 without blanks.

    Raises
    ------
    BadImageError
    """
    if not isinstance(value, str) or len(value) > MAX_IMAGE_BYTES * 3 // 2:
        raise BadImageError(f"larger than {MAX_IMAGE_BYTES >> 20} MiB" if isinstance(value, str) else "not base64")
    try:
        raw = base64.b64decode(value.encode("ascii").translate(None, BLANKS), validate=True)
    except (binascii.Error, ValueError):
        raise BadImageError("not base64") from None
    if len(raw) > MAX_IMAGE_BYTES:
        raise BadImageError(f"larger than {MAX_IMAGE_BYTES >> 20} MiB")
    width, height = image_size(mime, raw)
    if not 0 < width * height <= MAX_PIXELS:
        raise BadImageError(f"{width}x{height} pixels; the limit is {MAX_PIXELS // 1_000_000} million")
    return base64.b64encode(raw).decode()


def image_size(mime: str, raw: bytes) -> tuple[int, int]:
    """Return width and height in pixels.

    Raises
    ------
    BadImageError
        The bytes are not of that type.
    """
    try:
        return _png_size(raw) if mime == "image/png" else _jpeg_size(raw)
    except (struct.error, IndexError):
        raise BadImageError("truncated") from None


def _png_size(raw: bytes) -> tuple[int, int]:
    if not raw.startswith(_PNG) or raw[12:16] != b"IHDR":
        raise BadImageError("not a PNG")
    width, height = struct.unpack_from(">II", raw, 16)
    return width, height


def _jpeg_size(raw: bytes) -> tuple[int, int]:
    if not raw.startswith(_JPEG):
        raise BadImageError("not a JPEG")
    at = 2
    for _ in range(MAX_SEGMENTS):
        marker = raw[at + 1]
        if raw[at] != 0xFF or marker not in _FRAMES | _SEGMENTS | {_FILL}:
            break
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", raw, at + 5)
            return width, height
        at += 1 if marker == _FILL else 2 + struct.unpack_from(">H", raw, at + 2)[0]
    raise BadImageError("not a JPEG")
