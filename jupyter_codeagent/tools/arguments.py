"""Arguments of one call, from the sandbox's data or from what a person wrote: checked against the signature."""

from __future__ import annotations

import ast
import datetime
import inspect
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from jupyter_codeagent.tools.tool import Tool

MAX_CALL_CHARS = 500
MAX_VALUE_CHARS = 120
UNNAMED = frozenset({inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL})
"""Parameters that cannot be given by name."""


class ArgumentError(TypeError):
    """It is no call of this function; one line, for the code in the sandbox."""


def bind(tool: Tool, arguments: Mapping[str, Any]) -> inspect.BoundArguments:
    """`arguments` by the names of the parameters, as the stub sends them. What was not given is not in the result.

    Text that stands for a date becomes one where the signature wants one, numbers of NumPy those of Python, a whole
    number a float. Nothing else is converted.

    Raises
    ------
    ArgumentError
        Missing, unknown, or of another type than a plain one that is annotated.
    """
    parameters = tool.signature.parameters
    unknown = [name for name in arguments if name not in parameters]
    if unknown:
        raise ArgumentError(f"{tool.name}{tool.stub.signature}: got an unexpected argument {unknown[0]!r}")
    bound = inspect.BoundArguments(
        tool.signature, OrderedDict((name, arguments[name]) for name in parameters if name in arguments)
    )
    try:
        bound = tool.signature.bind(*bound.args, **bound.kwargs)
    except TypeError as problem:
        raise ArgumentError(f"{tool.name}{tool.stub.signature}: {problem}") from None
    for name, value in bound.arguments.items():
        plain_kind = parameters[name].kind in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.KEYWORD_ONLY,
        )
        if plain_kind and name in tool.hints:
            bound.arguments[name] = _fitted(tool.name, name, value, tool.hints[name])
    return bound


def call_text(
    name: str,
    bound: inspect.BoundArguments,
    *,
    max_chars: int = MAX_CALL_CHARS,
    max_value_chars: int = MAX_VALUE_CHARS,
) -> str:
    """As Python: ``weather(origin='JFK', day='2013-01-01')``; else in brief: ``<DataFrame 24x5>``.

    Several arguments are named: a person who decides, and a model that has mixed them up, see which is which.
    """
    positional, named = list(bound.args), dict(bound.kwargs)
    kinds = {bound.signature.parameters[name].kind for name in bound.arguments}
    if len(positional) + len(named) > 1 and not kinds & UNNAMED:
        named = dict(zip(bound.arguments, positional, strict=False)) | named
        positional = []
    parts = [_shown(value, max_value_chars) for value in positional]
    parts += [f"{key}={_shown(value, max_value_chars)}" for key, value in named.items()]
    text = f"{name}({', '.join(parts)})"
    return text if len(text) <= max_chars else f"{text[: max_chars - 2]}…)"


def parse_call(tool: Tool, text: str) -> inspect.BoundArguments:
    """Of a call that a person has changed; arguments are literals.

    Raises
    ------
    ArgumentError
    """
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != tool.name:
            raise ArgumentError(f"{text[:80]!r} is no call of {tool.name}")
        args = [ast.literal_eval(argument) for argument in call.args]
        kwargs = {keyword.arg or "": ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise ArgumentError(f"{text[:80]!r} is no call with plain values ({problem})") from None
    try:
        bound = tool.signature.bind(*args, **kwargs)
    except TypeError as problem:
        raise ArgumentError(f"{tool.name}{tool.stub.signature}: {problem}") from None
    return bind(tool, bound.arguments)


def brief(value: object) -> str:
    """``DataFrame 24x5``, ``list of 3``, ``'JFK'``: what a value is, for the record."""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple) and shape:
        return f"{type(value).__name__} {'x'.join(map(str, shape))}"
    if isinstance(value, list | tuple | set | frozenset | dict):
        text = repr(value) if len(value) <= 10 else ""
        return text if 0 < len(text) <= MAX_VALUE_CHARS else f"{type(value).__name__} of {len(value)}"
    text = repr(value) if _is_plain(value) else type(value).__name__
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[: MAX_VALUE_CHARS - 1]}…"


def of_python(value: Any) -> Any:
    """A single number or text of NumPy as the one of Python; all else as it is."""
    item = getattr(value, "item", None)
    is_scalar = type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0
    return item() if is_scalar and callable(item) else value


def _shown(value: object, max_chars: int) -> str:
    if _is_plain(value) or isinstance(value, list | tuple | set | dict):
        text = repr(value)
        if len(text) <= max_chars and _is_literal(text):
            return text
    return f"<{brief(value)}>"


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | datetime.date | datetime.timedelta)


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _fitted(tool: str, name: str, value: Any, hint: Any) -> Any:
    """The value as the annotation wants it, where that is a plain type."""
    if hint not in (bool, int, float, str, datetime.date, datetime.datetime):
        return value
    value = of_python(value)
    if hint is float and type(value) is int:
        return float(value)
    if hint in (datetime.date, datetime.datetime) and isinstance(value, str):
        try:
            return hint.fromisoformat(value)
        except ValueError:
            raise ArgumentError(f"{tool}: {name}={value[:40]!r} is no date like '2013-01-31'") from None
    is_bool_for_number = hint in (int, float) and isinstance(value, bool)
    if not isinstance(value, hint) or is_bool_for_number:
        raise ArgumentError(f"{tool}: {name} is to be {hint.__name__}, not {brief(value)}")
    return value
