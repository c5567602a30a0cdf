"""Read unknown objects without running any of their code.

`getattr`, `isinstance`, `len` and `repr` may call methods of a user's class or metaclass, which may be slow, lazy,
harmful or endless. Only the slots that the interpreter itself keeps are read here.
"""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

_MRO = type.__dict__["__mro__"]
_MODULE = type.__dict__["__module__"]
_QUALNAME = type.__dict__["__qualname__"]
_NAME = type.__dict__["__name__"]
_CLASS_DICT = type.__dict__["__dict__"]
Found = TypeVar("Found")
_CONTAINERS: tuple[type, ...] = (dict, list, tuple, set, frozenset, deque)


def mro(kind: type) -> tuple[type, ...]:
    """Return the method resolution order as the interpreter keeps it."""
    found: tuple[type, ...] = _MRO.__get__(kind)
    return found


def type_path(kind: type) -> str:
    """Return ``pandas.DataFrame``; a module name that is no text becomes ``?``."""
    module, qualname = _MODULE.__get__(kind), _QUALNAME.__get__(kind)
    return f"{module if type(module) is str else '?'}.{qualname}"


def type_name(kind: type) -> str:
    """Return the name of the class, without its module and outer classes."""
    name: str = _NAME.__get__(kind)
    return name


def lookup_by_type(value: object, table: Mapping[str, Found]) -> Found | None:
    """Return the entry for the nearest type in the value's MRO, by ``module.QualName``; None if there is none.

    Types are found by name, so no library is imported to ask for them.
    """
    for kind in mro(type(value)):
        if (found := table.get(type_path(kind))) is not None:
            return found
    return None


def class_attribute(kind: type, name: str) -> Any:
    """Return the attribute as the class or a base defines it, descriptors uncalled; None if none does."""
    for base in mro(kind):
        namespace = _CLASS_DICT.__get__(base)
        if name in namespace:
            return namespace[name]
    return None


def instance_attributes(value: object) -> dict[str, Any]:
    """Return the instance's own ``__dict__`` and the slots of its classes."""
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
    """Check `isinstance` without asking the value what it claims to be."""
    return kind in mro(type(value))


def container_of(value: object) -> type | None:
    """Return the built-in container type that the value has or is derived from; None for other values."""
    bases = mro(type(value))
    return next((kind for kind in _CONTAINERS if kind in bases), None)


def length(value: Any) -> int:
    """Return the length of a built-in container; the `__len__` of a subclass is not called."""
    kind: Any = container_of(value)
    return int(kind.__len__(value))


def first(value: Any, most: int) -> list[Any]:
    """Return the first items or keys of a built-in container; the `__iter__` of a subclass is not called."""
    kind: Any = container_of(value)
    items: Iterator[Any] = kind.__iter__(value)
    return list(islice(items, most))


def first_pairs(value: Any, most: int) -> list[tuple[Any, Any]]:
    """Return the first (key, value) pairs of a dict; the `items` of a subclass is not called."""
    return list(islice(dict.items(value), most))


def _slot(slot: Any, value: object) -> Any:
    try:
        return slot.__get__(value)
    except AttributeError:  # the slot was never set
        return None
