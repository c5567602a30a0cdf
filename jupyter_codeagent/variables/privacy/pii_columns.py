"""Recognise columns of personal or secret values by their content, whatever the column is called.

The share of a bounded sample that matches a pattern decides, and check digits where there are some; one secret is
enough. Names of people have the same form as names of airports or products: there the label, titles and common
given names decide. Personal data without a pattern here is not found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv6Address
from itertools import islice

from jupyter_codeagent.variables.privacy import pii_patterns
from jupyter_codeagent.variables.privacy.given_names import GIVEN_NAMES
from jupyter_codeagent.variables.privacy.pii_patterns import is_iban, is_luhn
from jupyter_codeagent.variables.privacy.secret import has_key, has_random_token
from jupyter_codeagent.variables.text import snake_case

E_MAIL = "e-mail address"
PHONE = "phone number"
CARD = "card number"
IBAN = "IBAN"
NATIONAL = "national number"
IP = "IP address"
KEY = "key or token"
PERSON = "person name"
STREET = "street address"

MAX_VALUES = 200
MAX_VALUE_CHARS = 64
# Share of the values, for a pattern that hardly anything else matches.
RARE_SHARE = 0.03
# Share of the values, for a pattern that codes and identifiers match as well.
COMMON_SHARE = 0.5
# Values that are tried first, evenly spread: a pattern that many match shows up among them.
PROBED = 32

_NATIONAL = {
    "US": re.compile(r"(?!000|666)[0-8]\d\d-(?!00)\d\d-(?!0000)\d{4}"),
    "UK": re.compile(r"[A-CEGHJ-PR-TW-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]"),
    "IT": re.compile(r"[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]"),
    "ES": re.compile(r"[XYZ\d]\d{7}-?[A-HJ-NP-TV-Z]"),
    "BR": re.compile(r"\d{3}\.\d{3}\.\d{3}-\d\d"),
    "IN": re.compile(r"[A-Z]{3}[ABCFGHJLPT][A-Z]\d{4}[A-Z]"),
    "MX": re.compile(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d"),
    "Nordic": re.compile(r"(?:[0-3]\d[01]\d{3}|\d\d[01]\d[0-3]\d)[-+A]\d{3}[0-9A-Y]"),
    "FR": re.compile(r"[12] ?\d\d ?[01]\d ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d"),
    "CN": re.compile(r"[1-6]\d{5}(?:19|20)\d\d[01]\d[0-3]\d{4}[\dX]"),
}
_ANY_NATIONAL = re.compile("|".join(f"(?:{form.pattern})" for form in _NATIONAL.values()))
_PHONE = re.compile(
    r"(?:\+|00)[1-9]\d{0,2}(?:[ ./()-]{0,2}\d){6,13}|"
    r"(?:\+?1[ .-])?(?:\([2-9]\d\d\) ?|[2-9]\d\d[.-])[2-9]\d\d[ .-]\d{4}(?: ?x\d{1,6})?|"
    r"0\d{1,4}[ /-]\d{3}[\d /-]{2,9}"
)
_PHONE_LABEL = re.compile(r"phone|mobile|(^|_)(fax|tel|cell|contact|call|caller|callee|msisdn|sms|whatsapp)(_|$)")
_LOOSE_PHONE = re.compile(r"\+?\(?\d(?:[ ()./-]{0,2}\d){6,14}")
_IPV4 = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?::\d+|/\d+)?")
_IP_LABEL = re.compile(
    r"(^|_)(ips?|ip_?addr\w*|ipv[46]|hosts?|remote|client|server|src|dst|source|destination|address)(_|$)"
)
_VERSION_LABEL = re.compile(r"version|release|build|revision|(^|_)(ver|rev|os|sdk|firmware|section)(_|$)")
_STREET = re.compile(
    r"\d{1,5}[a-z]?,? (?:[\w.'-]+ ){1,4}?(?:st|street|ave?|avenue|rd|road|blvd|boulevard|ln|lane|dr|drive|ct|court|"
    r"pl|place|sq|square|ter|terrace|pkwy|parkway|hwy|highway|cir|circle|way)\b|"
    r"[^\W\d_][\w .-]*(?:str(?:aße|asse|\.)|gasse|weg|allee|platz|straat|laan|gata|gatan|vägen|veien|vej|gade) "
    r"\d{1,4}\b|"
    r"(?=.*\d)(?:\d{1,4},? )?(?:rue|avenue|boulevard|impasse|via|viale|piazza|calle|avenida|plaza|rua) .+",
    re.IGNORECASE,
)
_TITLE = re.compile(
    r"(?:^|, ?)(?:mr|mrs|ms|miss|master|dr|prof|herr|frau|mme|mlle|sig|sr|sra|señor|señora)\.? ", re.IGNORECASE
)
_FULL_NAME = re.compile(
    r"(?:[A-ZÀ-ÖØ-Þ][\w'’-]*\.?,? ){1,3}[A-ZÀ-ÖØ-Þ][\w'’-]*\.?|[\u4e00-\u9fff\uac00-\ud7a3]{2,4}"
)
# Things that are named after people.
_THING = re.compile(
    r"(^|_)(brands?|compan[a-z]+|firms?|products?|airports?|stations?|stores?|schools?|universit[a-z]+|hospitals?|teams?|"
    r"models?|titles?|movies?|films?|songs?|books?|cit(y|ies)|towns?|states?|count(y|ies)|countr(y|ies)|species|dest|"
    r"origin|place|region|carriers?|airlines?)(_|$)"
)
_PLACE = re.compile(
    r"\b(?:intl|international|airport|regional|field|station|park|university|hospital|inc|llc|ltd|gmbh|corp|co|sons)\b",
    re.IGNORECASE,
)
_PERSON_LABEL = re.compile(
    r"(^|_)(persons?|people|customers?|clients?|patients?|employees?|workers?|students?|pupils?|teachers?|passengers?|"
    r"guests?|members?|users?|contacts?|authors?|owners?|drivers?|doctors?|nurses?|managers?|applicants?|candidates?|"
    r"borrowers?|tenants?|subscribers?|beneficiar[a-z]+|recipients?|senders?|payees?|payers?|holders?|spouses?|child|"
    r"mother|father|players?|athletes?|leads?|assignees?|reporters?|signed_by|created_by)(_(full_?)?names?)?$"
)
_NOT_DIGITS = bytes(byte for byte in range(256) if not 48 <= byte <= 57)


@dataclass(frozen=True, slots=True)
class _Sample:
    """What all detectors need of a column's values, computed once."""

    label: str
    values: Sequence[str]
    text: str
    """The values, one per line."""
    digits: int
    longest: int

    def share(self, matches: Callable[[str], object], at_least: float) -> bool:
        """Check whether this share of the values match; stop when none of the first `PROBED` does."""
        values = self.values
        if len(values) > PROBED and not any(map(matches, values[:: len(values) // PROBED])):
            return False
        return sum(1 for value in values if matches(value)) >= at_least * len(values)


def personal_kind(name: object, values: Sequence[str]) -> str:
    """Return the kind of personal or secret value that a column holds, by at most `MAX_VALUES` values; '' if none.

    `name` is the column's label, of any type; `values` are distinct values that are not missing, as text.
    """
    seen = [value[:MAX_VALUE_CHARS] for value in islice(values, MAX_VALUES) if value]
    if not seen:
        return ""
    text = "\n".join(seen)
    sample = _Sample(
        label=snake_case(name),
        values=seen,
        text=text,
        digits=len(text.encode("utf-8", "replace").translate(None, _NOT_DIGITS)),
        longest=max(map(len, seen)),
    )
    return next((kind for kind, found in _KINDS if found(sample)), "")


def _key(sample: _Sample) -> bool:
    return has_key(sample.text) or (sample.longest >= 20 and has_random_token(sample.text))


def _e_mail(sample: _Sample) -> bool:
    return "@" in sample.text and len(pii_patterns.E_MAIL.findall(sample.text)) >= RARE_SHARE * len(sample.values)


def _iban(sample: _Sample) -> bool:
    return sample.longest >= 15 and sample.digits >= 12 and sample.share(_has_iban, RARE_SHARE)


def _has_iban(value: str) -> bool:
    return any(is_iban(match.group()) for match in pii_patterns.IBAN.finditer(value))


def _card(sample: _Sample) -> bool:
    """Check for card numbers; most must have a correct check digit, since one number in ten has it by chance."""
    if sample.longest < 14 or sample.digits < 14 or not sample.share(pii_patterns.CARD.search, RARE_SHARE):
        return False
    valid = [is_luhn(match.group()) for match in pii_patterns.CARD.finditer(sample.text)]
    return sum(valid) >= COMMON_SHARE * len(valid)


def _national(sample: _Sample) -> bool:
    if sample.digits < 4 * len(sample.values) or not 9 <= sample.longest <= 25:
        return False
    if not sample.share(_ANY_NATIONAL.fullmatch, COMMON_SHARE):
        return False
    return any(sample.share(form.fullmatch, COMMON_SHARE) for form in _NATIONAL.values())


def _phone(sample: _Sample) -> bool:
    if sample.longest < 7 or sample.digits < 7 or sample.longest > 40:
        return False
    if _PHONE_LABEL.search(sample.label) and sample.share(_LOOSE_PHONE.fullmatch, COMMON_SHARE):
        return True
    return sample.share(_PHONE.fullmatch, RARE_SHARE)


def _ip(sample: _Sample) -> bool:
    if sample.text.count(":") >= len(sample.values) and sample.share(_is_ipv6, COMMON_SHARE):
        return True
    if sample.text.count(".") < COMMON_SHARE * 3 * len(sample.values) or _VERSION_LABEL.search(sample.label):
        return False
    if not sample.share(_IPV4.fullmatch, COMMON_SHARE):
        return False
    addresses = [
        tuple(map(int, match.groups())) for value in sample.values if (match := _IPV4.fullmatch(value)) is not None
    ]
    if any(max(parts) > 255 for parts in addresses):
        return False
    # Versions have small numbers; most addresses have a large part.
    large = sum(1 for parts in addresses if max(parts) >= 64)
    return bool(_IP_LABEL.search(sample.label)) or large >= COMMON_SHARE * len(addresses)


def _is_ipv6(value: str) -> bool:
    try:
        IPv6Address(value)
    except ValueError:
        return False
    return True


def _street(sample: _Sample) -> bool:
    return sample.digits > 0 and " " in sample.text and sample.share(_STREET.match, COMMON_SHARE / 2)


def _person(sample: _Sample) -> bool:
    if sample.digits > len(sample.values):
        return False
    if _PERSON_LABEL.search(sample.label):
        return sample.share(_FULL_NAME.fullmatch, 0.7) or sample.share(_has_given_name, 0.2)
    if _THING.search(sample.label):
        return False
    return sample.share(_has_given_name, 0.4) or (". " in sample.text and sample.share(_TITLE.search, COMMON_SHARE))


def _has_given_name(value: str) -> bool:
    """Check for ``Anna``, ``Anna B. Smith``, ``Smith, Anna``."""
    last, comma, rest = value.partition(",")
    words = (rest if comma else last).split(None, 4)
    return 0 < len(words) <= 4 and words[0].lower() in GIVEN_NAMES and _PLACE.search(value) is None


_KINDS: tuple[tuple[str, Callable[[_Sample], bool]], ...] = (
    (KEY, _key),
    (E_MAIL, _e_mail),
    (IBAN, _iban),
    (CARD, _card),
    (NATIONAL, _national),
    (PHONE, _phone),
    (IP, _ip),
    (STREET, _street),
    (PERSON, _person),
)
