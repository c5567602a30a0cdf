"""The sandbox of a notebook: one that has died unnoticed is replaced before it is used."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from jupyter_codeagent.sandbox.persistent import PersistentSandbox
from jupyter_codeagent.sandbox.protocol import Sandbox
from jupyter_codeagent.types.errors import SandboxDiedError
from jupyter_codeagent.types.sandbox import ExecutionResult, NamespaceEntry, SandboxStatus
from jupyter_codeagent.types.variables import Manifest


class Double:
    """Takes copies, or dies of them."""

    status = SandboxStatus(level="bubblewrap", closed=(), open=(), limits=())

    def __init__(self, *, dies: bool) -> None:
        self.alive = True
        self.stopped = False
        self._dies = dies

    async def load(self, *_: Any) -> None:
        if self._dies:
            self.alive = False
            raise SandboxDiedError("The sandbox is gone.")

    async def execute(self, *_: Any, **__: Any) -> ExecutionResult:
        return ExecutionResult(status="ok", namespace=(NamespaceEntry(name="made", type_name="int"),))

    async def keep(self) -> None:
        self.alive = False
        raise SandboxDiedError("The sandbox is gone.")

    async def stop(self) -> None:
        self.stopped = True


class Pool:
    def __init__(self, *sandboxes: Double) -> None:
        self.waiting = list(sandboxes)

    async def take(self) -> Sandbox:
        return cast("Sandbox", self.waiting.pop(0))


def test_a_sandbox_that_died_before_anybody_noticed_is_replaced_by_the_next() -> None:
    dead, living = Double(dies=True), Double(dies=False)
    pool = Pool(dead, living)
    assert asyncio.run(PersistentSandbox(pool).prepare(Manifest())) == living.status
    assert dead.stopped
    assert not living.stopped


def test_copies_that_every_sandbox_dies_of_are_tried_twice_and_no_more() -> None:
    pool = Pool(*(Double(dies=True) for _ in range(3)))
    with pytest.raises(SandboxDiedError):
        asyncio.run(PersistentSandbox(pool).prepare(Manifest()))
    assert len(pool.waiting) == 1


def test_a_sandbox_that_dies_as_an_attempt_begins_is_replaced_and_the_attempt_runs() -> None:
    async def main() -> None:
        dying, next_one = Double(dies=False), Double(dies=False)
        sandbox = PersistentSandbox(Pool(dying, next_one))
        await sandbox.execute("made = 1", timeout_s=1)
        sandbox.keep_changes()
        assert (await sandbox.execute("made", timeout_s=1)).status == "ok"
        assert (dying.stopped, next_one.stopped, sandbox.lost) == (True, False, 1)

    asyncio.run(main())
