"""What of a conversation fits the model's context, and what is left out where it does not, in a fixed order.

The attempts of this run that failed go first, the oldest first; then what came of the last one is shortened, then
the earlier questions of the notebook go, then the lines on variables from the last one up, and at last the middle
of the last attempt. The question itself is never cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.output_text import cut_tagged
from jupyter_codeagent.agent.prompt.task import task_text
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.tagged_text import TaggedText, content_of, join, message

MESSAGE_TOKENS = 8
"""What a chat template puts around each message."""
PREFILL_TOKENS = 100
"""Of the beginning of the reply, if it is written by us; a longer one is counted by itself."""
UNCOUNTED_FACTOR = 1.25
"""Tokens for each estimated one as long as the server has counted none. Of whole prompts estimates are short
by a twentieth at most with the embedded model's tokenizer; others differ."""
COUNTED_FACTOR = 1.05
SHORT_CHARS = 600
"""Of what is said to the last attempt, where all of it does not fit."""
SHORTEST_CHARS = 300
"""Of the last attempt and of what is said to it, each, before it is given up."""
LINES_SHARES = (0.75, 0.5, 0.25, 0.0)
LEFT_OUT = "left out for the model's context of "


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """A conversation in the parts that can be left out."""

    system: Message
    turns: tuple[Message, ...]
    """Earlier questions and their code, in turn."""
    lines: tuple[TaggedText, ...]
    """On variables, in front of the task."""
    task: str
    attempts: tuple[Message, ...]
    """Of this run, each with what was said to it."""

    def messages(self) -> tuple[Message, ...]:
        asked = message("user", join("\n", (*self.lines, self.task)))
        return (self.system, *self.turns, asked, *self.attempts)


@dataclass(frozen=True, kw_only=True)
class ContextWindow:
    """How much the model takes at once."""

    context_tokens: int
    """Prompt and reply together."""
    certain: bool
    """Whether the server has said so; else it is assumed, and given up where the question alone does not fit."""
    count: Callable[[str], int]
    """Estimated tokens of a text."""
    factor: float = UNCOUNTED_FACTOR

    def prompt_tokens(self, reply_tokens: int) -> int:
        """What is left for the messages. A limit for replies that is set very high takes half of it at the most."""
        return max(self.context_tokens - reply_tokens, self.context_tokens // 2)

    def cost(self, messages: Sequence[Message]) -> int:
        estimated = sum(self.count(message.content) + MESSAGE_TOKENS for message in messages)
        return math.ceil(estimated * self.factor) + PREFILL_TOKENS

    def calibrated(self, messages: Sequence[Message], counted_tokens: int) -> ContextWindow:
        """With what the server has counted; one that cuts prompts silently counts less than was sent."""
        estimated = sum(self.count(message.content) + MESSAGE_TOKENS for message in messages)
        if not counted_tokens or not estimated:
            return self
        return replace(self, factor=max(1.0, counted_tokens / estimated * COUNTED_FACTOR))


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """What is sent."""

    messages: tuple[Message, ...]
    note: str = ""
    """What was left out, for the user; empty if nothing was."""
    fits: bool = True
    tokens: int = 0
    """Of the messages, estimated; 0 where there is no limit."""


def fit_messages(
    messages: tuple[Message, ...], prompt: str, window: ContextWindow | None, reply_tokens: int
) -> Fitted:
    """The fullest form of the messages of a run on `prompt` that leaves window for the reply."""
    if window is None or window.cost(messages) <= (limit := window.prompt_tokens(reply_tokens)):
        return Fitted(messages=messages)
    whole = _parts(messages, prompt)
    asked = (whole.system, message("user", whole.task))
    if not window.certain and window.cost(asked) > limit:
        return Fitted(messages=messages)  # so long a question is asked of a model that takes more
    form, tokens = whole, 0
    for form in _forms(whole):
        tokens = window.cost(form.messages())
        if tokens <= limit:
            break
    fits = tokens <= limit or not window.certain
    return Fitted(messages=form.messages(), note=_note(whole, form, window), fits=fits, tokens=tokens)


def _parts(messages: Sequence[Message], prompt: str) -> _Parts:
    """Told apart by the task, which ends the last message of a run's first call (`system.first_messages`)."""
    task = task_text(prompt)
    at = max(at for at, one in enumerate(messages) if one.role == "user" and one.content.endswith(task))
    length = len(messages[at].content) - len(task)
    lines = content_of(messages[at]).part(0, max(length - 1, 0)).lines() if length else ()
    return _Parts(
        system=messages[0],
        turns=tuple(messages[1:at]),
        lines=tuple(lines),
        task=task,
        attempts=tuple(messages[at + 1 :]),
    )


def _forms(whole: _Parts) -> Iterator[_Parts]:
    """Each with less than the one before."""
    form = whole
    while len(form.attempts) > 2:
        form = replace(form, attempts=form.attempts[2:])
        yield form
    form = replace(form, attempts=_shortened(form.attempts, SHORT_CHARS, roles=("user",)))
    yield form
    while form.turns:
        form = replace(form, turns=form.turns[2:])
        yield form
    for share in LINES_SHARES:
        kept = whole.lines[: int(len(whole.lines) * share)]
        left_out = (TaggedText("(… more lines left out)"), TaggedText())
        form = replace(form, lines=(*kept, *left_out) if whole.lines else ())
        yield form
    for chars in (4 * SHORTEST_CHARS, SHORTEST_CHARS):
        yield replace(form, attempts=_shortened(form.attempts, chars))


def _shortened(
    messages: Sequence[Message], chars: int, *, roles: Sequence[str] = ("user", "assistant")
) -> tuple[Message, ...]:
    return tuple(
        message(one.role, cut_tagged(content_of(one), chars)) if one.role in roles else one for one in messages
    )


def _note(whole: _Parts, form: _Parts, window: ContextWindow) -> str:
    parts = []
    if attempts := (len(whole.attempts) - len(form.attempts)) // 2:
        parts.append(f"{attempts} earlier attempt{'s' if attempts > 1 else ''} of this run")
    if form.attempts != whole.attempts[len(whole.attempts) - len(form.attempts) :]:
        parts.append("parts of the last attempt")
    if turns := (len(whole.turns) - len(form.turns)) // 2:
        parts.append(f"{turns} earlier question{'s' if turns > 1 else ''}")
    if form.lines != whole.lines:
        lines = len(whole.lines) - len(form.lines) + 1
        parts.append(f"{lines} line{'s' if lines > 1 else ''} on variables")
    return f"{LEFT_OUT}{window.context_tokens} tokens: {', '.join(parts)}" if parts else ""
