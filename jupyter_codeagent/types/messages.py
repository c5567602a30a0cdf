"""Messages to and from the model, with the kinds of user data that each part contains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Role = Literal["system", "user", "assistant"]
ContentKind = Literal[
    "names",
    "statistics",
    "rows",
    "functions",
    "house_rules",
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
"""Kinds of user data in a message, beside the prompt itself.

Names and types of variables · their statistics, categories, values · sample rows · signatures of functions · house
rules · earlier prompts with their code · results of these · output of the code · its error · only the type and
line of the error · warnings about its result · calls that it made · a person's reason for a rejection · code that
a person has edited · texts that code asks the model about.
"""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A range of a text, in characters, and the kind of user data in it."""

    kind: ContentKind
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Message:
    """One chat message, exactly as it is sent."""

    role: Role
    content: str
    spans: tuple[Span, ...] = field(default=(), compare=False)
    """Ranges of `content` with user data. Not sent. Empty in records of older versions."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens as the server counted them."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    """Part of `prompt_tokens` that the server answered from its prefix cache."""
    calls: int = 0
    estimated: bool = False
    """Whether some numbers are estimates: the server counts nothing, or was stopped before it sent its counts."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            calls=self.calls + other.calls,
            estimated=self.estimated or other.estimated,
        )


ModelCallPurpose = Literal["program", "text", "count"]
"""Purpose of a model call: a program · an answer about a text, by `ask_model` · to count the tokens of the variable
lines."""


@dataclass(frozen=True, kw_only=True)
class ModelCall:
    """A request to the model's server, or several with the same kinds of user data."""

    purpose: ModelCallPurpose
    kinds: tuple[ContentKind, ...]
    """Kinds of user data in all its messages."""
    sent: bool
    """Whether its text was sent; false where there was no connection."""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, kw_only=True)
class CompletionRequest:
    """One call of a model."""

    messages: tuple[Message, ...]
    purpose: ModelCallPurpose = "program"
    prefill: str = ""
    """Beginning of the reply that the model continues; used only where `Model.supports_prefill`."""
    prefill_spans: tuple[Span, ...] = field(default=(), compare=False)
    stop: tuple[str, ...] = ()
    max_tokens: int = 1024
    temperature: float = 0.0
    seed: int = 0
    grammar: str = ""
    """GBNF grammar of the text after the prefill; used only with servers that are known to support it."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """One whole reply."""

    text: str
    """The reply, with the prefill in front where one was used."""
    finish_reason: Literal["stop", "length", "closed"]
    """`closed`: this side closed the stream because the code block was complete."""
    usage: Usage
    model: str
    duration_s: float
