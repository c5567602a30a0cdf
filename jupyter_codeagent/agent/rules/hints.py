"""One hint per error, found without a model.

The nearest column and the frame that has it, the nearest name, both dtypes of a join, what today's pandas calls a
thing. 97 % of the query errors of one large product were wrong names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jupyter_codeagent.agent.known_imports import ALIASES, INSTEAD
from jupyter_codeagent.agent.rules.api_changes import FREQUENCIES, known_error_hint
from jupyter_codeagent.agent.rules.error_reading import (
    MAX_FRAMES,
    frames,
    missing_labels,
    missing_name,
    nearest,
    plain_label,
)
from jupyter_codeagent.agent.rules.rule import Program, from_text
from jupyter_codeagent.types.sandbox import NamespaceEntry

_MAX_LISTED = 12
_NO_MODULE = re.compile(r"No module named '([^']+)'")
_BAD_FREQUENCY = re.compile(r"Invalid frequency: (\w+)")
_NO_FLOAT = re.compile(r"could not convert string to float: '([^'\d]*\d[^']*)'")
_MERGE = re.compile(r"trying to merge on (\S+) and (\S+) columns for key '([^']+)'")


@from_text
def removed_attribute(program: Program) -> str:
    """Name what took the place of a removed attribute; before the columns: `append` is no misspelt column."""
    return _known(program) if program.error.ename == "AttributeError" else ""


@from_text
def known_error(program: Program) -> str:
    """Give the advice that the table of error messages has for this one."""
    return _known(program)


@from_text
def nearest_column(program: Program) -> str:
    error, namespace = program.error, program.namespace
    labels = missing_labels(error)
    hints = [hint for label in labels[:2] if (hint := _nearest_column(label, namespace, error.source))]
    return "; ".join(hints)


def _nearest_column(label: str, namespace: Sequence[NamespaceEntry], source: str) -> str:
    """Frames that the failing line names come first: they are the ones that lack the column."""
    named = sorted(frames(namespace), key=lambda entry: not re.search(rf"\b{re.escape(entry.name)}\b", source))
    if not named:
        return ""
    owners = [entry for entry in named if label in entry.columns]
    if owners:
        names = " and ".join(owner.name for owner in owners[:3])
        return f"{label!r} is a column of {names}, not of what is indexed here{_join(owners, named, source)}"
    for entry in named:
        for column in entry.columns:
            if plain_label(column) == plain_label(label):
                return f"the column is {column!r} (in {entry.name})"
    for entry in named[:MAX_FRAMES]:
        if near := nearest(label.lower(), (column.lower() for column in entry.columns), 3):
            exact = [column for word in near for column in entry.columns if column.lower() == word]
            return f"no column {label!r}; {entry.name} has {', '.join(map(repr, dict.fromkeys(exact)))}"
    listed = ", ".join(map(repr, named[0].columns[:_MAX_LISTED]))
    more = ", …" if len(named[0].columns) > _MAX_LISTED else ""
    return f"no column {label!r}; {named[0].name} has {listed}{more}"


def _join(owners: Sequence[NamespaceEntry], named: Sequence[NamespaceEntry], source: str) -> str:
    """How to bring the column to the frame that lacks it, where one column stands in both."""
    lacking = [
        entry for entry in named if entry not in owners and re.search(rf"\b{re.escape(entry.name)}\b", source)
    ]
    if len(owners) != 1 or not lacking:
        return ""
    [owner], other = owners, lacking[0]
    shared = [column for column in owner.columns if column in other.columns]
    if len(shared) != 1:
        return f"; both have {', '.join(map(repr, shared[:4]))} to join by" if shared else ""
    return f"; join first: {owner.name}.merge({other.name}, on={shared[0]!r})"


@from_text
def nearest_name(program: Program) -> str:
    error, namespace = program.error, program.namespace
    name = missing_name(error)
    if not name:
        return ""
    if name in ALIASES:
        return f"add: {ALIASES[name]}"
    live = [entry.name for entry in namespace]
    near = nearest(name, live, 2)
    if near:
        return f"did you mean {' or '.join(near)}?"
    if owners := [entry.name for entry in frames(namespace) if name in entry.columns]:
        return f"{name!r} is a column: {owners[0]}[{name!r}]"
    return f"defined are: {', '.join(live[:_MAX_LISTED])}" if live else ""


@from_text
def missing_module(program: Program) -> str:
    error, namespace = program.error, program.namespace
    match = _NO_MODULE.search(error.evalue)
    if match is None:
        return ""
    package = match.group(1).partition(".")[0]
    if any(entry.name == package for entry in namespace):
        return f"{package} is a variable that exists already: no import"
    instead = INSTEAD.get(package, "what is installed: pandas, numpy, scipy, matplotlib")
    return f"{package} is not installed and cannot be; use {instead}"


@from_text
def missing_file(program: Program) -> str:
    error, namespace = program.error, program.namespace
    network = ("URLError", "ConnectionError", "gaierror", "HTTPError", "ConnectTimeout")
    if error.ename not in ("FileNotFoundError", *network):
        return ""
    what = "there is no network" if error.ename in network else "no file is here"
    loaded = ", ".join(entry.name for entry in frames(namespace)[:_MAX_LISTED])
    return f"{what}; the data is already loaded as: {loaded}" if loaded else what


@from_text
def renamed_frequency(program: Program) -> str:
    error = program.error
    match = _BAD_FREQUENCY.search(error.evalue)
    if match is None or "for Period" in error.evalue or match.group(1) not in FREQUENCIES:
        return ""
    return f"write {FREQUENCIES[match.group(1)]!r} instead of {match.group(1)!r}"


@from_text
def merge_dtypes(program: Program) -> str:
    error = program.error
    match = _MERGE.search(error.evalue)
    if match is None:
        return ""
    left, right, key = match.groups()
    return f"{key!r} is {left} on one side and {right} on the other: convert one with .astype(...)"


@from_text
def number_in_text(program: Program) -> str:
    """Say how to take the number out of ``42 years``: a conversion that is told to coerce leaves nothing."""
    error = program.error
    match = _NO_FLOAT.search(error.evalue)
    if match is None:
        return ""
    without = ".str.replace(',', '')" if "," in match[1] else ""
    return f"take the numbers out of the text: pd.to_numeric(x{without}.str.extract(r'(-?\\d+\\.?\\d*)')[0])"


def _known(program: Program) -> str:
    return known_error_hint(f"{program.error.ename}: {program.error.evalue}")
