"""JSON Schema as a Python signature: tools of other programs as code calls them. Pure functions."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.tools.object_fields import MAX_DEPTH as MAX_DEPTH_OF_KEYS
from jupyter_codeagent.tools.object_fields import MAX_KEYS
from jupyter_codeagent.variables.text import safe

MAX_CHOICES = 12
MAX_CHOICES_CHARS = 200
MAX_DEPTH = 4
MAX_NESTED = 8
MAX_LOOKED_AT = 500
"""Parts of a schema that are read for the keys of a result: definitions may refer to each other in any way."""
MAX_SAFE_NAME_CHARS = 64
MAX_ANNOTATION_CHARS = 400
MAX_NOTE_CHARS = 1000
PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "object": "dict"}


FRAME: Mapping[str, Any] = {"title": "DataFrame"}
"""Stands in for a schema of rows, which come as a frame."""


class _NotGiven:
    """Default of a parameter that need not be given: the server knows its own."""

    def __repr__(self) -> str:
        return "..."


NOT_GIVEN = _NotGiven()


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The arguments of one tool."""

    signature: inspect.Signature
    properties: Mapping[str, str]
    """Parameter -> the property of the schema behind it."""
    notes: str
    """A line for each parameter that is described."""


def shape_of(schema: Mapping[str, Any], returns: Mapping[str, Any] | None = None) -> Shape:
    """Return the signature for a schema: required parameters first, in the order of the schema."""
    found = schema.get("properties")
    described = found if isinstance(found, Mapping) else {}
    required = set(_texts(schema.get("required")))
    order = sorted(described, key=lambda name: name not in required)
    properties: dict[str, str] = {}
    parameters, notes = [], []
    for name in order:
        parameter = safe_name(name, taken=properties)
        properties[parameter] = name
        of = described[name] if isinstance(described[name], Mapping) else {}
        default = inspect.Parameter.empty if name in required else _default(of)
        parameters.append(
            inspect.Parameter(
                parameter,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                annotation=annotation_of(of),
                default=default,
            )
        )
        if note := " ".join(safe(str(of.get("description") or ""), MAX_NOTE_CHARS).split()):
            notes.append(f"{parameter}: {note}")
    result = annotation_of(returns) if returns is not None else inspect.Signature.empty
    return Shape(
        signature=inspect.Signature(parameters, return_annotation=result),
        properties=properties,
        notes="\n".join(notes),
    )


def safe_name(name: str, taken: Mapping[str, str] | frozenset[str] = frozenset()) -> str:
    """Return ``get_forecast`` for ``get-forecast``; with a number if that is taken."""
    made = re.sub(r"\W+", "_", name, flags=re.ASCII)[:MAX_SAFE_NAME_CHARS].strip("_") or "x"
    made = f"x{made}" if made[0].isdigit() else made
    made = f"{made}_" if keyword.iskeyword(made) else made
    number, numbered = 2, made
    while numbered in taken:
        numbered, number = f"{made}{number}", number + 1
    return numbered


def _default(schema: Mapping[str, Any]) -> Any:
    """Return the default for the prompt; one that would have to be altered for a prompt is left out."""
    default = schema.get("default", NOT_GIVEN)
    text = repr(default)
    return default if safe(text, len(text)) == text else NOT_GIVEN


def annotation_of(schema: Mapping[str, Any]) -> str:
    """Return an annotation as text: ``str``, ``list[int]``, ``Literal['a', 'b']``, ``str | None``; else ``Any``."""
    text = "DataFrame" if schema is FRAME else _annotation_of(schema, 0)
    return text if len(text) <= MAX_ANNOTATION_CHARS else "Any"


def _annotation_of(schema: Mapping[str, Any], depth: int) -> str:
    choices = schema.get("enum")
    if isinstance(choices, list) and 0 < len(choices) <= MAX_CHOICES:
        text = f"Literal[{', '.join(map(repr, choices))}]"
        if len(text) <= MAX_CHOICES_CHARS and all(_is_choice(one) for one in choices):
            return text
    either = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(either, list) and depth < MAX_DEPTH:
        kinds = [_annotation_of(one, depth + 1) for one in either if isinstance(one, Mapping)]
        return " | ".join(dict.fromkeys(kinds)) or "Any"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(PLAIN.get(str(one), "Any") for one in kind) or "Any"
    if kind == "array":
        items = schema.get("items")
        is_simple = isinstance(items, Mapping) and depth < MAX_DEPTH
        return f"list[{_annotation_of(items, depth + 1)}]" if is_simple else "list"  # type: ignore[arg-type]
    return PLAIN.get(str(kind), "dict" if "$ref" in schema or "properties" in schema else "Any")


def _is_choice(value: object) -> bool:
    """Check whether a value can be in a prompt as it is."""
    return isinstance(value, int) or (isinstance(value, str) and safe(value, len(value)) == value)


def returned_keys(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    """Return ``[{hour, place: {name, code}}]``, as `records.keys_text` does; empty for a schema without objects."""
    try:
        return _Keys(definitions).of(schema)
    except _TooMuchError:
        return ""


class _TooMuchError(Exception):
    """The schema would have to be read without end."""


class _Keys:
    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._left = MAX_LOOKED_AT

    def of(self, schema: Mapping[str, Any], depth: int = 0, nested: int = 0) -> str:
        self._left -= 1
        if self._left < 0:
            raise _TooMuchError
        if nested > MAX_NESTED:  # definitions of a server may refer to themselves
            return ""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            named = self._definitions.get(reference.rpartition("/")[2])
            schema = named if isinstance(named, Mapping) else {}
        properties, items = schema.get("properties"), schema.get("items")
        if isinstance(properties, Mapping) and properties:
            return "{…}" if depth == MAX_DEPTH_OF_KEYS else self._of_object(properties, depth, nested)
        if isinstance(items, Mapping):
            inner = self.of(items, depth, nested + 1)
            return f"[{inner}]" if inner else ""
        either = schema.get("anyOf") or schema.get("oneOf")
        kinds = either if isinstance(either, list) else []
        found = (self.of(kind, depth, nested + 1) for kind in kinds if isinstance(kind, Mapping))
        return next((text for text in found if text), "")

    def _of_object(self, properties: Mapping[str, Any], depth: int, nested: int) -> str:
        parts = []
        for name, of in list(properties.items())[:MAX_KEYS]:
            below = self.of(of, depth + 1, nested + 1) if isinstance(of, Mapping) else ""
            key = safe(str(name), MAX_SAFE_NAME_CHARS)
            parts.append(f"{key}: {below}" if below else key)
        return f"{{{', '.join(parts)}}}"


def columns_of(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of a list of objects with plain values, which is a frame; empty for anything else."""
    row = schema.get("items") if schema.get("type") == "array" else None
    if isinstance(row, Mapping) and isinstance(row.get("$ref"), str):
        row = definitions.get(row["$ref"].rpartition("/")[2])
    properties = row.get("properties") if isinstance(row, Mapping) else None
    if not isinstance(properties, Mapping):
        return ()
    is_flat = all(isinstance(of, Mapping) and _is_plain(of) for of in properties.values())
    return tuple(map(str, properties)) if is_flat else ()


def _is_plain(schema: Mapping[str, Any]) -> bool:
    either = schema.get("anyOf")
    if isinstance(either, list):
        return bool(either) and all(isinstance(kind, Mapping) and _is_plain(kind) for kind in either)
    kinds = schema.get("type")
    return all(kind in PLAIN and kind != "object" for kind in (kinds if isinstance(kinds, list) else [kinds]))


def _texts(value: object) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []
