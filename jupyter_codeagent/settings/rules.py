"""What an administrator can rule: each rule bounds one setting. Pure data and functions."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, get_args

from jupyter_codeagent.types.approvals import APPLY_ORDER, APPROVE_ORDER
from jupyter_codeagent.types.charts import CHART_LIBRARIES
from jupyter_codeagent.types.embedded import EMBEDDED
from jupyter_codeagent.types.sandbox import SandboxLevel
from jupyter_codeagent.types.variables import PRIVACY_ORDER, TOOL_ORDER

MIB = 1 << 20


class Bound(Protocol):
    """What the value of a rule means for the setting."""

    @property
    def wanted(self) -> str:
        """The valid values of the rule, as text."""
        ...

    def fits(self, rule: Any) -> bool:
        """Check a value of the rule."""
        ...

    def cut(self, asked: Any, rule: Any) -> Any:
        """Return what was asked for if the rule allows it, else the nearest that it allows; None: there is none."""
        ...

    def both(self, one: Any, other: Any) -> Any:
        """Return the rule that holds if two files have one; None if they allow nothing in common."""
        ...


@dataclass(frozen=True, kw_only=True)
class AtMost:
    """A number that is not exceeded."""

    whole: bool = True

    @property
    def wanted(self) -> str:
        return "a whole number from 1" if self.whole else "a number above 0"

    def fits(self, rule: Any) -> bool:
        if self.whole:
            return type(rule) is int and rule >= 1
        return type(rule) in (int, float) and 0 < rule < math.inf

    def cut(self, asked: Any, rule: Any) -> Any:
        return asked if asked <= rule else rule  # `min` lets a NaN pass

    def both(self, one: Any, other: Any) -> Any:
        return min(one, other)


@dataclass(frozen=True, kw_only=True)
class UpTo:
    """The laxest of some ordered values."""

    order: tuple[Any, ...]
    """Values, the strictest first."""

    @property
    def wanted(self) -> str:
        return " or ".join(map(json.dumps, self.order)).replace(" or ", ", ", len(self.order) - 2)

    def fits(self, rule: Any) -> bool:
        return any(type(rule) is type(value) and rule == value for value in self.order)

    def cut(self, asked: Any, rule: Any) -> Any:
        return min(asked, rule, key=self.order.index)

    def both(self, one: Any, other: Any) -> Any:
        return self.cut(one, other)


@dataclass(frozen=True, kw_only=True)
class OneOf:
    """A text, or a list of the texts that can be chosen; the first is used where nothing else was chosen."""

    what: str
    choices: Sequence[str] = ()
    """All that can be listed; empty for any text."""
    may_be_empty: bool = False
    """Whether an empty text, which means none, can be listed."""

    @property
    def wanted(self) -> str:
        none = ', or "" for none' if self.may_be_empty else ""
        return f"{self.what}{none}, or a list of them"

    def fits(self, rule: Any) -> bool:
        texts = rule if isinstance(rule, list) else [rule]
        return bool(texts) and all(self._is_valid(text) for text in texts)

    def _is_valid(self, text: Any) -> bool:
        if not isinstance(text, str):
            return False
        return text in self.choices if self.choices else bool(text.strip()) or (self.may_be_empty and not text)

    def cut(self, asked: Any, rule: Any) -> Any:
        texts = listed(rule)
        return asked if asked in texts else texts[0]

    def both(self, one: Any, other: Any) -> Any:
        return [text for text in listed(one) if text in listed(other)] or None


@dataclass(frozen=True, kw_only=True)
class Within:
    """A list of which every part of a list must be; parts that are not are dropped."""

    choices: tuple[str, ...]

    @property
    def wanted(self) -> str:
        return f"a list of {', '.join(self.choices)}"

    def fits(self, rule: Any) -> bool:
        return isinstance(rule, list) and bool(rule) and all(part in self.choices for part in rule)

    def cut(self, asked: Any, rule: Any) -> Any:
        return tuple(part for part in asked if part in rule) or None

    def both(self, one: Any, other: Any) -> Any:
        return [part for part in one if part in other] or None


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A key of the file, and where its setting is."""

    bound: Bound
    where: str
    """Field of `Settings`, with dots: ``sandbox.wall_s``."""
    unit: int = 1
    """Of the rule, in that of the field."""
    is_command: bool = False
    """Whether the field holds the words of a command, and the rule the command as one text."""
    trait: str = ""
    """Name of the setting, if it is not the key."""

    def value(self, settings: Any) -> Any:
        """Return the value of the setting, in the unit of the rule."""
        found = settings
        for name in self.where.split("."):
            found = getattr(found, name)
        if self.is_command:
            return shlex.join(found)
        return found / self.unit if self.unit > 1 else found

    def cut(self, settings: Any, rule: Any) -> Any:
        """Return the settings with the nearest value that the rule allows; None if it allows none."""
        asked = self.value(settings)
        used = self.bound.cut(asked, rule)
        if used is None:
            return None
        if used == asked:
            return settings
        if self.is_command:
            used = tuple(shlex.split(used))
        elif isinstance(self.bound, AtMost):
            used = used * self.unit if self.bound.whole else float(used)
        return _with(settings, self.where, used)


COUNT, SECONDS, SWITCH = AtMost(), AtMost(whole=False), UpTo(order=(False, True))
RULES: Mapping[str, Rule] = {
    "base_url": Rule(bound=OneOf(what=f'the address of a server, "{EMBEDDED}"'), where="model.base_url"),
    "model": Rule(bound=OneOf(what="a name"), where="model.model"),
    "weights": Rule(bound=OneOf(what="a path", may_be_empty=True), where="model.weights"),
    "discover": Rule(bound=SWITCH, where="model.discover"),
    "privacy": Rule(bound=UpTo(order=PRIVACY_ORDER), where="privacy"),
    "approve": Rule(bound=UpTo(order=APPROVE_ORDER), where="approve"),
    "apply": Rule(bound=UpTo(order=APPLY_ORDER), where="apply"),
    "explore": Rule(bound=SWITCH, where="explore"),
    "reports": Rule(bound=SWITCH, where="reports"),
    "tools": Rule(bound=UpTo(order=TOOL_ORDER), where="tools"),
    "mcp_servers": Rule(bound=SWITCH, where="mcp_servers"),
    "clients": Rule(bound=SWITCH, where="clients"),
    "house_rules": Rule(bound=SWITCH, where="house_rules"),
    "next_questions": Rule(bound=SWITCH, where="next_questions"),
    "charts": Rule(
        bound=OneOf(what=f"one of {', '.join(CHART_LIBRARIES)}", choices=CHART_LIBRARIES), where="charts"
    ),
    "levels": Rule(bound=Within(choices=get_args(SandboxLevel)), where="sandbox.levels", trait="sandbox"),
    "subprocess": Rule(bound=SWITCH, where="sandbox.subprocess"),
    "sandbox_image": Rule(bound=OneOf(what="an image", may_be_empty=True), where="sandbox.image"),
    "sandbox_engine": Rule(
        bound=OneOf(what='"docker", "podman"', may_be_empty=True, choices=("", "docker", "podman")),
        where="sandbox.engine",
    ),
    "sandbox_command": Rule(
        bound=OneOf(what="a command as one text", may_be_empty=True), where="sandbox.command", is_command=True
    ),
    "sandbox_gateway": Rule(bound=OneOf(what="an address", may_be_empty=True), where="sandbox.gateway"),
    "sandbox_gateway_kernel": Rule(bound=OneOf(what="a kernelspec's name"), where="sandbox.gateway_kernel"),
    "max_steps": Rule(bound=COUNT, where="max_steps"),
    "candidates": Rule(bound=COUNT, where="max_candidates"),
    "max_tokens": Rule(bound=COUNT, where="model.max_tokens"),
    "context_tokens": Rule(bound=COUNT, where="context_tokens"),
    "timeout_s": Rule(bound=SECONDS, where="sandbox.wall_s"),
    "memory_mb": Rule(bound=COUNT, where="sandbox.memory_bytes", unit=MIB),
    "max_transfer_mb": Rule(bound=COUNT, where="max_transfer_bytes", unit=MIB),
    "max_return_mb": Rule(bound=COUNT, where="max_return_bytes", unit=MIB),
    "max_calls": Rule(bound=COUNT, where="max_calls"),
    "max_calls_per_cell": Rule(bound=COUNT, where="max_calls_per_cell"),
    "max_subquestion_tokens": Rule(bound=COUNT, where="max_subquestion_tokens"),
    "approval_timeout_s": Rule(bound=SECONDS, where="approval_timeout_s"),
    "connect_timeout_s": Rule(bound=SECONDS, where="model.connect_timeout_s"),
    "read_timeout_s": Rule(bound=SECONDS, where="model.read_timeout_s"),
}
"""Everything that can be ruled, by the key in the file."""


def _with(settings: Any, where: str, value: Any) -> Any:
    name, _, rest = where.partition(".")
    return replace(settings, **{name: _with(getattr(settings, name), rest, value) if rest else value})


def listed(rule: Any) -> list[Any]:
    """Return the values that a rule of the kind `OneOf` allows."""
    return rule if isinstance(rule, list) else [rule]
