"""What all peers share: the lines they are asked by, the count of what they spend, the evidence they leave.

Runs in the peers' own environments, which have pandas, matplotlib and openai, and nothing of this project's.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import textwrap
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from evals.facts import as_in_a_notebook, evidence, figures_now


@dataclass
class Said:
    """What a peer gives back of one turn."""

    text: str = ""
    error: str = ""
    programs: list[str] = field(default_factory=list)
    ran_at_once: bool = False
    parse_failures: int = 0
    variables: dict[str, Any] = field(default_factory=dict)
    figures: list[dict[str, Any]] = field(default_factory=list)
    """Those it closed itself; open ones are read here."""


def server() -> tuple[str, str, str]:
    """Address, key and model; in the environment, because command lines can be read by everyone."""
    return os.environ["EVALS_URL"], os.environ["EVALS_KEY"], os.environ["EVALS_MODEL"]


Ask = Callable[[str, dict[str, Any], bool], Said]
"""(question, variables of the task, whether it follows an earlier one) -> what it said."""


def serve(ask: Ask) -> None:
    """Answer one JSON line for each on stdin: ``{"setup", "variables"}`` or ``{"question"}``."""
    as_in_a_notebook()
    import matplotlib.pyplot as plt

    spent = count_calls()
    answers, sys.stdout = sys.stdout, sys.stderr
    namespace: dict[str, Any] = {}
    names: list[str] = []
    follows = False
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        if "setup" in request:
            namespace, names, follows = {"__name__": "__main__"}, request["variables"], False
            exec(textwrap.dedent(request["setup"]), namespace)
        else:
            spent.update(dict.fromkeys(spent, 0))
            started = time.monotonic()
            try:
                said = ask(request["question"], {name: namespace[name] for name in names}, follows)
            except Exception as failure:  # noqa: BLE001  (a peer that fails has given no answer)
                said = Said(error="".join(traceback.format_exception_only(failure)).strip()[:2000])
            follows = True
            answer = {
                **evidence(said.text, said.variables, [*said.figures, *figures_now(plt)]),
                "error": said.error,
                "programs": said.programs,
                "ran_at_once": said.ran_at_once,
                "parse_failures": said.parse_failures,
                "spent": {**spent, "seconds": time.monotonic() - started},
            }
            plt.close("all")
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def count_calls() -> dict[str, int]:
    """Tokens of all chat completions of this process, as the server counts them, from now on."""
    from openai.resources.chat.completions import Completions

    spent = {"calls": 0, "prompt_tokens": 0, "completion_tokens": 0, "cached_tokens": 0}
    create = Completions.create

    @functools.wraps(create)
    def counted(*arguments: Any, **options: Any) -> Any:
        reply = create(*arguments, **options)
        usage = reply.usage
        spent["calls"] += 1
        spent["prompt_tokens"] += usage.prompt_tokens
        spent["completion_tokens"] += usage.completion_tokens
        details = getattr(usage, "prompt_tokens_details", None)
        spent["cached_tokens"] += (getattr(details, "cached_tokens", 0) or 0) if details else 0
        return reply

    Completions.create = counted  # type: ignore[method-assign]
    return spent
