"""The description of an MCP tool and the results of its calls: checked, made plain values, never trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jupyter_codeagent.tools.preview import of_python
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.variables import ToolPolicy
from jupyter_codeagent.variables.text import safe

if TYPE_CHECKING:
    from mcp.types import CallToolResult
    from mcp.types import Tool as Described

MAX_SCHEMA_CHARS = 64_000
"""Largest schema of a tool's arguments or result; a larger one takes seconds to read at each question."""
MAX_PARAMETERS = 100
MAX_DESCRIPTION_CHARS = 4000


def policy_of(wanted: ToolPolicy, described: Described) -> ToolPolicy:
    """Return the policy that the user wants for the server's tools; ``auto`` only for those marked as read-only.

    A server's hints are its own claims (MCP, tool annotations): they make a policy stricter, never looser.
    """
    hints = described.annotations
    is_read_only = hints is not None and hints.read_only_hint is True and hints.destructive_hint is not True
    return "ask" if wanted == "auto" and not is_read_only else wanted


def policy_after(policy: ToolPolicy, before: Tool | None, *, is_first: bool) -> ToolPolicy:
    """Return the policy of a tool after a refresh; `before` is the tool as it was.

    The user has seen the tools that there were when the server was added. A tool that came or changed since needs
    approval until the user adds the server again, and stays so.
    """
    if before is not None and before.stub.policy != "auto":
        return before.stub.policy
    return "ask" if policy == "auto" and not is_first else policy


def why_unusable(described: Described) -> str:
    """Return why the tool cannot be offered; empty if it can."""
    schema = described.input_schema
    size = len(json.dumps(schema)) + len(json.dumps(described.output_schema))
    properties = schema.get("properties")
    if size > MAX_SCHEMA_CHARS:
        return f"its schemas have {size:,} characters; the limit is {MAX_SCHEMA_CHARS:,}"
    if isinstance(properties, Mapping) and len(properties) > MAX_PARAMETERS:
        return f"it has {len(properties)} parameters; the limit is {MAX_PARAMETERS}"
    return ""


def cleaned(description: str) -> str:
    """Return a description without control, invisible and direction characters and chat template words."""
    lines = description[:MAX_DESCRIPTION_CHARS].splitlines()
    return "\n".join(safe(line.strip(), MAX_DESCRIPTION_CHARS) for line in lines)


def plain(value: Any) -> Any:
    """Return an argument as JSON can hold it; raise TypeError if it cannot."""
    value = of_python(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        named = {str(key): plain(one) for key, one in value.items()}
        if len(named) < len(value):
            raise TypeError("two keys of a dict are the same text: an MCP server would get one of them")
        return named
    written = getattr(value, "isoformat", None)
    if callable(written):
        return written()
    raise TypeError(f"a {type(value).__name__} cannot be sent to an MCP server: give plain values")


def value_of(result: CallToolResult) -> Any:
    """Return structured content, else JSON in the text, else the text; raise RuntimeError for a server's error."""
    text = "\n".join(block.text for block in result.content if block.type == "text")
    if result.is_error:
        raise RuntimeError(text or "the MCP server reports an error")
    structured = result.structured_content
    if structured is not None:
        return structured["result"] if set(structured) == {"result"} else structured
    others = [block.type for block in result.content if block.type != "text"]
    if others and not text:
        raise TypeError(f"the MCP server returned {', '.join(others)}, which code cannot use")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def as_frame(rows: Any, columns: Sequence[str]) -> Any:
    """Return rows as a frame, as the stub promises; unchanged if the server does not keep to its schema."""
    import pandas as pd

    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return rows
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=list(columns))


def returned_schema(schema: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    properties = schema.get("properties") if schema is not None else None
    if isinstance(properties, Mapping) and set(properties) == {"result"}:
        wrapped = properties["result"]
        return wrapped if isinstance(wrapped, Mapping) else None
    return schema
