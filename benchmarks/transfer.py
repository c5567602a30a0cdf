"""Copying a 1 GB numeric frame into the sandbox, against a memcpy of the same bytes."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from jupyter_codeagent.inside.load import load_variables
from jupyter_codeagent.transfer.spool import Spool


def run() -> dict[str, Any]:
    """Write, find unchanged, load; all in one process, so that the ratios are of one moment."""
    import numpy as np
    import pandas as pd

    values = np.random.default_rng(0).random((12_500_000, 10))
    frame = pd.DataFrame(values, columns=[f"c{i}" for i in range(10)])
    target = np.empty_like(values)
    target[:] = 0  # its pages exist now: what is measured is copying, not the system's page faults
    started = time.perf_counter()
    np.copyto(target, values)
    memcpy_s = time.perf_counter() - started
    directory = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        spool = Spool(directory, max_bytes=4 << 30)
        started = time.perf_counter()
        manifest = spool.export({"frame": frame}, ("frame",), required=True)
        write_s = time.perf_counter() - started
        started = time.perf_counter()
        spool.export({"frame": frame}, ("frame",), required=True)
        unchanged_s = time.perf_counter() - started
        copied = manifest.copied[0]
        described = [{"name": copied.name, "file": copied.file, "buffers": copied.buffers, "head": copied.head}]
        namespace: dict[str, Any] = {}
        started = time.perf_counter()
        problems = load_variables(str(directory), described, namespace)
        load_s = time.perf_counter() - started
        if problems or not namespace["frame"].equals(frame):
            raise RuntimeError(f"The copy is not equal: {problems}")
    finally:
        shutil.rmtree(directory)
    return {
        "size_gb": copied.size_bytes / 1e9,
        "memcpy_s": memcpy_s,
        "write_s": write_s,
        "unchanged_s": unchanged_s,
        "load_s": load_s,
        "write_to_memcpy_ratio": write_s / memcpy_s,
    }
