"""The administrator's policy: one file of rules, each of which bounds one setting, whoever asks for more.

The file lies in a directory of the system. No environment variable leads elsewhere, as those of Jupyter's own paths
would: they are the user's. A rule can only make things stricter, and a file that cannot be used stops everything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_codeagent.settings.rules import RULES, listed
from jupyter_codeagent.types.embedded import EMBEDDED, is_embedded
from jupyter_codeagent.types.errors import UsageError

POLICY_FILE = "codeagent_policy.json"
DIRECTORIES: tuple[str, ...] = ("/etc/jupyter", "/usr/local/etc/jupyter")
"""Directories of the policy. If both have one, both hold."""
CONTACT = "contact"
"""Key of the file that is no rule: whom to ask, in words or as an address."""
MAX_SHOWN_CHARS = 80


@dataclass(frozen=True, kw_only=True)
class Policy:
    """The rules that hold; none without a file."""

    rules: Mapping[str, Any] = field(default_factory=dict)
    """Key of `RULES` -> value."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Key -> file that has the rule."""
    contact: str = ""

    def line(self, asked: str, key: str, used: str = "") -> str:
        """Return one line for the user: what was asked for, which rule does not allow it, and whom to ask.

        `used` is what is used instead; empty if nothing was done.
        """
        return f"{asked} {self.reason(key, used)}"

    def reason(self, key: str, used: str = "") -> str:
        """Return the line without its beginning."""
        rule = shown(json.dumps(self.rules[key], ensure_ascii=False))
        instead = f", so {used} is used" if used else ""
        return (
            f"is not allowed by your administrator (rule {key} = {rule} in {self.files[key]}){instead}. "
            f"Ask {self.contact or 'them'} if you need it."
        )

    def texts(self) -> tuple[str, ...]:
        """Return ``approve = "ask" (/etc/jupyter/codeagent_policy.json)`` for each rule."""
        return tuple(
            f"{key} = {shown(json.dumps(rule, ensure_ascii=False))} ({self.files[key]})"
            for key, rule in self.rules.items()
        )


def shown(text: str) -> str:
    """Return the text, cut to what fits into a line."""
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}…"


def read_policy(directories: Sequence[str] | None = None) -> Policy:
    """Return the administrator's policy; one without rules if there is no file.

    Raises
    ------
    UsageError
        A file cannot be read, or a key or a value in it is not valid: nothing may run, as its rules are not known.
    """
    policy = Policy()
    for directory in DIRECTORIES if directories is None else directories:
        path = Path(directory) / POLICY_FILE
        content = _read(path)
        if content is not None:
            policy = _together(policy, _checked(content, str(path)))
    _check_models(policy)
    return policy


def _read(path: Path) -> dict[str, Any] | None:
    """Return the content of a file; None if it does not exist."""
    try:
        path.lstat()  # a dangling link exists, and a directory that cannot be searched may have the file
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unusable(path, f"cannot be read ({error})") from error
    try:
        content = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_without_repetition)
    except (OSError, ValueError, RecursionError) as error:
        raise _unusable(path, f"cannot be read ({error})") from error
    if not isinstance(content, dict):
        raise _unusable(path, "is not a JSON object")
    return content


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return content


def _checked(content: Mapping[str, Any], file: str) -> Policy:
    rules = {key: value for key, value in content.items() if key != CONTACT}
    for key, value in rules.items():
        if key not in RULES:
            raise _unusable(file, f"has the unknown key {shown(key)!r}")
        if not RULES[key].bound.fits(value):
            wanted = RULES[key].bound.wanted
            raise _unusable(file, f"has {key} = {shown(json.dumps(value))}; it must be {wanted}")
    contact = content.get(CONTACT, "")
    if not isinstance(contact, str) or not contact.isprintable():
        raise _unusable(file, f"has {CONTACT} = {shown(json.dumps(contact))}; it must be a line of text")
    if "base_url" in rules:
        addresses = [address.strip().rstrip("/") for address in listed(rules["base_url"])]
        rules["base_url"] = addresses if len(addresses) > 1 else addresses[0]
    return Policy(rules=rules, files=dict.fromkeys(rules, file), contact=contact.strip())


def _together(one: Policy, other: Policy) -> Policy:
    """Return the policy of two files: each rule of both."""
    rules, files = {**one.rules, **other.rules}, {**one.files, **other.files}
    for key in one.rules.keys() & other.rules.keys():
        rules[key] = RULES[key].bound.both(one.rules[key], other.rules[key])
        if rules[key] is None:
            raise _unusable(other.files[key], f"and {one.files[key]} allow no {key} in common")
        files[key] = one.files[key] if rules[key] == one.rules[key] else other.files[key]
    return Policy(rules=rules, files=files, contact=one.contact or other.contact)


def _check_models(policy: Policy) -> None:
    """Raise UsageError if no allowed model is on an allowed server."""
    if {"base_url", "model"} <= policy.rules.keys():
        here = {address == EMBEDDED for address in listed(policy.rules["base_url"])}
        if here.isdisjoint(is_embedded(name) for name in listed(policy.rules["model"])):
            raise _unusable(
                policy.files["model"],
                f'allows no model: "{EMBEDDED}:…" needs base_url = "{EMBEDDED}", other names need a server',
            )


def _unusable(file: Path | str, problem: str) -> UsageError:
    return UsageError(
        f"The administrator's policy {file} {problem}, so nothing runs. Ask your administrator to fix it."
    )
