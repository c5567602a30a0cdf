"""`%%agent --from RUN`: a question goes on from an earlier result, with the sandbox as it was then."""

from __future__ import annotations

import json

from kernel_client import Kernel, Ran
from model_server import ModelServer, code

SEEN = code("print(sorted(name for name in ('totals', 'ranked', 'largest') if name in globals()), len(df))")


def asked(
    kernel: Kernel, server: ModelServer, prompt: str, reply: str, options: str = "--vars df", cell_id: str = ""
) -> tuple[str, Ran]:
    """Ask in a cell of its own; the id of the run, and what the cell showed."""
    server.script(reply, "x")
    ran = kernel.run(f"%%agent {options}\n{prompt}", cell_id=cell_id or f"cell-of-{prompt.replace(' ', '-')}")
    assert ran.error == ""
    return kernel.run_ids()[0], ran


def told(server: ModelServer) -> str:
    """The messages of the first request of the last question."""
    return json.dumps(server.requests[0]["messages"])


def three_questions(kernel: Kernel, server: ModelServer) -> tuple[str, str, str]:
    first, _ = asked(kernel, server, "sum by city", code("totals = df.groupby('city')['n'].sum()\ntotals"))
    second, _ = asked(kernel, server, "ranked please", code("ranked = totals.rank()\nranked"))
    third, _ = asked(
        kernel, server, "add a row", code("df.loc[len(df)] = ['Bonn', 9]\nlargest = df.n.max()\nlargest")
    )
    return first, second, third


def test_ask_from_here_has_conversation_and_sandbox_as_they_were_then(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first, _, _ = three_questions(kernel, model_server)
    run_id, ran = asked(kernel, model_server, "what is there", SEEN, f"--vars df --from {first}")
    assert "['totals'] 3" in ran.text, "neither a variable nor a row of what came after it"
    assert "sum by city" in told(model_server)
    assert "ranked please" not in told(model_server)
    assert "went back to" not in ran.text, "it did what was asked: a detail"
    named = {one["codeagent"]["run_id"] for one in ran.metadata if "codeagent" in one}
    assert named == {run_id}, "a page looks for the run of an output: no program that runs again has a record"
    assert kernel.record(run_id)["request"]["follows"] == first
    assert kernel.record(run_id)["notes"][0] == "went back to “sum by city”"

    _, ran = asked(kernel, model_server, "and now", SEEN)
    assert "what is there" in told(model_server), "the next question goes on in the branch"
    assert "['totals'] 3" in ran.text


def test_going_back_and_forth_between_branches_loses_nothing(kernel: Kernel, model_server: ModelServer) -> None:
    first, second, _ = three_questions(kernel, model_server)
    asked(
        kernel,
        model_server,
        "largest city",
        code("largest = totals.idxmax()\nlargest"),
        f"--from {first} --vars df",
    )
    _, ran = asked(kernel, model_server, "the other thread", SEEN, f"--from {second} --vars df")
    assert "['ranked', 'totals'] 3" in ran.text
    newest, ran = asked(kernel, model_server, "go on", SEEN)
    assert "['ranked', 'totals'] 3" in ran.text
    assert kernel.run("print(len(df), 'totals' in globals())").text == "3 False\n", "nothing of it is in the kernel"
    assert "went back to" not in str(kernel.record(newest)["notes"]), "the sandbox stood there"


def test_a_question_that_failed_in_a_branch_leaves_the_next_one_where_the_newest_result_is(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first, _, _ = three_questions(kernel, model_server)
    model_server.script(code("1 / 0"))
    assert kernel.run(f"%%agent --from {first} --max-steps 1\nfail", cell_id="failing").error
    model_server.requests.clear()
    _, ran = asked(kernel, model_server, "what is there", SEEN)
    assert "ranked please" in told(model_server)
    assert "['largest', 'ranked', 'totals'] 4" in ran.text


def test_a_branch_is_replayed_from_the_record_after_its_question_was(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first, _ = asked(kernel, model_server, "sum by city", code("totals = df.groupby('city')['n'].sum()\ntotals"))
    asked(kernel, model_server, "ranked please", code("ranked = totals.rank()\nranked"))
    options = f"--vars df --from {first}"
    asked(kernel, model_server, "largest city", code("largest = totals.idxmax()\nlargest"), options, "branch")
    model_server.script("never asked")
    for cell_id, words in (
        ("cell-of-sum-by-city", "--vars df\nsum by city"),
        ("branch", f"{options}\nlargest city"),
    ):
        again = kernel.run(f"%%agent {words}", cell_id=cell_id)
        assert again.error == ""
        assert "replayed, model not called" in again.text
    assert model_server.requests == []


def test_a_change_that_the_user_kept_is_not_made_twice(kernel: Kernel, model_server: ModelServer) -> None:
    change = "df['n'] = df['n'] * 10"
    first, _ = asked(kernel, model_server, "multiply n by ten in df", code(f"{change}\ndf"))
    assert kernel.run(f"%agent accept {first}").error == ""
    kernel.run(change)
    asked(kernel, model_server, "something else", code("other = 1\nother"))
    _, ran = asked(kernel, model_server, "sum", code("print(df['n'].sum())"), f"--vars df --from {first}")
    assert "70" in ran.text


def test_what_cannot_be_run_again_is_said(kernel: Kernel, model_server: ModelServer) -> None:
    kernel.run("def price(city): return 2\n")
    kernel.run("%agent tool add price auto")
    first, _ = asked(kernel, model_server, "price of Oslo with price", code("cost = price('Oslo')\ncost"))
    asked(kernel, model_server, "something else", code("other = 1\nother"))
    _, ran = asked(kernel, model_server, "is it there", code("print('cost' in globals())"), f"--from {first}")
    assert "False" in ran.text
    assert "“price of Oslo with price” was not run again: it calls a function of yours (price)" in ran.text


def test_a_run_that_is_not_there_is_one_line_and_nothing_is_sent(kernel: Kernel, model_server: ModelServer) -> None:
    for options, problem in (("--from nosuchrun", "no run"), ("--new --from abc", "only one of them")):
        ran = kernel.ask("sum", options)
        assert problem in ran.error
    assert model_server.requests == []


def test_a_dry_run_of_a_branch_shows_its_conversation_and_leaves_the_sandbox_where_it_is(
    kernel: Kernel, model_server: ModelServer
) -> None:
    first, _, _ = three_questions(kernel, model_server)
    ran = kernel.run(f"%%agent --dry-run --vars df --from {first}\nwhat now")
    assert "sum by city" in ran.text
    assert "totals: Series" in ran.text
    assert "ranked" not in ran.text
    _, ran = asked(kernel, model_server, "what is there", SEEN)
    assert "['largest', 'ranked', 'totals'] 4" in ran.text
