"""Describe all variables of a namespace, each on its own: a failure costs one line, never the run."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.describers import plain
from jupyter_codeagent.variables.describers.registry import Describer, find_describer
from jupyter_codeagent.variables.introspection import class_attribute, is_a, type_name, type_path
from jupyter_codeagent.variables.mentions import words_of
from jupyter_codeagent.variables.privacy.secret import private_text
from jupyter_codeagent.variables.text import is_variable_name, safe

MAX_DETAILED = 200
"""Plain values, and as many of other kinds, that are described; further ones have their name and type only."""
MAX_WITH_STATISTICS = 30
"""Frames with statistics, the largest ones; more would not fit into a prompt, and cost milliseconds each."""


def describe(namespace: Mapping[str, Any], *, privacy: Privacy, mentioned: str) -> tuple[VariableSummary, ...]:
    """Return summaries in the order of the namespace, without modules and names that are no identifiers.

    Plain functions and classes of other modules are left out, too, unless the prompt names them: a small model that
    sees ``load_penguins`` in its prompt loads what is loaded already. Called on the main thread, once per run.

    Parameters
    ----------
    mentioned
        The prompt. Variables that it names are always described in full.
    """
    words = words_of(mentioned)
    first: Privacy = "schema" if len(namespace) > MAX_WITH_STATISTICS else privacy
    values = {
        name: value
        for name, value in namespace.items()
        if not is_a(value, types.ModuleType)
        and is_variable_name(name)
        and (name.lower() in words or not _is_imported(value))
    }
    found: dict[str, VariableSummary] = {}
    left = {True: MAX_DETAILED, False: MAX_DETAILED}
    waiting = []
    for name, value in values.items():
        if name.lower() in words:
            found[name] = describe_value(name, value, privacy)
            continue
        describer = _describer(value)
        is_simple = describer is None or describer in _PLAIN
        left[is_simple] -= 1
        if left[is_simple] < 0:
            found[name] = describe_by_type(name, value)
        elif is_simple:
            found[name] = describe_value(name, value, privacy)
        else:
            # Names and types first: they are cheap, and have the size.
            found[name] = describe_value(name, value, first)
            waiting.append(name)
    frames = sorted(
        (name for name in waiting if found[name].frame_like), key=lambda name: -(found[name].size_bytes or 0)
    )
    without_statistics = set(frames[MAX_WITH_STATISTICS:])
    if privacy != first:
        found.update(
            {
                name: describe_value(name, values[name], privacy)
                for name in waiting
                if name not in without_statistics
            }
        )
    return tuple(found[name] for name in values)


def _is_imported(value: object) -> bool:
    """Check for a plain function or class that another module than the notebook defines."""
    if type(value) in (types.FunctionType, types.BuiltinFunctionType):
        return getattr(value, "__module__", "__main__") != "__main__"
    return type(value) is type and vars(value).get("__module__") != "__main__"


def describe_value(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe one variable by its own `_repr_agent_()`, by a describer, or by name and type."""
    summary = _described(name, value, privacy)
    if summary.bare_headline:
        return summary
    bare = summary if privacy == "schema" else _described(name, value, "schema")
    return replace(summary, bare_headline=bare.headline)


def _described(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    try:
        # Its own text may have values in it, so `schema` does without.
        own = class_attribute(type(value), "_repr_agent_") if privacy != "schema" else None
        if own is not None:
            return _from_own_text(name, value, str(own(value)))
        describer = find_describer(value)
        return describer(name, value, privacy) if describer is not None else describe_by_type(name, value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - polars' panics are no `Exception`, and a user's object may raise anything
        return describe_by_type(name, value)


def describe_by_type(name: str, value: object) -> VariableSummary:
    """Describe a variable by name and type only; its `repr` may be lazy, large or harmful."""
    kind, path = type_name(type(value)), type_path(type(value))
    module = path.partition(".")[0]
    label = kind if module in ("builtins", "__main__") else f"{path.removesuffix(type(value).__qualname__)}{kind}"
    return VariableSummary(name=name, type_name=safe(kind, 60), headline=f"{name}: {safe(label, 80)}")


def _from_own_text(name: str, value: object, text: str) -> VariableSummary:
    if private_text(text):
        return describe_by_type(name, value)
    return VariableSummary(
        name=name, type_name=safe(type_name(type(value)), 60), headline=f"{name}: {safe(text, 300)}"
    )


def _describer(value: object) -> Describer | None:
    try:
        return find_describer(value)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - `describe_value` falls back to name and type
        return None


_PLAIN = frozenset(plain.DESCRIBERS.values())
