"""Terminal text from an untrusted source: colours stay, control sequences and deceptive characters are removed."""

from __future__ import annotations

import re

MAX_TEXT_CHARS = 200_000

# One pass over the text, in which some branch consumes every ESC and every C1 control: no remaining character can
# form a new sequence with the text after it.
_CONTROL = re.compile(
    r"(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    r"|(?:\x1b\[|\x9b)(?P<sgr>[0-9;]*)m"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # any other CSI
    r"|\x1b[ -/]*[0-~]?"
    r"|[\x00-\x07\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)
# Reordering marks and invisible tag characters, which make text look different from what it is.
_HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SGR = re.compile(r"\x1b\[[0-9;]*m")
_CUT_COLOUR = re.compile(r"\x1b(?:\[[0-9;]*)?\Z")
_END = "\x1b[0m"
# Without 5, 6 (blink) and 8 (conceal).
_STYLES = frozenset([*range(5), 7, 9, *range(22, 25), 27, 28, 29, *range(30, 38), 39, *range(40, 48), 49])
_BRIGHT = frozenset([*range(90, 98), *range(100, 108)])


def clean_text(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return the text with SGR colours, newlines and tabs as the only controls, and overwritten lines resolved.

    A longer text keeps its beginning and end, with a line between them about the length that was cut. Colours end
    with the text: left open, they would paint over what a terminal prints next.
    """
    text = _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text).replace("\r\n", "\n")
    text = _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", _CONTROL.sub(_keep_colour, text))
    if "\r" in text or "\b" in text:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    text = cap(text, max_chars)
    last = text.rfind("\x1b[")
    return text if last < 0 or text.startswith(_END, last) else f"{text}{_END}"


def strip_colours(text: str) -> str:
    """Return cleaned text without colours, for other uses than a terminal."""
    return _SGR.sub("", text)


def cap(text: str, max_chars: int) -> str:
    """Return the text, with its middle cut if it is too long."""
    if len(text) <= max_chars:
        return text
    at = max_chars * 3 // 4
    head, tail = _CUT_COLOUR.sub("", text[:at]), text[len(text) - max_chars + at :]
    return f"{head}\n[… {len(text) - max_chars:,} characters cut]\n{tail}"


def _keep_colour(match: re.Match[str]) -> str:
    if match["sgr"] is None:
        return ""
    kept = _colours(match["sgr"].split(";")[:16])
    return f"\x1b[{';'.join(kept)}m" if kept else ""


def _colours(codes: list[str]) -> list[str]:
    kept: list[str] = []
    while codes:
        code, codes = codes[0] or "0", codes[1:]
        if code in ("38", "48"):  # 5;n or 2;r;g;b follow
            length = {"5": 2, "2": 4}.get(codes[0] if codes else "", len(codes))
            extended, codes = codes[:length], codes[length:]
            if len(extended) in (2, 4) and all(len(part) <= 3 for part in extended):
                kept += [code, *extended]
        elif len(code) <= 3 and int(code) in _STYLES | _BRIGHT:
            kept.append(code)
    return kept


def _overwritten(line: str) -> str:
    """Return what a terminal displays of a line with carriage returns and backspaces, such as a progress bar."""
    if "\r" not in line and "\b" not in line:
        return line
    cells: list[str] = []
    colour, at = "", 0
    for part in re.findall(r"\x1b\[[0-9;]*m|.", line):
        if part == "\r":
            at = 0
        elif part == "\b":
            at = max(0, at - 1)
        elif len(part) > 1:
            colour = (colour + part)[-64:] if len(colour) < 64 else colour
        else:
            cells[at : at + 1] = [colour + part]
            colour, at = "", at + 1
    return "".join(cells) + colour
