"""What a chat displays: Markdown in which nothing is markup but our own; pure functions.

Receipts have names of variables and of servers in them, outputs whatever a program in the sandbox printed. A chat
renders Markdown and HTML, loads pictures from anywhere, and leads to people who are mentioned.
"""

from __future__ import annotations

import re

from jupyter_codeagent.frontend.client_messages import ChatAnswer
from jupyter_codeagent.notebook.outputs.markdown import without_formulas
from jupyter_codeagent.variables.text import visible

MAX_OUTPUT_CHARS = 6000
_MARKUP = re.compile(r"(?<!`)(`[\w%. =]+`)(?!`)|([\\`*_\[\]<>#|~$&@!]|:(?=//)|(?<=www)\.)", re.IGNORECASE)
"""A command between backticks, which displays the same as code or not; else what may begin markup or a link."""


def answer_markdown(answer: ChatAnswer, notebook: str) -> str:
    """Return the reply to a question that was asked in this notebook."""
    first, *above = map(plain, answer["above"])
    output = [fenced(answer["output"])] if answer["output"].strip() else []
    return "\n\n".join([f"{plain(notebook)}: {first}", *above, *output, *map(plain, answer["below"])])


def plain(line: str) -> str:
    """Return a line of text as Markdown that displays it as it is."""
    shown = without_formulas(" ".join(visible(line).split()))
    return _MARKUP.sub(lambda found: found[1] or "\\" + found[2], shown)


def fenced(text: str) -> str:
    """Return text as a block of code: no line of it can end the block."""
    shown = "\n".join(visible(line) for line in text[:MAX_OUTPUT_CHARS].strip("\n").split("\n"))
    longest = max((len(run) for run in re.findall(r"`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
