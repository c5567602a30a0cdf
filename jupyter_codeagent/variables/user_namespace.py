"""The namespace of the user's own kernel: the only place where it is read, and changed after a yes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, Protocol

from jupyter_codeagent.variables.privacy.column_filter import NotNarrowableError, without_columns
from jupyter_codeagent.variables.privacy.column_lists import Column, list_columns
from jupyter_codeagent.variables.privacy.hidden_parts import NOTHING_HIDDEN, HiddenParts, frame_labels
from jupyter_codeagent.variables.privacy.hidden_values import SAME_BY_CHANCE, HiddenValues, holds

MAX_LISTED_COLUMNS = 5000
"""Columns listed for one variable."""
MAX_LISTED_TOGETHER = 20_000
"""Columns listed for all variables: each gets its share, so that a wide one does not displace those after it."""

IPYTHON_NAME = "part of the notebook itself"
"""The outline of names that IPython has bound, like `display`."""

RECENT_CELLS = 40
"""Cells that are searched for the last few with code."""


class Shell(Protocol):
    """The part of IPython's shell that is used here."""

    user_ns: dict[str, Any]
    user_ns_hidden: dict[str, Any]

    def ev(self, expr: str) -> Any:
        """Evaluate an expression in the user's namespace."""

    def run_cell(self, raw_cell: str, store_history: bool = False) -> Any:
        """Run code as a cell."""


@dataclass(frozen=True, kw_only=True)
class LiveVariables:
    """Variables that may be described and copied."""

    values: dict[str, Any]
    """No hidden variables; frames without their hidden columns, as views of the user's own."""
    withheld: dict[str, str]
    """Variable -> why it is hidden as a whole, although the user has only hidden columns of it."""
    hidden: HiddenParts = NOTHING_HIDDEN
    """What must not be inside these values either."""

    def reason_not_to_query(self, name: str) -> str:
        """Return why code may not query this variable in place; empty if it may."""
        value = self.values[name]
        return _checked(partial(self.hidden.refusal, value), value)

    def with_columns(self, labels: Collection[str]) -> dict[str, list[str]]:
        """Return the variables that have columns with such labels, and these labels."""
        found = {
            name: [column.label for column in islice(_columns(value), MAX_LISTED_COLUMNS) if column.label in labels]
            for name, value in self.values.items()
        }
        return {name: same for name, same in found.items() if same}


class UserNamespace:
    """The user's variables, read and bound on the main thread only, unless a method says otherwise."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._hidden = HiddenValues()

    def variables(self, shared: Mapping[str, str], hidden_columns: Mapping[str, frozenset[str]]) -> LiveVariables:
        """Return the user's variables without hidden ones and hidden columns.

        A value is hidden under all its names, even after the name by which it was hidden is bound to another value.
        So is a list, tuple or dict with a hidden value in it.
        """
        everything = self.everything()
        hidden, whole, of_frame = self._by_identity(everything, shared, hidden_columns)
        values: dict[str, Any] = {}
        withheld: dict[str, str] = {}
        own: dict[str, frozenset[str]] = {}
        for name, value in everything.items():
            if shared.get(name) == "hidden" or id(value) in whole:
                continue
            if holds(value, whole | of_frame.keys()):
                withheld[name] = "it holds a variable of which something is hidden"
                continue
            labels = hidden_columns.get(name, frozenset()) | of_frame.get(id(value), frozenset())
            try:
                narrowed = without_columns(value, labels)
            except NotNarrowableError as problem:
                withheld[name] = str(problem)
                continue
            if why := _checked(hidden.reason_to_withhold, value):
                withheld[name] = why
                continue
            values[name], own[name] = narrowed, labels
        return LiveVariables(values=values, withheld=withheld, hidden=replace(hidden, own=own))

    def everything(self) -> dict[str, Any]:
        """Return the user's variables, hidden ones included, without private ones and IPython's own."""
        own = self._shell.user_ns_hidden
        return {
            name: value
            for name, value in self._shell.user_ns.copy().items()
            if not name.startswith("_") and not (name in own and own[name] is value)
        }

    def columns(self, names: Iterable[str]) -> dict[str, tuple[Column, ...]]:
        """Return the columns of these variables, hidden ones included: only for the user to see."""
        everything = self.everything()
        listed = {
            name: islice(_columns(everything[name]), MAX_LISTED_COLUMNS) for name in names if name in everything
        }
        return {name: tuple(found) for name, found in _share_limit(listed, MAX_LISTED_TOGETHER).items() if found}

    def aliases(self, name: str) -> tuple[str, ...]:
        """Return this name and the other names of the same value. Any thread."""
        everything = self.everything()
        value = everything.get(name)
        if type(value) in SAME_BY_CHANCE:
            return (name,)
        return tuple(dict.fromkeys((name, *(other for other, same in everything.items() if same is value))))

    def _by_identity(
        self,
        everything: Mapping[str, Any],
        shared: Mapping[str, str],
        hidden_columns: Mapping[str, frozenset[str]],
    ) -> tuple[HiddenParts, set[int], dict[int, frozenset[str]]]:
        """Return hidden parts, ids of values hidden as a whole, and hidden labels by id.

        Values are found by identity, so that `other = flights` does not reveal what is hidden of `flights`.
        """
        by_name = {name for name, how in shared.items() if how == "hidden"}
        for name in by_name | hidden_columns.keys():
            if name in everything:
                self._hidden.note(name, everything[name])
        names = {
            same: name for name in by_name | hidden_columns.keys() for same in self._hidden.ids(name, everything)
        }
        whole = {same for name in by_name for same in self._hidden.ids(name, everything)}
        labels: dict[int, frozenset[str]] = {}
        for name, hidden_labels in hidden_columns.items():
            for same in self._hidden.ids(name, everything):
                labels[same] = labels.get(same, frozenset()) | hidden_labels
        frames = {found: name for name in by_name if (found := frame_labels(everything.get(name))) is not None}
        by_label = {label: name for name, hidden_labels in hidden_columns.items() for label in hidden_labels}
        return HiddenParts(names=names, labels=by_label, frames=frames), whole, labels

    def cells(self) -> list[str]:
        """Return the sources of all cells as typed, the oldest first; none for a shell without a history."""
        history = getattr(self._shell, "history_manager", None)
        return [str(source) for source in history.input_hist_raw] if history is not None else []

    def recent_cells(self) -> list[str]:
        """Return the last `RECENT_CELLS` of the `cells`."""
        return self.cells()[-RECENT_CELLS:]

    def cells_run(self) -> int:
        """Return how many cells have run; 0 for a shell without a history."""
        history = getattr(self._shell, "history_manager", None)
        return len(history.input_hist_raw) if history is not None else 0

    def evaluate(self, expression: str) -> Any:
        """Evaluate an expression that the user wrote into the prompt."""
        return self._shell.ev(expression)

    def present(self, names: Iterable[str]) -> dict[str, tuple[Any, str]]:
        """Return the value and its `outline` for those of these names that exist."""
        namespace = self._shell.user_ns
        return {name: (namespace[name], outline(namespace[name])) for name in names if name in namespace}

    def outlines(self, names: Iterable[str]) -> dict[str, str]:
        """Return the `outline` of those names that exist, hidden ones included: only for the user to see."""
        namespace, own = self._shell.user_ns, self._shell.user_ns_hidden
        return {
            name: IPYTHON_NAME if own.get(name, self) is namespace[name] else outline(namespace[name])
            for name in names
            if name in namespace
        }

    def assign(self, values: Mapping[str, Any], asked: Mapping[str, Any]) -> tuple[str, ...]:
        """Bind all values, or none if some names have changed since the user was asked; return those names.

        Called only after `--return`, `%agent pull` or the panel's button, and a yes to overwrite `asked`.
        """
        namespace = self._shell.user_ns
        missing = object()
        changed = tuple(n for n in values if namespace.get(n, missing) is not asked.get(n, missing))
        if not changed:
            namespace.update(values)
        return changed

    def bind_free(self, values: Mapping[str, Any]) -> None:
        """Bind the functions of a server that the user has just added, where their names are free."""
        namespace = self._shell.user_ns
        namespace.update({name: value for name, value in values.items() if name not in namespace})

    def unbind(self, values: Collection[Any]) -> None:
        """Remove the names that `bind_free` has bound and that still have these values."""
        namespace = self._shell.user_ns
        for name in [name for name, found in namespace.items() if any(found is value for value in values)]:
            del namespace[name]

    def run(self, code: str) -> None:
        """Run code, only after a yes to this exact code."""
        self._shell.run_cell(code, store_history=True)


def _checked(find_reason: Callable[[object], str], value: object) -> str:
    """Return why nothing of this value is shared; empty if it is. A value that cannot be checked is withheld."""
    try:
        return find_reason(value)
    except Exception as problem:  # noqa: BLE001 - labels and attributes are the user's, and may raise anything
        return f"it cannot be checked whether it holds something hidden ({type(problem).__name__})"


SHAPED = frozenset({"pandas", "polars", "numpy", "pyarrow", "scipy"})
"""Libraries whose `shape` is an attribute that costs nothing."""


def outline(value: Any) -> str:
    """Return type and size, cheaply and without running the value's code: ``DataFrame 365x3``, ``list of 4``."""
    kind = type(value)
    if kind.__module__.partition(".")[0] in SHAPED and isinstance(shape := getattr(value, "shape", None), tuple):
        return f"{kind.__name__} {'x'.join(map(str, shape))}".rstrip()
    if kind in (list, tuple, set, frozenset, dict, str, bytes):
        return f"{kind.__name__} of {len(value)}"
    return kind.__name__


def _columns(value: Any) -> Iterator[Column]:
    """Yield columns up to the first that cannot be read: labels are the user's and may raise anything."""
    try:
        yield from list_columns(value)
    except Exception:  # noqa: BLE001 - a list that ends early is harmless
        return


def _share_limit(listed: Mapping[str, Iterator[Column]], at_most: int) -> dict[str, list[Column]]:
    """Read equally many columns of each variable; what short ones leave unused goes to the others."""
    found: dict[str, list[Column]] = {name: [] for name in listed}
    unread = dict(listed)
    while unread and at_most > 0:
        share = max(1, at_most // len(unread))
        for name, rest in list(unread.items()):
            taken = list(islice(rest, min(share, at_most)))
            found[name] += taken
            at_most -= len(taken)
            if len(taken) < share:
                del unread[name]
    return found
