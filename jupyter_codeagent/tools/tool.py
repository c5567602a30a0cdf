"""One function of the user that the sandbox may call, and its stub: name, signature, docstring."""

from __future__ import annotations

import ast
import inspect
import keyword
import re
import textwrap
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

from jupyter_codeagent.notebook.reserved_names import is_reserved
from jupyter_codeagent.tools.annotations import annotation_text
from jupyter_codeagent.tools.object_fields import keys_text
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.syntax_trees import module_tree
from jupyter_codeagent.types.variables import ToolPolicy, ToolStub
from jupyter_codeagent.variables.privacy.masking import masked
from jupyter_codeagent.variables.privacy.secret import carries_secret, secret_name

MAX_DOC_CHARS = 1000
"""Characters of a docstring that `help()` in the sandbox displays."""
MAX_KEYS_CHARS = 600
"""Characters of the keys of records that a function returns."""
MAX_DEFAULT_CHARS = 60
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
DocLength = Literal["all", "paragraph", "sentence"]
"""How much of a docstring is in the line for the model."""
MAX_COMMENT_CHARS: Mapping[DocLength, int] = {"all": 800, "paragraph": 400, "sentence": 200}
"""Space for the tables of a database, or for what each parameter means."""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A function that stays in the live kernel; the sandbox gets the stub."""

    function: Callable[..., Any]
    signature: inspect.Signature
    stub: ToolStub
    hints: Mapping[str, Any]
    """Annotations as objects, by parameter and ``return``; empty if a name in them cannot be resolved."""
    coroutine: Callable[..., Awaitable[Any]] | None = None
    """The function for the background loop; None if it runs on the main thread."""
    undo: Callable[..., Any] | None = None
    """Takes the result of a call, then its arguments by name, and reverses the call."""
    timeout_s: float | None = None
    """Time limit of one call; None for no limit."""
    estimate: Callable[..., str] | None = None
    """Takes the call's arguments; returns what it would take, for who is asked, or raises what it would."""
    check_auto: Callable[[], None] | None = None
    """Raises UsageError if the function must not be called without approval."""

    @property
    def name(self) -> str:
        return self.stub.name


def tool_of(
    function: object,
    *,
    name: str = "",
    policy: ToolPolicy = "ask",
    undo: Callable[..., Any] | None = None,
    timeout_s: float | None = None,
) -> Tool:
    """Return a function as a tool; raise UsageError for what cannot be one.

    That is what is not a function, has a reserved name, no signature or no time, or an `undo` that cannot be called
    with a result and the function's arguments.
    """
    if not callable(function):
        raise UsageError(f"{name or type(function).__name__} is not a function, so code cannot call it.")
    name = name or getattr(function, "__name__", "")
    check_tool_name(name)
    if policy not in get_args(ToolPolicy):
        raise UsageError(f"policy={policy!r} of {name}: it is one of {', '.join(get_args(ToolPolicy))}.")
    if timeout_s is not None and not timeout_s > 0:
        raise UsageError(f"timeout_s={timeout_s!r} of {name}: give seconds above 0, or None for no limit.")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as problem:
        raise UsageError(f"The signature of {name} cannot be read ({problem}): wrap it in a function.") from problem
    if undo is not None:
        _check_undo(name, undo, signature)
    hints = _hints(function)
    doc = (inspect.getdoc(function) or "")[:MAX_DOC_CHARS]
    if keys := keys_text(hints.get("return")):
        doc = f"{doc}\n\nReturns {keys[:MAX_KEYS_CHARS]}".strip()
    return Tool(
        function=function,
        signature=signature,
        stub=ToolStub(name=name, signature=signature_text(signature, hints), doc=doc, policy=policy),
        hints=hints,
        coroutine=function if inspect.iscoroutinefunction(function) else None,
        undo=undo,
        timeout_s=timeout_s,
    )


def check_tool_name(name: str) -> None:
    """Raise UsageError for a name that is not valid or is reserved."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise UsageError(f"{name!r} is not a valid function name: give one with name=.")
    if is_reserved(name) or name == "tools":  # `tools.map` of the sandbox
        raise UsageError(f"{name!r} is a reserved name in Python or notebooks: give the function another name.")


def _check_undo(name: str, undo: Callable[..., Any], of: inspect.Signature) -> None:
    """Check `undo` now, not when something has to be undone."""
    named = [key for key, parameter in of.parameters.items() if parameter.kind not in VARIADIC]
    if inspect.iscoroutinefunction(undo):
        raise UsageError(f"undo= of {name} is async: give a function that has undone the call when it returns.")
    try:
        inspect.signature(undo).bind(None, **dict.fromkeys(named))
    except (TypeError, ValueError) as problem:
        wanted = ", ".join(["result", *named])
        raise UsageError(
            f"undo= of {name} is called as undo({wanted}): what the call returned, and its arguments ({problem})."
        ) from problem


def signature_text(signature: inspect.Signature, hints: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Return Python that compiles anywhere: types by their last name, ``...`` for defaults that are no literals."""

    def annotation(name: str, written: Any) -> Any:
        return (
            _Written(annotation_text(hints.get(name, written)))
            if written is not inspect.Parameter.empty
            else written
        )

    parameters = [
        parameter.replace(
            annotation=annotation(name, parameter.annotation), default=_default(name, parameter.default)
        )
        for name, parameter in signature.parameters.items()
    ]
    returns = annotation("return", signature.return_annotation)
    return str(inspect.Signature(parameters, return_annotation=returns))


def stub_line(stub: ToolStub, length: DocLength = "paragraph") -> str:
    """Return a tool's line in the prompt.

    Such as ``def weather(origin: str) -> DataFrame  # Hourly weather of an airport.``

    Several arguments are written as keyword-only, whether they are or not: small models mix up their order
    (`departures("JFK", 2013, 7)` for an airport, a month and a day).
    """
    paragraph = " ".join(stub.doc.split("\n\n")[0].split())
    whole = " ".join(stub.doc.split())
    text = {"all": whole, "paragraph": paragraph, "sentence": _first_sentence(paragraph)}[length]
    comment = f"  # {textwrap.shorten(text, MAX_COMMENT_CHARS[length], placeholder=' …')}" if text else ""
    return f"def {stub.name}{_prompt_signature(stub.signature)}{comment}"


def _prompt_signature(signature: str) -> str:
    [function] = module_tree(f"def f{signature}: ...").body
    assert isinstance(function, ast.FunctionDef)
    found = function.args
    is_plain = not (found.posonlyargs or found.vararg or found.kwonlyargs)
    return signature.replace("(", "(*, ", 1) if is_plain and len(found.args) > 1 else signature


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.!?]) (?=[A-Z])", text, maxsplit=1)[0]


class _Written:
    """The text that `inspect` writes for an annotation or a default."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _default(name: str, default: object) -> Any:
    """Return a default for the stub; a secret (``key=os.environ["KEY"]``) reaches neither prompt nor sandbox."""
    if default is inspect.Parameter.empty:
        return default
    text = repr(default)
    if secret_name(name, default) or carries_secret(name, default) or masked(text, ()) != text:
        return _Written("...")
    try:
        is_literal = len(text) <= MAX_DEFAULT_CHARS and ast.literal_eval(text) == default
    except (ValueError, SyntaxError, TypeError):
        is_literal = False
    return _Written(text if is_literal else "...")


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    if hasattr(function, "__signature__"):  # made of a schema: its own annotations do not count
        return {}
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001  (any annotation: types are then neither in the prompt nor checked)
        return {}
