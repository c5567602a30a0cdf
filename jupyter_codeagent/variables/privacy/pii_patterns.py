"""Patterns of personal data that hardly match anything else, with check digits; what matches is masked.

Bare numbers are not masked, except card numbers with a correct check digit: an ordinary result must stay unchanged.
"""

from __future__ import annotations

import re

MASK = "***"

E_MAIL = re.compile(r"[\w.+%-]{1,64}@(?:[\w-]{1,63}\.)+\w{2,24}")
"""At least two letters at the end: `a@b.T` is a product of matrices."""
IBAN = re.compile(r"[A-Z]{2}(?<![A-Za-z0-9][A-Z]{2})\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
# Visa, Mastercard, Discover and the like; American Express; Diners.
CARD = re.compile(
    r"[2-6]\d(?<![\w.+-]\d\d)(?:(?<=4\d|5[1-5]|2[2-7]|6[0245]|35)\d\d([ -]?)\d{4}\1\d{4}\1\d{4}|"
    r"(?<=34|37)\d\d([ -]?)\d{6}\2\d{5}|(?<=30|36|38)\d\d([ -]?)\d{6}\3\d{4})(?![\w-]|\.\d)"
)
PHONE = re.compile(
    r"(?<![\w.+-])\+[1-9](?:\d{9,14}|\d{0,3}(?:[ /-]?\(?\d{1,4}\)?){1}(?:[ /-]\d{2,4}){2,5})(?![\w.]\d|\w)|"
    r"(?<![\w.+-])(?:1[ .-])?\([2-9]\d\d\) ?[2-9]\d\d[ .-]\d{4}(?!\w)|"
    r"(?<![\w.+-])(?:1-)?[2-9]\d\d([.-])[2-9]\d\d\1\d{4}(?![\w.-])"
)
SSN = re.compile(r"(?<![\w.-])(?!000|666)[0-8]\d\d-(?!00)\d\d-(?!0000)\d{4}(?![\w-]|\.\d)")

# The beginnings of such text where "..." or "…" cuts it, but not where the dots are between numbers of an array.
_CUT = re.compile(
    r"(?:[\w.+%-]{1,64}@[\w-]{0,63}(?:\.[\w-]{1,63})*|"
    r"(?<![\w.+-])(?:4\d|5[1-5]|2[2-7]|6[0245]|3[04-8])\d\d(?:[ -]\d\d(?:[ -]?\d){0,9}|\d{4}(?:[ -]?\d){0,7})-?|"
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?|"
    r"(?<![\w.+-])\+[1-9](?:[ /()-]{0,2}\d){5,13}[/()-]?|"
    r"(?<![\w.+-])(?:1[ .-])?(?:\([2-9]\d\d\) ?[2-9]\d\d[ .-]?\d{0,3}|[2-9]\d\d([.-])[2-9]\d\d\1\d{1,3})|"
    r"(?<![\w.-])(?!000|666)[0-8]\d\d-(?!00)\d\d-\d{0,3})"
    r"(?= ?(?:\.\.\.|…))(?! \.\.\.(?: |\n +)[-+]?\d)"
)


def is_iban(text: str) -> bool:
    """Return whether the check digits of text that looks like an IBAN are correct."""
    compact = text.replace(" ", "")
    return 15 <= len(compact) <= 34 and int("".join(str(int(c, 36)) for c in compact[4:] + compact[:4])) % 97 == 1


def is_luhn(text: str) -> bool:
    """Return whether the check digit of a card number is correct."""
    digits = [int(c) for c in text if c.isdigit()]
    return (sum(digits[-1::-2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])) % 10 == 0


def mask_pii(text: str) -> str:
    """Mask e-mail addresses, cards, IBANs, telephone and social security numbers with ``***``.

    The beginnings of these before "..." are masked, too.
    """
    if "@" in text:
        text = E_MAIL.sub(MASK, text)
    text = CARD.sub(lambda match: MASK if is_luhn(match.group()) else match.group(), text)
    text = IBAN.sub(lambda match: MASK if is_iban(match.group()) else match.group(), text)
    text = SSN.sub(MASK, PHONE.sub(MASK, text))
    return _CUT.sub(MASK, text) if "..." in text or "…" in text else text
