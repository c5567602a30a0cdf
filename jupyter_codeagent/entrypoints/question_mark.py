"""`%agent why are flights late?`: IPython reads a question mark at a line's end as a request for its own help."""

from __future__ import annotations

import re
from typing import Any

ONE_LINE_PROMPT = re.compile(r"\s*%agent\s+(?P<words>\S.*\?)\s*")


class QuestionMarks:
    """An IPython input transformer; see `extension.load`."""

    has_side_effects = False

    def __init__(self, shell: Any) -> None:
        self._is_complete = shell.input_transformer_manager.check_complete

    def __call__(self, lines: list[str]) -> list[str]:
        """Return the lines, with each `%agent` question replaced by the call that it means."""
        return [self._meant(lines, at) for at in range(len(lines))]

    def _meant(self, lines: list[str], at: int) -> str:
        found = ONE_LINE_PROMPT.fullmatch(lines[at])
        if found is None:
            return lines[at]
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        # Inside a text over several lines no statement can begin.
        if self._is_complete("".join((*lines[:at], f"{indent}pass\n\n")))[0] != "complete":
            return lines[at]
        return f"{indent}get_ipython().run_line_magic('agent', {found['words']!r})\n"
