"""What `%load_ext` costs over a bare kernel, and that it brings no dataframe library."""

from __future__ import annotations

from typing import Any

from benchmarks.kernel import MARK, measure, running_kernel

CODE = f"""
import json, sys, time
before = set(sys.modules)
started = time.perf_counter()
get_ipython().run_line_magic("load_ext", "jupyter_codeagent")
seconds = time.perf_counter() - started
frames = sorted({{"pandas", "polars", "pyarrow", "numpy"}} & (set(sys.modules) - before))
print({MARK!r} + json.dumps({{"load_ext_s": seconds, "dataframe_libraries": frames}}))
"""


def run() -> dict[str, Any]:
    """Limit: 0.3 s."""
    rounds = []
    for _ in range(3):
        with running_kernel() as client:
            rounds.append(measure(client, CODE))
    median = sorted(rounds, key=lambda one: one["load_ext_s"])[1]
    return {**median, "limit_s": 0.3}
