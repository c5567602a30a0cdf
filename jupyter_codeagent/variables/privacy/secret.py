"""Recognise secrets by name or form: they do not go into the prompt, and are not copied unless the user asks.

Patterns find the usual forms only; a secret that looks like a word and has a harmless name is not found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice

from jupyter_codeagent.variables.introspection import container_of, first, first_pairs, instance_attributes, is_a
from jupyter_codeagent.variables.privacy.pii_patterns import MASK, mask_pii
from jupyter_codeagent.variables.text import snake_case

CHECKED_ITEMS = 500
CHECKED_CHARS = 1000
MIN_TOKEN_CHARS = 20

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
    r"[sr]k[-_][\w-]{6}|gh[pousr]_\w{6}|github_pat_|glpat-|xox[abeprs]-|xapp-|(AKIA|ASIA)[0-9A-Z]{8}|AIza[\w-]{12}|"
    r"hf_\w{8}|gsk_\w{8}|nvapi-\w{8}|pypi-\w{8}|npm_\w{12}|dop_v1_|shp(at|ss|ca)_|whsec_|ya29\.|SG\.[\w-]{12}|"
    r"eyJ[\w-]{8,1000}\.|-----BEGIN |(?i:bearer\s+\S)|"
    r"(?i:([a-z]+_)?(password|passwd|pwd|secret|token|(api|access|account|shared_?access|private)_?key)"
    r"[\"']?\s*[=:]\s*\S))\S*"
)
# The pattern above is slow: it tries many alternatives at every character. Without one of these it cannot match.
_DASHED_PARTS = ("sk-", "rk-", "glpat-", "xox", "xapp-", "nvapi-", "pypi-", "-----BEGIN ")
_SCORED_PARTS = (
    *("sk_", "rk_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "hf_", "gsk_", "npm_", "dop_v1_"),
    *("shpat_", "shpss_", "shpca_", "whsec_"),
)
_OTHER_PARTS = ("AKIA", "ASIA", "AIza", "ya29.", "SG.", "eyJ")
_ASSIGNED_PARTS = ("password", "passwd", "pwd", "secret", "token", "key")
_UP_TO_AT = re.compile(r"(?<!\S)\S*@")
_USER_INFO = re.compile(r":/{1,2}[^\s@:]*+:")
_CUT_URL_PASSWORD = re.compile(r"://[^\s@/:]{0,64}:(?!\d{1,5}\.\.\.|\d{1,5}…)[^\s@/.…]+(?=\.\.\.|…)")
_TOKEN = re.compile(r"[A-Za-z0-9+_=-]{20,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_PART_BEGINS = re.compile(
    r"(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])"
)
"""Where parts begin. A capital begins a word and is no part by itself: ``MedianSoldPrice`` has three."""


def secret_name(name: object, value: object) -> bool:
    """Check whether a name says that its value is a secret: ``password`` always, ``key`` and ``url`` for text."""
    words = snake_case(name)
    if value is None or isinstance(value, bool):
        return False
    return bool(_ALWAYS.search(words) or (isinstance(value, (str, bytes, bytearray)) and _FOR_TEXT.search(words)))


def secret_text(text: str) -> bool:
    """Check for a key by its prefix, a URL with a password, ``Bearer …``, or a long token that looks random."""
    seen = text[:CHECKED_CHARS]
    return has_key(seen) or any(is_random(token) for token in _TOKEN.findall(seen))


def has_key(text: str) -> bool:
    """Check for a key by its prefix or its name, or a URL with a password, anywhere in the text."""
    return (_may_have_key(text) and _KEY.search(text) is not None) or (
        "@" in text and ":/" in text and any(_USER_INFO.search(word) for word in _UP_TO_AT.findall(text))
    )


def has_random_token(text: str) -> bool:
    """Check whether a long token looks random, as keys without a prefix do; a UUID is an identifier."""
    return any(
        is_random(token)
        for word in text.split()
        if len(word) >= MIN_TOKEN_CHARS
        for token in _TOKEN.findall(_UUID.sub("", word))
    )


def mask_private(text: str) -> str:
    """Mask keys, passwords in URLs, long random tokens and personal data with ``***``; numbers stay."""
    masked = mask_pii(mask_keys(text))
    return _TOKEN.sub(lambda token: MASK if has_random_token(token.group()) else token.group(), masked)


def mask_keys(text: str) -> str:
    """Mask keys that their form or their name gives away, and passwords in URLs, with ``***``."""
    if _may_have_key(text):
        text = _KEY.sub(MASK, text)
    if "@" in text and ":/" in text:
        text = _UP_TO_AT.sub(_without_password, text)
    if "://" in text and ("..." in text or "…" in text):
        text = _CUT_URL_PASSWORD.sub(f"://{MASK}", text)
    return text


def _without_password(up_to_at: re.Match[str]) -> str:
    """Return ``postgresql://***@`` for a word up to its last ``@``, which may be part of the password, too."""
    word = up_to_at[0]
    found = _USER_INFO.search(word)
    return word if found is None else f"{word[: found.start()]}://{MASK}@"


def private_text(text: str) -> bool:
    """Check for a secret, an e-mail address, a card or telephone number or the like in the text."""
    seen = text[:CHECKED_CHARS]
    return secret_text(seen) or mask_pii(seen) != seen


def carries_secret(name: str, value: object) -> bool:
    """Check whether a plain value is or contains a secret, by its first `CHECKED_ITEMS` items at any depth."""
    found: list[tuple[object, object]] = [(name, value)]
    for at in range(CHECKED_ITEMS):
        if at == len(found):
            return False
        key, item = found[at]
        if secret_name(key, item) or _is_secret(key) or _is_secret(item):
            return True
        found.extend(_items(item, CHECKED_ITEMS - len(found)))
    return False


def _is_secret(value: object) -> bool:
    if isinstance(value, (bytes, bytearray)):
        return secret_text(value[:CHECKED_CHARS].decode("latin-1"))
    return isinstance(value, str) and secret_text(value)


def _items(value: object, most: int) -> list[tuple[object, object]]:
    """Return (key, item) pairs without running the value's code: listing a mapping may open a file."""
    most = max(most, 0)
    kind = container_of(value)
    if kind is dict:
        return first_pairs(value, most)
    if kind is not None:
        return [("", item) for item in first(value, most)]
    if is_a(value, Mapping):  # `os.environ`, `UserDict` keep their items in an attribute
        return list(islice(instance_attributes(value).items(), most))
    return []


def _may_have_key(text: str) -> bool:
    if any(part in text for part in _OTHER_PARTS):
        return True
    if "-" in text and any(part in text for part in _DASHED_PARTS):
        return True
    if "_" in text and any(part in text for part in _SCORED_PARTS):
        return True
    small = text.lower()
    assigned = "=" in text or ":" in text
    return "bearer" in small or (assigned and any(part in small for part in _ASSIGNED_PARTS))


def is_random(token: str) -> bool:
    """Check whether text looks random: a new part every second or third character, as ``aB3dE``, unlike CamelCase.

    Of 5,000 random texts of 20 letters and digits, one was taken for words; of 20 letters, one in a hundred; of 20
    capitals and digits, one in thirty. A passphrase of words is not found.
    """
    if token.isdecimal() or (token.isalpha() and (token.islower() or token.isupper())):
        return False
    plain = re.sub(r"[^A-Za-z0-9]", "", token)
    return len(plain) >= MIN_TOKEN_CHARS and len(_PART_BEGINS.findall(plain)) * 5 >= len(plain)
