"""Cleaning of sandbox outputs and model prose: an allow-list of MIME types, sanitized and capped."""

from jupyter_codeagent.notebook.outputs.bundle import clean_output
from jupyter_codeagent.notebook.outputs.markdown import clean_markdown
from jupyter_codeagent.notebook.outputs.plain import plain_text
from jupyter_codeagent.notebook.outputs.text import clean_text
from jupyter_codeagent.types.visible_code import deceiving_characters, visible_code

__all__ = [
    "clean_markdown",
    "clean_output",
    "clean_text",
    "deceiving_characters",
    "plain_text",
    "visible_code",
]
