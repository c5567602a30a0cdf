"""Many notebooks at once on one machine and one history: each gets its own result, nothing is left."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from endurance.questions import ended, kernel_in, pid_of, read_history
from endurance.traces import Quarters, eventually, inner_processes, owned
from kernel_client import Kernel
from model_server import MODEL, ModelServer, Reply, code


@pytest.mark.parametrize(
    "notebooks",
    [3, pytest.param(10, marks=pytest.mark.rare("a minute of all processors; three of them at once are in CI"))],
)
@pytest.mark.long("takes its time")
def test_many_notebooks_at_once_get_their_own_results_and_leave_nothing(
    tmp_path: Path, quarters: Quarters, model_server: ModelServer, notebooks: int
) -> None:
    def total(_: dict[str, Any]) -> Reply:
        return Reply(text=code("import time\ntime.sleep(0.5)\nint((mine['n'] * 1000).sum())"), piece_s=0.01)

    model_server.choose = total
    environment = {"CODEAGENT_BASE_URL": model_server.url, **quarters.environment}
    with ExitStack() as stack:
        kernels = [stack.enter_context(kernel_in(tmp_path, environment)) for _ in range(notebooks)]
        for round_number in (1, 2):
            expected = {number: 1000 * (number + 100 * round_number) for number in range(notebooks)}
            for number, kernel in enumerate(kernels):
                made = kernel.run(f"mine = pd.DataFrame({{'n': [{number}, {100 * round_number}]}})")
                assert made.error == ""
            asked = [kernel.client.execute("%%agent --vars mine\nthe sum", allow_stdin=False) for kernel in kernels]
            for number, (kernel, message_id) in enumerate(zip(kernels, asked, strict=True)):
                ran = ended(kernel, message_id)
                assert ran.error == ""
                assert str(expected[number]) in ran.text.split()
                assert not any(
                    str(other) in ran.text.split() for other in {*expected.values()} - {expected[number]}
                )
        assert_all_have_their_own(kernels, quarters)
    quarters.assert_empty()
    runs = read_history(tmp_path / "data")
    assert [run.status for run in runs] == ["ok"] * 2 * notebooks
    assert {run.request.model for run in runs} == {MODEL}
    assert not any((tmp_path / "data" / "codeagent" / "history.sqlite-writers").iterdir())


def assert_all_have_their_own(kernels: list[Kernel], quarters: Quarters) -> None:
    """Copies, sandbox and spare of each kernel; none of them removed by the start of another."""
    for kernel in kernels:
        assert eventually(lambda kernel=kernel: len(inner_processes(pid_of(kernel))) == 2, within_s=30)  # type: ignore[misc]
    assert eventually(lambda: len(quarters.directories()) == 2 * len(kernels), within_s=30)
    held = [owned(pid_of(kernel)) for kernel in kernels]
    assert [len(directories) for directories in held] == [3] * len(kernels)
    assert len(set().union(*held)) == 3 * len(kernels)
