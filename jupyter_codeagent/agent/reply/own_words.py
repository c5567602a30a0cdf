"""What a model wrote in words where it wrote no code, for the user, as the model's own words.

Nobody has checked them.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_codeagent.agent.answer.answer import one_paragraph
from jupyter_codeagent.agent.reply.extract import NO_CODE, extract_code
from jupyter_codeagent.types.run import Step


def own_words(step: Step) -> str:
    """Return one short paragraph on one line; empty if the reply has code, cannot be read, or loops."""
    if step.note != NO_CODE:
        return ""
    return one_paragraph(extract_code(step.reply).prose)


def words_instead(steps: Sequence[Step]) -> str:
    """Return the model's latest words if it answered in words a second time; else empty.

    It was asked for code or the reason after the first time.
    """
    answers = [own_words(step) for step in steps]
    return answers[-1] if len([words for words in answers if words]) > 1 else ""
