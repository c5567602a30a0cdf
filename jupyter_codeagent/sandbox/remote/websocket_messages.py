"""Kernel messages on a Jupyter server's websocket: in the format `V1`, and in the older one without a name.

A message to send is given as the JSON parts header, parent header, metadata and content, and buffers. Received
messages may be forged: counts, sizes and types are checked before they are used.
"""

from __future__ import annotations

import itertools
import json
import struct
from collections.abc import Sequence
from typing import Any, Protocol

from jupyter_codeagent.sandbox.local.channels.wire import MAX_HEADER_BYTES, TYPE, MalformedMessageError, Received

V1 = "v1.kernel.websocket.jupyter.org"
MAX_PARTS = 64
MAX_JSON_FORMAT_BYTES = 8 << 20
"""Limit for the JSON of the older format. All of it has to be parsed to identify a message, and objects take 20
times the memory of their text. Large values come as buffers, and an output of this size would be dropped anyway."""
_PARTS = ("header", "parent_header", "metadata", "content")
_CHANNEL_CHARS = 16


class MessageFormat(Protocol):
    """One way to write a message."""

    def pack(self, channel: str, parts: Sequence[bytes], buffers: Sequence[bytes | memoryview]) -> bytes | str:
        """Return the message as the websocket sends it."""
        ...

    def read(self, data: bytes | str) -> tuple[str, Received]:
        """Read channel and message.

        Raises
        ------
        MalformedMessageError
        """
        ...


def message_format(subprotocol: str | None) -> MessageFormat:
    """Return the format of a websocket for which the server has selected this subprotocol."""
    return OffsetFormat() if subprotocol == V1 else JsonFormat()


class OffsetFormat:
    """`V1`: number of offsets, the offsets (64 bits, little endian), channel, four JSON parts, buffers."""

    def pack(self, channel: str, parts: Sequence[bytes], buffers: Sequence[bytes | memoryview]) -> bytes:
        chunks = [channel.encode("ascii"), *parts, *buffers]
        offsets = _ends(chunks, start=8 * (len(chunks) + 2))
        return b"".join([struct.pack(f"<{len(offsets) + 1}Q", len(offsets), *offsets), *chunks])

    def read(self, data: bytes | str) -> tuple[str, Received]:
        if isinstance(data, str) or len(data) < 8:
            raise MalformedMessageError("not a message in offsets")
        count = int.from_bytes(data[:8], "little")
        if not len(_PARTS) + 2 <= count <= MAX_PARTS or len(data) < 8 * (count + 1):
            raise MalformedMessageError(f"{count} offsets in {len(data):,} bytes")
        offsets = struct.unpack_from(f"<{count}Q", data, 8)
        channel, header, parent, _, content, *buffers = _cut(data, offsets, begin=8 * (count + 1))
        return _text(channel[:_CHANNEL_CHARS]), Received(
            **_addressed(_header(header), _header(parent)),
            content=content.tobytes(),
            buffers=tuple(buffers),
        )


class JsonFormat:
    """One JSON object. With buffers: number of parts, their offsets (32 bits, big endian), object, buffers."""

    def pack(self, channel: str, parts: Sequence[bytes], buffers: Sequence[bytes | memoryview]) -> bytes | str:
        fields = [b'"%s":%s' % (name.encode(), part) for name, part in zip(_PARTS, parts, strict=True)]
        text = b"{%s}" % b",".join([*fields, b'"channel":"%s"' % channel.encode("ascii")])
        if not buffers:
            return (text[:-1] + b',"buffers":[]}').decode()
        chunks = [text, *buffers]
        offsets = _ends(chunks, start=4 * (len(chunks) + 1))[:-1]
        return b"".join([struct.pack(f">{len(chunks) + 1}I", len(chunks), *offsets), *chunks])

    def read(self, data: bytes | str) -> tuple[str, Received]:
        text, buffers = (data, ()) if isinstance(data, str) else _text_and_buffers(data)
        if len(text) > MAX_JSON_FORMAT_BYTES:
            raise MalformedMessageError(f"{len(text):,} characters of JSON; the limit is {MAX_JSON_FORMAT_BYTES:,}")
        message = _object(text)
        channel, content = message.get("channel"), message.get("content")
        if not isinstance(channel, str) or not isinstance(content, dict):
            raise MalformedMessageError("a message without channel or content")
        try:
            packed = json.dumps(content).encode("ascii")
        except RecursionError as problem:
            raise MalformedMessageError("content is nested too deeply") from problem
        addressed = _addressed(message.get("header"), message.get("parent_header"))
        return channel[:_CHANNEL_CHARS], Received(**addressed, content=packed, buffers=buffers)


def _ends(chunks: Sequence[bytes | memoryview], *, start: int) -> list[int]:
    """Return where the first chunk begins, and where each ends."""
    ends = [start]
    for chunk in chunks:
        ends.append(ends[-1] + memoryview(chunk).nbytes)
    return ends


def _cut(data: bytes, bounds: Sequence[int], *, begin: int) -> list[memoryview]:
    """Cut the data at the bounds; the first has to be at `begin`, the last at the end."""
    if bounds[0] != begin or bounds[-1] != len(data) or list(bounds) != sorted(bounds):
        raise MalformedMessageError("offsets that do not follow each other")
    whole = memoryview(data)
    return [whole[one:following] for one, following in itertools.pairwise(bounds)]


def _text_and_buffers(data: bytes) -> tuple[str, tuple[memoryview, ...]]:
    if len(data) < 4:
        raise MalformedMessageError("not a message in parts")
    count = int.from_bytes(data[:4], "big")
    if not 0 < count <= MAX_PARTS or len(data) < 4 * (count + 1):
        raise MalformedMessageError(f"{count} parts in {len(data):,} bytes")
    offsets = struct.unpack_from(f">{count}I", data, 4)
    text, *buffers = _cut(data, (*offsets, len(data)), begin=4 * (count + 1))
    if len(text) > MAX_JSON_FORMAT_BYTES:
        raise MalformedMessageError(f"{len(text):,} bytes of JSON; the limit is {MAX_JSON_FORMAT_BYTES:,}")
    return _text(text), tuple(buffers)


def _header(part: memoryview) -> dict[str, Any]:
    if len(part) > MAX_HEADER_BYTES:
        raise MalformedMessageError(f"a header of {len(part):,} bytes; the limit is {MAX_HEADER_BYTES:,}")
    return _object(_text(part))


def _text(part: memoryview) -> str:
    try:
        return str(part, "utf-8")
    except UnicodeDecodeError as problem:
        raise MalformedMessageError("not UTF-8") from problem


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise MalformedMessageError(f"not JSON: {type(problem).__name__}") from problem
    if not isinstance(found, dict):
        raise MalformedMessageError("not a JSON object")
    return found


def _addressed(header: object, parent: object) -> dict[str, str]:
    """Return ``msg_type`` and ``parent_id``, which is empty without a parent."""
    msg_type = header.get("msg_type") if isinstance(header, dict) else None
    parent_id = parent.get("msg_id") if isinstance(parent, dict) else None
    if not isinstance(msg_type, str) or not TYPE.fullmatch(msg_type):
        raise MalformedMessageError("header without a type")
    return {
        "msg_type": msg_type,
        "parent_id": parent_id if isinstance(parent_id, str) else "",
    }
