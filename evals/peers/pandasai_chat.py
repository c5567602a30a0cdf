"""PandasAI's `Agent`, with the model behind its own interface for models.

`evals.systems.peer` starts it. It runs what the model wrote in its own process.
It writes charts and logs into the working directory, which is read-only behind the walls: it gets one of its own.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pandasai
from openai import OpenAI
from pandasai.agent.state import AgentState
from pandasai.core.prompts.base import BasePrompt
from pandasai.llm.base import LLM

from evals.facts import figures_now
from evals.peers.speaking import Said, serve, server

MAX_TOKENS = 1024


class ServedModel(LLM):
    """Any server that speaks the OpenAI protocol."""

    def __init__(self, url: str, key: str, model: str) -> None:
        super().__init__()
        self._client = OpenAI(base_url=url, api_key=key)
        self._model = model

    @property
    def type(self) -> str:
        return "served"

    def call(self, instruction: BasePrompt, context: AgentState | None = None) -> str:
        memory = context.memory if context is not None else None
        prompt = self.prepend_system_prompt(instruction.to_string(), memory)
        reply = self._client.chat.completions.create(
            model=self._model,
            messages=[{"role": "user", "content": prompt}],
            temperature=0,
            max_tokens=MAX_TOKENS,
        )
        return reply.choices[0].message.content or ""


def main() -> None:
    os.chdir(tempfile.mkdtemp())
    pandasai.config.set({"llm": ServedModel(*server()), "save_logs": False, "verbose": False})
    agents: list[Any] = []
    figures: list[dict[str, Any]] = []
    _keep_figures(figures)

    def ask(question: str, variables: dict[str, Any], follows: bool) -> Said:
        if not follows:
            frames = [_named(name, value) for name, value in variables.items() if isinstance(value, pd.DataFrame)]
            agents[:] = [pandasai.Agent(frames)]
        [agent] = agents
        figures.clear()
        answer = agent.follow_up(question) if follows else agent.chat(question)
        failed = type(answer).__name__ == "ErrorResponse"
        code = str(getattr(answer, "last_code_executed", "") or "")
        value = getattr(answer, "value", answer)
        return Said(
            text=str(value),
            error=str(value)[:500] if failed else "",
            programs=[code] if code else [],
            ran_at_once=not failed,
            variables={"result": value},
            figures=list(figures),
        )

    serve(ask)


def _named(name: str, frame: pd.DataFrame) -> Any:
    named = pandasai.DataFrame(frame)
    named._table_name = name  # its own names are digests, which a question cannot speak of
    return named


def _keep_figures(figures: list[dict[str, Any]]) -> None:
    """Its programs save a plot to a file and close it: what stands in it is read before."""
    save = plt.savefig

    def savefig(*arguments: Any, **options: Any) -> None:
        figures.extend(figures_now(plt))
        save(*arguments, **options)

    plt.savefig = savefig


if __name__ == "__main__":
    main()
