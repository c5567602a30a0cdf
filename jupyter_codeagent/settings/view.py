"""The settings as the panel displays them: value, source and the administrator's limit. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_codeagent.settings.config import APPROVE_ORDER, PREFERENCES, CodeAgent, Source, apply_caps
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.variables import PRIVACY_ORDER

Value = str | int | float | bool
ORDERED: dict[str, tuple[str, ...]] = {"privacy": PRIVACY_ORDER, "approve": APPROVE_ORDER}
"""Settings with ordered values, the strictest first."""
EXACT_CAPS = ("model", "base_url")
"""Settings for which a cap is the value; for others it is the maximum."""


@dataclass(frozen=True, kw_only=True)
class EffectiveSetting:
    """A setting with its effective value: one line of the panel."""

    name: str
    value: Value
    """Value in force, caps included. An empty name or address is resolved at the first run."""
    source: Source | Literal["administrator"]
    fixed: bool
    """Whether the administrator allows no other value."""
    limit: Value | None
    """The administrator's limit; None without a cap."""


def effective_settings(config: CodeAgent, caps: Mapping[str, Any]) -> tuple[EffectiveSetting, ...]:
    """Return the settings in force, each with its source and limit.

    Raises
    ------
    UsageError
        `CodeAgent.settings` raises it.
    """
    chosen = config.settings()
    wanted, capped = _values(chosen), _values(apply_caps(chosen, caps))
    return tuple(
        EffectiveSetting(
            name=name,
            value=capped[name],
            source="administrator"
            if _is_fixed(name, caps) or capped[name] != wanted[name]
            else config.source(name),
            fixed=_is_fixed(name, caps),
            limit=caps.get(name),
        )
        for name in PREFERENCES
    )


def check_change(name: str, value: Value, caps: Mapping[str, Any]) -> None:
    """Check a value against the administrator's caps, so that no setting is accepted without effect.

    Raises
    ------
    UsageError
        The administrator does not allow the value.
    """
    if name in caps and not _is_allowed(name, value, caps[name]):
        verb = "fixes" if _is_fixed(name, caps) else "allows at most"
        raise UsageError(f"Your administrator {verb} {name} = {caps[name]}; {value} was not set.")


def _values(settings: Settings) -> dict[str, Value]:
    return {
        "model": settings.model.model,
        "base_url": settings.model.base_url,
        "privacy": settings.privacy,
        "approve": settings.approve,
        "max_steps": settings.max_steps,
        "timeout_s": settings.sandbox.wall_s,
        "context_tokens": settings.context_tokens,
        "answer": settings.answer,
    }


def _is_fixed(name: str, caps: Mapping[str, Any]) -> bool:
    if name not in caps:
        return False
    strictest = {"max_steps": 1, "answer": False, **{key: order[0] for key, order in ORDERED.items()}}
    return name in EXACT_CAPS or (name in strictest and caps[name] == strictest[name])


def _is_allowed(name: str, value: Value, cap: Any) -> bool:
    if name in EXACT_CAPS:
        return bool(value == cap)
    if name in ORDERED:
        return ORDERED[name].index(str(value)) <= ORDERED[name].index(cap)
    if name == "answer":
        return bool(cap or not value)
    return bool(value <= cap)
