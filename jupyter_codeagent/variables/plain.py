"""Describers of what Python itself has: scalars, text, containers, functions, classes, dates, paths."""

from __future__ import annotations

import inspect
import sys
from itertools import islice
from typing import Any

from jupyter_codeagent.values import Privacy, VariableSummary
from jupyter_codeagent.variables.secret import carries_secret, private_text, secret_name
from jupyter_codeagent.variables.text import looks_personal, quoted, safe

MAX_KEYS = 12
MAX_SIGNATURE = 120


def describe_scalar(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """None, numbers, dates: the value itself, unless the mode or its name forbids."""
    kind = type(value).__name__
    text = str(value)
    hidden = privacy == "schema" or looks_personal(name) or secret_name(name, value) or private_text(text)
    shown = "" if hidden else f" = {safe(text, 40)}"
    return _summary(name, value, f"{name}: {kind}{shown}", copyable=True)


def describe_text(name: str, value: str, privacy: Privacy) -> VariableSummary:
    """Short text itself; the length alone where the text or its name looks private."""
    private = looks_personal(name) or secret_name(name, value) or private_text(value)
    hidden = privacy == "schema" or private or len(value) > 200
    shown = f"{len(value)} characters" if hidden else f"= {quoted(value, 60)}"
    return _summary(name, value, f"{name}: str {shown}", copyable=_unasked(name, value))


def describe_bytes(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    return _summary(
        name, value, f"{name}: {type(value).__name__} {len(value)} bytes", copyable=_unasked(name, value)
    )


def describe_sequence(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Length and the types of the first few elements."""
    kinds = sorted({type(item).__name__ for item, _ in zip(value, range(20), strict=False)})
    of = f" of {', '.join(kinds[:3])}" if kinds else ""
    return _summary(name, value, f"{name}: {type(value).__name__} {len(value)}{of}", copyable=_unasked(name, value))


def describe_mapping(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Length and the first keys, as far as they are text and not private themselves."""
    keys = [_key(key) for key in islice(value, MAX_KEYS) if isinstance(key, str)]
    more = ", …" if len(value) > len(keys) else ""
    told = keys and privacy != "schema" and not looks_personal(name)
    shown = f" keys [{', '.join(keys)}{more}]" if told else f" {len(value)}"
    return _summary(name, value, f"{name}: {type(value).__name__}{shown}", copyable=_unasked(name, value))


def describe_function(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    """Signature without its default values, and the first line of the docstring; not copied."""
    try:
        signature = _without_defaults(inspect.signature(value))
    except (TypeError, ValueError):
        signature = "(...)"
    doc = (inspect.getdoc(value) or "").split("\n")[0]
    told = f"  # {safe(doc, 80)}" if doc and privacy != "schema" and not private_text(doc) else ""
    return _summary(name, value, f"{name}: def {name}{safe(signature, MAX_SIGNATURE)} (not copied){told}")


def describe_class(name: str, value: Any, privacy: Privacy) -> VariableSummary:
    return _summary(name, value, f"{name}: class {safe(value.__name__, 60)} (not copied)")


class _Default:
    """Stands for a default value, which may be a secret and whose own `repr` may be anything."""

    def __repr__(self) -> str:
        return "…"


def _without_defaults(signature: inspect.Signature) -> str:
    parameters = [
        parameter if parameter.default is parameter.empty else parameter.replace(default=_Default())
        for parameter in signature.parameters.values()
    ]
    return str(signature.replace(parameters=parameters))


def _key(key: str) -> str:
    return "***" if private_text(key) else quoted(key)


def _unasked(name: str, value: object) -> bool:
    """May be copied when the prompt names it; what carries a secret only when ``--vars`` does."""
    return not carries_secret(name, value)


def _summary(name: str, value: object, headline: str, *, copyable: bool = False) -> VariableSummary:
    return VariableSummary(
        name=name,
        type_name=type(value).__name__,
        headline=headline,
        size_bytes=sys.getsizeof(value, 0),
        copyable=copyable,
    )


DESCRIBERS = {
    **dict.fromkeys(
        (
            *("builtins.NoneType", "builtins.bool", "builtins.int", "builtins.float", "builtins.complex"),
            *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "decimal.Decimal"),
            *("fractions.Fraction", "uuid.UUID", "pathlib.Path", "pathlib._local.Path", "pathlib.PurePath"),
            *("pandas.Timestamp", "pandas._libs.tslibs.timestamps.Timestamp"),
        ),
        describe_scalar,
    ),
    "builtins.str": describe_text,
    "builtins.bytes": describe_bytes,
    "builtins.bytearray": describe_bytes,
    **dict.fromkeys(
        ("builtins.list", "builtins.tuple", "builtins.set", "builtins.frozenset", "collections.deque"),
        describe_sequence,
    ),
    "builtins.dict": describe_mapping,
    "builtins.function": describe_function,
    "builtins.builtin_function_or_method": describe_function,
    "builtins.type": describe_class,
}
