"""One hint per error, found without a model: the nearest column and the frame that has it, the nearest name, both
dtypes of a join, what today's pandas calls a thing. 97 % of the query errors of one large product were wrong names.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterable, Sequence
from itertools import islice

from jupyter_codeagent.agent.rules.api_changes import FREQUENCIES, drift_hint
from jupyter_codeagent.agent.rules.imports import ALIASES, INSTEAD
from jupyter_codeagent.types.sandbox import ExecutionError, NamespaceEntry

SIMILARITY = 0.6
MAX_LABELS = 20
"""That one error names and that are looked at."""
MAX_COMPARED_CHARS = 100
MAX_COMPARED, MAX_FRAMES = 1000, 8
"""Names that a misspelt one is compared with, which takes up to 0.1 ms each; and frames whose columns are."""
_MAX_LISTED = 12
_TEXT_DTYPES = frozenset({"str", "object", "string", "category"})
_LABEL = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_NO_ATTRIBUTE = re.compile(r"'(?:DataFrame|Series|DataFrameGroupBy)' object has no attribute '([^']+)'")
_NO_NAME = re.compile(r"name '([^']+)' is not defined")
_NO_MODULE = re.compile(r"No module named '([^']+)'")
_BAD_FREQUENCY = re.compile(r"Invalid frequency: (\w+)")
_NO_FLOAT = re.compile(r"could not convert string to float: '([^'\d]*\d[^']*)'")
_MERGE = re.compile(r"trying to merge on (\S+) and (\S+) columns for key '([^']+)'")
_COLUMNS_MISSING = re.compile(r"not in index|not found in axis|are in the|do not exist")


def hint_for(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    """One line that says what to do, or empty. `namespace` is that of the sandbox when the error came."""
    message = f"{error.ename}: {error.evalue}"
    if error.ename == "AttributeError" and (text := drift_hint(message)):
        return text  # before the columns: `append` is no misspelt column
    for hint in (
        *(_column_hint, _name_hint, _module_hint, _file_hint),
        *(_frequency_hint, _merge_hint, _explosion_hint, _text_hint),
    ):
        if text := hint(error, namespace):
            return text
    return drift_hint(message) or _syntax_hint(error)


def missing_labels(error: ExecutionError) -> tuple[str, ...]:
    """Column labels that the code asked for and no frame had; empty for every other error."""
    return _missing_labels(error)[:MAX_LABELS]


def nearest(name: str, known: Iterable[str], count: int) -> list[str]:
    """The names that it may be meant for, the nearest first."""
    if len(name) > MAX_COMPARED_CHARS:
        return []
    return difflib.get_close_matches(name, list(islice(known, MAX_COMPARED)), count, SIMILARITY)


def _missing_labels(error: ExecutionError) -> tuple[str, ...]:
    if error.ename == "KeyError":
        return _missing_keys(error.evalue.strip())
    if match := _NO_ATTRIBUTE.search(error.evalue):
        return (match.group(1),)
    if error.ename in ("UndefinedVariableError", "ColumnNotFoundError"):
        match = _NO_NAME.search(error.evalue) or re.search(r'"([^"]+)"', error.evalue)
        return (match.group(1),) if match else (error.evalue.split("\n")[0].strip(),)
    if error.ename == "ValueError" and (match := re.search(r"columns? ", error.evalue)):
        return _listed(error.evalue[match.end() :])
    return ()


def _listed(text: str) -> tuple[str, ...]:
    """The texts in its first brackets."""
    inside = text.partition("[")[2].partition("]")[0]
    return tuple(first or second for first, second in _LABEL.findall(inside))


def missing_name(error: ExecutionError) -> str:
    """The name that the code asked for and nothing has bound; empty for every other error."""
    match = _NO_NAME.search(error.evalue) if error.ename in ("NameError", "UnboundLocalError") else None
    return match.group(1) if match is not None else ""


def _missing_keys(text: str) -> tuple[str, ...]:
    """`str()` of a `KeyError` is the `repr()` of the key, or of a sentence of pandas with a list of keys in it."""
    try:
        key = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        key = text
    if (grouped := re.fullmatch(r"Columns? not found: (.+)", str(key))) is not None:  # of a GroupBy
        return tuple(part.strip("'\" ") for part in grouped.group(1).split(", "))
    if "]" in (before := _COLUMNS_MISSING.split(str(key), 1))[0] and len(before) > 1:
        return _listed(str(key).replace("Index([", "", 1))
    keys = key if isinstance(key, list | tuple) else [key]
    return tuple(str(part) for part in keys if str(part))


def same_columns(labels: Iterable[str], namespace: Sequence[NamespaceEntry]) -> dict[str, str]:
    """Label -> the one column that differs from it in case, blanks and underscores only."""
    columns: dict[str, set[str]] = {}
    for entry in namespace:
        for column in entry.columns:
            columns.setdefault(_plain(column), set()).add(column)
    found = {label: columns.get(_plain(label), set()) for label in labels}
    return {label: min(same) for label, same in found.items() if len(same) == 1 and label not in same}


def frames(namespace: Iterable[NamespaceEntry]) -> list[NamespaceEntry]:
    return [entry for entry in namespace if entry.columns]


def text_columns(entry: NamespaceEntry) -> list[str]:
    """Labels of the columns that hold texts."""
    columns = zip(entry.columns, entry.dtypes, strict=False)
    return [column for column, dtype in columns if dtype in _TEXT_DTYPES]


def _column_hint(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
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
            if _plain(column) == _plain(label):
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


def _name_hint(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
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


def _module_hint(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    match = _NO_MODULE.search(error.evalue)
    if match is None:
        return ""
    package = match.group(1).partition(".")[0]
    if any(entry.name == package for entry in namespace):
        return f"{package} is a variable that exists already: no import"
    instead = INSTEAD.get(package, "what is installed: pandas, numpy, scipy, matplotlib")
    return f"{package} is not installed and cannot be; use {instead}"


def _file_hint(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    network = ("URLError", "ConnectionError", "gaierror", "HTTPError", "ConnectTimeout")
    if error.ename not in ("FileNotFoundError", *network):
        return ""
    what = "there is no network" if error.ename in network else "no file is here"
    loaded = ", ".join(entry.name for entry in frames(namespace)[:_MAX_LISTED])
    return f"{what}; the data is already loaded as: {loaded}" if loaded else what


def _frequency_hint(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    match = _BAD_FREQUENCY.search(error.evalue)
    if match is None or "for Period" in error.evalue or match.group(1) not in FREQUENCIES:
        return ""
    return f"write {FREQUENCIES[match.group(1)]!r} instead of {match.group(1)!r}"


def _merge_hint(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    match = _MERGE.search(error.evalue)
    if match is None:
        return ""
    left, right, key = match.groups()
    return f"{key!r} is {left} on one side and {right} on the other: convert one with .astype(...)"


def _explosion_hint(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    """A join by columns that tell rows apart in neither table ends in memory."""
    if not error.ename.endswith("MemoryError") or re.search(r"\b(?:merge|join)\(", error.source) is None:
        return ""
    tables = [entry for entry in frames(namespace) if re.search(rf"\b{re.escape(entry.name)}\b", error.source)]
    shared = [column for column in tables[0].columns if column in tables[1].columns] if len(tables) == 2 else []
    hint = "the join multiplies rows: join on all columns that tell rows apart"
    return f"{hint}; both have {', '.join(map(repr, shared[:_MAX_LISTED]))}" if shared else hint


def _text_hint(error: ExecutionError, namespace: Sequence[NamespaceEntry]) -> str:
    """``42 years``: what takes the number out; without it, conversions that are told to coerce leave nothing."""
    match = _NO_FLOAT.search(error.evalue)
    if match is None:
        return ""
    without = ".str.replace(',', '')" if "," in match[1] else ""
    return f"take the numbers out of the text: pd.to_numeric(x{without}.str.extract(r'(-?\\d+\\.?\\d*)')[0])"


def _syntax_hint(error: ExecutionError) -> str:
    if error.ename in ("SyntaxError", "IndentationError", "TabError"):
        return "write the whole program again, without prose or notebook commands"
    return ""


def _plain(label: str) -> str:
    return re.sub(r"[\s_\-.]+", "", label).lower()
