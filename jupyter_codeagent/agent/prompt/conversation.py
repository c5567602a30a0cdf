"""What one run leaves for the next: task, code, result, changed variables. Never a failed attempt."""

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
    """The code that worked, as it may be told; failed attempts of the same run are not told again."""
    ran: str = ""
    """The code that ran, where that is another one."""
    written: str = ""
    """As the model wrote it: it knows what stands in it."""
    answer: str = ""
    """The model's sentence, or the beginning of the output where there was none."""
    made: tuple[str, ...] = ()
    """What it made in the sandbox and is still there: ``daily: DataFrame 365x3 (day, flights, delay)``.

    Told with the variables, not here: after a list of what is defined now, small models take the next task for half
    done.
    """


def compact(turns: Sequence[Turn], max_chars: int) -> tuple[Turn, ...]:
    """The last turns that fit `max_chars`; turns without code (failed, stopped) are dropped.

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
    """The earlier turns as alternating messages, and the text that the next user message begins with.

    A turn's result is told at the start of the following user message, not after the code in the assistant's:
    a model that sees results behind its code invents them behind the next one.
    """
    messages: list[Message] = []
    lead = TaggedText()
    for turn in turns:
        messages.append(message("user", lead + tagged(f"Task: {turn.prompt.strip()}", "earlier_code")))
        messages.append(message("assistant", tagged(fenced(turn.code), "earlier_code")))
        lead = _result_lines(turn)
    return tuple(messages), lead


def fenced(code: str) -> str:
    """Code as the models write it."""
    return f"```python\n{code.strip()}\n```"


def as_written(reply: str, code: str) -> str:
    """The reply as it came, where its code is what has run: the server need not read these tokens again.

    Else the code that has run, since errors are told by its lines.
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
