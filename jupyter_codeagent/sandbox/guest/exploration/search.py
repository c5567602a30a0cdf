"""The state of one search: what was found, how much was tried, and how much time is left."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

MIN_EFFECT = 0.1


@dataclass(frozen=True)
class Finding:
    """One thing to say about a table."""

    kind: str
    table: str
    columns: tuple[str, ...]
    effect: float
    p_value: float
    facts: dict[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Return what the host gets."""
        return {
            "kind": self.kind,
            "table": self.table,
            "columns": list(self.columns),
            "effect": self.effect,
            "p_value": self.p_value,
            "facts": self.facts,
        }


@dataclass
class Search:
    """What the finders of one table share."""

    table: str
    deadline: float
    """By `time.monotonic`."""
    tried: int = 0
    """Hypotheses with a p-value that were looked at, whatever came out."""
    findings: list[Finding] = field(default_factory=list)
    cut_short: bool = False

    def add(self, kind: str, columns: tuple[str, ...], effect: float, p_value: float, **facts: Any) -> None:
        """Add a finding; facts become plain values."""
        if math.isnan(effect) or math.isnan(p_value):
            return
        plain = {name: plain_value(value) for name, value in facts.items()}
        effect = min(1.0, max(0.0, float(effect)))
        self.findings.append(Finding(kind, self.table, columns, effect, float(p_value), plain))

    def is_over(self) -> bool:
        """Check whether the time is used up, and remember that something was left."""
        if time.monotonic() > self.deadline:
            self.cut_short = True
        return self.cut_short


def plain_value(value: Any) -> Any:
    """Return a numpy scalar as a Python value; numbers that JSON has no word for become None."""
    if isinstance(value, list):
        return [plain_value(item) for item in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value
