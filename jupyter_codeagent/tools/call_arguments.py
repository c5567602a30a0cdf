"""The arguments of one call: read from the sandbox's bytes, made fit for the function, kept for its `undo`."""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_codeagent.sandbox.data.unpack import Part
from jupyter_codeagent.sandbox.tool_calls import CallRequest
from jupyter_codeagent.tools.arguments import bind
from jupyter_codeagent.tools.object_fields import folded
from jupyter_codeagent.tools.tool import VARIADIC, Tool
from jupyter_codeagent.types.errors import RejectedDataError

READ_AT_ONCE_BYTES = 10_000
"""Size of arguments up to which they are read on the loop; larger ones, which would block it, get a thread."""


async def read_arguments(
    tool: Tool, request: CallRequest, read: Callable[..., Part], max_bytes: int
) -> inspect.BoundArguments:
    """Read the arguments by `unpack_outline` for people who decide, or by `unpack` for the function.

    Raises
    ------
    ArgumentError, RejectedDataError
    """
    packed = request.arguments
    if len(packed.meta_json) + len(packed.data) <= READ_AT_ONCE_BYTES:
        arguments, _ = read(packed, max_bytes=max_bytes)
    else:
        arguments, _ = await asyncio.to_thread(read, packed, max_bytes=max_bytes)
    if not isinstance(arguments, dict) or not all(isinstance(name, str) for name in arguments):
        raise RejectedDataError("The arguments are not given by name.")
    return bind(tool, arguments)


def as_annotated(tool: Tool, bound: inspect.BoundArguments) -> inspect.BoundArguments:
    """Make records where the function wants them (people saw dicts); raise what the classes raise."""
    arguments = {name: folded(value, tool.hints.get(name)) for name, value in bound.arguments.items()}
    return inspect.BoundArguments(tool.signature, OrderedDict(arguments))


def arguments_for_undo(tool: Tool, bound: inspect.BoundArguments) -> Mapping[str, Any]:
    """Copy the arguments before the call, by name; none if the tool has no `undo`."""
    if tool.undo is None:
        return {}
    copied = inspect.BoundArguments(tool.signature, OrderedDict(copy.deepcopy(bound.arguments)))
    return _all_named(as_annotated(tool, copied))


def _all_named(bound: inspect.BoundArguments) -> dict[str, Any]:
    """Return the arguments that were given and the defaults of the others, by name."""
    whole = inspect.BoundArguments(bound.signature, OrderedDict(bound.arguments))
    whole.apply_defaults()
    kinds = {parameter.name: parameter.kind for parameter in bound.signature.parameters.values()}
    named = {name: value for name, value in whole.arguments.items() if kinds[name] not in VARIADIC}
    return named | {key: value for key, value in bound.kwargs.items() if key not in named}
