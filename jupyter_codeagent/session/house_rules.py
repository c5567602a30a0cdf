"""Read house rules: `CODEAGENT.md` in the Jupyter config directory, and the one beside the notebook.

They are text for the prompt and nothing else. The notebook's folder may come from a stranger: links are not
followed, nothing of the text is evaluated, and what could end a message or hide from the reader is removed.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator

from jupyter_core.paths import jupyter_config_dir

from jupyter_codeagent.agent.output_text import harmless
from jupyter_codeagent.models.tokens import TokenCount, estimate_tokens
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.house_rules import HouseRules, HouseRulesFile
from jupyter_codeagent.types.sizes import format_bytes
from jupyter_codeagent.variables.privacy.secret import mask_private
from jupyter_codeagent.variables.text import safe, visible

FILE_NAME = "CODEAGENT.md"
MAX_BYTES = 4096
"""Bytes read of one file."""
MAX_TOKENS = 200
"""Estimated tokens of the lines of both files."""
MAX_PATH_CHARS = 300
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""A pipe does not block, and a link in a folder of somebody else's leads to no file of the user's."""
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"^#{1,6}(?:\s+|$)")


class _UnusableFileError(Exception):
    """A file is there and none of it can be told; the text says why."""


def read_house_rules(settings: Settings, notebook: str | None) -> HouseRules:
    """Return the house rules of a question in this notebook, as the files are now; never raises, never waits.

    The user's own come first, so that those of the notebook's folder cannot take their place in the budget. Lines
    are counted by the estimate alone: the same files are the same text, whether a tokenizer answers or not.
    """
    if not settings.house_rules:
        return HouseRules()
    files: list[HouseRulesFile] = []
    seen: set[tuple[int, int]] = set()
    left_tokens = MAX_TOKENS
    for directory, name in _places(notebook):
        path = os.path.join(directory, FILE_NAME)
        shown = safe(path, MAX_PATH_CHARS)
        try:
            content, identity = _read(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except _UnusableFileError as problem:
            files.append(HouseRulesFile(path=shown, name=name, left_out=f"all of it, because it {problem}"))
            continue
        if identity not in seen:
            file = _told(content, left_tokens, path=shown, name=name)
            files.append(file)
            left_tokens -= file.tokens
        seen.add(identity)
    return HouseRules(files=tuple(files))


def house_rules_cost(rules: HouseRules) -> list[str]:
    """Return a line with the sum and one for each file; empty without house rules."""
    if not rules.files:
        return []
    count = TokenCount(tokens=rules.tokens, counted=False)
    lines = [f"house rules: {count}; the budget is {MAX_TOKENS}"]
    for file in rules.files:
        left_out = f", left out: {file.left_out}" if file.left_out else ""
        lines.append(f"  {file.path}: {file.tokens} tokens{left_out}")
    return lines


def _places(notebook: str | None) -> Iterator[tuple[str, str]]:
    yield jupyter_config_dir(), f"{FILE_NAME} in the Jupyter config directory"
    if notebook:
        yield os.path.dirname(notebook), f"{FILE_NAME} beside the notebook"
    else:
        yield "", f"{FILE_NAME} in the working directory"


def _read(path: str) -> tuple[bytes, tuple[int, int]]:
    """Return the beginning of a file, one byte more than is used of it, and device and inode.

    Raises
    ------
    FileNotFoundError, NotADirectoryError
    _UnusableFileError
        It is no regular file, or cannot be read.
    """
    try:
        fd = os.open(path, FLAGS)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise _UnusableFileError("is not a regular file")
            with open(fd, "rb", closefd=False) as file:
                return file.read(MAX_BYTES + 1), (status.st_dev, status.st_ino)
        finally:
            os.close(fd)
    except (FileNotFoundError, NotADirectoryError):
        raise
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _UnusableFileError("is a symbolic link, which is not followed") from error
        raise _UnusableFileError(f"cannot be read ({error.strerror})") from error


def _told(content: bytes, budget_tokens: int, *, path: str, name: str) -> HouseRulesFile:
    left_out = []
    if len(content) > MAX_BYTES:
        content = content[: content.rfind(b"\n", 0, MAX_BYTES) + 1]
        left_out.append(f"what is beyond {format_bytes(MAX_BYTES)}")
    try:
        lines = _lines(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return HouseRulesFile(path=path, name=name, left_out="all of it, because it is not UTF-8 text")
    told, tokens = list[str](), 0
    for line in lines:
        cost = estimate_tokens(f"{line}\n")
        if tokens + cost > budget_tokens:
            count = len(lines) - len(told)
            last = f"the last {count} lines" if count > 1 else "the last line"
            left_out.insert(0, f"{last} (all house rules together may have {MAX_TOKENS} tokens)")
            break
        told.append(line)
        tokens += cost
    return HouseRulesFile(
        path=path, name=name, text="\n".join(told), tokens=tokens, left_out=", and ".join(left_out)
    )


def _lines(text: str) -> list[str]:
    """Return the lines for the prompt: no comments, no blank lines, headings without their marks."""
    shown = "\n".join(map(visible, text.splitlines()))
    # Last of all: what is left without a comment may form a control word or a key.
    cleaned = mask_private(harmless(_COMMENT.sub("", shown)))
    lines = (_HEADING.sub("", line).rstrip() for line in cleaned.split("\n"))
    return [line for line in lines if line]
