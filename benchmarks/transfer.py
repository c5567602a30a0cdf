"""Copying into the sandbox, by kind and size, against memcpy, a plain write(2) to the same place, and file formats.

Each kind has a process of its own, so that the highest memory is that of its copy; all figures of a kind are of one
process, so that their ratios are of one moment.
"""

from __future__ import annotations

import json
import operator
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_codeagent.sandbox.data.spool import Spool
from jupyter_codeagent.sandbox.guest.load import load_variables
from jupyter_codeagent.types.variables import CopiedVariable, Manifest

SIZES_BYTES = (10_000_000, 1_000_000_000)
MEMORY = Path("/dev/shm")
Ways = tuple[Callable[[Path], Any], Callable[[Path], Any]]
"""(write, read) a file."""


def run() -> dict[str, Any]:
    """Figures by kind and size."""
    return {
        kind: {f"{size_bytes // 1_000_000} MB": _in_own_process(kind, size_bytes) for size_bytes in SIZES_BYTES}
        for kind in KINDS
    }


def _in_own_process(kind: str, size_bytes: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.transfer", kind, str(size_bytes)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(kind: str, size_bytes: int) -> dict[str, float]:
    """Of one kind, in this process."""
    value, change = KINDS[kind](size_bytes)
    directory = Path(tempfile.mkdtemp(dir=MEMORY))
    try:
        # First: what others leave behind would hide how much memory the copy needs.
        copy = _copy(directory, value, change)
        others = _others(directory, value, copy["size_gb"])
        return {**_memcpy_and_write(directory, size_bytes), **copy, **others}
    finally:
        shutil.rmtree(directory)


def _others(directory: Path, value: Any, size_gb: float) -> dict[str, float]:
    """GB/s of the value's own bytes, to a file in the same place and back from it."""
    figures = {}
    for name, (write, read) in ways_of(value).items():
        path = directory / name

        def writing(path: Path = path, write: Callable[[Path], Any] = write) -> Any:
            return write(path)

        def reading(path: Path = path, read: Callable[[Path], Any] = read) -> Any:
            return read(path)

        figures[f"{name}_write_gb_s"] = size_gb / min(_seconds(writing) for _ in range(2))
        figures[f"{name}_read_gb_s"] = size_gb / min(_seconds(reading) for _ in range(2))
        path.unlink()
    return figures


def ways_of(value: Any) -> dict[str, Ways]:
    """How its library writes it to a file and reads it again, by format."""
    import pandas as pd
    import polars as pl
    from pyarrow import feather, parquet

    def dump(path: Path) -> None:
        with path.open("wb") as file:
            pickle.dump(value, file, protocol=5)

    def load(path: Path) -> Any:
        with path.open("rb") as file:
            return pickle.load(file)

    tables: dict[str, Ways]
    if isinstance(value, pl.DataFrame):
        tables = {
            "parquet": (value.write_parquet, pl.read_parquet),
            "feather": (value.write_ipc, pl.read_ipc),
        }
    elif isinstance(value, pd.DataFrame):
        tables = {
            "parquet": (value.to_parquet, pd.read_parquet),
            "feather": (value.to_feather, pd.read_feather),
        }
    else:
        tables = {
            "parquet": (lambda path: parquet.write_table(value, path), parquet.read_table),
            "feather": (lambda path: feather.write_feather(value, str(path)), lambda p: feather.read_table(str(p))),
        }
    return {"pickle5": (dump, load), **tables}


def _memcpy_and_write(directory: Path, size_bytes: int) -> dict[str, float]:
    view = memoryview(bytearray(os.urandom(1 << 20) * max(size_bytes >> 20, 1)))
    target: Any = memoryview(bytearray(view.nbytes))
    memcpy_s = min(_seconds(lambda: operator.setitem(target, slice(None), view)) for _ in range(3))
    target.release()

    def write() -> None:
        with (directory / "plain").open("wb", buffering=0) as file:
            written = 0
            while written < len(view):
                written += file.write(view[written:])

    times = []
    for _ in range(3):
        times.append(_seconds(write))
        (directory / "plain").unlink()
    return {"memcpy_gb_s": len(view) / memcpy_s / 1e9, "plain_write_gb_s": len(view) / min(times) / 1e9}


def _copy(directory: Path, value: Any, change: Callable[[Any], None]) -> dict[str, float]:
    namespace = {"value": value}
    spool = Spool(directory, max_bytes=4 << 30)
    before, _ = _reset_highest_bytes()
    manifest, first_s = _export(spool, namespace)
    extra = _highest_bytes() - before
    copied = manifest.copied[0]
    times = [first_s]
    for _ in range(2):
        spool.close()
        manifest, again_s = _export(spool, namespace)
        times.append(again_s)
    unchanged_s = min(_export(spool, namespace)[1] for _ in range(3))
    load_s, touch_s = _load(directory, manifest.copied[0], namespace)
    change(value)
    kept = {path.name for path in directory.iterdir()}
    _, changed_s = _export(spool, namespace)
    sent = sum(path.stat().st_size for path in directory.iterdir() if path.name not in kept)
    return {
        "size_gb": copied.size_bytes / 1e9,
        "copy_gb_s": copied.size_bytes / min(times) / 1e9,
        "extra_memory_ratio": extra / copied.size_bytes,
        "unchanged_s": unchanged_s,
        "changed_column_s": changed_s,
        "changed_column_sent_ratio": sent / copied.size_bytes,
        "map_gb_s": copied.size_bytes / load_s / 1e9,
        "map_and_read_gb_s": copied.size_bytes / (load_s + touch_s) / 1e9,
    }


def _export(spool: Spool, namespace: dict[str, Any]) -> tuple[Manifest, float]:
    started = time.perf_counter()
    manifest = spool.export(namespace, ("value",), required=True)
    return manifest, time.perf_counter() - started


def _load(directory: Path, copied: CopiedVariable, live: dict[str, Any]) -> tuple[float, float]:
    """Seconds to map it, and to read one byte of each page of its files through the mapping."""
    described = [{"name": "value", "files": copied.files, "buffers": copied.buffers, "head": copied.head}]
    namespace: dict[str, Any] = {}
    problems: dict[str, str] = {}
    load_s = _seconds(lambda: problems.update(load_variables(str(directory), described, namespace)))
    if problems:
        raise RuntimeError(f"The copy was not loaded: {problems}")
    equal = [False]
    touch_s = _seconds(lambda: equal.__setitem__(0, bool(namespace["value"].equals(live["value"]))))
    if not equal[0]:
        raise RuntimeError("The copy is not equal.")
    return load_s, touch_s


def _seconds(work: Callable[[], Any]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _reset_highest_bytes() -> tuple[int, None]:
    """Memory now; from here on `_highest_bytes` counts anew."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return _highest_bytes(), None


def _highest_bytes() -> int:
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    assert found is not None
    return int(found[1]) * 1024


Made = tuple[Any, Callable[[Any], None]]


def _numeric(size_bytes: int) -> Made:
    import numpy as np
    import pandas as pd

    values = np.random.default_rng(0).random((size_bytes // 80, 10))
    return pd.DataFrame(values, columns=[f"c{i}" for i in range(10)]), _new_column


def _text(dtype: str) -> Callable[[int], Made]:
    def make(size_bytes: int) -> Made:
        import numpy as np
        import pandas as pd

        rows = size_bytes // 10 // 24
        numbers = np.random.default_rng(0)
        columns = {}
        for i in range(10):
            words: Any = [f"{word:016x}" for word in numbers.integers(0, 1 << 48, rows)]
            columns[f"c{i}"] = pd.Series(words, dtype=dtype)
        return pd.DataFrame(columns), _new_column

    return make


def _category(size_bytes: int) -> Made:
    import numpy as np
    import pandas as pd

    numbers, labels = np.random.default_rng(0), pd.Index([f"label {i}" for i in range(1000)])
    codes: Any = [numbers.integers(0, 1000, size_bytes // 20, dtype="i2") for _ in range(10)]
    return pd.DataFrame({f"c{i}": pd.Categorical.from_codes(codes[i], labels) for i in range(10)}), _new_column


def _polars(size_bytes: int) -> Made:
    import numpy as np
    import polars as pl

    values = np.random.default_rng(0).random((size_bytes // 80, 10))
    frame = pl.DataFrame({f"c{i}": values[:, i].copy() for i in range(10)})
    return frame, lambda live: live.replace_column(3, live["c3"] * 2)


def _arrow(size_bytes: int) -> Made:
    import numpy as np
    import pyarrow as pa

    values = np.random.default_rng(0).random((size_bytes // 80, 10))
    return pa.table({f"c{i}": values[:, i].copy() for i in range(10)}), lambda _: None


def _new_column(frame: Any) -> None:
    """As a cell does: ``df["c3"] = …``."""
    frame["c3"] = frame["c3"].iloc[::-1].array


KINDS: dict[str, Callable[[int], Made]] = {
    "numeric": _numeric,
    "text (pandas str)": _text("str"),
    "text (objects)": _text("object"),
    "categories": _category,
    "polars": _polars,
    "arrow": _arrow,
}

if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
