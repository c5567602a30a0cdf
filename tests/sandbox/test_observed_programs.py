"""What programs do to rows, as a real sandbox reports it, and what is said where it gives no report."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
from sandbox_box import Box

from jupyter_codeagent.sandbox.kernel import NO_REPORT, SandboxKernel
from jupyter_codeagent.types.sandbox import SandboxPolicy

FRAME = "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2, 3]})"


@pytest.fixture
def box(loop_thread: Callable[[Coroutine[Any, Any, Any]], Any], tmp_path: Path) -> Iterator[Box]:
    kernel = loop_thread(SandboxKernel.start(policy=SandboxPolicy(), data_dir=tmp_path))
    yield Box(kernel, loop_thread, tmp_path)
    loop_thread(kernel.stop())


def test_operations_name_the_lines_of_the_program_as_it_was_given(box: Box) -> None:
    box.run(FRAME)
    found = box.run("\n\ndf[df.a > 1]\n\ndf.head(1)")
    assert [(one.line, one.text) for one in found.operations] == [
        (3, "filter df.a > 1: 2 of 3 rows"),
        (5, "head(1): 1 of 3 rows"),
    ]
    assert not found.not_observed


def test_a_sandbox_whose_report_the_program_took_away_is_not_taken_for_one_where_nothing_happened(box: Box) -> None:
    box.run(FRAME)
    found = box.run("import codeagent_inside.calls as calls\ncalls.CALLS.clear()\ndf.head(1)")
    assert (found.status, found.operations, found.not_observed) == ("ok", (), NO_REPORT)
