"""Classic tool calling: the functions as JSON schemas, one turn of the model for each round of calls.

Frames come back as CSV, cut where tool frameworks cut. Small models write calls in several forms: those that the
server recognises count, and JSON with a known name in the reply as well. `evals.systems.peer` starts it.
"""

from __future__ import annotations

import inspect
import json
import re
import typing
from collections.abc import Callable, Mapping
from typing import Any

from openai import OpenAI

from evals.peers.speaking import Said, serve, server

SYSTEM = (
    "You are a data analyst. Answer the question with the help of the functions: call those that you need, then "
    "answer in one or two sentences with the figures that were asked for."
)
MAX_ROUNDS = 10
MAX_TOKENS = 512
MAX_RESULT_CHARS = 6000
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_DECODER = json.JSONDecoder()


def main() -> None:
    url, key, model = server()
    client = OpenAI(base_url=url, api_key=key)

    def ask(question: str, variables: dict[str, Any], follows: bool) -> Said:
        functions = {name: value for name, value in variables.items() if callable(value)}
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
        made: list[str] = []
        for _ in range(MAX_ROUNDS):
            reply = client.chat.completions.create(
                model=model,
                messages=messages,
                tools=[schema_of(name, function) for name, function in functions.items()],  # type: ignore[misc]
                temperature=0,
                max_tokens=MAX_TOKENS,
            )
            message = reply.choices[0].message
            calls = [
                (call.id, call.function.name, call.function.arguments)
                for call in message.tool_calls or ()
                if call.type == "function"
            ]
            text = message.content or ""
            if not calls:
                calls = [(f"c{n}", *found) for n, found in enumerate(written_calls(text, functions))]
            if not calls:
                return Said(text=text, programs=made, ran_at_once=True)
            messages.append(
                {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [
                        {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}
                        for key, name, arguments in calls
                    ],
                }
            )
            for key, name, arguments in calls:
                made.append(f"{name}({arguments})")
                content = called(functions, name, arguments)
                messages.append({"role": "tool", "tool_call_id": key, "content": content})
        return Said(error=f"no answer after {MAX_ROUNDS} rounds", programs=made)

    serve(ask)


def schema_of(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters
    return {
        "type": "function",
        "function": {
            "name": name,
            "description": inspect.getdoc(function) or name,
            "parameters": {
                "type": "object",
                "properties": {one: {"type": TYPES.get(hints.get(one, str), "string")} for one in parameters},
                "required": [one for one, what in parameters.items() if what.default is what.empty],
            },
        },
    }


def written_calls(text: str, functions: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Calls that stand in the reply as JSON, wherever: ``{"name": "f", "arguments": {…}}``."""
    found: list[tuple[str, str]] = []
    end = 0
    for start in re.finditer(r"\{", text):
        if start.start() < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start.start())
        except ValueError:
            continue
        if isinstance(value, dict) and value.get("name") in functions and isinstance(value.get("arguments"), dict):
            found.append((value["name"], json.dumps(value["arguments"])))
    return found


def called(functions: Mapping[str, Callable[..., Any]], name: str, arguments: str) -> str:
    try:
        value = functions[name](**json.loads(arguments))
    except Exception as problem:  # noqa: BLE001  (the model is told, as tool frameworks do)
        return f"Error: {type(problem).__name__}: {problem}"
    text = value.to_csv(index=False) if hasattr(value, "to_csv") else json.dumps(value, default=str)
    cut = len(text) - MAX_RESULT_CHARS
    return text if cut <= 0 else f"{text[:MAX_RESULT_CHARS]}\n… {cut} more characters"


if __name__ == "__main__":
    main()
