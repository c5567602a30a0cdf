"""Server-sent events from a stream of bytes, with limited lengths."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator

from jupyter_codeagent.types.errors import BadReplyError

MAX_EVENT_BYTES = 1 << 20
DONE = "[DONE]"


async def read_events(pieces: AsyncIterator[bytes], *, where: str, max_bytes: int) -> AsyncGenerator[str]:
    """Yield the data of each event until the stream ends or sends `DONE`; comments are ignored.

    Raises
    ------
    BadReplyError
        An event or the whole stream is too long.
    """
    line, data, total = bytearray(), bytearray(), 0
    async for piece in pieces:
        total += len(piece)
        if total > max_bytes:
            raise _too_much(f"more than {max_bytes:,} bytes", where)
        *ends, rest = piece.split(b"\n")
        for end in ends:
            line += end
            text = bytes(line).removesuffix(b"\r")
            line.clear()
            if not text and data:
                event = data.decode("utf-8", "replace").strip()
                data.clear()
                if event.startswith(DONE):
                    return
                yield event
            elif text.startswith(b"data:"):
                data += text.removeprefix(b"data:") + b"\n"
                _check_length(data, where)
        line += rest
        _check_length(line, where)


def _check_length(text: bytearray, where: str) -> None:
    if len(text) > MAX_EVENT_BYTES:
        raise _too_much(f"a piece of more than {MAX_EVENT_BYTES:,} bytes", where)


def _too_much(what: str, where: str) -> BadReplyError:
    return BadReplyError(
        f"{where} sent {what} in one reply, the limit; it was closed. Look at its log, or use another server."
    )
