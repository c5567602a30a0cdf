"""Cleaned outputs as plain text for terminals and prompts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from jupyter_codeagent.notebook.outputs.bundle import describe_image
from jupyter_codeagent.notebook.outputs.text import strip_colours
from jupyter_codeagent.types.sandbox import Output


def plain_text(outputs: Sequence[Output]) -> str:
    """Return streams, results and errors in order, without colours, and images as their type and size."""
    texts = (strip_colours(_text_of(output)).strip("\n") for output in outputs)
    return "\n".join(text for text in texts if text)


def _text_of(output: Output) -> str:
    if output["output_type"] == "stream":
        return output["text"]
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return describe_image(output["data"]) or cast("str", output["data"].get("text/plain", ""))
