"""One message from the sandbox, parsed only as far as is needed to decide about it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_client.session import Session

TYPE = re.compile(r"[a-z_]{1,40}")
HEADERS = 4
"""Signature, header, parent and metadata."""
MAX_HEADER_BYTES = 64 << 10
"""Limit for each of header, parent and metadata: they are parsed before any decision."""


class MalformedMessageError(ValueError):
    """Not a Jupyter message; the sandbox's code can put anything on the socket."""


@dataclass(frozen=True, kw_only=True)
class Received:
    """A message whose content is still JSON bytes: the guard checks the size before it parses."""

    msg_type: str
    parent_id: str
    content: bytes
    buffers: tuple[memoryview, ...] = ()

    @property
    def size_bytes(self) -> int:
        """Bytes of content and buffers."""
        return len(self.content) + sum(buffer.nbytes for buffer in self.buffers)

    def parsed(self, max_bytes: int | None = None) -> dict[str, Any]:
        """Parse the content, unless it is larger than `max_bytes`.

        Raises
        ------
        MalformedMessageError
        """
        if max_bytes is not None and len(self.content) > max_bytes:
            raise MalformedMessageError(f"content over {max_bytes:,} bytes")
        try:
            content = json.loads(self.content)
        except (ValueError, RecursionError) as problem:
            raise MalformedMessageError(f"content is not JSON: {type(problem).__name__}") from problem
        if not isinstance(content, dict):
            raise MalformedMessageError("content is not an object")
        return content


def read_message(session: Session, frames: Sequence[bytes]) -> Received:
    """Split the frames of a message into header, parent, content and buffers.

    The signature is checked but proves nothing: code in the sandbox knows the key.

    Raises
    ------
    MalformedMessageError
    """
    try:
        _, parts = session.feed_identities(list(frames))
        if any(len(part) > MAX_HEADER_BYTES for part in parts[:HEADERS]):
            raise MalformedMessageError(f"a header over {MAX_HEADER_BYTES:,} bytes")
        message = session.deserialize(parts, content=False)
        header, parent, content = message["header"], message["parent_header"], message["content"]
        buffers = tuple(memoryview(buffer) for buffer in message["buffers"])
    except MalformedMessageError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as problem:
        raise MalformedMessageError(f"not a message: {type(problem).__name__}") from problem
    msg_type = header.get("msg_type") if isinstance(header, dict) else None
    parent_id = parent.get("msg_id") if isinstance(parent, dict) else None
    if not isinstance(msg_type, str) or not TYPE.fullmatch(msg_type) or not isinstance(content, bytes):
        raise MalformedMessageError("header without a type")
    return Received(
        msg_type=msg_type,
        parent_id=parent_id if isinstance(parent_id, str) else "",
        content=content,
        buffers=buffers,
    )
