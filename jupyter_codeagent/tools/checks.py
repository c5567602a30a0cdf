"""Arguments checked against a schema from elsewhere, with a limit on the work that it causes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Check = Callable[[Mapping[str, Any]], None]
MAX_STEPS = 10_000
MAX_WORK_CHARS = 20_000_000
"""Limit on steps times the length of the arguments: a step may scan all, and write them into its message."""
LEFT_TO_THE_SERVER = ("pattern", "patternProperties", "uniqueItems", "unevaluatedItems", "unevaluatedProperties")
"""Keywords that the server checks: one step of these may take any time."""
MAX_MESSAGE_CHARS = 300


class _TooMuchError(Exception):
    """The check takes too much work; the server checks its arguments itself."""


def checker_of(schema: Mapping[str, Any]) -> Check:
    """Return a check that raises TypeError with the first fault: a call that cannot succeed is not sent.

    It is made once for a tool: reading a schema takes 2 ms. The schema is from a foreign program: remote references
    are not fetched, and what cannot be checked in a few steps, or is no schema, is left to the server.
    """
    import jsonschema
    from jsonschema_specifications import REGISTRY

    left = 0

    def counted(check: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def checked(validator: Any, value: Any, instance: Any, of: Mapping[str, Any]) -> Iterator[Any]:
            nonlocal left
            left -= 1
            if left < 0:
                raise _TooMuchError
            yield from check(validator, value, instance, of) or ()

        return checked

    def additional(validator: Any, value: Any, instance: Any, of: Mapping[str, Any]) -> Iterator[Any]:
        if "patternProperties" not in of:  # whose patterns it would try
            yield from kind.VALIDATORS["additionalProperties"](validator, value, instance, of) or ()

    extend: Any = jsonschema.validators.extend
    draft = {"$schema": schema["$schema"]} if isinstance(schema.get("$schema"), str) else {}
    kind: Any = jsonschema.validators.validator_for(draft, default=jsonschema.Draft202012Validator)
    known = {**kind.VALIDATORS, "additionalProperties": additional}
    limited = {word: counted(check) for word, check in known.items() if word not in LEFT_TO_THE_SERVER}
    nothing = {word: lambda *_: None for word in LEFT_TO_THE_SERVER}
    validator = extend(kind, {**limited, **nothing})(schema, registry=REGISTRY)

    def check(arguments: Mapping[str, Any]) -> None:
        nonlocal left
        try:
            left = min(MAX_STEPS, MAX_WORK_CHARS // (len(json.dumps(arguments)) + 1))
            problem = jsonschema.exceptions.best_match(validator.iter_errors(dict(arguments)))
        except Exception:  # noqa: BLE001  (whatever a foreign schema leads to: see `_TooMuchError`)
            return
        if problem is not None:
            at = "".join(f"[{part!r}]" for part in problem.absolute_path)
            raise TypeError(f"arguments{at}: {problem.message[:MAX_MESSAGE_CHARS]}")

    return check
