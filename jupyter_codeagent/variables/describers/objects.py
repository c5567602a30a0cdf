"""Describers of functions, classes and instances of classes, none of whose code is run."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Iterable
from typing import Any

from jupyter_codeagent.types.variables import Privacy, VariableSummary
from jupyter_codeagent.variables.describers.plain import MAX_KEYS, field_text, summary
from jupyter_codeagent.variables.introspection import (
    class_attribute,
    first,
    instance_attributes,
    is_a,
    mro,
    type_name,
    type_path,
)
from jupyter_codeagent.variables.privacy.secret import private_text
from jupyter_codeagent.variables.text import looks_personal, quoted, safe

MAX_SIGNATURE = 120
MAX_DOC = 80
MAX_MESSAGE = 80
MAX_FIELDS = 100
ANNOTATION_DEPTH = 3
_KNOWN_METACLASSES = frozenset(
    (
        *("builtins.type", "abc.ABCMeta", "enum.EnumType", "enum.EnumMeta"),
        "pydantic._internal._model_construction.ModelMetaclass",
    )
)
_FIELD_MARKS = ("__dataclass_fields__", "__attrs_attrs__")


def describe_function(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a function by its signature without default values, and the first line of its docstring."""
    start = "async def" if inspect.iscoroutinefunction(value) else "def"
    doc = _doc_text(getattr(value, "__doc__", None), privacy, getattr(value, "__name__", ""))
    return summary(name, value, f"{name}: {start} {name}{_signature(value)} (not copied){doc}")


def describe_partial(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a partial by the name of its function."""
    inner = value.func
    label = getattr(inner, "__name__", "") if type_path(type(inner)).startswith("builtins.") else ""
    return summary(name, value, f"{name}: partial of {safe(label or type_name(type(inner)), 60)} (not copied)")


def describe_class(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a class by name, signature and first line of its docstring; an Enum by its members."""
    label, path = safe(type_name(value), 60), type_path(type(value))
    if path not in _KNOWN_METACLASSES:  # an unknown metaclass could run code for any attribute
        return summary(name, value, f"{name}: class {label} (not copied)")
    members = class_attribute(value, "_member_names_")
    if type(members) is list:
        listed = ", ".join(safe(str(member), 40) for member in members[:MAX_KEYS])
        more = ", …" if len(members) > MAX_KEYS else ""
        text = "" if privacy == "schema" or looks_personal(name) else f" with members {listed}{more}"
        return summary(name, value, f"{name}: class {label}{text} (not copied)")
    doc = vars(value).get("__doc__")
    return summary(
        name,
        value,
        f"{name}: class {label}{_signature(value)} (not copied){_doc_text(doc, privacy, type_name(value))}",
    )


def describe_fields(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe an instance of a dataclass, attrs class or pydantic model by its fields, plain ones with values."""
    own = instance_attributes(value)
    fields = [label for mark in _FIELD_MARKS for label in _labels(class_attribute(type(value), mark))] or [
        label for label in own if not label.startswith("_")
    ]
    hidden: Privacy = "schema" if looks_personal(name) else privacy
    known = [label for label in fields if label in own]
    texts = [field_text(label, own[label], hidden) for label in known[:MAX_KEYS]]
    more = ", …" if len(known) > MAX_KEYS else ""
    return summary(name, value, f"{name}: {safe(type_name(type(value)), 60)}({', '.join(texts)}{more})")


def describe_member(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe a member of an Enum by its name."""
    label = instance_attributes(value).get("_name_")
    hidden = type(label) is not str or privacy == "schema" or looks_personal(name)
    member = "" if hidden else f".{safe(str(label), 40)}"
    return summary(name, value, f"{name}: {safe(type_name(type(value)), 60)}{member}")


def describe_exception(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Describe an exception by its class and its message if that is one short text; `__str__` is not called."""
    arguments = BaseException.__dict__["args"].__get__(value)
    text = arguments[0] if len(arguments) == 1 else None
    message = ""
    if type(text) is str and privacy != "schema" and not private_text(text) and not looks_personal(name):
        message = f": {quoted(text, MAX_MESSAGE)}"
    return summary(name, value, f"{name}: exception {safe(type_name(type(value)), 60)}{message}")


def has_fields(kind: type) -> bool:
    """Check for a dataclass or attrs class, which have a mark and no common base."""
    return any(class_attribute(kind, mark) is not None for mark in _FIELD_MARKS)


class _Text:
    """A stand-in for a default value or an annotation, whose own `repr` may be anything."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _signature(value: Any) -> str:
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [
        parameter.replace(default=_replaced(parameter.default, "…"), annotation=_annotation(parameter.annotation))
        for parameter in found.parameters.values()
    ]
    return safe(str(found.replace(parameters=parameters, return_annotation=inspect.Signature.empty)), MAX_SIGNATURE)


def _replaced(default: object, text: str) -> object:
    return default if default is inspect.Parameter.empty else _Text(text)


def _annotation(annotation: Any) -> object:
    if annotation is inspect.Parameter.empty:
        return annotation
    text = _type_text(annotation, ANNOTATION_DEPTH)
    return _Text(safe(text, 40)) if text else inspect.Parameter.empty


def _type_text(annotation: Any, depth: int) -> str:
    """Return the annotation as written, without calling the `repr` of anything that is not a type."""
    if type(annotation) is str:
        return "Literal" if "Literal[" in annotation else annotation
    if annotation is None or annotation is type(None):
        return "None"
    if is_a(annotation, type):
        return type_name(annotation)
    if type(annotation).__module__ not in ("typing", "types") or not depth:
        return ""
    if type(annotation).__name__ == "_AnnotatedAlias":
        return _type_text(annotation.__origin__, depth - 1)
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        return "Literal"  # its arguments are values
    parts = [text for part in inner if (text := _type_text(part, depth - 1))]
    if type(annotation).__name__ in ("UnionType", "_UnionGenericAlias", "Union"):
        return " | ".join(parts)
    label = type_name(origin) if is_a(origin, type) else str(getattr(annotation, "_name", "") or "")
    return f"{label}[{', '.join(parts)}]" if parts and label else label


def _doc_text(doc: object, privacy: Privacy, label: object) -> str:
    line = inspect.cleandoc(doc).split("\n")[0] if type(doc) is str else ""
    # The docstring of a dataclass is its signature by default, with default values in it.
    if type(label) is str and line.startswith(f"{label}("):
        return ""
    return f"  # {safe(line, MAX_DOC)}" if line and privacy != "schema" and not private_text(line) else ""


def _labels(marks: object) -> Iterable[str]:
    """Return names of fields, which dataclasses keep in a dict and attrs in a tuple of attributes."""
    if type(marks) is dict:
        return [label for label in marks if type(label) is str]
    if marks is not None and tuple in mro(type(marks)):
        return [str(mark.name) for mark in first(marks, MAX_FIELDS)]
    return []


DESCRIBERS = {
    **dict.fromkeys(
        (
            *("builtins.function", "builtins.builtin_function_or_method", "builtins.method"),
            *("functools._lru_cache_wrapper", "numpy.ufunc"),
        ),
        describe_function,
    ),
    "functools.partial": describe_partial,
    "builtins.type": describe_class,
    "enum.Enum": describe_member,
    "pydantic.main.BaseModel": describe_fields,
    "builtins.BaseException": describe_exception,
}
