"""Techniques taken out of the running agent, to measure what each is worth. Called in the live kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jupyter_codeagent.agent import loop as agent
from jupyter_codeagent.agent.prompt import observe, task
from jupyter_codeagent.agent.rules.rewrite import Prepared
from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.variables import columns

Replaced = tuple[object, str, object]
"""(where the name is used, the name, what stands there instead)"""


def _nothing(*_: Any, **__: Any) -> str:
    return ""


async def _not_begun(*_: Any) -> str:
    return ""


def _as_written(code: str, **_: Any) -> Prepared:
    return Prepared(code=code)


TECHNIQUES: Mapping[str, Sequence[Replaced]] = {
    "prefill": [(OpenAIModel, "supports_prefill", property(lambda _: False))],
    "repair": [(agent, "MAX_REPAIRS", 0)],
    "hints": [(agent, "hint_for", _nothing), (observe, "hint_for", _nothing)],
    "checks": [(agent, "concern", _nothing)],
    "resuming": [(agent, "_begun", _not_begun)],
    "rewrites": [(agent, "prepare", _as_written)],
    "parts": [(task, "_parts", lambda _: ())],
    "terms": [(task, "_terms", lambda _: ())],
    "written": [(columns, "describe_text_format", _nothing)],
}


def remove(*techniques: str) -> None:
    """Raises KeyError for a technique that there is not."""
    for technique in techniques:
        for place, name, instead in TECHNIQUES[technique]:
            getattr(place, name)  # a technique that was renamed is an error, not a measurement of nothing
            setattr(place, name, instead)
