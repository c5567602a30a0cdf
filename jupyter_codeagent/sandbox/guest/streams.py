"""Small stream messages, so that a flood reaches the host's output budget and not its message limit."""

from __future__ import annotations

from typing import Any

PIECE_CHARS = 256 << 10


def bound_stream(stream: Any) -> None:
    """Make ipykernel's OutStream send every `PIECE_CHARS`; by itself it sends whatever accumulates in 0.2 s.

    `flush` waits for the sending thread, so code that floods is slowed down as well. This only helps honest code:
    hostile code can undo it, and then loses its output channel.
    """
    write = stream.write
    pending = 0

    def bounded_write(text: str) -> int:
        nonlocal pending
        for start in range(0, len(text), PIECE_CHARS):
            piece = text[start : start + PIECE_CHARS]
            write(piece)
            pending += len(piece)
            if pending >= PIECE_CHARS:
                pending = 0
                stream.flush()
        return len(text)

    stream.write = bounded_write
