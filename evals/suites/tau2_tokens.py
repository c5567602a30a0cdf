"""Tokens of tau2's golden programs: stubs against JSON schemas, one program against one turn for each call.

Counted by the embedded model's server: its own template of messages, tools, calls and results, its own tokenizer.
Both ways get the domain's policy and the customer's request. Turn by turn, each call and its whole result become
part of every later prompt. The program's call is ours as users have it, with our own instructions.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.tokens import count_tokens, posted
from evals.suites.tau2 import DOMAINS, GoldenTask, environment_module, program_of, tools_of
from jupyter_codeagent.agent.prompt.conversation import fenced
from jupyter_codeagent.agent.prompt.system import first_messages
from jupyter_codeagent.models.embedded.launcher import TRANSPORT_VARIABLE, RunningServer, start_embedded
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.tools.object_fields import unfolded
from jupyter_codeagent.tools.prompt_lines import HEADING, functions_text
from jupyter_codeagent.types.tagged_text import TaggedText

END_OF_TURN = 1
"""The token with which the model ends its turn."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    prompt: int
    generated: int
    round_trips: int


class Counter:
    """Asks the server how many tokens something is."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server

    def text(self, text: str) -> int:
        return count_tokens(text, self._server)

    def prompt(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> int:
        """Up to where the model begins to write."""
        body = {"messages": messages} | ({"tools": tools} if tools else {})
        return self.text(str(posted("/apply-template", body, self._server)["prompt"]))


def token_table(tasks: Sequence[GoldenTask]) -> str:
    """Definitions, then medians and sums over the tasks that have calls."""
    os.environ[TRANSPORT_VARIABLE] = "tcp"
    counter = Counter(asyncio.run(start_embedded(ModelSettings())))
    lines = [f"{'definitions':<18}{'JSON schemas':>14}{'stubs':>8}{'in prompt':>11}"]
    costs: dict[str, list[tuple[Cost, Cost]]] = {}
    for domain in DOMAINS:
        environment = environment_module(domain).get_environment()
        schemas = [tool.openai_schema for tool in environment.get_tools()]
        stubs = functions_text([tool.stub for tool in tools_of(environment).values()])
        as_json = counter.text("\n".join(map(json.dumps, schemas)))
        written = counter.text(stubs.removeprefix(HEADING).strip())
        question = [{"role": "system", "content": "policy"}, {"role": "user", "content": "request"}]
        with_schemas = counter.prompt(question, schemas) - counter.prompt(question)
        lines.append(f"{domain:<18}{as_json:>14}{written:>8}{with_schemas:>11}")
        costs[domain] = [
            (
                turn_by_turn(task, schemas, environment.get_policy(), counter),
                as_program(task, stubs, environment.get_policy(), counter),
            )
            for task in tasks
            if task.domain == domain and task.calls
        ]
    lines.append(
        f"\n{'a task (median)':<18}{'turns':>7}{'program':>9}{'generated':>20}{'prompts':>20}"
        f"{'all generated':>15}{'all prompts':>13}"
    )
    for domain, found in costs.items():
        classic, program = ([pair[index] for pair in found] for index in (0, 1))
        generated = f"{_middle(classic, 'generated')} -> {_middle(program, 'generated')}"
        prompts = f"{_middle(classic, 'prompt')} -> {_middle(program, 'prompt')}"
        lines.append(
            f"{domain:<18}{_middle(classic, 'round_trips'):>7}{_middle(program, 'round_trips'):>9}{generated:>20}"
            f"{prompts:>20}{_change(classic, program, 'generated'):>14}%{_change(classic, program, 'prompt'):>12}%"
        )
    return "\n".join(lines)


def turn_by_turn(task: GoldenTask, schemas: Sequence[Mapping[str, Any]], policy: str, counter: Counter) -> Cost:
    """One call of the model for each call of a tool, each with everything before it. Without the final answer."""
    environment = environment_module(task.domain).get_environment()
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": policy},
        {"role": "user", "content": task.request},
    ]
    prompt = generated = 0
    for number, call in enumerate(task.calls):
        prompt += counter.prompt(messages, schemas)
        written = json.dumps({"name": call.name, "arguments": call.arguments})
        generated += counter.text(f"<tool_call>\n{written}\n</tool_call>") + END_OF_TURN
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        as_call = {"id": str(number), "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [as_call]})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": _result(environment, call)})
    return Cost(prompt=prompt, generated=generated, round_trips=len(task.calls))


def as_program(task: GoldenTask, stubs: str, policy: str, counter: Counter) -> Cost:
    """One call of the model."""
    messages = [
        {"role": message.role, "content": message.content}
        for message in first_messages(TaggedText(stubs), f"{policy}\n\n{task.request}")
    ]
    generated = counter.text(fenced(program_of(task))) + END_OF_TURN
    return Cost(prompt=counter.prompt(messages), generated=generated, round_trips=1)


def _result(environment: Any, call: Any) -> str:
    try:
        return json.dumps(unfolded(environment.tools.use_tool(call.name, **call.arguments)), default=str)
    except Exception as problem:  # noqa: BLE001  (calls that fail by design are part of the benchmark)
        return f"Error: {problem}"


def _middle(costs: Sequence[Cost], what: str) -> int:
    return round(statistics.median(_of(cost, what) for cost in costs))


def _change(classic: Sequence[Cost], program: Sequence[Cost], what: str) -> str:
    before, after = (sum(_of(cost, what) for cost in costs) for costs in (classic, program))
    return f"{100 * (after - before) / before:+.0f}"


def _of(cost: Cost, what: str) -> int:
    return int(getattr(cost, what))
