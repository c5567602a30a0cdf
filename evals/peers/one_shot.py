"""A bare prompt, one reply, one program: what a chat window and copy and paste give.

`evals.systems.peer` starts it.
"""

from __future__ import annotations

import contextlib
import io
import re
from typing import Any

from openai import OpenAI

from evals.peers.speaking import Said, serve, server
from evals.worker import execute

FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.DOTALL | re.IGNORECASE)
MAX_TOKENS = 1024


def main() -> None:
    url, key, model = server()
    client = OpenAI(base_url=url, api_key=key)
    messages: list[dict[str, str]] = []
    state: dict[str, Any] = {}

    def ask(question: str, variables: dict[str, Any], follows: bool) -> Said:
        if not follows:
            messages.clear()
            state.clear()
            state.update(variables)
        messages.append({"role": "user", "content": _prompt(question, {} if follows else variables)})
        reply = client.chat.completions.create(
            model=model,
            messages=messages,  # type: ignore[arg-type]
            temperature=0,
            max_tokens=MAX_TOKENS,
        )
        text = reply.choices[0].message.content or ""
        messages.append({"role": "assistant", "content": text})
        found = FENCE.search(text)
        if found is None:
            return Said(text=text, error="no code in the reply", parse_failures=1)
        shown = io.StringIO()
        try:
            with contextlib.redirect_stdout(shown):
                execute(found[1], state)
        except Exception as failure:  # noqa: BLE001  (any error of the program is its end)
            return Said(text=shown.getvalue(), error=f"{type(failure).__name__}: {failure}", programs=[found[1]])
        return Said(text=shown.getvalue(), programs=[found[1]], ran_at_once=True, variables=dict(state))

    serve(ask)


def _prompt(question: str, variables: dict[str, Any]) -> str:
    """The question with the first rows of each frame, as people paste them."""
    parts = [f"`{name}` is a {type(value).__name__}:\n{_head(value)}" for name, value in variables.items()]
    asked = "Write Python code that answers the question; the variables exist already. Print the result."
    return "\n\n".join([*parts, f"Question: {question}", asked] if parts else [f"Question: {question}", asked])


def _head(value: Any) -> str:
    return str(value.head().to_csv(index=False)) if hasattr(value, "to_csv") else repr(value)[:500]


if __name__ == "__main__":
    main()
