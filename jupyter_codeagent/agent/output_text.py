"""Read the outputs of a program as plain text: what it printed and displayed, without colours and control words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jupyter_codeagent.types.sandbox import ExecutionResult, Output
from jupyter_codeagent.types.tagged_text import TaggedText, join

FIGURE = "[figure shown to the user]"
HEAD_SHARE = 0.6
_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_WARNING = re.compile(r"(?:^|\s)(\w*Warning): ?(.*)")
# Control words of chat templates: ``<|im_end|>``, ``<s>``, ``[/INST]``; a server may read them even inside of text.
_TOKEN = re.compile(
    r"<[|\uff5c][^|\uff5c<>]{0,40}[|\uff5c]>|<</?SYS>>|\[/?(?:INST|SYSTEM_PROMPT|(?:AVAILABLE_)?TOOL\w{0,10}|IMG|CLS|SEP)\]|"
    r"</?(?:s|bos|eos|pad|unk|think|tool_call|tool_response|tools|(?:start|end)_of_\w{1,20}|unused\d{1,4})>"
)
_FENCE = re.compile(r"`{3,}|~{3,}")


def output_text(result: ExecutionResult) -> str:
    """Return all that the code printed and displayed as plain text; for errors see `observe`."""
    texts = [text for output in result.outputs for text in _texts(output)]
    return "\n".join(text.strip("\n") for text in texts if text.strip())


def cut(text: str, max_chars: int) -> str:
    """Cut out the middle of a text that is too long, at line ends where possible."""
    return cut_tagged(TaggedText(text), max_chars).text


def cut_tagged(whole: TaggedText, max_chars: int) -> TaggedText:
    """Cut a tagged text as `cut` does."""
    text = whole.text
    if len(text) <= max_chars:
        return whole
    head_end = int(max_chars * HEAD_SHARE)
    tail_start = len(text) - (max_chars - head_end)
    if (line_end := text.rfind("\n", head_end // 2, head_end)) >= 0:
        head_end = line_end
    if (line_end := text.find("\n", tail_start, tail_start + (len(text) - tail_start) // 2)) >= 0:
        tail_start = line_end + 1
    left_out = f"\n[… {tail_start - head_end:,} characters cut; print less]\n"
    return join("", (whole.part(0, head_end), left_out, whole.part(tail_start, len(text))))


def _texts(output: Output) -> Iterator[str]:
    if output["output_type"] == "stream":
        yield _warnings(output["text"]) if output["name"] == "stderr" else harmless(output["text"])
    elif output["output_type"] in ("display_data", "execute_result"):
        data = output["data"]
        if any(kind.startswith("image/") for kind in data):
            yield FIGURE
        elif "text/plain" in data:
            yield harmless(joined(data["text/plain"]))


def joined(value: str | list[str]) -> str:
    """Return the text of a MIME bundle, which may be a list of lines (nbformat: *multiline string*)."""
    return value if isinstance(value, str) else "".join(value)


def harmless(text: str) -> str:
    """Remove colours, overwritten progress lines, fences and the control words of chat templates."""
    lines = (line.rstrip("\r").rsplit("\r", 1)[-1] for line in _ANSI.sub("", text).split("\n"))
    # Text around a removed token may form another one; a blank prevents that.
    return _FENCE.sub("'''", _TOKEN.sub(" ", _TOKEN.sub("", "\n".join(lines))))


def _warnings(text: str) -> str:
    """Return each warning once, on one line; other text on stderr does not help the model."""
    found = (_WARNING.search(line) for line in harmless(text).split("\n"))
    return "\n".join(dict.fromkeys(f"{match.group(1)}: {match.group(2)[:160]}" for match in found if match))
