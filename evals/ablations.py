"""Techniques and single rules taken out of the running agent, to measure what each is worth; in the live kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jupyter_codeagent.agent import loop, model_step, repair_loop
from jupyter_codeagent.agent.prompt import task
from jupyter_codeagent.agent.rules import registry
from jupyter_codeagent.agent.rules.rule import Fix, Issue, Rule
from jupyter_codeagent.models.openai_model import OpenAIModel
from jupyter_codeagent.variables import columns
from jupyter_codeagent.variables.describers.text_formats import TextFormat

Replaced = tuple[object, str, object]
"""(where the name is used, the name, what stands there instead)"""


def _nothing(*_: Any, **__: Any) -> str:
    return ""


def _no_format(*_: Any, **__: Any) -> TextFormat:
    return TextFormat()


async def _not_resumed(*_: Any) -> None:
    return None


TECHNIQUES: Mapping[str, Sequence[Replaced]] = {
    "prefill": [(OpenAIModel, "supports_prefill", property(lambda _: False))],
    "repair": [(repair_loop, "MAX_REPAIRS", 0)],
    "resuming": [(loop, "resume_prefill", _not_resumed)],
    "parts": [(task, "_parts", lambda _: ())],
    "terms": [(task, "_terms", lambda _: ())],
    "written": [(columns, "describe_text_format", _no_format), (columns, "_spellings", _no_format)],
    "conversions": [(model_step, "conversions", _nothing)],
}
GROUPS: Mapping[str, tuple[str, type]] = {
    "rewrites": ("before_run", Fix),
    "hints": ("after_error", Issue),
    "checks": ("after_result", Issue),
}
"""Name -> stage and kind of the rules that it stands for."""


def names() -> list[str]:
    """Return all that can be taken out: techniques, groups of rules, rules."""
    return [*TECHNIQUES, *GROUPS, *(rule.name for rule in registry.RULES)]


def remove(*taken_out: str) -> None:
    """Take techniques, groups of rules and rules out of this process.

    Raises
    ------
    KeyError
        There is nothing of that name.
    """
    for name in taken_out:
        if name not in names():
            raise KeyError(name)
    for technique in (name for name in taken_out if name in TECHNIQUES):
        for place, name, instead in TECHNIQUES[technique]:
            getattr(place, name)  # a technique that was renamed is an error, not a measurement of nothing
            setattr(place, name, instead)
    registry.RULES = left(registry.RULES, taken_out)


def left(rules: Iterable[Rule], taken_out: Sequence[str]) -> tuple[Rule, ...]:
    """Return the rules without those of these names and groups."""
    groups = {GROUPS[name] for name in taken_out if name in GROUPS}
    return tuple(rule for rule in rules if rule.name not in taken_out and (rule.stage, rule.gives) not in groups)
