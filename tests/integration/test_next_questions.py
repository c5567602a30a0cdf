"""Questions below a result: found behind it, tried in a spare sandbox, answered without a model; a real kernel."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import psutil
import pytest
from kernel_client import Kernel
from model_server import ModelServer

SHOP = """
import numpy as np, pandas as pd
rng = np.random.default_rng(7)
n = 900
shop = pd.DataFrame({
    "region": rng.choice(["north", "south", "west"], n),
    "size": rng.choice(["small", "large"], n),
    "visits": rng.poisson(20, n),
    "email": [f"canary{i}@example.com" for i in range(n)],
    "profit": rng.normal(71423.0, 1.0, n),
    "day": pd.date_range("2025-01-01", periods=n, freq="8h"),
})
shop["sales"] = rng.normal(100, 10, n) + 12 * (shop["region"] == "south")
"""
BY_REGION = "```python\nshop.groupby('region')['sales'].mean()\n```"
RECORDS = """
import json
from jupyter_codeagent.entrypoints import extension
session = next(iter(extension._loaded.values()))[0]
print(json.dumps([
    [run.request.prompt, list(run.next_questions), run.request.model, list(run.notes), run.status]
    for run in session.run_log.recent
]))
"""
STATE = """
from jupyter_codeagent.entrypoints import extension
session = next(iter(extension._loaded.values()))[0]
print("SEARCHING", session.next_questions._task is not None and not session.next_questions._task.is_done)
"""
CELL = "here"  # as JupyterLab sends it: somebody may press a button


def records(kernel: Kernel) -> dict[str, list[str]]:
    """Return the questions that were offered below each prompt."""
    return {prompt: offered for prompt, offered, *_ in json.loads(kernel.run(RECORDS).text)}


def wait_for(kernel: Kernel, done: Callable[[dict[str, list[str]]], bool]) -> dict[str, list[str]]:
    until = time.monotonic() + 60
    while not done(found := records(kernel)):
        assert time.monotonic() < until, found
        time.sleep(0.3)
    return found


def wait_until_searched(kernel: Kernel) -> None:
    until = time.monotonic() + 60
    while "SEARCHING False" not in kernel.run(STATE).text:
        assert time.monotonic() < until
        time.sleep(0.3)


def ask(kernel: Kernel, prompt: str, options: str = "", cell_id: str = CELL) -> str:
    ran = kernel.run(f"%%agent {options}\n{prompt}", cell_id=cell_id)
    assert ran.error == ""
    return ran.text


def test_a_result_gets_questions_and_pressing_one_answers_it_without_a_model(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(SHOP)
    model_server.script(BY_REGION)
    ask(kernel, "mean sales by region", "--vars shop")
    offered = wait_for(kernel, lambda found: any(found.values()))["mean sales by region"]
    assert 1 <= len(offered) <= 3
    assert "How does sales differ by region in shop?" not in offered, "the result has shown that"
    assert any("sales" in question for question in offered)
    assert f"Next: {' · '.join(offered)}" in kernel.run("%agent show").text
    sent = len(model_server.requests)
    for place, question in enumerate(offered):
        text = ask(kernel, question, cell_id=f"next-{place}")
        assert "nothing sent" in text
        assert "written from a template" in text
    assert len(model_server.requests) == sent
    answered = {prompt: (model, status) for prompt, _, model, _, status in json.loads(kernel.run(RECORDS).text)}
    assert {answered[question] for question in offered} == {("no model", "ok")}


def test_a_table_of_polars_gets_questions_that_are_answered_in_polars(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(f"{SHOP}import polars as pl\nshop = pl.from_pandas(shop)")
    model_server.script("```python\nshop.group_by('region').agg(pl.col('sales').mean())\n```")
    ask(kernel, "mean sales by region", "--vars shop")
    offered = wait_for(kernel, lambda found: any(found.values()))["mean sales by region"]
    sent = len(model_server.requests)
    for place, question in enumerate(offered):
        assert "nothing sent" in ask(kernel, question, cell_id=f"next-{place}")
    assert len(model_server.requests) == sent


def test_findings_get_questions_that_no_finding_has_answered(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run(SHOP)
    assert kernel.run("%agent explore shop", cell_id=CELL).error == ""
    wait_until_searched(kernel)
    found = {prompt: offered for prompt, offered in records(kernel).items() if prompt.startswith("explore")}
    assert all(1 <= len(offered) <= 3 for offered in found.values()), found
    everything = [question for offered in found.values() for question in offered]
    assert len(everything) == len(set(everything)), "none stands twice"
    assert "How does sales differ by region in shop?" not in everything
    text = ask(kernel, everything[0], cell_id="next")
    assert "nothing sent" in text
    assert model_server.requests == []


def test_hidden_and_personal_columns_are_in_no_question_and_in_no_answer(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(SHOP)
    kernel.run("%agent hide shop[profit]")
    model_server.script(BY_REGION)
    ask(kernel, "mean sales by region", "--vars shop")
    kernel.run("%agent explore shop", cell_id="explored")
    wait_until_searched(kernel)
    everything = [question for offered in records(kernel).values() for question in offered]
    assert everything
    for question in everything:
        assert "profit" not in question
        assert "email" not in question
        text = ask(kernel, question, cell_id="next")
        assert "canary" not in text
        assert "71423" not in text


def test_the_next_run_stops_the_search_and_no_sandbox_is_left(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run(SHOP)
    for place in range(4):
        model_server.script(BY_REGION)
        ask(kernel, f"mean sales by region {place}", "--vars shop", cell_id=f"cell-{place}")
    assert "SEARCHING True" in kernel.run(STATE).text
    assert sandboxes(kernel) >= 1, "the notebook's own"
    kernel.run("%agent reset")
    wait_until_searched(kernel)
    assert not any(records(kernel).values())
    until = time.monotonic() + 60
    while sandboxes(kernel) > 1:  # one is kept warm, where the machine was fast enough to start it
        assert time.monotonic() < until, sandboxes(kernel)
        time.sleep(0.5)


def sandboxes(kernel: Kernel) -> int:
    """Return how many sandboxes run below the kernel."""
    children = psutil.Process(kernel.pid).children(recursive=True)
    return sum(any(word.endswith("serve.py") for word in child.cmdline()[1:5]) for child in children)


@pytest.mark.parametrize("setting", ["%config CodeAgent.next_questions = False", ""])
def test_nothing_is_offered_where_it_is_switched_off_or_nobody_can_press(
    kernel: Kernel, model_server: ModelServer, setting: str
) -> None:
    kernel.run(SHOP + setting)
    model_server.script(BY_REGION)
    kernel.run("%%agent --vars shop\nmean sales by region", cell_id=CELL if setting else None)
    wait_until_searched(kernel)
    assert records(kernel) == {"mean sales by region": []}


def test_a_program_that_fails_on_other_data_hands_the_question_to_the_model(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(SHOP)
    model_server.script(BY_REGION)
    ask(kernel, "mean sales by region", "--vars shop")
    question = wait_for(kernel, lambda found: any(found.values()))["mean sales by region"][0]
    kernel.run("shop = shop[['region']]")
    model_server.script("```python\nlen(shop)\n```")
    sent = len(model_server.requests)
    assert "written from a template" not in ask(kernel, question, cell_id="next")
    assert len(model_server.requests) > sent
    statuses = [(one[4], one[2]) for one in json.loads(kernel.run(RECORDS).text) if one[0] == question]
    assert [status for status, _ in statuses] == ["failed", "ok"]


def test_a_question_with_options_is_asked_of_the_model(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run(SHOP)
    model_server.script(BY_REGION)
    ask(kernel, "mean sales by region", "--vars shop")
    question = wait_for(kernel, lambda found: any(found.values()))["mean sales by region"][0]
    model_server.script("```python\nlen(shop)\n```")
    sent = len(model_server.requests)
    ask(kernel, question, "--sample 100", cell_id="next")
    assert len(model_server.requests) > sent


def test_asked_again_in_the_same_cell_a_kept_answer_stays_alone(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run(SHOP)
    model_server.script(BY_REGION)
    ask(kernel, "mean sales by region", "--vars shop")
    question = wait_for(kernel, lambda found: any(found.values()))["mean sales by region"][0]
    ask(kernel, question, cell_id="next")
    kernel.run("%agent accept")
    text = ask(kernel, question, cell_id="next")
    assert "replayed, model not called" in text
