"""Settings within the administrator's policy, whoever chose them, and a line for the user where a rule bites."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from jupyter_codeagent.settings.policy import Policy
from jupyter_codeagent.settings.rules import RULES, UpTo, listed
from jupyter_codeagent.settings.settings import ModelSettings, Settings
from jupyter_codeagent.types.embedded import EMBEDDED, is_embedded
from jupyter_codeagent.types.errors import DeniedError, UsageError


def within(policy: Policy, settings: Settings, chosen: Collection[str] = ()) -> Settings:
    """Return the settings within the policy: what it does not allow is replaced by the nearest that it does.

    `chosen` are the settings that somebody has chosen, in contrast to defaults: `Settings.cuts` has a line for each
    that is replaced.

    Raises
    ------
    UsageError
        None of the chosen sandbox levels is allowed.
    """
    cuts = []
    for key, rule in policy.rules.items():
        if key == "base_url":
            continue
        cut, name = RULES[key].cut(settings, rule), RULES[key].trait or key
        asked = f"{name} = {text_of(RULES[key].value(settings))}"
        if cut is None:
            raise UsageError(policy.line(asked, key))
        if cut is not settings and name in chosen:
            cuts.append(policy.line(asked, key, used=text_of(RULES[key].value(cut))))
        settings = cut
    model = _within_servers(policy, settings.model)
    if model.weights and "model" in policy.rules and "weights" not in policy.rules:
        # Any file can have the name of a model that is allowed.
        cuts.append(policy.line(f"weights = {model.weights}", "model", used=text_of("")))
        model = replace(model, weights="")
    for key in ("base_url", "model"):
        before, after = getattr(settings.model, key), getattr(model, key)
        if before and before != after and key in chosen:
            cuts.append(policy.line(f"{key} = {before}", "base_url", used=after or EMBEDDED))
    return replace(settings, model=model, policy=policy, cuts=tuple(cuts))


def _within_servers(policy: Policy, model: ModelSettings) -> ModelSettings:
    """Return the settings with a server that is allowed, and a model that goes with it.

    The administrator's servers are configured, and the first of them gets a key that names no server. A port of
    this machine is not enough to know one by: while it is down, any user could listen there.
    """
    rule, models = policy.rules.get("base_url"), listed(policy.rules.get("model", []))
    servers = [address for address in listed(rule) if address != EMBEDDED] if rule is not None else []
    named = (*servers, *models)
    model = replace(model, configured=(*named, *model.configured))
    if rule is None:
        return model
    base_url = _allowed_server(model, listed(rule))
    name = model.model
    if bool(base_url) == is_embedded(name):
        suited = (one for one in models if is_embedded(one) != bool(base_url))
        name = next(suited, "" if base_url else EMBEDDED)
    return replace(
        model,
        base_url=base_url,
        model=name,
        discover=False,
        servers=tuple(servers),
        why_only_these=policy.reason("base_url"),
    )


def _allowed_server(model: ModelSettings, allowed: list[str]) -> str:
    """Return the address of the server to use; empty for the embedded model."""
    asked = model.base_url.strip().rstrip("/")
    servers = [address for address in allowed if address != EMBEDDED]
    if asked in [address.rstrip("/") for address in servers]:
        return model.base_url
    if is_embedded(model.model) and EMBEDDED in allowed:
        return ""
    if model.model and servers:
        return servers[0]
    return "" if allowed[0] == EMBEDDED else allowed[0]


def check_switched_on(settings: Settings, key: str, asked: str) -> None:
    """Check that the setting, one with ordered values, is not at its strictest.

    Raises
    ------
    DeniedError
        It is: by the administrator, or by the user.
    """
    if refusal := refusal_of(settings.policy, key, asked):
        raise DeniedError(refusal)
    off, *_, on = _order(key)
    if RULES[key].value(settings) == off:
        raise DeniedError(f"{asked} is switched off in this kernel: `%config CodeAgent.{key} = {on!r}`.")


def refusal_of(policy: Policy, key: str, asked: str) -> str:
    """Return the line for the user where the policy has this setting at its strictest; empty elsewhere."""
    return policy.line(asked, key) if policy.rules.get(key) == _order(key)[0] else ""


def _order(key: str) -> tuple[Any, ...]:
    bound = RULES[key].bound
    assert isinstance(bound, UpTo)
    return bound.order


def text_of(value: Any) -> str:
    """Return a value as people write it."""
    if isinstance(value, tuple):
        return ", ".join(map(text_of, value))
    return f"{value:g}" if isinstance(value, float) else str(value) if value != "" else "none"
