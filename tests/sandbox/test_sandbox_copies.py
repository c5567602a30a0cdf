"""At every level: copies are mapped, stay as they were under what was derived from them, and cost no limit; what is
shown is what a notebook shows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from sandbox_box import Box

from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.types.sandbox import SandboxLevel


def test_a_copy_that_is_sent_anew_while_the_old_one_is_in_use_is_no_disk_that_the_code_has_used(box: Box) -> None:
    """The old pieces have no name any more and are mapped; they lie on the same disk as what the code writes."""
    frame = pd.DataFrame(np.arange(3_000_000.0).reshape(-1, 3), columns=list("abc"))
    spool = Spool(box.data_dir, max_bytes=1 << 30)
    try:
        box.call(box.kernel.load(spool.export({"frame": frame}, ("frame",), required=True).copied))
        box.run("part = frame['b'][10:13]")
        for value in (1.0, 2.0):
            frame["b"] = value
            box.call(box.kernel.load(spool.export({"frame": frame}, ("frame",), required=True).copied))
            looked = box.run("import time; time.sleep(1.2)")  # longer than the watchdog's longest pause
            assert looked.status == "ok", looked.reason
            assert box.text("print(frame.b.max(), frame.c.max(), list(part))") == (
                f"{value} 2999999.0 [31.0, 34.0, 37.0]"
            )
    finally:
        spool.close()
        box.run("del frame, part")


def test_a_table_is_printed_with_all_the_columns_that_a_notebook_prints(
    make_box: Callable[..., Box], level: SandboxLevel
) -> None:
    warm = make_box(level, preload=("pandas",))
    printed = warm.text("import pandas as pd; print(pd.DataFrame({f'a_long_name_{n}': [n] for n in range(12)}))")
    assert [name for name in printed.split() if name.startswith("a_")] == [f"a_long_name_{n}" for n in range(12)]


def test_a_value_behind_a_semicolon_is_not_shown_as_in_a_notebook(box: Box) -> None:
    for code, shown in (("7", 1), ("7;", 0), ("7;  # a plot", 0), ("x = ';'\nx", 1)):
        assert len(box.run(code).outputs) == shown
