"""What the model is told of a run of its code: short, the beginning and the end, one line and one hint per error.

Long outputs drown a small model's context; 2,000 characters are what CodeAct uses, a quarter of it is often enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from jupyter_codeagent.prompts.hints import hint_for
from jupyter_codeagent.values import ExecutionError, ExecutionResult, Output

MAX_CHARS = 2000
HEAD_SHARE = 0.6
MAX_MESSAGE = 300
FIGURE = "[figure shown to the user]"
NO_OUTPUT = "(no output)"
_WHOLE = "Reply with the whole corrected program in one ```python block."

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_WARNING = re.compile(r"(?:^|\s)(\w*Warning): ?(.*)")
_TOKEN = re.compile(r"<\|[^|<>]{1,40}\|>")


def observe(result: ExecutionResult, code: str, *, max_chars: int = MAX_CHARS) -> str:
    """Outputs, then the error or the reason why it ended; `code` is what ran, for the line of the error."""
    told = cut(output_text(result), max_chars)
    if end := _end_text(result, code):
        return f"{told}\n{end}" if told else end
    return told or NO_OUTPUT


def output_text(result: ExecutionResult) -> str:
    """All that the code printed and showed, as plain text; errors are told by `observe`."""
    texts = [text for output in result.outputs for text in _texts(output)]
    return "\n".join(text.strip("\n") for text in texts if text.strip())


def cut(text: str, max_chars: int) -> str:
    """The beginning and the end of a text that is too long, at line ends where there are some."""
    if len(text) <= max_chars:
        return text
    head = text[: int(max_chars * HEAD_SHARE)]
    tail = text[len(text) - (max_chars - len(head)) :]
    if "\n" in head[len(head) // 2 :]:
        head = head[: head.rindex("\n")]
    if "\n" in tail[: len(tail) // 2]:
        tail = tail[tail.index("\n") + 1 :]
    return f"{head}\n[… {len(text) - len(head) - len(tail):,} characters cut; print less]\n{tail}"


def error_text(error: ExecutionError, code: str) -> str:
    """One line for the error, one for the source line: ``KeyError at line 4: 'Revenu'``."""
    message = _clean(error.evalue).strip().split("\n")[0][:MAX_MESSAGE]
    place = f" at line {error.line}" if error.line is not None else ""
    lines = code.split("\n")
    source = error.source or (lines[error.line - 1] if error.line and error.line <= len(lines) else "")
    shown = f"\n    {source.strip()[:160]}" if source.strip() else ""
    return f"{error.ename}{place}: {message}{shown}"


def repair_message(result: ExecutionResult, code: str) -> str:
    """The user message after code that failed."""
    return f"{observe(result, code)}\n\nCorrect the code. {_WHOLE}"


def check_message(result: ExecutionResult, code: str, concern: str) -> str:
    """The user message after code that ran but whose result looks wrong; `concern` is a line of `checks`."""
    seen = observe(result, code, max_chars=600)
    return f"{seen}\n\n{concern}\n{_WHOLE}"


def without_values(result: ExecutionResult) -> ExecutionResult:
    """What may be told where the data may not: the kind and place of an error, and our hint; no output."""
    if result.error is None:
        return replace(result, outputs=())
    hint = hint_for(result.error, result.namespace)
    return replace(result, outputs=(), error=replace(result.error, evalue=f"(not told) {hint}".strip()))


def no_code_message(problem: str) -> str:
    """The user message after a reply without usable code; `problem` is that of the `Extraction`."""
    return f"{problem[:MAX_MESSAGE]}. Reply with exactly one ```python block that does the task."


def rejected_message(reason: str) -> str:
    """The user message after a person rejected the code and said why."""
    return f"The user rejected this code: {reason.strip()[:MAX_MESSAGE]}\n{_WHOLE}"


def _end_text(result: ExecutionResult, code: str) -> str:
    if result.error is not None:
        hint = hint_for(result.error, result.namespace)
        return error_text(result.error, code) + (f"\nHint: {hint}" if hint else "")
    if result.status == "timeout":
        return f"Stopped: {result.reason or 'time limit reached'}. Do it with less work: no Python loops over rows."
    if result.status == "killed":
        return f"Killed: {result.reason or 'a limit was exceeded'}. Earlier results are gone; use less memory."
    if result.status != "ok":
        return f"{result.status.capitalize()}: {result.reason or 'no further result'}."
    return ""


def _texts(output: Output) -> Iterator[str]:
    if output["output_type"] == "stream":
        yield _warnings(output["text"]) if output["name"] == "stderr" else _clean(output["text"])
    elif output["output_type"] in ("display_data", "execute_result"):
        data = output["data"]
        if any(kind.startswith("image/") for kind in data):
            yield FIGURE
        elif "text/plain" in data:
            plain = data["text/plain"]
            yield _clean(plain if isinstance(plain, str) else "".join(plain))


def _clean(text: str) -> str:
    """Without colours, overwritten progress lines and the control words of chat templates."""
    lines = (line.rstrip("\r").rsplit("\r", 1)[-1] for line in _ANSI.sub("", text).split("\n"))
    return _TOKEN.sub("", "\n".join(lines))


def _warnings(text: str) -> str:
    """Each warning once, one line each; what else came on stderr is no news for the model."""
    found = (_WARNING.search(line) for line in _clean(text).split("\n"))
    return "\n".join(dict.fromkeys(f"{match.group(1)}: {match.group(2)[:160]}" for match in found if match))
