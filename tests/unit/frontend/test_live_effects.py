"""What code would do to the names of a kernel, looked up where and while that is possible."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pandas as pd
import pytest

from jupyter_codeagent.frontend.approvals import live_effects
from jupyter_codeagent.frontend.approvals.live_effects import LiveEffects
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.types.approvals import Effects, NamedValue, Proposal, ProposalKind
from jupyter_codeagent.variables.user_namespace import UserNamespace


@pytest.fixture
def background() -> Iterator[BackgroundLoop]:
    made = BackgroundLoop()
    yield made
    made.close()


def effects_in(background: BackgroundLoop) -> LiveEffects:
    def display() -> None:
        raise NotImplementedError

    names: dict[str, Any] = {"df": pd.DataFrame({"n": [1]}), "_private": [1], "display": display}
    shell = SimpleNamespace(user_ns=names, user_ns_hidden={"display": display})
    return LiveEffects(UserNamespace(cast("Any", shell)), background)


def test_names_are_looked_up_on_the_main_thread_private_ones_as_well(background: BackgroundLoop) -> None:
    effects: Effects = background.run(effects_in(background).of("_private = df\ndisplay = gone", in_kernel=True))
    assert effects.reads == (NamedValue(name="df", what="DataFrame 1x1"),)
    assert effects.overwrites == (
        NamedValue(name="_private", what="list of 1"),
        NamedValue(name="display", what="part of the notebook itself"),
    )
    assert effects.missing == ("gone",)


def test_while_a_cell_keeps_the_main_thread_it_is_said_that_nothing_could_be_looked_up(
    background: BackgroundLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_effects, "LOOK_S", 0.05)
    task = background.submit(effects_in(background).of("df = 1", in_kernel=True))
    assert task.wait(30)  # nobody serves the main thread's calls
    effects = task.result()
    assert effects.overwrites == ()
    assert "busy" in effects.unclear[0]


@pytest.mark.parametrize(("kind", "looks"), [("run", True), ("apply", True), ("overwrite", False)])
def test_only_code_has_effects(background: BackgroundLoop, kind: ProposalKind, looks: bool) -> None:
    proposal = Proposal(id="p", run_id="r", kind=kind, code="df", note="")
    effects = background.run(effects_in(background).of_proposal(proposal))
    assert (effects is not None) is looks
