"""*In which countries …?* where the program shows row numbers and never reads the column of the countries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jupyter_codeagent.agent.rules.error_reading import text_columns
from jupyter_codeagent.agent.rules.rule import Program, from_text
from jupyter_codeagent.types.sandbox import NamespaceEntry
from jupyter_codeagent.variables.mentions import stemmed

_WHICH = re.compile(
    r"\bwhich\s+(?:(?:\d+|one|two|three|four|five|ten|of\s+the|the)\s+)*(?P<words>[A-Za-z_]\w*(?:\s\w+)?)", re.I
)


@from_text
def unnamed_rows(program: Program) -> str:
    """Report that the prompt asks *which* of what a column names, and the result does not have that column.

    Neither the code nor its output has it.
    """
    for word, frame, column in _left_out(program):
        return f"The task asks which {word}, and the result does not name it: show {frame}[{column!r}] with it."
    return ""


def _left_out(program: Program) -> Iterator[tuple[str, str, str]]:
    """(word, frame, column) of what was asked for by *which* and is nowhere."""
    code, text = program.code, program.output
    for word in _asked(program.prompt):
        columns = [(entry.name, column) for entry in program.namespace for column in _of_texts(entry, word)]
        if not any(column in code or column in text for _, column in columns):
            used = [(frame, column) for frame, column in columns if re.search(rf"\b{re.escape(frame)}\b", code)]
            yield from ((word, frame, column) for frame, column in used)


def _asked(prompt: str) -> Iterator[str]:
    """Yield the words asked for, the last one first: *which car makers* are makers."""
    for match in _WHICH.finditer(prompt):
        yield from reversed(stemmed(match["words"]).split())


def _of_texts(entry: NamespaceEntry, word: str) -> list[str]:
    """Columns of texts that are called so, or begin or end with that word: ``Country``, ``Country Name``."""
    texts = [(column, stemmed(column).split()) for column in text_columns(entry)]
    return [column for column, words in texts if words and word in (words[0], words[-1])]
