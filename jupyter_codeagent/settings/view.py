"""The settings as the panel displays them: value, source and the administrator's limit. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_codeagent.settings.config import PREFERENCES, CodeAgent, Source
from jupyter_codeagent.settings.enforcement import within
from jupyter_codeagent.settings.policy import Policy
from jupyter_codeagent.settings.rules import RULES, AtMost, OneOf, UpTo, listed
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.embedded import EMBEDDED
from jupyter_codeagent.types.errors import UsageError

Value = str | int | float | bool


@dataclass(frozen=True, kw_only=True)
class EffectiveSetting:
    """A setting with its effective value: one line of the panel."""

    name: str
    value: Value
    """Value in force, the policy included. An empty name or address is resolved at the first run."""
    source: Source | Literal["administrator"]
    fixed: bool
    """Whether the administrator allows no other value."""
    limit: Value | None
    """The administrator's limit; None without a rule, and where it is a list of values."""


def effective_settings(config: CodeAgent, policy: Policy) -> tuple[EffectiveSetting, ...]:
    """Return the settings in force, each with its source and limit.

    Raises
    ------
    UsageError
        `CodeAgent.settings` and `within` raise it.
    """
    chosen = config.settings()
    wanted, ruled = _values(chosen), _values(within(policy, chosen))
    fixed = {name: _is_fixed(name, policy) for name in PREFERENCES}
    return tuple(
        EffectiveSetting(
            name=name,
            value=ruled[name],
            source="administrator" if fixed[name] or ruled[name] != wanted[name] else config.source(name),
            fixed=fixed[name],
            limit=_limit(name, policy),
        )
        for name in PREFERENCES
    )


def check_change(name: str, value: Value, policy: Policy) -> None:
    """Check a value against the administrator's policy, so that no setting is accepted without effect.

    Raises
    ------
    UsageError
        The administrator does not allow the value.
    """
    if name not in policy.rules:
        return
    # Without an address the model runs here; without a name a server's first is used.
    asked = str(value).strip().rstrip("/") or EMBEDDED if name == "base_url" else value
    if asked != "" and RULES[name].bound.cut(asked, policy.rules[name]) != asked:
        raise UsageError(policy.line(f"{name} = {asked}", name))


def _values(settings: Settings) -> dict[str, Value]:
    return {name: RULES[name].value(settings) for name in PREFERENCES}


def _limit(name: str, policy: Policy) -> Value | None:
    rule = policy.rules.get(name)
    if isinstance(RULES[name].bound, OneOf) and rule is not None:
        return str(listed(rule)[0]) if len(listed(rule)) == 1 else None
    return rule


def _is_fixed(name: str, policy: Policy) -> bool:
    if name not in policy.rules:
        return False
    rule = policy.rules[name]
    match RULES[name].bound:
        case OneOf():
            return len(listed(rule)) == 1
        case UpTo() as bound:
            return bool(rule == bound.order[0])
        case AtMost() as bound:
            return bound.whole and bool(rule == 1)
    return False
