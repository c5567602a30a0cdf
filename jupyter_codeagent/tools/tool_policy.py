"""Which functions code may call under the setting `tools`, which caps the policy that each function states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.tool import Tool
from jupyter_codeagent.types.variables import TOOL_ORDER


def within_policy(tools: Mapping[str, Tool], settings: Settings) -> tuple[dict[str, Tool], tuple[str, ...]]:
    """Return the functions under no laxer policy than allowed, and a note on what the administrator changed."""
    if settings.tools == "deny":
        callable_tools = [name for name, tool in tools.items() if tool.stub.policy != "deny"]
        return {}, _notes(f"Calling {', '.join(callable_tools)}", settings) if callable_tools else ()
    laxer = [
        name
        for name, tool in tools.items()
        if TOOL_ORDER.index(tool.stub.policy) > TOOL_ORDER.index(settings.tools)
    ]
    changed = {name: replace(tools[name], stub=replace(tools[name].stub, policy=settings.tools)) for name in laxer}
    note = _notes(f"The policy auto of {', '.join(laxer)}", settings, used=settings.tools) if laxer else ()
    return {**tools, **changed}, note


def _notes(asked: str, settings: Settings, used: str = "") -> tuple[str, ...]:
    is_ruled = settings.policy.rules.get("tools") == settings.tools
    return (settings.policy.line(asked, "tools", used=used),) if is_ruled else ()
