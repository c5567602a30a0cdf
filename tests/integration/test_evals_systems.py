"""The evaluation asks as a user asks: a real kernel and sandbox, and a peer's process, on a scripted server."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from model_server import ModelServer, code

from evals.suites.own import own_tasks
from evals.systems.ours import Ours
from evals.systems.peer import Peer
from jupyter_codeagent.models.embedded.launcher import RunningServer

TASK = next(task for task in own_tasks() if task.id == "penguins-mass-by-species")


def at(server: ModelServer) -> RunningServer:
    return RunningServer(base_url=server.url, api_key="none", model="scripted", pid=0)


def test_ours_is_asked_in_a_live_kernel_and_judged_by_what_the_sandbox_showed(
    tmp_path: Path, model_server: ModelServer
) -> None:
    first, second = TASK.turns
    with closing(Ours(tmp_path, at(model_server))) as ours:
        ours.begin(TASK)
        model_server.script("no code at all", code(first.reference))
        answer = ours.ask(first.question)
        assert not first.check(answer.evidence), answer
        assert (answer.ran_at_once, answer.parse_failures, answer.spent.calls) == (False, 1, 2)
        assert answer.spent.prompt_tokens > 100
        model_server.script(code(second.reference), "Fine.")
        answer = ours.ask(second.question)
        assert not second.check(answer.evidence), answer
        assert answer.evidence.figures
        assert "average body mass" in str(model_server.requests[0]["messages"]), (
            "a follow-up knows what came before"
        )
        ours.begin(TASK)
        model_server.script(code("penguins.groupby('species').body_mass_g.median()"), "Fine.")
        assert first.check(ours.ask(first.question).evidence)
        assert "bar chart" not in str(model_server.requests[0]["messages"]), "each task begins anew"


@pytest.mark.rare("another case of what a test beside it proves")
def test_replies_that_were_kept_are_given_again_and_the_server_is_not_asked(
    tmp_path: Path, model_server: ModelServer
) -> None:
    [first, _] = TASK.turns
    replies = tmp_path / "replies.jsonl"
    for scripted in ([code(first.reference)], []):
        model_server.script(*scripted)
        with closing(Ours(tmp_path, at(model_server), replies=replies)) as ours:
            ours.begin(TASK)
            answer = ours.ask(first.question)
        assert not first.check(answer.evidence), answer
        assert answer.spent.calls == 1
        assert len(model_server.requests) == len(scripted)


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_peer_is_asked_in_a_process_of_its_own_and_what_it_spends_is_counted(model_server: ModelServer) -> None:
    first, second = TASK.turns
    with closing(Peer("one-shot", at(model_server))) as peer:
        peer.begin(TASK)
        model_server.script(code(first.reference))
        answer = peer.ask(first.question)
        assert not first.check(answer.evidence), answer
        assert (answer.spent.calls, answer.ran_at_once) == (1, True)
        assert answer.spent.prompt_tokens > 0
        model_server.script(code(second.reference))
        answer = peer.ask(second.question)
        assert not second.check(answer.evidence), answer
        model_server.script(code("open('/tmp/written-by-a-peer', 'w')"))
        assert "Read-only file system" in peer.ask("Write a file.").error
        model_server.script("I cannot.")
        assert peer.ask("What?").parse_failures == 1
