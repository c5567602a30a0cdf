"""Split a reply into prose and fenced blocks, line by line; tolerant of how fences are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_codeagent.agent.source import parse

PYTHON_LABELS = frozenset(
    {"python", "py", "python3", "py3", "ipython", "ipython3", "pycon", "jupyter", "pyplot", "tool_code"}
)
OUTPUT_LABELS = frozenset(
    {"output", "text", "txt", "plaintext", "console", "stdout", "result", "csv", "tool_outputs"}
)
OTHER_LABELS = OUTPUT_LABELS | {
    "json", "bash", "sh", "shell", "zsh", "cmd", "powershell", "sql", "r", "html", "css", "xml", "yaml", "yml",
    "toml", "ini", "markdown", "md", "latex", "tex", "javascript", "js", "typescript", "ts", "java", "c", "cpp",
    "diff", "mermaid",
}  # fmt: skip

MAX_CANDIDATES = 5
"""Limit for the fences that are tried as the end of a block."""
_OPEN = re.compile(
    r"^(?P<before>.*?)(?P<fence>`{3,}|~{3,})[ \t]*\{?\.?(?P<label>[A-Za-z][\w+#.-]*)?\}?(?P<rest>.*)"
)
_ONE_LINE = re.compile(r"^\s*(?P<fence>`{3,})(?:(?:python|py)\b)?(?P<code>[^`]+)(?P=fence)\s*$", re.IGNORECASE)
_ATTRIBUTES = re.compile(r"""(?:\s*[\w-]+=(?:"[^"]*"|'[^']*'|\{[^}]*\}))+\s*|\s*\d[\d.]*\s*""")
"""Of a fence, and Python too: ``title="a.py"``, or a version."""
_QUOTED = re.compile(r"^[ \t]*> ?(?!>)")

_TAGS = re.compile(r"(?:\s*+<[/|][^<>]*+>?)*+[.\s]*+")


@dataclass(frozen=True, kw_only=True)
class Prose:
    """Text between blocks."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Block:
    """One fenced block."""

    label: str
    """Lower case; empty if the fence has none."""
    text: str
    indent: bool = False
    """Whether the fence was not at the beginning of its line."""
    closed_at_margin: bool = False
    """Whether a fence at column 0 closed it."""

    @property
    def python(self) -> bool:
        return self.label in PYTHON_LABELS

    @property
    def shows_output(self) -> bool:
        return self.label in OUTPUT_LABELS


def split_blocks(text: str) -> list[Block | Prose]:
    """Return prose and blocks in order; the last block may be unclosed."""
    lines = text.split("\n")
    parts: list[Block | Prose] = []
    prose: list[str] = []
    index = 0
    while index < len(lines):
        if one_line := _ONE_LINE.match(lines[index]):
            parts += [Prose(text="\n".join(prose)), Block(label="python", text=one_line["code"])]
            prose = []
            index += 1
        elif opened := _opening(lines[index]):
            parts.append(Prose(text="\n".join([*prose, opened["before"]])))
            prose = []
            block, index = _read_block(lines, index, opened)
            parts.append(block)
        else:
            prose.append(lines[index])
            index += 1
    return [*parts, Prose(text="\n".join(prose))]


def _opening(line: str) -> re.Match[str] | None:
    match = _OPEN.match(line)
    if match is None or "`" in match["rest"]:
        return None
    # inside a sentence only a labelled fence at the end of the line opens a block
    if match["before"].strip() and (match["rest"].strip() or not match["label"]) and match["before"].strip() != ">":
        return None
    return match


def _read_block(lines: list[str], index: int, opened: re.Match[str]) -> tuple[Block, int]:
    """Return the block that opens at `index`, and the number of the line behind it."""
    label, first = (opened["label"] or "").lower(), []
    if label not in PYTHON_LABELS | OTHER_LABELS and (label or opened["rest"].strip()):
        first = [(opened["label"] or "") + opened["rest"]]  # the code began behind the fence, or an odd label
        label = ""
    elif opened["rest"].strip() and label in PYTHON_LABELS and not _ATTRIBUTES.fullmatch(opened["rest"]):
        first = [opened["rest"].strip()]
    end, after, margin = _closing(lines, index + 1, opened["fence"])
    body = lines[index + 1 : end]
    if end < len(lines) and after == end + 1 and not _is_fence(lines[end], opened["fence"]):
        body.append(lines[end].rstrip().rstrip("`~"))  # closed at the end of a code line
    if opened["before"].strip() == ">":
        body = [_QUOTED.sub("", line) for line in body]
    is_label = bool(body) and not opened["rest"].strip()
    if first and (is_label or parse("\n".join([*first, *body])) is None):
        first = []
    block = Block(
        label=label,
        text="\n".join([*first, *body]),
        indent=bool(opened["before"]),
        closed_at_margin=margin,
    )
    return block, after


def _closing(lines: list[str], start: int, fence: str) -> tuple[int, int, bool]:
    """Return (line of the closing fence, line to continue from, whether it is at column 0).

    A fence inside a string of the code does not close: if what stands before it does not parse but what stands
    before a later one does, the later one closes.
    """
    candidates: list[tuple[int, int, bool]] = []
    for found in _fences(lines, start, fence):
        if not candidates and parse("\n".join(lines[start : found[0]])) is not None:
            return found
        candidates.append(found)
        if len(candidates) == MAX_CANDIDATES:
            break
    if not candidates:
        return len(lines), len(lines), False
    inner = (found for found in candidates[1:] if _inside_string(lines[start : found[0]]))
    return next(inner, candidates[0])


def _fences(lines: list[str], start: int, fence: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the places where the block may end, in order."""
    for index in range(start, len(lines)):
        line = lines[index]
        if _is_fence(line, fence):
            yield index, index + 1, not line[0].isspace()
        elif line.lstrip().startswith(fence):  # ```python while a block is open: it was never closed
            yield index, index, False
        elif line.rstrip().endswith(fence) and line.count(fence) == 1:
            yield index, index + 1, False


def _inside_string(body: list[str]) -> bool:
    text = "\n".join(body)
    return ('"""' in text or "'''" in text) and parse(text) is not None


def _is_fence(line: str, fence: str) -> bool:
    """Check for a line with nothing but a fence at least as long as the opening one; a tag may follow it."""
    stripped = line.strip()
    run = len(stripped) - len(stripped.lstrip(fence[0]))
    return run >= len(fence) and _TAGS.fullmatch(stripped, run) is not None
