"""`%agent refine RUN text`: another version of a run's result, in its place; with a real kernel and sandbox."""

from __future__ import annotations

import pytest
from kernel_client import Kernel
from model_server import ModelServer, code

SUM = code("totals = df.groupby('city')['n'].sum()\ntotals")
TOP = code("df.groupby('city')['n'].sum().nlargest(1)")
QUESTION = "%%agent --vars df\nsum of n by city"
REFINED = "sum of n by city\nonly the largest"


def asked(kernel: Kernel, server: ModelServer) -> str:
    """The id of a run of the cell `question`."""
    server.script(SUM, "x")
    assert kernel.run(QUESTION, cell_id="question").error == ""
    return kernel.run_ids()[0]


def test_the_model_is_asked_the_whole_question_after_the_code_that_is_to_be_changed(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first = asked(kernel, model_server)
    model_server.script(TOP, "x")
    ran = kernel.run(f"%agent refine {first[:6]} only the largest")
    assert ran.error == ""
    assert "nlargest(1)" in ran.text
    said = [message["content"] for message in model_server.requests[0]["messages"]]
    assert "Task: sum of n by city" in said[1]
    assert "totals = df.groupby('city')['n'].sum()" in said[2]
    assert f"Task: {REFINED}" in said[3]


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_refined_run_has_the_cell_and_the_options_of_the_run_and_says_what_it_refines(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first = asked(kernel, model_server)
    kernel.run("other = df.copy()\nlargest = 'largest'")
    model_server.script(TOP, "x")
    assert kernel.run(f"%agent refine {first} only the {{{{largest}}}}", cell_id="elsewhere").error == ""
    second = kernel.run_ids()[0]
    request = kernel.record(second)["request"]
    assert (request["prompt"], request["cell_id"], request["selection"]) == (REFINED, "question", "--vars df")
    assert (request["refines"], request["refinement"]) == (first, "only the {{largest}}")
    assert kernel.record(first)["cell_state"] == "discarded", "its cells made room"
    assert kernel.record(second)["cell_state"] == "pending"


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_version_that_was_accepted_is_replayed_by_its_cell_although_a_later_one_was_put_aside(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first = asked(kernel, model_server)
    model_server.script(TOP, "x")
    kernel.run(f"%agent refine {first} only the largest")
    second = kernel.run_ids()[0]
    kernel.run(f"%agent accept {second}")
    model_server.script("never asked")
    again = kernel.run(f"%%agent --vars df\n{REFINED}", cell_id="question")
    assert "replayed, model not called" in again.text
    assert model_server.requests == []

    kernel.run(f"%agent discard {second}")
    kernel.run(f"%agent discard {kernel.run_ids()[0]}")
    kernel.run(f"%agent accept {first}")
    again = kernel.run(QUESTION, cell_id="question")
    assert "replayed, model not called" in again.text
    assert model_server.requests == []


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_result_that_was_accepted_stays_accepted_when_another_version_of_it_is_asked_for(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first = asked(kernel, model_server)
    kernel.run(f"%agent accept {first}")
    model_server.script(TOP, "x")
    assert kernel.run(f"%agent refine {first} only the largest").error == ""
    assert kernel.record(first)["cell_state"] == "accepted"


@pytest.mark.rare("another case of what a test beside it proves")
def test_code_that_goes_on_from_the_version_it_replaces_brings_that_versions_lines_along(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first = asked(kernel, model_server)
    model_server.script(code("totals.nlargest(1)"), "x")
    kernel.run(f"%agent refine {first} only the largest")
    assert kernel.record(kernel.run_ids()[0])["code"].split("\n") == [
        "totals = df.groupby('city')['n'].sum()",
        "totals.nlargest(1)",
    ]


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_refinement_that_cannot_be_asked_is_one_line_and_changes_nothing(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first = asked(kernel, model_server)
    asked_times = len(model_server.requests)
    for line, problem in (
        (f"refine {first}", "say what to change"),
        ("refine nosuchrun only the largest", "no run"),
        ("refine", "say what to change"),
    ):
        ran = kernel.run(f"%agent {line}")
        assert problem in ran.error
        assert len(model_server.requests) == asked_times
        assert kernel.record(first)["cell_state"] == "pending"


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_run_without_a_result_or_of_another_kernel_cannot_be_refined(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script("there is no code")
    kernel.run("%%agent --max-steps 1\nsum?", cell_id="question")
    failed = kernel.run_ids()[0]
    assert "has no result" in kernel.run(f"%agent refine {failed} as a table").error
    first = asked(kernel, model_server)
    kernel.run("%unload_ext jupyter_codeagent\n%load_ext jupyter_codeagent")
    assert "not made in this session" in kernel.run(f"%agent refine {first} as a table").error


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_refinement_that_fails_leaves_the_result_as_it_was(kernel: Kernel, model_server: ModelServer) -> None:
    first = asked(kernel, model_server)
    model_server.script("there is no code")
    ran = kernel.run(f"%agent refine {first} only the largest")
    assert ran.error != ""
    assert kernel.record(first)["cell_state"] == "pending"


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_request_that_was_stopped_before_it_began_sends_nothing(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first = asked(kernel, model_server)
    model_server.script(TOP)
    stopped = kernel.run(
        "from jupyter_codeagent.entrypoints.extension import _loaded as _sessions\n"
        "[(_session, *_)] = _sessions.values()\n"
        "_session.current_run.stop_early(get_ipython().kernel.get_parent()['header']['msg_id'])\n"
        f"get_ipython().run_line_magic('agent', 'refine {first} only the largest')"
    )
    assert "nothing was sent" in stopped.error
    assert model_server.requests == []
    assert kernel.run(f"%agent refine {first} only the largest").error == ""


def test_a_replayed_result_is_believed_as_far_as_it_was_the_first_time(
    kernel: Kernel, model_server: ModelServer
) -> None:
    model_server.script(code("df.head(2)['n'].sum()"))
    kernel.run("%%agent --vars df\nWhat is the total of n?", cell_id="question")
    kernel.run("%agent accept")
    first = kernel.record(kernel.run_ids()[0])
    assert (first["verdict"]["level"], first["assumptions"][0]["text"]) == ("doubtful", "only 2 of 3 rows")
    again = kernel.run("%%agent --vars df\nWhat is the total of n?", cell_id="question")
    assert "replayed, model not called" in again.text
    second = kernel.record(kernel.run_ids()[0])
    assert second["id"] != first["id"]
    assert [second[name] for name in ("verdict", "assumptions")] == [
        first[name] for name in ("verdict", "assumptions")
    ]
    assert [one["name"] for one in second["operations"]] == [one["name"] for one in first["operations"]]
