"""smolagents' CodeAgent, as its documentation sets it up.

`evals.systems.peer` starts it.
"""

from __future__ import annotations

from typing import Any

from smolagents import ActionStep, CodeAgent, LogLevel, OpenAIServerModel

from evals.peers.speaking import Said, serve, server

MAX_STEPS = 5
"""Its own default is 20; ours takes 4 calls and one for the sentence."""
IMPORTS = ["pandas", "numpy", "matplotlib.*", "scipy.*", "sklearn.*", "statsmodels.*", "polars"]


def main() -> None:
    url, key, model = server()
    served = OpenAIServerModel(model_id=model, api_base=url, api_key=key, temperature=0, max_tokens=1024)
    agents: list[CodeAgent] = []

    def ask(question: str, variables: dict[str, Any], follows: bool) -> Said:
        if not follows:
            agents[:] = [
                CodeAgent(
                    tools=[],
                    model=served,
                    additional_authorized_imports=IMPORTS,
                    max_steps=MAX_STEPS,
                    verbosity_level=LogLevel.OFF,
                )
            ]
        [agent] = agents
        before = len(agent.memory.steps) if follows else 0
        final = agent.run(question, reset=not follows, additional_args=None if follows else dict(variables))
        return _said(final, agent, before)

    serve(ask)


def _said(final: Any, agent: CodeAgent, before: int) -> Said:
    steps = [step for step in agent.memory.steps[before:] if isinstance(step, ActionStep)]
    programs = [step.code_action for step in steps if step.code_action]
    shown = [step.observations for step in steps if step.observations]
    unread = [step for step in steps if step.error is not None and not step.code_action]
    limit = bool(steps) and type(steps[-1].error).__name__ == "AgentMaxStepsError"
    return Said(
        text="\n".join([*shown, str(final)]),
        error="no answer within its steps" if limit else "",
        programs=programs,
        ran_at_once=bool(steps) and steps[0].error is None,
        parse_failures=len(unread) - limit,
        variables=dict(getattr(agent.python_executor, "state", {})),
    )


if __name__ == "__main__":
    main()
