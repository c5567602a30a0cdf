"""What a prompt says about the rows that count: a part or all, each once, those with a match, the latest ones.

Pure functions of the prompt's words. They tell which of the counted facts the prompt asks for, and which it speaks
against.
"""

from __future__ import annotations

import re


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives)})\b", re.IGNORECASE)


_MISSING_ASKED = _words(
    *("known", "complete", "available", "valid", r"(?:without|non|no)[- ](?:missing|null|nan)", r"exclud\w*"),
    *(r"ignor\w*", r"drop\w*", r"remov\w*", r"clean\w*", r"not count\w*", "leave out", "left out"),
)
_PART_ASKED = _words(
    *("first", "last", "samples?", "preview", "head", "tail", "examples?", "show", "display", "list")
)
_WHOLE = _words(
    *(r"all(?! of (?:these|those|them)\b)(?= \w)", "in all", "overall", "(?:our|the|grand) total", "whole"),
    *("altogether", "in total"),
)
_COUNT_OF_PART = (
    re.compile(r"\b(?:first|last|top|bottom)\s+(\w+)"),
    re.compile(
        r"\b(\w+)\s+(?:\w+\s+)?(?:biggest|largest|smallest|highest|lowest|best|worst|most|longest|shortest|random|oldest"
        r"|newest|latest|first|last)\b"
    ),
)
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NUMBERS = {word: number for number, word in enumerate(_NUMBER_WORDS, start=1)}
_MATCHED = _words(
    *("both", r"only (?:\w+\s+){0,3}(?:who|that|which|with)", "at least one", "who took part", "we dropped"),
    r"(?:that|which|who) (?:are|is|were|have|has|had|came) (?:\w+ )?(?:open|active|running|valid|\w+ed)",
)
_UNMATCHED_TOO = _words(
    *("zeros?", "as 0", "including (?:those|the ones|members|customers|people|all)", "no-shows?"),
    *("even (?:if|those)", "also those", "those without any", "whether or not", "or none", "everything"),
)
_EACH_MATCH = _words(
    "counts? for (?:each|every|both|all)", "for both", "for each of (?:its|their|them)", "in each of"
)
_ONCE = _words(
    *(r"duplicat\w*", "more than once", "twice", "counts? (?:only )?once", "once each", "each once"),
    *(r"re-?sen[dt]\w*", "repeated(?:ly)?", "double entries", r"doppelt\w*", r"de-?dup\w*"),
)
_LATEST = _words(
    *("current(?:ly)?", "as of", "latest", "most recent", "newest", "up[- ]to[- ]date", "in force"),
    *("right now", "at present", r"aktuell\w*"),
)
_COUNTED = re.compile(r"\b(?:how many|number of|count(?: of| the)?)((?:\W+\w+){1,3})")
_AVERAGED = re.compile(
    r"\b(?:average|avg\.?|mean|typical|median|per|each|every|one|a)((?:\W+\w+){1,3})|\b(\w+) value\b"
    r"|\bvalue of an? (\w+)"
)
_MEAN = _words(r"averag\w*", "avg", "mean", "median", r"typical\w*", r"durchschnitt\w*", r"mittel\w*")
_MEAN_OF_MEANS = _words(
    *(r"(?:averages?|means?) of (?:\w+\W+){0,6}?(?:averages?|means?)", r"count\w* the same"),
    *("same weight", "unweighted"),
)
_ID_ENDING = re.compile(r"(?:^|[_\s])(?:id|key|uuid|number|no|nr|code)$|Id$|ID$")


def asks_without_missing(prompt: str) -> bool:
    """Check whether the prompt settles that rows with missing values are left out."""
    return _MISSING_ASKED.search(prompt) is not None


def asks_for_part(count: int, prompt: str) -> bool:
    """Check whether the prompt asks for a figure of so many rows, not of all of them."""
    if asks_for_whole(prompt):
        return False
    words = prompt.replace(",", "").lower()
    if str(count) in re.findall(r"\d+", words):
        return True
    named = {word for pattern in _COUNT_OF_PART for word in pattern.findall(words)}
    sizes = {_NUMBERS.get(word) or int(word) for word in named if word in _NUMBERS or word.isdecimal()}
    return count in sizes if sizes else _PART_ASKED.search(words) is not None


def asks_for_whole(prompt: str) -> bool:
    """Check whether the prompt asks for a figure of all rows: ``what share of all loans``."""
    return _WHOLE.search(prompt) is not None


def asks_for_mean_of_means(prompt: str) -> bool:
    """Check whether the prompt gives each group the same weight: ``the average of their mean scores``."""
    return _MEAN_OF_MEANS.search(prompt) is not None


def asks_for_matches(prompt: str) -> bool:
    """Check whether the prompt asks for what stands in both tables alone."""
    return _MATCHED.search(prompt) is not None


def asks_for_each_match(prompt: str) -> bool:
    """Check whether what has several matches counts for each of them: ``a booking counts for every amenity``."""
    return _EACH_MATCH.search(prompt) is not None


def asks_for_unmatched(prompt: str) -> bool:
    """Check whether the prompt wants those without a match too: ``no-shows count as zero``."""
    return _UNMATCHED_TOO.search(prompt) is not None


def asks_once(prompt: str) -> bool:
    """Check whether the prompt says that something stands in the data several times."""
    return _ONCE.search(prompt) is not None


def asks_for_latest(prompt: str) -> bool:
    """Check whether the prompt asks for a state: the latest of several records."""
    return _LATEST.search(prompt) is not None


def asks_for_mean(prompt: str) -> bool:
    """Check whether the prompt asks for an average."""
    return _MEAN.search(prompt) is not None


def counts(label: str, prompt: str) -> bool:
    """Check whether the prompt counts what an identifier names: ``how many patients`` for `patient_id`."""
    return _names(label, _COUNTED.findall(prompt.lower()))


def averages(label: str, prompt: str) -> bool:
    """Check whether the prompt asks for a figure of what a column names: ``average order value`` for `order_id`."""
    return _names(label, [" ".join(found) for found in _AVERAGED.findall(prompt.lower())])


def _names(label: str, phrases: list[str]) -> bool:
    stem = _ID_ENDING.sub("", label).strip("_ ").lower().rstrip("s")
    return len(stem) > 2 and any(re.search(rf"\b{re.escape(stem)}(?:e?s)?\b", words) for words in phrases)
