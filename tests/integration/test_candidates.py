"""`--candidates K` in a real kernel: each program in a sandbox of its own, the result most agree on is offered."""

from __future__ import annotations

import json

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code

WRONG = code("df['n'] = 0\nprint(df['n'].sum() + 1)")
RIGHT = code("print(df['n'].sum())")
ALSO_RIGHT = code("total = int(df.n.sum())\nprint(float(total))")


def test_the_result_that_most_candidates_found_is_offered(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(WRONG, RIGHT, ALSO_RIGHT)
    record = json.loads(kernel.ask("the sum of n", "--candidates 3 --json").text)
    assert record["status"] == "ok"
    assert record["code"] == "print(df['n'].sum())"
    assert record["outputs"][0]["text"] == "7\n"
    assert "2 of 3 candidates found this result; 1 found 1" in record["notes"]
    assert len(record["steps"]) == 4  # three candidates, and the chosen one in the notebook's own sandbox
    temperatures = [request["temperature"] for request in model_server.requests]
    assert temperatures[0] == 0.0
    assert temperatures[1] > 0


@pytest.mark.rare("another case of what a test beside it proves")
def test_all_programs_but_the_first_are_one_request_where_the_server_can_do_it(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.several = "llama.cpp"
    model_server.script(WRONG, RIGHT, ALSO_RIGHT)
    record = json.loads(kernel.ask("the sum of n", "--candidates 3 --json").text)
    assert "2 of 3 candidates found this result; 1 found 1" in record["notes"]
    assert [request.get("n") for request in model_server.requests] == [None, 2]
    assert record["usage"]["calls"] == 2


@pytest.mark.rare("another case of what a test beside it proves")
def test_candidates_see_the_variables_of_earlier_runs_and_not_those_of_each_other(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("before = 41\nbefore"), "x")
    assert kernel.ask("remember").error == ""
    mine = code("print(before + 1, 'other' in globals())\nother = 1")
    model_server.script(mine, mine)
    record = json.loads(kernel.ask("use it", "--candidates 2 --json").text)
    assert record["outputs"][0]["text"] == "42 False\n"
    assert "2 of 2 candidates found this result" in record["notes"]


@pytest.mark.rare("another case of what a test beside it proves")
def test_where_every_candidate_fails_the_run_fails_with_one_line(kernel: Kernel, model_server: ModelServer) -> None:
    model_server.script(code("1 / 0"))
    ran = kernel.ask("the sum", "--candidates 2 --max-steps 1")
    assert ran.error.startswith("RunFailedError")
    assert "ZeroDivisionError" in ran.error
