"""What looks like a secret, by its name or by itself: it is neither told nor copied unasked.

Patterns find the usual forms only; a secret that looks like a word and has a harmless name is not found.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from itertools import islice

from jupyter_codeagent.variables.text import words_of_name

LOOKED_AT_ITEMS = 500
LOOKED_AT_CHARS = 1000

_ALWAYS = re.compile(
    r"(^|[^a-z])(password|passwd|passphrase|pwd|secret|credential|(api|private|access|secret)_?key|"
    r"(access|auth|refresh|bearer)_?token)s?([^a-z]|$)"
)
_FOR_TEXT = re.compile(
    r"(^|[^a-z])(key|token|pass|auth|authorization|conn|connection|connection_?string|conn_?str|url|uri|dsn|cookie|"
    r"webhook)s?([^a-z]|$)"
)
_KEY = re.compile(
    r"(?<![A-Za-z0-9])("
    r"[sr]k[-_][\w-]{6}|gh[pousr]_\w{6}|github_pat_|glpat-|xox[abeprs]-|(AKIA|ASIA)[0-9A-Z]{8}|AIza[\w-]{12}|"
    r"hf_\w{8}|pypi-\w{8}|npm_\w{12}|eyJ[\w-]{8,}\.|-----BEGIN |(?i:bearer\s+\S)|"
    r"(?i:([a-z]+_)?(password|passwd|pwd|secret|token|(api|access|account|shared_?access|private)_?key)"
    r"[\"']?\s*[=:]\s*\S))"
)
_URL_PASSWORD = re.compile(r":/{1,2}[^\s@]*:\S*@")
_EMAIL = re.compile(r"[\w.+-]@[\w-]+\.\w")
_TOKEN = re.compile(r"[A-Za-z0-9+_=-]{20,}")
_KIND_CHANGE = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[a-z0-9])|(?<=[0-9])(?=[A-Za-z])")


def secret_name(name: object, value: object) -> bool:
    """Whether a name says that its value is a secret: ``password`` always, ``key`` and ``url`` of text."""
    words = words_of_name(name)
    if value is None or isinstance(value, bool):
        return False
    return bool(_ALWAYS.search(words) or (isinstance(value, (str, bytes, bytearray)) and _FOR_TEXT.search(words)))


def secret_text(text: str) -> bool:
    """A key by its prefix, a URL with a password, ``Bearer …``, or a long token that looks random."""
    seen = text[:LOOKED_AT_CHARS]
    return bool(_KEY.search(seen) or _URL_PASSWORD.search(seen)) or any(
        _random(token) for token in _TOKEN.findall(seen)
    )


def private_text(text: str) -> bool:
    """A secret, or with an e-mail address in it."""
    return secret_text(text) or _EMAIL.search(text[:LOOKED_AT_CHARS]) is not None


def carries_secret(name: str, value: object) -> bool:
    """Whether a plain value is or contains a secret, by its first `LOOKED_AT_ITEMS` items of any depth."""
    found: list[tuple[object, object]] = [(name, value)]
    for at in range(LOOKED_AT_ITEMS):
        if at == len(found):
            return False
        key, item = found[at]
        if secret_name(key, item) or _secret_leaf(key) or _secret_leaf(item):
            return True
        found.extend(_items(item, LOOKED_AT_ITEMS - len(found)))
    return False


def _secret_leaf(value: object) -> bool:
    if isinstance(value, (bytes, bytearray)):
        return secret_text(value[:LOOKED_AT_CHARS].decode("latin-1"))
    return isinstance(value, str) and secret_text(value)


def _items(value: object, most: int) -> list[tuple[object, object]]:
    if isinstance(value, Mapping):
        return list(islice(value.items(), max(most, 0)))
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return [("", item) for item in islice(value, max(most, 0))]
    return []


def _random(token: str) -> bool:
    """Random text changes between small letters, capitals and digits at every second character; words do not."""
    plain = re.sub(r"[^A-Za-z0-9]", "", token)
    return len(plain) >= 20 and len(_KIND_CHANGE.findall(plain)) * 5 >= len(plain)
