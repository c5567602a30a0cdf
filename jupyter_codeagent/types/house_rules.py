"""House rules: lines of the user's own files that the model is told with each question."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class HouseRulesFile:
    """One file, as the model is told it."""

    path: str
    """For display, in one line."""
    name: str
    """In a sentence: ``CODEAGENT.md beside the notebook``."""
    text: str = ""
    """Lines as in the prompt; empty if none of them is told."""
    tokens: int = 0
    """Estimated tokens of `text`."""
    left_out: str = ""
    """What the model is not told, and why, in one line; empty if that is nothing."""


@dataclass(frozen=True, kw_only=True)
class HouseRules:
    """The files in the order of the prompt; none where there are no house rules."""

    files: tuple[HouseRulesFile, ...] = ()

    @property
    def text(self) -> str:
        """The lines of all files, as in the prompt."""
        return "\n".join(file.text for file in self.files if file.text)

    @property
    def tokens(self) -> int:
        """Estimated tokens of `text`."""
        return sum(file.tokens for file in self.files)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of a run: where its house rules come from, and what was left out of them."""
        told = [
            f"house rules: {count} line{'s' if count > 1 else ''} of {file.name}"
            for file in self.files
            if (count := len(file.text.splitlines()))
        ]
        return (
            *told,
            *(f"house rules, left out of {file.name}: {file.left_out}" for file in self.files if file.left_out),
        )
