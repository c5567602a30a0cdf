"""The growing text of a run, cut for the wire: a page is sent what is new, and can tell when some is missing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Part:
    """Replaces the text of this stream from the offset on; at offset 0 it is the whole text."""

    stream: int
    offset: int
    """In UTF-16 units, as JavaScript counts."""
    text: str


class TextStream:
    """What the pages have. Another phase or step, or a text that does not go on, begins another stream."""

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
        """For a page that missed something; the others go on from what they have."""
        return Part(stream=self._number, offset=0, text=text)


def utf16_units(text: str) -> int:
    return len(text) + sum(letter > "\uffff" for letter in text)
