"""Keep what one run passes on to the next: task, code, result, changed variables. Never a failed attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.tagged_text import TaggedText, message, tagged

MAX_RESULT_CHARS = 300


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One earlier run that succeeded, in compact form."""

    prompt: str
    code: str
    """The code that worked, as the prompt may contain it; failed attempts of the run are not repeated."""
    ran: str = ""
    """The code that ran, if it differs."""
    written: str = ""
    """The code as the model wrote it, which knows its content."""
    answer: str = ""
    """The model's sentence, or the beginning of the output if there is none."""
    made: tuple[str, ...] = ()
    """Variables that it made and that still exist: ``daily: DataFrame 365x3 (day, flights, delay)``.

    The prompt lists them with the variables, not here: after a list of what is defined now, small models take the
    next task for half done.
    """


def compact(turns: Sequence[Turn], max_chars: int) -> tuple[Turn, ...]:
    """Return the last turns that fit `max_chars`, without those that have no code (failed, stopped).

    Drops down to half of the limit at once: the beginning of the messages then stays byte-equal for several
    runs, and the server's prefix cache with it.
    """
    kept: list[Turn] = []
    for turn in turns:
        if not turn.code.strip():
            continue
        kept.append(turn)
        if _size(kept) > max_chars:
            while len(kept) > 1 and _size(kept) > max_chars // 2:
                del kept[0]
    return tuple(kept) if _size(kept) <= max_chars else ()


def turn_messages(turns: Sequence[Turn]) -> tuple[tuple[Message, ...], TaggedText]:
    """Return the earlier turns as alternating messages, and the text that the next user message begins with.

    A turn's result is at the start of the following user message, not after the code in the assistant's: a
    model that sees results after its code invents them after the next one.
    """
    messages: list[Message] = []
    lead = TaggedText()
    for turn in turns:
        messages.append(message("user", lead + tagged(f"Task: {turn.prompt.strip()}", "earlier_code")))
        messages.append(message("assistant", tagged(fenced(turn.code), "earlier_code")))
        lead = _result_lines(turn)
    return tuple(messages), lead


def fenced(code: str) -> str:
    """Return code in a fence, as models write it."""
    return f"```python\n{code.strip()}\n```"


def as_written(reply: str, code: str) -> str:
    """Return the reply as it came if its code is what has run, else the code that has run, fenced.

    The server need not read the tokens of an unchanged reply again; errors refer to the lines of the code that ran.
    """
    text = reply.rstrip()
    is_as_run = code.strip() in text and extract_code(text).code.strip() == code.strip()
    if text.count("```") > 2 or not text.startswith("```") or not is_as_run:
        return fenced(code)
    return text if text.endswith("```") and text.count("```") == 2 else f"{text}\n```"


def _result_lines(turn: Turn) -> TaggedText:
    answer = turn.answer.strip()[:MAX_RESULT_CHARS]
    return tagged(f"Result: {answer}", "earlier_results") + "\n\n" if answer else TaggedText()


def _size(turns: Sequence[Turn]) -> int:
    return sum(len(turn.prompt) + len(turn.code) + len(turn.answer) for turn in turns)
