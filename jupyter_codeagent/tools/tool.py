"""One function of the user's that the sandbox may call, and its stub: name, signature, docstring."""

from __future__ import annotations

import ast
import builtins
import inspect
import keyword
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, get_args

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.values import ToolPolicy, ToolStub

MAX_DOC_CHARS = 1000
"""Of a docstring, for `help()` in the sandbox."""
MAX_TOLD_CHARS = 400
"""Of it, in the line for the model: room for the tables of a database."""
MAX_DEFAULT_CHARS = 60
RESERVED = frozenset({"tools", "display", "get_ipython", "In", "Out", "exit", "quit"})
"""Names that mean something in the sandbox."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """The function lives here only; the sandbox gets the stub."""

    function: Callable[..., Any]
    signature: inspect.Signature
    stub: ToolStub
    coroutine: Callable[..., Awaitable[Any]] | None = None
    """The same for the background loop; None where it runs on the main thread."""

    @property
    def name(self) -> str:
        return self.stub.name


def tool_of(function: object, *, name: str = "", policy: ToolPolicy = "ask") -> Tool:
    """Raises UsageError for what cannot be a tool: no function, a name that means something else, no signature."""
    if not callable(function):
        raise UsageError(f"{name or type(function).__name__} is no function, so that code cannot call it.")
    name = name or getattr(function, "__name__", "")
    check_tool_name(name)
    if policy not in get_args(ToolPolicy):
        raise UsageError(f"policy={policy!r} of {name}: it is one of {', '.join(get_args(ToolPolicy))}.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"The signature of {name} cannot be read ({problem}): wrap it in a function.") from problem
    doc = (inspect.getdoc(function) or "")[:MAX_DOC_CHARS]
    return Tool(
        function=function,
        signature=signature,
        stub=ToolStub(name=name, signature=signature_text(signature), doc=doc, policy=policy),
        coroutine=function if inspect.iscoroutinefunction(function) else None,
    )


def check_tool_name(name: str) -> None:
    """Raises UsageError."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise UsageError(f"{name!r} cannot be the name of a function that code calls: give it one with name=.")
    if hasattr(builtins, name) or name in RESERVED:
        raise UsageError(f"{name!r} means something else in Python or a notebook: give the function another name.")


def signature_text(signature: inspect.Signature) -> str:
    """Python that can be compiled anywhere: types by their last name, ``...`` for defaults that are no literals."""
    parameters = [
        parameter.replace(annotation=_Text(_annotation(parameter.annotation)), default=_default(parameter.default))
        if parameter.annotation is not inspect.Parameter.empty
        else parameter.replace(default=_default(parameter.default))
        for parameter in signature.parameters.values()
    ]
    text = str(inspect.Signature(parameters))
    if signature.return_annotation is not inspect.Signature.empty:
        text += f" -> {_annotation(signature.return_annotation)}"
    return text


def stub_line(stub: ToolStub) -> str:
    """What the model is told: ``def weather(origin: str) -> DataFrame  # Hourly weather of an airport.``"""
    first = " ".join(stub.doc.split("\n\n")[0].split())
    comment = f"  # {textwrap.shorten(first, MAX_TOLD_CHARS, placeholder=' …')}" if first else ""
    return f"def {stub.name}{stub.signature}{comment}"


class _Text(str):
    """An annotation that `inspect` writes as it is, without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Written:
    """A default that `inspect` writes as this text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _default(default: object) -> Any:
    if default is inspect.Parameter.empty:
        return default
    text = repr(default)
    try:
        is_literal = len(text) <= MAX_DEFAULT_CHARS and ast.literal_eval(text) == default
    except (ValueError, SyntaxError, TypeError):
        is_literal = False
    return _Written(text if is_literal else "...")


def _annotation(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return "object"
    if isinstance(tree.body, ast.Constant) and isinstance(tree.body.value, str):
        return _annotation(tree.body.value)
    return ast.unparse(_LastNames().visit(tree))


class _LastNames(ast.NodeTransformer):
    """``pandas.core.frame.DataFrame`` -> ``DataFrame``; texts, as in ``Literal['a.b']``, stay."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Name(id=node.attr, ctx=ast.Load())
