"""Calls of rules in the words of their tests: the code, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jupyter_codeagent.agent.prompt.observation import hint_text
from jupyter_codeagent.agent.rules import registry
from jupyter_codeagent.agent.rules.rule import Apply, Fix, Issue, Program
from jupyter_codeagent.types.sandbox import (
    CopyChange,
    ExecutionError,
    ExecutionResult,
    NamespaceEntry,
    StreamOutput,
)


def ran(
    namespace: Sequence[NamespaceEntry] = (),
    *,
    text: str = "",
    error: ExecutionError | None = None,
    changes: Sequence[CopyChange] = (),
) -> ExecutionResult:
    """A result with this namespace and this printed text."""
    printed = StreamOutput(output_type="stream", name="stdout", text=text)
    return ExecutionResult(
        status="ok" if error is None else "error",
        outputs=(printed,) if text else (),
        error=error,
        namespace=tuple(namespace),
        changes=tuple(changes),
    )


def fix(rule: Apply, code: str, **facts: Any) -> Fix | None:
    """What one rule makes of the code."""
    answer = rule(Program(code=code, **facts))
    assert not isinstance(answer, Issue)
    return answer


def fixed(rule: Apply, code: str, **facts: Any) -> str:
    """The code as one rule leaves it."""
    return code if (answer := fix(rule, code, **facts)) is None else answer.code


def said(
    rule: Apply, code: str = "", prompt: str = "", namespace: Sequence[NamespaceEntry] = (), **facts: Any
) -> str:
    """The text of the issue that one rule finds in a program that has run; empty if none."""
    answer = rule(Program(code=code, prompt=prompt, result=ran(namespace, **facts)))
    assert not isinstance(answer, Fix)
    return "" if answer is None else answer.text


def correct(code: str, **facts: Any) -> Fix:
    """All rules before the run."""
    return registry.correct(Program(code=code, **facts))


def as_meant(code: str, **facts: Any) -> Fix:
    """The same without those that see to what is displayed and imported."""
    program, notes = Program(code=code, **facts), list[str]()
    before = (
        rule for rule in registry.RULES if rule.stage == "before_run" and rule.name not in registry.DISPLAY_RULES
    )
    for rule in before:
        if isinstance(found := registry.answer(rule, program), Fix):
            program = replace(program, code=found.code)
            notes += found.notes
    return Fix(code=program.code, notes=tuple(notes))


def repair(code: str, error: ExecutionError, namespace: Sequence[NamespaceEntry], **facts: Any) -> Fix | None:
    """The first certain correction after an error."""
    return registry.repair(Program(code=code, result=ran(namespace, error=error), **facts))


def hint_of(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    """The first hint after an error; empty if none."""
    return hint_text(ran(namespace, error=error))


def issue_of(result: ExecutionResult, code: str, prompt: str = "") -> str:
    """The first issue of a result; empty if none."""
    found = registry.find_issue(Program(code=code, prompt=prompt, result=result))
    return "" if found is None else found.text
