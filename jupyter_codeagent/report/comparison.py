"""Whether the outputs of two executions of the same code say the same.

Text and tables are compared word by word; pictures by their number and size, because the same chart may
be drawn with other bytes. Addresses in memory and warnings differ from run to run and say nothing of the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jupyter_codeagent.notebook.outputs import plain_text
from jupyter_codeagent.notebook.outputs.bundle import describe_image
from jupyter_codeagent.notebook.outputs.html import text_of_html
from jupyter_codeagent.notebook.outputs.interactive import INTERACTIVE_MIME
from jupyter_codeagent.notebook.outputs.text import cap, strip_colours
from jupyter_codeagent.report.report import Rerun
from jupyter_codeagent.types.sandbox import Output

MAX_SHOWN_CHARS = 4_000
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,16}\b")


def compare_outputs(recorded: Sequence[Output], again: Sequence[Output], *, reason: str = "") -> Rerun:
    """Compare what stands in the notebook with what came out now; `reason` is what would explain a difference."""
    if list(_pieces(recorded)) == list(_pieces(again)):
        return Rerun(outcome="same")
    return Rerun(outcome="differs", reason=reason, recorded=_shown(recorded), again=_shown(again))


def _pieces(outputs: Iterable[Output]) -> list[str]:
    """Return what is compared, in order: neighbouring texts as one, tables as text, pictures as their size."""
    pieces: list[str] = []
    stream = ""
    for output in outputs:
        if output["output_type"] == "stream":
            stream += output["text"] if output["name"] == "stdout" else ""
            continue
        pieces, stream = [*pieces, *_plain(stream)], ""
        pieces += [_piece(output)]
    return [*pieces, *_plain(stream)]


def _piece(output: Output) -> str:
    if output["output_type"] == "stream":
        return output["text"]
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    data = output["data"]
    if picture := describe_image(data):
        return picture
    if "image/svg+xml" in data:
        return "[image/svg+xml]"
    if INTERACTIVE_MIME in data:
        return f"[{data[INTERACTIVE_MIME]['kind']}]"
    text = text_of_html(data["text/html"]) if "text/html" in data else str(data.get("text/plain", ""))
    return "\n".join(_plain(text))


def _plain(text: str) -> list[str]:
    """Return the text without colours, addresses and blanks at the ends of lines; nothing if it is empty."""
    plain = _ADDRESS.sub("0x…", strip_colours(text))
    lines = [line.rstrip() for line in plain.strip("\n").split("\n")]
    return ["\n".join(lines)] if any(lines) else []


def _shown(outputs: Sequence[Output]) -> str:
    return cap(plain_text(outputs), MAX_SHOWN_CHARS) or "(no output)"
