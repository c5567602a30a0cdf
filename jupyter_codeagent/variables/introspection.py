"""Reading unknown objects without running any code of theirs.

`getattr`, `isinstance`, `len` and `repr` may call methods of a user's class or metaclass, which may be slow, lazy,
harmful or endless. Here only the slots that the interpreter itself keeps are read.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any

_MRO = type.__dict__["__mro__"]
_MODULE = type.__dict__["__module__"]
_QUALNAME = type.__dict__["__qualname__"]
_NAME = type.__dict__["__name__"]
_CLASS_DICT = type.__dict__["__dict__"]
_CONTAINERS: tuple[type, ...] = (dict, list, tuple, set, frozenset, deque)


def mro(kind: type) -> tuple[type, ...]:
    found: tuple[type, ...] = _MRO.__get__(kind)
    return found


def type_path(kind: type) -> str:
    """``pandas.DataFrame``; what a class claims to be called if that is no text is ``?``."""
    module, qualname = _MODULE.__get__(kind), _QUALNAME.__get__(kind)
    return f"{module if type(module) is str else '?'}.{qualname}"


def type_name(kind: type) -> str:
    name: str = _NAME.__get__(kind)
    return name


def class_attribute(kind: type, name: str) -> Any:
    """The attribute as the class or a base of it defines it, descriptors untouched; None if none does."""
    for base in mro(kind):
        namespace = _CLASS_DICT.__get__(base)
        if name in namespace:
            return namespace[name]
    return None


def instance_attributes(value: object) -> dict[str, Any]:
    """The instance's own ``__dict__``, and the slots of its classes."""
    slots = {
        name: found
        for base in mro(type(value))
        for name, slot in _CLASS_DICT.__get__(base).items()
        if type(slot) is types.MemberDescriptorType and (found := _slot(slot, value)) is not None
    }
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return slots
    return {**slots, **own} if type(own) is dict else slots


def is_a(value: object, kind: type) -> bool:
    """`isinstance` that does not ask the value what it claims to be."""
    return kind in mro(type(value))


def container_of(value: object) -> type | None:
    """The built-in container that the value is, or is a subclass of."""
    bases = mro(type(value))
    return next((kind for kind in _CONTAINERS if kind in bases), None)


def length(value: Any) -> int:
    """Of a built-in container or a subclass of one, whose own `__len__` is not called."""
    kind: Any = container_of(value)
    return int(kind.__len__(value))


def first(value: Any, most: int) -> list[Any]:
    """The first items (keys of a mapping) of a built-in container, whose own `__iter__` is not called."""
    kind: Any = container_of(value)
    items: Iterator[Any] = kind.__iter__(value)
    return list(islice(items, most))


def first_pairs(value: Any, most: int) -> list[tuple[Any, Any]]:
    return list(islice(dict.items(value), most))


def _slot(slot: Any, value: object) -> Any:
    try:
        return slot.__get__(value)
    except AttributeError:  # never set
        return None
