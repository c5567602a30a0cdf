"""What a column is for: a number to average, a category to group by, a date, an identifier."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LEVELS = 50
MAX_NUMBER_LEVELS = 12
KEY_ENDING = re.compile(r"((^|[_\s.-])(id|key|uuid|guid|index|idx)|[a-z](Id|ID))$|^(ID|PK|rowid)$")
CODE_ENDING = re.compile(
    r"(^|[_\s.-])(code|zip|zipcode|postcode|plz|fips|nbr)$|[_\s.-](no|nr|number)$|(?-i:[a-z](Code|No|Nr|Number)$)",
    re.IGNORECASE,
)
"""Integers of such a name stand for a place or a thing; their sizes say nothing."""
LATITUDE = re.compile(r"(?<![a-z])lat(itude)?(?![a-z])", re.IGNORECASE)
LONGITUDE = re.compile(r"(?<![a-z])(lon|lng|long|longitude)(?![a-z])", re.IGNORECASE)
PARTS = {
    "year": (1500, 2200),
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (0, 53),
    "weekday": (0, 7),
    "dayofweek": (0, 7),
    "day": (1, 31),
    "hour": (0, 24),
    "minute": (0, 59),
    "second": (0, 59),
}
YEARS = ("yr", "fiscalyear", "calendaryear", "jahr", "année", "annee", "año", "anno", "ano")
"""Other names of years."""
FINE_PARTS = ("day", "minute", "second", "week")
"""Parts of dates that nobody groups by."""


@dataclass(frozen=True)
class Column:
    """One column, as it was found."""

    name: str
    stored: str
    kind: str
    """How it is read: "number", "flag", "date", "text", "mixed" or "other"."""
    role: str
    missing: int
    """Of all rows."""
    distinct: int
    whole: bool = False
    """Whether all numbers are integers."""
    part: str = ""
    """The part of a date that the numbers are, by their name and range."""
    infinite: int = 0
    """Infinite numbers of all rows, which are looked at as missing."""


@dataclass(frozen=True)
class Profile:
    """What the values of a column look like."""

    present: int
    distinct: int
    whole: bool = False
    low: float = 0.0
    high: float = 0.0
    clock: bool = False
    """Whether the integers are times of day as 1755 for 17:55."""
    words: bool = False
    """Whether the texts have blanks inside, as names and sentences have."""
    stretch: float = 1.0
    """Rows of the table for each row looked at."""


def is_measured(column: Column) -> bool:
    """Check for numbers of which hardly any two of few rows are the same by chance, so that they identify none."""
    return column.kind not in ("text", "date") and column.role == "number" and not column.part


def is_key_name(name: str) -> bool:
    """Check for names that say that a column identifies rows."""
    return KEY_ENDING.search(name) is not None or name.lower() in ("id", "key", "index", "unnamed: 0")


def is_code_name(name: str) -> bool:
    """Check for names of codes and numbers of things, as `zipcode` and `order_no`."""
    return CODE_ENDING.search(name) is not None


def are_coordinates(first: str, second: str) -> bool:
    """Check for names of a latitude and a longitude: how they go together is the shape of a coast."""
    return LATITUDE.search(f"{first} {second}") is not None and LONGITUDE.search(f"{first} {second}") is not None


def date_part(name: str, profile: Profile) -> str:
    """Return which part of a date the integers of this name are, or an empty text."""
    part = name.lower().replace("_", "").replace(" ", "")
    part = "weekday" if part == "dow" else "year" if part in YEARS else part
    low, high = PARTS.get(part, (1, 0))
    return part if profile.whole and low <= profile.low and profile.high <= high else ""


def counts_its_rows(name: str, table: str) -> bool:
    """Check for integers named after what a row is, as `flight` of `flights`: they are its number."""
    return name.lower() in {table.lower().removesuffix(ending) for ending in ("s", "es")} - {table.lower()}


def role_of(name: str, kind: str, profile: Profile, table: str = "") -> str:
    """Return the role of a column."""
    if kind in ("other", "mixed"):
        return "other"
    if profile.distinct <= 1:
        return "constant"
    if kind in ("flag", "date"):
        return kind
    return _text_role(name, profile) if kind == "text" else _number_role(name, profile, table)


def _number_role(name: str, profile: Profile, table: str) -> str:
    if profile.distinct == 2 and (profile.low, profile.high) == (0, 1):
        return "flag"
    if not profile.whole:
        return "number"
    if profile.clock:
        return "other"  # nobody averages 1755
    is_label = profile.distinct <= MAX_LEVELS and not is_nearly_unique(profile)
    if is_key_name(name) or counts_its_rows(name, table):
        return "category" if is_label else "identifier"
    counts_rows = is_nearly_unique(profile) and profile.high - profile.low < 2 * profile.present * profile.stretch
    if counts_rows and profile.present >= 20:
        return "identifier"
    if is_code_name(name):
        return "category" if is_label else "other"  # no identifier: two customers may have one zip code
    return "number"


def _text_role(name: str, profile: Profile) -> str:
    if profile.present >= 20 and is_nearly_unique(profile):
        return "identifier" if is_key_name(name) or not profile.words else "text"
    if profile.distinct <= MAX_LEVELS and (profile.distinct <= profile.present / 2 or profile.distinct <= 3):
        return "category"
    return "identifier" if is_key_name(name) else "text"


def is_nearly_unique(profile: Profile) -> bool:
    """Check that hardly any value occurs twice."""
    return profile.distinct >= 0.95 * profile.present
