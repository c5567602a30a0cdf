"""The task as the model reads it.

That is the prompt, its parts where it asks for several things, the formulas of its terms, and the variables that it
asks for.
"""

from __future__ import annotations

from jupyter_codeagent.agent.prompt.asked_names import asked_names
from jupyter_codeagent.agent.prompt.formulas import formulas_for
from jupyter_codeagent.agent.prompt.question_parts import parts_of

MANY_PARTS = 3
MAX_READ_CHARS = 4000
"""Longer prompts contain text that is not the question, and patterns are slow on it."""
SHOW_ALL = "Print each number with its name."


def task_text(prompt: str) -> str:
    """Return the end of a run's first user message; see `first_part` for the prefill that goes with it."""
    parts, terms = _parts(prompt), _terms(prompt)
    lines = [f"Task: {prompt.strip()}"]
    if parts:
        lines += ["Parts:", *(f"{number}. {part}" for number, part in enumerate(parts, 1))]
    if terms:
        lines += ["How:", *(f"- {term}" for term in terms)]
    if names := wanted_names(prompt):
        lines.append(f"Assign the result to {' and '.join(names)}.")
    return "\n".join([*lines, SHOW_ALL] if parts else lines)


def first_part(prompt: str) -> str:
    """Return the comment that begins the code of a question in parts; empty for any other."""
    return f"# 1. {parts[0]}\n" if (parts := _parts(prompt)) else ""


def wanted_names(prompt: str) -> tuple[str, ...]:
    """Return the variables that the prompt asks for by name."""
    return asked_names(prompt) if _is_question(prompt) else ()


def _parts(prompt: str) -> tuple[str, ...]:
    """Return the parts of a question; none for one in two parts that has terms to explain.

    The embedded model did not do better with both than with either, within two or three answers of our own tasks.
    """
    parts = parts_of(prompt) if _is_question(prompt) else ()
    enough = MANY_PARTS if _terms(prompt) else MANY_PARTS - 1
    return parts if len(parts) >= enough else ()


def _terms(prompt: str) -> tuple[str, ...]:
    return formulas_for(prompt) if _is_question(prompt) else ()


def _is_question(prompt: str) -> bool:
    """Check for a question in words, not code that is to be corrected, nor pages of text."""
    return "```" not in prompt and len(prompt) <= MAX_READ_CHARS
