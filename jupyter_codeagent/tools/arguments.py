"""Arguments of one call, from the sandbox's data or a text that a person wrote: checked against the signature."""

from __future__ import annotations

import ast
import datetime
import decimal
import fractions
import inspect
import math
import uuid
import zoneinfo
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_codeagent.tools.preview import brief, of_python, written
from jupyter_codeagent.tools.tool import VARIADIC, Tool
from jupyter_codeagent.types.syntax_trees import expression_tree

MAX_CALL_CHARS = 500
MAX_NAME_CHARS = 100
MAX_FURTHER = 100
"""Most arguments that `*args` or `**kwargs` may take."""
CONSTANTS = {
    "inf": math.inf,
    "-inf": -math.inf,
    "nan": math.nan,
    "datetime.timezone.utc": datetime.UTC,
}
OF_PANDAS = frozenset({"Timestamp", "Timedelta", "Period", "NaT"})
OF_NUMPY = frozenset({"np.datetime64", "np.timedelta64"})
CONSTRUCTORS: Mapping[str, Callable[..., Any]] = {
    "datetime.date": datetime.date,
    "datetime.datetime": datetime.datetime,
    "datetime.time": datetime.time,
    "datetime.timedelta": datetime.timedelta,
    "datetime.timezone": datetime.timezone,
    "zoneinfo.ZoneInfo": zoneinfo.ZoneInfo,
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "UUID": uuid.UUID,
    "frozenset": frozenset,
    "set": set,
}
"""Names that a person may leave in an edited call, because values are displayed with them."""
UNNAMED = frozenset({inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL})
"""Kinds of parameters that cannot be given by name."""


class ArgumentError(TypeError):
    """The call does not fit the function; the message is one line, for the code in the sandbox."""


def bind(tool: Tool, arguments: Mapping[str, Any]) -> inspect.BoundArguments:
    """Bind `arguments`, which the stub sends by name, to the signature; defaults are not in the result.

    Where the signature wants it, a date as text becomes a date and a whole number a float. NumPy numbers become
    Python numbers. Nothing else is converted.

    Raises
    ------
    ArgumentError
        An argument is missing, unknown, or not of the plain type that is annotated.
    """
    parameters = tool.signature.parameters
    unknown = [name for name in arguments if name not in parameters]
    if unknown:
        raise ArgumentError(f"{tool.name}{tool.stub.signature}: got an unexpected argument {unknown[0][:60]!r}")
    _check_further(tool, arguments)
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


@dataclass(frozen=True, kw_only=True)
class CallText:
    """A call as Python text for people."""

    text: str
    in_brief: tuple[str, ...] = ()
    """Arguments of which the text has only a part: ``('table', 'message')``."""


def call_text(name: str, bound: inspect.BoundArguments, *, max_chars: int = MAX_CALL_CHARS) -> CallText:
    """Return ``weather(origin='JFK', day='2013-01-01')``; values without a literal in brief: ``<DataFrame 24x5>``.

    Several arguments are named: a person who decides, and a model that has mixed them up, see which is which. Each
    has its share of the space, so that none hides those after it.
    """
    positional, named = list(bound.args), dict(bound.kwargs)
    kinds = {bound.signature.parameters[name].kind for name in bound.arguments}
    if len(positional) + len(named) > 1 and not kinds & UNNAMED:
        named = dict(zip(bound.arguments, positional, strict=False)) | named
        positional = []
    count = len(positional) + len(named)
    share = max_chars // max(count, 1)
    texts = [(f"argument {at}", "", written(value, share)) for at, value in enumerate(positional, 1)]
    texts += [(key, f"{key}=", written(value, share)) for key, value in named.items()]
    text = f"{name}({', '.join(label + one.text for _, label, one in texts)})"
    return CallText(text=text, in_brief=tuple(key for key, _, one in texts if not one.is_whole))


def parse_call(tool: Tool, text: str) -> inspect.BoundArguments:
    """Read the arguments of a call that a person has edited; they are literals.

    Raises
    ------
    ArgumentError
    """
    try:
        call = expression_tree(text.strip()).body
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.func.id != tool.name:
            raise ArgumentError(f"{text[:80]!r} is not a call of {tool.name}")
        args = [_value(argument) for argument in call.args]
        kwargs = {keyword.arg or "": _value(keyword.value) for keyword in call.keywords}
    except ArgumentError:
        raise
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as problem:
        raise ArgumentError(f"{text[:80]!r} is not a call with plain values ({problem})") from None
    try:
        bound = tool.signature.bind(*args, **kwargs)
    except TypeError as problem:
        raise ArgumentError(f"{tool.name}{tool.stub.signature}: {problem}") from None
    return bind(tool, bound.arguments)


def _check_further(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Raise ArgumentError for too many arguments of `*args` and `**kwargs`, and for names that are not words.

    The approval question displays these names as they are.
    """
    for parameter in tool.signature.parameters.values():
        given = arguments.get(parameter.name)
        if parameter.kind not in VARIADIC or given is None:
            continue
        is_named = parameter.kind is inspect.Parameter.VAR_KEYWORD
        if not isinstance(given, Mapping if is_named else Sequence) or len(given) > MAX_FURTHER:
            raise ArgumentError(f"{tool.name}: {parameter} takes at most {MAX_FURTHER} arguments")
        wrong = [name for name in given if is_named and not _is_name(name)]
        if wrong:
            raise ArgumentError(f"{tool.name}: {brief(wrong[0])} is not an argument name")


def _is_name(name: object) -> bool:
    return isinstance(name, str) and len(name) <= MAX_NAME_CHARS and name.isidentifier()


def _constructor(name: str) -> Any:
    """Of libraries only where their values are: then they are installed."""
    if name in OF_PANDAS:
        import pandas as pd

        return getattr(pd, name)
    if name in OF_NUMPY:
        import numpy as np

        return getattr(np, name.removeprefix("np."))
    return CONSTRUCTORS.get(name)


def _value(node: ast.expr) -> Any:
    """Return the value of a literal or of what `written` wrote; raise ValueError or the like for anything else."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        kind = {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)]
        return kind([_value(item) for item in node.elts])
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    written_as = ast.unparse(node)
    if written_as in CONSTANTS:
        return CONSTANTS[written_as]
    if written_as == "NaT":
        return _constructor("NaT")
    if isinstance(node, ast.Call) and (made := _constructor(ast.unparse(node.func))) is not None:
        named = {keyword.arg or "": _value(keyword.value) for keyword in node.keywords}
        return made(*map(_value, node.args), **named)
    return ast.literal_eval(node)


def _fitted(tool: str, name: str, value: Any, hint: Any) -> Any:
    """Return the value as the annotation wants it, if that is a plain type."""
    if hint not in (bool, int, float, str, datetime.date, datetime.datetime):
        return value
    value = of_python(value)
    if hint is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            raise ArgumentError(
                f"{tool}: {name} must be a float, and {brief(value)} is too large for one"
            ) from None
    if hint in (datetime.date, datetime.datetime) and isinstance(value, str):
        try:
            return hint.fromisoformat(value)
        except ValueError:
            raise ArgumentError(f"{tool}: {name}={value[:40]!r} is not a date like '2013-01-31'") from None
    is_bool_for_number = hint in (int, float) and isinstance(value, bool)
    if not isinstance(value, hint) or is_bool_for_number:
        raise ArgumentError(f"{tool}: {name} must be {hint.__name__}, not {brief(value)}")
    return value
