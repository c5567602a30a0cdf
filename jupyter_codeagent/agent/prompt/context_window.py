"""Fit a conversation into the model's context window, and leave parts out in a fixed order.

The failed attempts of this run go first, the oldest first; then the feedback on the last one is shortened, then
the earlier questions of the notebook go, then the lines on variables and the house rules above them from the last
one up, and at last the middle of the last attempt. The question itself is never cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from jupyter_codeagent.agent.output_text import cut_tagged
from jupyter_codeagent.agent.prompt.task import task_text
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.tagged_text import TaggedText, content_of, join, kinds_of, message

MESSAGE_TOKENS = 8
"""Tokens that a chat template puts around each message."""
PREFILL_TOKENS = 100
"""Tokens reserved for the prefill; a longer one is counted by itself."""
UNCOUNTED_FACTOR = 1.25
"""Real tokens for each estimated one, until the server has counted some.

Estimates of whole prompts are short by a twentieth at most with the embedded model's tokenizer; others differ.
"""
COUNTED_FACTOR = 1.05
SHORT_CHARS = 600
"""Length of the feedback on the last attempt, where all of it does not fit."""
SHORTEST_CHARS = 300
"""Shortest length of the last attempt and of its feedback, each, before they are given up."""
LINES_SHARES = (0.75, 0.5, 0.25, 0.0)
LEFT_OUT = "left out for the model's context of "


@dataclass(frozen=True, kw_only=True)
class _Parts:
    """A conversation, divided into the parts that can be left out."""

    system: Message
    turns: tuple[Message, ...]
    """Earlier questions and their code, alternating."""
    lines: tuple[TaggedText, ...]
    """House rules and lines on variables, in front of the task."""
    task: str
    attempts: tuple[Message, ...]
    """Attempts of this run, each with its feedback."""

    def messages(self) -> tuple[Message, ...]:
        asked = message("user", join("\n", (*self.lines, self.task)))
        return (self.system, *self.turns, asked, *self.attempts)


@dataclass(frozen=True, kw_only=True)
class ContextWindow:
    """The size of the model's context window, and how tokens are counted."""

    context_tokens: int
    """Tokens of prompt and reply together."""
    certain: bool
    """Whether the server reported the size; an assumed one is ignored where the question alone does not fit."""
    count: Callable[[str], int]
    """Return the estimated tokens of a text."""
    factor: float = UNCOUNTED_FACTOR

    def prompt_tokens(self, reply_tokens: int) -> int:
        """Return the tokens left for the messages.

        The limit for replies takes half of the window at most, however high it is set.
        """
        return max(self.context_tokens - reply_tokens, self.context_tokens // 2)

    def cost(self, messages: Sequence[Message]) -> int:
        """Estimate the tokens of the messages, with the prefill."""
        estimated = sum(self.count(message.content) + MESSAGE_TOKENS for message in messages)
        return math.ceil(estimated * self.factor) + PREFILL_TOKENS

    def calibrated(self, messages: Sequence[Message], counted_tokens: int) -> ContextWindow:
        """Return the window with the server's count taken into account.

        A server that cuts prompts silently counts less than was sent.
        """
        estimated = sum(self.count(message.content) + MESSAGE_TOKENS for message in messages)
        if not counted_tokens or not estimated:
            return self
        return replace(self, factor=max(1.0, counted_tokens / estimated * COUNTED_FACTOR))


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """The messages that are sent."""

    messages: tuple[Message, ...]
    note: str = ""
    """What was left out, for the user; empty if nothing was."""
    fits: bool = True
    tokens: int = 0
    """Estimated tokens of the messages; 0 where there is no limit."""


def fit_messages(
    messages: tuple[Message, ...], prompt: str, window: ContextWindow | None, reply_tokens: int
) -> Fitted:
    """Return the fullest form of the messages of a run on `prompt` that leaves room for the reply."""
    if window is None or window.cost(messages) <= (limit := window.prompt_tokens(reply_tokens)):
        return Fitted(messages=messages)
    whole = _parts(messages, prompt)
    asked = (whole.system, message("user", whole.task))
    if not window.certain and window.cost(asked) > limit:
        return Fitted(messages=messages)  # the model surely takes more than was assumed
    form, tokens = whole, 0
    for form in _forms(whole):
        tokens = window.cost(form.messages())
        if tokens <= limit:
            break
    fits = tokens <= limit or not window.certain
    return Fitted(messages=form.messages(), note=_note(whole, form, window), fits=fits, tokens=tokens)


def _parts(messages: Sequence[Message], prompt: str) -> _Parts:
    """Divide the messages at the task, which ends the first user message of a run (`system.first_messages`)."""
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
    """Yield forms of the conversation, each shorter than the one before."""
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
        cut = whole.lines[max(len(form.lines) - 2, 0) :]
        rules = " and house rules" if any("house_rules" in kinds_of(line.spans) for line in cut) else ""
        parts.append(f"{lines} line{'s' if lines > 1 else ''} on variables{rules}")
    return f"{LEFT_OUT}{window.context_tokens} tokens: {', '.join(parts)}" if parts else ""
