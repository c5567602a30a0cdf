"""Descriptions of the sandbox's variables for hints and the panel: names, types, shapes, columns. Never a repr."""

from __future__ import annotations

import types
from typing import Any

from .send import return_form

MAX_VARIABLES = 50
MAX_COLUMNS = 200
MAX_TEXT = 100
FRAME_LIBRARIES = ("pandas", "polars", "pyarrow", "numpy")


def describe_namespace(variables: dict[str, Any], hidden: Any = ()) -> list[dict[str, Any]]:
    """Return entries with name, type_name, shape, columns, dtypes; frames first, at most `MAX_VARIABLES`.

    Runs after every cell, aims at < 10 ms: attributes are read only from types whose accessors are known to be
    cheap.
    """
    names = [
        name for name in list(variables) if isinstance(name, str) and _is_listed(name, variables[name], hidden)
    ]
    names.sort(key=lambda name: _library(variables[name]) not in FRAME_LIBRARIES)
    return [_describe(name, variables[name]) for name in names[:MAX_VARIABLES]]


def _is_listed(name: str, value: Any, hidden: Any) -> bool:
    if name.startswith("_") or name in hidden or isinstance(value, types.ModuleType):
        return False
    if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
        return getattr(value, "__module__", "") == "__main__"  # defined here, not imported
    return True


def _library(value: Any) -> str:
    return str(type(value).__module__).partition(".")[0]


def _describe(name: str, value: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": name[:MAX_TEXT],
        "type_name": type(value).__name__[:MAX_TEXT],
        "returns_as": return_form(value),
    }
    try:
        entry.update(_layout(value))
    except Exception as problem:  # noqa: BLE001  (a foreign accessor failed: the name alone still helps, with the error)
        entry["type_name"] = f"{entry['type_name']} ({type(problem).__name__})"
    return entry


def _layout(value: Any) -> dict[str, Any]:
    library = _library(value)
    if library in FRAME_LIBRARIES and type(value).__name__ != "LazyFrame":
        return _array_layout(value, library)
    if type(value) in (list, tuple, dict, set, frozenset, str, bytes):
        return {"shape": [len(value)]}
    return {}


def _array_layout(value: Any, library: str) -> dict[str, Any]:
    layout: dict[str, Any] = {"shape": [int(length) for length in getattr(value, "shape", ())]}
    if library == "pyarrow" and hasattr(value, "schema"):
        labels, dtypes = value.schema.names, value.schema.types
    elif hasattr(value, "columns") and hasattr(value, "dtypes"):
        labels, dtypes = value.columns, value.dtypes
    elif hasattr(value, "dtype"):
        labels, dtypes = (), (value.dtype,)
    else:
        return layout
    layout["columns"] = [_text(label) for label in labels[:MAX_COLUMNS]]
    layout["dtypes"] = [_text(dtype) for dtype in list(dtypes)[:MAX_COLUMNS]]
    return layout


def _text(value: Any) -> str:
    return str(value)[:MAX_TEXT]
