"""Messages to and from the model, and what each part of them holds of the user's."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Role = Literal["system", "user", "assistant"]
ContentKind = Literal[
    "names",
    "statistics",
    "rows",
    "functions",
    "earlier_code",
    "earlier_results",
    "output",
    "error",
    "error_kind",
    "doubt",
    "calls",
    "reason",
    "edited_code",
    "texts",
]
"""What a part of a message holds of the user's, beside the question:

names and types of variables · figures of them, categories, values · sample rows · signatures of functions ·
earlier questions with their code · results of these · what the code printed and showed · its error · only the kind
and place of the error · what looks wrong with its result · calls that it made · a person's reason for a no · code
that a person has changed · texts that code asks the model about.
"""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A part of a text, in characters, and what it holds."""

    kind: ContentKind
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Message:
    """One chat message, exactly as it is sent."""

    role: Role
    content: str
    spans: tuple[Span, ...] = field(default=(), compare=False)
    """Parts of `content` that hold something of the user's. Not sent. Empty in records of older versions."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens as the server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Part of `prompt_tokens` that the server answered from its prefix cache."""
    calls: int = 0
    estimated: bool = False
    """Some of it we have estimated: the server counts nothing, or was stopped before it told its counts."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            calls=self.calls + other.calls,
            estimated=self.estimated or other.estimated,
        )


ModelCallPurpose = Literal["program", "sentence", "text", "count"]
"""What was asked for: a program · one sentence on its result · an answer on a text, by `ask_model` · the number of
tokens of the lines on variables."""


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """A request to the model's server, or several that hold the same kinds of things."""

    purpose: ModelCallPurpose
    kinds: tuple[ContentKind, ...]
    """Of all that its messages hold."""
    sent: bool
    """Whether its text has left for the server; not where there was no connection."""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """What is asked of a model in one call."""

    messages: tuple[Message, ...]
    purpose: ModelCallPurpose = "program"
    prefill: str = ""
    """Beginning of the reply, written by us; used only where `Model.supports_prefill`."""
    prefill_spans: tuple[Span, ...] = field(default=(), compare=False)
    stop: tuple[str, ...] = ()
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int = 0
    grammar: str = ""
    """GBNF for what the model writes, behind the prefill; used only with servers that are known to take it."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """One reply, whole."""

    text: str
    """The reply, with the prefill in front where one was used."""
    finish_reason: Literal["stop", "length", "closed"]
    """`closed`: we closed the stream ourselves because the code block was complete."""
    usage: Usage
    model: str
    duration_s: float
