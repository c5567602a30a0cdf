"""Read the code out of a tool call that stands in a reply, as JSON or in the marks of a chat template."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from jupyter_codeagent.agent.reply.cleaning import clean
from jupyter_codeagent.agent.source import does_something

MAX_OBJECTS = 20
"""Limit for JSON objects, and for calls, in which code is looked for."""
MAX_NESTED = 8
_CODE_KEYS = ("code", "python", "source", "script", "program")
_NAMES = "|".join((*_CODE_KEYS, "python_code", "input"))
_PARAMETER = re.compile(
    rf"(?:<parameter(?:=|\s+name=)[\"']?(?:{_NAMES})[\"']?>|<arg_key>(?:{_NAMES})</arg_key>\s*<arg_value>"
    rf"|\b(?:{_NAMES}):<\|\"\|>)"
    r"(.*?)(?:</(?:parameter|function|tool_call|invoke|arg_value)\b|<\|\"\|>|\Z)",
    re.DOTALL,
)
"""A parameter of a call of Qwen3-Coder, MiniMax, GLM or Gemma; the last one may be cut off."""
_BEGIN = re.compile(r"\{|\A\s*(?=\")")


def from_calls(text: str) -> list[str]:
    """Return the code in marked calls; empty if one of them holds none."""
    if codes := [clean(match.group(1)) for match in islice(_PARAMETER.finditer(text), MAX_OBJECTS)]:
        return codes if all(codes) else []
    _, mark, calls = text.partition("<tool_call>")
    return from_json(calls) if mark else []


def from_json(text: str) -> list[str]:
    """Return the code in JSON objects, up to the first one whose code is broken."""
    codes: list[str] = []
    for value in _values(text):
        if found := value if isinstance(value, str) else _code_member(value):
            if not (code := clean(found)):
                break
            if does_something(code):
                codes.append(code)
    return codes


def _values(text: str) -> Iterator[Any]:
    """Yield each JSON object that stands in no other one, and a text that is the whole reply."""
    decoder = json.JSONDecoder(strict=False)  # small models put real line ends into JSON strings
    end = 0
    for match in islice(_BEGIN.finditer(text), MAX_OBJECTS):
        if match.start() < end:
            continue
        try:
            value, stop = decoder.raw_decode(text, match.end() if match.group().isspace() else match.start())
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) or not text[stop:].strip():
            end = stop
            yield value


def _code_member(value: Any, depth: int = 0) -> str:
    """Return the code in an object: under a key for code, else all that its objects hold."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return ""
    if depth > MAX_NESTED or not isinstance(value, dict | list):
        return ""
    if isinstance(value, dict):
        if isinstance(value.get("cells"), list):
            return _of_notebook(value["cells"])
        if code := next((code for key in value if _is_for_code(key, depth) and (code := _lines(value[key]))), ""):
            return code
    members = value if isinstance(value, list) else value.values()
    return "\n\n".join(code for member in members if (code := _code_member(member, depth + 1)))


def _is_for_code(key: str, depth: int) -> bool:
    return key in _CODE_KEYS or key.endswith("_code") or (key == "input" and depth > 0)


def _of_notebook(cells: list[Any]) -> str:
    of_code = (cell for cell in cells if isinstance(cell, dict) and cell.get("cell_type") == "code")
    return "\n\n".join(code for cell in of_code if (code := _lines(cell.get("source"))))


def _lines(value: Any) -> str:
    """Return a text that may be given as a list of its lines, with or without their ends."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(line.removesuffix("\n") for line in value)
    return value if isinstance(value, str) and not value.lstrip().startswith("{") else ""
