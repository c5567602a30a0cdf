"""Records: objects of dataclasses, pydantic models and typed dicts.

The sandbox lacks their classes, so its code gets dicts, and the prompt has their keys.
"""

from __future__ import annotations

import dataclasses
import enum
import types
import typing
from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

MAX_DEPTH = 2
"""Depth of fields in the prompt; deeper ones are ``…``."""
MAX_KEYS = 40
PLAIN = frozenset({type(None), bool, int, float, str})
Hints = Mapping[str, Any]


def fields_of(kind: object) -> Hints | None:
    """Return name -> annotation of the fields of a record class; None for any other object."""
    if not isinstance(kind, type):
        return None
    is_model = isinstance(getattr(kind, "model_fields", None), Mapping) and hasattr(kind, "model_dump")
    if not (is_model or dataclasses.is_dataclass(kind) or typing.is_typeddict(kind)):
        return None
    try:
        hints = typing.get_type_hints(kind)
    except Exception:  # noqa: BLE001  (names that cannot be resolved here: fields without types)
        hints = {}
    if is_model:
        names: Sequence[str] = list(kind.model_fields)  # type: ignore[attr-defined]
    elif dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
    else:
        names = list(kind.__annotations__)
    return {name: hints.get(name, Any) for name in names}


def keys_text(hint: object, depth: int = 0) -> str:
    """Return ``{id, address: {city, zip}, items: [{name, price}]}``; empty if the annotation has no record."""
    inner = [keys_text(part, depth) for part in typing.get_args(hint) if part is not hint]
    found = next((text for text in inner if text), "")
    origin = typing.get_origin(hint)
    if origin is dict:
        return f"{{key: {found}}}" if found else ""
    if isinstance(origin, type) and issubclass(origin, Sequence | set | frozenset):
        return f"[{found}]" if found else ""
    if origin is not None:
        return found
    fields = fields_of(hint)
    if fields is None:
        return ""
    if depth == MAX_DEPTH:
        return "{…}"
    parts = [
        f"{name}: {below}" if (below := keys_text(annotation, depth + 1)) else name
        for name, annotation in list(fields.items())[:MAX_KEYS]
    ]
    return f"{{{', '.join(parts)}}}"


def unfolded(value: Any) -> Any:
    """Return the value with every record in it as a dict, and every member of an enumeration as its value.

    Only lists, tuples and dicts are searched; a value without records is returned as the same object.
    """
    if type(value) in PLAIN:
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if (names := _field_names(typing.cast("Hashable", type(value)))) is not None:
        return {name: unfolded(getattr(value, name)) for name in names}
    if type(value) in (list, tuple):
        parts = [unfolded(part) for part in value]
        return value if all(map(_is, parts, value)) else type(value)(parts)
    if type(value) is dict:
        changed = {key: unfolded(part) for key, part in value.items()}
        return value if all(map(_is, changed.values(), value.values())) else changed
    return value


@lru_cache(maxsize=256)
def _field_names(kind: Hashable) -> tuple[str, ...] | None:
    """Return the field names of a class, found once for each: lists of records are long."""
    fields = fields_of(kind)
    return None if fields is None else tuple(fields)


def folded(value: Any, hint: object) -> Any:
    """Return the value with dicts as the records that the annotation wants: the reverse of `unfolded`.

    Raises
    ------
    TypeError, ValueError
        Raised by the record's class: the dict lacks a field, has an unknown one, or one of the wrong type.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is list and type(value) is list:
        return [folded(part, arguments[0]) for part in value]
    if type(value) is not dict or dict in arguments:
        return value
    for kind in arguments if origin in (typing.Union, types.UnionType) else (hint,):
        fields = fields_of(kind)
        if fields is None or typing.is_typeddict(kind):
            continue
        validate = getattr(kind, "model_validate", None)
        if validate is not None:
            return validate(value)
        parts = {name: folded(part, fields.get(name, Any)) for name, part in value.items()}
        return typing.cast("type", kind)(**parts)
    return value


def _is(one: object, other: object) -> bool:
    return one is other
