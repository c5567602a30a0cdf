"""The result of a call: as JSON or as a copy for the code, and as the record keeps it."""

from __future__ import annotations

import json
from typing import Any

from jupyter_codeagent.sandbox.tool_calls import CallAnswer
from jupyter_codeagent.tools.call_host import Host
from jupyter_codeagent.tools.databases.rows import ROWS_SCANNED
from jupyter_codeagent.tools.exceptions import explained
from jupyter_codeagent.tools.object_fields import PLAIN, unfolded
from jupyter_codeagent.tools.preview import brief
from jupyter_codeagent.tools.result_record import MAX_BYTES, MAX_TEXT_CHARS, recorded
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.sandbox import RecordedValue
from jupyter_codeagent.types.variables import CopiedVariable

MAX_PLAIN_BYTES = 64 << 10
"""Largest result that goes as JSON; a larger one, or one that is no plain value, goes as a copy."""


class CallResults:
    """Results of one run, whose copies and records are limited together."""

    def __init__(self, host: Host, max_bytes: int) -> None:
        self._host = host
        self._left_bytes = max_bytes
        self._left_record_chars = MAX_TEXT_CHARS
        self._copies: list[CopiedVariable] = []

    async def for_code(self, tool: Tool, value: Any) -> tuple[CallAnswer, str, RecordedValue | None]:
        """Return the answer, its text for people, and what the record keeps for a replay.

        The answer is an error if the code cannot have the value; the call was made all the same.
        """
        try:
            if type(value) in PLAIN:  # a plain value cannot change: no need to stop the main thread again
                return self._answer_and_record(tool, value)
            return await self._host.on_main_thread(lambda: self._answer_and_record(tool, unfolded(value)))
        except VariableError as problem:
            why = str(problem)
        except Exception as problem:  # noqa: BLE001  (code of the value's own class)
            why = f"{tool.name} was called, but code cannot have its result: {explained(problem).evalue}"
        return CallAnswer(ename="RuntimeError", evalue=why), why, None

    def _answer_and_record(self, tool: Tool, value: Any) -> tuple[CallAnswer, str, RecordedValue | None]:
        """Return the answer, its text and its recorded value; runs on the main thread."""
        answer, text = self.answer(tool.name, value)
        is_small = answer.copy is None or answer.copy.size_bytes <= MAX_BYTES
        # A replay makes the other calls again, which only read.
        kept = recorded(value, self._left_record_chars) if tool.stub.policy == "ask" and is_small else None
        if kept is not None:
            self._left_record_chars -= len(kept.meta_json) + len(kept.data)
        return answer, text, kept

    def answer(self, name: str, value: Any) -> tuple[CallAnswer, str]:
        """Return the answer with this value, and its text for people. Main thread.

        Raises
        ------
        VariableError
            The value is larger than what is left for the run, or cannot be copied.
        """
        if is_plain(value) and len(json.dumps(value)) <= MAX_PLAIN_BYTES:
            return CallAnswer(value=value), brief(value)
        attrs = getattr(value, "attrs", None)
        scanned = attrs.pop(ROWS_SCANNED, 0) if isinstance(attrs, dict) else 0
        copied = self._host.spool.write(f"{name}()", value, self._left_bytes)
        self._copies.append(copied)
        self._left_bytes -= copied.size_bytes
        return CallAnswer(copy=copied), brief(value) + (f", {scanned:,} rows scanned" if scanned else "")

    def close(self) -> None:
        """Remove the copies: the run is over."""
        for copied in self._copies:
            self._host.spool.discard(copied)
        self._copies.clear()


def is_plain(value: object) -> bool:
    """Return whether JSON gives back the same value, types included."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return True
    if kind is float:
        return True  # Python's JSON has words for numbers that are not finite
    if kind is list:
        return all(is_plain(item) for item in value)  # type: ignore[attr-defined]
    if kind is dict:
        return all(type(key) is str and is_plain(item) for key, item in value.items())  # type: ignore[attr-defined]
    return False
