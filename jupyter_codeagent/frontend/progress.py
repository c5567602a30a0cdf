"""The growing text of a run, split for the wire: a page gets what is new, and can detect a missing part."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Part:
    """Replaces the text of this stream from the offset on; at offset 0 it is the whole text."""

    stream: int
    offset: int
    """Offset in UTF-16 units, as JavaScript counts."""
    text: str


class TextStream:
    """The text that the pages have. Another phase, step or text that does not continue it begins a new stream."""

    def __init__(self) -> None:
        self._number = 0
        self._of: object = None
        self._sent = ""
        self._sent_units = 0

    def next_part(self, of: object, text: str) -> Part:
        """Return what is new in the text of `of` (a phase of a step) since the last part."""
        if of != self._of or not text.startswith(self._sent):
            self._number += 1
            self._of, self._sent, self._sent_units = of, "", 0
        offset, new = self._sent_units, text[len(self._sent) :]
        self._sent, self._sent_units = text, offset + utf16_units(new)
        return Part(stream=self._number, offset=offset, text=new)

    def whole(self, text: str) -> Part:
        """Return the whole text, for a page that missed a part; the others continue with what they have."""
        return Part(stream=self._number, offset=0, text=text)


def utf16_units(text: str) -> int:
    return len(text) + sum(letter > "\uffff" for letter in text)
